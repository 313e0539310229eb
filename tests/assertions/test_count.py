from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Fixture = Callable[..., Any]

SAID = [
    {"role": "agent", "text": "Sorry, I am sorry."},
    {"role": "caller", "text": "Sorry?"},
    {"role": "agent", "text": "sorry sorry SORRY"},
]
SPANS = [
    {"type": "tool_call", "name": "a", "arguments": {"x": 1}},
    {"type": "tool_timeout", "name": "z"},
    {"type": "tool_call", "name": "a", "arguments": {"x": 2}, "error": "down"},
    {"type": "tool_call", "name": "b"},
    {"type": "http_exchange", "method": "GET", "url": "/a", "status_code": 200},
    {"type": "http_exchange", "method": "GET", "url": "/b", "status_code": 500},
]


def count(bounds: Any, **fields: Any) -> dict[str, Any]:
    return {"kind": "count", "count": bounds, **fields}


@pytest.mark.parametrize(
    ("fields", "observed", "grounds"),
    [
        ({"phrase": "sorry"}, 3, {"turns": [0, 1, 2]}),
        ({"phrase": "sorry", "role": "assistant"}, 2, {"turns": [0, 2]}),
        ({"phrase": "SORRY", "case_sensitive": True}, 1, {"turns": [2]}),
        ({"phrase": "sorry", "per": "occurrence"}, 6, {"turns": [0, 1, 2]}),
        ({"phrase": "sorry", "per": "occurrence", "role": "agent"}, 5, {"turns": [0, 2]}),
        ({"phrase": "sorry", "per": "occurrence", "case_sensitive": True}, 3, {"turns": [0, 2]}),
        ({"phrase": "sorry", "within": {"last": {"turns": 2}}}, 2, {"turns": [1, 2]}),
        ({"phrase": "sorry", "per": "occurrence", "within": {"first": {"turns": 1}}}, 2, {"turns": [0]}),
        ({"phrase": "thanks"}, 0, {}),
        ({"tool": "a"}, 2, {"tool_calls": ["c_0", "c_1"], "span_ids": ["s_0", "s_2"]}),
        ({"tool": "a", "attempts": "successful"}, 1, {"tool_calls": ["c_0"]}),
        ({"tool": "a", "args_subset": {"x": {"$gt": 1}}}, 1, {"tool_calls": ["c_1"]}),
        ({"tool": "a", "args_subset": {}}, 2, {"tool_calls": ["c_0", "c_1"]}),
        ({"tool": "a", "requestor": "user"}, 0, {}),
        ({"tool": "never"}, 0, {}),
        ({"span_type": "tool_call"}, 3, {"span_ids": ["s_0", "s_2", "s_3"]}),
        ({"span_type": "tool_timeout"}, 1, {"span_ids": ["s_1"]}),
        ({"http": {"method": "get"}}, 2, {"span_ids": ["s_4", "s_5"]}),
        ({"http": {"status": 500}}, 1, {"span_ids": ["s_5"]}),
    ],
)
def test_what_is_counted_is_observed_with_its_grounds(
    judge: Fixture, fields: dict[str, Any], observed: int, grounds: dict[str, Any]
) -> None:
    """The number and where it was seen stand in the result, of a PASS and of a FAIL."""
    for bounds in (observed, observed + 1, observed - 1):
        result = judge(count(bounds, **fields), transcript=SAID, trace=SPANS)
        assert result["status"] == ("PASS" if bounds == observed else "FAIL")
        assert result["observed"] == observed
        for name in ("turns", "tool_calls", "span_ids"):
            if name in grounds or not grounds:
                assert result.get(name) == grounds.get(name)


def test_fault_14_each_time_that_it_is_said_can_be_counted(judge: Fixture) -> None:
    """The reference counted turns only, so a turn with three of them was one."""
    transcript = [{"role": "agent", "text": "buy now, buy now, buy now"}]
    assert judge(count(1, phrase="buy now"), transcript=transcript)["status"] == "PASS"
    result = judge(count({"max": 2}, phrase="buy now", per="occurrence"), transcript=transcript)
    assert (result["status"], result["code"], result["observed"]) == ("FAIL", "count_out_of_bounds", 3)
    assert result["reason"] == "/buy now/ happens 3 times, and must happen at most 2 times"
    assert result["public_reason"] == "something happens more or fewer times than allowed"


def test_occurrences_do_not_overlap_and_hostile_patterns_are_counted_too(judge: Fixture) -> None:
    """From left to right, each beginning where the one before ended; in linear time."""
    transcript = [{"text": "aaaa"}]
    assert judge(count(2, phrase="aa", per="occurrence"), transcript=transcript)["status"] == "PASS"
    hostile = [{"text": "a" * 50_000 + "!"}]
    result = judge(count(1, phrase="(a+)+$|!", per="occurrence"), transcript=hostile)
    assert (result["status"], result["observed"]) == ("PASS", 1)


@pytest.mark.parametrize(
    ("bounds", "passes"),
    [
        (2, True),
        (1, False),
        (3, False),
        ({"min": 2}, True),
        ({"min": 3}, False),
        ({"max": 2}, True),
        ({"max": 1}, False),
        ({"min": 1, "max": 3}, True),
        ({"min": None, "max": 1}, False),
        ({"min": 2, "max": None}, True),
        (-1, False),
    ],
)
def test_bounds_are_inclusive(judge: Fixture, bounds: Any, passes: bool) -> None:
    """A number is exact; null does not bind."""
    result = judge(count(bounds, tool="a"), trace=SPANS)
    assert result["status"] == ("PASS" if passes else "FAIL")


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"phrase": "x"}, "transcript_absent"),
        ({"tool": "a"}, "trace_absent"),
        ({"span_type": "a"}, "trace_absent"),
        ({"http": {}}, "trace_absent"),
    ],
)
def test_absent_evidence_counts_nothing(judge: Fixture, fields: dict[str, Any], code: str) -> None:
    """Not even nought: what was not recorded may have happened."""
    result = judge(count(0, **fields))
    assert (result["status"], result["code"]) == ("INCONCLUSIVE", code)
    assert "observed" not in result


def test_seconds_need_a_clock(judge: Fixture) -> None:
    """The part can't be told without times."""
    asked = count(0, phrase="sorry", within={"first": {"seconds": 3}})
    assert judge(asked, transcript=SAID)["code"] == "no_clock"
    timed = [{**turn, "start": 2 * index} for index, turn in enumerate(SAID)]
    assert judge(asked, transcript=timed)["observed"] == 2


def test_calls_without_known_arguments_leave_the_number_open(judge: Fixture, gapped: Fixture) -> None:
    """Only where they could turn the verdict."""
    evidence = gapped({}, [{"args": None, "args_state": "absent"}], trace=SPANS)
    for bounds in (1, {"min": 2}, {"max": 1}):
        result = judge(count(bounds, tool="a", args_subset={"x": {"$gt": 0}}), evidence)
        assert (result["status"], result["code"], result["tool_calls"]) == (
            "INCONCLUSIVE",
            "arguments_not_recorded",
            ["c_0"],
        )
        assert result["evidence_gap"]["channel"] == "executions"
    for bounds, status in (({"min": 1}, "PASS"), ({"max": 2}, "PASS"), ({"max": 0}, "FAIL"), (3, "FAIL")):
        assert judge(count(bounds, tool="a", args_subset={"x": {"$gt": 0}}), evidence)["status"] == status
    assert judge(count(2, tool="a"), evidence)["status"] == "PASS"


@pytest.mark.parametrize("state", ["truncated", "partial", "redacted"])
@pytest.mark.parametrize(
    "counted",
    [({"phrase": "sorry"}, "transcript", 3), ({"tool": "a"}, "executions", 2), ({"http": {}}, "http", 2)],
)
def test_what_is_missing_could_only_add(
    judge: Fixture, gapped: Fixture, state: str, counted: tuple[dict[str, Any], str, int]
) -> None:
    """So enough and too many can be told from a part, and a limit or too few can't."""
    fields, channel, observed = counted
    evidence = gapped({channel: state}, transcript=SAID, trace=SPANS)
    assert judge(count({"min": observed}, **fields), evidence)["status"] == "PASS"
    assert judge(count({"max": observed - 1}, **fields), evidence)["status"] == "FAIL"
    for bounds in (observed, {"max": observed}, {"min": observed + 1}):
        assert judge(count(bounds, **fields), evidence)["code"] == "channel_truncated"


def test_a_missing_turn_moves_the_part_that_is_counted(judge: Fixture, gapped: Fixture) -> None:
    """The last two turns of a part of the transcript need not be the last two."""
    evidence = gapped({"transcript": "truncated"}, transcript=SAID)
    for bounds in ({"min": 1}, {"max": 0}):
        asked = count(bounds, phrase="sorry", within={"last": {"turns": 2}})
        assert judge(asked, evidence)["code"] == "channel_truncated"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, [("fields_exclude", "")]),
        ({"tool": "a", "phrase": "b"}, [("fields_exclude", "")]),
        ({"tool": ""}, [("empty_value", "tool")]),
        ({"tool": "a", "count": {}}, [("missing_field", "count")]),
        ({"tool": "a", "count": {"min": 2, "max": 1}}, [("impossible_bounds", "count")]),
        ({"tool": "a", "count": {"min": "2"}}, [("wrong_type", "count.min")]),
        ({"tool": "a", "count": True}, [("wrong_type", "count")]),
        ({"tool": "a", "args_subset": {"x": {"$gtt": 1}}}, [("bad_expected_value", "args_subset.x.$gtt")]),
        ({"phrase": "("}, [("bad_pattern", "phrase")]),
        ({"phrase": "a", "within": {"first": {}}}, [("fields_exclude", "within.first")]),
        ({"phrase": "a", "per": "word"}, [("not_allowed", "per")]),
        ({"http": {"method": " "}}, [("empty_value", "http.method")]),
    ],
)
def test_mistakes_are_told_with_their_places(
    problems_of: Fixture, fields: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    """Every mistake of a count is found before anything runs."""
    assert problems_of({"kind": "count", "count": 1, **fields}) == expected


@pytest.mark.parametrize(
    ("counted", "field", "value"),
    [
        ({"phrase": "a"}, "args_subset", {}),
        ({"span_type": "a"}, "reading", "any"),
        ({"http": {}}, "requestor", "user"),
        ({"phrase": "a"}, "attempts", "final"),
        ({"tool": "a"}, "role", "agent"),
        ({"tool": "a"}, "case_sensitive", True),
        ({"span_type": "a"}, "per", "occurrence"),
        ({"tool": "a"}, "within", {"first": {"turns": 1}}),
    ],
)
def test_a_field_of_another_thing_says_nothing(
    problems_of: Fixture, counted: dict[str, Any], field: str, value: Any
) -> None:
    """Fault 7 of the reference: such a field was passed over in silence."""
    assert problems_of(count(1, **counted, **{field: value})) == [("field_needs", field)]


def test_a_count_needs_a_number(problems_of: Fixture) -> None:
    """Without one nothing is asked."""
    assert problems_of({"kind": "count", "tool": "a"}) == [("missing_field", "")]
