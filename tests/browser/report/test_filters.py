"""Filters and search narrow the cards, the count follows, and the page's address remembers them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from averment.verdicts.judged import Judged

Open = Callable[..., Page]
Report = Callable[[str], str]
Sample = Callable[[str], Sequence[Judged]]


def shown(page: Page) -> list[str]:
    """The ids on the cards that can be seen."""
    return page.locator(".card:visible .id").all_inner_texts()


@pytest.fixture
def page(open_page: Open, report: Report) -> Page:
    """The report on every kind."""
    return open_page(report("kinds"))


@pytest.fixture
def results(sample: Sample) -> Sequence[Any]:
    """Its results."""
    return sample("kinds")[0].results


def expect_only(page: Page, results: Sequence[Any], fits: Callable[[Any], bool]) -> None:
    """Exactly the cards of these results are to be seen, and the count says so."""
    wanted = {result["id"] for result in results if fits(result)}
    assert 0 < len(wanted) < len(results)
    expect(page.locator(".card:visible")).to_have_count(len(wanted))
    assert set(shown(page)) == wanted
    expect(page.get_by_role("status")).to_contain_text(f"{len(wanted)} of {len(results)}")
    assert page.locator(".group:visible").count() == page.locator(".group:visible:has(.card:visible)").count()


def test_all_cards_are_there_at_first(page: Page, results: Sequence[Any]) -> None:
    """Without a filter nothing is hidden."""
    expect(page.locator(".card:visible")).to_have_count(len(results))
    expect(page.get_by_role("status")).to_have_text(f"{len(results)} results")


@pytest.mark.parametrize("verdict", ["FAIL", "INCONCLUSIVE", "PASS"])
def test_a_verdict_filters(page: Page, results: Sequence[Any], verdict: str) -> None:
    """One verdict keeps the cards that have it."""
    page.get_by_role("checkbox", name=verdict.lower(), exact=True).check()
    expect_only(page, results, lambda result: result["status"] == verdict)


def test_two_verdicts_keep_both(page: Page, results: Sequence[Any]) -> None:
    """Verdicts add up: with two, what has either is shown."""
    for name in ("fail", "pass"):
        page.get_by_role("checkbox", name=name, exact=True).check()
    expect_only(page, results, lambda result: result["status"] != "INCONCLUSIVE")


def test_a_kind_filters(page: Page, results: Sequence[Any]) -> None:
    """A kind keeps its own cards."""
    page.get_by_label("Kind").select_option("latency")
    expect_only(page, results, lambda result: result["kind"] == "latency")


def test_a_dimension_filters(page: Page, results: Sequence[Any]) -> None:
    """A dimension keeps its own cards; none is one of the choices."""
    page.get_by_label("Dimension").select_option("reliability")
    expect_only(page, results, lambda result: result.get("dimension") == "reliability")
    page.get_by_label("Dimension").select_option("none")
    expect_only(page, results, lambda result: "dimension" not in result)


def test_a_tag_filters(page: Page, results: Sequence[Any]) -> None:
    """A tag keeps the cards that have it among theirs."""
    page.get_by_label("Tag").select_option("odd")
    expect_only(page, results, lambda result: "odd" in result["tags"])


def test_search_filters(page: Page, results: Sequence[Any]) -> None:
    """Words are found in ids, in any case."""
    page.get_by_label("Search").fill("STATE_change")
    expect_only(page, results, lambda result: "state_change" in result["id"])


def test_search_looks_at_reasons_and_owners(page: Page) -> None:
    """What a card says beside its id is found, too."""
    page.get_by_label("Search").fill("anything else")
    expect(page.locator("#r-phrase-fail")).to_be_visible()
    expect(page.locator("#r-phrase-pass")).to_be_hidden()
    page.get_by_label("Search").fill("support team")
    expect(page.locator("#r-phrase-pass")).to_be_visible()
    expect(page.locator("#r-pii-pass")).to_be_hidden()


def test_filters_narrow_each_other(page: Page, results: Sequence[Any]) -> None:
    """A verdict, a tag and a word together keep what has all three."""
    page.get_by_role("checkbox", name="fail", exact=True).check()
    page.get_by_label("Tag").select_option("even")
    page.get_by_label("Search").fill("the kind state")
    expect_only(page, results, lambda result: result["id"] == "state-fail")


def test_what_matches_nothing_says_so(page: Page, results: Sequence[Any]) -> None:
    """No card is left, and the count is 0 of all."""
    page.get_by_label("Search").fill("no such thing")
    expect(page.locator(".card:visible")).to_have_count(0)
    expect(page.get_by_role("status")).to_contain_text(f"0 of {len(results)}")


def test_clear_brings_all_back(page: Page, results: Sequence[Any]) -> None:
    """One button ends all filters."""
    page.get_by_label("Search").fill("state")
    page.get_by_role("checkbox", name="fail", exact=True).check()
    page.get_by_role("button", name="Clear").click()
    expect(page.locator(".card:visible")).to_have_count(len(results))
    expect(page.get_by_label("Search")).to_have_value("")


def test_filters_stay_in_the_address(page: Page) -> None:
    """A page that is loaded again by its address has the filters it had."""
    page.get_by_role("checkbox", name="fail", exact=True).check()
    page.get_by_label("Kind").select_option("state")
    expect(page.locator(".card:visible")).to_have_count(1)
    assert "verdict=FAIL" in page.url
    page.reload()
    expect(page.locator(".card:visible")).to_have_count(1)
    assert shown(page) == ["state-fail"]
    expect(page.get_by_role("checkbox", name="fail", exact=True)).to_be_checked()


def test_filters_reach_over_conversations(open_page: Open, report: Report) -> None:
    """With several conversations each keeps its own matches."""
    page = open_page(report("suite"))
    page.get_by_label("Search").fill("whoever says")
    page.get_by_role("checkbox", name="fail", exact=True).check()
    expect(page.locator(".card:visible")).to_have_count(3)
