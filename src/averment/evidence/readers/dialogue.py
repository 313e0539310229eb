"""What readers of conversations share: turns and tool calls, put together in the order in which the source has them.

A reader says what it meets: a turn, a request for a call, the answer to one. The dialogue pairs answers with requests
and decides how far each call came, by one set of rules:

* An answer belongs to the oldest open request of its id. Ids are compared with their JSON types: `1` is not `"1"`.
* An answer without an id belongs to a request of its name in the same step of the agent, in order; where the step has
  more requests of that name than answers, and their arguments differ, which one was answered would be a guess: none
  counts as answered, and what was executed is known in part.
* Two answers to one request that differ leave its result conflicting, and it failed when one says so; an answer to no request is a call of its own,
  the arguments of which nobody recorded.
* A request without an answer is *unanswered* where the source records answers, and only *requested* where it doesn't.
* A flag that says that a call went well gives way to an answer that says that it failed: tools that catch their own
  errors are flagged so. Where nothing flags it, an answer can say that it went well, too.
* What is of no type that a reader knows, calls of no name and texts that were redacted may be anything: what is not
  there decides nothing then.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any, Literal

import msgspec
from msgspec import UNSET

from averment.evidence.draft import OF_ANSWERS, OF_CALLS, Draft, Part, own_id, too_long
from averment.evidence.model import (
    MAX_TEXT_BYTES,
    ArgsState,
    Clock,
    Role,
    ToolCall,
    ToolCallStatus,
    Turn,
)
from averment.evidence.readers.calls import how_it_went, looks_structured, parsed
from averment.evidence.readers.shortfalls import (
    identified,
    limit_redacted,
    limit_speakers,
    limit_unknown,
)
from averment.evidence.readers.transcript import role_of
from averment.evidence.redaction import holds_redacted, is_redacted
from averment.text.jsonvalue import json_equal

__all__ = ["Dialogue"]


class _Call(msgspec.Struct, kw_only=True):
    """A call in the making."""

    own: Any
    name: str | None
    seq: int
    loc: str
    fields: dict[str, Any]
    answered: bool = False


class _Answer(msgspec.Struct, kw_only=True):
    """An answer that waits for the end of its step, because it names no call."""

    name: str | None
    seq: int
    loc: str
    fields: dict[str, Any]


class Dialogue:
    """The turns and tool calls of one conversation in the making.

    Args:
        draft: what they are written to, by `finish`.
        part: the conversation as a whole, for problems.
    """

    def __init__(self, draft: Draft, part: Part) -> None:
        self._draft = draft
        self._part = part
        self._turns: list[Turn] = []
        self._turn_ids: set[str] = set()
        self._calls: list[_Call] = []
        self._open: dict[tuple[type, Any], deque[_Call]] = {}
        self._latest: dict[tuple[type, Any], _Call] = {}
        self._waiting: list[_Answer] = []
        self._step_start = 0
        self._is_ambiguous = False
        self._is_redacted = False
        self._seq = 0
        self.answers = 0
        """How many answers there were."""

    def turn(
        self,
        role_raw: str | None,
        text: str,
        loc: str,
        *,
        role: Role | None = None,
        own: Any = None,
        start_ns: int | None = None,
        end_ns: int | None = None,
        clock: Clock | None = None,
        speaker: str | None = None,
        interrupted: bool | None = None,
        final: bool = True,
        said: bool = True,
        original: str | None = None,
    ) -> None:
        """One utterance; a system prompt is one with `said=False`. `own` is the source's id of it, if it has one."""
        if too_long(text):
            limit = f"at most {MAX_TEXT_BYTES:,} bytes of UTF-8"
            problem = self._part.problem(
                "text_too_long", f"a turn's text is too long, at {loc}", expected=limit
            )
            self._draft.problems.append(problem)
            return
        if said and is_redacted(text):
            self._is_redacted = True
        id_ = f"t_{len(self._turns)}"
        timed = start_ns is not None or end_ns is not None
        self._turns.append(
            Turn(
                id=id_ if own is None else own_id(own, id_, self._turn_ids) or id_,
                role_raw=role_raw,
                role=role_of(role_raw) if role is None else role,
                text=text,
                start_ns=start_ns,
                end_ns=end_ns,
                clock=clock if timed else None,
                speaker=speaker,
                interrupted=interrupted,
                final=final,
                said=said,
                original=original,
                seq=self.place(),
                loc=loc,
            )
        )

    def step(self) -> None:
        """The agent begins a new step: what it requests from here on is answered by what follows."""
        self._settle()
        self._step_start = len(self._calls)

    def request(
        self,
        name: Any,
        arguments: Any,
        loc: str,
        *,
        own: Any = None,
        state: ArgsState = "recorded",
        requestor: Literal["agent", "user", "system"] = "agent",
        status: ToolCallStatus | None = None,
        start_ns: int | None = None,
        end_ns: int | None = None,
        clock: Clock | None = None,
        latency_ms: float | None = None,
        attempt: int | None = None,
        parse: bool = True,
    ) -> None:
        """One call that was asked for.

        Args:
            name: the tool's name.
            arguments: a JSON value; text is read as JSON, the empty text as no arguments; None where the source has
                no arguments to show.
            loc: where it stands.
            own: the source's id of the call, of any JSON type.
            state: whether the source shows the arguments.
            requestor: who asked for it.
            status: how far the call came, where the source says so itself.
            start_ns: when it began, where the source says so.
            end_ns: when it ended.
            clock: what these times count from.
            latency_ms: how long it took, where the source says so.
            attempt: which attempt it is, from 1, where the source says so.
            parse: False where text is the argument itself.
        """
        if type(name) is not str or not name:
            self._draft.note("call_without_name", loc, "the call names no tool")
            name = None
        fields = self._arguments(arguments, state, loc, parse=parse)
        fields["status"] = status
        if requestor != "agent":  # the default must be the very object to be left out where it is written
            fields["requestor"] = requestor
        if attempt is not None:
            fields["attempt"] = attempt
        _add_times(fields, start_ns, end_ns, clock, latency_ms)
        call = _Call(own=own, name=name, seq=self.place(), loc=loc, fields=fields)
        self._calls.append(call)
        key = _key(own)
        if key is not None:
            if key in self._open:
                self._open[key].append(call)
            else:
                self._open[key] = deque((call,))
            self._latest[key] = call

    def answer(
        self,
        result: Any,
        loc: str,
        *,
        own: Any = None,
        name: str | None = None,
        failed: bool | None = None,
        error: Any = UNSET,
        status: ToolCallStatus | None = None,
        state: ArgsState = "recorded",
        start_ns: int | None = None,
        end_ns: int | None = None,
        clock: Clock | None = None,
        latency_ms: float | None = None,
    ) -> None:
        """What a tool answered.

        Args:
            result: a JSON value; text that begins like a JSON object or list is read as one; UNSET for none.
            loc: where it stands.
            own: the id of the call that it answers, or None.
            name: the tool's name, where the source repeats it.
            failed: whether the call failed, where the source says so.
            error: what went wrong, where the source says so apart from the result.
            status: how the call went, where the source says so in other words.
            state: whether the source shows the result.
            start_ns: when the call began, where the answer says so.
            end_ns: when it ended.
            clock: what these times count from.
            latency_ms: how long it took.
        """
        self.answers += 1
        seq = self.place()
        state = "redacted" if state == "recorded" and is_redacted(result) else state
        result, raw = (result, None) if state == "redacted" else self._result(result, loc)
        if state == "recorded" and holds_redacted(result):
            state = "redacted"
        if error is None:
            error = UNSET
        fields: dict[str, Any] = {"result": result, "result_raw": raw, "result_state": state, "error": error}
        fields["status"] = (
            how_it_went(status, result, failed=failed, has_error=error is not UNSET) or _ANSWERED
        )
        _add_times(fields, start_ns, end_ns, clock, latency_ms)
        key = _key(own)
        open_ = None if key is None else self._open.get(key)
        while open_ and open_[0].answered:  # by an answer that named no call
            open_.popleft()
        if key is None:
            self._waiting.append(_Answer(name=name, seq=seq, loc=loc, fields=fields))
        elif open_:
            self._close(open_.popleft(), fields)
        elif key in self._latest:
            self._answer_again(self._latest[key], fields, loc)
        else:
            self._answer_nothing(own, name, fields, loc, seq)

    def finish(
        self,
        *,
        records_answers: bool | None = None,
        flags_failures: bool = True,
        writes_arguments: bool = False,
        how_arguments: str | None = None,
    ) -> None:
        """Write the turns and calls to the draft, with the coverage of their channels.

        Args:
            records_answers: whether the source holds answers of tools at all; by default it does if there is one.
            flags_failures: whether the source says of a call that it failed, apart from what its tool answered. Where
                it doesn't, a call that was answered was executed, and nobody says that it went well.
            writes_arguments: whether the format always has the arguments of a call, so that several calls without any
                are just that, and not what an exporter left out.
            how_arguments: how to record arguments in the source.
        """
        self._settle()
        answered = self.answers > 0 if records_answers is None else records_answers
        if not writes_arguments:
            self._doubt_empty_arguments()
        ids: set[str] = set()
        calls = []
        for index, call in enumerate(self._calls):
            status: ToolCallStatus | None = call.fields.pop("status")
            if status == _ANSWERED:
                status = "ok" if flags_failures else "executed"
            status = status or ("unanswered" if answered else "requested")
            own = str(call.own) if type(call.own) in (str, int) else None
            id_ = own_id(own, f"c_{index}", ids) or f"c_{index}"
            for key in _PAYLOADS:
                if call.fields.get(key, UNSET) is None:
                    del call.fields[key]
            calls.append(
                ToolCall(id=id_, name=call.name, status=status, seq=call.seq, loc=call.loc, **call.fields)
            )
        self._draft.turns = turns = identified(self._turns)
        self._draft.calls = calls
        self._draft.cover("transcript", len(self._turns))
        for channel in OF_CALLS:
            self._draft.cover(channel, len(calls))
        if not flags_failures and any(call.status == "executed" for call in calls):
            reason = "the source has no mark for a call that failed; only what its tool answered can tell"
            self._draft.limit("errors", "partial", reason, _RECORD_FAILURES)
        limit_unknown(self._draft, calls, how_arguments=how_arguments)
        if self._is_redacted:
            limit_redacted(self._draft)
        limit_speakers(self._draft, turns)
        if self._is_ambiguous:
            reason = "the source does not tell which of several calls some answers belong to"
            for channel in OF_ANSWERS:
                self._draft.limit(channel, "partial", reason, _NAME_CALLS)
        if calls and not answered:
            reason, how = "the source holds requests for calls, and no answer to any", _RECORD_ANSWERS
            for channel in OF_ANSWERS:
                self._draft.limit(channel, "absent", reason, how)

    def place(self) -> int:
        """The next place in the one order of turns, calls and what else happens."""
        self._seq += 1
        return self._seq - 1

    def _arguments(self, arguments: Any, state: ArgsState, loc: str, *, parse: bool) -> dict[str, Any]:
        if arguments is None or arguments is UNSET:
            return {"args_state": "absent" if state == "recorded" else state}
        if state == "recorded" and is_redacted(arguments):
            return {"args_raw": arguments, "args_state": "redacted"}
        if type(arguments) is not str or not parse:
            if state == "recorded" and holds_redacted(arguments):
                state = "redacted"
            return {"args": arguments, "args_state": state}
        if not arguments.strip():
            return {"args": {}, "args_raw": arguments, "args_state": state}
        value, problem = parsed(arguments, loc, self._draft)
        if problem is not None:
            self._draft.note(
                "arguments_unreadable", loc, f"the arguments are text that is no JSON: {problem}"
            )
        elif state == "recorded" and holds_redacted(value):
            state = "redacted"
        return {"args": value, "args_raw": arguments, "args_error": problem, "args_state": state}

    def _result(self, result: Any, loc: str) -> tuple[Any, str | None]:
        if result is None or not looks_structured(result):
            return (UNSET if result is None else result), None
        value, problem = parsed(result, loc, self._draft)
        if problem is not None:
            self._draft.note(
                "result_unreadable", loc, f"the result is text that begins like JSON: {problem}", "info"
            )
            return result, None
        return value, result

    def _close(self, call: _Call, fields: dict[str, Any]) -> None:
        call.answered = True
        status = call.fields["status"]
        call.fields |= fields
        if status is not None:
            call.fields["status"] = status

    def _answer_again(self, call: _Call, fields: dict[str, Any], loc: str) -> None:
        is_same = _same(call.fields.get("result", UNSET), fields["result"])
        statuses = (call.fields["status"], fields["status"])
        if is_same and statuses[0] == statuses[1]:
            self._draft.note("duplicate_result", loc, "the same answer stands twice", "info")
            return
        self._draft.note("result_conflict", loc, "two answers to one call differ")
        if not is_same:
            call.fields |= {"result": UNSET, "result_raw": None, "result_state": "conflicting"}
        if statuses[0] != statuses[1]:
            # It did not go well when something that was recorded says that it failed.
            failures = [status for status in statuses if status in _FAILURES]
            call.fields["status"] = failures[0] if failures else _ANSWERED
        if call.fields["error"] is UNSET:
            call.fields["error"] = fields["error"]

    def _answer_nothing(self, own: Any, name: str | None, fields: dict[str, Any], loc: str, seq: int) -> None:
        self._draft.note("result_without_call", loc, "no request belongs to this answer")
        call = _Call(own=own, name=name, seq=seq, loc=loc, fields={"status": None})
        call.fields["args_state"] = "absent"
        self._close(call, fields)
        self._calls.append(call)
        key = _key(own)
        if key is not None:
            self._latest[key] = call

    def _settle(self) -> None:
        """Pair the answers of this step that name no call."""
        waiting, self._waiting = self._waiting, []
        if not waiting:
            return
        open_: dict[str | None, list[_Call]] = {}
        for call in self._calls[self._step_start :]:
            if not call.answered:
                open_.setdefault(call.name, []).append(call)
        by_name: dict[str | None, list[_Answer]] = {}
        for answer in waiting:
            by_name.setdefault(answer.name, []).append(answer)
        nameless = by_name.pop(None, [])
        for name, answers in by_name.items():
            self._pair(open_.get(name, []), answers)
        left = [call for calls in open_.values() for call in calls if not call.answered]
        self._pair(sorted(left, key=lambda call: call.seq), nameless)

    def _pair(self, calls: list[_Call], answers: list[_Answer]) -> None:
        """Answers with the calls that they may belong to, in order."""
        if len(calls) > len(answers) > 0 and not _alike(calls):
            for answer in answers:
                self._draft.note(
                    "ambiguous_result", answer.loc, "which of several calls this answers can't be told"
                )
            self._is_ambiguous = True
            return
        for position, answer in enumerate(answers):
            if position < len(calls):
                self._close(calls[position], answer.fields)
            else:
                self._answer_nothing(None, answer.name, answer.fields, answer.loc, answer.seq)

    def _doubt_empty_arguments(self) -> None:
        """Calls that all have empty arguments: their exporter left them out, as some do."""
        shown = [call for call in self._calls if call.fields.get("args") == {}]
        if len(shown) < _SUSPICIOUS or len(shown) != len(self._calls):
            return
        for call in shown:
            call.fields |= {"args": UNSET, "args_state": "absent"}
        self._draft.note(
            "arguments_all_empty",
            shown[0].loc,
            f"the arguments of all {len(shown)} calls are empty, as from an exporter that leaves them out",
        )


_SUSPICIOUS = 2
"""From how many calls on it is suspicious that none has an argument."""

_FAILURES = ("error", "timeout", "denied", "cancelled")

_ANSWERED = "answered"
"""For now, the status of a call of which nothing says how it went."""

_PAYLOADS = ("args", "result", "error")
"""What is left out where it is `null`."""

_RECORD_FAILURES = (
    "Record failures as spans (an OpenTelemetry export), or as `error` or `ok: false` in what a tool answers."
)
_NAME_CALLS = "Export the id of the call with each of the tools' answers."
_RECORD_ANSWERS = "Export the messages with the tools' answers in them."


def _add_times(
    fields: dict[str, Any],
    start_ns: int | None,
    end_ns: int | None,
    clock: Clock | None,
    latency_ms: float | None,
) -> None:
    """Add those of a call's times that are known to its fields; most have none."""
    if start_ns is not None:
        fields["start_ns"], fields["clock"] = start_ns, clock
    if end_ns is not None:
        fields["end_ns"], fields["clock"] = end_ns, clock
    if latency_ms is not None:
        fields["latency_ms"] = latency_ms


def _key(own: Any) -> tuple[type, Any] | None:
    """What an id is looked up by; None for what can't be one."""
    return (type(own), own) if type(own) in (str, int) and own != "" else None


def _same(one: Any, other: Any) -> bool:
    if one is UNSET or other is UNSET:
        return one is other
    return json_equal(one, other)


def _alike(calls: Sequence[_Call]) -> bool:
    """Whether nothing tells the calls apart."""
    first = calls[0].fields.get("args", UNSET)
    raw = calls[0].fields.get("args_raw")
    return len({call.name for call in calls}) == 1 and all(
        _same(call.fields.get("args", UNSET), first)
        and (first is not UNSET or call.fields.get("args_raw") == raw)
        for call in calls
    )
