"""The carrier of OTLP/JSON: what export requests of it hold, as `SpanRecord`s."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from averment.evidence.draft import Part
from averment.evidence.readers.otlp import LOGS, OTHER, SCOPES, SPANS
from averment.evidence.readers.spans.logs import attach, log_of
from averment.evidence.readers.spans.record import (
    Event,
    Notes,
    SpanRecord,
    attributes,
    count_of,
    first_of,
    hex_id,
    nanos,
    status_of,
    text_of,
)
from averment.evidence.readers.spans.sessions import conversations

__all__ = ["split"]


def split(part: Part) -> list[Part]:
    """One part for each conversation."""
    notes = Notes()
    spans: list[SpanRecord] = []
    logs: list[SpanRecord] = []
    unread = 0
    for request in _requests(part):
        for resource, scope, kind, record, loc in _records(request, notes):
            if kind == "spans":
                spans.append(_span(record, loc, resource, scope, notes))
            elif kind == "logs" and (found := log_of(record, loc, resource, scope, notes)) is not None:
                logs.append(found)
            else:
                unread += 1
    if unread:
        detail = f"{unread} metrics, profiles and log records that are no GenAI events are not read"
        notes.add("not_read", part.loc(), detail, warn=False)
    attach(spans, logs)
    return conversations(part, spans, notes)


def _requests(part: Part) -> Iterator[Part]:
    """The export requests that a file holds."""
    items = [part.item(index) for index in range(len(part.value))] if type(part.value) is list else [part]
    for item in items:
        if type(item.value) is not dict:
            continue
        for key in ("trace", "result"):
            if type(item.value.get(key)) is dict:
                yield item.at(key)
        yield item


_SIGNALS = (
    *((key, "spans") for key in (*SPANS, "batches")),
    *((key, "logs") for key in LOGS),
    *((key, "other") for key in OTHER),
)
_RECORDS = ("spans", "logRecords", "log_records", "logs")


def _records(
    request: Part, notes: Notes
) -> Iterator[tuple[dict[str, Any], str | None, str, dict[str, Any], str]]:
    """Every record of a request with its resource, scope, kind and place; the batch for what is of another signal."""
    for key, kind in _SIGNALS:
        for batch, loc in _objects(request.value, key, request.loc(), notes):
            resource = batch.get("resource")
            pairs = resource.get("attributes") if type(resource) is dict else None
            own = attributes(pairs, loc, notes)
            if kind == "other":
                yield own, None, kind, batch, loc
                continue
            for scopes in [each for each in SCOPES if each in batch]:
                for group, place in _objects(batch, scopes, loc, notes):
                    named = group.get("scope") or group.get("instrumentationLibrary")
                    scope = text_of(named.get("name")) if type(named) is dict else None
                    for inner in [each for each in _RECORDS if each in group]:
                        for record, at in _objects(group, inner, place, notes):
                            yield own, scope or None, kind, record, at


def _objects(
    holder: dict[str, Any], key: str, loc: str, notes: Notes
) -> Iterator[tuple[dict[str, Any], str]]:
    """The objects of a list under a key, each with its place; nothing where there is no list."""
    listed = holder.get(key)
    for index, value in enumerate(listed if type(listed) is list else ()):
        if type(value) is dict:
            yield value, f"{loc}.{key}[{index}]"
        else:
            notes.add("not_an_object", f"{loc}.{key}", "an item that is no object is not read")


_TRACE_ID = ("traceId", "trace_id", "traceID")
_SPAN_ID = ("spanId", "span_id", "spanID")
_PARENT_ID = ("parentSpanId", "parent_span_id", "parentSpanID")
_START = ("startTimeUnixNano", "start_time_unix_nano")
_END = ("endTimeUnixNano", "end_time_unix_nano")
_DROPPED = tuple(
    (f"dropped{what}Count", f"dropped_{what.lower()}_count") for what in ("Attributes", "Events", "Links")
)


def _span(
    item: dict[str, Any],
    loc: str,
    resource: dict[str, Any],
    scope: str | None,
    notes: Notes,
) -> SpanRecord:
    status = item.get("status")
    status = status if type(status) is dict else {"code": status}
    links = item.get("links")
    return SpanRecord(
        trace_id=hex_id(first_of(item, _TRACE_ID), loc, notes),
        span_id=hex_id(first_of(item, _SPAN_ID), loc, notes),
        parent_id=hex_id(first_of(item, _PARENT_ID), loc, notes),
        name=text_of(item.get("name")),
        kind=_kind(item.get("kind")),
        start_ns=nanos(first_of(item, _START), loc, notes),
        end_ns=nanos(first_of(item, _END), loc, notes),
        status=status_of(status.get("code")),
        message=text_of(status.get("message")) or None,
        attrs=attributes(item.get("attributes"), loc, notes),
        events=[*_events(item.get("events"), loc, notes)],
        links=len(links) if type(links) is list else 0,
        resource=resource,
        scope=scope,
        dropped=sum([count_of(first_of(item, keys)) for keys in _DROPPED]),
        loc=loc,
    )


_KINDS = {1: "internal", 2: "server", 3: "client", 4: "producer", 5: "consumer"}


def _kind(value: Any) -> str | None:
    if type(value) is int:
        return _KINDS.get(value)
    return text_of(value).lower().removeprefix("span_kind_") or None


_TIME = ("timeUnixNano", "time_unix_nano")


def _events(items: Any, loc: str, notes: Notes) -> Iterator[Event]:
    for item in items if type(items) is list else ():
        if type(item) is dict:
            time = nanos(first_of(item, _TIME), loc, notes)
            yield Event(
                text_of(item.get("name")),
                time,
                attributes(item.get("attributes"), loc, notes),
            )
