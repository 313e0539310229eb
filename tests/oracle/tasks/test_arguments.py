from __future__ import annotations

from typing import Any

import pytest

from averment.oracle.model.templates import Milestone
from averment.oracle.model.tools import Tool
from averment.oracle.tasks.arguments import argument_texts, required_parameters, slots_read
from averment.oracle.tasks.placeholders import placeholders, sole_placeholder


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("{a} and {b_2}", [(0, "a"), (8, "b_2")]),
        ("{{a}}", [(1, "a")]),
        ("{ a} {1a} {a-b} {} {ä} {a", []),
        ("{a}{a}", [(0, "a"), (3, "a")]),
    ],
)
def test_a_placeholder_is_an_ascii_name_in_braces(text: str, found: list[tuple[int, str]]) -> None:
    """Everything else in braces is text; nothing escapes a brace."""
    assert placeholders(text) == found


@pytest.mark.parametrize(("text", "name"), [("{a}", "a"), ("{a} ", None), ("{a}{b}", None), ("{a}\n", None)])
def test_a_sole_placeholder_is_the_whole_text(text: str, name: str | None) -> None:
    """The slot then keeps its type."""
    assert sole_placeholder(text) == name


def test_texts_of_arguments_are_found_at_any_depth() -> None:
    """But not in markers, whose strings are names of calls and paths."""
    tree = {"a": "{x}", "b": [1, {"c": "y"}], "d": {"from_result": {"call": "{z}", "path": "p"}}}
    assert list(argument_texts(tree)) == [(("a",), "{x}"), (("b", 1, "c"), "y")]


@pytest.mark.parametrize(
    ("parameters", "required"),
    [
        ({"required": ["a", "b"]}, ["a", "b"]),
        ({"required": ["a", 1]}, ["a"]),
        ({"required": "a"}, []),
        ({}, []),
        (None, []),
    ],
)
def test_required_parameters_are_those_that_the_catalog_says(parameters: Any, required: list[str]) -> None:
    """A schema that is none requires nothing; that it is none is check 3's finding."""
    assert required_parameters(Tool(name="t", parameters=parameters)) == required


def test_a_call_reads_the_slots_that_it_names_and_those_of_required_parameters() -> None:
    """An argument that is given is not filled; an optional parameter never is."""
    tool = Tool(name="t", parameters={"properties": {"c": {}}, "required": ["a", "b"]})
    call = Milestone(type="tool_call", tool="t", args={"a": "to {d}", "e": [{"f": "{g}"}]})
    assert slots_read(call, tool, ["a", "b", "c", "d", "g", "h"]) == {"b", "d", "g"}
    assert slots_read(call, None, ["a", "b", "d"]) == {"d"}
