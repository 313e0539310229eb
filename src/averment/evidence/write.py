"""Evidence written in other shapes than averment's own, with what that shape can't hold told.

`Evidence.to_json` loses nothing. A trace in the contract's shape, and a list of chat messages, each hold less.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import UNSET

from averment.evidence.model import EvidenceModel, Span, ToolCall, Turn
from averment.evidence.readers.calls import outcome
from averment.evidence.readers.voice_trace import SCHEMA
from averment.text import jsontext

__all__ = ["WRITERS", "Written", "openai_messages", "voice_trace"]

Written = tuple[bytes, list[str]]
"""The bytes, and in words what of the evidence is not in them."""

_NOT_EXECUTED = frozenset({"requested", "unanswered", "denied", "cancelled"})
_SECOND = 1_000_000_000
_CHAT_ROLES = {"user": "user", "agent": "assistant", "system": "system"}


def voice_trace(model: EvidenceModel) -> Written:
    """The trace as `hotato.voice_trace.v1` JSON Lines: a meta line, then a line for each span and each other call.

    Times become seconds since the earliest of them, unless they are call-relative already. What that shape would
    turn into something else is left out: in it every call was made by the agent, and was executed.
    """
    lost: Counter[str] = Counter()
    for what, is_lost in (
        ("the transcript", model.turns),
        ("the system of record", model.states),
        ("timing events", model.timing),
        ("metadata and labels", model.metadata or model.labels),
        ("coverage and notes", True),
    ):
        lost[what] += bool(is_lost)
    zero = _zero(model, lost)
    meta: dict[str, Any] = {"_meta": True, "schema": SCHEMA}
    if model.conversation_id is not None:
        meta["call_id"] = model.conversation_id
    lines = [meta, *(_line(span, call, zero, lost) for span, call in _executed(model, lost))]
    return b"".join(jsontext.canonical_known(line) + b"\n" for line in lines), _told(lost)


def _executed(model: EvidenceModel, lost: Counter[str]) -> Iterator[tuple[Span | None, ToolCall | None]]:
    """Spans with the calls that they show, then the calls that no span shows: those that the agent executed."""
    by_span: dict[int | None, list[ToolCall]] = {}
    for call in model.calls or ():
        by_span.setdefault(call.position, []).append(call)
    kept: list[tuple[Span | None, ToolCall]] = [(None, call) for call in by_span.pop(None, ())]
    for index, span in enumerate(model.spans or ()):
        for number, call in enumerate(by_span.get(index, ())):
            if _is_kept(call, lost):
                yield (None if number else span), call
        if index in by_span:
            continue
        if span.type == "tool_call":  # it would be read as an execution
            lost["spans of tool calls that show none"] += 1
        else:
            yield span, None
    for none, call in kept:
        if _is_kept(call, lost):
            yield none, call


def _is_kept(call: ToolCall, lost: Counter[str]) -> bool:
    if call.status in _NOT_EXECUTED:
        lost[f"calls that were not executed ({call.status})"] += 1
        return False
    if call.requestor != "agent":
        lost["calls that the agent did not make"] += 1
        return False
    return True


def openai_messages(model: EvidenceModel) -> Written:
    """The conversation as OpenAI chat messages, JSON; calls stand where the source's order or clock puts them."""
    lost: Counter[str] = Counter()
    messages: list[dict[str, Any]] = []
    for thing in _ordered(model, lost):
        if isinstance(thing, Turn):
            _add_turn(messages, thing, lost)
        elif thing.requestor != "agent":
            lost["calls that the agent did not make"] += 1
        else:
            _add_call(messages, thing, lost)
    lost["spans"] += len(model.spans or ()) - len(
        {call.position for call in model.calls or () if call.position is not None}
    )
    lost["records of the system of record"] += sum(len(state.rows) for state in model.states or ())
    lost["timing events"] += bool(model.timing)
    lost["metadata and labels"] += bool(model.metadata or model.labels)
    lost["coverage and notes"] += 1
    return jsontext.canonical_known({"messages": messages}) + b"\n", _told(lost)


WRITERS: Mapping[str, Callable[[EvidenceModel], Written]] = {
    "voice_trace": voice_trace,
    "openai": openai_messages,
}
"""The shapes that evidence can be written in, beside averment's own, by the name that `--to` has for them."""


def _told(lost: Counter[str]) -> list[str]:
    return [f"{what} ({count})" if count > 1 else what for what, count in lost.items() if count]


def _zero(model: EvidenceModel, lost: Counter[str]) -> int | None:
    """The time that becomes zero; None when there is none, because the times are on several clocks."""
    things: list[Span | ToolCall] = [*(model.spans or ()), *(model.calls or ())]
    clocks = {thing.clock for thing in things if thing.start_ns is not None or thing.end_ns is not None}
    starts = [time for thing in things for time in (thing.start_ns, thing.end_ns) if time is not None]
    if len(clocks) > 1:
        lost["times, which are on several clocks"] += 1
        return None
    return 0 if clocks <= {"call_relative"} else min(starts)


def _line(span: Span | None, call: ToolCall | None, zero: int | None, lost: Counter[str]) -> dict[str, Any]:
    line: dict[str, Any] = {}
    if span is not None:
        line |= {"span_id": _own(span.id, "s_"), **span.fields}
        line |= {"type": span.type, "attributes": span.attrs or None}
    elif call is not None:
        line["span_id"] = _own(call.id, "c_")
    if call is not None:
        line["type"] = "tool_call"
        line |= _call_fields(span, call, lost)
    thing = span or call
    assert thing is not None  # noqa: S101 - one of the two is given
    line["name"] = line.get("name", thing.name)
    for key, time in (("start_sec", thing.start_ns), ("end_sec", thing.end_ns)):
        if zero is not None and time is not None:
            line[key] = _seconds(time - zero)
        elif zero is None or key in line:
            line |= {key: None, "time_sec": None}
    return {key: value for key, value in line.items() if value is not None}


def _own(id_: str, start: str) -> str | None:
    """An id that the source gave; what averment numbered is numbered anew."""
    return None if id_.startswith(start) and id_[2:].isdecimal() else id_


def _call_fields(span: Span | None, call: ToolCall, lost: Counter[str]) -> dict[str, Any]:
    fields: dict[str, Any] = {"name": call.name, "attempt": call.attempt, "latency_ms": call.latency_ms}
    fields = {key: value for key, value in fields.items() if value is not None}
    if isinstance(call.args, str):
        fields["arguments"] = jsontext.canonical_known(call.args).decode()  # text is read as JSON
    elif call.args is not UNSET:
        fields["arguments"] = call.args
    elif call.args_error is not None or call.args_state != "recorded":
        # No arguments would be read as `{}`; a text that is no JSON is read as what can't be known.
        fields["arguments"] = call.args_raw if call.args_error is not None and call.args_raw else ""
        lost["why a call's arguments are unknown"] += call.args_error is None
    fields["result"] = None if call.result is UNSET else call.result
    lost["why a call's result is unknown"] += call.result is UNSET and call.result_state != "recorded"
    fields["error"] = None if call.error is UNSET else call.error
    # What the span says of its outcome stays, unless it would be read as another one.
    if span is None or outcome(span, fields["result"])[0] != call.status:
        fields["status"] = call.status
    lost["ids of calls"] += _own(call.id, "c_") is not None
    lost["that nobody says how a call went"] += call.status == "executed" and call.result is not UNSET
    return fields


def _seconds(nanoseconds: int) -> int | float:
    return nanoseconds / _SECOND if nanoseconds % _SECOND else nanoseconds // _SECOND


def _ordered(model: EvidenceModel, lost: Counter[str]) -> list[Turn | ToolCall]:
    things: list[Turn | ToolCall] = [*(model.turns or ()), *(model.calls or ())]
    if all(thing.seq is not None for thing in things):
        return sorted(things, key=lambda thing: thing.seq or 0)
    if len({thing.clock for thing in things}) == 1 and all(thing.start_ns is not None for thing in things):
        return sorted(things, key=lambda thing: thing.start_ns or 0)
    if model.turns and model.calls:
        lost["when calls were made: they stand behind the turns"] += 1
    return things


def _add_turn(messages: list[dict[str, Any]], turn: Turn, lost: Counter[str]) -> None:
    role = _CHAT_ROLES.get(turn.role)
    if role is None:
        lost[f"turns of the role {turn.role}"] += 1
    elif not turn.said and role != "system":
        lost["texts that nobody said"] += 1
    else:
        speaker = {} if turn.speaker is None else {"name": turn.speaker}
        messages.append({"role": role, "content": turn.text, **speaker})
        lost["times"] += turn.start_ns is not None
        lost["that a turn was interrupted"] += bool(turn.interrupted)


def _add_call(messages: list[dict[str, Any]], call: ToolCall, lost: Counter[str]) -> None:
    arguments: str | None = None  # which is read as what nobody recorded; an empty text would be no arguments
    if call.args is not UNSET:
        arguments = call.args_raw or jsontext.canonical_known(call.args).decode()
    elif call.args_error is not None and call.args_raw:
        arguments = call.args_raw
    else:
        lost["why a call's arguments are unknown"] += 1
    function = {"name": call.name or "", "arguments": arguments}
    request = {"id": call.id, "type": "function", "function": function}
    last = messages[-1] if messages else None
    if last is not None and last["role"] == "assistant":
        last.setdefault("tool_calls", []).append(request)
    else:
        messages.append({"role": "assistant", "content": None, "tool_calls": [request]})
    answer = call.result if call.result is not UNSET else call.error
    if call.status in _NOT_EXECUTED:  # an answer would be read as one to an execution
        lost["what was answered to calls that were not executed"] += answer is not UNSET
        lost[f"that a call was {call.status}"] += call.status in ("denied", "cancelled")
        return
    text: str | None = None
    if isinstance(answer, str):
        text = answer
    elif answer is not UNSET:
        text = jsontext.canonical_known(answer).decode()
        if answer is call.result and call.result_raw:
            text = call.result_raw
    messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
    lost["that a call failed"] += call.status in ("error", "timeout")
    lost["why a call's result is unknown"] += call.result is UNSET and call.result_state != "recorded"
    lost["times"] += call.start_ns is not None
