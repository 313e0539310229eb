from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from averment.report.html.details import COMMON, Cell, Fact, Links, facts

LINKS = Links(
    turn=lambda index: Cell(f"turn {index}", f"#t-{index}"),
    call=lambda name: Cell(name, f"#c-{name}"),
    span=lambda name: Cell(name, None),
    result=lambda name: Cell(f"{name} (PASS)", f"#r-{name}"),
    transcript="#conversation",
)


def of(result: Mapping[str, Any], **asked: Any) -> list[Fact]:
    return facts({"id": "a", "kind": "x", "status": "FAIL", **result}, LINKS, asked)


def told(fact: Fact) -> str:
    """A fact in one line."""
    if fact.meter:
        word = "over" if fact.meter.over else "within"
        return f"{fact.label}: {fact.meter.value} {word} {fact.meter.limit}"
    if fact.differences:
        where = "".join(f"{cell.text} " for cell in fact.cells)
        pairs = (
            (each.path, *("".join(piece.text for piece in side) for side in (each.expected, each.found)))
            for each in fact.differences
        )
        return f"{fact.label}: {where}" + "; ".join(f"{path} {left} / {right}" for path, left, right in pairs)
    if fact.rows:
        return f"{fact.label}: " + "; ".join(", ".join(cell.text for cell in row) for row in fact.rows)
    if fact.json:
        return f"{fact.label}: {fact.json.text}"
    return f"{fact.label}: " + ", ".join(cell.text for cell in fact.cells)


MISMATCH = {"path": "amount", "expected": "5", "found": "999"}


@pytest.mark.parametrize(
    ("result", "asked", "expected"),
    [
        ({"mismatches": [MISMATCH]}, {}, ["Expected against found: amount 5 / 999"]),
        (
            {"nearest_miss": {"tool_call": "c_3", "mismatches": [MISMATCH]}},
            {},
            ["Nearest miss, expected against found: c_3 amount 5 / 999"],
        ),
        ({"unbacked": [{"turn": 3, "values": {"n": "42"}}]}, {}, ["Said and not backed: turn 3, n = 42"]),
        ({"unbacked": [{"turn": 3}]}, {}, ["Said and not backed: turn 3, -"]),
        (
            {
                "hits": [{"detector": "ssn", "turn": 1, "role": None}],
                "redacted_transcript": "#/redacted_transcript",
            },
            {},
            ["Personal data found: ssn, turn 1, nobody", "Redacted transcript: in the conversation"],
        ),
        ({"not_scanned": ["spoken_digits", "http"]}, {}, ["Not looked at: spoken digits, http"]),
        (
            {
                "matched_rules": [
                    {"rule": "no-promise", "type": "banned", "turn": 2},
                    {"rule": "recorded", "type": "required_disclosure_missing", "turn": None},
                ],
                "pack": {"name": "default", "version": 1, "sha256": "sha256:0123456789abcdef"},
            },
            {},
            [
                "Rules violated: no-promise, banned, and said, turn 2; recorded, required, and not said, nowhere",
                "Policy: default, version 1, 0123456789ab…",
            ],
        ),
        ({"measured_ms": 3200}, {"max_ms": 2000}, ["Measured against limit: 3,200 ms over 2,000 ms"]),
        ({"measured_ms": 12.5}, {"max_ms": 12.5}, ["Measured against limit: 12.5 ms within 12.5 ms"]),
        (
            {"measured": 0.25, "event": 3},
            {"max": 1},
            ["Measured against limit: 0.25 within 1", "Timing event, from 0: 3"],
        ),
        ({"measured_ms": 7}, {}, ["Measured: 7 ms"]),
        ({"measured_ms": 7, "grain_ms": 100}, {}, ["Measured: 7 ms", "Times are told to: 100 ms"]),
        ({"measured_ms": 7, "unmeasured": 2}, {}, ["Measured: 7 ms", "Without a duration: 2"]),
        ({"observed": 3}, {"count": {"max": 2}}, ["Observed: 3 times, and must be at most 2"]),
        (
            {"observed": 1},
            {"count": {"min": 2, "max": 4}},
            ["Observed: once, and must be at least 2 and at most 4"],
        ),
        ({"observed": 0}, {"count": 2}, ["Observed: 0 times, and must be 2"]),
        ({"observed": 5}, {}, ["Observed: 5 times"]),
        ({"met": 1, "of": 3}, {}, ["Met: 1 of 3"]),
        ({"refs": ["b", "c"], "met": 1, "of": 2}, {}, ["Met: 1 of 2", "Refers to: b (PASS), c (PASS)"]),
        (
            {"before_turn": 4, "after_turn": 2},
            {},
            ["What must come first: turn 4", "What must come after: turn 2"],
        ),
        ({"row": 0}, {}, ["Record: index 0"]),
        (
            {
                "rows": {"before": 0, "after": 1},
                "delta": {"field": "status", "before": "paid", "after": "sent"},
            },
            {},
            ["Change: status, paid, sent", "Records: index 0 before, index 1 after"],
        ),
        (
            {"rows": {"before": 0}, "delta": {"field": "x", "before": None}},
            {},
            ["Change: x, null, nothing", "Records: index 0 before"],
        ),
        ({"vacuous": True}, {}, ["Vacuous: what it is about never happened, so there was nothing to fail"]),
        ({"skipped": True}, {}, ["Skipped: the check was not run"]),
    ],
)
def test_each_detail_is_shown_in_its_own_way(
    result: dict[str, Any], asked: dict[str, Any], expected: list[str]
) -> None:
    """What a kind found is put into words, numbers against their limits, values side by side."""
    assert [told(fact) for fact in of(result, **asked)] == expected


def test_the_most_telling_comes_first() -> None:
    """Differences before counts, whatever the order in the envelope."""
    assert [fact.label for fact in of({"row": 1, "mismatches": [MISMATCH]})] == [
        "Expected against found",
        "Record",
    ]


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ({"new_in_version_9": {"a": [1, 2]}}, 'New in version 9: { "a": [ 1, 2 ] }'),
        ({"mismatches": 3}, "Mismatches: 3"),
        ({"nearest_miss": "c_1"}, 'Nearest miss: "c_1"'),
        ({"measured_ms": "long"}, 'Measured ms: "long"'),
        ({"met": 5, "of": 3}, "Met: 5"),
        ({"hits": []}, "Hits: []"),
        ({"pack": "default"}, 'Pack: "default"'),
        ({"vacuous": "yes"}, 'Vacuous: "yes"'),
        ({"refs": 3}, "Refs: 3"),
        ({"rows": 2}, "Rows: 2"),
        ({"delta": []}, "Delta: []"),
        ({"before_turn": "2"}, 'Before turn: "2"'),
        ({"of": 3}, "Of: 3"),
    ],
)
def test_what_is_not_known_is_shown_as_json(result: dict[str, Any], expected: str) -> None:
    """Envelopes of other versions have other keys, and other values under the same keys."""
    assert told(of(result)[0]) == expected


def test_what_all_cards_show_is_no_detail() -> None:
    """The keys that every result can have are not repeated."""
    assert of(dict.fromkeys(COMMON, "x")) == []


def test_long_details_are_cut_and_told() -> None:
    """A table has its first rows and the number of the others; JSON its first characters."""
    fact = of({"hits": [{"detector": "ssn", "turn": turn, "role": "a"} for turn in range(100)]})[0]
    assert (len(fact.rows), fact.more) == (40, 60)
    other = of({"unknown": "x" * 10_000})[0]
    assert other.json is not None
    assert (len(other.json.text), other.json.cut) == (2000, 8002)


def test_a_limit_stands_where_it_is_in_the_meter() -> None:
    """The longer of the two takes nearly the whole width."""
    over, within = of({"measured_ms": 200}, max_ms=100)[0].meter, of({"measured_ms": 50}, max_ms=100)[0].meter
    assert over is not None
    assert within is not None
    assert (over.filled, over.mark) == ("92.6%", "46.3%")
    assert (within.filled, within.mark) == ("46.3%", "92.6%")
