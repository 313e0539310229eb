"""What the spans of agents mean, by the conventions that instrumentations follow.

A span may follow several at once, as when a framework's own attributes stand beside the standard's; what one of them
doesn't show another may. The order is that of trust: the standard first.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from averment.evidence.model import ArgsState
from averment.evidence.readers.spans.conventions import adot, frameworks, genai, openinference
from averment.evidence.readers.spans.conventions.messages import Item, Messages
from averment.evidence.readers.spans.record import SpanRecord, text_of

__all__ = ["Execution", "Reading", "how_to_record", "interpret"]

_CONVENTIONS = (genai, openinference, frameworks, adot)
_PREFIXES = tuple(frameworks.HOW)


class Execution(msgspec.Struct, kw_only=True, gc=False):
    """One execution of a tool, as its span tells it.

    Attributes:
        is_doubtful: whether what stands there as arguments may be something else.
        failed: whether the span says that it failed; None when it doesn't say how it went.
    """

    name: str | None
    own: str | None
    arguments: Any = UNSET
    arguments_state: ArgsState = "recorded"
    is_doubtful: bool = False
    result: Any = UNSET
    result_state: ArgsState = "recorded"
    failed: bool | None = None
    error: Any = UNSET


class Reading(msgspec.Struct, kw_only=True, gc=False):
    """What a span is: its type, the messages of a model call, the execution of a tool, the fields of an event."""

    kind: str = "other"
    given: list[Item] | None = None
    gave: list[Item] | None = None
    execution: Execution | None = None
    fields: dict[str, Any] = {}


def interpret(record: SpanRecord, reader: Messages) -> Reading:
    """What a span means."""
    reading = Reading(kind=_kind(record))
    if reading.kind == "tool_call":
        reading.execution = _execution(record, reader)
    elif reading.kind == "handoff":
        reading.fields = _handoff(record)
    elif reading.kind == "http_exchange":
        reading.fields = _http(record)
    elif reading.kind in ("llm", "agent"):
        for each in _CONVENTIONS:
            given, gave = each.messages(record, reader)
            reading.given = given if reading.given is None else reading.given
            reading.gave = gave if reading.gave is None else reading.gave
    return reading


def _kind(record: SpanRecord) -> str:
    for each in _CONVENTIONS:
        found: str | None = each.kind(record)
        if found is not None:
            return found
    if record.is_log:
        return "llm"
    has_method = "http.request.method" in record.attrs or "http.method" in record.attrs
    return "http_exchange" if has_method else "other"


def how_to_record(records: list[SpanRecord]) -> str:
    """What to switch on so that these spans hold messages, arguments and results."""
    for record in records:
        if "openinference.span.kind" in record.attrs:
            return openinference.HOW
        own = [key for key in record.attrs if key.startswith(_PREFIXES)]
        if own:
            return next(
                how for prefix, how in frameworks.HOW.items() if any(key.startswith(prefix) for key in own)
            )
    return genai.HOW


def _http(record: SpanRecord) -> dict[str, Any]:
    """An HTTP exchange, from the attributes before and since the conventions of 2023."""
    attrs = record.attrs
    status = attrs.get("http.response.status_code", attrs.get("http.status_code"))
    if type(status) is str and status.isascii() and status.isdigit() and len(status) == 3:
        status = int(status)
    fields = {
        "method": attrs.get("http.request.method", attrs.get("http.method")),
        "url": attrs.get("url.full", attrs.get("http.url")),
        "route": attrs.get("http.route"),
        "target": attrs.get("url.path", attrs.get("http.target")),
        "status_code": status,
    }
    return {key: value for key, value in fields.items() if value is not None}


def _handoff(record: SpanRecord) -> dict[str, Any]:
    attrs = record.attrs
    to = attrs.get("gen_ai.handoff.to_agent") or attrs.get("output.value")
    if not to and record.name.startswith("handoff to "):
        to = record.name.removeprefix("handoff to ")
    fields = {"to": to, "from": attrs.get("gen_ai.handoff.from_agent") or attrs.get("input.value")}
    return {key: value for key, value in fields.items() if value is not None}


_HIDDEN = "__REDACTED__"
_SCRUBBED = "[Scrubbed due to "


def _execution(record: SpanRecord, reader: Messages) -> Execution:
    found: dict[str, Any] = {}
    for each in _CONVENTIONS:
        more = each.tool(record, reader)
        if "arguments" in found:
            more.pop("doubtful", None)
        found = more | found
    failed, error = _outcome(record)
    execution = Execution(
        name=text_of(found.get("name")) or None,
        own=str(found["own"]) if type(found.get("own")) in (str, int) and found["own"] != "" else None,
        is_doubtful=bool(found.get("doubtful")),
        failed=failed,
        error=error,
    )
    execution.arguments, execution.arguments_state = _payload(found.get("arguments"), record)
    execution.result, execution.result_state = _payload(found.get("result"), record)
    return execution


def _payload(value: Any, record: SpanRecord) -> tuple[Any, ArgsState]:
    """A payload, and whether the span shows it."""
    if value is None:
        return UNSET, "truncated" if record.dropped else "absent"
    if type(value) is str and (value == _HIDDEN or value.startswith(_SCRUBBED)):
        return UNSET, "redacted"
    return value, "recorded"


def _outcome(record: SpanRecord) -> tuple[bool | None, Any]:
    """Whether the span itself says that it failed, and what it says of that."""
    if record.status == "ok":
        return False, UNSET
    exception = next((event for event in record.events if event.name == "exception"), None)
    error_type = record.attrs.get("error.type")
    if record.status != "error" and exception is None and error_type is None:
        return None, UNSET
    told = {} if exception is None else exception.attrs
    error = {
        "type": error_type or told.get("exception.type"),
        "message": record.message or told.get("exception.message"),
    }
    error = {key: value for key, value in error.items() if value is not None}
    return True, error or UNSET
