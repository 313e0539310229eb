"""OTLP/JSON: traces and logs as the collector's file exporter writes them, one request or a line each, and Tempo's.

Read are `resourceSpans` and `resourceLogs` in both spellings, with `scopeSpans` or the older
`instrumentationLibrarySpans`, and Tempo's `batches`. Ids are hex or base64, times numbers or texts, kinds and codes
numbers or names. Log records of GenAI events become events of the span that they name, or stand for it.

Known gaps: metrics and profiles are refused; log records that are no GenAI events are counted in a note and not read.
The clocks of several hosts are taken to agree.
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
    attributes,
    count_of,
    first_of,
    hex_id,
    nanos,
    status_of,
    text_of,
)
from averment.evidence.readers.spans.sessions import conversations

__all__ = ["fits", "read", "split"]

_SPANS = ("resourceSpans", "resource_spans")
_LOGS = ("resourceLogs", "resource_logs")
_OTHER = ("resourceMetrics", "resource_metrics", "resourceProfiles", "resource_profiles")
_SCOPES = (
    *("scopeSpans", "scope_spans", "instrumentationLibrarySpans", "instrumentation_library_spans"),
    *("scopeLogs", "scope_logs", "instrumentationLibraryLogs"),
)


def fits(value: Any) -> str | None:
    """Why this looks like OTLP/JSON or a Tempo export, or None."""
    if isinstance(value, list):
        why = next((fits(item) for item in value[:1] if isinstance(item, dict)), None)
        return why and f"in its first item {why}"
    if not isinstance(value, dict):
        return None
    for outer in ("", "trace", "result"):
        inner = value.get(outer) if outer else value
        if not isinstance(inner, dict):
            continue
        for key in (*_SPANS, *_LOGS, *_OTHER):
            if isinstance(inner.get(key), list):
                return f"it has `{outer}.{key}`" if outer else f"it has `{key}`"
        batches = inner.get("batches")
        if isinstance(batches, list) and any(
            isinstance(batch, dict) and not batch.keys().isdisjoint(_SCOPES) for batch in batches[:1]
        ):
            return f"it has `{outer}.batches`" if outer else "it has `batches` of spans"
    return None


def split(part: Part) -> list[Part]:
    """One part for each conversation."""
    if fits(part.value) is None:
        return [part]
    notes = Notes()
    spans: list[SpanRecord] = []
    logs: list[SpanRecord] = []
    unread = 0
    for request in _requests(part):
        for resource, scope, kind, record in _records(request, notes):
            if kind == "spans":
                spans.append(_span(record, resource, scope, notes))
            elif kind == "logs" and (found := log_of(record, resource, scope, notes)) is not None:
                logs.append(found)
            else:
                unread += 1
    if unread:
        detail = f"{unread} metrics, profiles and log records that are no GenAI events are not read"
        notes.add("not_read", part.loc(), detail, warn=False)
    attach(spans, logs)
    return conversations(part, spans, notes)


def read(part: Part, draft: Draft) -> None:
    """Read the spans of one conversation."""
    conversation.read(part, draft)


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


def _records(request: Part, notes: Notes) -> Iterator[tuple[dict[str, Any], str | None, str, Part]]:
    """Every record of a request with its resource, scope and kind; an empty part for what is of another signal."""
    kinds = [(key, "spans") for key in (*_SPANS, "batches")] + [(key, "logs") for key in _LOGS]
    for key, kind in [*kinds, *((key, "other") for key in _OTHER)]:
        if type(request.value.get(key)) is not list:
            continue
        for batch in _objects(request.at(key), notes):
            resource = batch.value.get("resource")
            pairs = resource.get("attributes") if type(resource) is dict else None
            own = attributes(pairs, batch.loc(), notes)
            if kind == "other":
                yield own, None, kind, batch
                continue
            for scopes in (batch.at(each) for each in _SCOPES if type(batch.value.get(each)) is list):
                for group in _objects(scopes, notes):
                    named = group.value.get("scope") or group.value.get("instrumentationLibrary")
                    scope = text_of(named.get("name")) if type(named) is dict else None
                    for inner in ("spans", "logRecords", "log_records", "logs"):
                        if type(group.value.get(inner)) is list:
                            for record in _objects(group.at(inner), notes):
                                yield own, scope or None, kind, record


def _objects(part: Part, notes: Notes) -> Iterator[Part]:
    for index, value in enumerate(part.value):
        if type(value) is dict:
            yield part.item(index)
        else:
            notes.add("not_an_object", part.loc(), "an item that is no object is not read")


_TRACE_ID = ("traceId", "trace_id", "traceID")
_SPAN_ID = ("spanId", "span_id", "spanID")
_PARENT_ID = ("parentSpanId", "parent_span_id", "parentSpanID")


def _span(part: Part, resource: dict[str, Any], scope: str | None, notes: Notes) -> SpanRecord:
    item, loc = part.value, part.loc()
    status = item.get("status")
    status = status if type(status) is dict else {"code": status}
    dropped = [
        first_of(item, f"dropped{what}Count", f"dropped_{what.lower()}_count")
        for what in ("Attributes", "Events", "Links")
    ]
    links = item.get("links")
    return SpanRecord(
        trace_id=hex_id(first_of(item, *_TRACE_ID), loc, notes),
        span_id=hex_id(first_of(item, *_SPAN_ID), loc, notes),
        parent_id=hex_id(first_of(item, *_PARENT_ID), loc, notes),
        name=text_of(item.get("name")),
        kind=_kind(item.get("kind")),
        start_ns=nanos(first_of(item, "startTimeUnixNano", "start_time_unix_nano"), loc, notes),
        end_ns=nanos(first_of(item, "endTimeUnixNano", "end_time_unix_nano"), loc, notes),
        status=status_of(status.get("code")),
        message=text_of(status.get("message")) or None,
        attrs=attributes(item.get("attributes"), loc, notes),
        events=[*_events(item.get("events"), loc, notes)],
        links=len(links) if type(links) is list else 0,
        resource=resource,
        scope=scope,
        dropped=sum(count_of(each) for each in dropped),
        loc=loc,
    )


_KINDS = {1: "internal", 2: "server", 3: "client", 4: "producer", 5: "consumer"}


def _kind(value: Any) -> str | None:
    if type(value) is int:
        return _KINDS.get(value)
    return text_of(value).lower().removeprefix("span_kind_") or None


def _events(items: Any, loc: str, notes: Notes) -> Iterator[Event]:
    for item in items if type(items) is list else ():
        if type(item) is dict:
            time = nanos(first_of(item, "timeUnixNano", "time_unix_nano"), loc, notes)
            yield Event(text_of(item.get("name")), time, attributes(item.get("attributes"), loc, notes))
