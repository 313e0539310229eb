from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from mutants import mutants, survives

from averment.evidence import Evidence
from averment.evidence.draft import Draft, Part
from averment.evidence.readers import gemini
from averment.evidence.readers.dialogue import Dialogue
from samples import sample

Judge = Callable[..., Any]

PAIR = json.loads(sample("gemini/pair.json").read_text())


def read(value: Any) -> Evidence:
    """The evidence of one value."""
    return Evidence.from_bytes(json.dumps(value).encode())


def test_a_request_and_its_response_are_one_conversation() -> None:
    """The model's texts in a row are one, thoughts are not said, answers go by name."""
    model = Evidence.load(sample("gemini/pair.json")).model
    assert [(t.role_raw, t.role, t.text, t.said) for t in model.turns or ()] == [
        ("system", "system", "You sell train tickets.", False),
        ("user", "user", "To Bonn, please.", True),
        ("model", "agent", "Let me see.", True),
        ("model", "agent", "At 9:14, without a seat.", True),
    ]
    assert [(c.name, c.args, c.result, c.status) for c in model.calls or ()] == [
        ("find_train", {"to": "Bonn"}, {"output": {"at": "9:14"}}, "ok"),
        ("find_seat", {}, {"error": "no seats"}, "error"),
        ("code_execution", {"language": "PYTHON", "code": "print(9*60+14)"}, "554\n", "ok"),
    ]
    assert (model.metadata or {})["responseId"] == "r-1"
    assert (model.sources[0].records, model.sources[0].records_read) == (4, 4)


def test_keys_in_snake_case_are_the_same() -> None:
    """As the Python library writes them."""
    text = json.dumps(PAIR)
    for camel, snake in (
        ("functionCall", "function_call"),
        ("functionResponse", "function_response"),
        ("systemInstruction", "system_instruction"),
        ("executableCode", "executable_code"),
        ("codeExecutionResult", "code_execution_result"),
    ):
        text = text.replace(f'"{camel}"', f'"{snake}"')
    model = Evidence.from_bytes(text.encode()).model
    assert [(c.name, c.status) for c in model.calls or ()] == [
        ("find_train", "ok"),
        ("find_seat", "error"),
        ("code_execution", "ok"),
    ]
    assert (model.turns or ())[0].said is False


def test_an_answer_with_neither_output_nor_error_tells_nothing_of_failure(judge: Judge) -> None:
    """Only `error` and `output` are words of the API; an id pairs where there is one."""
    contents = [
        {
            "role": "model",
            "parts": [{"functionCall": {"name": "find", "id": "1", "args": {"n": n}}} for n in (1,)],
        },
        {"role": "user", "parts": [{"functionResponse": {"name": "find", "id": "1", "response": {"at": 9}}}]},
    ]
    evidence = read(contents)
    result = judge({"kind": "tool_error", "name": "find", "absent": True}, evidence)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "errors")
    assert judge({"kind": "tool_call", "name": "find", "args": {"n": 1}}, evidence)["status"] == "PASS"


def test_contents_without_tools_show_no_calls(judge: Judge) -> None:
    """Without `tools` nothing says that there were any; with them, none is none."""
    contents = [{"role": "user", "parts": [{"text": "hi"}]}, {"role": "model", "parts": [{"text": "ho"}]}]
    result = judge({"kind": "tool_call", "name": "find", "absent": True}, read(contents))
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "executions")
    offered = read({"contents": contents, "tools": []})
    assert judge({"kind": "tool_call", "name": "find", "absent": True}, offered)["status"] == "PASS"


def test_chunks_are_one_response() -> None:
    """Each holds the next parts of the one candidate; a response alone is no whole conversation."""
    chunks = [
        {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}}]} for text in ("At ", "9.")
    ]
    model = read(chunks).model
    assert [turn.text for turn in model.turns or ()] == ["At 9."]
    assert model.coverage.transcript.state == "partial"


def test_whole_responses_are_conversations_of_their_own() -> None:
    """Each of them ends; chunks of one response end once."""
    one = PAIR["response"]
    data = "\n".join(json.dumps({**one, "responseId": own}) for own in ("a", "b"))
    assert len(Evidence.all_from_bytes(data.encode())) == 2


@pytest.mark.parametrize(
    "value",
    [
        [{"role": "user", "parts": [{"type": "text", "content": "hi"}]}],
        [{"role": "user", "parts": [{"kind": "text", "text": "hi"}]}],
        [{"role": "user", "parts": "hi"}],
        [{"parts": [{"text": "hi"}]}],
        {"contents": "hi"},
        {"candidates": []},
        {"events": [], "contents": [{"parts": [{"text": "hi"}]}]},
        7,
    ],
)
def test_what_others_write_does_not_fit(value: Any) -> None:
    """Parts with a type or kind are others'."""
    assert gemini.fits(value) is None


def test_contents_are_read_into_a_dialogue_from_outside() -> None:
    """Other readers find bodies in what they read."""
    draft = Draft()
    pair = Part(json.loads(json.dumps(PAIR)))
    dialogue = Dialogue(draft, pair)
    gemini.prompt(pair.at("request"), dialogue, draft)
    assert gemini.converse(pair.at("request").at("contents"), dialogue, draft) == 3
    assert gemini.reply(pair.at("response"), dialogue, draft) == 1
    dialogue.finish()
    assert len(draft.turns or ()) == 4


def test_hostile_values_are_read_or_refused() -> None:
    """Whatever stands in the place of a value, nothing but a refusal is raised."""
    for value in (PAIR, PAIR["request"]["contents"], [PAIR["response"], PAIR["response"]]):
        for mutant in mutants(value):
            survives(mutant)


def test_a_part_of_an_unknown_kind_may_be_a_call(judge: Judge) -> None:
    """The API gets new kinds of parts; a file with one is read, and doesn't decide what it may hold."""
    absent = {"kind": "tool_call", "name": "find", "absent": True}
    parts: list[Any] = [{"text": "hello"}]
    contents = [{"role": "user", "parts": [{"text": "hi"}]}, {"role": "model", "parts": parts}]
    tools: list[Any] = [{"functionDeclarations": []}]
    assert judge(absent, read({"contents": contents, "tools": tools}))["status"] == "PASS"
    parts.insert(0, {"toolCall": {"name": "find"}})
    evidence = read({"contents": contents, "tools": tools})
    assert "unknown_type" in [note.code for note in evidence.model.notes]
    assert judge(absent, evidence)["status"] == "INCONCLUSIVE"
