"""What readers share about tool calls: payloads that are JSON text, how a call went, and which calls are retries."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from averment.evidence.draft import Draft
from averment.evidence.model import Span, ToolCall, ToolCallStatus
from averment.text import jsontext
from averment.text.jsonvalue import json_equal

__all__ = [
    "Retries",
    "attempt_of",
    "how_it_went",
    "looks_structured",
    "outcome",
    "parsed",
    "tells_failure",
    "tells_success",
]


class Retries:
    """The calls so far: which of them repeats which, and which ran out of time."""

    def __init__(self) -> None:
        self.calls: list[ToolCall] = []
        self._attempts: dict[tuple[str, int], list[int]] = {}
        self._latest: dict[str, int] = {}
        self._announced: dict[str, int | None] = {}

    def announce(self, span: Span) -> None:
        """A `tool_retry`: the next call of that name repeats an earlier one."""
        if span.name is not None:
            self._announced[span.name] = attempt_of(span)

    def time_out(self, span: Span) -> None:
        """A `tool_timeout`: the call that it speaks of has run out of time, unless its outcome is recorded."""
        number = attempt_of(span)
        if span.name is None:
            return
        if number is None:
            index = self._latest.get(span.name)
        else:
            index = next(reversed(self._attempts.get((span.name, number), ())), None)
        if index is not None and self.calls[index].status == "executed":
            self.calls[index] = msgspec.structs.replace(self.calls[index], status="timeout")

    def add(self, call: ToolCall) -> None:
        """The next call, linked to the one it repeats."""
        name, number = call.name, call.attempt
        if name is not None:
            if name in self._announced:
                announced = self._announced.pop(name)
                number = number or announced or self._number_after(name)
            index = self._repeated(name, number, call.args)
            if index is not None or number != call.attempt:
                retry_of = None if index is None else self.calls[index].id
                call = msgspec.structs.replace(call, attempt=number, retry_of=retry_of)
            self._attempts.setdefault((name, number or 1), []).append(len(self.calls))
            self._latest[name] = len(self.calls)
        self.calls.append(call)

    def _number_after(self, name: str) -> int | None:
        latest = self._latest.get(name)
        return None if latest is None else (self.calls[latest].attempt or 1) + 1

    def _repeated(self, name: str, number: int | None, args: Any) -> int | None:
        """The call that carries the number before, if only one does, else the latest of them with these arguments."""
        earlier = self._attempts.get((name, (number or 1) - 1), [])
        if len(earlier) == 1:
            return earlier.pop()
        for place in range(len(earlier) - 1, max(-1, len(earlier) - 1 - _MAX_COMPARED), -1):
            if args is not UNSET and json_equal(self.calls[earlier[place]].args, args):
                return earlier.pop(place)
        return None


_MAX_COMPARED = 64
"""How many calls of one name and attempt a retry is compared with; a hostile trace may hold a million."""

_STATUSES: dict[str, ToolCallStatus] = {
    **dict.fromkeys(("error", "failed", "failure"), "error"),
    **dict.fromkeys(("timeout", "timed_out"), "timeout"),
    **dict.fromkeys(("ok", "success", "succeeded"), "ok"),
}


def attempt_of(span: Span) -> int | None:
    """The number of the attempt that a span says it is, from 1."""
    attempt = span.field("attempt")
    return attempt if type(attempt) is int and attempt >= 1 else None


def outcome(span: Span, result: Any) -> tuple[ToolCallStatus, Any]:
    """How a call went, and its error: the plain rules of difference 13 of assert-v1.md.

    A span of a tool call is its execution, whatever else it says (definitions, "Reading of called").

    An error is a value of `error` other than null, "", false and 0, a `status` that says so in any case or is an
    HTTP status of 400 and above, `ok: false`, or an MCP result with `isError: true`.
    """
    error = span.field("error")
    if error is None or error == "" or error is False or (type(error) in _NUMBERS and error == 0):
        error = UNSET
    written, ok = span.field("status"), span.field("ok")
    status = _STATUSES.get(written.strip().casefold()) if type(written) is str else None
    failed = (
        error is not UNSET
        or ok is False
        or any(
            type(code) in _NUMBERS and code >= 400
            for code in (written, span.field("status_code", "http.status_code"))
        )
        or (type(result) is dict and result.get("isError") is True)
    )
    if failed and status != "timeout":
        status = "error"
    if error is UNSET and status in ("error", "timeout"):
        message = span.field("error_message", "message")
        error = UNSET if message is None else message
    if status is None:
        status = "ok" if ok is True or result is not None else "executed"
    return status, error


_TELLING = frozenset({"isError", "is_error", "ok", "success", "status", "error"})
"""The keys by which an answer tells how its call went; most have none of them."""


def tells_failure(result: Any, *, by_status: bool = True) -> bool:
    """Whether what a tool answered says by itself that the call failed, by the rules of `outcome`.

    That is an object with `isError` or `is_error` true, a value of `error` that is one, `ok` or `success` false, or a
    `status` that says so in words; that may be the state of what was asked about, so it counts only where nothing else
    tells how the call went (`by_status`). Other texts may speak of errors and be good answers.
    """
    if type(result) is not dict or _TELLING.isdisjoint(result):
        return False
    if result.get("isError") is True or result.get("is_error") is True:
        return True
    if result.get("ok") is False or result.get("success") is False:
        return True
    if by_status and _status_in(result) in ("error", "timeout"):
        return True
    error = result.get("error")
    return not (error is None or error == "" or error is False or (type(error) in _NUMBERS and error == 0))


def tells_success(result: Any) -> bool:
    """Whether what a tool answered says by itself that the call went well: the same words, with the other value."""
    if type(result) is not dict or _TELLING.isdisjoint(result) or tells_failure(result):
        return False
    if result.get("isError") is False or result.get("is_error") is False:
        return True
    return result.get("ok") is True or result.get("success") is True or _status_in(result) == "ok"


def how_it_went(
    status: ToolCallStatus | None, result: Any, *, failed: bool | None, has_error: bool
) -> ToolCallStatus | None:
    """How a call went, by what its source says of it and by what its tool answered; None where neither tells.

    A flag that says that it went well gives way to an answer that says that it failed: tools that catch their own
    errors are flagged so.
    """
    if status not in (None, "executed", "ok"):
        return status
    if status == "ok" or (failed is False and status is None):
        return "error" if tells_failure(result, by_status=False) else "ok"
    if failed or has_error or tells_failure(result):
        return "error"
    return "ok" if tells_success(result) else status


def _status_in(result: dict[str, Any]) -> ToolCallStatus | None:
    written = result.get("status")
    return _STATUSES.get(written.strip().casefold()) if type(written) is str else None


_NUMBERS = (int, float)


def looks_structured(value: Any) -> bool:
    """Whether a result is text that means to be a JSON object or list; other text is an answer in words."""
    return type(value) is str and value.lstrip(" \t\r\n")[:1] in ("{", "[")


def parsed(text: str, place: str, draft: Draft) -> tuple[Any, str | None]:
    """A payload that stands in its source as JSON text: its value, or UNSET and the code of why it can't be read.

    What is odd in the text is noted, at `place`.
    """
    try:
        decoded = jsontext.decode(text)
    except jsontext.JSONProblem as problem:
        return UNSET, problem.code
    draft.note_text(place, decoded)
    draft.nesting = max(draft.nesting, decoded.nesting)
    return decoded.value, None
