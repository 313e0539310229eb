from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import UNSET
from mutants import mutants, survives

from averment.evidence import Evidence
from averment.evidence.draft import Draft, Part
from averment.evidence.readers import openai_responses
from averment.evidence.readers.dialogue import Dialogue
from samples import counts, real, sample

Judge = Callable[..., Any]

PAIR = json.loads(sample("openai_responses/pair.json").read_text())
ROLLOUT = [json.loads(line) for line in sample("openai_responses/codex.jsonl").read_text().splitlines()]


def read(value: Any) -> Evidence:
    """The evidence of one value."""
    return Evidence.from_bytes(json.dumps(value).encode())


def test_a_request_and_its_response_are_one_conversation() -> None:
    """Outputs go by `call_id`, not by `id`; the calls that the server makes hold their own outcome."""
    model = Evidence.load(sample("openai_responses/pair.json")).model
    assert [(t.role_raw, t.text, t.said) for t in model.turns or ()] == [
        ("system", "You answer for a library.", False),
        ("user", "Do you have the atlas?", True),
        ("assistant", "Shelf 4; the desk is closed.", True),
    ]
    assert [(c.id, c.name, c.args, c.result, c.status, c.error) for c in model.calls or ()] == [
        ("call_1", "find_book", {"title": "atlas"}, {"shelf": 4}, "executed", UNSET),
        ("ws_1", "web_search", {"type": "search", "query": "atlas"}, UNSET, "ok", UNSET),
        ("mcp_1", "reserve", {"shelf": 4}, UNSET, "error", "desk closed"),
    ]
    assert (model.calls or ())[1].result_state == "absent"
    assert ((model.metadata or {})["id"], model.coverage.transcript.state) == ("resp_1", "present")
    assert (model.sources[0].records, model.sources[0].records_read) == (7, 7)


@pytest.mark.parametrize("key", ["previous_response_id", "conversation"])
def test_a_history_that_is_only_referred_to_is_a_gap(key: str, judge: Judge) -> None:
    """What was said before is on the server; what is here still counts."""
    evidence = read({"request": {**PAIR["request"], key: "resp_0"}, "response": PAIR["response"]})
    result = judge({"kind": "phrase", "regex": "goodbye"}, evidence)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "transcript")
    assert "earlier responses" in result["evidence_gap"]["how"]
    assert judge({"kind": "phrase", "regex": "atlas"}, evidence)["status"] == "PASS"
    absent = judge({"kind": "tool_call", "name": "lend", "absent": True}, evidence)
    assert absent["status"] == "INCONCLUSIVE"


def test_a_response_alone_is_no_whole_conversation() -> None:
    """Nothing of what it answers is in it."""
    model = read(PAIR["response"]).model
    assert model.sources[0].format == "openai_responses"
    assert (model.coverage.transcript.state, len(model.turns or ())) == ("partial", 1)


def test_items_alone_are_a_conversation() -> None:
    """A list of items needs a word that only the Responses API has."""
    model = read(PAIR["request"]["input"]).model
    assert [call.id for call in model.calls or ()] == ["call_1"]
    assert openai_responses.fits([{"role": "user", "content": "hi"}]) is None
    assert openai_responses.fits([{"type": "message", "role": "user", "content": ["hi"]}]) is None
    assert openai_responses.fits([{"type": "function_call", "call_id": "x", "created_at": 1.5}]) is None
    assert openai_responses.fits({"input": "hi", "output": "ho"}) is None


def test_refused_approval_is_a_denied_call() -> None:
    """An approved call is one with the asking; one that was refused never ran."""
    items = [
        {"type": "mcp_approval_request", "id": "ap_1", "name": "lend", "arguments": "{}"},
        {"type": "mcp_approval_request", "id": "ap_2", "name": "burn", "arguments": '{"all": true}'},
        {"type": "mcp_approval_response", "approval_request_id": "ap_1", "approve": True},
        {"type": "mcp_approval_response", "approval_request_id": "ap_2", "approve": False, "reason": "no"},
        {
            "type": "mcp_call",
            "id": "m",
            "name": "lend",
            "arguments": "{}",
            "output": "lent",
            "approval_request_id": "ap_1",
        },
    ]
    calls = read(items).model.calls or ()
    assert [(c.name, c.status, c.error) for c in calls] == [("burn", "denied", "no"), ("lend", "ok", UNSET)]


def test_other_tools_of_the_server() -> None:
    """Each is called as its item is, without the `_call`."""
    items = [
        {"type": "file_search_call", "id": "f", "status": "completed", "queries": ["q"], "results": []},
        {"type": "code_interpreter_call", "id": "c", "status": "failed", "code": "1/0", "outputs": None},
        {"type": "computer_call", "call_id": "k", "action": {"type": "click"}, "status": "completed"},
        {"type": "computer_call_output", "call_id": "k", "output": {"type": "computer_screenshot"}},
        {"type": "tool_search_call", "execution": "server", "arguments": {"q": 1}},
        {"type": "tool_search_output", "tools": []},
        {"type": "web_search_call", "id": "w", "status": "in_progress"},
    ]
    calls = read(items).model.calls or ()
    assert [(c.name, c.args, c.status) for c in calls] == [
        ("file_search", {"queries": ["q"]}, "ok"),
        ("code_interpreter", {"code": "1/0"}, "error"),
        ("computer", {"type": "click"}, "executed"),
        ("tool_search", {"q": 1}, "executed"),
        ("web_search", UNSET, "unanswered"),
    ]


def test_a_stream_is_read_from_what_was_done() -> None:
    """The last whole response counts; a stream that breaks off has the items that were finished."""
    message = PAIR["response"]["output"][3]
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {"id": "resp_1", "output": []}},
        {"type": "response.output_item.added", "output_index": 0, "item": {"type": "message"}},
        {"type": "response.output_text.delta", "output_index": 0, "delta": "Shelf 4"},
        {"type": "response.output_text.delta", "output_index": 0, "delta": "; the desk"},
    ]
    done = {"type": "response.output_item.done", "output_index": 0, "item": message}
    completed = {"type": "response.completed", "response": PAIR["response"]}
    assert [turn.text for turn in read([*events, done, completed]).model.turns or ()] == [
        "Shelf 4; the desk is closed."
    ]
    cut = read(events).model
    assert [turn.text for turn in cut.turns or ()] == ["Shelf 4; the desk"]
    assert "stream_cut" in [note.code for note in cut.notes]


def test_a_codex_rollout_has_times() -> None:
    """The client's own words under the user's role are not said; events tell the same again."""
    model = Evidence.load(sample("openai_responses/codex.jsonl")).model
    assert [(t.role_raw, t.said) for t in model.turns or ()] == [
        ("meta", False),
        ("user", True),
        ("assistant", True),
    ]
    start = 1772355600 * 10**9
    assert [(t.start_ns or 0) - start for t in model.turns or ()] == [100_000_000, 200_000_000, 2_000_000_000]
    (call,) = model.calls or ()
    assert (call.name, call.args, call.result, call.status) == (
        *("apply_patch", "*** Begin Patch", "Done"),
        "executed",
    )
    assert model.conversation_id == "cx-1"
    assert (model.sources[0].records, model.sources[0].records_read) == (7, 6)


def test_items_are_read_into_a_dialogue_from_outside() -> None:
    """Other readers find bodies in what they read."""
    draft = Draft()
    pair = Part(json.loads(json.dumps(PAIR)))
    dialogue = Dialogue(draft, pair)
    openai_responses.prompt(pair.at("request"), dialogue, draft)
    assert openai_responses.converse(pair.at("request").at("input"), dialogue, draft) == 3
    assert openai_responses.converse(Part("And the map?"), dialogue, draft) == 1
    assert openai_responses.reply(pair.at("response"), dialogue, draft) == 4
    dialogue.finish()
    assert len(draft.turns or ()) == 4


def test_a_real_rollout() -> None:
    """The Codex session among the chat samples."""
    name = "agentv__06__06__rollout-2026-06-06T12-00-00-00000000-0000-4000-8000-000000000001.jsonl"
    evidence = Evidence.load(real(f"openai-chat/{name}"))
    # turns: lines 2, 3 and 10; calls of lines 4, 6, 8, answered by lines 5, 7, 9; line 1 is the session's
    assert counts(evidence) == {"turns": 3, "calls": 3, "results": 3, "errors": 0, "notes": 0}
    assert (evidence.model.calls or ())[0].result == {  # line 5
        "name": "agentv-example-service",
        "scripts": ["test", "lint"],
    }


def test_hostile_values_are_read_or_refused() -> None:
    """Whatever stands in the place of a value, nothing but a refusal is raised."""
    stream = [{"type": "response.created", "response": {"output": []}}, {"type": "response.x", "item": {}}]
    for value in (PAIR, PAIR["response"], PAIR["request"]["input"], ROLLOUT, stream):
        for mutant in mutants(value):
            survives(mutant)


ASKED = {"type": "function_call", "id": "i", "call_id": "c", "name": "refund", "arguments": "{}"}


def test_an_item_of_an_unknown_type_may_be_a_call(judge: Judge) -> None:
    """New kinds of items come with new models; one that is not known decides nothing."""
    absent = {"kind": "tool_call", "name": "pay", "absent": True}
    items = [ASKED, {"type": "function_call_output", "call_id": "c", "output": "fine"}]
    assert judge(absent, read(items))["status"] == "PASS"
    items = [*items, {"type": "future_response", "name": "pay"}]
    assert judge(absent, read(items))["status"] == "INCONCLUSIVE"


def test_the_output_of_an_unknown_call_answers_it() -> None:
    """By its `call_id`, as with all the others."""
    items = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        {"type": "robot_call", "id": "r", "call_id": "q", "action": "go"},
        {"type": "robot_call_output", "call_id": "q", "output": "gone"},
    ]
    assert [(c.name, c.status, c.result) for c in read(items).model.calls or ()] == [
        ("robot", "executed", "gone")
    ]


def test_an_output_may_say_that_its_call_failed(judge: Judge) -> None:
    """There is no flag, so what the function answered counts."""
    none = {"kind": "tool_error", "name": "refund", "absent": True}
    for output, status in (('{"error": "no"}', "FAIL"), ('{"ok": true}', "PASS"), ("done", "INCONCLUSIVE")):
        items = [ASKED, {"type": "function_call_output", "call_id": "c", "output": output}]
        assert judge(none, read(items))["status"] == status


def test_a_line_of_an_unknown_type_leaves_a_codex_session_one() -> None:
    """New versions write new kinds of lines; what such a line holds decides nothing."""
    lines = [
        {"timestamp": "2026-01-01T00:00:00Z", "type": "session_meta", "payload": {"id": "s"}},
        {"timestamp": "2026-01-01T00:00:01Z", "type": "response_item", "payload": ASKED},
        {"timestamp": "2026-01-01T00:00:02Z", "type": "robot_item", "payload": {"name": "pay"}},
    ]
    model = read(lines).model
    assert (model.conversation_id, [call.name for call in model.calls or ()]) == ("s", ["refund"])
    assert model.coverage.requests.state == "partial"
