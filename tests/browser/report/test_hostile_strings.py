"""Hostile strings of documents, evidence and stored envelopes appear on the page as text, and do nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from averment.text.shown import visible

Open = Callable[..., Page]
Report = Callable[[str], str]

CENSUS = """() => {
  const found = {};
  for (const each of document.querySelectorAll("*")) {
    const names = [...each.attributes].map((attribute) => attribute.name).sort();
    for (const name of [each.tagName, ...names.map((name) => `${each.tagName} ${name}`)]) {
      found[name] = (found[name] ?? 0) + 1;
    }
  }
  return found;
}"""
"""How many elements there are by tag, and how many by tag and attribute."""

STRINGS = """() => {
  const found = [document.title, document.body.textContent];
  for (const each of document.querySelectorAll("*")) {
    found.push(...[...each.attributes].map((attribute) => attribute.value));
  }
  return found;
}"""
"""All that a page says, in texts and in attributes."""

UNSEEN = r"""(strings) => strings.filter((text) =>
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/.test(text)
  || !text.isWellFormed()).map((text) => text.slice(0, 200))"""
"""The strings that hold what can't be seen, or half of a pair."""

TWINS = (("hostile", "harmless"), ("tampered", "untampered"))


def opened(page: Page) -> Page:
    """The page with everything on it open, as far as it can be."""
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    expect(page.locator("details:not([open])")).to_have_count(0)
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return page


@pytest.mark.parametrize(("name", "twin"), TWINS)
def test_no_element_and_no_attribute_comes_of_a_string(
    open_page: Open, report: Report, name: str, twin: str
) -> None:
    """A page with hostile strings has as many elements and attributes of each name as one with harmless ones."""
    found = opened(open_page(report(name))).evaluate(CENSUS)
    wanted = opened(open_page(report(twin))).evaluate(CENSUS)
    for each in (found, wanted):
        each.pop("MARK", None)  # which characters of two texts differ hangs on what they are
    assert found == wanted
    assert found["SCRIPT"] == found["STYLE"] == 1
    assert not {"IMG", "IFRAME", "B SRC"} & set(found)


@pytest.mark.parametrize("name", ["hostile", "tampered"])
def test_nothing_on_the_page_is_unseen(open_page: Open, report: Report, name: str) -> None:
    """Control and direction characters, and halves of pairs, are escaped wherever they would stand."""
    page = opened(open_page(report(name)))
    assert page.evaluate(f"({UNSEEN})(({STRINGS})())") == []


def test_hostile_strings_are_shown(open_page: Open, report: Report, hostile_texts: Sequence[str]) -> None:
    """Each of them can be read on the page as it was written, what can't be seen as an escape."""
    text = " ".join(opened(open_page(report("hostile"))).locator("body").inner_text().split())
    for each in hostile_texts:
        assert " ".join(visible(each, keep="\n")[:100].split()) in text
    assert "{{7*7}}" in text


def test_no_link_leads_out_of_the_page(open_page: Open, report: Report) -> None:
    """Every link on the page leads to an element of it, whatever ids and names there are."""
    page = opened(open_page(report("hostile")))
    dead = page.evaluate("""() => [...document.querySelectorAll("a")].map((a) => a.getAttribute("href"))
      .filter((href) => !href.startsWith("#") || !document.getElementById(decodeURIComponent(href.slice(1))))""")
    assert page.locator("a").count() > 50
    assert dead == []


def test_ids_of_elements_are_unique(open_page: Open, report: Report) -> None:
    """No two elements share an id, whatever the ids of assertions, calls and spans are."""
    for name in ("hostile", "suite", "kinds"):
        ids: list[Any] = opened(open_page(report(name))).evaluate(
            "() => [...document.querySelectorAll('[id]')].map((each) => each.id)"
        )
        assert len(ids) == len(set(ids))
        assert len(ids) > 50
