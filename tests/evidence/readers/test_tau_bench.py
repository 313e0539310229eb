from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import UNSET
from mutants import mutants, survives

from averment.errors import EvidenceError
from averment.evidence import Evidence
from samples import all_counts, real, sample

Judge = Callable[..., Any]


def read(*messages: Any, **record: Any) -> Evidence:
    """The evidence of one trajectory of these messages."""
    return Evidence.from_bytes(json.dumps({"traj": messages, "reward": 1, **record}).encode())


def test_every_trajectory_is_a_conversation() -> None:
    """A results file is a list of trajectories; trials of one task have ids of their own."""
    found = Evidence.load_all(sample("tau_bench/results.json"))
    assert [each.model.conversation_id for each in found] == ["task_3_trial_0", "task_3_trial_1"]
    assert found[0].model.metadata is not None
    assert found[0].model.metadata["reward"] == 1.0
    assert found[0].model.sources[0].why == "in its first item it has `traj` and `reward`"


def test_utterances_are_turns_and_the_rest_is_not_said() -> None:
    """A message of calls alone makes no turn; the policy and the simulator's stop word are not said."""
    turns = Evidence.load_all(sample("tau_bench/results.json"))[0].model.turns or ()
    assert [(turn.role_raw, turn.role, turn.said) for turn in turns] == [
        ("system", "system", False),
        ("user", "user", True),
        ("assistant", "agent", True),
        ("assistant", "agent", True),
        ("user", "user", False),
    ]
    assert turns[2].loc == "src_0#$[0].traj[4]"


def test_a_stop_word_behind_speech_leaves_it_said() -> None:
    """What the user said before the word is speech, and kept as written."""
    turns = Evidence.load_all(sample("tau_bench/results.json"))[1].model.turns or ()
    assert (turns[-1].text, turns[-1].said) == ("Thanks! ###STOP###", True)


def test_calls_have_their_answers() -> None:
    """Arguments and results are read as JSON where they are; the call's id is the source's."""
    calls = Evidence.load_all(sample("tau_bench/results.json"))[0].model.calls or ()
    assert [(call.id, call.name, call.args, call.status) for call in calls] == [
        ("call_a", "find_booking", {"guest": "Ana Ruiz"}, "ok"),
        ("call_b", "cancel_table", {"table": "T9"}, "error"),
        ("call_c", "cancel_table", {"table": "T4"}, "ok"),
    ]
    assert calls[0].result == {"table": "T4", "seats": 2}
    assert calls[1].error == "Error: there is no such table"
    assert calls[2].error is UNSET


def test_an_unknown_action_is_an_error() -> None:
    """The environment's other word for a call that went wrong."""
    call = {"id": "x", "function": {"name": "fly", "arguments": "{}"}}
    answer = {"role": "tool", "tool_call_id": "x", "name": "fly", "content": "Unknown action fly"}
    (found,) = read({"role": "assistant", "tool_calls": [call]}, answer).model.calls or ()
    assert (found.status, found.error) == ("error", "Unknown action fly")


def test_every_message_is_accounted_for() -> None:
    """Records are messages; one that is no object is noted and not read."""
    model = read({"role": "user", "content": "hello"}, 7).model
    assert (model.sources[0].records, model.sources[0].records_read) == (2, 1)
    assert [note.code for note in model.notes] == ["message_not_object"]


def test_a_call_behind_a_text_comes_after_it() -> None:
    """Turns and calls have one order, so that `within` and `sequence` can tell which came first."""
    model = Evidence.load_all(sample("tau_bench/results.json"))[0].model
    turns, calls = model.turns or (), model.calls or ()
    assert turns[2].seq is not None
    assert calls[1].seq == turns[2].seq + 1


def test_agents_that_write_calls_as_text_show_none(judge: Judge) -> None:
    """A `react` agent is answered in user messages: those are no speech, and its calls are unknown."""
    evidence = read(
        {"role": "user", "content": "Cancel my table."},
        {"role": "assistant", "content": 'Action:\n{"name": "cancel_table", "arguments": {}}'},
        {"role": "user", "content": "API output: done"},
    )
    assert [turn.said for turn in evidence.model.turns or ()] == [True, True, False]
    result = judge({"kind": "tool_call", "name": "cancel_table", "absent": True}, evidence)
    assert result["status"] == "INCONCLUSIVE"
    assert result["evidence_gap"]["channel"] == "executions"
    assert "--agent-strategy tool-calling" in result["evidence_gap"]["how"]


def test_a_few_shot_line_has_turns_and_answers() -> None:
    """The text of one conversation: utterances may have several lines, and `None` is no utterance."""
    found = Evidence.load_all(sample("tau_bench/few_shot.jsonl"))
    assert [len(each.model.turns or ()) for each in found] == [3, 2]
    turns, calls = found[0].model.turns or (), found[0].model.calls or ()
    assert turns[0].text == "Please cancel my table.\nI booked it yesterday."
    assert [(call.name, call.args_state, call.status) for call in calls] == [(None, "absent", "error")]
    assert found[0].model.coverage.requests.state == "absent"
    assert (found[0].model.sources[0].records, found[0].model.sources[0].records_read) == (5, 5)


def test_a_few_shot_line_never_proves_that_a_tool_was_not_called(judge: Judge) -> None:
    """Which tools were called is not in it, so their absence is open."""
    evidence = Evidence.load_all(sample("tau_bench/few_shot.jsonl"))[0]
    result = judge({"kind": "tool_call", "name": "cancel_table", "absent": True}, evidence)
    assert result["status"] == "INCONCLUSIVE"
    assert "has `traj`" in result["evidence_gap"]["how"]


@pytest.mark.parametrize("value", [None, 5, "x", [], {}, {"traj": 1, "reward": 1}, {"traj": []}])
def test_other_values_are_not_taken_for_trajectories(value: Any) -> None:
    """Detection asks for a list `traj` and a reward."""
    with pytest.raises(EvidenceError):
        Evidence.all_from_bytes(json.dumps(value).encode())


def test_no_value_breaks_the_reader() -> None:
    """Whatever stands in place of a part of the sample, it is read or refused."""
    for mutant in mutants(json.loads(sample("tau_bench/results.json").read_text())[0]):
        survives(mutant)
    for mutant in mutants({"messages_display": "user: a\ntool: b"}):
        survives(mutant)


def test_the_airline_results() -> None:
    """Counts by hand: 40 items; jq over `$[i].traj[]`, by role, and `tool_calls`."""
    found = all_counts(real("tau-bench/gpt-4o-airline.first40.json"))
    assert len(found) == 40  # `length`
    assert sum(each["turns"] for each in found) == 734  # 40 system, 357 user, 337 assistant with a text
    assert sum(each["calls"] for each in found) == 254  # `tool_calls[]`, one per message
    assert sum(each["results"] for each in found) == 254  # role `tool`
    assert sum(each["errors"] for each in found) == 17  # role `tool` whose content begins with `Error: `
    assert sum(each["notes"] for each in found) == 0


def test_the_first_airline_trajectory() -> None:
    """Counts by hand over the 32 messages of `$[0].traj`."""
    assert all_counts(real("tau-bench/gpt-4o-airline.first40.json"))[0] == {
        "turns": 16,  # [0] to [5], [10], [11], [14], [15], [18], [19], [26], [27], [30], [31]
        "calls": 8,  # [6], [8], [12], [16], [20], [22], [24], [28]
        "results": 8,  # the message behind each
        "errors": 1,  # [21]
        "notes": 0,
    }


def test_the_few_shot_lines() -> None:
    """Counts by hand: lines of the texts that begin with a role."""
    found = all_counts(real("tau-bench/tau-bench__few_shot_data__MockAirlineDomainEnv-few_shot.jsonl"))
    assert len(found) == 19  # lines of the file
    assert (
        sum(each["turns"] for each in found) == 260
    )  # 136 `user: `, 222 `assistant: ` less 98 `assistant: None`
    assert sum(each["calls"] for each in found) == 105  # `tool: `
    assert sum(each["errors"] for each in found) == 5  # `tool: Error`
