"""What the spans of a conversation can and can't show, and what to switch on so that they show the rest."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

from msgspec import UNSET

from averment.evidence.draft import Draft
from averment.evidence.model import CoverageState
from averment.evidence.readers.spans.conventions import Reading, how_to_record
from averment.evidence.readers.spans.conventions.messages import UNREAD_REQUEST
from averment.evidence.readers.spans.history import History
from averment.evidence.readers.spans.record import SpanRecord
from averment.evidence.readers.spans.sessions import Conversation
from averment.evidence.readers.spans.tree import Tree

__all__ = ["Coverage"]

_HOW_TOOLS = "Instrument the tools as well, so that each execution has a span of its own (`execute_tool`)."
_HOW_MODELS = "Instrument the model's client or the agent's framework, with the content of messages."
_HOW_WHOLE = "Export whole traces, of every service, without sampling or filtering spans."
_HOW_LIMITS = (
    "Raise OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT, OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT and OTEL_SPAN_EVENT_COUNT_LIMIT in the "
    "agent's process."
)


class Coverage:
    """The coverage of one conversation in the making."""

    def __init__(
        self,
        draft: Draft,
        conversation: Conversation,
        tree: Tree,
        readings: Sequence[Reading],
    ) -> None:
        self._draft = draft
        self._conversation = conversation
        self._tree = tree
        self._readings = readings
        self._models = [
            index
            for index, reading in enumerate(readings)
            if reading.kind == "llm" and tree.same_as[index] is None
        ]

    @cached_property
    def _how(self) -> str:
        return how_to_record(self._tree.records)

    def tell(self, history: History, *, has_executions: bool) -> None:
        """Write it to the draft.

        Args:
            history: what was said.
            has_executions: whether a span is of a tool's execution.
        """
        self._messages()
        if history.unplaced:
            reason = f"{history.unplaced} texts of the user stand in histories, and nothing shows when they were said"
            self._limit("partial", reason, _HOW_MODELS, "transcript")
        elif history.inner and not self._draft.turns:
            reason = "all messages stand inside a tool's execution, where nobody speaks to the user"
            self._limit("absent", reason, _HOW_WHOLE, "transcript")
            self._draft.turns = None
        self._executions(has_executions=has_executions)
        self._arguments()
        self._cut()
        self._events()
        self._missing()
        left = self._conversation.left_out
        if left:
            detail = f"{left} spans of traces in which no model, agent or tool is at work are not read"
            self._draft.note("spans_left_out", self._tree.records[0].loc, detail, "info")

    def _limit(self, state: CoverageState, reason: str, how: str, *channels: str) -> None:
        for channel in channels:
            self._draft.limit(channel, state, reason, how)

    def _messages(self) -> None:
        draft, readings = self._draft, self._readings
        shown = any(reading.given is not None or reading.gave is not None for reading in readings)
        tree = self._tree
        hidden = [
            index
            for index in self._models
            if not (tree.given_known[index] and tree.gave_known[index])
            and tree.records[index].status != "error"
        ]
        if not shown:
            draft.turns = None
            if self._models:
                reason = "the spans of the model calls hold no messages: their content was not recorded"
                self._limit("redacted", reason, self._how, "transcript", "requests")
            else:
                reason = "the trace holds no span of a model call"
                self._limit("absent", reason, _HOW_MODELS, "transcript", "requests")
        elif hidden:
            reason = (
                f"{len(hidden)} of {len(self._models)} spans of model calls don't hold what the model was told or what "
                "it answered"
            )
            self._limit("partial", reason, self._how, "transcript", "requests")

    def _executions(self, *, has_executions: bool) -> None:
        draft = self._draft
        calls = draft.calls or ()
        if not has_executions:
            answered = [call for call in calls if call.status not in ("requested", "unanswered")]
            reason = "the trace holds no span of a tool's execution"
            if not answered:
                self._limit("absent", reason, _HOW_TOOLS, "executions", "results", "errors")
                if not calls:
                    draft.calls = None
                return
            if len(answered) < len(calls):
                self._limit("partial", reason, _HOW_TOOLS, "executions", "results")
            self._limit(
                "partial",
                "what a model is told of a call doesn't say whether it failed",
                _HOW_TOOLS,
                "errors",
            )
            return
        if not any(call.result is not UNSET or call.result_state == "conflicting" for call in calls):
            states = {call.result_state for call in calls}
            state: Any = "redacted" if "redacted" in states or self._models else "absent"
            self._limit(state, "the spans of the tools hold no results", self._how, "results")

    def _arguments(self) -> None:
        """Spans whose content is not recorded show neither arguments nor results."""
        missing = [call for call in self._draft.calls or () if call.args_state == "absent"]
        if missing:
            reason = f"{len(missing)} of {len(self._draft.calls or ())} calls are recorded without arguments"
            self._limit("partial", reason, self._how, "arguments")

    def _missing(self) -> None:
        """Each trace may begin in another service; more spans that are named as parents should be in the file."""
        tree = self._tree
        named: dict[str, set[str]] = {}
        for record, parent in zip(tree.records, tree.parent, strict=True):
            if record.parent_id and parent is None:
                named.setdefault(record.trace_id, set()).add(record.parent_id)
        missing = sum(len(parents) for parents in named.values() if len(parents) > 1)
        if missing:
            reason = f"{missing} spans that others name as their parents are not in the file"
            self._draft.note("spans_missing", tree.records[0].loc, reason)
            for channel in ("executions", "http"):
                if self._draft.coverage[channel].state in ("present", "empty"):
                    self._limit("partial", reason, _HOW_WHOLE, channel)

    def _cut(self) -> None:
        """Exporters that reached a limit say so, or leave a text that ends in the middle."""
        codes = {note.code for note in self._draft.notes}
        if UNREAD_REQUEST in codes:
            reason = "requests for calls are written as texts of Python objects"
            self._limit("partial", reason, "Use a newer version of the instrumentation.", "requests")
        records = self._tree.records
        cut = {index for index, record in enumerate(records) if record.dropped} | _ending_early(records)
        reason = "the exporter dropped attributes or events of these spans, or cut texts"
        kinds = {self._readings[index].kind for index in cut}
        if "messages_unreadable" in codes:
            unreadable = "attributes of messages hold text that is no JSON"
            self._limit("unreadable", unreadable, "Record them as JSON.", "transcript", "requests")
        if kinds & {"llm", "agent"} or "messages_cut" in codes:
            self._limit("truncated", reason, _HOW_LIMITS, "transcript", "requests")
        if "tool_call" in kinds:
            self._limit("truncated", reason, _HOW_LIMITS, "results", "errors")

    def _events(self) -> None:
        draft = self._draft
        for channel, kind, how in _EVENTS:
            count = sum(
                reading.kind == kind and self._tree.same_as[index] is None
                for index, reading in enumerate(self._readings)
            )
            if count:
                draft.cover(channel, count)
            else:
                self._limit("absent", f"the trace holds no span of {kind.replace('_', ' ')}", how, channel)
        if draft.coverage["http"].state == "present":
            draft.limit("bodies", "absent", _NO_BODIES, _OTHER_BODIES)
        if self._conversation.has_http:
            reason = "HTTP spans of other traces of the file can't be told to be of this conversation or not"
            self._limit(
                "partial", reason, "Pass on the trace context, or name the session in every span.", "http"
            )


_NO_BODIES = "OpenTelemetry's HTTP spans hold no bodies"
_OTHER_BODIES = "Add a HAR file or a cassette with `--evidence`, or assert on the status alone."
_EVENTS = (
    ("http", "http_exchange", "Instrument the HTTP client."),
    ("handoff", "handoff", "Use an instrumentation that records handoffs between agents."),
)

_SHORTEST_LIMIT = 128
_DEFINITIONS = ("description", "definitions", "schema", ".parameters", "stacktrace")
"""How attributes end that hold no content."""

_CUT_MARKS = ("…", "[truncated]", "<truncated>", "...(truncated)", "... (truncated)")


def _ending_early(records: Sequence[SpanRecord]) -> set[int]:
    """The spans in which texts seem to have been cut: by their ends, or all at one length.

    That is the greatest length of all, when different texts have it.
    """
    found = [
        (index, key, value)
        for index, record in enumerate(records)
        for key, value in record.attrs.items()
        if type(value) is str and len(value) >= _SHORTEST_LIMIT
    ]
    limit = max((len(text) for _, _, text in found), default=0)
    is_limit = len({text for _, _, text in found if len(text) == limit}) > 1
    return {
        index
        for index, key, text in found
        if ((is_limit and len(text) == limit) or text.endswith(_CUT_MARKS)) and not key.endswith(_DEFINITIONS)
    }
