"""Evidence written in other shapes than averment's own, with what that shape can't hold told.

`Evidence.to_json` loses nothing. A trace in the contract's shape, and a list of chat messages, each hold less.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import UNSET

from averment.evidence.model import EvidenceModel, Span, ToolCall, Turn
from averment.evidence.readers.voice_trace import SCHEMA
from averment.text import jsontext

__all__ = ["WRITERS", "Written", "openai_messages", "voice_trace"]

Written = tuple[bytes, list[str]]
"""The bytes, and in words what of the evidence is not in them."""

_NOT_EXECUTED = frozenset({"requested", "unanswered", "denied", "cancelled"})
_SECOND = 1_000_000_000
_CHAT_ROLES = {"user": "user", "agent": "assistant", "system": "system", "tool": "tool"}


def voice_trace(model: EvidenceModel) -> Written:
    """The trace as `hotato.voice_trace.v1` JSON Lines: a meta line, then a line for each span and each other call.

    Times become seconds since the earliest of them, unless they are call-relative already.
    """
    of_span = {call.position: call for call in model.calls or () if call.position is not None}
    things: list[tuple[Span | None, ToolCall | None]] = [
        (span, of_span.get(index)) for index, span in enumerate(model.spans or ())
    ]
    things += [(None, call) for call in model.calls or () if call.position is None]
    # In this shape a tool call's span is its execution, so one that was only asked for has no line.
    things = [(span, call) for span, call in things if call is None or call.status not in _NOT_EXECUTED]
    zero = _zero(model)
    meta: dict[str, Any] = {"_meta": True, "schema": SCHEMA}
    if model.conversation_id is not None:
        meta["call_id"] = model.conversation_id
    lines = [meta, *(_span_line(span, call, zero) for span, call in things)]
    lost = Counter(
        what
        for what, is_lost in (
            ("the transcript", bool(model.turns)),
            ("the system of record", bool(model.states)),
            ("timing events", bool(model.timing)),
            ("metadata and labels", bool(model.metadata or model.labels)),
            ("coverage and notes", True),
        )
        if is_lost
    )
    for call in model.calls or ():
        if call.status in _NOT_EXECUTED:
            lost[f"calls that were not executed ({call.status})"] += 1
        elif call.args is UNSET:
            lost["why a call's arguments are unknown"] += 1
    return b"".join(jsontext.canonical_known(line) + b"\n" for line in lines), _told(lost)


def openai_messages(model: EvidenceModel) -> Written:
    """The conversation as OpenAI chat messages, JSON; calls stand where the source's order or clock puts them."""
    lost: Counter[str] = Counter()
    messages: list[dict[str, Any]] = []
    for thing in _ordered(model, lost):
        if isinstance(thing, Turn):
            role = _CHAT_ROLES.get(thing.role)
            if role is None or role == "tool":
                lost[f"turns of the role {thing.role}"] += 1
                continue
            messages.append({"role": role, "content": thing.text})
            lost["times"] += thing.start_ns is not None
        elif thing.requestor != "agent":
            lost["calls that the agent did not make"] += 1
        else:
            _add_call(messages, thing, lost)
    lost["spans"] += len(model.spans or ()) - sum(call.position is not None for call in model.calls or ())
    lost["records of the system of record"] += sum(len(state.rows) for state in model.states or ())
    return jsontext.canonical_known({"messages": messages}) + b"\n", _told(+lost)


WRITERS: Mapping[str, Callable[[EvidenceModel], Written]] = {
    "voice_trace": voice_trace,
    "openai": openai_messages,
}
"""The shapes that evidence can be written in, beside averment's own, by the name that `--to` has for them."""


def _told(lost: Counter[str]) -> list[str]:
    return [f"{what} ({count})" if count > 1 else what for what, count in lost.items()]


def _zero(model: EvidenceModel) -> int:
    things: list[Span | ToolCall] = [*(model.spans or ()), *(model.calls or ())]
    clocks = {thing.clock for thing in things if thing.clock is not None}
    starts = [thing.start_ns for thing in things if thing.start_ns is not None]
    return 0 if clocks <= {"call_relative"} or not starts else min(starts)


def _span_line(span: Span | None, call: ToolCall | None, zero: int) -> dict[str, Any]:
    thing: Span | ToolCall | None = span or call
    assert thing is not None  # noqa: S101 - one of the two is given
    line: dict[str, Any] = {} if span is None else {**span.fields}
    line["type"] = "tool_call" if call is not None else thing.type if isinstance(thing, Span) else "other"
    line["span_id"] = thing.id
    if thing.name is not None:
        line["name"] = thing.name
    if span is not None and span.attrs:
        line["attributes"] = span.attrs
    for key, time in (("start_sec", thing.start_ns), ("end_sec", thing.end_ns)):
        line.pop(key, None)
        if time is not None:
            line[key] = _seconds(time - zero)
    if call is not None:
        line |= {"name": call.name} if call.name is not None else {}
        line |= {
            key: value
            for key, value in (("arguments", call.args), ("result", call.result), ("error", call.error))
            if value is not UNSET
        }
        if call.args is UNSET and (call.args_raw is not None or call.args_state != "recorded"):
            # No arguments would be read as `{}`; a text that is no JSON is read as what can't be known.
            line["arguments"] = call.args_raw or ""
        line["status"] = call.status
    return line


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


def _add_call(messages: list[dict[str, Any]], call: ToolCall, lost: Counter[str]) -> None:
    if call.args is UNSET:
        arguments = "" if call.args_raw is None else call.args_raw
        lost["that a call's arguments are unknown"] += call.args_raw is None
    else:
        arguments = call.args_raw or jsontext.canonical_known(call.args).decode("utf-8", "surrogatepass")
    request = {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name or "", "arguments": arguments},
    }
    last = messages[-1] if messages else None
    if last is not None and last["role"] == "assistant" and "tool_calls" not in last:
        last["tool_calls"] = [request]
    elif last is not None and last["role"] == "assistant":
        last["tool_calls"].append(request)
    else:
        messages.append({"role": "assistant", "content": None, "tool_calls": [request]})
    answer = call.result if call.result is not UNSET else call.error
    if answer is not UNSET or call.status in ("ok", "executed", "error", "timeout"):
        if answer is UNSET:
            text = ""
        elif isinstance(answer, str):
            text = answer
        else:
            text = call.result_raw or jsontext.canonical_known(answer).decode("utf-8", "surrogatepass")
        messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
    lost["that a call failed"] += call.status in ("error", "timeout")
