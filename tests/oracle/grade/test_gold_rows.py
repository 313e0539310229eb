from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from averment.errors import PackError
from averment.oracle.grade.gold import MAX_GOLD_CALLS, GoldTask, GoldTurn, gold_task, gold_tasks

Row = Callable[..., dict[str, Any]]
FIND = [("find", {"id": "A"})]


def test_a_row_is_a_task_with_its_calls_turns_and_tools(row: Row) -> None:
    """Arguments come out of their JSON texts; turns of the user part those of the assistant."""
    made = gold_task(row(">lend", "Which?", ">A", [("find", {"id": "A", "limit": 3}), ("ping", {})], "Done."))
    assert [(call.function_name, call.arguments, call.turn_index) for call in made.calls] == [
        ("find", {"id": "A", "limit": 3}, 1),
        ("ping", {}, 1),
    ]
    assert made.turns == (
        GoldTurn(text="Which?", heard_user=True),
        GoldTurn(calls=(0, 1), heard_user=True),
        GoldTurn(text="Done."),
    )
    assert made.groups == ((0, 1),)
    assert set(made.tools) == {"find", "lend", "ping"}


def test_a_text_right_before_calls_is_of_their_turn(row: Row) -> None:
    """As it is in a run; with a turn of the user between, it is one of its own."""
    assert gold_task(row(">x", "Let me see.", FIND)).turns == (
        GoldTurn(calls=(0,), text="Let me see.", heard_user=True),
    )
    assert gold_task(row(">x", "May I?", ">y", FIND)).turns == (
        GoldTurn(text="May I?", heard_user=True),
        GoldTurn(calls=(0,), heard_user=True),
    )


def test_columns_that_grading_has_no_use_for_are_free(row: Row) -> None:
    """Rows have many more, and other versions have others."""
    made = gold_task(row(">x", FIND, "Done.", tier="gold", seed=2**63, metadata={"language": "en"}))
    assert isinstance(made, GoldTask)


@pytest.mark.parametrize(
    ("changes", "code", "path"),
    [
        ({"task_id": 7}, "wrong_type", "$.task_id"),
        ({"call_order": "odd"}, "not_allowed", "$.call_order"),
        ({"tools": "[1]"}, "tool_function_not_object", "$.tools[0]"),
        ({"tools": "["}, "json_truncated", "$.tools"),
        ({"expected_tool_calls": []}, "gold_row_inconsistent", "$.messages[2].tool_calls"),
        ({"messages": []}, "gold_row_inconsistent", "$.expected_tool_calls"),
    ],
)
def test_a_row_that_is_none_is_refused(row: Row, changes: dict[str, Any], code: str, path: str) -> None:
    """With what is wrong, and where."""
    with pytest.raises(PackError) as refusal:
        gold_task({**row(">x", FIND, "Done."), **changes}, file="benchmark.jsonl", line=3)
    problem = refusal.value.problems[0]
    assert (problem.code, problem.path, problem.file, problem.line) == (code, path, "benchmark.jsonl", 3)


@pytest.mark.parametrize(
    ("text", "code"),
    [("nothing", "json_syntax"), ('{"a": 1, "a": 2}', "not_strict_json"), ("NaN", "not_strict_json")],
)
def test_an_argument_of_gold_is_strict_json(row: Row, text: str, code: str) -> None:
    """Gold that could be read in two ways is none."""
    made = row(">x", FIND)
    made["expected_tool_calls"][0]["arguments"] = {"id": text}
    with pytest.raises(PackError) as refusal:
        gold_task(made)
    assert refusal.value.problems[0].code == code


def test_a_task_expects_a_bounded_number_of_calls(row: Row) -> None:
    """Pairing takes time in the square of it."""
    with pytest.raises(PackError) as refusal:
        gold_task(row(">x", [("ping", {})] * (MAX_GOLD_CALLS + 1)))
    assert refusal.value.problems[0].code == "too_many_gold_calls"


def test_a_benchmark_is_read_line_by_line_and_all_mistakes_are_told(row: Row) -> None:
    """A line that is no JSON, one that is no row, a task that stands there twice."""
    good = json.dumps(row(">x", FIND))
    assert [task.task_id for task in gold_tasks(f"{good}\n\n".encode())] == ["t"]
    with pytest.raises(PackError) as refusal:
        gold_tasks(f"{good}\n{{\n[]\n{good}\n".encode(), file="b.jsonl")
    found = [(problem.code, problem.line) for problem in refusal.value.problems]
    assert found == [("json_truncated", 2), ("wrong_type", 3), ("duplicate_task", 4)]
