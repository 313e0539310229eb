"""The carrier of flat spans: what the objects of `otel_spans` are in `SpanRecord`s."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from averment.evidence.draft import Part
from averment.evidence.readers.otel_spans import SPAN_KEYS, is_span, list_key
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

__all__ = ["split"]

_TRACE_KEYS = ("trace_id", "traceId", "traceID")
_PARENT_KEYS = ("parent_span_id", "parentSpanId", "parent_id", "parentId")
_START_KEYS = ("start_time_unix_nano", "startTimeUnixNano", "start_time", "startTime", "start")
_END_KEYS = ("end_time_unix_nano", "endTimeUnixNano", "end_time", "endTime", "end")
_CONTEXT_KEYS = ("context", "spanContext")
_EVENT_KEYS = ("events", "span_events", "spanEvents")
_CODE_KEYS = ("code", "status_code", "statusCode")
_MESSAGE_KEYS = ("message", "description")
_SCOPE_KEYS = ("scope", "instrumentationScope", "instrumentation_scope", "instrumentationLibrary")
_KIND_KEYS = ("span_kind", "kind")
_NAME_KEYS = ("name", "event_name", "eventName")
_TIME_KEYS = ("time_unix_nano", "timeUnixNano", "timestamp", "time")


def split(part: Part) -> list[Part]:
    """One part for each conversation."""
    notes = Notes()
    has_more = False
    if type(part.value) is dict and not is_span(part.value):
        has_more = bool(part.value.get("next_cursor"))
        part = part.at(list_key(part.value))
    items = (
        [*zip(part.value, part.locs(), strict=True)]
        if type(part.value) is list
        else [(part.value, part.loc())]
    )
    found = [(item, loc) for item, loc in items if type(item) is dict]
    if len(found) < len(items):
        notes.add("not_an_object", part.loc(), "an item that is no object is not read")
    unit = _unit([item for item, _ in found], part.loc(), notes)
    spans, logs = [], []
    for item, loc in found:
        if not _is_log(item):
            spans.append(_span(item, loc, unit, notes))
        elif (log := log_of(item, loc, {}, None, notes)) is not None:
            logs.append(log)
        else:
            notes.add("not_read", loc, "a log record that is no GenAI event is not read", warn=False)
    attach(spans, logs)
    parts = conversations(part, spans, notes)
    for each in parts:
        each.value.has_more = has_more
    return parts


def _is_log(item: dict[str, Any]) -> bool:
    """Whether this is a log record, as CloudWatch has them beside the spans: it has a body and no start."""
    return "body" in item and first_of(item, _START_KEYS) is None


_UNITS = ((10**17, 1), (10**14, MICROSECOND), (10**11, MILLISECOND), (10**8, SECOND))
"""From which size on a number since 1970 is in nanoseconds, microseconds, milliseconds or seconds."""


def _unit(items: list[dict[str, Any]], loc: str, notes: Notes) -> int | None:
    """The unit of all times that are plain numbers; None where they don't agree."""
    units = set()
    for item in items:
        for keys in (_START_KEYS, _END_KEYS):
            value = first_of(item, keys)
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


def _span(item: dict[str, Any], loc: str, unit: int | None, notes: Notes) -> SpanRecord:
    trace_id, span_id = first_of(item, _TRACE_KEYS), first_of(item, SPAN_KEYS)
    for key in _CONTEXT_KEYS:
        inner = item.get(key)
        if type(inner) is dict:
            trace_id = first_of(inner, _TRACE_KEYS) if trace_id is None else trace_id
            span_id = first_of(inner, SPAN_KEYS) if span_id is None else span_id
    parent = first_of(item, _PARENT_KEYS)
    if parent is None and type(item.get("parentSpanContext")) is dict:
        parent = first_of(item["parentSpanContext"], SPAN_KEYS)
    status = item.get("status")
    status = status if type(status) is dict else {"code": status}
    code = first_of(status, _CODE_KEYS)
    resource = item.get("resource")
    pairs = resource.get("attributes", resource) if type(resource) is dict else None
    scope = first_of(item, _SCOPE_KEYS)
    attrs = _dotted(attributes(item.get("attributes"), loc, notes))
    kind = first_of(item, _KIND_KEYS)
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
        start_ns=_time(first_of(item, _START_KEYS), unit, loc, notes),
        end_ns=_time(first_of(item, _END_KEYS), unit, loc, notes),
        status=status_of(code if code is not None else item.get("status_code")),
        message=text_of(first_of(status, _MESSAGE_KEYS) or item.get("status_message")) or None,
        attrs=attrs,
        events=[*_events(first_of(item, _EVENT_KEYS), unit, loc, notes)],
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
            name = text_of(first_of(item, _NAME_KEYS))
            time = _time(first_of(item, _TIME_KEYS), unit, loc, notes)
            attrs = attributes(item.get("attributes"), loc, notes)
            yield Event(name, time, attrs, any_value(item.get("body")))
