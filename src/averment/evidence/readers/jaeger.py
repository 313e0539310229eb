"""Jaeger's JSON, as its interface and API export it: `data[].spans[]` with `processes`.

Times are microseconds since 1970. A span's attributes are its `tags`, its events the `logs`; its parent is the span
that it is `CHILD_OF`, else the one that it `FOLLOWS_FROM`. The status is `otel.status_code`, else the tag `error`.

Known gaps: there is no status message unless `otel.status_description` has it; link attributes are not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from averment.evidence.draft import Draft, Part
from averment.evidence.readers.spans import conversation
from averment.evidence.readers.spans.record import (
    Event,
    Notes,
    SpanRecord,
    Status,
    hex_id,
    nanos,
    status_of,
    text_of,
)
from averment.evidence.readers.spans.sessions import conversations
from averment.evidence.times import MICROSECOND, scaled

__all__ = ["fits", "read", "split"]


def fits(value: Any) -> str | None:
    """Why this looks like a Jaeger export, or None."""
    if isinstance(value, dict) and isinstance(value.get("data"), list):
        return "its `data` are traces of Jaeger" if any(map(_is_trace, value["data"][:1])) else None
    if isinstance(value, list):
        return "its items are traces of Jaeger" if any(map(_is_trace, value[:1])) else None
    return "it is a trace of Jaeger" if _is_trace(value) else None


def _is_trace(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("spans"), list):
        return False
    spans = value["spans"]
    return "traceID" in value and (
        "processes" in value or not spans or (isinstance(spans[0], dict) and "operationName" in spans[0])
    )


def split(part: Part) -> list[Part]:
    """One part for each conversation."""
    if fits(part.value) is None:
        return [part]
    notes = Notes()
    if _is_trace(part.value):
        found = [part]
    else:
        listed = part.at("data") if type(part.value) is dict else part
        found = [listed.item(index) for index, item in enumerate(listed.value) if _is_trace(item)]
        if len(found) < len(listed.value):
            notes.add("not_an_object", part.loc(), "an item that is no trace is not read")
    spans = [span for trace in found for span in _spans(trace, notes)]
    return conversations(part, spans, notes)


def read(part: Part, draft: Draft) -> None:
    """Read the spans of one conversation."""
    conversation.read(part, draft)


def _spans(trace: Part, notes: Notes) -> Iterator[SpanRecord]:
    processes = trace.value.get("processes")
    processes = processes if type(processes) is dict else {}
    resources = {name: _process(process, trace.loc(), notes) for name, process in processes.items()}
    items = trace.at("spans")
    place = items.loc()
    for item, loc in zip(items.value, items.locs(), strict=True):
        if type(item) is not dict:
            notes.add("not_an_object", place, "an item that is no object is not read")
            continue
        resource = resources.get(text_of(item.get("processID")))
        if resource is None:
            resource = _process(item.get("process"), place, notes)
        yield _span(item, loc, trace.value.get("traceID"), resource, notes)


def _process(process: Any, loc: str, notes: Notes) -> dict[str, Any]:
    if type(process) is not dict:
        return {}
    name = process.get("serviceName")
    return ({} if name is None else {"service.name": name}) | _tags(process.get("tags"), loc, notes)


def _tags(tags: Any, loc: str, notes: Notes) -> dict[str, Any]:
    read = {}
    for tag in tags if type(tags) is list else ():
        if type(tag) is dict and type(tag.get("key")) is str:
            read[tag["key"]] = tag.get("value")
        else:
            notes.add("attribute_unreadable", loc, "a tag without a key is not read")
    return read


def _span(
    item: dict[str, Any], loc: str, trace_id: Any, resource: dict[str, Any], notes: Notes
) -> SpanRecord:
    tags = _tags(item.get("tags"), loc, notes)
    start = nanos(item.get("startTime"), loc, notes, MICROSECOND)
    duration = scaled(item.get("duration"), MICROSECOND)
    has_end = start is not None and duration is not None and type(item["duration"]) is not bool
    references = item.get("references")
    references = [each for each in references if type(each) is dict] if type(references) is list else []
    references.sort(key=lambda each: each.get("refType") != "CHILD_OF")
    parent = references[0].get("spanID") if references else item.get("parentSpanID")
    tags.pop("internal.span.format", None)  # how the span reached Jaeger
    logs = item.get("logs")
    return SpanRecord(
        trace_id=hex_id(item.get("traceID") or trace_id, loc, notes),
        span_id=hex_id(item.get("spanID"), loc, notes),
        parent_id=hex_id(parent, loc, notes),
        name=text_of(item.get("operationName")),
        kind=text_of(tags.pop("span.kind", None)) or None,
        start_ns=start,
        end_ns=start + duration if has_end and start is not None and duration is not None else None,
        status=_status(tags),
        message=text_of(tags.pop("otel.status_description", None)) or None,
        scope=text_of(tags.pop("otel.scope.name", None) or tags.pop("otel.library.name", None)) or None,
        attrs=tags,
        events=[*_events(logs, loc, notes)],
        links=max(0, len(references) - 1),
        resource=resource,
        loc=loc,
    )


def _status(tags: dict[str, Any]) -> Status:
    code, failed = tags.pop("otel.status_code", None), tags.pop("error", None)
    if code is not None:
        return status_of(code)
    return "error" if failed is True or failed == "true" else "unset"


def _events(logs: Any, loc: str, notes: Notes) -> Iterator[Event]:
    for log in logs if type(logs) is list else ():
        if type(log) is dict:
            fields = _tags(log.get("fields"), loc, notes)
            name = text_of(fields.pop("event", None))
            yield Event(name, nanos(log.get("timestamp"), loc, notes, MICROSECOND), fields)
