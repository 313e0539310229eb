"""Exports put before BFCL's own checker. It runs where `AVERMENT_BFCL_PYTHON` names a Python that has `bfcl-eval`.

python3 -m venv bfcl-env && bfcl-env/bin/pip install --no-deps bfcl-eval==2026.3.23
AVERMENT_BFCL_PYTHON=bfcl-env/bin/python make test
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from averment.oracle.build.exports.bfcl import entry_of
from averment.oracle.build.exports.bfcl_functions import NotExpressibleError

Row = dict[str, Any]

PYTHON = os.environ.get("AVERMENT_BFCL_PYTHON")
SCRIPT = Path(__file__).with_name("bfcl_checker.py")

pytestmark = pytest.mark.skipif(PYTHON is None, reason="AVERMENT_BFCL_PYTHON names no Python with bfcl-eval")

TYPES: dict[str, tuple[dict[str, Any], Any, list[Any]]] = {
    "text": ({"type": "string"}, "alpha", ["beta", "", None, 1]),
    "whole": ({"type": "integer"}, 3, [4, 3.0, "3", True]),
    "number": ({"type": "number"}, 5, [6, 5.5, "5"]),
    "flag": ({"type": "boolean"}, True, [False, 1, "true"]),
    "perhaps": ({"type": ["string", "null"]}, None, ["x", 0]),
    "words": ({"type": "array", "items": {"type": "string"}}, ["a", "b"], [["b", "a"], ["a"], [], "a"]),
    "numbers": ({"type": "array", "items": {"type": "number"}}, [1, 2.5], [[2.5, 1], [1, "2.5"]]),
    "nested": (
        {"type": "object", "properties": {"a": {"type": "string"}, "n": {"type": "integer", "default": 1}}},
        {"a": "x"},
        [{"a": "y"}, {"a": "x", "n": 2}, {"a": "x", "z": 1}, {}],
    ),
    "items": (
        {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}},
        [{"a": "x"}, {"a": "y"}],
        [[{"a": "y"}, {"a": "x"}], [{"a": "x"}], [{"a": "x"}, {}]],
    ),
}
"""Of each type: its schema, a value of gold, and other values."""


def _checked(cases: list[dict[str, Any]], folder: Path) -> list[Any]:
    assert PYTHON is not None
    text = "".join(json.dumps(case) + "\n" for case in cases)
    environment = {**os.environ, "BFCL_PROJECT_ROOT": str(folder)}
    done = subprocess.run(
        [PYTHON, str(SCRIPT)], input=text, capture_output=True, text=True, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(cases)
    return answers


def _case(row: Row, calls: list[dict[str, Any]]) -> dict[str, Any]:
    entry = entry_of(row)
    return {
        "function": entry.function,
        "ground_truth": entry.ground_truth,
        "category": entry.category,
        "calls": calls,
    }


def _gold(row: Row) -> list[dict[str, Any]]:
    return [
        {call["function_name"]: {name: json.loads(text) for name, text in call["arguments"].items()}}
        for call in row["expected_tool_calls"]
    ]


def _altered(calls: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """A call too few, one too many, another tool, and each argument changed or left out."""
    found = [calls[:-1], [*calls, calls[0]], [{"no_tool": {}}, *calls[1:]]]
    for at, call in enumerate(calls):
        ((name, arguments),) = call.items()
        for key, value in arguments.items():
            left = {other: kept for other, kept in arguments.items() if other != key}
            changed = ({**left, key: f"{value}x"}, left, {**arguments, "unknown": 1})
            found += [[*calls[:at], {name: each}, *calls[at + 1 :]] for each in changed]
    return found


def _entries(rows: list[Row]) -> list[Row]:
    """The rows with calls that BFCL can hold."""
    found = []
    for row in rows:
        try:
            if entry_of(row).ground_truth:
                found.append(row)
        except NotExpressibleError:
            continue
    return found


def test_gold_is_valid_and_what_is_altered_is_not(gold_rows: list[Row], tmp_path: Path) -> None:
    """For every row of the example packs."""
    rows = _entries(gold_rows)
    right = [_case(row, _gold(row)) for row in rows]
    wrong = [_case(row, calls) for row in rows for calls in _altered(_gold(row))]
    answers = _checked(right + wrong, tmp_path)
    assert answers[: len(right)] == [True] * len(right)
    assert len(right) > 10
    for case, answer in zip(wrong, answers[len(right) :], strict=True):
        assert answer is not True, case


@pytest.mark.parametrize("kind", TYPES)
def test_values_of_every_type_are_told_apart(make_row: Any, tmp_path: Path, kind: str) -> None:
    """Gold is valid, alone and as one of two parallel calls; other values are not."""
    schema, gold, others = TYPES[kind]
    parameters = {"type": "object", "properties": {"p": schema}, "required": ["p"]}
    tool = {"type": "function", "function": {"name": "a.tool", "parameters": parameters}}
    single = make_row([("a.tool", {"p": gold})], tools=[tool])
    double = make_row([("a.tool", {"p": gold}), ("a.tool", {"p": gold})], tools=[tool])
    cases = [_case(single, _gold(single)), _case(double, _gold(double))]
    cases += [_case(single, [{"a.tool": {"p": other}}]) for other in others]
    cases += [_case(double, [{"a.tool": {"p": gold}}, {"a.tool": {"p": other}}]) for other in others]
    answers = _checked(cases, tmp_path)
    assert [answer is True for answer in answers] == [True, True] + [False] * 2 * len(others)


def test_a_default_may_be_left_out_or_said(make_row: Any, tmp_path: Path) -> None:
    """Whether gold says it or not; and nothing else may be said instead."""
    properties = {"p": {"type": "integer", "default": 7}, "class": {"type": "string"}}
    parameters = {"type": "object", "properties": properties, "required": ["class"]}
    tool = {"type": "function", "function": {"name": "f", "parameters": parameters}}
    cases = []
    for stated in ({}, {"p": 7}):
        row = make_row([("f", {**stated, "class": "x"})], tools=[tool])
        cases += [_case(row, [{"f": {**said, "_class": "x"}}]) for said in ({}, {"p": 7}, {"p": 8})]
    answers = _checked(cases, tmp_path)
    assert [answer is True for answer in answers] == [True, True, False] * 2
