"""Deep links lead to one result or one turn, whatever is folded or filtered."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

Open = Callable[..., Page]
Report = Callable[[str], str]


def follow(page: Page, fragment: str) -> None:
    """Goes where a link to that fragment goes."""
    page.evaluate("(fragment) => { location.hash = fragment; }", fragment)


def test_a_link_opens_its_card(open_page: Open, report: Report) -> None:
    """A card that is folded is open, in view and focused when the page is opened at it."""
    page = open_page(report("kinds"), "#r-formula-pass")
    card = page.locator("#r-formula-pass")
    expect(card).to_have_attribute("open", "")
    expect(card).to_be_in_viewport()
    expect(card.locator("summary").first).to_be_focused()


def test_without_a_link_it_is_folded(open_page: Open, report: Report) -> None:
    """Passes are folded at first: otherwise the test above would prove nothing."""
    page = open_page(report("kinds"))
    assert page.locator("#r-formula-pass").get_attribute("open") is None


def test_a_link_reaches_a_card_that_is_filtered_away(open_page: Open, report: Report) -> None:
    """Who follows a link sees its card, though a filter had hidden it."""
    page = open_page(report("kinds"))
    page.get_by_role("checkbox", name="fail", exact=True).check()
    card = page.locator("#r-formula-pass")
    expect(card).to_be_hidden()
    follow(page, "r-formula-pass")
    expect(card).to_be_visible()
    expect(card).to_have_attribute("open", "")
    expect(card).to_be_in_viewport()
    count = page.locator(".card:visible").count()
    expect(page.get_by_role("status")).to_contain_text(str(count))


def test_a_link_and_filters_in_one_address(open_page: Open, report: Report) -> None:
    """An address that has both shows the card of its fragment in any case."""
    page = open_page(report("kinds"), "?verdict=FAIL#r-formula-pass")
    expect(page.locator("#r-formula-pass")).to_be_visible()
    expect(page.locator("#r-count-pass")).to_be_hidden()


def test_a_card_links_to_itself(open_page: Open, report: Report) -> None:
    """The address that a card offers is the one that opens it."""
    page = open_page(report("kinds"), "#r-state-pass")
    page.locator("#r-state-pass").locator("a[href='#r-state-pass']").click()
    assert page.url.endswith("#r-state-pass")


def test_grounds_lead_into_the_conversation(open_page: Open, report: Report) -> None:
    """The link to a turn opens the conversation there and moves the focus to it."""
    page = open_page(report("demo"))
    page.locator(".card .grounds p a").first.click()
    expect(page.locator(".whole")).to_have_attribute("open", "")
    turn = page.locator(".whole .i").filter(has_text="Your refund of 42 dollars")
    expect(turn).to_be_in_viewport()
    expect(turn).to_be_focused()


def test_links_work_for_any_id(open_page: Open, report: Report) -> None:
    """Ids that are no names of anything in a page have links that work."""
    page = open_page(report("hostile"))
    cards = page.locator(".card")
    for at in (0, 20, 50):
        anchor = cards.nth(at).get_attribute("id") or ""
        follow(page, anchor)
        expect(cards.nth(at)).to_have_attribute("open", "")
        expect(cards.nth(at).locator("summary").first).to_be_focused()


def test_links_tell_conversations_apart(open_page: Open, report: Report) -> None:
    """The same assertion has a link of its own in each conversation, and the index leads to each."""
    page = open_page(report("suite"))
    cards = page.locator(".card").filter(has=page.get_by_text("order-is-refunded", exact=True))
    anchors = [cards.nth(at).get_attribute("id") for at in range(cards.count())]
    assert len(set(anchors)) == len(anchors) == 6
    link = page.locator(".index a").last
    link.click()
    expect(page.locator(".entry").last).to_be_in_viewport()


def test_a_link_to_nothing_does_nothing(open_page: Open, report: Report) -> None:
    """An address whose result is gone, or that can't be read, opens the page as any other."""
    for fragment in ("#r-gone", "#%E0%A4%A", "#"):
        page = open_page(report("demo"), fragment)
        expect(page.locator(".card").first).to_be_visible()
