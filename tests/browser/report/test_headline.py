"""What a report says first: two counts side by side, never one number over all; then what failed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from playwright.sync_api import Page, expect

from averment.assertions import KINDS
from averment.verdicts.judged import Judged

Open = Callable[..., Page]
Report = Callable[[str], str]
Sample = Callable[[str], Sequence[Judged]]


@pytest.mark.parametrize("name", ["demo", "kinds", "suite"])
def test_the_headline_is_two_shelves_side_by_side(
    open_page: Open, report: Report, sample: Sample, name: str
) -> None:
    """The deterministic counts stand beside the model-judged ones, which are zero, and that shelf says it is empty."""
    page = open_page(report(name))
    counts: Counter[str] = Counter()
    for entry in sample(name):
        counts.update(entry.envelope["summary"]["deterministic"])
    deterministic = page.get_by_role("region", name="Deterministic", exact=True)
    judged = page.get_by_role("region", name="Model-judged", exact=True)
    for verdict, count in counts.items():
        expect(deterministic).to_contain_text(re.compile(rf"\b{count} {verdict}\b"))
    expect(judged).to_contain_text("0 fail 0 pass")
    expect(judged).to_contain_text("Empty")
    left, right = deterministic.bounding_box(), judged.bounding_box()
    assert left is not None
    assert right is not None
    assert left["y"] == right["y"]
    assert left["x"] + left["width"] <= right["x"]


@pytest.mark.parametrize("name", ["demo", "kinds", "suite", "long", "bare"])
def test_there_is_no_overall_number(open_page: Open, report: Report, sample: Sample, name: str) -> None:
    """The headline has the counts of each shelf and nothing that joins them; no percentage stands on the page.

    But for what repeats say of one assertion, which is never joined with another's.
    """
    page = open_page(report(name))
    wanted: Counter[str] = Counter()
    for entry in sample(name):
        wanted.update(
            {f"d {key}": count for key, count in entry.envelope["summary"]["deterministic"].items()}
        )
        wanted.update({f"w {key}": count for key, count in entry.envelope["summary"]["warnings"].items()})
    lesser = [count for key, count in wanted.items() if key.startswith("w")]
    allowed = [
        *(count for key, count in wanted.items() if key.startswith("d")),
        0,
        0,
        1,
    ]  # the last: the exit code
    shown = [
        int(number.replace(",", ""))
        for number in re.findall(r"[\d,.]*\d", page.locator(".headline").inner_text())
    ]
    assert sorted(shown) == sorted(allowed + (lesser if any(lesser) else []))
    page.locator(".repeats").evaluate_all("tables => tables.forEach(table => table.remove())")
    assert re.search(r"\d\s*%|\bscore\b", page.locator("main").inner_text()) is None


@pytest.mark.parametrize("name", ["demo", "kinds", "long"])
def test_what_failed_comes_first(open_page: Open, report: Report, sample: Sample, name: str) -> None:
    """Failures that gate, then what is undecided, then passes, each in document order; then what never gates."""
    page = open_page(report(name))
    rank = {"FAIL": 0, "INCONCLUSIVE": 1, "PASS": 2}
    (entry,) = sample(name)
    wanted = sorted(
        entry.results, key=lambda result: (result.get("severity", "error") != "error", rank[result["status"]])
    )
    assert page.locator(".card .id").all_text_contents() == [result["id"] for result in wanted]
    assert [chip.split()[-1] for chip in page.locator(".card .chip").all_text_contents()] == [
        result["status"] for result in wanted
    ]


def test_the_worst_conversation_comes_first(open_page: Open, report: Report) -> None:
    """Of several conversations the one without failures is last, and each has its own counts in the index."""
    page = open_page(report("mixed"))
    names = page.locator(".index tbody th").all_inner_texts()
    assert names == ["bad.json", "blind.json", "good.json"]
    assert page.locator(".index tbody tr").first.locator("td").all_inner_texts()[-4:] == ["2", "0", "2", "1"]


def test_a_failure_is_open_from_the_start(open_page: Open, report: Report) -> None:
    """Who opens a report sees the first failure's reason and grounds without a click."""
    page = open_page(report("demo"))
    first = page.locator(".card").first
    expect(first).to_have_attribute("open", "")
    expect(first).to_contain_text("Your refund of 42 dollars")


def test_a_card_says_what_it_is_about(open_page: Open, report: Report) -> None:
    """Kind, verdict, dimension, severity, place, owner, tags and how it was decided stand on the card."""
    page = open_page(report("kinds"), "#r-latency-fail")
    card = page.locator("#r-latency-fail")
    for told in ("FAIL", "latency", "every-kind.yaml:", "latency-fail", "odd", "over_limit"):
        expect(card).to_contain_text(told)
    expect(card).to_contain_text(re.compile("deterministic", re.IGNORECASE))
    page = open_page(report("kinds"), "#r-tool_call-fail")
    card = page.locator("#r-tool_call-fail")
    for told in ("warning", "never gates", "support team", "reliability"):
        expect(card).to_contain_text(told)


def test_every_kind_has_a_card_for_each_verdict(sample: Sample) -> None:
    """The sample that these tests open shows each kind there is as PASS, FAIL and INCONCLUSIVE, if it ever decides."""
    seen = {(result["kind"], result["status"]) for result in sample("kinds")[0].results}
    never = {"timing_contract", "human_rubric", "judge_rubric"}
    assert {kind for kind, _ in seen} == set(KINDS)
    assert seen == {(kind, "INCONCLUSIVE") for kind in KINDS} | {
        (kind, status) for kind in set(KINDS) - never for status in ("PASS", "FAIL")
    }


def test_without_evidence_there_are_cards_only(open_page: Open, report: Report) -> None:
    """A page made of the envelope alone has every card, says that it has no more, and shows no tool call."""
    page = open_page(report("bare"))
    assert page.locator(".card").count() == 69
    expect(page.locator("main")).to_contain_text(re.compile("without the evidence|envelope alone"))
    assert page.locator(".call, .timeline").count() == 0
