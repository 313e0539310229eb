"""Everything on a report can be reached and done with keys alone."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

Open = Callable[..., Page]
Report = Callable[[str], str]

FOCUSED = "() => document.activeElement.closest('.card')?.id ?? document.activeElement.id ?? ''"


def test_tab_walks_the_page_in_order(open_page: Open, report: Report) -> None:
    """Skip link, tools, search, filters, then the cards: the order in which they are seen."""
    page = open_page(report("demo"))
    seen = []
    for _ in range(15):
        page.keyboard.press("Tab")
        seen.append(
            page.evaluate(
                "() => { const on = document.activeElement; return on.id || on.name || on.className || on.tagName; }"
            )
        )
    assert seen[0] == "skip"
    assert seen[1:4] == ["theme", "keys", "q"]
    assert seen.index("q") < seen.index("kind") < seen.index("dimension") < seen.index("SUMMARY")


def test_every_stop_shows_that_it_has_the_focus(open_page: Open, report: Report) -> None:
    """Whatever Tab reaches has an outline, and is in view."""
    page = open_page(report("demo"))
    for _ in range(30):
        page.keyboard.press("Tab")
        stop = page.evaluate("""() => {
          const on = document.activeElement;
          const style = getComputedStyle(on);
          const box = on.getBoundingClientRect();
          return on === document.body || [style.outlineStyle !== "none" && style.outlineWidth !== "0px",
            box.bottom > 0 && box.top < innerHeight, on.outerHTML.slice(0, 80)];
        }""")
        if stop is not True:
            assert stop[:2] == [True, True], stop


def test_the_skip_link_skips(open_page: Open, report: Report) -> None:
    """It is the first stop, seen only then, and leads to the results."""
    page = open_page(report("demo"))
    link = page.get_by_role("link", name="Skip to the results")
    expect(link).not_to_be_in_viewport()
    page.keyboard.press("Tab")
    expect(link).to_be_focused()
    expect(link).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("#results")).to_be_focused()
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUSED) == page.locator(".card").first.get_attribute("id")


def test_enter_and_space_open_a_card(open_page: Open, report: Report) -> None:
    """Both keys open and close the card whose head has the focus."""
    page = open_page(report("demo"))
    card = page.locator(".card.pass").first
    card.locator("summary").focus()
    page.keyboard.press("Enter")
    expect(card).to_have_attribute("open", "")
    page.keyboard.press("Space")
    expect(card).not_to_have_attribute("open", "")


def test_j_and_k_go_from_card_to_card(open_page: Open, report: Report) -> None:
    """They step over what is filtered away, and stop at the ends."""
    page = open_page(report("kinds"))
    page.get_by_role("checkbox", name="pass", exact=True).check()
    ids = [each.get_attribute("id") for each in page.locator(".card:visible").all()]
    page.keyboard.press("j")
    assert page.evaluate(FOCUSED) == ids[0]
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.evaluate(FOCUSED) == ids[2]
    page.keyboard.press("k")
    assert page.evaluate(FOCUSED) == ids[1]
    page.keyboard.press("k")
    page.keyboard.press("k")
    assert page.evaluate(FOCUSED) == ids[0]


def test_slash_searches_and_escape_clears(open_page: Open, report: Report) -> None:
    """`/` goes to the search without typing itself; Escape ends search and filters; letters in it are letters."""
    page = open_page(report("kinds"))
    page.keyboard.press("/")
    search = page.get_by_label("Search")
    expect(search).to_be_focused()
    page.keyboard.type("j?k/")
    expect(search).to_have_value("j?k/")
    expect(page.locator(".card:visible")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(search).to_have_value("")
    expect(page.locator(".card:visible")).to_have_count(69)


def test_question_mark_explains_the_keys(open_page: Open, report: Report) -> None:
    """The help opens by its key and by its button, holds the focus, and Escape closes it and clears nothing."""
    page = open_page(report("kinds"))
    page.get_by_label("Search").fill("state")
    page.get_by_label("Search").blur()
    page.keyboard.press("?")
    help_box = page.get_by_role("dialog")
    expect(help_box).to_be_visible()
    expect(help_box).to_contain_text("search")
    page.keyboard.press("Escape")
    expect(help_box).to_be_hidden()
    expect(page.get_by_label("Search")).to_have_value("state")
    page.get_by_role("button", name="Keys").click()
    expect(help_box).to_be_visible()
    help_box.get_by_role("button", name="Close").click()
    expect(help_box).to_be_hidden()


def test_keys_with_modifiers_are_left_to_the_browser(open_page: Open, report: Report) -> None:
    """Control and J is the browser's, not the page's."""
    page = open_page(report("demo"))
    page.keyboard.press("Control+j")
    assert page.evaluate("document.activeElement === document.body")
