"""Light and dark, wide and narrow, on paper and without scripts: a report can be read."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

Open = Callable[..., Page]
Report = Callable[[str], str]

PHONE = {"width": 360, "height": 740}

LUMINANCES = """() => [document.body, document.querySelector("h1")].map((each) => {
  const style = getComputedStyle(each);
  return [style.backgroundColor, style.color].map((colour) => {
    const [red, green, blue] = colour.match(/[\\d.]+/g).map(Number);
    return (0.2126 * red + 0.7152 * green + 0.0722 * blue) / 255;
  });
})"""
"""How bright the paper and the ink are, roughly, of the page and of its heading."""


def theme(page: Page) -> str:
    """Whether ink is clearly darker than paper, or clearly lighter."""
    (paper, _), (_, ink) = page.evaluate(LUMINANCES)
    if paper > 0.9 and ink < 0.3:
        return "light"
    return "dark" if paper < 0.2 and ink > 0.8 else f"neither: paper {paper}, ink {ink}"


def test_a_page_follows_the_system(open_page: Open, report: Report) -> None:
    """Light where the system is light, dark where it is dark, and at once when that changes."""
    page = open_page(report("demo"), color_scheme="light")
    assert theme(page) == "light"
    page.emulate_media(color_scheme="dark")
    assert theme(page) == "dark"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_theme_can_be_chosen(open_page: Open, report: Report, scheme: str) -> None:
    """A button that names the other theme turns all colours, and turns them back."""
    page = open_page(report("demo"), color_scheme=scheme)
    other = "dark" if scheme == "light" else "light"
    assert theme(page) == scheme
    page.get_by_role("button", name=other.title(), exact=True).click()
    assert theme(page) == other
    page.get_by_role("button", name=scheme.title(), exact=True).click()
    assert theme(page) == scheme


@pytest.mark.parametrize("name", ["demo", "kinds", "suite", "hostile", "tampered", "long", "bare"])
def test_a_phone_scrolls_in_one_direction(open_page: Open, report: Report, name: str) -> None:
    """At 360 pixels nothing is wider than the page, whatever is open and however long a word is."""
    page = open_page(report(name), viewport=PHONE)
    if name != "long":
        page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= PHONE["width"]
    expect(page.locator(".card").first).to_be_visible()


def test_a_phone_shows_the_shelves_one_above_the_other(open_page: Open, report: Report) -> None:
    """Both shelves are whole at phone width."""
    page = open_page(report("kinds"), viewport=PHONE)
    boxes = [each.bounding_box() for each in page.locator(".shelf").all()]
    assert len(boxes) == 2
    for box in boxes:
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= PHONE["width"]


def test_a_phone_breaks_no_number(open_page: Open, report: Report) -> None:
    """The index of conversations keeps words and numbers whole, and scrolls by itself where there is no room."""
    page = open_page(report("suite"), viewport=PHONE)
    heads = page.locator(".index:not(.repeats) thead th:visible")
    assert heads.all_text_contents() == ["conversation", "fail", "inconclusive", "pass", "exit"]  # no file
    boxes = [each.bounding_box() for each in heads.all()]
    assert all(box is not None and box["height"] < 40 for box in boxes)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_paper_is_white(open_page: Open, report: Report, scheme: str) -> None:
    """Printed, whichever theme was on the screen, ink is dark on light; controls are left out, cards are not."""
    page = open_page(report("kinds"), color_scheme="light")
    if scheme == "dark":
        page.get_by_role("button", name="Dark", exact=True).click()
    page.emulate_media(media="print")
    assert theme(page) == "light"
    expect(page.get_by_role("search")).to_be_hidden()
    expect(page.locator(".tools")).to_be_hidden()
    expect(page.locator(".card").last).to_be_visible()
    assert page.pdf()[:5] == b"%PDF-"


def test_without_scripts_verdicts_can_be_read(open_page: Open, report: Report) -> None:
    """Counts, cards, reasons and the conversation need no script; what would do nothing is not offered."""
    page = open_page(report("demo"), java_script_enabled=False)
    expect(page.get_by_role("region", name="Deterministic", exact=True)).to_contain_text(
        re.compile("2 fail.*2 pass", re.DOTALL)
    )
    assert page.locator(".card:visible").count() == 4
    expect(page.locator(".card").first).to_contain_text("refund-is-real")
    expect(page.get_by_role("search")).to_be_hidden()
    expect(page.locator(".tools")).to_be_hidden()
    page.locator(".card.pass summary").first.click()
    expect(page.locator(".card.pass .body").first).to_be_visible()
    page.locator(".whole summary").click()
    expect(page.locator(".whole .turn").last).to_be_visible()
    expect(page.locator(".whole .turn").last).to_contain_text("Your refund of 42 dollars")
    expect(page.locator(".whole .call")).to_contain_text("lookup_order")


def test_without_scripts_links_work(open_page: Open, report: Report) -> None:
    """A deep link shows its card, and links to turns lead to them."""
    page = open_page(report("kinds"), "#r-formula-pass", java_script_enabled=False)
    expect(page.locator("#r-formula-pass")).to_be_in_viewport()


def test_motion_is_left_out_where_it_is_not_wanted(open_page: Open, report: Report) -> None:
    """Who asks for less motion gets none."""
    page = open_page(report("demo"), reduced_motion="reduce")
    moving = "() => [...document.querySelectorAll('*')].filter((each) => { const s = getComputedStyle(each); return s.scrollBehavior === 'smooth' || parseFloat(s.transitionDuration) > 0 || s.animationName !== 'none'; }).length"
    assert page.evaluate(moving) == 0
