"""What a verdict rests on: an excerpt with the turns and calls in question marked, a timeline, and differences."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

Open = Callable[..., Page]
Report = Callable[[str], str]


@pytest.fixture
def card(open_page: Open, report: Report) -> Callable[[str], Locator]:
    """`card(id)`: the card of that result in the report on every kind, opened by its link."""

    def opened(name: str) -> Locator:
        return open_page(report("kinds"), f"#r-{name}").locator(f"#r-{name}")

    return opened


def test_the_excerpt_marks_the_turn_in_question(card: Callable[[str], Locator]) -> None:
    """The turn that makes the false claim is marked, its neighbours are there unmarked, the rest is not."""
    excerpt = card("claim-fail").locator(".excerpt")
    expect(excerpt.locator(".marked")).to_contain_text(["Your refund of 42 dollars has been sent."])
    expect(excerpt.locator(".i:not(.marked)").first).to_be_visible()
    expect(excerpt).not_to_contain_text("recorded for quality")


def test_the_mark_can_be_seen_and_heard(card: Callable[[str], Locator]) -> None:
    """What is marked looks different from its neighbours, by more than a colour."""
    excerpt = card("claim-fail").locator(".excerpt")
    look = "(each) => { const s = getComputedStyle(each); return [s.backgroundColor, s.borderLeftWidth, s.boxShadow, s.outlineWidth]; }"
    marked = excerpt.locator(".marked").first.evaluate(look)
    other = excerpt.locator(".i:not(.marked)").first.evaluate(look)
    assert marked[0] != other[0]
    assert marked[1:] != other[1:]


def test_the_excerpt_marks_the_call_in_question(card: Callable[[str], Locator]) -> None:
    """The call that went wrong is marked, with its arguments and its error."""
    marked = card("tool_error-fail").locator(".excerpt .marked")
    expect(marked).to_have_count(1)
    for told in ("issue_refund", '"amount": 24', "Over the limit."):
        expect(marked).to_contain_text(told)


def test_the_excerpt_marks_the_span_in_question(card: Callable[[str], Locator]) -> None:
    """A verdict about a span shows that span."""
    expect(card("handoff-fail").locator(".excerpt .marked")).to_contain_text("billing")


def test_no_personal_data_is_in_an_excerpt(card: Callable[[str], Locator]) -> None:
    """A turn with an address is shown without it; the hit is told by detector and turn."""
    shown = card("pii-fail")
    expect(shown.locator(".excerpt .marked")).to_contain_text("order A-3090 never arrived")
    expect(shown).to_contain_text("email")
    assert "jo@example.com" not in shown.page.content()


def test_a_policy_names_its_rules(card: Callable[[str], Locator]) -> None:
    """A violated rule is named, and its turn marked."""
    shown = card("policy-fail")
    expect(shown).to_contain_text("no-guarantee-language")
    expect(shown.locator(".excerpt .marked").first).to_contain_text("I guarantee")


def test_an_outcome_tells_how_many_hold(card: Callable[[str], Locator]) -> None:
    """Met of how many stands on the card."""
    expect(card("outcome-fail")).to_contain_text("1 of 3")


def test_a_latency_stands_against_its_limit(card: Callable[[str], Locator]) -> None:
    """What was measured and what was allowed are both told, and drawn."""
    shown = card("latency-fail")
    for told in ("1,000 ms", "300 ms"):
        expect(shown).to_contain_text(told)
    expect(shown.locator(".meter svg[role='img']")).to_be_visible()


@pytest.mark.parametrize(
    ("name", "expected", "found"),
    [("tool_call-fail", "42", "24"), ("tool_result-fail", "ok", "declined"), ("state-fail", "done", "none")],
)
def test_expected_stands_against_found(
    card: Callable[[str], Locator], name: str, expected: str, found: str
) -> None:
    """A value that differs is told with the one that was expected, one beneath the other, each named."""
    difference = card(name).locator(".diff").filter(has_text=found).first
    expect(difference.locator(".expected")).to_contain_text(expected)
    expect(difference.locator(".found")).to_contain_text(found)


def test_the_timeline_has_four_lanes_and_marks(card: Callable[[str], Locator]) -> None:
    """Two lanes of turns, one of calls, one of spans; the thing in question is marked within its lane."""
    timeline = card("tool_error-fail").locator(".timeline")
    expect(timeline).to_be_visible()
    assert timeline.locator(".lane-names span").all_inner_texts() == [
        "agent",
        "user, others",
        "calls",
        "spans",
    ]
    mark = timeline.locator(".m rect").bounding_box()
    drawing = timeline.locator("svg.tl").bounding_box()
    assert mark is not None
    assert drawing is not None
    assert mark["width"] >= 2
    begins, length = 14.7 / 20, drawing["width"]
    assert mark["x"] - drawing["x"] == pytest.approx(begins * length, abs=0.01 * length)
    assert drawing["y"] <= mark["y"] < mark["y"] + mark["height"] <= drawing["y"] + drawing["height"]


def test_the_timeline_says_in_words_what_it_marks(card: Callable[[str], Locator]) -> None:
    """Who can't see it is told which things are marked."""
    expect(card("claim-fail").get_by_role("img", name="turn 4")).to_be_attached()


def test_the_timeline_draws_the_lanes(card: Callable[[str], Locator]) -> None:
    """Each lane has a shape for each thing in it: three and two turns, three calls, six spans that are no calls."""
    timeline = card("claim-fail").locator(".timeline")
    shapes = {
        lane: (timeline.locator(f".lane-{lane}").get_attribute("d") or "").count("z")
        for lane in ("agent", "other", "call", "span")
    }
    assert shapes == {"agent": 3, "other": 2, "call": 3, "span": 6}


def test_missing_evidence_is_explained(open_page: Open, report: Report) -> None:
    """What stayed undecided says which evidence is missing."""
    page = open_page(report("mixed"))
    card = page.locator(".card.inconclusive").first
    card.evaluate("(each) => { each.open = true; }")
    expect(card).to_contain_text("Missing evidence")
    expect(card).to_contain_text("absent")


def test_the_whole_conversation_is_there_once(open_page: Open, report: Report) -> None:
    """All turns and calls stand in order beneath the cards, folded at first."""
    page = open_page(report("kinds"))
    whole = page.locator(".whole")
    expect(whole).to_have_count(1)
    expect(whole.locator(".turn").first).to_be_hidden()
    whole.locator("summary").click()
    assert whole.locator(".turn").count() == 5
    assert whole.locator(".call").count() == 3
    expect(whole.locator(".turn").first).to_contain_text("recorded for quality")


def test_a_long_call_marks_the_right_place(open_page: Open, report: Report) -> None:
    """In a call of two hours the excerpt is a few turns, and the mark is scrolled into view."""
    page = open_page(report("long"), "#r-check-70-0")
    card = page.locator("#r-check-70-0")
    expect(card.locator(".excerpt .marked")).to_contain_text(["Point 980:"])
    assert card.locator(".excerpt .i").count() < 10
    mark, window = card.locator(".m rect").bounding_box(), card.locator(".timeline .scroll").bounding_box()
    assert mark is not None
    assert window is not None
    assert window["x"] <= mark["x"] <= window["x"] + window["width"]
