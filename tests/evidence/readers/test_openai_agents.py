from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from mutants import mutants, survives

from averment.evidence import Evidence
from averment.evidence.readers import openai_agents
from samples import counts, real, sample

Judge = Callable[..., Any]

STATE = json.loads(sample("openai_agents/desk.json").read_text())


def read(value: Any) -> Evidence:
    """The evidence of one value."""
    return Evidence.from_bytes(json.dumps(value).encode())


def test_a_run_state_is_turns_calls_and_handoffs(judge: Judge) -> None:
    """What went in, what the agents did; the model's responses tell the same again."""
    evidence = Evidence.load(sample("openai_agents/desk.json"))
    model = evidence.model
    assert [(t.role_raw, t.text, t.speaker) for t in model.turns or ()] == [
        ("user", "I want my money back.", None),
        ("assistant", "I may not refund that.", "desk"),
    ]
    assert [(c.id, c.name, c.args, c.status) for c in model.calls or ()] == [
        ("call_1", "transfer_to_desk", {"why": "money"}, "executed"),
        ("call_2", "refund", {"amount": 900}, "denied"),
    ]
    assert [(s.type, s.fields) for s in model.spans or ()] == [("handoff", {"from": "front", "to": "desk"})]
    assert judge({"kind": "handoff", "to": "desk"}, evidence)["status"] == "PASS"
    assert judge({"kind": "tool_call", "name": "refund", "absent": True}, evidence)["status"] == "PASS"
    assert (model.sources[0].records, model.sources[0].records_read) == (6, 6)


def test_a_run_state_can_not_flag_failures(judge: Judge) -> None:
    """Only what the tools answered is in it."""
    evidence = Evidence.load(sample("openai_agents/desk.json"))
    result = judge({"kind": "tool_error", "name": "transfer_to_desk", "absent": True}, evidence)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "errors")


def test_a_history_on_the_server_is_a_gap(judge: Judge) -> None:
    """`previous_response_id` refers to it."""
    evidence = read({**STATE, "previous_response_id": "resp_1"})
    result = judge({"kind": "phrase", "regex": "goodbye"}, evidence)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "transcript")


def test_the_other_sdk_has_words_of_its_own() -> None:
    """JavaScript writes camel case, and results as objects."""
    state = {
        "$schemaVersion": "1.1",
        "originalInput": [{"type": "message", "role": "user", "content": "hi"}],
        "context": {"approvals": {"burn": {"approved": False, "rejected": True}}},
        "generatedItems": [
            {
                "type": "tool_call_item",
                "rawItem": {"type": "function_call", "callId": "x", "name": "find", "arguments": "{}"},
            },
            {
                "type": "tool_call_item",
                "rawItem": {"type": "function_call", "callId": "y", "name": "burn", "arguments": "{}"},
            },
            {
                "type": "tool_call_output_item",
                "rawItem": {
                    "type": "function_call_result",
                    "callId": "x",
                    "name": "find",
                    "output": {"type": "text", "text": "found"},
                },
            },
        ],
        "modelResponses": [],
    }
    calls = read({**state, "generatedItems": state["generatedItems"]}).model.calls or ()
    assert [(c.name, c.status) for c in calls] == [("find", "executed"), ("burn", "denied")]
    assert calls[0].result == "found"


def test_session_items_count_where_a_handoff_filtered_the_others() -> None:
    """The longer list is the whole one; without items the model's responses are read."""
    whole = {**STATE, "session_items": STATE["generated_items"], "generated_items": []}
    assert len(read(whole).model.calls or ()) == 2
    bare = read({**STATE, "generated_items": []}).model
    assert [call.name for call in bare.calls or ()] == ["transfer_to_desk"]


@pytest.mark.parametrize("value", [{"generated_items": []}, {"originalInput": "x"}, [], None, {}])
def test_what_others_write_does_not_fit(value: Any) -> None:
    """An input and items are needed."""
    assert openai_agents.fits(value) is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # $.original_input is one text; $.generated_items[0] and [1] are calls, [2] is the output of [0]
        ("v1_13_programmatic_tool_calling", {"turns": 1, "calls": 2, "results": 1, "errors": 0, "notes": 0}),
        # $.original_input[0] is $.session_items[0] once more, as $.nested_history_owned_session_item_refs[0] says
        ("v1_13_nested_history_ownership", {"turns": 1, "calls": 0, "results": 0, "errors": 0, "notes": 1}),
        # $.generated_items[0] is a call that [1] answers, [2] one that nothing answers
        (
            "v1_5_tool_search_and_display_metadata",
            {"turns": 1, "calls": 2, "results": 1, "errors": 0, "notes": 0},
        ),
    ],
)
def test_real_files(name: str, expected: dict[str, int]) -> None:
    """What stands in them, counted by hand."""
    path = real(f"openai-agents-sdk/openai-agents-python__run_state__features__{name}.json")
    assert counts(Evidence.load(path)) == expected


def test_hostile_values_are_read_or_refused() -> None:
    """Whatever stands in the place of a value, nothing but a refusal is raised."""
    for mutant in mutants(STATE):
        survives(mutant)
