from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from averment.oracle.build.exports.bfcl import CATEGORIES, REASONS, TASKS, bfcl_lines

Row = dict[str, Any]
Files = dict[str, list[dict[str, Any]]]

A = ("look", {"book": "A"})
B = ("look", {"book": "B"})
LOOK = {
    "type": "function",
    "function": {
        "name": "look",
        "parameters": {"type": "object", "properties": {"book": {"type": "string"}}, "required": ["book"]},
    },
}
OTHER = {
    "type": "function",
    "function": {"name": "other", "parameters": {"type": "object", "properties": {}}},
}
ODD = {"type": "function", "function": {"name": "odd", "parameters": {"properties": {"p": {}}}}}
HYPHEN = {"type": "function", "function": {"name": "get-it", "parameters": {"properties": {}}}}
OPEN = {"type": "function", "function": {"name": "look", "parameters": {"type": "object", "properties": {}}}}


def _files(*rows: Row) -> Files:
    files: Files = {}
    for file, line in bfcl_lines(rows):
        files.setdefault(file, []).append(line)
    return files


PLACES: dict[str, tuple[Any, Any]] = {
    "simple_python": ([[A]], [LOOK]),
    "multiple": ([[A]], [LOOK, OTHER]),
    "parallel": ([[A, B]], [LOOK]),
    "parallel_multiple": ([[A, ("other", {})]], [LOOK, OTHER]),
    "irrelevance": ([], [LOOK, OTHER]),
}
"""The calls and the tools of a row of each category."""


@pytest.mark.parametrize("category", CATEGORIES)
def test_a_row_goes_to_its_category(make_row: Any, category: str) -> None:
    """By how many tools the agent sees and how many calls it makes."""
    groups, tools = PLACES[category]
    files = _files(make_row(*groups, tools=tools))
    (question,) = files.pop(f"BFCL_v4_{category}.json")
    assert question["id"] == f"{category}_0"
    assert [each["name"] for each in question["function"]] == [tool["function"]["name"] for tool in tools]
    assert files.pop(TASKS) == [{"task_id": "p__t__0", "id": f"{category}_0", "category": category}]
    if groups:
        (answer,) = files.pop(f"possible_answer/BFCL_v4_{category}.json")
        assert answer["id"] == question["id"]
        assert [next(iter(call)) for call in answer["ground_truth"]] == [name for name, _ in groups[0]]
    assert files == {}


def test_an_entry_is_as_bfcl_has_it(make_row: Any) -> None:
    """One turn of the messages before the answer, and calls with lists of accepted values."""
    files = _files(make_row([A]))
    (question,) = files["BFCL_v4_simple_python.json"]
    assert question["question"] == [
        [{"role": "system", "content": "Help."}, {"role": "user", "content": "Is *Momo* there? ¿Sí?"}]
    ]
    (answer,) = files["possible_answer/BFCL_v4_simple_python.json"]
    assert answer["ground_truth"] == [{"look": {"book": ["A"]}}]


def test_ids_count_in_their_category(make_row: Any) -> None:
    """From 0, with no gap for what is left out: BFCL pairs questions and answers by their lines."""
    files = _files(make_row([A]), make_row([A], [B]), make_row(), make_row([B]))
    assert [each["id"] for each in files["BFCL_v4_simple_python.json"]] == [
        "simple_python_0",
        "simple_python_1",
    ]
    answers = files["possible_answer/BFCL_v4_simple_python.json"]
    assert [each["id"] for each in answers] == ["simple_python_0", "simple_python_1"]
    assert [each.get("id", each.get("reason")) for each in files[TASKS]] == [
        *("simple_python_0", "several_call_groups", "irrelevance_0", "simple_python_1"),
    ]


def test_renamed_parameters_are_told(make_row: Any) -> None:
    """With the names that the pack has."""
    tool = {
        "type": "function",
        "function": {
            "name": "go",
            "parameters": {"type": "object", "properties": {"from": {"type": "string"}}},
        },
    }
    files = _files(make_row([("go", {"from": "Ulm"})], tools=[tool]))
    assert files[TASKS][0]["renamed"] == {"go.from": "_from"}
    assert files["possible_answer/BFCL_v4_simple_python.json"][0]["ground_truth"] == [
        {"go": {"_from": ["Ulm"]}}
    ]


def _said(role: str, content: str) -> dict[str, Any]:
    return {"role": role, "content": content, "tool_calls": None, "tool_call_id": None}


LEFT_OUT: dict[str, Any] = {
    "multi_turn": lambda row: row([A], is_multi_turn=True),
    "several_call_groups": lambda row: row([A], [B]),
    "text_before_calls": lambda row: row(
        [A], messages=[_said("user", "?"), _said("assistant", "One moment."), *row([A])["messages"][2:]]
    ),
    "no_call_expected": lambda row: row(turn_policy="clarify_only"),
    "name_not_expressible": lambda row: row([A], tools=[LOOK, HYPHEN]),
    "schema_not_expressible": lambda row: row([A], tools=[LOOK, ODD]),
    "value_not_expressible": lambda row: row([A], tools=[OPEN]),
}


@pytest.mark.parametrize("reason", REASONS)
def test_what_bfcl_can_not_hold_is_left_out_and_told(make_row: Any, reason: str) -> None:
    """Each reason, by its smallest example: nothing but the line that says why."""
    files = _files(LEFT_OUT[reason](make_row))
    assert files.keys() == {TASKS}
    ((told,),) = files.values()
    assert (told["task_id"], told["reason"]) == ("p__t__0", reason)
    assert told["detail"]


def test_a_reason_of_the_tools_is_told_for_every_row(make_row: Any) -> None:
    """The tools of a template are looked at once; what is wrong with them is told each time."""
    files = _files(make_row([A], tools=[LOOK, ODD]), make_row([B], tools=[LOOK, ODD]))
    assert [each["reason"] for each in files[TASKS]] == ["schema_not_expressible"] * 2


def test_every_row_of_the_example_packs_is_told_of(gold_rows: list[Row]) -> None:
    """In the order of the rows; a task of one turn is left out only where its calls follow on results or it asks back."""
    told = _files(*gold_rows)[TASKS]
    assert [each["task_id"] for each in told] == [row["task_id"] for row in gold_rows]
    single = {row["task_id"] for row in gold_rows if not row["is_multi_turn"]}
    reasons = Counter(each["reason"] for each in told if "reason" in each and each["task_id"] in single)
    assert reasons.keys() == {"several_call_groups", "no_call_expected"}
    assert sum("id" in each for each in told) == len(single) - reasons.total()
    assert {each["category"] for each in told if "id" in each} == {
        "multiple",
        "parallel_multiple",
        "irrelevance",
    }
