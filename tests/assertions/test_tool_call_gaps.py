from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Fixture = Callable[..., Any]


def called(name: str = "refund", args: Any = None, **fields: Any) -> dict[str, Any]:
    """A span of a tool call."""
    arguments = {} if args is None else {"arguments": args}
    return {"type": "tool_call", "name": name, **arguments, **fields}


def tool_call(name: Any = "refund", **fields: Any) -> dict[str, Any]:
    return {"kind": "tool_call", "name": name, **fields}


THREE = [called(args={"id": 1}), called("lookup"), called(args={"id": 2, "opts": {"full": True, "n": 1}})]


def test_unrecorded_arguments_leave_the_verdict_open(judge: Fixture, gapped: Fixture) -> None:
    """A call whose arguments are unknown neither matches nor mismatches."""
    hidden = {"args": None, "args_state": "absent"}
    evidence = gapped({}, [hidden], trace=[called(args={"id": 1})])
    asked: list[dict[str, Any]] = [
        {"args_subset": {"id": 1}},
        {"args": {"id": {"$exists": False}}},
        {"args_exact": {}},
        {"args_subset": {"id": 1}, "absent": True},
        {"args_subset": {"id": 1}, "count": 1},
        {"args_subset": {"id": 1}, "count": 0},
    ]
    for fields in asked:
        result = judge(tool_call(**fields), evidence)
        assert (result["status"], result["code"]) == ("INCONCLUSIVE", "arguments_not_recorded"), fields
        assert result["evidence_gap"]["channel"] == "executions"
        assert result["evidence_gap"]["state"] == "absent"
        assert result["tool_calls"] == ["c_0"]
        assert result["public_reason"] == "required argument evidence was missing"
    assert judge(tool_call(), evidence)["status"] == "PASS"
    assert judge(tool_call(args_subset={}), evidence)["status"] == "PASS"
    assert judge(tool_call(absent=True), evidence)["status"] == "FAIL"


@pytest.mark.parametrize("state", ["redacted", "truncated"])
def test_arguments_that_are_shown_in_part_prove_nothing(judge: Fixture, gapped: Fixture, state: str) -> None:
    """What was cut could be what an operator looks at, so the call is unknown."""
    evidence = gapped({}, [{"args_state": state}], trace=[called(args={"id": 1})])
    for expected in ({"id": 1}, {"id": 2}):
        result = judge(tool_call(args_subset=expected), evidence)
        assert (result["status"], result["evidence_gap"]["state"]) == ("INCONCLUSIVE", state)


def test_arguments_recorded_as_none_match_nothing(judge: Fixture, gapped: Fixture) -> None:
    """Recorded with nothing set means that there were none, which is known."""
    evidence = gapped({}, [{"args": None}], trace=[called(args={"id": 1})])
    result = judge(tool_call(args_subset={"id": 1}), evidence)
    assert (result["status"], result["code"]) == ("FAIL", "value_mismatch")
    assert result["nearest_miss"]["mismatches"][0]["found"] == "nothing"


def test_arguments_that_are_no_json_are_inconclusive_and_no_crash(judge: Fixture) -> None:
    """Fault 17: arguments as text ended in a traceback and exit code 1, the same as a FAIL."""
    result = judge(tool_call(args_subset={"id": 1}), trace=[called(args='{"id": ')])
    assert (result["status"], result["code"]) == ("INCONCLUSIVE", "arguments_unreadable")
    assert result["evidence_gap"]["state"] == "unreadable"
    assert judge(tool_call(), trace=[called(args='{"id": ')])["status"] == "PASS"


@pytest.mark.parametrize(
    ("count", "status", "code"),
    [
        (1, "INCONCLUSIVE", "arguments_not_recorded"),
        (2, "INCONCLUSIVE", "arguments_not_recorded"),
        (3, "FAIL", "count_out_of_bounds"),
        (0, "FAIL", "found_but_forbidden"),
        ({"min": 1}, "PASS", None),
        ({"min": 2}, "INCONCLUSIVE", "arguments_not_recorded"),
        ({"min": 3}, "FAIL", "count_out_of_bounds"),
        ({"max": 1}, "INCONCLUSIVE", "arguments_not_recorded"),
        ({"max": 2}, "PASS", None),
        ({"min": 1, "max": 2}, "PASS", None),
    ],
)
def test_unknown_calls_matter_only_where_they_turn_the_count(
    judge: Fixture, gapped: Fixture, count: Any, status: str, code: str | None
) -> None:
    """One call matches, one mismatches, one is unknown: the count is one or two."""
    trace = [called(args={"id": 1}), called(args={"id": 2}), called(args={"id": 1})]
    evidence = gapped({}, [{}, {}, {"args": None, "args_state": "redacted"}], trace=trace)
    result = judge(tool_call(count=count, args_subset={"id": 1}), evidence)
    assert (result["status"], result.get("code")) == (status, code)


def test_a_count_out_of_reach_of_unknown_calls_is_told_as_a_count(judge: Fixture, gapped: Fixture) -> None:
    """Where nothing is known to mismatch, the FAIL is about the number, at its most favourable."""
    evidence = gapped({}, [{"args": None, "args_state": "absent"}], trace=[called(args={"id": 1})])
    result = judge(tool_call(count=3, args_subset={"id": 1}), evidence)
    assert (result["status"], result["code"]) == ("FAIL", "count_out_of_bounds")
    assert result["reason"] == "`refund` was called once with these arguments, and must be 3 times"


@pytest.mark.parametrize("state", ["truncated", "partial", "redacted"])
def test_an_incomplete_trace_proves_calls_and_never_their_absence(
    judge: Fixture, gapped: Fixture, state: str
) -> None:
    """A verdict that one more call could turn is INCONCLUSIVE."""
    evidence = gapped({"executions": state}, trace=THREE)
    decided: tuple[tuple[dict[str, Any], str], ...] = (
        ({}, "PASS"),
        ({"args_subset": {"id": 2}}, "PASS"),
        ({"count": {"min": 2}}, "PASS"),
        ({"absent": True}, "FAIL"),
        ({"count": 1}, "FAIL"),
        ({"count": {"max": 1}}, "FAIL"),
        ({"name": "lookup", "require_order": ["refund", "refund"]}, "PASS"),
    )
    for fields, status in decided:
        assert judge(tool_call(**fields), evidence)["status"] == status, fields
    open_: tuple[dict[str, Any], ...] = (
        {"name": "other"},
        {"name": "other", "absent": True},
        {"args_subset": {"id": 3}},
        {"count": 2},
        {"count": 3},
        {"count": {"max": 2}},
        {"count": {"min": 3}},
        {"require_order": ["lookup", "lookup"]},
        {"never_before": {"tool": "refund", "until": "lookup"}},
        {"never_before": {"tool": "lookup", "until": "refund"}},
    )
    for fields in open_:
        result = judge(tool_call(**fields), evidence)
        assert (result["status"], result["code"]) == ("INCONCLUSIVE", "channel_truncated"), fields
        assert result["evidence_gap"] == {
            "channel": "executions",
            "state": state,
            "source_format": "conversation",
            "how": "Record this evidence completely in its source.",
        }


def test_a_part_that_fails_decides_over_one_that_is_open(judge: Fixture, gapped: Fixture) -> None:
    """FAIL needs one part only; PASS needs them all."""
    evidence = gapped({}, [{"args": None, "args_state": "absent"}], trace=THREE)
    fields = {"args_subset": {"id": 7}, "require_order": ["lookup", "refund"]}
    result = judge(tool_call(**fields), evidence)
    assert (result["status"], result["code"]) == ("INCONCLUSIVE", "arguments_not_recorded")
    result = judge(tool_call(**{**fields, "require_order": ["lookup", "cancel"]}), evidence)
    assert (result["status"], result["code"]) == ("FAIL", "not_found")


def test_a_part_that_fails_by_what_is_there_decides_in_an_incomplete_trace(
    judge: Fixture, gapped: Fixture
) -> None:
    """Only when every failing part rests on absence is the whole open."""
    evidence = gapped({"executions": "truncated"}, trace=THREE)
    result = judge(tool_call(absent=True, require_order=["cancel"]), evidence)
    assert (result["status"], result["code"]) == ("FAIL", "found_but_forbidden")
    result = judge(tool_call("cancel", require_order=["cancel"]), evidence)
    assert (result["status"], result["code"]) == ("INCONCLUSIVE", "channel_truncated")
