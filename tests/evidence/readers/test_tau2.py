from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from mutants import mutants, survives

from averment.errors import EvidenceError
from averment.evidence import Evidence
from averment.evidence.model import EvidenceModel
from samples import all_counts, real, sample

Judge = Callable[..., Any]
SECOND = 1_000_000_000
TEN = 1_772_359_200 * SECOND  # 2026-03-01T10:00:00Z


def results() -> list[EvidenceModel]:
    """The simulations of the sample."""
    return [each.model for each in Evidence.load_all(sample("tau2/results.json"))]


def voice(**changes: Any) -> Evidence:
    """The evidence of the voice run, changed."""
    run = json.loads(sample("tau2/voice.json").read_text())
    return Evidence.from_bytes(json.dumps(run | changes).encode())


def tick(agent: Any = None, user: Any = None, **fields: Any) -> dict[str, Any]:
    """A tick in which these texts are spoken."""
    chunks: dict[str, Any] = {}
    for side, role, text in (("agent", "assistant", agent), ("user", "user", user)):
        if text is not None:
            chunks[f"{side}_chunk"] = {"role": role, "content": text, "contains_speech": True}
    return {"tick_id": 0, "timestamp": "2026-03-01T10:00:00", **chunks, **fields}


def test_every_simulation_is_a_conversation() -> None:
    """Each has its own id; what the benchmark says of it, and of the run, is metadata."""
    first, second = results()
    assert (first.conversation_id, second.conversation_id) == ("sim-1", "sim-2")
    assert first.metadata is not None
    assert first.metadata["reward_info"]["reward"] == 1.0
    assert first.metadata["domain_name"] == "telecom"
    assert first.metadata["agent_info"]["llm"] == "some-model"
    assert first.states is None  # a matching database is no rows


def test_messages_are_turns_at_their_times() -> None:
    """Turns begin at the time of their message, on one clock; the simulator's word for the end is not said."""
    turns = results()[0].turns or ()
    assert [(turn.role, turn.said) for turn in turns] == [
        ("agent", True),
        ("user", True),
        ("agent", True),
        ("user", True),
        ("agent", True),
        ("user", False),
    ]
    assert (turns[0].start_ns, turns[0].end_ns, turns[0].clock) == (TEN + SECOND // 4, None, "epoch")
    assert turns[1].loc == "src_0#$.simulations[0].messages[1]"


def test_tricky_7_the_users_own_call_is_not_the_agents(judge: Judge) -> None:
    """A simulated user calls tools as well: such a call counts for nobody who asks for the agent's."""
    evidence = Evidence.load_all(sample("tau2/results.json"))[0]
    calls = evidence.model.calls or ()
    assert [(call.id, call.requestor) for call in calls] == [
        ("call_1", "agent"),
        ("call_2", "user"),
        ("call_3", "agent"),
    ]
    asked = {"kind": "tool_call", "name": "check_status_bar"}
    assert judge(asked, evidence)["status"] == "FAIL"
    assert judge({**asked, "requestor": "user"}, evidence)["status"] == "PASS"


def test_a_flag_says_that_a_call_failed() -> None:
    """`error: true` makes an error of the answer; `false` says that the call went well."""
    calls = results()[0].calls or ()
    assert [(call.status, call.error) for call in calls[:1]] == [("error", "Error: no such line")]
    assert calls[1].status == "ok"
    assert results()[0].coverage.errors.state == "present"


def test_without_flags_nobody_says_that_calls_went_well() -> None:
    """Results of an older version have no `error`; then a call was executed, and errors are partial."""
    simulation = json.loads(sample("tau2/results.json").read_text())["simulations"][0]
    for message in simulation["messages"]:
        message.pop("error", None)
    model = Evidence.from_bytes(json.dumps(simulation).encode()).model
    assert {call.status for call in model.calls or ()} == {"executed"}
    assert model.coverage.errors.state == "partial"


def test_several_answers_may_stand_in_one_message() -> None:
    """Each of them belongs to the call of its id, in whatever order."""
    calls = results()[1].calls or ()
    assert [(call.id, call.args, call.result) for call in calls] == [
        ("a", {"phone": "1"}, {"line": 1}),
        ("b", {"phone": "2"}, {"line": 2}),
    ]


def test_the_end_and_the_transfer_are_spans(judge: Judge) -> None:
    """Why the simulation ended is a `call_ended`; a transfer that went well is a handoff."""
    evidence, other = Evidence.load_all(sample("tau2/results.json"))
    assert [(span.type, span.fields) for span in evidence.model.spans or ()] == [
        ("handoff", {"name": "transfer_to_human_agents"}),
        ("call_ended", {"reason": "user_stop", "by": "user"}),
    ]
    assert judge({"kind": "termination", "by": "user"}, evidence)["status"] == "PASS"
    assert judge({"kind": "handoff"}, evidence)["status"] == "PASS"
    assert judge({"kind": "handoff"}, other)["status"] == "FAIL"
    assert judge({"kind": "termination", "reason": "max_steps"}, other)["status"] == "PASS"


def test_turns_and_calls_have_one_order(judge: Judge) -> None:
    """Message times order what was said and done, with the end behind both."""
    evidence = Evidence.load_all(sample("tau2/results.json"))[0]
    steps = [{"phrase": "hand you over"}, {"tool": "transfer_to_human_agents"}, {"span_type": "call_ended"}]
    assert judge({"kind": "sequence", "steps": steps}, evidence)["status"] == "PASS"
    assert judge({"kind": "sequence", "steps": steps[::-1]}, evidence)["status"] == "FAIL"


def test_the_order_needs_no_times(judge: Judge) -> None:
    """Where messages have no times, the order in which they stand is enough, for the end as well."""
    simulation = json.loads(sample("tau2/results.json").read_text())["simulations"][0]
    for message in simulation["messages"]:
        del message["timestamp"]
    evidence = Evidence.from_bytes(json.dumps(simulation).encode())
    steps = [{"phrase": "hand you over"}, {"span_type": "handoff"}, {"span_type": "call_ended"}]
    assert judge({"kind": "sequence", "steps": steps}, evidence)["status"] == "PASS"


def test_ticks_without_text_leave_the_transcript_absent(judge: Judge) -> None:
    """They say when somebody speaks: that is timing, and no empty transcript."""
    evidence = voice()
    model = evidence.model
    assert model.turns is None
    assert model.coverage.transcript.state == "absent"
    heard = {"start_tick": 4, "end_tick": 6, "gap_ticks": 2, "overlap_ticks": 1, "duration_ticks": 2}
    assert model.timing == [
        {"speaker": "user", "start_tick": 0, "end_tick": 2, "overlap_ticks": 0, "duration_ticks": 2},
        {"speaker": "agent", **heard},
        {"speaker": "user", "start_tick": 5, "end_tick": 7, "overlap_ticks": 1, "duration_ticks": 2},
    ]
    result = judge({"kind": "phrase", "regex": "refund"}, evidence)
    assert result["status"] == "INCONCLUSIVE"
    assert result["evidence_gap"]["channel"] == "transcript"
    assert "`content`" in result["evidence_gap"]["how"]
    asked = {"kind": "latency", "field": "gap_ticks", "where": {"speaker": "agent"}, "max": 2}
    assert judge(asked, evidence)["status"] == "PASS"


def test_ticks_without_tool_keys_say_nothing_of_tools(judge: Judge) -> None:
    """That no tool was called can't be told; how the run ended can."""
    evidence = voice()
    result = judge({"kind": "tool_call", "name": "refund", "absent": True}, evidence)
    assert result["status"] == "INCONCLUSIVE"
    assert "agent_tool_calls" in result["evidence_gap"]["how"]
    assert judge({"kind": "termination", "reason": "user_stop"}, evidence)["status"] == "PASS"


def test_the_length_of_a_tick_gives_milliseconds() -> None:
    """Whether the ticks say it, or the results file that holds them."""
    ticks = [
        tick(user="Hi", tick_duration_seconds=0.2),
        tick(tick_duration_seconds=0.2),
        tick(agent="Hello", tick_duration_seconds=0.2),
    ]
    model = voice(ticks=ticks).model
    assert isinstance(model.timing, list)
    assert model.timing[1]["gap_ms"] == 200
    assert [(turn.start_ns, turn.end_ns, turn.clock) for turn in model.turns or ()] == [
        (0, SECOND // 5, "call_relative"),
        (2 * SECOND // 5, 3 * SECOND // 5, "call_relative"),
    ]
    whole = {
        "simulations": [json.loads(sample("tau2/voice.json").read_text())],
        "tasks": [],
        "info": {"audio_native_config": {"tick_duration_seconds": 0.05}},
    }
    timing = Evidence.from_bytes(json.dumps(whole).encode()).model.timing
    assert isinstance(timing, list)
    assert timing[1]["gap_ms"] == 100


def test_chunks_with_text_are_turns() -> None:
    """Chunks in a row are one turn; another utterance is set off by a space."""
    first = {"role": "user", "content": "One", "contains_speech": True, "utterance_ids": ["u1"]}
    second = {**first, "content": "two", "utterance_ids": ["u2"]}
    ticks = [tick(agent="Hel"), tick(agent="lo."), tick(user_chunk=first), tick(user_chunk=second), tick()]
    model = voice(ticks=ticks).model
    assert [(turn.role_raw, turn.role, turn.text) for turn in model.turns or ()] == [
        ("assistant", "agent", "Hello."),
        ("user", "user", "One two"),
    ]


def test_calls_of_ticks_are_read() -> None:
    """Both sides' calls, each with its answer in a later tick."""
    ticks = [
        tick(agent_tool_calls=[{"id": "1", "name": "pay", "arguments": {"eur": 5}}]),
        tick(agent_tool_results=[{"id": "1", "content": "no money", "error": True}]),
        tick(user_tool_calls=[{"id": "2", "name": "look", "arguments": {"at": "bar"}}]),
        tick(user_tool_results=[{"id": "2", "content": "ok", "error": False}]),
    ]
    model = voice(ticks=ticks).model
    assert [(call.name, call.requestor, call.status) for call in model.calls or ()] == [
        ("pay", "agent", "error"),
        ("look", "user", "ok"),
    ]
    assert model.coverage.executions.state == "present"


def test_audio_messages_are_read_from_their_script() -> None:
    """The content of an audio message is audio in base64, and no words."""
    message = {"role": "user", "content": "UklGRg==", "is_audio": True, "audio_script_gold": "Good day."}
    run = {"id": "x", "termination_reason": "user_stop", "messages": [message]}
    model = Evidence.from_bytes(json.dumps(run).encode()).model
    assert [turn.text for turn in model.turns or ()] == ["Good day."]


def test_every_record_is_accounted_for() -> None:
    """Records are messages or ticks."""
    source = results()[0].sources[0]
    assert (source.records, source.records_read) == (11, 11)
    source = voice(ticks=[tick(), 5]).model.sources[0]
    assert (source.records, source.records_read) == (2, 1)


def test_results_without_simulations_are_refused() -> None:
    """A voice run stores them in files of their own; the message says where."""
    value = {"tasks": [], "info": {"environment_info": {"domain_name": "retail"}}}
    with pytest.raises(EvidenceError) as error:
        Evidence.all_from_bytes(json.dumps(value).encode())
    assert error.value.problems[0].code == "no_conversation"
    assert "simulations/<id>.json" in (error.value.problems[0].mend or "")


def test_no_value_breaks_the_reader() -> None:
    """Whatever stands in place of a part of a sample, it is read or refused."""
    whole = json.loads(sample("tau2/results.json").read_text())
    for mutant in mutants(whole):
        survives(mutant)
    for mutant in mutants(json.loads(sample("tau2/voice.json").read_text())):
        survives(mutant)
    calls = [{"id": "1", "name": "pay", "arguments": {"eur": 5}}]
    texts = {"content": "Hi", "utterance_ids": ["a"], "contains_speech": True, "role": "user"}
    ticks = [tick(user_chunk=texts, agent_tool_calls=calls, agent_tool_results=[{"id": "1", "content": "x"}])]
    for mutant in mutants({"id": "x", "termination_reason": "user_stop", "ticks": ticks}):
        survives(mutant)


def test_the_retail_results() -> None:
    """Counts by hand over `$.simulations[].messages[]` of the five simulations, with jq."""
    found = all_counts(real("tau2-bench/tau2-bench-w__results__whissle__hd_retail_n5.json"))
    assert len(found) == 5
    assert (
        sum(each["turns"] for each in found) == 62
    )  # 31 user; 54 assistant, of which 23 have calls and no text
    assert sum(each["calls"] for each in found) == 23  # `tool_calls[]`
    assert sum(each["results"] for each in found) == 23  # role `tool`
    assert sum(each["errors"] for each in found) == 5  # role `tool` with `error: true`


def test_the_airline_results() -> None:
    """Counts by hand over `$.simulations[].messages[]` of the twenty simulations."""
    found = all_counts(real("tau2-bench/whissle_airline_run1.first20.json"))
    assert len(found) == 20
    assert sum(each["turns"] for each in found) == 216  # 108 user; 216 assistant, of which 108 have no text
    assert sum(each["calls"] for each in found) == 110  # `tool_calls[]`: two messages have two
    assert sum(each["errors"] for each in found) == 1  # `error: true`


def test_the_mock_results() -> None:
    """Counts by hand: seven messages, of which `[2]` and `[4]` have calls and no text."""
    name = "tau2-bench/activegraph-tau2-bench__20260531-170618-525260__tau2_output__results.json"
    (found,) = all_counts(real(name))
    assert (found["turns"], found["calls"], found["results"], found["errors"]) == (3, 2, 2, 0)


def test_the_voice_run() -> None:
    """973 ticks; runs of `contains_speech: true` counted by hand are 15 of the agent and 11 of the user."""
    name = "tau2-bench/tau2-bench__experiment__simulations__49b22f0c-4a56-41c5-922f-bc2a56e53a23.json"
    (evidence,) = Evidence.load_all(real(name))
    timing = evidence.model.timing
    assert isinstance(timing, list)
    assert [event["speaker"] for event in timing].count("agent") == 15
    assert len(timing) == 26
    assert timing[0]["start_tick"] == 26  # `$.ticks[26].user_chunk.contains_speech` is the first that is true
    assert evidence.model.turns is None
    assert evidence.model.sources[0].records == 973


def test_audio_without_its_script_may_have_said_anything() -> None:
    """What a user said in audio is read from the script that it was spoken from."""
    spoken = {"role": "user", "is_audio": True, "content": "AA==", "timestamp": "2026-03-01T10:00:00"}
    for script, state in (("Hello.", "present"), (None, "partial")):
        run = {
            "id": "s",
            "termination_reason": "user_stop",
            "messages": [{**spoken, "audio_script_gold": script}],
        }
        evidence = Evidence.from_bytes(json.dumps(run).encode())
        assert evidence.model.coverage.transcript.state == state
