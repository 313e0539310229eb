from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Fixture = Callable[..., Any]


def answered(result: Any = None, name: str = "refund", **fields: Any) -> dict[str, Any]:
    """A span of a tool call with its result."""
    return {"type": "tool_call", "name": name, "result": result, **fields}


def tool_result(name: Any = "refund", **fields: Any) -> dict[str, Any]:
    return {"kind": "tool_result", "name": name, **fields}


TWO = [answered({"ok": False}), answered({"ok": True, "id": 7}), answered({"ok": True}, "lookup")]


def test_a_result_that_matches_passes_with_the_calls_that_answered_so(judge: Fixture) -> None:
    """Grounds are the matching calls of that tool alone."""
    result = judge(tool_result(result_subset={"ok": True}), trace=TWO)
    assert (result["status"], result["tool_calls"], result["span_ids"]) == ("PASS", ["c_1"], ["s_1"])


def test_without_an_expected_result_any_mapping_will_do(judge: Fixture) -> None:
    """A tool that answered with an object has answered; as in the reference nothing else has."""
    assert judge(tool_result(), trace=TWO)["tool_calls"] == ["c_0", "c_1"]
    others: list[Any] = [None, "done", [{}], 5]
    for nothing in others:
        assert judge(tool_result(), trace=[answered(nothing)])["code"] == "value_mismatch"


def test_no_result_that_matches_fails_with_the_nearest_miss(judge: Fixture) -> None:
    """The reason says which answer came nearest, and where it differs."""
    result = judge(tool_result(result_subset={"ok": True, "id": 8}), trace=TWO)
    assert (result["status"], result["code"]) == ("FAIL", "value_mismatch")
    assert result["nearest_miss"] == {
        "tool_call": "c_1",
        "mismatches": [{"path": "id", "expected": "8", "found": "7"}],
    }
    assert result["reason"] == (
        "`refund` was called, and no result is as expected; nearest is c_1: id: expected 8, found 7"
    )
    assert result["public_reason"] == "results of refund are not as required"


def test_a_tool_that_was_never_called_is_told_apart(judge: Fixture) -> None:
    """The reason lists the tools that were called."""
    result = judge(tool_result("cancel now"), trace=TWO)
    assert (result["status"], result["code"]) == ("FAIL", "not_found")
    assert result["reason"].endswith("so it has no result; tools called: `refund`, `lookup`")
    assert result["public_reason"] == "tool results are not as required"
    assert judge(tool_result(), trace=[])["reason"].endswith("tools called: none")


def test_absent_forbids_such_an_answer(judge: Fixture) -> None:
    """Fault 7 of the reference: `absent` was checked for its type and never read."""
    assert judge(tool_result(result_subset={"ok": 1}, absent=True), trace=TWO)["status"] == "PASS"
    assert judge(tool_result("cancel", absent=True), trace=TWO)["status"] == "PASS"
    result = judge(tool_result(result_subset={"ok": True}, absent=True), trace=TWO)
    assert (result["status"], result["code"], result["tool_calls"]) == (
        "FAIL",
        "found_but_forbidden",
        ["c_1"],
    )
    assert result["reason"] == "`refund` must not answer so, and did in c_1"


@pytest.mark.parametrize(
    ("field", "expected", "actual", "matches"),
    [
        ("result", "done", "done", True),
        ("result", ["a", {"$gt": 1}], ["a", 2], True),
        ("result", {"$regex": "^do"}, "done", True),
        ("result", 5, 5.0, True),
        ("result", True, 1, False),
        ("result", {"a": 1}, {"a": 1, "b": 2}, True),
        ("result_exact", {"a": 1}, {"a": 1, "b": 2}, False),
        ("result_exact", {"a": 1}, {"a": 1}, True),
        ("result_exact", [1], [1], True),
        ("result_subset", {"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}, True),
        ("result_subset", {"a": 1}, '{"a": 1}', True),
        ("result_subset", {"a": 1}, {"a": True}, False),
        ("result_subset", {"a": None}, {}, False),
    ],
)
def test_results_of_every_type_can_match(
    judge: Fixture, field: str, expected: Any, actual: Any, matches: bool
) -> None:
    """Faults 11 and 13: scalars, lists and JSON text never matched, and subsets were shallow."""
    result = judge(tool_result(**{field: expected}), trace=[answered(actual)])
    assert result["status"] == ("PASS" if matches else "FAIL")


def test_no_result_at_all_can_be_asked_for(judge: Fixture) -> None:
    """A call that answered nothing is the one without a value; in a native span a missing result is none."""
    for span in (answered(None), {"type": "tool_call", "name": "refund"}):
        assert judge(tool_result(result={"$exists": False}), trace=[span])["status"] == "PASS"
    assert judge(tool_result(result={"$exists": False}), trace=TWO)["status"] == "FAIL"


def test_whether_the_call_ended_in_an_error_is_another_question(judge: Fixture) -> None:
    """As in the reference an errored call has a result too; `attempts: successful` leaves it out."""
    trace = [answered({"ok": True}, error="down")]
    assert judge(tool_result(result_subset={"ok": True}), trace=trace)["status"] == "PASS"
    asked = tool_result(result_subset={"ok": True}, attempts="successful")
    assert judge(asked, trace=trace)["code"] == "not_found"


def test_an_absent_trace_is_inconclusive(judge: Fixture) -> None:
    """What the agent said of a result is none."""
    said = [{"role": "agent", "text": "the refund is ok"}]
    for fields in ({}, {"absent": True}):
        assert judge(tool_result(**fields), transcript=said)["code"] == "trace_absent"


@pytest.mark.parametrize(
    ("state", "code"),
    [
        ("absent", "results_not_recorded"),
        ("truncated", "results_not_recorded"),
        ("redacted", "results_redacted"),
    ],
)
def test_an_unrecorded_result_leaves_the_verdict_open(
    judge: Fixture, gapped: Fixture, state: str, code: str
) -> None:
    """It may be the expected one; a known result that matches decides nevertheless."""
    evidence = gapped({}, [{"result": None, "result_state": state}], trace=TWO)
    for fields in (
        {"result_subset": {"id": 8}},
        {"result": {"$exists": False}},
        {"result_subset": {"id": 8}, "absent": True},
    ):
        result = judge(tool_result(**fields), evidence)
        assert (result["status"], result["code"], result["tool_calls"]) == ("INCONCLUSIVE", code, ["c_0"])
        assert result["evidence_gap"]["channel"] == "results"
        assert result["evidence_gap"]["state"] == state
        assert result["public_reason"] == "required result evidence was missing"
    assert judge(tool_result(result_subset={"id": 7}), evidence)["status"] == "PASS"
    assert judge(tool_result(result_subset={"id": 7}, absent=True), evidence)["status"] == "FAIL"


@pytest.mark.parametrize("state", ["redacted", "truncated"])
def test_a_result_that_is_shown_in_part_proves_nothing(judge: Fixture, gapped: Fixture, state: str) -> None:
    """What was cut could be what the check looks at."""
    evidence = gapped({}, [{"result_state": state}], trace=[answered({"ok": True})])
    assert judge(tool_result(result_subset={"ok": True}), evidence)["status"] == "INCONCLUSIVE"
    assert judge(tool_result(result_subset={"ok": False}), evidence)["status"] == "INCONCLUSIVE"


@pytest.mark.parametrize("state", ["absent", "partial", "truncated", "redacted", "unreadable"])
def test_no_result_means_nothing_where_results_are_not_covered(
    judge: Fixture, gapped: Fixture, state: str
) -> None:
    """A source that does not show results shows none of a call either."""
    evidence = gapped({"results": state}, trace=[{"type": "tool_call", "name": "refund"}, *TWO])
    code = "results_redacted" if state == "redacted" else "results_not_recorded"
    for fields in ({"result_subset": {"id": 8}}, {"result_subset": {"id": 8}, "absent": True}):
        result = judge(tool_result(**fields), evidence)
        assert (result["status"], result["code"], result["tool_calls"]) == ("INCONCLUSIVE", code, ["c_0"])
        assert result["evidence_gap"]["state"] == state
    assert judge(tool_result(result_subset={"id": 7}), evidence)["status"] == "PASS"


@pytest.mark.parametrize("state", ["truncated", "partial", "redacted"])
def test_an_incomplete_trace_proves_answers_and_never_their_absence(
    judge: Fixture, gapped: Fixture, state: str
) -> None:
    """The missing part may hold the call that answered so."""
    evidence = gapped({"executions": state}, trace=TWO)
    assert judge(tool_result(result_subset={"id": 7}), evidence)["status"] == "PASS"
    assert judge(tool_result(result_subset={"id": 7}, absent=True), evidence)["status"] == "FAIL"
    for fields in (
        {"result_subset": {"id": 8}},
        {"result_subset": {"id": 8}, "absent": True},
        {"name": "cancel"},
    ):
        result = judge(tool_result(**fields), evidence)
        assert (result["status"], result["code"]) == ("INCONCLUSIVE", "channel_truncated")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"name": ""}, [("empty_value", "name")]),
        ({"name": None}, [("wrong_type", "name")]),
        ({"result_subset": None}, [("wrong_type", "result_subset")]),
        ({"result_subset": [1]}, [("wrong_type", "result_subset")]),
        ({"result_subset": {}, "result": 1}, [("fields_exclude", "result")]),
        ({"result": 1, "result_exact": 1}, [("fields_exclude", "result_exact")]),
        ({"result": {"$rgex": "a"}}, [("bad_expected_value", "result.$rgex")]),
        ({"result_exact": {"$exists": False}}, [("bad_expected_value", "result_exact.$exists")]),
        ({"result_subset": {"a": {"$gt": None}}}, [("bad_expected_value", "result_subset.a.$gt")]),
        ({"absent": "true"}, [("wrong_type", "absent")]),
        ({"absnt": True}, [("unknown_field", "absnt")]),
    ],
)
def test_mistakes_are_told_with_their_places(
    problems_of: Fixture, fields: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    """Every mistake of a tool_result is found before anything runs."""
    assert problems_of(tool_result(**fields)) == expected


def test_a_tool_result_needs_a_name(problems_of: Fixture) -> None:
    """There is no result of any tool."""
    assert problems_of({"kind": "tool_result"}) == [("missing_field", "")]
