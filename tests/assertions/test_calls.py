from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from averment.assertions.calls import executed, miss_text, nearest_miss
from averment.assertions.values import matcher
from averment.evidence.model import Coverage, EvidenceModel, ToolCall
from averment.evidence.view import Roles, View
from averment.text.patterns import PatternSet

Fixture = Callable[..., Any]

STATUSES = ["requested", "executed", "ok", "error", "timeout", "cancelled", "unanswered", "denied"]


def view(*calls: ToolCall) -> View:
    return View(EvidenceModel(calls=calls, coverage=Coverage()), PatternSet(()), (), Roles())


@pytest.fixture(scope="module")
def mixed(gapped: Fixture) -> Any:
    """One call of each status, then one of each requestor but the agent."""
    spans = [{"type": "tool_call", "name": "t"}] * (len(STATUSES) + 2)
    fields = [{"status": status} for status in STATUSES] + [{"requestor": "user"}, {"requestor": "system"}]
    return gapped({}, fields, trace=spans)


@pytest.mark.parametrize(
    ("fields", "counted"),
    [
        ({}, [1, 2, 3, 4]),
        ({"reading": "executed"}, [1, 2, 3, 4]),
        ({"reading": "requested"}, [0, 1, 2, 3, 4, 5, 6, 7]),
        ({"reading": "any"}, [0, 1, 2, 3, 4, 5, 6, 7]),
        ({"requestor": "user"}, [8]),
        ({"requestor": "any"}, [1, 2, 3, 4, 8, 9]),
        ({"attempts": "successful"}, [1, 2]),
        ({"attempts": "successful", "requestor": "any"}, [1, 2, 8, 9]),
        ({"attempts": "successful", "reading": "any"}, [1, 2]),
    ],
)
@pytest.mark.parametrize("kind", ["tool_call", "sequence", "tool_result"])
def test_which_calls_count_is_one_choice_for_every_kind(
    judge: Fixture, mixed: Any, kind: str, fields: dict[str, Any], counted: list[int]
) -> None:
    """By default a call is one that the agent made and that was executed or answered."""
    asked: dict[str, Any] = {"kind": kind, **fields}
    if kind == "sequence":
        asked["steps"] = [{"tool": "t"}] * len(counted)
    else:
        asked["name"] = "t"
    if kind == "tool_result":
        asked["result"] = {"$exists": False}
    result = judge(asked, mixed)
    assert (result["status"], result["tool_calls"]) == ("PASS", [f"c_{index}" for index in counted])


def test_the_reading_holds_for_every_part_of_a_tool_call(judge: Fixture, mixed: Any) -> None:
    """Order and guard see the same calls as the name does."""
    guard = {"kind": "tool_call", "never_before": {"tool": "t", "until": "x"}}
    assert len(judge(guard, mixed)["tool_calls"]) == 4
    assert len(judge({**guard, "reading": "any"}, mixed)["tool_calls"]) == 8
    order = {"kind": "tool_call", "require_order": ["t"] * 5}
    assert judge(order, mixed)["code"] == "call_unanswered", "one more may have been executed"
    assert judge({**order, "reading": "any"}, mixed)["status"] == "PASS"


def test_final_attempts_leave_out_calls_that_were_retried(judge: Fixture) -> None:
    """Of a call and its retry only the last counts; a call of its own counts too."""
    trace = [
        {"type": "tool_call", "name": "t", "arguments": {"n": 1}, "error": "down"},
        {"type": "tool_retry", "name": "t", "attempt": 2},
        {"type": "tool_call", "name": "t", "arguments": {"n": 1}, "attempt": 2},
        {"type": "tool_call", "name": "t", "arguments": {"n": 2}},
    ]
    asked = {"kind": "tool_call", "name": "t"}
    assert judge(asked, trace=trace)["tool_calls"] == ["c_0", "c_1", "c_2"]
    assert judge({**asked, "attempts": "final"}, trace=trace)["tool_calls"] == ["c_1", "c_2"]
    assert judge({**asked, "attempts": "successful"}, trace=trace)["tool_calls"] == ["c_1", "c_2"]


def test_executed_is_the_usual_reading_of_called() -> None:
    """Kinds without the fields use it as it is."""
    calls = [ToolCall(id=f"c{index}", name="t", status=status) for index, status in enumerate(STATUSES)]  # type: ignore[arg-type]
    calls.append(ToolCall(id="user", name="t", status="ok", requestor="user"))
    calls.append(ToolCall(id="other", name="u", status="ok"))
    assert [call.status for call in executed(view(*calls), "t")] == ["executed", "ok", "error", "timeout"]


def test_the_nearest_miss_compares_arguments_or_results() -> None:
    """No result is an absent value; without calls there is no miss."""
    calls = [
        ToolCall(id="x", args={"a": 2, "b": 2}, result={"a": 1}, status="ok"),
        ToolCall(id="y", args={"a": 1, "b": 2}, status="ok"),
    ]
    expected = matcher({"a": 1, "b": 1})
    assert nearest_miss(expected, calls) == {
        "tool_call": "y",
        "mismatches": [{"path": "b", "expected": "1", "found": "2"}],
    }
    by_result = nearest_miss(expected, calls, results=True)
    assert by_result == {
        "tool_call": "x",
        "mismatches": [{"path": "b", "expected": "1", "found": "nothing"}],
    }
    assert miss_text(by_result) == "nearest is x: b: expected 1, found nothing"
    assert nearest_miss(expected, []) is None
