"""Native traces: `hotato.voice_trace.v1` JSONL (a meta line, then one span a line), and plain lists of spans.

A span is an open object with a `type`; `start_sec` and `end_sec`, or `time_sec`, are call-relative seconds. Each span
of type `tool_call` is one executed call. File order is trace order, as in the contract: spans are never sorted.
In these shapes a missing field is missing, not unrecorded: no `arguments` are `{}`.

A file may begin with a line that has a `call_id` and no schema instead, as what hotato ingests from OpenTelemetry does.

Known gaps: times under `attributes` are not read. A `tool_timeout` marks the call before it only when that call has
neither result nor error of its own; a `tool_retry`, or an `attempt` above 1, names the call that it repeats only when
that is beyond doubt.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from averment.evidence.draft import OF_CALLS, Draft, Part, kind_of, nanoseconds, own_id
from averment.evidence.model import MAX_SPANS, Span, ToolCall
from averment.evidence.readers.calls import Retries, attempt_of, looks_structured, outcome, parsed

__all__ = ["ENDS", "SCHEMA", "fits", "read"]

SCHEMA = "hotato.voice_trace.v1"

_MAX_LATENCY_MS = 1e15
"""What the model holds: 30,000 years."""

ENDS = frozenset({"termination", "call_ended", "call_terminated", "hangup"})
"""The types of spans that end a conversation."""

_TIMES = frozenset({"start_sec", "end_sec", "time_sec"})
_TYPES = frozenset(
    {
        "agent_audio_active",
        "asr_partial",
        "call_ended",
        "call_terminated",
        "caller_audio_active",
        "dtmf",
        "handoff",
        "hangup",
        "http_exchange",
        "llm_first_token",
        "termination",
        "tool_call",
        "tool_retry",
        "tool_timeout",
        "tts_audio_stopped",
        "tts_cancel_requested",
    }
)


def fits(value: Any) -> str | None:
    """Why this looks like a native trace, or None; other formats' lists have items with a `type` as well."""
    if isinstance(value, dict):
        return f"its schema is {SCHEMA}" if value.get("schema") == SCHEMA else None
    if not isinstance(value, list) or not value:
        return None
    if _is_meta(value[0]):
        return "its first line is the meta line of a trace"
    spans = [item for item in value if isinstance(item, dict) and isinstance(item.get("type"), str)]
    if not spans or any("role" in span for span in spans):
        return None
    if any(not _TIMES.isdisjoint(span) for span in spans) or all(span["type"] in _TYPES for span in spans):
        return "its items are spans: objects with a type, in the words of a native trace"
    return None


def read(part: Part, draft: Draft) -> None:
    """Read the spans and the tool calls of a trace."""
    spans = _spans_of(part, draft)
    if spans is None:
        return
    if not isinstance(spans.value, list):
        found = kind_of(spans.value)
        draft.problems.append(
            spans.problem("wrong_type", "a trace must be a list of spans", expected="a list", found=found)
        )
        return
    if len(spans.value) > MAX_SPANS:
        limit = f"at most {MAX_SPANS:,} spans"
        draft.problems.append(spans.problem("too_many_spans", "the trace has too many spans", expected=limit))
        return
    _Trace(spans, draft).read()


def _spans_of(part: Part, draft: Draft) -> Part | None:
    """The list of spans, without what the trace says of itself, which goes to its source."""
    if isinstance(part.value, dict) and "spans" in part.value:
        header = {key: value for key, value in part.value.items() if key != "spans"}
        part = part.at("spans")
    elif _is_meta(part.value):  # JSONL of one line
        header, part = part.value, msgspec.structs.replace(part, value=[])
    elif part.lines and (_is_meta(part.value[0]) or _is_heading(part.value[0])):
        header, part = (
            part.value[0],
            msgspec.structs.replace(part, value=part.value[1:], lines=part.lines[1:]),
        )
    else:
        return part
    if header.get("schema") != SCHEMA and not _is_heading(header):
        expected = f"`{SCHEMA}`"
        draft.problems.append(
            part.problem("wrong_schema", "the trace is of another schema", expected=expected)
        )
        return None
    if draft.conversation_id is None and type(header.get("call_id")) is str:
        draft.conversation_id = header["call_id"]
    for index, source in enumerate(draft.sources):
        if source.id == part.source and source.header is None:
            draft.sources[index] = msgspec.structs.replace(source, header=header)
    return part


def _is_meta(item: Any) -> bool:
    return isinstance(item, dict) and item.get("_meta") is True


def _is_heading(item: Any) -> bool:
    """Whether this is the first line of the contract's other spelling: `call_id` and `deployment`, without a schema."""
    return isinstance(item, dict) and "schema" not in item and "type" not in item and "call_id" in item


class _Trace:
    """One list of spans, read in order."""

    def __init__(self, part: Part, draft: Draft) -> None:
        self._part = part
        self._draft = draft
        self._spans: list[Span] = []
        self._ids: set[str] = set()
        self._locs = part.locs()
        self._retries = Retries()

    def read(self) -> None:
        for index, item in enumerate(self._part.value):
            self._read_item(index, item)
        self._draft.spans = self._spans
        self._draft.calls = self._retries.calls
        for channel in OF_CALLS:
            self._draft.cover(channel, len(self._retries.calls))
        types = {span.type for span in self._spans}
        for channel, span_type in (("http", "http_exchange"), ("handoff", "handoff"), ("dtmf", "dtmf")):
            self._draft.cover(channel, span_type in types)
        self._draft.cover("termination", not ENDS.isdisjoint(types))

    def _read_item(self, index: int, item: Any) -> None:
        if type(item) is not dict:
            self._problem(index, "wrong_type", "a span must be an object", "an object", item)
            return
        span_type = item.pop("type", None)
        if type(span_type) is not str:
            self._problem(index, "span_without_type", "a span needs a type", "a string `type`", span_type)
            return
        attrs = item.pop("attributes", None)
        if type(attrs) is not dict:
            if attrs is not None:
                item["attributes"] = attrs
                self._note(
                    index, "attributes_not_object", "`attributes` is no object, so no attribute is read"
                )
            attrs = {}
        start, end = self._times(index, item)
        own = item.get("span_id")
        name = item.get("name")
        if name is None:
            name = attrs.get("name")
        span = Span(
            id=f"s_{index}" if own is None else self._id(index, own),
            type=span_type,
            name=name if type(name) is str else None,
            start_ns=start,
            end_ns=end,
            clock=None if start is None and end is None else "call_relative",
            attrs=attrs,
            fields=item,
            loc=self._locs[index],
        )
        self._spans.append(span)
        if span_type == "tool_call":
            self._read_call(index, span)
        elif span_type == "tool_retry":
            self._retries.announce(span)
        elif span_type == "tool_timeout":
            self._retries.time_out(span)

    def _read_call(self, index: int, span: Span) -> None:
        args, args_raw, args_error = span.field("arguments"), None, None
        if args is None:
            args = {}
        elif type(args) is str:
            args_raw = args
            args, args_error = parsed(args_raw, f"{span.loc}.arguments", self._draft)
            if args_error is not None:
                self._note(
                    index, "arguments_unreadable", f"the arguments are text that is no JSON: {args_error}"
                )
        result, result_raw = span.field("result"), None
        if looks_structured(result):
            value, problem = parsed(result, f"{span.loc}.result", self._draft)
            if problem is None:
                result, result_raw = value, result
            else:
                self._note(index, "result_unreadable", f"the result is text that begins like JSON: {problem}")
        status, error = outcome(span, result)
        latency = span.field("latency_ms")
        has_latency = type(latency) in (int, float) and -_MAX_LATENCY_MS <= latency <= _MAX_LATENCY_MS
        self._retries.add(
            ToolCall(
                id=f"c_{len(self._retries.calls)}",
                name=span.name,
                args=args,
                args_raw=args_raw,
                args_error=args_error,
                result=UNSET if result is None else result,
                result_raw=result_raw,
                error=error,
                status=status,
                span_id=span.id,
                position=index,
                attempt=attempt_of(span),
                start_ns=span.start_ns,
                end_ns=span.end_ns,
                clock=span.clock,
                latency_ms=latency if has_latency else None,
            )
        )

    def _times(self, index: int, item: dict[str, Any]) -> tuple[int | None, int | None]:
        point = item.get("time_sec")
        first, last = item.get("start_sec"), item.get("end_sec")
        first, last = point if first is None else first, point if last is None else last
        start, end = nanoseconds(first), nanoseconds(last)
        if (start is None and first is not None) or (end is None and last is not None):
            self._note(
                index, "time_unreadable", "a time that is no number of seconds since the start is left out"
            )
        if start is not None and end is not None and end < start:
            self._note(index, "ends_before_start", "the span ends before it starts")
        return start, end

    def _id(self, index: int, own: Any) -> str:
        position = f"s_{index}"
        kept = own_id(own, position, self._ids)
        if kept is None:
            self._note(index, "span_id_unusable", "`span_id` is no string of its own; the position is the id")
        return kept or position

    def _note(self, index: int, code: str, detail: str) -> None:
        self._draft.note(code, self._locs[index], detail)

    def _problem(self, index: int, code: str, message: str, expected: str, found: Any) -> None:
        self._draft.problems.append(
            self._part.problem(code, message, index, expected=expected, found=kind_of(found))
        )
