from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from averment import Evidence
from averment.cli.main import main
from averment.oracle.build.exports.chat import MAX_METADATA_TEXT, chat_line, prompt_line
from averment.text.jsontext import canonical

Row = dict[str, Any]


def _file(folder: Path, *lines: dict[str, Any]) -> Path:
    path = folder / "chat.jsonl"
    path.write_bytes(b"".join(canonical(line) + b"\n" for line in lines))
    return path


def _gold(row: Row) -> list[tuple[str, Any]]:
    return [
        (call["function_name"], {name: json.loads(text) for name, text in call["arguments"].items()})
        for call in row["expected_tool_calls"]
    ]


def test_averment_reads_the_gold_calls_back(gold_rows: list[Row], tmp_path: Path) -> None:
    """A file of conversations is evidence: each line's calls are those of gold, with their results."""
    found = Evidence.load_all(_file(tmp_path, *map(chat_line, gold_rows)))
    assert len(found) == len(gold_rows) > 20
    for evidence, row in zip(found, gold_rows, strict=True):
        calls = evidence.model.calls or ()
        assert [(call.name, call.args) for call in calls] == _gold(row)
        results = [json.loads(message["content"]) for message in row["messages"] if message["role"] == "tool"]
        assert [call.result for call in calls] == results
        failed = [isinstance(result, dict) and "error" in result for result in results]
        assert [call.status for call in calls] == ["error" if each else "executed" for each in failed]
        assert (evidence.model.metadata or {})["task_id"] == row["task_id"]


def test_one_line_is_one_conversation(make_row: Any, tmp_path: Path) -> None:
    """`Evidence.load` takes a file of one line, and the system prompt is not said."""
    evidence = Evidence.load(_file(tmp_path, chat_line(make_row([("look", {"book": "Momo"})]))))
    (call,) = evidence.model.calls or ()
    assert (call.name, call.args, call.result) == ("look", {"book": "Momo"}, {"ok": True})
    said = [turn.text for turn in evidence.model.turns or () if turn.said]
    assert said == ["Is *Momo* there? ¿Sí?", "Done."]


def test_the_command_line_shows_it(make_row: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`averment evidence show` recognises the format by itself."""
    file = _file(tmp_path, chat_line(make_row([("look", {"book": "Momo"})])))
    with pytest.raises(SystemExit) as done:
        main(["evidence", "show", str(file)])
    assert done.value.code == 0
    shown = capsys.readouterr().out
    assert "look" in shown
    assert "Momo" in shown


def test_no_key_is_null(make_row: Any) -> None:
    """What is null in a row is left out: a message with calls has no content, one with words no calls."""
    line = chat_line(make_row([("look", {"book": "Momo"})]))
    assert [sorted(message) for message in line["messages"]] == [
        ["content", "role"],
        ["content", "role"],
        ["role", "tool_calls"],
        ["content", "role", "tool_call_id"],
        ["content", "role"],
    ]


def test_tools_are_objects(make_row: Any) -> None:
    """The text of a row becomes what the API takes."""
    (tool,) = chat_line(make_row())["tools"]
    assert tool["type"] == "function"
    assert tool["function"]["parameters"]["required"] == ["book"]


def test_no_tools_is_no_key(make_row: Any) -> None:
    """The API refuses an empty list of tools."""
    assert "tools" not in chat_line(make_row(tools=[]))
    assert "tools" not in prompt_line(make_row(tools=[]))


@pytest.mark.parametrize(
    ("groups", "parallel"),
    [
        pytest.param([], None, id="no call"),
        pytest.param([[("look", {})], [("look", {})]], None, id="one after the other"),
        pytest.param([[("look", {}), ("look", {})]], True, id="two in a message"),
    ],
)
def test_parallel_calls_are_told(make_row: Any, groups: Any, parallel: bool | None) -> None:
    """`parallel_tool_calls` stands where a message has several calls."""
    assert chat_line(make_row(*groups)).get("parallel_tool_calls") is parallel


def test_metadata_is_of_few_short_texts(gold_rows: list[Row]) -> None:
    """The API takes 16 texts of at most 512 characters."""
    for row in gold_rows:
        metadata = chat_line(row)["metadata"]
        assert len(metadata) <= 16
        assert all(type(text) is str and len(text) <= MAX_METADATA_TEXT for text in metadata.values())
        assert metadata["seed_hex"] == f"{row['seed']:016x}"


def test_labels_are_texts_or_left_out(make_row: Any) -> None:
    """Any JSON value may be a label: it is written as JSON. Null and what is too long are left out."""
    metadata = chat_line(make_row(intent={"b": 1, "a": "é"}, category="x" * 513, difficulty=None))["metadata"]
    assert metadata["intent"] == '{"a":"é","b":1}'
    assert metadata.keys() & {"category", "difficulty"} == set()


def test_a_prompt_is_what_stands_before_the_first_answer(gold_rows: list[Row]) -> None:
    """It is the beginning of the conversation, and ends with what the user says first."""
    for row in gold_rows:
        prompt, whole = prompt_line(row), chat_line(row)
        count = len(prompt["messages"])
        assert prompt["messages"] == whole["messages"][:count]
        assert [message["role"] for message in prompt["messages"]] == ["system", "user"]
        assert whole["messages"][count]["role"] == "assistant"
        assert prompt.get("tools") == whole.get("tools")


def test_a_prompt_tells_nothing_of_what_is_right(make_row: Any) -> None:
    """No call, no label such as the policy, and not whether calls are made at once."""
    prompt = prompt_line(make_row([("look", {}), ("look", {})]))
    assert sorted(prompt) == ["messages", "metadata", "tools"]
    assert sorted(prompt["metadata"]) == [
        "language",
        "pack_id",
        "pack_version",
        "seed_hex",
        "task_id",
        "tier",
    ]
