"""From the spans of one conversation to its turns, its tool calls and its trace.

A model call repeats the history that it was given, and several instrumentations may tell of one call. So messages are
taken from the innermost span that shows them, and of what a model was given only that is new which follows what was
said before. A request in a message and the span of the tool's execution are one call when they share an id, or,
where there is none, name and arguments, as long as that is beyond doubt. How a call went is told by its own span.

What a model or agent says to another inside a tool's execution is not said to the user: its calls count, its texts
don't. A user's turn has the time at which a model was first given it, an agent's the time at which it was complete;
neither is when it was heard.

Known gaps: where agents or steps of a workflow prompt a model without a tool's span around them, their prompts are
read as the user's words. Alternative choices of a model are read as if all were said, unless they are events. Links
are counted, not followed. Attributes of LangSmith's own and binary parts are not read.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from averment.evidence.draft import Draft, Part, kind_of
from averment.evidence.model import MAX_SPANS, ArgsState, ToolCallStatus
from averment.evidence.readers.dialogue import Dialogue
from averment.evidence.readers.spans.conventions import Execution, interpret
from averment.evidence.readers.spans.conventions.messages import Item, Messages, fingerprint
from averment.evidence.readers.spans.coverage import Coverage
from averment.evidence.readers.spans.facts import facts
from averment.evidence.readers.spans.history import History
from averment.evidence.readers.spans.merging import agree, fill, says_error
from averment.evidence.readers.spans.pairing import Call
from averment.evidence.readers.spans.record import SpanRecord
from averment.evidence.readers.spans.sessions import Conversation
from averment.evidence.readers.spans.trace import trace_of
from averment.evidence.readers.spans.tree import Tree

__all__ = ["read"]


def read(part: Part, draft: Draft) -> None:
    """Read the spans of one conversation, which a carrier has put together."""
    conversation = part.value
    if not isinstance(conversation, Conversation):
        draft.problems.append(
            part.problem(
                "wrong_type",
                "this holds no spans",
                expected="OpenTelemetry spans",
                found=kind_of(conversation),
            )
        )
        return
    conversation.notes.tell(draft)
    spans = conversation.spans
    if not spans:
        code, message = "no_spans", "there is no span and no GenAI event in it"
        mend = "Export the traces of the agent, not its metrics or plain logs."
        draft.problems.append(part.problem(code, message, expected="at least one span", mend=mend))
        return
    if len(spans) > MAX_SPANS:
        limit = f"at most {MAX_SPANS:,} spans"
        draft.problems.append(part.problem("too_many_spans", "the trace has too many spans", expected=limit))
        return
    draft.conversation_id = conversation.key or None
    _Trace(part, draft, conversation).read()
    draft.account(part.source, records=len(spans), read=len(spans))


_RECORDED: ArgsState = "recorded"
_ABSENT: ArgsState = "absent"


class _Trace:
    """The spans of one conversation, in order."""

    def __init__(self, part: Part, draft: Draft, conversation: Conversation) -> None:
        self._part = part
        self._draft = draft
        self._conversation = conversation
        self._tree = Tree(conversation.spans, draft)
        self._records = self._tree.records
        reader = Messages(draft)
        self._readings = [interpret(record, reader) for record in self._records]
        self._tree.relate(self._readings)
        self._doubt_empty_payloads()
        self._history = History(draft)

    def read(self) -> None:
        self._said()
        executed = self._executed()
        self._write(executed)
        self._draft.spans = trace_of(self._tree, self._readings, self._draft)
        coverage = Coverage(self._draft, self._conversation, self._tree, self._readings)
        coverage.tell(self._history, has_executions=bool(executed))
        self._draft.metadata = facts(self._tree, self._readings)

    def _doubt_empty_payloads(self) -> None:
        """Google's ADK writes empty objects for arguments and results when content is not to be recorded."""
        if any(reading.given is not None or reading.gave is not None for reading in self._readings):
            return
        for record, reading in zip(self._records, self._readings, strict=True):
            execution = reading.execution
            if execution is not None and "gcp.vertex.agent.tool_call_args" in record.attrs:
                if execution.arguments in ("{}", {}):
                    execution.arguments, execution.arguments_state = UNSET, "redacted"
                if execution.result in ("{}", {}):
                    execution.result, execution.result_state = UNSET, "redacted"

    def _said(self) -> None:
        """Everything that messages say, in the order in which it was said."""
        moments: list[tuple[int, int, int, list[Item], bool]] = []
        for index, reading in enumerate(self._readings):
            record = self._records[index]
            start = index if not self._tree.is_timed else record.start_ns or 0
            if reading.given and not self._tree.shows_given[index]:
                moments.append((start, len(moments), index, reading.given, False))
            if reading.gave and not self._tree.shows_gave[index]:
                end = start if not self._tree.is_timed else self._tree.answered_at(index)
                moments.append((end, len(moments), index, reading.gave, True))
        for at, _, index, items, is_new in sorted(moments, key=lambda each: each[:2]):
            record, tool = self._records[index], self._tree.inside[index]
            time = at if self._tree.is_timed else None
            is_whole = self._readings[index].kind == "agent"
            self._history.hear(
                items, at=at, time_ns=time, trace=record.trace_id, tool=tool, is_new=is_new, is_whole=is_whole
            )

    def _executed(self) -> list[Call]:
        """The call of every execution."""
        executed = []
        for index, reading in enumerate(self._readings):
            execution = reading.execution
            if execution is None or self._tree.same_as[index] is not None:
                continue
            for inner in self._tree.repeats.get(index, ()):
                again = self._readings[inner].execution
                if again is not None:
                    fill(execution, again)
            at = (self._records[index].start_ns or 0) if self._tree.is_timed else index
            call = self._history.calls.execute(execution, at, self._records[index].loc)
            call.span = index
            executed.append(call)
        return executed

    def _write(self, executed: list[Call]) -> None:
        dialogue = Dialogue(self._draft, self._part)
        calls = []
        for entry in self._history.in_order():
            if isinstance(entry, Call):
                calls.append(entry)
                self._write_call(dialogue, entry)
                continue
            item, time = entry.item, entry.time_ns
            dialogue.turn(
                item.role_raw,
                item.value,
                item.loc,
                role=item.role,
                start_ns=time,
                end_ns=time if item.role == "agent" else None,
                clock="epoch",
                said=item.role != "system",
            )
        answered = any(call.answers for call in calls) or bool(executed)
        dialogue.finish(records_answers=answered)
        models = self._draft.calls or ()
        ids = {id(call): model.id for call, model in zip(calls, models, strict=True)}
        written = []
        for call, model in zip(calls, models, strict=True):
            changes: dict[str, Any] = {}
            if call.span is not None:
                changes = {"span_id": self._tree.ids[call.span], "position": call.span}
            if call.attempt is not None:
                changes["attempt"] = call.attempt
            if call.repeats is not None:
                changes["retry_of"] = ids[id(call.repeats)]
            written.append(msgspec.structs.replace(model, **changes) if changes else model)
        self._draft.calls = written

    def _write_call(self, dialogue: Dialogue, call: Call) -> None:
        execution = call.execution
        arguments, state = call.value, _RECORDED if call.value is not UNSET else _ABSENT
        times: dict[str, Any] = {}
        if execution is not None and call.span is not None:
            arguments, state = self._arguments(call, execution)
            times = self._times(self._records[call.span])
        dialogue.step()
        dialogue.request(call.name, arguments, call.loc, own=call.own, state=state, **times)
        if execution is None and not call.answers:
            return
        result, state, failed = self._result(call)
        failed = failed or says_error(result) or failed
        status: ToolCallStatus | None = None
        if failed is None and (execution is None or result is UNSET):
            status = "executed"  # a message to a model doesn't say how the call went
        elif failed is False:
            status = "ok"
        dialogue.answer(
            result,
            call.loc,
            own=call.own,
            name=call.name,
            failed=failed,
            error=execution.error if execution is not None and failed else UNSET,
            status=status,
            state=state,
        )

    def _arguments(self, call: Call, execution: Execution) -> tuple[Any, ArgsState]:
        """The arguments with which a call was executed; those of the request where the span doesn't show any."""
        own, asked = execution.arguments, call.value
        if own is UNSET:
            return (asked, "recorded") if asked is not UNSET else (UNSET, execution.arguments_state)
        if asked is UNSET or fingerprint(own) == fingerprint(asked):
            return own, "recorded"
        if execution.is_doubtful:
            return asked, "recorded"
        detail = "the arguments of the request and of the execution differ, so neither counts"
        self._draft.note("arguments_conflict", call.loc, detail)
        return UNSET, "conflicting"

    def _result(self, call: Call) -> tuple[Any, ArgsState, bool | None]:
        """The result of a call, whether it is shown, and whether the call failed."""
        execution = call.execution
        results = [answer.value for answer in call.answers if answer.value is not UNSET]
        failed = next((answer.failed for answer in call.answers if answer.failed is not None), None)
        if execution is not None:
            failed = failed or execution.failed if execution.failed is not None else failed
            if execution.result is not UNSET:
                results.insert(0, execution.result)
        if not results:
            return UNSET, "absent" if execution is None else execution.result_state, failed
        first = results[0]
        for other in results[1:]:
            if not agree(first, other):
                if execution is not None and execution.failed:
                    continue  # what a model is told of a failure is a framework's wording
                self._draft.note(
                    "result_conflict", call.loc, "two results of one call differ, so neither counts"
                )
                return UNSET, "conflicting", failed
        return first, "recorded", failed

    def _times(self, record: SpanRecord) -> dict[str, Any]:
        start, end = record.start_ns, record.end_ns
        if start is None and end is None:
            return {}
        if start is not None and end is not None and end <= start:
            if end == start:
                self._draft.note("no_duration", record.loc, "a tool's span has no duration", "info")
            end = None
        return {"start_ns": start, "end_ns": end, "clock": "epoch"}
