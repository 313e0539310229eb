"""A report is one file that asks for nothing: no message, no error, no request, no breach of its own policy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

Open = Callable[..., Page]
Report = Callable[[str], str]
LARGEST = 3_000_000

SAMPLES = ("demo", "kinds", "bare", "suite", "long", "hostile", "tampered")


@pytest.mark.parametrize("name", SAMPLES)
def test_a_page_is_quiet(open_page: Open, report: Report, watched: Any, name: str) -> None:
    """Opening a report and every card in it leaves nothing on the console and asks for nothing."""
    page = open_page(report(name))
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    page.keyboard.press("End")
    expect(page.get_by_role("heading", level=1)).to_be_attached()
    page.context.close()
    assert watched.faults == []


@pytest.mark.parametrize("name", ["kinds", "hostile"])
def test_a_page_forbids_itself_everything_that_it_does_not_hold(
    open_page: Open, report: Report, name: str
) -> None:
    """Its policy allows its own style and script by their digests, and no other source of anything."""
    page = open_page(report(name))
    policy = page.locator("meta[http-equiv='Content-Security-Policy']").get_attribute("content") or ""
    directives = dict(each.strip().split(" ", 1) for each in policy.split(";"))
    assert directives["default-src"] == "'none'"
    assert directives["base-uri"] == directives["form-action"] == "'none'"
    assert directives["style-src"].startswith("'sha256-")
    assert directives["script-src"].startswith("'sha256-")
    assert set(directives) == {"default-src", "style-src", "script-src", "base-uri", "form-action"}
    assert page.locator("script").count() == page.locator("style").count() == 1
    assert page.locator("link, iframe, object, embed, img, base, [style], [src]").count() == 0


@pytest.mark.parametrize("name", SAMPLES)
def test_a_page_stays_small(report: Report, name: str) -> None:
    """500 assertions over two hours stay below 3 MB, and words of 1 MB make no page larger."""
    assert len(report(name).encode()) < LARGEST


def test_a_long_call_opens(open_page: Open, report: Report) -> None:
    """All 500 results of a call of two hours are on the page, and its filters answer."""
    page = open_page(report("long"))
    assert page.locator(".card").count() == 500
    page.get_by_label("Search").fill("check-07-2")
    expect(page.locator(".card:visible")).to_have_count(1)
