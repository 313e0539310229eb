"""What was read of a conversation, for people and for programs: how it was recognised, what it can show, what happened.

Whatever is quoted is redacted: this is written to terminals and logs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import UNSET

from averment.evidence import Evidence
from averment.evidence.model import Coverage, EvidenceModel, Note, Source, Span, ToolCall, Turn
from averment.report.terminal import call_text
from averment.text.pii import redact
from averment.text.shown import brief, inert, printable

__all__ = ["as_object", "as_text", "listed", "timeline"]

SCHEMA = "averment.evidence_summary.v1"

_LISTED = 200
_NAME = 240
_SHOWN_NOTES = 40
_SHOWN_EVENTS = 200
_OF_SOURCE = ("id", "name", "format", "reader", "why", "sha256", "bytes", "records", "records_read")
_DIGEST = re.compile("sha256:[0-9a-f]{64}")
_SECOND = 1_000_000_000
_ONLY_GAPS = ("speakers", "arguments", "bodies")


def listed(conversations: Sequence[Evidence], name: str) -> str:
    """The conversations that a file holds, one in each line; ends in a newline.

    One without an id is called `#` and its index, as `--conversation` has it.
    """
    lines = [
        f"{brief(name, _NAME)} holds {len(conversations):,} conversations; `--conversation ID` shows one, `--all` every one"
    ]
    for index, evidence in enumerate(conversations[:_LISTED]):
        lines.append(
            f"  {printable(evidence.model.conversation_id or f'#{index}', 60)}  {_told(evidence.model)}"
        )
    if len(conversations) > _LISTED:
        lines.append(f"  ... and {len(conversations) - _LISTED:,} more")
    return inert("\n".join(lines) + "\n")


def as_text(evidence: Evidence, name: str, *, events: int | None = _SHOWN_EVENTS) -> str:
    """What was read, for a person; ends in a newline.

    Args:
        evidence: the conversation.
        name: what to call it.
        events: how many events of the timeline are shown; None for all.
    """
    model = evidence.model
    lines = [brief(name, _NAME), *(line for source in model.sources for line in _source(source))]
    if model.conversation_id is not None:
        lines.append(f"  conversation  {printable(model.conversation_id, 80)}")
    lines.append(f"  evidence      {evidence.sha256}")
    lines += [f"  holds         {_told(model)}", "", "coverage", *_coverage(model.coverage), "", "timeline"]
    happened = list(timeline(model))
    lines += [f"  {line}" for line in (_event(each) for each in happened[:events])] or ["  (nothing)"]
    if events is not None and len(happened) > events:
        lines.append(f"  ... and {len(happened) - events:,} more; `--format json` has them all")
    if model.notes:
        lines += ["", f"notes ({len(model.notes)})", *(_note(note) for note in model.notes[:_SHOWN_NOTES])]
        if len(model.notes) > _SHOWN_NOTES:
            lines.append(f"  ... and {len(model.notes) - _SHOWN_NOTES:,} more; `--format json` has them all")
    return inert("\n".join(lines) + "\n")


def as_object(evidence: Evidence, name: str) -> dict[str, Any]:
    """The same for programs: a JSON object in which every text of the evidence is redacted.

    Its keys are `schema`, `name`, `conversation_id`?, `evidence_sha256`, `sources` (with `format`, `why`, `records`,
    `records_read`), `counts`, `coverage` (`state`, `reason`?, `how`? by channel), `timeline` and `notes`.
    """
    model = evidence.model
    summary: dict[str, Any] = {"schema": SCHEMA, "name": name}
    if model.conversation_id is not None:
        summary["conversation_id"] = redact(model.conversation_id)
    summary["evidence_sha256"] = evidence.sha256
    summary["sources"] = [
        {key: _safe(value) for key in _OF_SOURCE if (value := getattr(source, key)) is not None}
        for source in model.sources
    ]
    summary["counts"] = _counts(model)
    summary["coverage"] = {
        channel: {
            key: _safe(value)
            for key, value in (("state", entry.state), ("reason", entry.reason), ("how", entry.how))
            if value
        }
        for channel, entry in _entries(model.coverage)
    }
    summary["timeline"] = [_as_object(thing) for thing in timeline(model)]
    summary["notes"] = [
        {key: _safe(getattr(note, key)) for key in ("code", "severity", "loc", "detail")}
        for note in model.notes
    ]
    return summary


def _safe(value: Any) -> Any:
    """A text without personal data, for an evidence file may say anything; digests and numbers as they are."""
    return value if not isinstance(value, str) or _DIGEST.fullmatch(value) else redact(value)


def timeline(model: EvidenceModel) -> Sequence[Turn | ToolCall | Span]:
    """What happened: in the order of the source or of one clock, where there is one; else turns, calls, spans.

    A span that is a call's execution is shown as the call.
    """
    of_call = {call.position for call in model.calls or () if call.position is not None}
    spans = [span for index, span in enumerate(model.spans or ()) if index not in of_call]
    ordered: list[Turn | ToolCall | Span] = [*(model.turns or ()), *(model.calls or ())]
    things = [*ordered, *spans]
    if len({thing.clock for thing in things}) == 1 and all(thing.start_ns is not None for thing in things):
        return sorted(things, key=lambda thing: (thing.start_ns or 0, thing.seq or 0))
    if all(thing.seq is not None for thing in things):
        return sorted(things, key=lambda thing: thing.seq or 0)
    if all(thing.seq is not None for thing in ordered):
        return [*sorted(ordered, key=lambda thing: thing.seq or 0), *spans]
    return things


def _counts(model: EvidenceModel) -> dict[str, int]:
    calls = model.calls or ()
    by_status = Counter(call.status for call in calls)
    counts = {"turns": len(model.turns or ()), "tool_calls": len(calls)}
    counts |= {f"calls_{status}": by_status[status] for status in sorted(by_status)}
    counts["results"] = sum(call.result is not UNSET for call in calls)
    counts["spans"] = len(model.spans or ())
    counts["state_records"] = sum(len(state.rows) for state in model.states or ())
    return counts


def _told(model: EvidenceModel) -> str:
    """The counts in words: `2 turns, 1 tool call (1 error), 1 result`."""
    counts = _counts(model)
    called = ", ".join(
        f"{count} {name.removeprefix('calls_')}"
        for name, count in counts.items()
        if name.startswith("calls_")
    )
    told = []
    for name in ("turns", "tool_calls", "results", "spans", "state_records"):
        if count := counts[name]:
            words = name.replace("_", " ")
            told.append(f"{count:,} {words if count > 1 else words.removesuffix('s')}")
            told[-1] += f" ({called})" if name == "tool_calls" else ""
    return ", ".join(told) or "nothing"


def _source(source: Source) -> Iterator[str]:
    why = f" ({source.why})" if source.why else ""
    yield f"  format        {printable(source.format, 60)}{printable(why, 300)}"
    if source.records is not None:
        yield f"  read          {source.records_read or 0:,} of {source.records:,} records"


def _entries(coverage: Coverage) -> Iterator[tuple[str, Any]]:
    for channel in coverage.__struct_fields__:
        entry = getattr(coverage, channel)
        if channel not in _ONLY_GAPS or entry.state != "absent" or entry.reason:
            yield channel, entry


def _coverage(coverage: Coverage) -> Iterator[str]:
    for channel, entry in _entries(coverage):
        reason = f": {printable(entry.reason, 300)}" if entry.reason else ""
        yield f"  {channel:<12}  {entry.state}{reason}"
        if entry.how:
            yield f"  {'':<12}  > {printable(entry.how, 300)}"


def _event(thing: Turn | ToolCall | Span) -> str:
    if isinstance(thing, Turn):
        marks = "".join(
            f" ({mark})"
            for mark, is_so in (("interrupted", thing.interrupted), ("prompt", not thing.said))
            if is_so
        )
        who = printable(thing.role_raw or thing.role, 20)
        return f'{_time(thing)}  {who:<12}  "{printable(" ".join(thing.text.split()))}"{marks}'
    if isinstance(thing, ToolCall):
        by = "" if thing.requestor == "agent" else f" by {thing.requestor}"
        return f"{_time(thing)}  {'call':<12}  {call_text(thing)}  [{thing.status}{by}]"
    named = "" if thing.name is None else f" {printable(thing.name, 60)}"
    return f"{_time(thing)}  {'span':<12}  {printable(thing.type, 40)}{named}"


def _time(thing: Turn | ToolCall | Span) -> str:
    if thing.start_ns is None:
        return f"{'-':>10}"
    if thing.clock == "epoch":
        return _of_day(thing.start_ns)
    return f"{thing.start_ns / _SECOND:>10.3f}"


def _of_day(nanoseconds: int) -> str:
    """The time of day, UTC; the day itself stands in the JSON."""
    milliseconds = nanoseconds // 1_000_000 % 86_400_000
    hours, rest = divmod(milliseconds, 3_600_000)
    minutes, rest = divmod(rest, 60_000)
    return f"{hours:02}:{minutes:02}:{rest // 1000:02}.{rest % 1000 // 100}"


def _note(note: Note) -> str:
    return f"  {note.severity} {printable(note.code, 40)}  {printable(note.loc, 120)}: {printable(note.detail, 300)}"


def _as_object(thing: Turn | ToolCall | Span) -> dict[str, Any]:
    entry: dict[str, Any]
    if isinstance(thing, Turn):
        entry = {"turn": redact(thing.id), "role": thing.role, "text": redact(thing.text)}
    elif isinstance(thing, ToolCall):
        entry = {"tool_call": redact(thing.id), "status": thing.status, "text": call_text(thing)}
    else:
        entry = {"span": redact(thing.id), "type": redact(thing.type)}
    for key in ("start_ns", "end_ns", "clock"):
        if getattr(thing, key) is not None:
            entry[key] = getattr(thing, key)
    return entry
