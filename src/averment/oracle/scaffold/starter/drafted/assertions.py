"""What must be true at the end of a task.

Each assertion is called with the oracle's state, the trace of the calls, the task and the context; it returns nothing,
or raises AssertionError with what is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

Trace = Sequence[Mapping[str, Any]]


# __CALLED__


def assert_no_tool_called(
    *, state: Mapping[str, Any], trace: Trace, task: Mapping[str, Any], ctx: Any
) -> None:
    """The agent called nothing."""
    assert not trace, f"expected no calls, found {[call['tool'] for call in trace]}"


def _called_with(trace: Trace, tool: str, arguments: Mapping[str, Any]) -> None:
    """The only call is one of this tool, with these arguments among its own, and was not refused."""
    assert [call["tool"] for call in trace] == [tool], f"expected one call, of {tool}"
    given, result = trace[0]["arguments"], trace[0]["result"]
    for name, value in arguments.items():
        assert name in given, f"the argument {name} is missing"
        assert given[name] == value, f"expected {name} to be {value!r}, found {given[name]!r}"
    assert "error" not in result, f"the call was refused: {result['error']}"


ASSERTIONS = {
    # __ASSERTIONS__
    "assert_no_tool_called": assert_no_tool_called,
}

# Read without running this file, so it must be written out. `category` says which metric an assertion counts for:
# `state`, `path`, `result` or `final_answer`; `trace`, whether the trace alone would be enough to judge.
ASSERTION_CAPABILITIES = {
    # __CAPABILITIES__
    "assert_no_tool_called": {"category": "path", "trace": True, "executable": True},
}
