from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import UNSET
from mutants import mutants, survives

from averment.evidence import Evidence
from averment.evidence.draft import Draft, Part
from averment.evidence.readers import anthropic
from averment.evidence.readers.dialogue import Dialogue
from samples import counts, real, sample

Judge = Callable[..., Any]

BODY = json.loads(sample("anthropic/booking.json").read_text())
EVENTS = [json.loads(line) for line in sample("anthropic/session.jsonl").read_text().splitlines()]


def read(value: Any) -> Evidence:
    """The evidence of one value."""
    return Evidence.from_bytes(json.dumps(value).encode())


def test_results_in_the_users_messages_are_no_speech() -> None:
    """A tool result is no turn; what the user says beside it is one."""
    model = Evidence.load(sample("anthropic/booking.json")).model
    assert [(t.role_raw, t.text, t.said) for t in model.turns or ()] == [
        ("system", "You book museum tickets.", False),
        ("user", "Two tickets for Friday.", True),
        ("assistant", "Let me look.", True),
        ("user", "Eleven is fine, too.", True),
        ("assistant", "I check the weather first.", True),
        ("assistant", "It will be sunny.", True),
    ]
    assert (model.sources[0].records, model.sources[0].records_read) == (4, 4)
    assert [note.detail for note in model.notes] == ["a reasoning part is not read"]


def test_calls_of_clients_and_servers(judge: Judge) -> None:
    """Answers go by id; `is_error` flags a failure; a server's call and its result stand in one message."""
    evidence = Evidence.load(sample("anthropic/booking.json"))
    calls = evidence.model.calls or ()
    assert [(c.id, c.name, c.status, c.error) for c in calls] == [
        ("tu_1", "find_slot", "ok", UNSET),
        ("tu_2", "book_slot", "error", "the slot is gone"),
        ("st_1", "web_search", "ok", UNSET),
    ]
    assert calls[0].result == {"slots": ["11:00"]}
    assert judge({"kind": "tool_error", "name": "find_slot", "absent": True}, evidence)["status"] == "PASS"
    assert judge({"kind": "tool_error", "name": "book_slot", "absent": True}, evidence)["status"] == "FAIL"
    steps = [{"phrase": "weather first"}, {"tool": "web_search"}, {"phrase": "sunny"}]
    assert judge({"kind": "sequence", "steps": steps}, evidence)["status"] == "PASS"


def test_a_server_tool_that_fails_says_so_in_its_content() -> None:
    """An `error_code` in place of results."""
    content = [
        {"type": "server_tool_use", "id": "s", "name": "web_fetch", "input": {}},
        {
            "type": "web_fetch_tool_result",
            "tool_use_id": "s",
            "content": {"type": "web_fetch_tool_result_error", "error_code": "url_not_accessible"},
        },
    ]
    (call,) = read([{"role": "assistant", "content": content}]).model.calls or ()
    assert (call.status, call.error) == ("error", "url_not_accessible")


@pytest.mark.parametrize(
    "value",
    [
        [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}],
        [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
        {"messages": [{"role": "user", "content": "hi"}]},
        {"messages": BODY["messages"], "pipeline_name": "x"},
        [{"role": "assistant", "content": [{"type": "tool_use"}], "tool_calls": []}],
        [{"role": "tool", "content": [{"type": "tool_use"}]}],
        [{"type": "user", "message": {}, "sessionId": "s", "uuid": "u"}],
        [{"role": "user", "content": [{"type": ["x"]}]}],
        [[]],
        7,
    ],
)
def test_what_others_write_does_not_fit(value: Any) -> None:
    """Messages that could be anybody's are left to others."""
    assert anthropic.fits(value) is None


def test_a_response_alone_is_no_whole_conversation(judge: Judge) -> None:
    """It asks for a call, and nobody could have answered yet."""
    content = [{"type": "tool_use", "id": "t", "name": "find_slot", "input": {}}]
    body = {"id": "m", "type": "message", "role": "assistant", "content": content, "stop_reason": "tool_use"}
    evidence = read(body)
    assert [call.status for call in evidence.model.calls or ()] == ["requested"]
    result = judge({"kind": "tool_call", "name": "find_slot"}, evidence)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "executions")
    pair = read({"request": BODY, "response": body}).model
    assert len(pair.calls or ()) == 4
    assert pair.coverage.transcript.state == "present"


def test_a_stream_is_put_together() -> None:
    """Inputs come as pieces of JSON text; a stream that breaks off is noted."""
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "I "}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "look."}},
        {
            "type": "content_block_start",
            "index": 1,
            "content_block": {"type": "tool_use", "id": "t", "name": "find", "input": {}},
        },
        {"type": "content_block_delta", "index": 1, "delta": {"partial_json": '{"a": '}},
        {"type": "content_block_delta", "index": 1, "delta": {"partial_json": "1}"}},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 3}},
    ]
    model = read(events).model
    assert [turn.text for turn in model.turns or ()] == ["I look."]
    assert [(c.name, c.args, c.args_raw) for c in model.calls or ()] == [("find", {"a": 1}, '{"a": 1}')]
    cut = read(events[:-2]).model
    assert [note.code for note in cut.notes] == ["stream_cut", "arguments_unreadable"]
    assert cut.coverage.requests.state == "partial"


def test_a_session_has_times_and_denials(judge: Judge) -> None:
    """`processed_at` dates the events; a call that the user denies never ran."""
    evidence = Evidence.load(sample("anthropic/session.jsonl"))
    model = evidence.model
    assert [(t.role_raw, t.start_ns, t.clock) for t in model.turns or ()] == [
        ("user", 1772355601 * 10**9, "epoch"),
        ("agent", 1772355607 * 10**9, "epoch"),
    ]
    assert [(c.id, c.name, c.status, c.error) for c in model.calls or ()] == [
        ("ev_2", "cancel", "denied", "not that one"),
        ("ev_4", "list", "ok", UNSET),
    ]
    assert judge({"kind": "tool_call", "name": "cancel", "absent": True}, evidence)["status"] == "PASS"
    assert (model.sources[0].records, model.sources[0].records_read) == (7, 6)


def test_a_denied_call_stays_denied_when_its_refusal_is_its_result() -> None:
    """Some sessions answer a denied call, too."""
    events = [
        *EVENTS,
        {"type": "agent.mcp_tool_result", "mcp_tool_use_id": "ev_2", "is_error": True, "content": "no"},
    ]
    calls = read([{**event, "processed_at": "2026-03-01T09:00:00Z"} for event in events]).model.calls or ()
    assert [(c.status, c.result) for c in calls] == [("denied", "no"), ("ok", [8])]


def test_what_a_client_sent_may_have_no_type() -> None:
    """It is no event that is known, and is left out with a note."""
    sent = ["send_events", {"events": [{"content": "hello"}, {"type": ["user.message"]}]}]
    model = read([*EVENTS, sent]).model
    assert len(model.turns or ()) == 2
    assert sum(note.code == "dropped_key" for note in model.notes) == 2
    assert (model.sources[0].records, model.sources[0].records_read) == (8, 6)


def test_bodies_are_read_into_a_dialogue_from_outside() -> None:
    """Other readers find bodies in what they read."""
    draft = Draft()
    part = Part(json.loads(json.dumps(BODY)))
    dialogue = Dialogue(draft, part)
    anthropic.prompt(part, dialogue, draft)
    assert anthropic.converse(part.at("messages"), dialogue, draft) == 4
    dialogue.finish()
    assert len(draft.turns or ()) == 6


def test_a_real_file() -> None:
    """The log of a session: [method, event] lines."""
    path = real("anthropic-messages/langsmith-sdk__tests__test_data__anthropic_managed_mcp_tools.jsonl")
    evidence = Evidence.load(path)
    # turns: the streamed user.message of line 5 (line 2 sent it), the agent.message of line 19; the call of line 8,
    # answered by line 16; notes: two agent.thinking, the session's and spans' own events, what was sent (2 and 12)
    assert counts(evidence) == {"turns": 2, "calls": 1, "results": 1, "errors": 0, "notes": 3}
    assert evidence.model.conversation_id == "sesn_01FYL2vWeckHzjuCjjpAudtE"  # line 1


def test_hostile_values_are_read_or_refused() -> None:
    """Whatever stands in the place of a value, nothing but a refusal is raised."""
    for value in (BODY, EVENTS):
        for mutant in mutants(value):
            survives(mutant)


ABSENT = {"kind": "tool_call", "name": "issue_refund", "absent": True}


def told(*blocks: Any, **result: Any) -> Evidence:
    """A call of `book`, its result, and what the agent answers in other blocks."""
    use = {"type": "tool_use", "id": "a", "name": "book", "input": {"day": 1}}
    answer = {"type": "tool_result", "tool_use_id": "a", **result}
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [use]},
        {"role": "user", "content": [answer]},
        {"role": "assistant", "content": [*blocks, {"type": "text", "text": "Done."}]},
    ]
    return read(messages)


def test_a_block_of_an_unknown_type_may_be_a_call(judge: Judge) -> None:
    """The file is read all the same; that a tool was not called can't be told, that one was can."""
    evidence = told({"type": "robot_tool_use", "id": "z", "name": "issue_refund"}, content="ok")
    assert "unknown_type" in [note.code for note in evidence.model.notes]
    result = judge(ABSENT, evidence)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "executions")
    assert judge({"kind": "tool_call", "name": "book"}, evidence)["status"] == "PASS"
    assert judge(ABSENT, told(content="ok"))["status"] == "PASS"


@pytest.mark.parametrize(
    ("result", "status"),
    [
        ({"content": "Booked."}, "ok"),
        ({"content": '{"error": "full"}'}, "error"),
        ({"content": '{"error": "full"}', "is_error": False}, "error"),
        ({"content": '{"status": "failed"}', "is_error": False}, "ok"),
        ({"content": "Booked.", "is_error": True}, "error"),
    ],
)
def test_a_result_that_says_that_it_failed_is_no_success(result: dict[str, Any], status: str) -> None:
    """Clients that catch the errors of their tools leave the flag out, or say that all went well."""
    assert [call.status for call in told(**result).model.calls or ()] == [status]


def test_calls_without_input_are_just_that() -> None:
    """The API always has the `input`, so two calls without any are no sign of an exporter that left it out."""
    uses = [{"type": "tool_use", "id": own, "name": "now", "input": {}} for own in "ab"]
    model = read([{"role": "user", "content": "hi"}, {"role": "assistant", "content": uses}]).model
    assert [call.args for call in model.calls or ()] == [{}, {}]
    assert model.coverage.arguments.state == "absent"
