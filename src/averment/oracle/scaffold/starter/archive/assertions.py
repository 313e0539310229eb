"""What must be true at the end of a task.

Each assertion is called with the oracle's state, the trace of the calls, the task and the context; it returns nothing,
or raises AssertionError with what is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Trace = Sequence[Mapping[str, Any]]


def assert_record_reported(
    *, state: Mapping[str, Any], trace: Trace, task: Mapping[str, Any], ctx: Any
) -> None:
    """The record that the user named was looked up, once, and its data came back."""
    record_id = task["slots"]["record_id"]
    call = _only_call(trace, "get_record", {"record_id": record_id})
    row = next((row for row in state["records"] if row["record_id"] == record_id), None)
    assert row is not None, f"there is no record {record_id}"
    assert call["result"] == row, "the result is not the record"


def assert_record_not_found(
    *, state: Mapping[str, Any], trace: Trace, task: Mapping[str, Any], ctx: Any
) -> None:
    """The record that the user named was looked up, once, and isn't there."""
    record_id = task["slots"]["record_id"]
    call = _only_call(trace, "get_record", {"record_id": record_id})
    error = call["result"].get("error") or {}
    assert error.get("code") == "not_found", "the result does not say `not_found`"
    assert error.get("id") == record_id, "the result is about another record"


def assert_record_moved(*, state: Mapping[str, Any], trace: Trace, task: Mapping[str, Any], ctx: Any) -> None:
    """The record is where the user wanted it, was moved once, and no other was moved."""
    wanted = {task["slots"]["record_id"]: (task["slots"]["location"], 1)}
    moved = {row["record_id"]: (row["location"], row["moves"]) for row in state["records"] if row["moves"]}
    assert moved == wanted, f"expected the moves {wanted}, found {moved}"


def assert_no_tool_called(
    *, state: Mapping[str, Any], trace: Trace, task: Mapping[str, Any], ctx: Any
) -> None:
    """The agent called nothing."""
    assert not trace, f"expected no calls, found {[call['tool'] for call in trace]}"


def _only_call(trace: Trace, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """The one call that there is; it must be of this tool, with these arguments."""
    assert [call["tool"] for call in trace] == [tool], f"expected one call, of {tool}"
    assert trace[0]["arguments"] == arguments, f"expected the arguments {dict(arguments)}"
    return trace[0]


ASSERTIONS = {
    "assert_record_reported": assert_record_reported,
    "assert_record_not_found": assert_record_not_found,
    "assert_record_moved": assert_record_moved,
    "assert_no_tool_called": assert_no_tool_called,
}

# Read without running this file, so it must be written out. `category` says which metric an assertion counts for:
# `state`, `path`, `result` or `final_answer`; `trace`, whether the trace alone would be enough to judge.
ASSERTION_CAPABILITIES = {
    "assert_record_reported": {"category": "result", "trace": False, "executable": True},
    "assert_record_not_found": {"category": "result", "trace": True, "executable": True},
    "assert_record_moved": {"category": "state", "trace": False, "executable": True},
    "assert_no_tool_called": {"category": "path", "trace": True, "executable": True},
}
