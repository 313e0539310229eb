"""What the kinds that look at tool calls share: which calls count, and matching what a source may not show.

A source can fail to record a call's arguments or result. Such a call neither matches nor mismatches: it is
*unknown*, and a verdict that hangs on it is INCONCLUSIVE.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from averment.assertions import values
from averment.assertions.base import Assertion, Gap
from averment.assertions.codes import Code
from averment.evidence.model import ToolCall
from averment.evidence.redaction import holds_redacted, redacted_at
from averment.evidence.view import View
from averment.text.structs import Mistake

__all__ = [
    "CallAssertion",
    "Matched",
    "args_state",
    "arguments_gap",
    "executed",
    "expected_mistakes",
    "filter_mistakes",
    "match_arguments",
    "match_results",
    "mismatch_list",
    "mismatch_text",
    "miss_text",
    "nearest_miss",
    "succeeded",
]

_EXECUTED = frozenset({"executed", "ok", "error", "timeout"})
_SUCCESSFUL = frozenset({"executed", "ok"})


def executed(view: View, name: str) -> Sequence[ToolCall]:
    """The calls of the tool that the agent made and that were executed or answered: the usual reading of "called"."""
    return [call for call in view.called(name) if call.status in _EXECUTED and call.requestor == "agent"]


def succeeded(call: ToolCall) -> bool:
    """Whether nothing that was recorded says that the call failed."""
    return call.status in _SUCCESSFUL


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
        # The other readings take every call: an executed one was requested too.
        if self.reading == "executed":
            calls = [call for call in calls if call.status in _EXECUTED]
        if self.requestor != "any":
            calls = [call for call in calls if call.requestor == self.requestor]
        if self.attempts == "successful":
            calls = [call for call in calls if call.status in _SUCCESSFUL]
        elif self.attempts == "final":
            retried = {call.retry_of for call in view.calls if call.retry_of is not None}
            calls = [call for call in calls if call.id not in retried]
        return calls


class Matched(msgspec.Struct, frozen=True):
    """Calls sorted by whether they match an expected value; `code` and `gap` say why some are unknown."""

    matching: list[ToolCall]
    mismatching: list[ToolCall]
    unknown: list[ToolCall]
    code: Code | None
    gap: Gap | None


def match_arguments(matcher: values.Matcher | None, calls: Sequence[ToolCall]) -> Matched:
    """The calls by whether their arguments match; without a matcher every call does."""
    if matcher is None:
        return Matched(list(calls), [], [], None, None)
    matched = _sorted(matcher, [(call, call.args, args_state(call)) for call in calls])
    if not matched.unknown:
        return matched
    code, gap = arguments_gap(matched.unknown[0])
    return msgspec.structs.replace(matched, code=code, gap=gap)


def match_results(matcher: values.Matcher, calls: Sequence[ToolCall], channel: str) -> Matched:
    """The calls by whether their results match.

    Args:
        matcher: the expected result.
        calls: the calls.
        channel: the coverage of results: only where it is whole does no result mean that there was none.
    """
    whole = channel in {"present", "empty"}
    states = [
        channel
        if call.result is UNSET and call.result_state == "recorded" and not whole
        else call.result_state
        for call in calls
    ]
    matched = _sorted(
        matcher, [(call, call.result, state) for call, state in zip(calls, states, strict=True)]
    )
    if not matched.unknown:
        return matched
    state = next(state for state in states if state != "recorded")
    code = Code.RESULTS_REDACTED if state == "redacted" else Code.RESULTS_NOT_RECORDED
    return msgspec.structs.replace(
        matched, code=code, gap=Gap("results", state, "Record each call's result in the source of the trace.")
    )


def args_state(call: ToolCall) -> str:
    """Whether the call's arguments are known: `recorded`, or why they are not."""
    return call.args_state if call.args_error is None else "unreadable"


def arguments_gap(call: ToolCall) -> tuple[Code, Gap]:
    """What is missing, for a call whose arguments are not known."""
    state = args_state(call)
    if state == "unreadable":
        how = "Record the arguments as a JSON value, or as the text of one."
        return Code.ARGUMENTS_UNREADABLE, Gap("executions", state, how)
    how = "Record each call's arguments in the source of the trace."
    return Code.ARGUMENTS_NOT_RECORDED, Gap("executions", state, how)


def _sorted(matcher: values.Matcher, payloads: Iterable[tuple[ToolCall, Any, str]]) -> Matched:
    """Calls by whether the payload matches; one that is not wholly shown could say anything in the rest."""
    matched = Matched([], [], [], None, None)
    for call, payload, state in payloads:
        if state == "redacted" and holds_redacted(payload):
            _of_redacted(matcher, payload, matched).append(call)
        elif state != "recorded":
            matched.unknown.append(call)
        elif matcher.matches(_shown(payload)):
            matched.matching.append(call)
        else:
            matched.mismatching.append(call)
    return matched


def _of_redacted(matcher: values.Matcher, payload: Any, matched: Matched) -> list[ToolCall]:
    """Where a call belongs of which parts were taken out: what is left decides, unless only the marks differ."""
    mismatches = matcher.mismatches(payload)
    if not mismatches:
        return matched.unknown if matcher.negates else matched.matching
    if all(redacted_at(payload, mismatch.path) for mismatch in mismatches):
        return matched.unknown
    return matched.mismatching


def _shown(payload: Any) -> Any:
    """The payload as matchers know it: recorded with nothing set means that there was none."""
    return values.ABSENT if payload is UNSET else payload


def expected_mistakes(fields: Mapping[str, Any], *, keyed: Iterable[str] = ()) -> Iterable[Mistake]:
    """Mistakes in the expected values of an assertion, by field; unset fields are passed over.

    Args:
        fields: the expected values.
        keyed: the fields that can say `$exists: false`, because there may be no value to match.
    """
    for name, expected in fields.items():
        if expected is UNSET:
            continue
        for fault in values.faults(expected, keyed=name in keyed):
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


def filter_mistakes(filters: Mapping[str, Any] | UnsetType) -> Iterable[Mistake]:
    """Operators in filters, which select by equality: a record that `$gt` selects would be a guess."""
    for name, value in () if isinstance(filters, UnsetType) else filters.items():
        if isinstance(value, dict) and any(key.startswith("$") for key in value):
            mend = "Filter by a plain value, and put the operator under `expect`."
            yield Mistake(
                "bad_expected_value", f"the filter `{name}` has an operator", ("filters", name), mend=mend
            )


def nearest_miss(
    matcher: values.Matcher, calls: Sequence[ToolCall], *, results: bool = False
) -> dict[str, Any] | None:
    """The call that comes nearest to matching, and where it differs; None when there is none to compare."""
    actuals = [_shown(call.result if results else call.args) for call in calls]
    miss = values.nearest(matcher, actuals)
    if miss is None:
        return None
    return {
        "tool_call": calls[miss.index].id,
        "mismatches": mismatch_list(miss.mismatches),
    }


def miss_text(miss: Mapping[str, Any]) -> str:
    """The nearest miss as the end of a sentence: where the call differs, expected first."""
    return f"nearest is {miss['tool_call']}: {mismatch_text(miss['mismatches'])}"


def mismatch_list(mismatches: Iterable[values.Mismatch]) -> list[dict[str, str]]:
    """Mismatches as results have them; the path `items[0].price` is empty for the value as a whole."""
    return [
        {"path": _path(mismatch.path), "expected": mismatch.expected, "found": mismatch.found}
        for mismatch in mismatches
    ]


def mismatch_text(mismatches: Iterable[Mapping[str, str]]) -> str:
    """Mismatches as the end of a sentence, expected first."""
    return "; ".join(
        f"{item['path'] or 'the value'}: expected {item['expected']}, found {item['found']}"
        for item in mismatches
    )


def _path(path: Sequence[str | int]) -> str:
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f"{'.' if text else ''}{step}"
    return text
