"""Flat OpenTelemetry spans: a list, JSON lines, `{spans: [...]}` or `{data: [...]}` of objects that each are one span.

That is what the SDKs' console and file exporters write, AWS' ADOT, Strands, Phoenix and JavaScript's `ReadableSpan`.
Log records of GenAI events among them belong to the spans that they name.
Phoenix' API answers in pages; where one says that there are more (`next_cursor`), what isn't there decides nothing.
Ids stand in the span, in `context` or in `spanContext`; times are numbers, ISO 8601 texts or `[seconds, nanos]`.
Which unit numbers are in is decided for the whole file by their size; where they don't agree, there are no times.

Known gaps: what the console exporters print by default, objects one after the other over several lines, is no JSON;
give them a formatter that writes one line each. JavaScript's console output is no JSON either.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from averment.evidence.draft import Draft, Part
from averment.evidence.readers.spans import conversation
from averment.evidence.readers.spans.logs import attach, log_of
from averment.evidence.readers.spans.record import (
    Event,
    Notes,
    SpanRecord,
    any_value,
    attributes,
    first_of,
    hex_id,
    nanos,
    status_of,
    text_of,
)
from averment.evidence.readers.spans.sessions import conversations
from averment.evidence.times import MICROSECOND, MILLISECOND, SECOND, instant

__all__ = ["fits", "read", "split"]


def fits(value: Any) -> str | None:
    """Why this looks like flat spans, or None."""
    if isinstance(value, dict):
        if _is_span(value):
            return "it is a span, with attributes and an id"
        value = value.get(_list_key(value))
    if isinstance(value, list) and any(map(_is_span, value[:1])):
        return "its items are spans, with attributes and an id"
    return None


def _list_key(value: dict[str, Any]) -> str:
    return "spans" if "spans" in value else "data"


def _is_span(value: Any) -> bool:
    if not isinstance(value, dict) or "operationName" in value:
        return False
    attrs = value.get("attributes")
    is_pairs = isinstance(attrs, list) and all(isinstance(each, dict) and "key" in each for each in attrs[:3])
    if not isinstance(attrs, dict) and not is_pairs:
        return False
    inner = value.get("context", value.get("spanContext"))
    return any(not holder.keys().isdisjoint(_IDS) for holder in (value, inner) if isinstance(holder, dict))


_TRACE_KEYS = ("trace_id", "traceId", "traceID")
_SPAN_KEYS = ("span_id", "spanId", "spanID")
_IDS = frozenset(_SPAN_KEYS)
_PARENT_KEYS = ("parent_span_id", "parentSpanId", "parent_id", "parentId")
_START_KEYS = ("start_time_unix_nano", "startTimeUnixNano", "start_time", "startTime", "start")
_END_KEYS = ("end_time_unix_nano", "endTimeUnixNano", "end_time", "endTime", "end")
_EVENT_KEYS = ("events", "span_events", "spanEvents")
_TIME_KEYS = ("time_unix_nano", "timeUnixNano", "timestamp", "time")


def split(part: Part) -> list[Part]:
    """One part for each conversation."""
    if fits(part.value) is None:
        return [part]
    notes = Notes()
    has_more = False
    if type(part.value) is dict and not _is_span(part.value):
        has_more = bool(part.value.get("next_cursor"))
        part = part.at(_list_key(part.value))
    items = [part.item(index) for index in range(len(part.value))] if type(part.value) is list else [part]
    found = [item for item in items if type(item.value) is dict]
    if len(found) < len(items):
        notes.add("not_an_object", part.loc(), "an item that is no object is not read")
    unit = _unit([item.value for item in found], part.loc(), notes)
    spans, logs = [], []
    for item in found:
        if not _is_log(item.value):
            spans.append(_span(item, unit, notes))
        elif (log := log_of(item, {}, None, notes)) is not None:
            logs.append(log)
        else:
            notes.add("not_read", item.loc(), "a log record that is no GenAI event is not read", warn=False)
    attach(spans, logs)
    parts = conversations(part, spans, notes)
    for each in parts:
        each.value.has_more = has_more
    return parts


def _is_log(item: dict[str, Any]) -> bool:
    """Whether this is a log record, as CloudWatch has them beside the spans: it has a body and no start."""
    return "body" in item and first_of(item, *_START_KEYS) is None


_MORE = ("transcript", "requests", "executions", "results", "errors", "http", "handoff")
_HOW_MORE = "Fetch the other pages too, and put their spans into one list."


def read(part: Part, draft: Draft) -> None:
    """Read the spans of one conversation."""
    conversation.read(part, draft)
    if getattr(part.value, "has_more", False):
        for channel in _MORE:
            if draft.coverage[channel].state in ("present", "empty"):
                draft.limit(channel, "partial", "this is one page of several", _HOW_MORE)


_UNITS = ((10**17, 1), (10**14, MICROSECOND), (10**11, MILLISECOND), (10**8, SECOND))
"""From which size on a number since 1970 is in nanoseconds, microseconds, milliseconds or seconds."""


def _unit(items: list[dict[str, Any]], loc: str, notes: Notes) -> int | None:
    """The unit of all times that are plain numbers; None where they don't agree."""
    units = set()
    for item in items:
        for keys in (_START_KEYS, _END_KEYS):
            value = first_of(item, *keys)
            if type(value) in (int, float) and value:
                units.add(next((unit for least, unit in _UNITS if value >= least), 0))
    if len(units) > 1 or units == {0}:
        notes.add("time_unit_unknown", loc, "times are numbers of different size, so none is read")
        return None
    return units.pop() if units else 1


def _time(value: Any, unit: int | None, loc: str, notes: Notes) -> int | None:
    if type(value) is list and len(value) == 2 and all(type(each) is int for each in value):
        return nanos(value[0] * SECOND + value[1], loc, notes)
    if type(value) is str and not value.isdigit():
        time = instant(value.replace(" UTC", "Z"))
        if time is None and value:
            notes.add("time_unreadable", loc, "a time that can't be read is left out")
        return time
    if type(value) is str:
        unit = 1
    return None if unit is None else nanos(value, loc, notes, unit)


def _span(part: Part, unit: int | None, notes: Notes) -> SpanRecord:
    item, loc = part.value, part.loc()
    holders = [each for each in (item, item.get("context"), item.get("spanContext")) if type(each) is dict]
    trace_id, span_id = (
        next((found for each in holders if (found := first_of(each, *keys)) is not None), None)
        for keys in (_TRACE_KEYS, _SPAN_KEYS)
    )
    parent = first_of(item, *_PARENT_KEYS)
    if parent is None and type(item.get("parentSpanContext")) is dict:
        parent = first_of(item["parentSpanContext"], *_SPAN_KEYS)
    status = item.get("status")
    status = status if type(status) is dict else {"code": status}
    code = first_of(status, "code", "status_code", "statusCode")
    resource = item.get("resource")
    pairs = resource.get("attributes", resource) if type(resource) is dict else None
    scope = first_of(item, "scope", "instrumentationScope", "instrumentation_scope", "instrumentationLibrary")
    attrs = _dotted(attributes(item.get("attributes"), loc, notes))
    kind = first_of(item, "span_kind", "kind")
    if type(kind) is str and kind in _OPENINFERENCE:
        attrs = {"openinference.span.kind": kind} | attrs
        kind = None
    dropped = [value for key, value in item.items() if "ropped" in key and type(value) is int and value > 0]
    links = item.get("links")
    return SpanRecord(
        trace_id=hex_id(trace_id, loc, notes),
        span_id=hex_id(span_id, loc, notes),
        parent_id=hex_id(parent, loc, notes),
        name=text_of(item.get("name")),
        kind=text_of(kind).lower().removeprefix("spankind.").removeprefix("span_kind_") or None,
        start_ns=_time(first_of(item, *_START_KEYS), unit, loc, notes),
        end_ns=_time(first_of(item, *_END_KEYS), unit, loc, notes),
        status=status_of(code if code is not None else item.get("status_code")),
        message=text_of(first_of(status, "message", "description") or item.get("status_message")) or None,
        attrs=attrs,
        events=[*_events(first_of(item, *_EVENT_KEYS), unit, loc, notes)],
        links=len(links) if type(links) is list else 0,
        resource=attributes(pairs, loc, notes),
        scope=text_of(scope.get("name")) or None if type(scope) is dict else None,
        dropped=sum(dropped),
        loc=loc,
    )


_OPENINFERENCE = frozenset(
    {
        *("LLM", "TOOL", "AGENT", "CHAIN", "RETRIEVER", "RERANKER", "EMBEDDING", "GUARDRAIL", "EVALUATOR"),
        *("PROMPT", "UNKNOWN"),
    }
)
"""What Phoenix writes as the kind of a span."""

_NESTED = frozenset({"llm", "openinference", "input", "output", "tool", "tool_call", "session", "http"})
_PAYLOADS = frozenset({"input.value", "output.value", "tool.parameters"})


def _dotted(attrs: dict[str, Any]) -> dict[str, Any]:
    """Attributes that an export nests by the parts of their names, by their full names again."""
    if _NESTED.isdisjoint(attrs):
        return attrs
    flat: dict[str, Any] = {}
    waiting = [(key, value, 0) for key, value in reversed(attrs.items())]
    while waiting:
        key, value, depth = waiting.pop()
        is_group = depth > 0 or key in _NESTED
        if type(value) is dict and value and is_group and depth < 6 and key not in _PAYLOADS:
            waiting += [(f"{key}.{inner}", each, depth + 1) for inner, each in reversed(value.items())]
        else:
            flat[key] = value
    return flat


def _events(items: Any, unit: int | None, loc: str, notes: Notes) -> Iterator[Event]:
    for item in items if type(items) is list else ():
        if type(item) is dict:
            name = text_of(first_of(item, "name", "event_name", "eventName"))
            time = _time(first_of(item, *_TIME_KEYS), unit, loc, notes)
            attrs = attributes(item.get("attributes"), loc, notes)
            yield Event(name, time, attrs, any_value(item.get("body")))
