"""Log records of GenAI events: they belong to the span that they name, or stand for it where it isn't there."""

from __future__ import annotations

from typing import Any

from averment.evidence.readers.spans.record import (
    Event,
    Notes,
    SpanRecord,
    any_value,
    attributes,
    count_of,
    first_of,
    hex_id,
    nanos,
    text_of,
)

__all__ = ["attach", "log_of"]

_TIMES = ("timeUnixNano", "time_unix_nano", "observedTimeUnixNano", "observed_time_unix_nano")


_TRACE_ID = ("traceId", "trace_id", "traceID")
_SPAN_ID = ("spanId", "span_id", "spanID")
_NAME = ("eventName", "event_name")
_DROPPED = ("droppedAttributesCount", "dropped_attributes_count")


def log_of(
    item: dict[str, Any], loc: str, resource: dict[str, Any], scope: str | None, notes: Notes
) -> SpanRecord | None:
    """A log record of a GenAI event, as a span of which nothing but this event is known; None for another record."""
    attrs = attributes(item.get("attributes"), loc, notes)
    name = text_of(first_of(item, _NAME)) or text_of(attrs.get("event.name"))
    body = any_value(item.get("body"))
    if not name.startswith("gen_ai.") and not (type(body) is dict and {"input", "output"} & body.keys()):
        return None
    times = (nanos(item.get(key), loc, notes) for key in _TIMES)
    time = next((each for each in times if each is not None), None)
    return SpanRecord(
        trace_id=hex_id(first_of(item, _TRACE_ID), loc, notes),
        span_id=hex_id(first_of(item, _SPAN_ID), loc, notes),
        attrs={key: value for key, value in attrs.items() if key.endswith((".id", "_id"))},
        start_ns=time,
        end_ns=time,
        events=[Event(name, time, attrs, body)],
        resource=resource,
        scope=scope,
        dropped=count_of(first_of(item, _DROPPED)),
        is_log=True,
        loc=loc,
    )


def attach(spans: list[SpanRecord], logs: list[SpanRecord]) -> None:
    """Give the events of log records to the spans that they name, and add the records that name none."""
    by_id = {(span.trace_id, span.span_id): span for span in spans if span.span_id}
    alone: dict[tuple[str, str] | int, SpanRecord] = {}
    for index, log in enumerate(logs):
        key = (log.trace_id, log.span_id)
        span = by_id.get(key) or alone.setdefault(key if log.span_id else index, log)
        if span is not log:
            span.events.extend(log.events)
            span.dropped += log.dropped
    spans.extend(alone.values())
