"""Which spans are of one conversation: those of one session, where they name one, else those of one trace."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from averment.evidence.draft import Part
from averment.evidence.readers.spans.record import Notes, SpanRecord

__all__ = ["Conversation", "conversations"]


class Conversation(msgspec.Struct):
    """The spans of one conversation, as `split` hands them to `read`.

    Attributes:
        key: the session or trace by which they belong together.
        named: whether the key is a session's, not a trace's.
        left_out: spans of other traces of the file that hold nothing of any conversation.
        has_http: whether such a span is an HTTP exchange.
        has_more: whether the file is one page of several.
    """

    key: str
    named: bool
    spans: list[SpanRecord]
    notes: Notes
    left_out: int = 0
    has_http: bool = False
    has_more: bool = False


_SESSION_KEYS = (
    "gen_ai.conversation.id",
    "session.id",
    "langfuse.session.id",
    "gcp.vertex.agent.session_id",
    "traceloop.association.properties.session_id",
    "traceloop.association.properties.conversation_id",
    "ai.telemetry.metadata.sessionId",
    "langsmith.trace.session_id",
    "conversation_id",
    "session_id",
)
"""Attributes that name the conversation; of those that a trace has, the first is the one that counts."""

_AGENT_KEYS = (
    "gen_ai.",
    "llm.",
    "openinference.",
    "ai.",
    "gcp.vertex.agent.",
    "traceloop.",
    "mcp.",
    "pydantic_ai.",
    "tool_",
    "tool.",
)
_CONTENT_FREE = frozenset({"create_agent", "embeddings"})


def _is_agent_work(record: SpanRecord) -> bool:
    """Whether a span is of a model, a tool or an agent at work."""
    if record.is_log or any(event.name.startswith("gen_ai.") or event.body for event in record.events):
        return True
    operation = record.attrs.get("gen_ai.operation.name") or record.attrs.get("ai.operationId")
    if type(operation) is str and (operation in _CONTENT_FREE or operation.startswith("ai.embed")):
        return False
    return any(key.startswith(_AGENT_KEYS) for key in record.attrs)


def conversations(part: Part, spans: Sequence[SpanRecord], notes: Notes) -> list[Part]:
    """The spans of a file as parts, one for each conversation, in the order in which they first appear.

    A trace in which nothing of an agent's work is seen (a health check, the making of an agent) is no conversation,
    unless the file holds nothing else.
    """
    groups: dict[tuple[bool, str], list[SpanRecord]] = {}
    for trace, members in _by_trace(_without_duplicates(spans, notes)).items():
        for key, record in _keyed(trace, members):
            groups.setdefault(key, []).append(record)
    working = {key: group for key, group in groups.items() if any(map(_is_agent_work, group))}
    idle = [record for key, group in groups.items() if key not in working for record in group]
    if not working:
        working, idle = groups, []
    has_http = any("http.method" in each.attrs or "http.request.method" in each.attrs for each in idle)
    parts: list[Part] = []
    for (named, session), members in working.items():
        told = notes if not parts else Notes()
        value = Conversation(session, named, members, told, len(idle), has_http)
        parts.append(msgspec.structs.replace(part, value=value, lines=None))
    return parts or [msgspec.structs.replace(part, value=Conversation("", False, [], notes), lines=None)]


def _without_duplicates(spans: Sequence[SpanRecord], notes: Notes) -> list[SpanRecord]:
    """Each span once: an export may repeat some, and Logfire announces spans that are still open."""
    kept: dict[tuple[str, str] | int, SpanRecord] = {}
    for index, span in enumerate(spans):
        if span.attrs.get("logfire.span_type") == "pending_span":
            notes.add("pending_span", span.loc, "a span that was still open is left out", warn=False)
            continue
        key: tuple[str, str] | int = (span.trace_id, span.span_id) if span.span_id else index
        first = kept.get(key)
        if first is None:
            kept[key] = span
        elif first.alike(span):
            notes.add("duplicate_span", span.loc, "a span stands twice", warn=False)
        else:
            detail = "two spans of one id differ; the one that came later and has ended counts"
            notes.add("duplicate_span_differs", span.loc, detail)
            if span.end_ns is not None or first.end_ns is None:
                kept[key] = span
    return [*kept.values()]


def _by_trace(spans: Iterable[SpanRecord]) -> dict[str, list[SpanRecord]]:
    traces: dict[str, list[SpanRecord]] = {}
    for span in spans:
        traces.setdefault(span.trace_id, []).append(span)
    return traces


def _keyed(trace: str, spans: list[SpanRecord]) -> Iterable[tuple[tuple[bool, str], SpanRecord]]:
    """Each span of a trace with the conversation it belongs to.

    Where a trace is of several, a span belongs to the one that it or its nearest ancestor names.
    """
    written = set[str]().union(*(span.attrs for span in spans))
    for key in _SESSION_KEYS:
        named = {value for span in spans if (value := span.text((key,)))} if key in written else None
        if named:
            break
    else:
        return [((False, trace), span) for span in spans]
    if len(named) == 1:
        (one,) = named
        return [((True, one), span) for span in spans]
    by_id = {span.span_id: span for span in spans if span.span_id}
    owners: dict[str, str | None] = {"": None}
    keyed = []
    for span in spans:
        own = span.text((key,))
        path: list[str] = []
        at = span if span.span_id else by_id.get(span.parent_id)
        while own is None and at is not None and at.span_id not in owners:
            own = at.text((key,))
            owners[at.span_id] = own
            path.append(at.span_id)
            at = by_id.get(at.parent_id)
        if own is None and at is not None:
            own = owners[at.span_id]
        owners.update(dict.fromkeys(path, own))
        keyed.append(((False, trace) if own is None else (True, own), span))
    return keyed
