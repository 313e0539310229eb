"""The `examples` of assertions, and the worked example of every kind."""

from __future__ import annotations

from typing import Any

import pytest

from averment.assertions import KINDS, kind
from averment.assertions.codes import Code
from averment.documents import Document
from averment.engine.examples import try_examples


def tried(**fields: Any) -> list[tuple[str, str | None]]:
    document = Document.of(
        {"version": 1, "assertions": [{"id": "a", "kind": "phrase", "regex": "refund", **fields}]}
    )
    return [(problem.code, problem.path) for problem in try_examples(document)]


@pytest.mark.parametrize("name", [name for name in KINDS if kind(name).decides])
def test_the_worked_example_of_each_kind_holds_and_shows_both_verdicts(name: str) -> None:
    """Each reference page shows a document with examples that pass and fail, and they do."""
    document = Document.parse(kind(name).example)
    (shown,) = [item for item in document.assertions if isinstance(item, kind(name)) and item.examples]
    assert shown.examples.passing  # type: ignore[union-attr]
    assert shown.examples.failing  # type: ignore[union-attr]
    assert try_examples(document) == []


@pytest.mark.parametrize("name", list(KINDS))
def test_each_kind_lists_its_codes(name: str) -> None:
    """The reference page of a kind says every code that it can give, each once."""
    codes = kind(name).codes
    assert codes
    assert len(set(codes)) == len(codes)
    assert all(isinstance(code, Code) for code in codes)


def test_an_example_that_gets_another_verdict_is_told_with_its_place() -> None:
    """A pattern that can't fail, or can't pass, is caught by its own examples."""
    assert tried(examples={"pass": ["a refund", "nothing"], "fail": ["no", "refund"]}) == [
        ("example_contradicts", "$.assertions[0].examples.pass[1]"),
        ("example_contradicts", "$.assertions[0].examples.fail[1]"),
    ]


def test_an_undecided_example_is_neither_a_pass_nor_a_fail() -> None:
    """Evidence that is missing in an example is a mistake of the example."""
    assert tried(examples={"fail": [{"spans": []}]}) == [
        ("example_contradicts", "$.assertions[0].examples.fail[0]")
    ]


def test_an_example_that_cannot_be_read_is_told_with_its_place() -> None:
    """Each problem of the evidence is told at the example."""
    assert tried(examples={"pass": [{"transcrpt": []}]}) == [
        ("example_unreadable", "$.assertions[0].examples.pass[0]")
    ]


def test_a_text_is_one_turn_of_the_role_that_the_assertion_listens_to() -> None:
    """For an assertion about the caller, the caller says it; without a role, the agent."""
    assert tried(role="caller", examples={"pass": ["refund"]}) == []
    assert tried(examples={"pass": ["refund"]}) == []


def test_preconditions_do_not_stop_an_assertion_from_being_tried() -> None:
    """`when` and `applies_if` are about other conversations than the examples."""
    document = Document.of(
        {
            "version": 1,
            "assertions": [
                {"id": "no", "kind": "phrase", "regex": "never said"},
                {
                    "id": "a",
                    "kind": "phrase",
                    "regex": "refund",
                    "when": "no",
                    "applies_if": {"labels": {"x": 1}},
                    "examples": {"pass": ["refund"], "fail": ["x"]},
                },
            ],
        }
    )
    assert try_examples(document) == []


@pytest.mark.parametrize("name", [name for name in KINDS if not kind(name).decides])
def test_the_examples_of_a_kind_that_is_left_open_are_not_tried(name: str) -> None:
    """A rubric's examples are for its own lane."""
    example = {"pass": ["x"], "fail": ["y"]}
    required = {"bundle": "x"} if name == "timing_contract" else {}
    document = Document.of(
        {"version": 1, "assertions": [{"id": "a", "kind": name, "examples": example, **required}]}
    )
    assert try_examples(document) == []
