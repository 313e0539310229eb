"""OTLP/JSON: traces and logs as the collector's file exporter writes them, one request or a line each, and Tempo's.

Read are `resourceSpans` and `resourceLogs` in both spellings, with `scopeSpans` or the older
`instrumentationLibrarySpans`, and Tempo's `batches`. Ids are hex or base64, times numbers or texts, kinds and codes
numbers or names. Log records of GenAI events become events of the span that they name, or stand for it.

Known gaps: metrics and profiles are refused; log records that are no GenAI events are counted in a note and not read.
The clocks of several hosts are taken to agree.
"""

from __future__ import annotations

from typing import Any

from averment.evidence.draft import Draft, Part

__all__ = ["LOGS", "OTHER", "SCOPES", "SPANS", "fits", "read", "split"]

SPANS = ("resourceSpans", "resource_spans")
LOGS = ("resourceLogs", "resource_logs")
OTHER = ("resourceMetrics", "resource_metrics", "resourceProfiles", "resource_profiles")
SCOPES = (
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
        for key in (*SPANS, *LOGS, *OTHER):
            if isinstance(inner.get(key), list):
                return f"it has `{outer}.{key}`" if outer else f"it has `{key}`"
        batches = inner.get("batches")
        if isinstance(batches, list) and any(
            isinstance(batch, dict) and not batch.keys().isdisjoint(SCOPES) for batch in batches[:1]
        ):
            return f"it has `{outer}.batches`" if outer else "it has `batches` of spans"
    return None


def split(part: Part) -> list[Part]:
    """One part for each conversation."""
    if fits(part.value) is None:
        return [part]
    from averment.evidence.readers.spans import requests  # what fits is asked of any record with results

    return requests.split(part)


def read(part: Part, draft: Draft) -> None:
    """Read the spans of one conversation."""
    from averment.evidence.readers.spans import conversation

    conversation.read(part, draft)
