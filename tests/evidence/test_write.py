from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from averment.evidence import Evidence
from averment.evidence.model import ToolCall
from averment.evidence.write import WRITERS, openai_messages, voice_trace


def made(calls: Sequence[dict[str, Any]] = (), **fields: Any) -> Evidence:
    """Evidence from a file of averment's own: whatever a reader can come to."""
    record: dict[str, Any] = {"schema": "averment.evidence.v1", "coverage": {}, **fields}
    record["calls"] = [{"name": "pay", "status": "ok", "loc": "src_0#$", **call} for call in calls]
    return Evidence.from_bytes(json.dumps(record).encode())


def turn(text: str, role: str = "agent", **fields: Any) -> dict[str, Any]:
    return {"id": f"m{text}", "role": role, "role_raw": role, "text": text, "loc": "src_0#$", **fields}


def written(evidence: Evidence, form: str) -> tuple[Evidence, list[str]]:
    """What is read back of what is written, and what was told to be lost."""
    data, lost = WRITERS[form](evidence.model)
    source = {"openai": "openai_chat", "voice_trace": "voice_trace"}[form]
    return Evidence.from_bytes(data, from_format=source), lost


def calls(evidence: Evidence) -> list[tuple[str | None, Any, Any, str]]:
    return [(call.name, call.args, call.result, call.status) for call in evidence.model.calls or ()]


CHAT = {
    "messages": [
        {"role": "system", "content": "be kind"},
        {"role": "user", "content": "a refund", "name": "ann"},
        {
            "role": "assistant",
            "content": "one moment",
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "find", "arguments": '{"n": 1}'}},
                {"id": "b", "type": "function", "function": {"name": "pay", "arguments": '{"n": 2, "n": 3}'}},
                {"id": "c", "type": "function", "function": {"name": "pay", "arguments": '{"n": '}},
                {"id": "d", "type": "function", "function": {"name": "log", "arguments": ""}},
            ],
        },
        {"role": "tool", "tool_call_id": "b", "content": '{"error": "declined"}'},
        {"role": "tool", "tool_call_id": "a", "content": "found é \ud800"},
        {"role": "tool", "tool_call_id": "d", "content": "[1]"},
        {"role": "assistant", "content": "done"},
    ]
}
TRACE = [
    {"_meta": True, "schema": "hotato.voice_trace.v1", "call_id": "c"},
    {"type": "tool_call", "name": "pay", "arguments": {"n": 1}, "result": {"ok": 1}, "time_sec": 1.5},
    {
        "type": "tool_call",
        "name": "pay",
        "arguments": '{"n": 1}',
        "status": 503,
        "message": "later",
        "span_id": "x",
    },
    {"type": "tool_retry", "name": "pay", "start_sec": 2},
    {"type": "tool_call", "name": "pay", "arguments": "n=1", "attributes": {"k": "v"}, "latency_ms": 12.5},
    {"type": "dtmf", "digits": "1", "time_sec": 9},
    {"type": "tool_call", "name": "wait", "start_sec": 10, "end_sec": 12},
    {"type": "tool_timeout", "name": "wait"},
    {"type": "tool_call", "name": 7, "ok": False},
]


# Round trips.


def test_chat_messages_come_back_as_they_were() -> None:
    """Turns, calls, their order, and what is not known of them."""
    evidence = Evidence.from_bytes(json.dumps(CHAT).encode())
    back, _ = written(evidence, "openai")
    assert calls(back) == calls(evidence)
    assert [call.args_error for call in back.model.calls or ()] == [None, None, "json_truncated", None]

    def things(each: Evidence) -> list[Any]:
        turns = [(turn.seq, turn.role, turn.text, turn.said, turn.speaker) for turn in each.model.turns or ()]
        return [thing[1:] for thing in sorted(turns)]

    assert things(back) == things(evidence)
    again, _ = written(back, "openai")
    assert again.sha256 == back.sha256


def test_a_trace_comes_back_as_it_was() -> None:
    """Spans, times, outcomes, retries and timeouts."""
    lines = b"\n".join(json.dumps(line).encode() for line in TRACE)
    evidence = Evidence.from_bytes(lines)
    back, _ = written(evidence, "voice_trace")
    assert calls(back) == calls(evidence)
    for name in ("retry_of", "attempt", "error", "start_ns", "end_ns", "latency_ms", "position"):
        assert [getattr(call, name) for call in back.model.calls or ()] == [
            getattr(call, name) for call in evidence.model.calls or ()
        ]
    assert [(span.type, span.start_ns, span.id, span.attrs) for span in back.model.spans or ()] == [
        (span.type, span.start_ns, span.id, span.attrs) for span in evidence.model.spans or ()
    ]
    assert back.model.conversation_id == "c"
    again, _ = written(back, "voice_trace")
    assert again.sha256 == back.sha256


# What is never made up.


@pytest.mark.parametrize("form", ["openai", "voice_trace"])
@pytest.mark.parametrize("status", ["requested", "unanswered", "denied", "cancelled"])
def test_a_request_never_becomes_an_execution(form: str, status: str) -> None:
    """Whatever was answered to it, and whatever span shows it."""
    span = {"id": "x", "type": "tool_call", "loc": "src_0#$"}
    more: dict[str, Any]
    for more in ({}, {"result": "no", "error": "not allowed"}, {"span_id": "x", "position": 0}):
        evidence = made([{"id": "a", "args": {"n": 1}, "status": status, **more}], spans=[span])
        back, lost = written(evidence, form)
        assert {call.status for call in back.model.calls or ()} <= {"requested", "unanswered"}
        if form == "voice_trace":
            assert back.model.calls == ()
            assert any("not executed" in each for each in lost)


@pytest.mark.parametrize("form", ["openai", "voice_trace"])
@pytest.mark.parametrize(
    "fields",
    [
        {"args_state": "absent"},
        {"args_state": "redacted"},
        {"args_state": "conflicting"},
        {"args_state": "absent", "args_raw": "{}"},
        {"args_state": "absent", "args_raw": ""},
        {"args_raw": '{"n": ', "args_error": "json_truncated"},
        {"args_raw": "", "args_error": "json_truncated"},
    ],
)
def test_unknown_arguments_never_become_known(form: str, fields: dict[str, Any]) -> None:
    """An empty text would be read as `{}` in one shape, and no text in the other."""
    evidence = made([{"id": "a", **fields}, {"id": "b", "args": {"n": 1}}])
    back, lost = written(evidence, form)
    call = (back.model.calls or ())[0]
    assert call.args is UNSET
    assert call.args_state != "recorded" or call.args_error is not None
    assert call.args_error is not None or any("arguments are unknown" in each for each in lost)


@pytest.mark.parametrize("form", ["openai", "voice_trace"])
@pytest.mark.parametrize("state", ["absent", "redacted", "conflicting"])
def test_unknown_results_never_become_known(form: str, state: str) -> None:
    """No result is written, and it is told."""
    back, lost = written(made([{"id": "a", "args": {}, "result_state": state}]), form)
    assert (back.model.calls or ())[0].result is UNSET
    assert any("result is unknown" in each for each in lost)


@pytest.mark.parametrize("form", ["openai", "voice_trace"])
def test_a_call_that_a_user_made_is_none_of_the_agent(form: str) -> None:
    """Neither shape can say who made a call."""
    back, lost = written(made([{"id": "a", "args": {}, "requestor": "user"}]), form)
    assert not back.model.calls
    assert "calls that the agent did not make" in lost


@pytest.mark.parametrize("form", ["openai", "voice_trace"])
@pytest.mark.parametrize("value", ["text", '{"n": 1}', "", "12", [1], 12, 1.5, False, {"n": {}}])
def test_any_argument_comes_back(form: str, value: Any) -> None:
    """Text that is the argument itself, too."""
    back, _ = written(made([{"id": "a", "args": value}]), form)
    assert (back.model.calls or ())[0].args == value


def test_a_span_that_shows_no_call_is_no_call() -> None:
    """It would be read as an execution."""
    evidence = made(spans=[{"id": "x", "type": "tool_call", "name": "pay", "loc": "src_0#$"}])
    back, lost = written(evidence, "voice_trace")
    assert back.model.calls == ()
    assert "spans of tool calls that show none" in lost


def test_every_call_of_a_span_is_written() -> None:
    """One span can show several."""
    span = {"id": "x", "type": "batch", "start_ns": 5, "clock": "call_relative", "loc": "src_0#$"}
    shown: list[dict[str, Any]] = [
        {"id": name, "name": name, "args": {}, "span_id": "x", "position": 0} for name in ("a", "b")
    ]
    back, _ = written(made(shown, spans=[span]), "voice_trace")
    assert [call.name for call in back.model.calls or ()] == ["a", "b"]


def test_what_nobody_said_is_not_written_as_said() -> None:
    """A prompt of the system is one; a text under the user's name that the user did not say is left out."""
    evidence = made(
        turns=[turn("p", "system", said=False), turn("meta", "user", said=False), turn("x", "other")]
    )
    back, lost = written(evidence, "openai")
    assert [(each.text, each.said) for each in back.model.turns or ()] == [("p", False)]
    assert {"texts that nobody said", "turns of the role other"} <= set(lost)


# Times and order.


def test_times_become_seconds_since_the_earliest() -> None:
    """Unless they are call-relative already; times on several clocks are left out."""
    timed = [
        {"id": "a", "args": {}, "start_ns": 10**18 + 10**9, "end_ns": 10**18 + 2 * 10**9, "clock": "epoch"},
        {"id": "b", "args": {}, "start_ns": 10**18, "clock": "epoch"},
    ]
    back, _ = written(made(timed), "voice_trace")
    assert [call.start_ns for call in back.model.calls or ()] == [10**9, 0]
    relative = [{**timed[0], "start_ns": 5 * 10**9, "end_ns": None, "clock": "call_relative"}]
    relative = [{key: value for key, value in relative[0].items() if value is not None}]
    back, _ = written(made(relative), "voice_trace")
    assert [call.start_ns for call in back.model.calls or ()] == [5 * 10**9]
    back, lost = written(made([*timed[:1], *({**each, "id": "z"} for each in relative)]), "voice_trace")
    assert [call.start_ns for call in back.model.calls or ()] == [None, None]
    assert "times, which are on several clocks" in lost


def test_calls_stand_where_the_order_or_the_clock_puts_them() -> None:
    """Where neither does, they stand behind the turns, and that is told."""

    def order(evidence: Evidence) -> str:
        data, _ = openai_messages(evidence.model)
        messages = json.loads(data)["messages"]
        return " ".join(message.get("content") or "call" for message in messages if message["role"] != "tool")

    asked = [{"id": "a", "args": {}, "status": "executed"}]
    turns = [turn("1", "user"), turn("2", "user")]
    assert order(made(asked, turns=turns)) == "1 2 call"
    by_seq = [{**each, "seq": place} for each, place in zip(turns, (0, 2), strict=True)]
    assert order(made([{**asked[0], "seq": 1}], turns=by_seq)) == "1 call 2"
    by_time = [{**each, "start_ns": at, "clock": "epoch"} for each, at in zip(turns, (1, 3), strict=True)]
    assert order(made([{**asked[0], "start_ns": 2, "clock": "epoch"}], turns=by_time)) == "1 call 2"
    assert (
        "when calls were made: they stand behind the turns"
        in openai_messages(made(asked, turns=turns).model)[1]
    )


def test_what_is_lost_is_told() -> None:
    """In words, with how often."""
    evidence = made(
        [{"id": "a", "args": {}, "status": "error"}, {"id": "b", "args": {}, "status": "error"}],
        turns=[turn("x", start_ns=1, clock="epoch", interrupted=True)],
        states=[{"resource": "r", "rows": [{}, {}]}],
        metadata={"a": 1},
        timing=[],
    )
    assert set(openai_messages(evidence.model)[1]) >= {
        "that a call failed (2)",
        "times",
        "that a turn was interrupted",
        "records of the system of record (2)",
        "metadata and labels",
        "coverage and notes",
    }
    assert set(voice_trace(evidence.model)[1]) >= {
        "the transcript",
        "the system of record",
        "ids of calls (2)",
    }


# In general.

_ARGUMENTS = st.fixed_dictionaries(
    {},
    optional={
        "args": st.sampled_from([{}, {"n": 1}, "x", [1]]),
        "args_state": st.sampled_from(["recorded", "absent", "conflicting"]),
        "result": st.sampled_from([{"a": 1}, "words", [1], 5]),
        "error": st.sampled_from(["broken", {"code": 1}]),
        "requestor": st.sampled_from(["agent", "user"]),
    },
)
_STATUS = st.sampled_from(
    ["requested", "unanswered", "executed", "ok", "error", "timeout", "denied", "cancelled"]
)


@settings(deadline=None, max_examples=200)
@given(st.lists(st.tuples(_STATUS, _ARGUMENTS), max_size=5), st.sampled_from(["openai", "voice_trace"]))
def test_whatever_is_written_is_read_back_without_more_than_was_known(
    drawn: list[tuple[str, dict[str, Any]]], form: str
) -> None:
    """No call more is executed, no argument is known that was not, and those that were are the same."""
    evidence = made(
        [{"id": f"k{n}", "name": f"n{n}", "status": status, **more} for n, (status, more) in enumerate(drawn)]
    )
    back, _ = written(evidence, form)
    known = {call.name: call for call in evidence.model.calls or ()}
    for call in back.model.calls or ():
        assert call.name is not None
        before = known[call.name]
        assert before.requestor == "agent"
        if call.status not in ("requested", "unanswered"):
            assert before.status in ("executed", "ok", "error", "timeout")
        if call.args is not UNSET:
            assert _args(before) in (call.args, None)
        if call.result is not UNSET:
            assert str(call.result) in (str(before.result), str(before.error)), "a chat has text alone"


def _args(call: ToolCall) -> Any:
    """The arguments; None where they are recorded and there were none, which one of the shapes writes as `{}`."""
    return call.args if call.args is not UNSET else None if call.args_state == "recorded" else "unknown"
