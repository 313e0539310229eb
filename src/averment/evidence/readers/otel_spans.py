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

from typing import Any

from averment.evidence.draft import Draft, Part

__all__ = ["SPAN_KEYS", "fits", "is_span", "list_key", "read", "split"]

SPAN_KEYS = ("span_id", "spanId", "spanID")
_IDS = frozenset(SPAN_KEYS)


def fits(value: Any) -> str | None:
    """Why this looks like flat spans, or None."""
    if isinstance(value, dict):
        if is_span(value):
            return "it is a span, with attributes and an id"
        value = value.get(list_key(value))
    if isinstance(value, list) and any(map(is_span, value[:1])):
        return "its items are spans, with attributes and an id"
    return None


def list_key(value: dict[str, Any]) -> str:
    """The key under which an object that is no span has its spans."""
    return "spans" if "spans" in value else "data"


def is_span(value: Any) -> bool:
    """Whether a value is a span."""
    if not isinstance(value, dict) or "operationName" in value:
        return False
    attrs = value.get("attributes")
    is_pairs = isinstance(attrs, list) and all(isinstance(each, dict) and "key" in each for each in attrs[:3])
    if not isinstance(attrs, dict) and not is_pairs:
        return False
    inner = value.get("context", value.get("spanContext"))
    return any(not holder.keys().isdisjoint(_IDS) for holder in (value, inner) if isinstance(holder, dict))


def split(part: Part) -> list[Part]:
    """One part for each conversation."""
    if fits(part.value) is None:
        return [part]
    from averment.evidence.readers.spans import flat  # what fits is asked of any record with spans

    return flat.split(part)


_MORE = ("transcript", "requests", "executions", "results", "errors", "http", "handoff")
_HOW_MORE = "Fetch the other pages too, and put their spans into one list."


def read(part: Part, draft: Draft) -> None:
    """Read the spans of one conversation."""
    from averment.evidence.readers.spans import conversation

    conversation.read(part, draft)
    if getattr(part.value, "has_more", False):
        for channel in _MORE:
            if draft.coverage[channel].state in ("present", "empty"):
                draft.limit(channel, "partial", "this is one page of several", _HOW_MORE)
