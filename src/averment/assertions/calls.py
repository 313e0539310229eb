"""What the kinds that look at tool calls share: which calls count, and matching what a source may not show.

A source can fail to record a call's arguments or result. Such a call neither matches nor mismatches: it is
*unknown*, and a verdict that hangs on it is INCONCLUSIVE.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple

from msgspec import UNSET, Meta

from averment.assertions import values
from averment.assertions.base import Assertion, Gap
from averment.assertions.codes import Code
from averment.evidence.model import ToolCall
from averment.evidence.view import View
from averment.text.structs import Mistake

__all__ = [
    "CallAssertion",
    "Matched",
    "executed",
    "expected_mistakes",
    "match_arguments",
    "match_results",
    "miss_text",
    "nearest_miss",
]

_EXECUTED = frozenset({"executed", "ok", "error", "timeout"})
_SUCCESSFUL = frozenset({"executed", "ok"})


def executed(view: View, name: str) -> Sequence[ToolCall]:
    """The calls of the tool that the agent made and that were executed or answered: the usual reading of "called"."""
    return [call for call in view.called(name) if call.status in _EXECUTED and call.requestor == "agent"]


class CallAssertion(Assertion, frozen=True, kw_only=True):
    """The fields of every kind that looks at tool calls."""

    reading: Annotated[
        Literal["executed", "requested", "any"],
        Meta(description="Which calls count: those executed or answered, or also those only requested."),
    ] = "executed"
    requestor: Annotated[
        Literal["agent", "user", "any"],
        Meta(description="Whose calls count; a simulated user may call tools too."),
    ] = "agent"
    attempts: Annotated[
        Literal["all", "final", "successful"],
        Meta(
            description="Which attempts count: all, only the last of each retried call, or only those that succeeded."
        ),
    ] = "all"

    def counted(self, view: View, name: str | None = None) -> Sequence[ToolCall]:
        """The calls that count for this assertion, in trace order; of the tool `name`, when given."""
        calls = view.calls if name is None else view.called(name)
        if (
            self.reading == "executed"
        ):  # the other readings take every call: an executed one was requested too
            calls = [call for call in calls if call.status in _EXECUTED]
        if self.requestor != "any":
            calls = [call for call in calls if call.requestor == self.requestor]
        if self.attempts == "successful":
            calls = [call for call in calls if call.status in _SUCCESSFUL]
        elif self.attempts == "final":
            retried = {call.retry_of for call in view.calls if call.retry_of is not None}
            calls = [call for call in calls if call.id not in retried]
        return calls


class Matched(NamedTuple):
    """Calls sorted by whether they match an expected value; `code` and `gap` say why some are unknown."""

    matching: list[ToolCall]
    mismatching: list[ToolCall]
    unknown: list[ToolCall]
    code: Code | None
    gap: Gap | None


def match_arguments(matcher: values.Matcher | None, calls: Iterable[ToolCall]) -> Matched:
    """The calls by whether their arguments match; without a matcher every call does."""
    matched = Matched([], [], [], None, None)
    for call in calls:
        if matcher is None:
            matched.matching.append(call)
        elif call.args is UNSET:
            matched.unknown.append(call)
        else:
            (matched.matching if matcher.matches(call.args) else matched.mismatching).append(call)
    if not matched.unknown:
        return matched
    if matched.unknown[0].args_error is not None:
        how = "Record the arguments as a JSON value, or as the text of one."
        return matched._replace(code=Code.ARGUMENTS_UNREADABLE, gap=Gap("executions", "unreadable", how))
    how = "Record each call's arguments in the source of the trace."
    state = matched.unknown[0].args_state
    return matched._replace(code=Code.ARGUMENTS_NOT_RECORDED, gap=Gap("executions", state, how))


def match_results(matcher: values.Matcher, calls: Iterable[ToolCall]) -> Matched:
    """The calls by whether their results match."""
    matched = Matched([], [], [], None, None)
    for call in calls:
        if call.result is not UNSET:
            (matched.matching if matcher.matches(call.result) else matched.mismatching).append(call)
        elif call.result_state == "recorded":  # recorded, and there was none: nothing can match it
            (matched.matching if matcher.matches(values.ABSENT) else matched.mismatching).append(call)
        else:
            matched.unknown.append(call)
    if not matched.unknown:
        return matched
    state = matched.unknown[0].result_state
    code = Code.RESULTS_REDACTED if state == "redacted" else Code.RESULTS_NOT_RECORDED
    return matched._replace(
        code=code, gap=Gap("results", state, "Record each call's result in the source of the trace.")
    )


def expected_mistakes(fields: Mapping[str, Any], *, exact: Iterable[str] = ()) -> Iterable[Mistake]:
    """Mistakes in the expected values of an assertion, by field; unset fields are passed over."""
    for name, expected in fields.items():
        if expected is UNSET:
            continue
        for fault in values.faults(expected, exact=name in exact):
            yield Mistake(
                "bad_expected_value",
                fault.message,
                (name, *fault.path),
                offset=fault.offset,
                expected=fault.expected,
                found=fault.found,
                nearest=fault.nearest,
                mend=fault.mend,
            )


def nearest_miss(
    matcher: values.Matcher, calls: Sequence[ToolCall], *, results: bool = False
) -> dict[str, Any] | None:
    """The call that comes nearest to matching, and where it differs; None when there is none to compare."""
    actuals = [
        (call.result if call.result is not UNSET else values.ABSENT) if results else call.args
        for call in calls
    ]
    miss = values.nearest(matcher, actuals)
    if miss is None:
        return None
    return {
        "tool_call": calls[miss.index].id,
        "mismatches": [
            {"path": _path(mismatch.path), "expected": mismatch.expected, "found": mismatch.found}
            for mismatch in miss.mismatches
        ],
    }


def miss_text(miss: Mapping[str, Any]) -> str:
    """The nearest miss as the end of a sentence: where the call differs, expected first."""
    differences = "; ".join(
        f"{item['path'] or 'the value'}: expected {item['expected']}, found {item['found']}"
        for item in miss["mismatches"]
    )
    return f"nearest is {miss['tool_call']}: {differences}"


def _path(path: Sequence[str | int]) -> str:
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f"{'.' if text else ''}{step}"
    return text
