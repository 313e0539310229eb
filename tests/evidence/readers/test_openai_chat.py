from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import UNSET
from mutants import mutants, survives

from averment.errors import EvidenceError
from averment.evidence import Evidence
from averment.evidence.draft import Draft, Part
from averment.evidence.load import drafts_of
from averment.evidence.readers import openai_chat
from averment.evidence.readers.dialogue import Dialogue
from samples import all_counts, real, sample

Judge = Callable[..., Any]

BODY = json.loads(sample("openai_chat/refund.json").read_text())


def read(value: Any) -> Evidence:
    """The evidence of one value."""
    return Evidence.from_bytes(json.dumps(value).encode())


def talk(*messages: dict[str, Any]) -> list[dict[str, Any]]:
    """A list of messages that begins with a question."""
    return [{"role": "user", "content": "Refund B-17."}, *messages]


def test_a_request_is_turns_and_calls() -> None:
    """Texts of parts are one text, a refusal is said, a system prompt is not, answers go by id in any order."""
    model = Evidence.load(sample("openai_chat/refund.json")).model
    assert [(t.role_raw, t.role, t.text, t.said, t.speaker) for t in model.turns or ()] == [
        ("system", "system", "You help the customers of a bicycle shop.", False, None),
        ("user", "user", "My bell is broken.\nOrder B-17.", True, "Mira"),
        ("assistant", "agent", "One moment.", True, None),
        ("assistant", "agent", "I can't refund bells.", True, None),
    ]
    assert [(c.id, c.name, c.args, c.result, c.status, c.loc) for c in model.calls or ()] == [
        (
            *("call_a", "find_order", {"order": "B-17"}, {"order": "B-17", "price": 12.5}, "executed"),
            "src_0#$.messages[2].tool_calls[0]",
        ),
        ("call_b", "open_hours", {}, "nine to five", "executed", "src_0#$.messages[2].tool_calls[1]"),
    ]
    assert [note.detail for note in model.notes] == ["an image part is not read"]
    assert (model.sources[0].records, model.sources[0].records_read) == (6, 6)
    assert model.metadata is not None
    assert model.metadata["model"] == "gpt-test"


def test_what_nobody_flags_is_no_success(judge: Judge) -> None:
    """Chat messages have no flag for a failed call, so that none failed is open."""
    evidence = Evidence.load(sample("openai_chat/refund.json"))
    result = judge({"kind": "tool_error", "name": "find_order", "absent": True}, evidence)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "errors")
    assert (
        judge({"kind": "tool_call", "name": "find_order", "args": {"order": "B-17"}}, evidence)["status"]
        == "PASS"
    )
    assert judge({"kind": "tool_call", "name": "refund", "absent": True}, evidence)["status"] == "PASS"


def test_texts_alone_can_not_show_that_no_tool_was_called(judge: Judge) -> None:
    """Without `tools` or a call, a record of messages says nothing of tools; the gap says what to log."""
    evidence = read({"messages": talk({"role": "assistant", "content": "Done."})})
    result = judge({"kind": "tool_call", "name": "refund"}, evidence)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "executions")
    assert "`tools`" in result["evidence_gap"]["how"]
    assert judge({"kind": "phrase", "regex": "done"}, evidence)["status"] == "PASS"


def test_offered_tools_show_that_none_was_called(judge: Judge) -> None:
    """With `tools` in the record, no call is none."""
    evidence = read({"messages": talk({"role": "assistant", "content": "No."}), "tools": BODY["tools"]})
    assert judge({"kind": "tool_call", "name": "refund"}, evidence)["status"] == "FAIL"


def test_plain_texts_by_roles_are_a_transcript() -> None:
    """Without a key of tools, a bare list is no chat log; with an answer of a tool it is one."""
    plain = talk({"role": "assistant", "content": "Done."})
    assert openai_chat.fits(plain) is None
    assert read(plain).model.sources[0].format == "transcript"
    assert read([*plain, {"role": "tool", "content": "x"}]).model.sources[0].format == "openai_chat"


@pytest.mark.parametrize(
    "value",
    [
        {"messages": talk(), "traj": []},
        {"messages": talk(), "pipeline_name": "x"},
        {"messages": talk(), "simulations": []},
        {"messages": talk(), "system": "x"},
        {"messages": talk(), "tools": [{"name": "x", "input_schema": {}}]},
        {"messages": [{"type": "human", "content": "hi", "role": "user"}]},
        {"messages": [{"role": "user", "parts": []}]},
        {"messages": [{"role": "user", "content": [{"type": "tool_result"}]}]},
        {"messages": [{"role": "bot", "message": "hi", "time": 1}]},
        {"messages": []},
        [{"role": "user", "content": [{"type": ["text"]}]}],
        "messages",
        None,
    ],
)
def test_what_others_write_does_not_fit(value: Any) -> None:
    """Messages of other vendors and what holds them are told apart."""
    assert openai_chat.fits(value) is None


def test_a_log_holds_conversations_and_lines_about_itself() -> None:
    """Lists and records are conversations; the first metadata line is the file's, another one is noted."""
    first, second = Evidence.load_all(sample("openai_chat/log.jsonl"))
    assert first.model.sources[0].header == {"description": "two talks in a bicycle shop"}
    assert [note.loc for note in first.model.notes] == ["src_0#line 4"]
    assert [turn.loc for turn in first.model.turns or ()] == ["src_0#line 2[0]", "src_0#line 2[1]"]
    assert second.model.metadata == {"ok": True, "index": 4}
    (call,) = second.model.calls or ()
    assert (call.args, call.result, call.id) == ({"order": "B-17"}, "done", "c_0")


def test_a_record_may_name_its_conversation() -> None:
    """By `conversation_id`, else by an id of its own, so that records of other sources find it."""
    assert read({"id": "r-1", "messages": talk()}).model.conversation_id == "r-1"
    model = read({"id": "r-1", "conversation_id": "call-17", "messages": talk()}).model
    assert (model.conversation_id, model.metadata, model.notes) == ("call-17", {"id": "r-1"}, ())


def test_older_function_calls_are_paired_by_name() -> None:
    """`function_call` has no id; the message of the role `function` repeats the name."""
    call = {"role": "assistant", "content": None, "function_call": {"name": "refund", "arguments": "{}"}}
    (found,) = read(talk(call, {"role": "function", "name": "refund", "content": "ok"})).model.calls or ()
    assert (found.name, found.result, found.status) == ("refund", "ok", "executed")


def test_arguments_that_are_no_json_stay_text(judge: Judge) -> None:
    """Tricky input 6: requested, never answered, and what the arguments say is open."""
    function = {"name": "find", "arguments": '["a", "b"], ["c"]'}
    value = [talk({"role": "assistant", "content": None, "tool_calls": [{"id": "x", "function": function}]})]
    evidence = read(value)
    (call,) = evidence.model.calls or ()
    assert (call.args, call.args_raw, call.status) == (UNSET, '["a", "b"], ["c"]', "unanswered")
    assert call.args_error is not None
    asked = judge({"kind": "tool_call", "name": "find", "reading": "requested"}, evidence)
    assert asked["status"] == "PASS"
    args = judge({"kind": "tool_call", "name": "find", "reading": "requested", "args": {"a": 1}}, evidence)
    assert args["status"] == "INCONCLUSIVE"
    assert judge({"kind": "tool_call", "name": "find"}, evidence)["status"] == "INCONCLUSIVE"


def test_the_real_tricky_input_6() -> None:
    """The file that it is taken from: one line, which is a list of messages."""
    name = "explorer__tests__data__trace_with_non_json_parseable_tool_call_arguments.jsonl"
    (call,) = Evidence.load(real(f"openai-chat/{name}")).model.calls or ()
    assert (call.name, call.args, call.result, call.status) == ("get_capital", UNSET, UNSET, "unanswered")


def test_a_response_alone_is_no_whole_conversation(judge: Judge) -> None:
    """What was said before it is not in it."""
    message = {"role": "assistant", "content": "Hello."}
    evidence = read({"id": "r", "object": "chat.completion", "choices": [{"message": message}, {}]})
    result = judge({"kind": "phrase", "regex": "goodbye"}, evidence)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "transcript")
    assert evidence.model.notes[0].detail == "a further choice is not read"


def test_a_pair_of_bodies_is_one_conversation() -> None:
    """The reply follows the request; its call is unanswered, which leaves open what rests on that tool alone."""
    call = {"id": "c9", "type": "custom", "custom": {"name": "note", "input": "[x"}}
    reply = {"choices": [{"message": {"role": "assistant", "content": "Wait.", "tool_calls": [call]}}]}
    model = read({"request": BODY, "response": reply}).model
    assert [turn.text for turn in model.turns or ()][-2:] == ["I can't refund bells.", "Wait."]
    last = (model.calls or ())[-1]
    assert (last.name, last.args, last.status) == ("note", "[x", "unanswered")
    assert model.coverage.executions.state == "present"


def chunk(**delta: Any) -> dict[str, Any]:
    """A chunk of a streamed response."""
    finish = delta.pop("finish", None)
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "r", "object": "chat.completion.chunk", "choices": [choice]}


def test_a_stream_is_put_together() -> None:
    """Texts and arguments come in pieces."""
    first = {"index": 0, "id": "a", "function": {"name": "find", "arguments": '{"a"'}}
    second = {"index": 0, "function": {"arguments": ": 1}"}}
    chunks = [chunk(role="assistant", content="He"), chunk(content="llo"), chunk(tool_calls=[first])]
    model = read([*chunks, chunk(tool_calls=[second]), chunk(finish="tool_calls")]).model
    assert [turn.text for turn in model.turns or ()] == ["Hello"]
    assert [(c.id, c.name, c.args) for c in model.calls or ()] == [("a", "find", {"a": 1})]
    cut = read([*chunks]).model
    assert [note.code for note in cut.notes] == ["stream_cut", "arguments_unreadable"]
    assert cut.coverage.transcript.state == "partial"


@pytest.mark.parametrize("form", ["openai_chat", "anthropic", "openai_responses", "gemini"])
def test_an_object_with_no_messages_is_refused(form: str) -> None:
    """Also when it is asked for by name: no messages are no conversation."""
    with pytest.raises(EvidenceError) as error:
        drafts_of(b'{"other": 1}', None, form=form)[0].model()
    assert error.value.problems[0].code == "no_messages"


def test_bodies_are_read_into_a_dialogue_from_outside() -> None:
    """Other readers find chat bodies in what they read."""
    draft = Draft()
    part = Part(copy.deepcopy(BODY))
    dialogue = Dialogue(draft, part)
    assert openai_chat.converse(part.at("messages"), dialogue, draft) == 6
    body = {"choices": [{"message": {"role": "assistant", "content": "Bye."}}]}
    assert openai_chat.reply(Part(body), dialogue, draft) == 1
    dialogue.finish()
    assert [turn.text for turn in draft.turns or ()][-1] == "Bye."


def test_a_lost_message_leaves_a_gap(judge: Judge) -> None:
    """What can't be read may have been a call."""
    evidence = read([*BODY["messages"], 7])
    assert "message_unreadable" in [note.code for note in evidence.model.notes]
    result = judge({"kind": "tool_call", "name": "refund", "absent": True}, evidence)
    assert result["status"] == "INCONCLUSIVE"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "explorer__app-api__assets__sample_data.jsonl",
            [
                # line 1: user [0], assistant [1] and [3]; tool_calls of [1], answered by [2]
                {"turns": 3, "calls": 1, "results": 1, "errors": 0, "notes": 0},
                # line 2: user [0], assistant [1], [3], [5], [7]; calls of [1], [3], [5], answered by [2], [4], [6];
                # the key `annotations` is left out
                {"turns": 5, "calls": 3, "results": 3, "errors": 0, "notes": 1},
                # line 3: user [0], assistant [1], [2], [4]; calls of [1], never answered, and of [2], answered by [3]
                {"turns": 4, "calls": 2, "results": 1, "errors": 0, "notes": 0},
            ],
        ),
        (
            "explorer__tests__data__webarena.jsonl",
            [
                # line 2: user [0], assistant texts [2], [5]; calls of [3], [6]; [1] answers nothing, so that it is
                # a call of its own and noted, [4] answers [3]
                {"turns": 3, "calls": 3, "results": 2, "errors": 0, "notes": 1},
                # line 3: user [0] and 7 texts of the assistant; 7 calls, the last of which is the last message;
                # 7 messages of the role tool, the first of which ([1]) answers nothing
                {"turns": 8, "calls": 8, "results": 7, "errors": 0, "notes": 1},
            ],
        ),
        (
            "explorer__tests__data__trace_with_non_json_parseable_tool_call_arguments.jsonl",
            # system [0], user [1]; the call of [2], whose arguments are no JSON
            [{"turns": 2, "calls": 1, "results": 0, "errors": 0, "notes": 1}],
        ),
        # line 1 is about the file, lines 2 and 3 hold one message each; line 3 is an object among lists
        (
            "explorer__tests__data__mixed_format.jsonl",
            [
                {"turns": 2, "calls": 0, "results": 0, "errors": 0, "notes": 0},
                {"turns": 1, "calls": 0, "results": 0, "errors": 0, "notes": 0},
            ],
        ),
    ],
)
def test_real_files(name: str, expected: list[dict[str, int]]) -> None:
    """What stands in them, counted by hand."""
    assert all_counts(real(f"openai-chat/{name}")) == expected


def test_hostile_values_are_read_or_refused() -> None:
    """Whatever stands in the place of a value, nothing but a refusal is raised."""
    log = [json.loads(line) for line in sample("openai_chat/log.jsonl").read_text().splitlines()]
    for value in (BODY, log, [chunk(content="a"), chunk(tool_calls=[{"index": 0, "function": {}}])]):
        for mutant in mutants(value):
            survives(mutant)


def answered(content: Any) -> list[Any]:
    """A call of `refund` and its answer."""
    call = {"id": "a", "type": "function", "function": {"name": "refund", "arguments": '{"n": 1}'}}
    return [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "a", "content": content},
        {"role": "assistant", "content": "Done."},
    ]


@pytest.mark.parametrize("word", ["IN_PROGRESS", "CANCELLED", '"COMPLETED"'])
def test_a_word_of_pipecats_is_no_result(word: str, judge: Judge) -> None:
    """It may be one, and then nothing says whether the function ran; asked for as Pipecat's it is."""
    evidence = read(answered(word))
    assert evidence.model.sources[0].format == "openai_chat"
    result = judge({"kind": "tool_result", "name": "refund", "result": "x"}, evidence)
    assert result["status"] == "INCONCLUSIVE"
    assert judge({"kind": "tool_call", "name": "refund", "absent": True}, evidence)["status"] != "PASS"
    if word != '"COMPLETED"':
        result = judge({"kind": "tool_call", "name": "refund"}, evidence)
        assert (result["status"], result["evidence_gap"]["how"]) == (
            "INCONCLUSIVE",
            "Read a context of Pipecat's with `--from pipecat`.",
        )


def test_messages_that_begin_with_an_answer_lack_what_came_before(judge: Judge) -> None:
    """As from an agent that keeps the last messages alone."""
    evidence = read(answered("fine")[2:])
    assert judge({"kind": "tool_call", "name": "pay", "absent": True}, evidence)["status"] == "INCONCLUSIVE"
    phrase = {"kind": "phrase", "regex": "promise", "role": "agent", "absent": True}
    assert judge(phrase, evidence)["status"] == "INCONCLUSIVE"


def test_audio_without_a_transcript_may_have_said_anything(judge: Judge) -> None:
    """Of the agent or of the user."""
    for message in (
        {"role": "assistant", "content": None, "audio": {"id": "x", "data": "AA=="}},
        {
            "role": "user",
            "content": [{"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}}],
        },
    ):
        evidence = read([*answered("fine"), message])
        assert (
            judge({"kind": "phrase", "regex": "promise", "absent": True}, evidence)["status"]
            == "INCONCLUSIVE"
        )


def test_an_agent_of_an_unknown_name_is_nobody_until_the_document_says_so(judge: Judge) -> None:
    """What the agent did not say can't be told before it is known who that is."""
    messages = [{"role": "user", "content": "hi"}, {"role": "chatbot", "content": "I promise."}]
    evidence = read({"messages": messages, "tools": []})
    result = judge({"kind": "phrase", "regex": "promise", "role": "agent", "absent": True}, evidence)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "speakers")
    assert "roles" in result["evidence_gap"]["how"]
