"""The trace of a conversation in the model: every span, by what it is, with all that it says of itself."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from averment.evidence.draft import Draft
from averment.evidence.model import Span
from averment.evidence.readers.spans.conventions import Reading
from averment.evidence.readers.spans.record import Event, SpanRecord
from averment.evidence.readers.spans.tree import Tree

__all__ = ["trace_of"]


def trace_of(tree: Tree, readings: Sequence[Reading], draft: Draft) -> list[Span]:
    """The spans of the model; what is odd about their times is noted."""
    spans = []
    skewed: str | None = None
    for index, (record, reading) in enumerate(zip(tree.records, readings, strict=True)):
        if record.start_ns is not None and record.end_ns is not None and record.end_ns < record.start_ns:
            draft.note("ends_before_start", record.loc, "the span ends before it starts")
        if skewed is None and _is_skewed(record, tree, index):
            skewed = record.loc
        same = tree.same_as[index]
        name = reading.execution.name if reading.execution is not None else None
        fields = _fields(record, name)
        if same is not None:
            fields["same_as"] = tree.ids[same]
        else:
            fields |= reading.fields
        is_timed = record.start_ns is not None or record.end_ns is not None
        spans.append(
            Span(
                id=tree.ids[index],
                type=reading.kind if same is None else "other",
                name=name or record.name or None,
                start_ns=record.start_ns,
                end_ns=record.end_ns,
                clock="epoch" if is_timed else None,
                status=record.status,
                attrs=record.attrs,
                fields=fields,
                loc=record.loc,
            )
        )
    if skewed is not None:
        detail = "a span starts before the one around it, which another host wrote: their clocks differ"
        draft.note("clocks_differ", skewed, detail)
    return spans


def _fields(record: SpanRecord, name: str | None) -> dict[str, Any]:
    fields = {
        "trace_id": record.trace_id,
        "span_id": record.span_id,
        "parent_id": record.parent_id,
        "span_name": None if name in (None, record.name) else record.name,
        "kind": record.kind,
        "message": record.message,
        "scope": record.scope,
        "resource": record.resource,
        "links": record.links,
        "dropped": record.dropped,
        "events": [_event(event) for event in record.events],
    }
    return {key: value for key, value in fields.items() if value}


def _event(event: Event) -> dict[str, Any]:
    told = {"name": event.name, "time_ns": event.time_ns, "attributes": event.attrs, "body": event.body}
    return {key: value for key, value in told.items() if value not in (None, {}, "")}


def _is_skewed(record: SpanRecord, tree: Tree, index: int) -> bool:
    """Whether a span starts before the one around it, and that is of another resource."""
    up = tree.parent[index]
    if up is None or record.start_ns is None:
        return False
    around = tree.records[up]
    is_earlier = around.start_ns is not None and record.start_ns < around.start_ns
    return is_earlier and record.resource != around.resource
