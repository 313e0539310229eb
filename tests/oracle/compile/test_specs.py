from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

import pytest

from averment.errors import DocumentError, Problem
from averment.oracle.compile.published import published_tools
from averment.oracle.compile.refusals import REFUSALS
from averment.oracle.compile.specs import PREDICATES, UNKNOWNS, Spec, read_specs
from averment.text.source import read_source

TOOLS: Mapping[str, object] = {
    "find_book": {"allOf": [{"$ref": "#/$defs/title"}], "$defs": {"title": {"properties": {"title": {}}}}},
    "lend_book": {"properties": {"book_id": {}}},
}
DEFAULT: dict[str, Any] = {
    "assertion_id": "lent",
    "subject": "trace",
    "predicate": "tool_called",
    "target": "lend_book",
    "argument": None,
    "tool": None,
    "rationale": "Nothing is lent without the call.",
    "blocked_on": [],
}


def spec(**fields: Any) -> dict[str, Any]:
    return {**DEFAULT, **fields}


def read(
    *specs: object, tools: Mapping[str, object] | None = TOOLS, resolved: Collection[str] | None = None
) -> list[Spec]:
    return read_specs(read_source(json.dumps(specs), name="specs.json"), tools=tools, resolved=resolved)


def refused(*specs: object, **more: Any) -> list[Problem]:
    with pytest.raises(DocumentError) as caught:
        read(*specs, **more)
    return list(caught.value.problems)


def codes(*specs: object, **more: Any) -> list[str]:
    return [problem.code for problem in refused(*specs, **more)]


ORDER = {"predicate": "tool_called_after", "tool": "find_book"}
RESULT = {"subject": "result", "predicate": "field_equals_argument", "target": "id"}

SINGLE: dict[str, tuple[dict[str, Any], str]] = {
    "malformed_assertion_id": (spec(assertion_id="Lent"), "$[0].assertion_id"),
    "wrong_subject": (spec(subject="state"), "$[0].subject"),
    "unknown_tool": (spec(target="lend_bok"), "$[0].target"),
    "missing_earlier_tool": (spec(**{**ORDER, "tool": None}), "$[0]"),
    "order_with_itself": (spec(**{**ORDER, "tool": "lend_book"}), "$[0].tool"),
    "undeclared_unknown": (spec(**ORDER), "$[0].blocked_on"),
    "hidden_character": (spec(rationale="a\u202eb"), "$[0].rationale"),
    "blocked": (spec(blocked_on=["state_deltas"]), "$[0].blocked_on"),
}
"""The smallest spec that is refused for nothing but this, and the place told."""


@pytest.mark.parametrize("code", SINGLE)
def test_the_smallest_mistake_earns_exactly_its_refusal(code: str) -> None:
    """Each refusal has its code, its file, line and path, and its mend."""
    wrong, path = SINGLE[code]
    resolved: list[str] | None = [] if code == "undeclared_unknown" else None
    (problem,) = refused(wrong, resolved=resolved)
    assert (problem.code, problem.path, problem.file, problem.line) == (code, path, "specs.json", 1)
    assert problem.mend == REFUSALS[code].mend


ALWAYS_WITH = {
    "no_specs": ([], None),
    "duplicate_assertion_id": ([spec(), spec()], ["duplicate_assertion_id"]),
    "not_compiled": (
        [spec(subject="result", predicate="field_present", target="x")],
        ["not_compiled"],
    ),
    "missing_tool": ([spec(**RESULT, argument="x")], ["missing_tool", "not_compiled"]),
    "missing_argument": ([spec(**RESULT, tool="lend_book")], ["missing_argument", "not_compiled"]),
    "unknown_argument": (
        [spec(**RESULT, tool="find_book", argument="titel")],
        ["not_compiled", "unknown_argument"],
    ),
}
"""Refusals that need several specs or none, or that only specs can earn which don't compile anyway."""


@pytest.mark.parametrize("code", ALWAYS_WITH)
def test_other_refusals_come_with_what_they_can_not_do_without(code: str) -> None:
    """Nothing else is told beside them."""
    specs, expected = ALWAYS_WITH[code]
    assert sorted(codes(*specs)) == (expected or [code])


def test_a_resolved_unknown_may_not_be_waited_for() -> None:
    """The spec is refused for that, and for waiting at all."""
    found = refused(spec(blocked_on=["state_deltas"]), resolved=["state_deltas"])
    assert [(problem.code, problem.path) for problem in found] == [
        ("blocked", "$[0].blocked_on"),
        ("resolved_unknown", "$[0].blocked_on[0]"),
    ]
    assert "not an open unknown" in found[1].message


def test_every_refusal_is_tested_and_says_what_to_do() -> None:
    """The table of codes is closed."""
    assert set(REFUSALS) == {*SINGLE, *ALWAYS_WITH, "resolved_unknown"}
    assert all(reason.mend.endswith(".") and not reason.about.endswith(".") for reason in REFUSALS.values())


def test_every_refusal_of_every_spec_is_told_at_once() -> None:
    """Mistakes of shape and of content, of all specs, in the order of the text."""
    text = json.dumps(
        [
            spec(target="lend_bok", rational="typo"),
            spec(subject="state", blocked_on=["nothing"]),
            {"assertion_id": "x"},
            7,
        ],
        indent=1,
    )
    with pytest.raises(DocumentError) as caught:
        read_specs(read_source(text), tools=TOOLS)
    found = caught.value.problems
    assert [problem.code for problem in found] == [
        *(
            "unknown_tool",
            "unknown_field",
            "duplicate_assertion_id",
            "wrong_subject",
            "blocked",
            "not_allowed",
        ),
        *("missing_field", "missing_field", "missing_field", "missing_field", "malformed_assertion_id"),
        "wrong_type",
    ]
    lines = [problem.line or 0 for problem in found]
    assert lines == sorted(lines)


def test_unknown_names_are_told_with_the_nearest() -> None:
    """Tools, arguments, predicates and fields."""
    assert refused(spec(target="lend_bok"))[0].nearest == "lend_book"
    assert refused(spec(predicate="tool_caled"))[0].nearest == "tool_called"
    assert refused(spec(rationle="x"))[0].nearest == "rationale"
    by_argument = {p.code: p for p in refused(spec(**RESULT, tool="find_book", argument="titel"))}
    assert by_argument["unknown_argument"].nearest == "title"


def test_a_tool_cannot_be_required_to_run_after_itself() -> None:
    """The contract's words."""
    (problem,) = refused(spec(**{**ORDER, "tool": "lend_book"}))
    assert problem.message == "a tool cannot be required to run after itself"


@pytest.mark.parametrize("id_", ["ab", "_ab", "a-b", "aé1", "a" * 65, "abc\n", ""])
def test_ids_are_short_names_in_lower_case(id_: str) -> None:
    """3 to 64 of a-z, 0-9 and `_`, the first no underscore."""
    assert codes(spec(assertion_id=id_)) == ["malformed_assertion_id"]


@pytest.mark.parametrize("id_", ["abc", "0_a", "a" * 64])
def test_the_longest_and_shortest_ids_are_right(id_: str) -> None:
    """A digit may come first: the name in the code begins with `assert_`."""
    assert [each.name for each in read(spec(assertion_id=id_))] == [f"assert_{id_}"]


@pytest.mark.parametrize(
    "char", ["\u200b", "\u2066", "\ufeff", "\u00ad", "\x00", "\x1b", "\x7f", "\ufe0f", "\U000e0041", "\u3164"]
)
@pytest.mark.parametrize("field", ["rationale", "target"])
def test_what_can_not_be_seen_is_refused_at_its_place(char: str, field: str) -> None:
    """Zero-width, directional and control characters; the column is the character's."""
    (problem,) = refused(spec(**{field: f"ab{char}"}), tools=None)
    assert (problem.code, problem.found) == ("hidden_character", f"U+{ord(char):04X}")
    where = refused(spec(**{field: char}), tools=None)[0]
    assert (problem.column or 0) == (where.column or 0) + 2


def test_white_space_and_letters_of_any_script_are_seen() -> None:
    """Line ends are folded later, and are no reason to refuse."""
    assert read(spec(rationale="một\u00a0lần\r\n\u2028дважды\f\x85三次 \U0001f600"))


def test_an_order_compiles_once_its_dependency_is_observed() -> None:
    """Or where nothing is said of what is resolved, so that an empty `blocked_on` is taken at its word."""
    assert read(spec(**ORDER), resolved=["tool_dependencies"])
    assert read(spec(**ORDER), resolved=None)
    assert codes(spec(**ORDER), resolved=["state_deltas"]) == ["undeclared_unknown"]


def test_an_open_unknown_that_is_declared_still_blocks() -> None:
    """Declaring it is honest, and compiles nothing."""
    assert codes(spec(**ORDER, blocked_on=["tool_dependencies"]), resolved=[]) == ["blocked"]


@pytest.mark.parametrize("key", ["assertions", "specs"])
def test_an_object_can_name_the_list_and_what_is_resolved(key: str) -> None:
    """Under the contract's name, or ours; the caller's and the file's resolved unknowns count together."""
    text = json.dumps({key: [spec(**ORDER)], "resolved": ["tool_dependencies"]})
    assert len(read_specs(read_source(text), tools=TOOLS, resolved=["state_deltas"])) == 1
    with pytest.raises(DocumentError) as caught:
        read_specs(read_source(json.dumps({key: [spec(**ORDER)], "resolved": []})), tools=TOOLS)
    assert [(p.code, p.path) for p in caught.value.problems] == [
        ("undeclared_unknown", f"$.{key}[0].blocked_on")
    ]


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ({"assertions": [], "specs": []}, "no_specs"),
        ({"resolved": []}, "no_specs"),
        ({"specs": []}, "no_specs"),
        ([], "no_specs"),
        ({"spec": [spec()]}, "unknown_field"),
        ({"specs": {}}, "wrong_type"),
        ({"specs": [spec()], "resolved": ["all"]}, "not_allowed"),
        ("specs", "wrong_type"),
        (None, "wrong_type"),
    ],
)
def test_a_file_without_one_list_of_specs_is_refused(value: object, code: str) -> None:
    """Two lists, none, an empty one, or something else."""
    with pytest.raises(DocumentError) as caught:
        read_specs(read_source(json.dumps(value)))
    assert [problem.code for problem in caught.value.problems] == [code]


def test_yaml_is_read_as_well() -> None:
    """And what may be left out is null or empty."""
    text = """\
- assertion_id: lent
  subject: trace
  predicate: tool_called
  target: lend_book
  rationale: Nothing is lent without the call.
"""
    assert read_specs(read_source(text), tools=TOOLS) == read(spec())


def test_without_a_catalog_names_are_not_checked() -> None:
    """Nobody can know them."""
    assert read(spec(target="anything"), tools=None)


def test_every_predicate_says_what_it_is_about() -> None:
    """Only those on the trace compile; what one depends on is a known unknown."""
    assert {name for name, each in PREDICATES.items() if each.compiles} == {
        name for name, each in PREDICATES.items() if each.subject == "trace"
    }
    assert {each.depends_on for each in PREDICATES.values()} <= {None, *UNKNOWNS}


def test_published_tools_are_read_from_a_catalog() -> None:
    """With their parameters, whether or not these are right."""
    text = json.dumps([{"function": {"name": "a", "parameters": {"type": "x"}}}, {"function": {"name": "b"}}])
    assert published_tools(read_source(text)) == {"a": {"type": "x"}, "b": None}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"tools": []}, [("tools_not_array", None)]),
        (
            [{"function": {"name": ""}}, 1],
            [("tool_name_not_nonempty_string", "$[0].function.name"), ("tool_not_object", "$[1]")],
        ),
    ],
)
def test_a_catalog_without_names_is_refused(value: object, expected: list[tuple[str, str | None]]) -> None:
    """What is no list, and every tool without a name."""
    with pytest.raises(DocumentError) as caught:
        published_tools(read_source(json.dumps(value)))
    assert [(problem.code, problem.path) for problem in caught.value.problems] == expected
