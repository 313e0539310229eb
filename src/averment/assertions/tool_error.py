"""The kind `tool_error`: a call of a tool went wrong."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any, ClassVar

from msgspec import UNSET, Meta, UnsetType

from averment.assertions import values
from averment.assertions.base import (
    Assertion,
    Channel,
    Check,
    Earlier,
    Finding,
    Gap,
    NonEmpty,
    Regex,
    Resolver,
    failed,
    inconclusive,
    passed,
    safe,
)
from averment.assertions.calls import executed
from averment.assertions.codes import Code
from averment.evidence.model import Span, ToolCall
from averment.evidence.view import View
from averment.policies import PolicyShelf
from averment.text.patterns import compile_pattern
from averment.text.patterns.mistakes import pattern_mistakes
from averment.text.structs import Mistake

__all__ = ["ToolError"]

_WRONG = frozenset({"error", "timeout"})
_WHOLE = frozenset({"present", "empty"})
_TIMEOUT = "timeout"
_SHOWN = 3


class ToolError(Assertion, frozen=True, kw_only=True, tag="tool_error"):
    """A call of the tool went wrong; with `absent`, none did.

    A call has gone wrong when it has an error (anything but null, `""`, false and 0), a status such as `error` in any
    case, an HTTP status of 400 or more, `ok: false` or an MCP result with `isError: true`, or when it ran out of time;
    a `tool_timeout` span of the tool is an error too. `error_matches` is searched in every text of an error: the
    strings of the error and of its messages, the status, the texts of an MCP result; what ran out of time says
    `timeout` besides.

    PASS: a call went wrong, and with `error_matches` a text of its error matches; with `absent`, there is no such call
    (with `vacuous: true` when the tool was never called at all).
    FAIL: otherwise; the reason says which errors there are instead.
    INCONCLUSIVE: there is no trace; or the verdict hangs on a call of which the source does not show how it went, or on
    a part of the trace that is missing.
    """

    needs: ClassVar[tuple[Channel, ...]] = ("executions",)
    codes: ClassVar[tuple[Code, ...]] = (
        Code.ERRORS_NOT_RECORDED,
        Code.NOT_FOUND,
        Code.FOUND_BUT_FORBIDDEN,
        Code.VALUE_MISMATCH,
    )
    example: ClassVar[str] = """\
version: 1
assertions:
  - id: refund-declined
    kind: tool_error
    name: issue_refund
    error_matches: declined|limit
    examples:
      pass:
        - spans: [{type: tool_call, name: issue_refund, error: {code: 7, message: Over the limit.}}]
      fail:
        - spans: [{type: tool_call, name: issue_refund, status: 503, message: Try again later.}]
        - spans: [{type: tool_call, name: issue_refund, result: {ok: true}}]
"""

    name: Annotated[NonEmpty, Meta(description="The tool's name, exactly.")]
    error_matches: Annotated[
        Regex | UnsetType,
        Meta(description="A regular expression searched, in any case, in each text of an error."),
    ] = UNSET
    absent: Annotated[bool, Meta(description="No call may go wrong so.")] = False

    def mistakes(self, shelf: PolicyShelf) -> Iterable[Mistake]:  # noqa: ARG002
        """A pattern that can't be searched."""
        if self.error_matches is not UNSET:
            yield from pattern_mistakes(self.error_matches, ("error_matches",), ignore_case=True)

    def tools(self) -> Iterable[str]:
        """The one tool."""
        return (self.name,)

    def compile(self, resolver: Resolver) -> Check:  # noqa: ARG002 - its pattern is none of the transcript's
        """The check, for the tool and its pattern."""
        name = self.name
        pattern = (
            None if self.error_matches is UNSET else compile_pattern(self.error_matches, ignore_case=True)
        )
        wanted = "" if pattern is None else f" with an error that matches /{pattern.source}/"
        named = safe(name)
        public = f"errors of {named} are not as required" if named else "tool errors are not as required"

        def fits(texts: Iterable[str]) -> bool:
            return pattern is None or any(pattern.test(text) for text in texts)

        def check(view: View, _: Earlier) -> Finding:
            calls = executed(view, name)
            timeouts = [index for index in view.spans_of("tool_timeout") if view.spans[index].name == name]
            wrong = [call for call in calls if call.status in _WRONG]
            found = [call for call in wrong if fits(_call_texts(view, call))]
            late = [index for index in timeouts if fits(_timeout_texts(view.spans[index]))]
            if found or late:
                if not self.absent:
                    return passed(calls=found, spans=late)
                return failed(
                    Code.FOUND_BUT_FORBIDDEN,
                    lambda: f"`{name}` must not go wrong{wanted}, and did in {_ids(view, found, late)}",
                    public,
                    calls=found,
                    spans=late,
                )
            coverage = view.coverage("errors")[0]
            unknown = [call for call in calls if call.status != "ok"]
            if coverage not in _WHOLE and (unknown or timeouts):
                how = "Record how each call went, and its error, in the source of the trace."
                return inconclusive(
                    Code.ERRORS_NOT_RECORDED,
                    lambda: (
                        f"whether `{name}` went wrong{wanted} hangs on {_ids(view, unknown, timeouts)}. {how}"
                    ),
                    "required error evidence was missing",
                    calls=unknown,
                    spans=timeouts,
                    gap=Gap("errors", coverage, how),
                )
            if self.absent:
                is_vacuous = not calls and not timeouts
                return passed(absence_of="executions", details={"vacuous": True} if is_vacuous else {})
            return failed(
                Code.VALUE_MISMATCH if wrong or timeouts else Code.NOT_FOUND,
                lambda: f"`{name}` must go wrong{wanted}, and {_instead(view, calls, wrong, timeouts)}",
                public,
                calls=wrong,
                spans=timeouts,
                absence_of="executions",
            )

        return check


def _call_texts(view: View, call: ToolCall) -> Iterator[str]:
    """Every text of a call's error."""
    if call.error is not UNSET:
        yield from _strings(call.error)
    if call.position is not None:
        yield from _span_texts(view.spans[call.position])
    if type(call.result) is dict and call.result.get("isError") is True:
        yield from _mcp_texts(call.result.get("content"))
    if call.status == "timeout":
        yield _TIMEOUT


def _timeout_texts(span: Span) -> Iterator[str]:
    """Every text of a `tool_timeout`."""
    yield from _strings(span.field("error"))
    yield from _span_texts(span)
    yield _TIMEOUT


def _span_texts(span: Span) -> Iterator[str]:
    """What a span says of an error beside the error itself."""
    for key in ("error_message", "message", "status"):
        yield from _strings(span.field(key))


def _strings(value: Any) -> Iterator[str]:
    """Every string in a value, whatever its depth, in order; keys are none."""
    pending = [value]
    while pending:
        value = pending.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            pending.extend(reversed(value.values()))
        elif isinstance(value, list):
            pending.extend(reversed(value))


def _mcp_texts(content: Any) -> Iterator[str]:
    """The texts among the content blocks of an MCP tool result (Model Context Protocol, "Tools", tool result)."""
    for block in content if isinstance(content, list) else ():
        if isinstance(block, dict) and isinstance(block.get("text"), str):
            yield block["text"]


def _instead(
    view: View, calls: Sequence[ToolCall], wrong: Sequence[ToolCall], timeouts: Sequence[int]
) -> str:
    """What happened instead of the error that was looked for."""
    if wrong or timeouts:
        texts = [text for call in wrong for text in _call_texts(view, call)]
        texts += [text for index in timeouts for text in _timeout_texts(view.spans[index])]
        said = ", ".join(values.show(text) for text in [*dict.fromkeys(texts)][:_SHOWN]) or "nothing"
        return f"{_ids(view, wrong, timeouts)} went wrong saying {said}"
    if calls:
        return f"none of its calls did: {_ids(view, calls, ())}"
    seen = ", ".join(f"`{other}`" for other in view.tool_names[:10]) or "none"
    return f"it was never called; tools called: {seen}"


def _ids(view: View, calls: Iterable[ToolCall], spans: Iterable[int]) -> str:
    ids = [*(call.id for call in calls), *(view.spans[index].id for index in spans)]
    return ", ".join(ids[:_SHOWN]) + (f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else "")
