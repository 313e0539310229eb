from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from mutants import mutants, survives

from averment.evidence import Evidence
from averment.evidence.readers import claude_code
from samples import all_counts, real, sample

Judge = Callable[..., Any]

LINES = [json.loads(line) for line in sample("claude_code/edge.jsonl").read_text().splitlines()]


def read(*records: Any) -> Evidence:
    """The evidence of some records."""
    return Evidence.from_bytes(json.dumps(records).encode())


def record(kind: str, content: Any, **keys: Any) -> dict[str, Any]:
    """One record of a session."""
    message = {"role": kind, "content": content}
    return {"type": kind, "message": message, "sessionId": "s", "timestamp": "2026-03-01T09:00:00Z", **keys}


def test_sessions_are_conversations() -> None:
    """A record that names no session belongs to the one that it is about, or that it stands in."""
    first, second = Evidence.load_all(sample("claude_code/edge.jsonl"))
    assert (first.model.conversation_id, second.model.conversation_id) == ("s-1", "s-2")
    assert (first.model.metadata or {})["summary"] == "A talk about prices"
    assert (first.model.metadata or {})["model"] == "claude-test"
    assert [turn.text for turn in second.model.turns or ()] == ["Another day."]
    source = first.model.sources[0]
    assert (source.records, source.records_read) == (13, 11)


def test_tricky_input_10_keeps_what_is_sound(judge: Judge) -> None:
    """A bad line and a misspelt key are notes; what a client puts under the user's role is no user's speech."""
    evidence = Evidence.load_all(sample("claude_code/edge.jsonl"))[0]
    model = evidence.model
    assert [(t.role_raw, t.said) for t in model.turns or ()] == [
        ("user", True),
        ("assistant", True),
        ("local-command", False),
        ("meta", False),
        ("sidechain", False),
        ("assistant", True),
    ]
    assert [(c.id, c.name, c.status) for c in model.calls or ()] == [
        ("tool_edge_001", "Read", "error"),
        ("tool_edge_002", "Grep", "executed"),
    ]
    grep = (model.calls or ())[1]
    assert (grep.result, grep.latency_ms) == ({"lines": ["bell: 12"], "durationMs": 40}, 40)
    assert [(note.code, note.loc) for note in model.notes] == [
        ("record_unreadable", "src_0#line 3"),
        ("record_unreadable", "src_0#line 8"),
        ("result_beside", "src_0#line 8"),
        ("dropped_key", "src_0#line 12"),
    ]
    for role in ("user", "assistant"):
        result = judge({"kind": "phrase", "regex": "refund", "role": role}, evidence)
        assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "transcript")
    assert judge({"kind": "phrase", "regex": "costs 12"}, evidence)["status"] == "PASS"


def test_times_are_those_of_the_records() -> None:
    """Since 1970."""
    model = Evidence.load_all(sample("claude_code/edge.jsonl"))[1].model
    assert [(t.start_ns, t.clock) for t in model.turns or ()] == [(1772442000 * 10**9, "epoch")]


def test_a_sound_session_leaves_nothing_open(judge: Judge) -> None:
    """Results in the user's messages are no speech, and no call is none."""
    evidence = read(
        record("user", "Sort the list."),
        record("assistant", [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "sort"}}]),
        record("user", [{"type": "tool_result", "tool_use_id": "t", "content": "refund"}]),
        record("assistant", "Sorted."),
    )
    assert judge({"kind": "phrase", "regex": "refund", "absent": True}, evidence)["status"] == "PASS"
    assert judge({"kind": "tool_error", "name": "Bash", "absent": True}, evidence)["status"] == "PASS"
    assert judge({"kind": "tool_call", "name": "Write", "absent": True}, evidence)["status"] == "PASS"
    gap = judge({"kind": "handoff", "absent": True}, evidence)
    assert (gap["status"], gap["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "handoff")


def test_a_rejected_call_is_denied() -> None:
    """The user said no; nothing ran."""
    use = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "rm"}}
    block = {"type": "tool_result", "tool_use_id": "t", "is_error": True, "content": "The user said no."}
    (call,) = (
        read(
            record("assistant", [use]), record("user", [block], toolUseResult="User rejected tool use")
        ).model.calls
        or ()
    )
    assert (call.status, call.error) == ("denied", "The user said no.")


def test_a_record_that_stands_twice_counts_once() -> None:
    """As in sessions that were resumed."""
    twice = record("user", "Hello.", uuid="u")
    assert len(read(twice, twice).model.turns or ()) == 1


def test_streamed_json_is_read() -> None:
    """What `--output-format stream-json` writes: `session_id`, sub-agents by their parent's call, a result."""
    lines = [
        {"type": "system", "subtype": "init", "session_id": "z"},
        {**record("assistant", "inner", session_id="z", parent_tool_use_id="t")},
        {**record("assistant", "outer", session_id="z", parent_tool_use_id=None)},
        {"type": "result", "subtype": "success", "session_id": "z", "duration_ms": 12},
    ]
    for line in lines:
        line.pop("sessionId", None)
    model = read(*lines).model
    assert [(t.role_raw, t.text) for t in model.turns or ()] == [
        ("sidechain", "inner"),
        ("assistant", "outer"),
    ]
    assert (model.metadata or {})["result"] == {"subtype": "success", "duration_ms": 12}


@pytest.mark.parametrize(
    "value",
    [
        [],
        [{"type": "user", "message": "hi", "sessionId": "s"}],
        [{"type": "user"}],
        ["user"],
        None,
        {"type": []},
    ],
)
def test_what_others_write_does_not_fit(value: Any) -> None:
    """A session, a type and a message are needed."""
    assert claude_code.fits(value) is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # turns: the texts of lines 1, 2, 5, 8 and 9; calls of lines 3, 6 and 10, answered by lines 4, 7 and 11
        ("todowrite_examples", {"turns": 5, "calls": 3, "results": 3, "errors": 0, "notes": 0}),
        # turns: lines 1 to 3
        ("session_b", {"turns": 3, "calls": 0, "results": 0, "errors": 0, "notes": 0}),
    ],
)
def test_real_files(name: str, expected: dict[str, int]) -> None:
    """What stands in them, counted by hand."""
    assert all_counts(real(f"claude-code-jsonl/claude-code-log__test__test_data__{name}.jsonl")) == [expected]


def test_hostile_values_are_read_or_refused() -> None:
    """Whatever stands in the place of a value, nothing but a refusal is raised."""
    for mutant in mutants(LINES):
        survives(mutant)


def test_what_a_sub_agent_did_in_another_file_is_a_gap(judge: Judge) -> None:
    """Newer versions keep the records of sub-agents apart; where they stand here, nothing is missing."""
    use = [{"type": "tool_use", "id": "t", "name": "Task", "input": {"prompt": "look"}}]
    records = [
        record("user", "go"),
        record("assistant", use),
        record("user", [{"type": "tool_result", "tool_use_id": "t", "content": "done"}]),
    ]
    absent = {"kind": "tool_call", "name": "Bash", "absent": True}
    result = judge(absent, read(*records))
    assert (result["status"], result["evidence_gap"]["how"]) == (
        "INCONCLUSIVE",
        "Read the sub-agents' files as well.",
    )
    inner = record("assistant", [{"type": "text", "text": "I look."}], isSidechain=True)
    assert judge(absent, read(*records[:2], inner, records[2]))["status"] == "PASS"
