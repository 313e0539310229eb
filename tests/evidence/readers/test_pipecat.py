from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import UNSET
from mutants import mutants, survives

from averment.evidence import Evidence
from samples import sample

Judge = Callable[..., Any]

TRANSCRIPT = json.loads(sample("pipecat/transcript.json").read_text())
CONTEXT = json.loads(sample("pipecat/context.json").read_text())


def read(value: Any, **options: Any) -> Evidence:
    """The evidence of one value."""
    (evidence,) = Evidence.all_from_bytes(json.dumps(value).encode(), **options)
    return evidence


def test_a_transcript_is_timed_by_the_clock() -> None:
    """The timestamp is when the turn began."""
    model = Evidence.load(sample("pipecat/transcript.json")).model
    assert model.sources[0].format == "pipecat"
    assert [(t.role_raw, t.start_ns, t.end_ns, t.clock, t.speaker) for t in model.turns or ()] == [
        ("assistant", 1_767_261_601_250_000_000, None, "epoch", None),
        ("user", 1_767_261_604_000_000_000, None, "epoch", "guest-1"),
        ("assistant", 1_767_261_606_500_000_000, None, "epoch", None),
    ]
    assert (model.sources[0].records, model.sources[0].records_read) == (3, 3)


def test_a_transcript_shows_no_tools(judge: Judge) -> None:
    """So that none was called is open."""
    evidence = Evidence.load(sample("pipecat/transcript.json"))
    assert evidence.model.calls is None
    result = judge({"kind": "tool_call", "name": "pay", "absent": True}, evidence)
    assert result["status"] == "INCONCLUSIVE"
    assert result["evidence_gap"]["channel"] == "executions"
    assert "get_messages" in result["evidence_gap"]["how"]


def test_a_state_of_a_function_is_no_result() -> None:
    """One is running, one ended without a result, one was cancelled."""
    model = Evidence.load(sample("pipecat/context.json")).model
    assert [(c.id, c.status, c.result) for c in model.calls or ()] == [
        ("f1", "executed", {"time": "21:00"}),
        ("f2", "unanswered", UNSET),
        ("f3", "executed", UNSET),
        ("f4", "cancelled", UNSET),
    ]
    assert "still_running" in [note.code for note in model.notes]


def test_a_providers_own_message_leaves_an_absence_open(judge: Judge) -> None:
    """It is not read, and may hold what is looked for."""
    evidence = Evidence.load(sample("pipecat/context.json"))
    assert judge({"kind": "phrase", "regex": "nine", "role": "assistant"}, evidence)["status"] == "PASS"
    assert judge({"kind": "phrase", "regex": "ten", "absent": True}, evidence)["status"] == "INCONCLUSIVE"
    source = evidence.model.sources[0]
    assert (source.records, source.records_read) == (9, 8)


def test_the_prompt_is_not_said() -> None:
    """Nor is what a developer writes."""
    turns = Evidence.load(sample("pipecat/context.json")).model.turns or ()
    assert [(t.role_raw, t.said) for t in turns] == [("system", False), ("user", True), ("assistant", True)]


def test_a_context_alone_is_asked_for_by_name() -> None:
    """Without marks of its own it is recognised as OpenAI's, whose reader knows no states of functions."""
    messages = [each for each in CONTEXT["messages"] if "llm" not in each]
    assert read({"messages": messages}).model.sources[0].format == "openai_chat"
    asked = read({"messages": messages}, from_format="pipecat").model
    assert [c.status for c in asked.calls or ()] == ["executed", "unanswered", "executed", "cancelled"]


@pytest.mark.parametrize(
    "turn",
    [
        {"role": "user", "content": "hi"},
        {"role": "user", "content": "hi", "timestamp": 5},
        {"role": "user", "content": "hi", "timestamp": "noon"},
        {"role": "user", "content": "hi", "timestamp": "2026-01-01T10:00:00Z", "start": 1},
        {"role": "user", "text": "hi", "timestamp": "2026-01-01T10:00:00Z"},
    ],
)
def test_other_transcripts_are_not_taken_for_pipecats(turn: dict[str, Any]) -> None:
    """Every item has role, content and a date and time, and nothing else but a user's id."""
    assert read([turn]).model.sources[0].format != "pipecat"


def test_no_value_breaks_the_reader() -> None:
    """Whatever stands in place of a part of a sample, it is read or refused."""
    for value in (TRANSCRIPT, CONTEXT, {"context": {"messages": CONTEXT["messages"][2:4]}}):
        for mutant in mutants(value):
            survives(mutant)


def test_a_context_tells_failures_by_what_functions_answer(judge: Judge) -> None:
    """A context flags none; `ok` in an answer says that it went well, and other words say nothing of it."""
    none = {"kind": "tool_error", "name": "pay", "absent": True}
    call = {"id": "c", "type": "function", "function": {"name": "pay", "arguments": "{}"}}
    for content, status in (("done", "INCONCLUSIVE"), ('{"ok": true}', "PASS"), ('{"error": "no"}', "FAIL")):
        messages = [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c", "content": content},
        ]
        evidence = read({"messages": messages}, from_format="pipecat")
        assert judge(none, evidence)["status"] == status
