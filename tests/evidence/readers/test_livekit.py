from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import UNSET
from mutants import mutants, survives

from averment.errors import EvidenceError
from averment.evidence import Evidence
from samples import counts, real, sample

Judge = Callable[..., Any]

REPORT = json.loads(sample("livekit/report.json").read_text())
STEP = json.loads(sample("livekit/tools_executed.json").read_text())
START = 1_767_261_600_000_000_000


def read(value: Any) -> Evidence:
    """The evidence of one value."""
    return Evidence.from_bytes(json.dumps(value).encode())


def test_messages_are_turns_by_the_clock() -> None:
    """Speech is timed by its metrics, else by when the message was made; a prompt is not said."""
    model = Evidence.load(sample("livekit/report.json")).model
    second = 1_000_000_000
    assert [(t.id, t.role_raw, t.start_ns, t.end_ns, t.said) for t in model.turns or ()] == [
        ("item_2", "system", START, None, False),
        ("item_3", "assistant", START + second, START + second * 5 // 2, True),
        ("item_4", "user", START + second * 17 // 4, None, True),
        ("item_8", "assistant", START + second * 7, None, True),
    ]
    assert {t.clock for t in model.turns or ()} == {"epoch"}
    assert model.conversation_id == "AJ_boat"


def test_audio_has_the_words_of_its_transcript_and_may_be_cut_off() -> None:
    """The text of an interrupted message is what was spoken of it."""
    turn = (Evidence.load(sample("livekit/report.json")).model.turns or ())[-1]
    assert (turn.text, turn.interrupted) == ("One moment", True)


def test_a_call_is_joined_to_its_output() -> None:
    """By the id of the call, not of the item; a failure is flagged."""
    (call,) = Evidence.load(sample("livekit/report.json")).model.calls or ()
    assert (call.id, call.name, call.args, call.status) == ("fc_1", "sell_ticket", {"count": 1}, "error")
    assert call.result == "the till is closed"
    assert (call.end_ns or 0) - (call.start_ns or 0) == 750_000_000


def test_the_first_agent_of_a_session_is_no_handoff(judge: Judge) -> None:
    """Nobody handed the session to it; the second one was handed it."""
    evidence = Evidence.load(sample("livekit/report.json"))
    assert [(s.type, s.fields) for s in evidence.model.spans or ()] == [
        ("agent_started", {"to": "greeter"}),
        ("handoff", {"from": "greeter", "to": "cashier"}),
        ("call_ended", {"reason": "participant_disconnected"}),
    ]
    assert judge({"kind": "handoff", "to": "cashier"}, evidence)["status"] == "PASS"
    assert judge({"kind": "handoff", "to": "greeter"}, evidence)["status"] == "FAIL"
    assert judge({"kind": "termination", "reason": "participant_disconnected"}, evidence)["status"] == "PASS"


@pytest.mark.parametrize("wrap", ["history", "items", None])
def test_a_history_is_read_however_it_was_saved(wrap: str | None) -> None:
    """As `session.history`, as its dictionary, or as its list alone."""
    items = REPORT["chat_history"]["items"]
    value = items if wrap is None else {"items": items} if wrap == "items" else {"history": {"items": items}}
    model = read(value).model
    assert model.sources[0].format == "livekit"
    assert (len(model.turns or ()), len(model.calls or ())) == (4, 1)


def test_items_of_the_responses_api_are_not_taken_for_a_history() -> None:
    """They have the same types, and none of LiveKit's keys."""
    items = [
        {"type": "message", "role": "user", "content": "hi"},
        {"type": "function_call", "call_id": "a", "name": "x", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "y"},
    ]
    assert read(items).model.sources[0].format == "openai_responses"


def test_parallel_lists_are_joined_by_id_and_null_is_no_output() -> None:
    """Tricky input 9 of section 7: never by position, and null is no success."""
    model = Evidence.load(sample("livekit/tools_executed.json")).model
    assert [(c.id, c.name, c.status, c.result) for c in model.calls or ()] == [
        ("a", "open_gate", "unanswered", UNSET),
        ("b", "ring_bell", "ok", "rung"),
    ]
    assert (model.sources[0].records, model.sources[0].records_read) == (4, 3)
    assert [note.detail for note in model.notes] == ["a null in `function_call_outputs` is not read"]


def test_one_step_never_proves_an_absence(judge: Judge) -> None:
    """An event shows the tools of one step, and no words."""
    evidence = Evidence.load(sample("livekit/tools_executed.json"))
    assert judge({"kind": "tool_call", "name": "ring_bell"}, evidence)["status"] == "PASS"
    result = judge({"kind": "tool_call", "name": "pay", "absent": True}, evidence)
    assert result["status"] == "INCONCLUSIVE"
    assert result["evidence_gap"]["channel"] == "executions"
    assert "session" in result["evidence_gap"]["how"]
    assert evidence.model.turns is None
    assert judge({"kind": "phrase", "regex": "x", "absent": True}, evidence)["status"] == "INCONCLUSIVE"


def test_keys_that_are_pressed_are_not_recorded(judge: Judge) -> None:
    """So whether one was pressed is open."""
    evidence = Evidence.load(sample("livekit/report.json"))
    assert judge({"kind": "dtmf", "digits": "1", "absent": True}, evidence)["status"] == "INCONCLUSIVE"


@pytest.mark.parametrize(
    "value",
    [
        {"items": []},
        {"items": [{"type": "call"}]},
        {"function_calls": 5, "function_call_outputs": []},
        [{"type": 7}],
    ],
)
def test_what_is_no_session_is_not_taken_for_one(value: Any) -> None:
    """Detection asks for items of the known types."""
    with pytest.raises(EvidenceError):
        read(value)


def test_no_value_breaks_the_reader() -> None:
    """Whatever stands in place of a part of a sample, it is read or refused."""
    for value in (
        REPORT,
        STEP,
        {"framework": "livekit_agents", "events": REPORT["chat_history"]["items"][3:8]},
    ):
        for mutant in mutants(value):
            survives(mutant)


RUN = "livekit/assay__livekit-runresult-evidence__fixtures__"
TOOLS = "livekit/assay__livekit-tool-action-evidence__fixtures__"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # $.events: [0] message, [1] call and [2] its output, [3] handoff; no result text anywhere
        (f"{RUN}valid", {"turns": 1, "calls": 1, "results": 0, "errors": 0, "notes": 0}),
        # $.events: [0] message, [1] call, [2] output with status timeout, which is no error of the tool
        (f"{RUN}failure", {"turns": 1, "calls": 1, "results": 0, "errors": 0, "notes": 0}),
        # $.events: [0] message, whose content is two texts
        (f"{RUN}malformed", {"turns": 1, "calls": 0, "results": 0, "errors": 0, "notes": 0}),
        # one call and its output, $.function_call_outputs[0].is_error is false
        (f"{TOOLS}valid", {"turns": 0, "calls": 1, "results": 1, "errors": 0, "notes": 0}),
        # one call and its output, is_error is true
        (f"{TOOLS}failure", {"turns": 0, "calls": 1, "results": 1, "errors": 1, "notes": 0}),
        # one call, $.function_call_outputs[0] is null
        (f"{TOOLS}missing-output", {"turns": 0, "calls": 1, "results": 0, "errors": 0, "notes": 1}),
        # ids differ, so an answer to nothing; arguments_ref and output_ref in place of the payloads
        (f"{TOOLS}malformed", {"turns": 0, "calls": 2, "results": 0, "errors": 0, "notes": 3}),
    ],
)
def test_the_real_files(name: str, expected: dict[str, int]) -> None:
    """Counts by hand, from the files."""
    assert counts(Evidence.load(real(f"{name}.livekit.json"))) == expected


def test_the_real_run_results() -> None:
    """`$.events[2].status` is how the call went; $.events[3].new_agent is whom it was handed to."""
    (late,) = Evidence.load(real(f"{RUN}failure.livekit.json")).model.calls or ()
    assert (late.status, late.args_state, late.result_state) == ("timeout", "absent", "absent")
    valid = Evidence.load(real(f"{RUN}valid.livekit.json")).model
    assert [(s.type, s.fields) for s in valid.spans or ()] == [("handoff", {"to": "billing_specialist"})]


SPOKEN = {
    "id": "1",
    "type": "message",
    "role": "user",
    "content": ["hi"],
    "created_at": 1.7e9,
    "interrupted": False,
}


def test_an_item_of_an_unknown_type_may_be_a_call(judge: Judge) -> None:
    """A history with one is known by the keys that only LiveKit has."""
    absent = {"kind": "tool_call", "name": "pay", "absent": True}
    assert judge(absent, read({"items": [SPOKEN]}))["status"] == "PASS"
    assert (
        judge(absent, read({"items": [SPOKEN, {"type": "robot_call", "name": "pay"}]}))["status"]
        == "INCONCLUSIVE"
    )
    config = {"type": "agent_config_update", "id": "2", "created_at": 1.7e9}
    assert judge(absent, read({"items": [SPOKEN, config]}))["status"] == "PASS"


def test_a_run_result_lacks_what_the_user_said(judge: Judge) -> None:
    """So that nobody said something can't be told from it; that somebody did can."""
    said = {"type": "message", "role": "assistant", "content": "Your table is booked."}
    evidence = read({"framework": "livekit_agents", "events": [said]})
    assert judge({"kind": "phrase", "regex": "refund", "absent": True}, evidence)["status"] == "INCONCLUSIVE"
    assert judge({"kind": "phrase", "regex": "booked", "role": "agent"}, evidence)["status"] == "PASS"


def test_an_output_without_a_flag_says_not_how_the_call_went(judge: Judge) -> None:
    """`is_error` says so, or what the tool answered."""
    none = {"kind": "tool_error", "name": "pay", "absent": True}
    call = {"type": "function_call", "call_id": "c", "name": "pay", "arguments": "{}", "created_at": 1.7e9}
    for flag, output, status in (
        ({}, "done", "INCONCLUSIVE"),
        ({"is_error": False}, "done", "PASS"),
        ({"is_error": False}, '{"error": "no money"}', "FAIL"),
    ):
        answer = {"type": "function_call_output", "call_id": "c", "output": output, **flag}
        assert judge(none, read({"items": [SPOKEN, call, answer]}))["status"] == status


def test_what_stands_in_every_item_is_no_note() -> None:
    """An empty `extra`, and whether a reply is required."""
    call = {"type": "function_call", "call_id": "c", "name": "pay", "arguments": "{}", "created_at": 1.7e9}
    items = [{**SPOKEN, "extra": {}}, {**call, "extra": {}, "reply_required": True}]
    assert [note.code for note in read({"items": items}).model.notes] == []


def test_speech_without_a_transcript_may_be_any_words(judge: Judge) -> None:
    """Realtime models are given audio, and nobody need write it down."""
    heard = {**SPOKEN, "content": [{"type": "audio_content"}]}
    evidence = read({"items": [SPOKEN, heard]})
    assert judge({"kind": "phrase", "regex": "refund", "absent": True}, evidence)["status"] == "INCONCLUSIVE"
