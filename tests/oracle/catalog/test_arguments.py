from __future__ import annotations

import math
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from averment.oracle.catalog.arguments import MAX_FAILURES, REASONS, ArgumentFailure, argument_failures
from averment.oracle.catalog.definitions import definition_failures
from averment.oracle.catalog.schema import TYPES
from averment.text.jsontext import NonFinite


def told(schema: object, value: object, **parameters: Any) -> list[tuple[str, str]]:
    """Reasons and paths for one argument `a` of this schema."""
    found = argument_failures({"properties": {"a": schema}, **parameters}, {"a": value})
    return [(failure.reason, failure.path) for failure in found]


CASES: dict[str, tuple[object, object, str]] = {
    "arguments_not_object": ({}, [], ""),
    "argument_type_mismatch": ({"properties": {"a": {"type": "integer"}}}, {"a": "1"}, "a"),
    "argument_not_in_enum": ({"properties": {"a": {"enum": ["x"]}}}, {"a": "y"}, "a"),
    "argument_not_equal_const": ({"properties": {"a": {"const": 1}}}, {"a": 2}, "a"),
    "string_too_short": ({"properties": {"a": {"minLength": 2}}}, {"a": "x"}, "a"),
    "string_too_long": ({"properties": {"a": {"maxLength": 1}}}, {"a": "xy"}, "a"),
    "string_pattern_mismatch": ({"properties": {"a": {"pattern": "^x"}}}, {"a": "yx"}, "a"),
    "number_below_minimum": ({"properties": {"a": {"minimum": 1}}}, {"a": 0.5}, "a"),
    "number_above_maximum": ({"properties": {"a": {"maximum": 1}}}, {"a": 2}, "a"),
    "array_too_short": ({"properties": {"a": {"minItems": 1}}}, {"a": []}, "a"),
    "array_too_long": ({"properties": {"a": {"maxItems": 0}}}, {"a": [1]}, "a"),
    "missing_required_argument": ({"properties": {"a": {}}, "required": ["a"]}, {}, "a"),
    "unknown_argument": ({"additionalProperties": False}, {"b": 1}, "b"),
    "unresolvable_schema_ref": ({"properties": {"a": {"$ref": "#/no"}}}, {"a": 1}, "a"),
    "invalid_schema_type": ({"properties": {"a": {"type": "int"}}}, {"a": 1}, "a"),
}
"""The smallest schema and arguments that earn each reason, and the path told."""


def test_every_reason_has_a_case() -> None:
    """The table of cases below covers the closed table of reasons."""
    assert set(CASES) == set(REASONS)


@pytest.mark.parametrize("reason", CASES)
def test_the_smallest_mistake_earns_exactly_its_reason(reason: str) -> None:
    """One mistake, one failure, whose message names the argument."""
    parameters, arguments, path = CASES[reason]
    (failure,) = argument_failures(parameters, arguments)
    assert (failure.reason, failure.path) == (reason, path)
    assert f"`{path}`" in failure.message or not path
    assert not failure.message.endswith(".")


def test_paths_are_read_as_people_write_them() -> None:
    """`limit`, `payload.label`, `payload.counts[1]`, and in quotes what is no identifier."""
    payload = {
        "properties": {
            "label": {"type": "string"},
            "counts": {"items": {"type": "integer"}},
            "odd key": {"type": "null"},
        },
        "required": ["id"],
    }
    found = argument_failures(
        {"properties": {"limit": {"type": "integer"}, "payload": payload}},
        {"limit": None, "payload": {"label": 1, "counts": [1, "2", True], "odd key": 0}},
    )
    assert [(failure.path, failure.steps) for failure in found] == [
        ("limit", ("limit",)),
        ("payload.id", ("payload", "id")),
        ("payload.label", ("payload", "label")),
        ("payload.counts[1]", ("payload", "counts", 1)),
        ("payload.counts[2]", ("payload", "counts", 2)),
        ('payload["odd key"]', ("payload", "odd key")),
    ]


@pytest.mark.parametrize(
    ("type_", "right"),
    [
        ("string", [""]),
        ("integer", [0, 10**40]),
        ("number", [0, 10**40, 0.5, 1.0]),
        ("boolean", [True]),
        ("array", [[]]),
        ("object", [{}]),
        ("null", [None]),
    ],
)
def test_a_value_has_one_type_and_integers_are_numbers(type_: str, right: list[object]) -> None:
    """`true` is no integer and no number, `1.0` is a number and no integer, text is no number."""
    values: list[object] = ["", 0, 10**40, 0.5, 1.0, True, [], {}, None]
    kept = [value for value in values if not told({"type": type_}, value)]
    assert [(type(value), value) for value in kept] == [(type(value), value) for value in right]


@pytest.mark.parametrize("value", [math.nan, math.inf, NonFinite("NaN")])
@pytest.mark.parametrize("schema", [{"type": "number"}, {"enum": [1, "NaN"]}, {"const": "NaN"}])
def test_a_number_that_json_has_not_fits_nothing(schema: object, value: object) -> None:
    """NaN is of no type of number and equals no value."""
    assert told(schema, value)


def test_a_list_of_types_is_their_union() -> None:
    """Any one of them will do."""
    schema = {"type": ["integer", "null"]}
    assert [told(schema, value) for value in (1, None)] == [[], []]
    assert told(schema, "1") == [("argument_type_mismatch", "a")]


@pytest.mark.parametrize(
    ("value", "allowed"), [(1, True), (True, False), (1.0, False), ("1", False), (2, False)]
)
def test_equality_is_canonical(value: object, allowed: bool) -> None:
    """`1`, `1.0`, `true` and text are four values, for `enum` and `const`, at any depth."""
    for schema, wrapped in (
        ({"const": 1}, value),
        ({"enum": [0, 1]}, value),
        ({"const": [{"x": 1}]}, [{"x": value}]),
    ):
        assert (not told(schema, wrapped)) is allowed


def test_a_pattern_is_searched_for() -> None:
    """It need not match the whole string."""
    assert told({"pattern": "b"}, "abc") == []


def test_lengths_are_counted_in_code_points() -> None:
    """A character beyond the basic plane is one."""
    assert told({"maxLength": 1}, "\U0001f600") == []


def test_a_type_mismatch_stops_deeper_checks() -> None:
    """Nothing else is said of a value that is of another type, by whichever of its schemas."""
    schema = {"allOf": [{"enum": ["x"]}, {"type": "string"}], "const": "x", "required": ["b"]}
    assert told(schema, {"b": 1}) == [("argument_type_mismatch", "a")]


def test_a_mismatch_says_that_1_0_is_no_integer() -> None:
    """The one mismatch that people don't see is explained."""
    (failure,) = argument_failures({"properties": {"a": {"type": "integer"}}}, {"a": 1.0})
    assert failure.message == "`a` must be of type integer and is 1.0, which is no integer"


def test_references_and_members_of_all_of_apply_together() -> None:
    """Beside what stands next to them, and to the same value."""
    schema = {"$ref": "#/$defs/base", "allOf": [{"maximum": 5}], "minimum": 3}
    definitions = {"base": {"type": "integer", "allOf": [{"enum": [1, 4, 9]}]}}
    assert [told(schema, value, **{"$defs": definitions}) for value in (4, 1, 9)] == [
        [],
        [("number_below_minimum", "a")],
        [("number_above_maximum", "a")],
    ]


def test_each_schema_counts_its_own_properties_as_known() -> None:
    """`additionalProperties: false` does not see what another schema of the same value declares."""
    schema = {
        "allOf": [{"properties": {"b": {}}}],
        "properties": {"c": {}},
        "additionalProperties": False,
    }
    assert told(schema, {"b": 1, "c": 2}) == [("unknown_argument", "a.b")]


def test_a_reference_in_a_circle_fails_the_value() -> None:
    """What can't be followed to its end allows nothing."""
    schema = {"allOf": [{"$ref": "#/properties/a"}]}
    assert told(schema, 1) == [("unresolvable_schema_ref", "a")]


def test_a_schema_that_holds_itself_is_followed_as_deep_as_the_value() -> None:
    """Where a definition is refused, arguments still end."""
    node = {"type": "object", "properties": {"child": {"$ref": "#/properties/a"}}}
    value: Any = 7
    for _ in range(40):
        value = {"child": value}
    assert told(node, value) == [("argument_type_mismatch", "a" + ".child" * 40)]


def test_schemas_that_double_at_each_step_are_looked_at_once() -> None:
    """A chain of sixty definitions, each referring twice to the next, has 2^60 ways and takes no time."""
    chain: dict[str, Any] = {
        f"d{index}": {"allOf": [{"$ref": f"#/$defs/d{index + 1}"}] * 2} for index in range(60)
    }
    definitions = {**chain, "d60": {"type": "integer"}}
    assert told({"$ref": "#/$defs/d0"}, "x", **{"$defs": definitions}) == [("argument_type_mismatch", "a")]


def test_a_schema_that_takes_too_many_steps_is_told() -> None:
    """Work is bounded: a million steps, then a failure that says so."""
    items: dict[str, Any] = {"items": {"allOf": [{} for _ in range(2000)]}}
    (failure,) = argument_failures({"properties": {"a": items}}, {"a": [0] * 1000})
    assert failure.reason == "unresolvable_schema_ref"
    assert "1,000,000 steps" in failure.message


def test_failures_are_counted_to_a_limit_and_each_is_told_once() -> None:
    """A long list of wrong items gives so many and no more; two schemas that say the same say it once."""
    assert len(told({"items": {"type": "string"}}, [0] * 5000)) == MAX_FAILURES
    assert told({"type": "null", "allOf": [{"type": "null"}]}, 1) == [("argument_type_mismatch", "a")]


def test_a_broken_keyword_is_passed_over() -> None:
    """It is for the definition to tell; the value is checked by what makes sense."""
    broken = {"enum": 1, "minLength": "2", "pattern": "(", "properties": [], "required": "a", "items": 1}
    assert told(broken, "x") == []
    assert [each.reason for each in argument_failures(None, {})] == ["invalid_schema_type"]


_NUMBERS = st.integers(-3, 3) | st.sampled_from([0.5, 1.5, -2.5])
_VALUES = st.recursive(
    st.none() | st.booleans() | _NUMBERS | st.text("ab", max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=6,
)
_NAMES = st.sampled_from("xyz")


@st.composite
def _schemas(draw: st.DrawFn, depth: int = 2) -> dict[str, Any]:
    simple: dict[str, st.SearchStrategy[Any]] = {
        "type": st.sampled_from(list(TYPES))
        | st.lists(st.sampled_from(list(TYPES)), min_size=1, unique=True),
        "enum": st.lists(_VALUES, min_size=1, max_size=3),
        "const": _VALUES,
        "minimum": _NUMBERS,
        "maximum": _NUMBERS,
        "minLength": st.integers(0, 2),
        "maxLength": st.integers(0, 2),
        "minItems": st.integers(0, 2),
        "maxItems": st.integers(0, 2),
        "pattern": st.sampled_from(["a", "^a", "b$", "^a*$"]),
        "additionalProperties": st.booleans(),
        "required": st.lists(_NAMES, max_size=2, unique=True),
        "$ref": st.sampled_from(["#/$defs/one", "#/$defs/two"]) if depth else st.just("#/$defs/two"),
        "format": st.just("date"),
    }
    if depth:
        inner = _schemas(depth - 1)
        simple["properties"] = st.dictionaries(_NAMES, inner, max_size=2)
        simple["items"] = inner
        simple["allOf"] = st.lists(inner, min_size=1, max_size=2)
    chosen = draw(st.lists(st.sampled_from(sorted(simple)), max_size=3, unique=True))
    return {keyword: draw(simple[keyword]) for keyword in chosen}


def _without_references(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {key: _without_references(part) for key, part in schema.items() if key != "$ref"}
    return [_without_references(part) for part in schema] if isinstance(schema, list) else schema


@settings(max_examples=300, deadline=None)
@given(_schemas(), _schemas(), _schemas(), st.dictionaries(_NAMES, _VALUES, max_size=3))
def test_verdicts_are_those_of_json_schema(
    schema: dict[str, Any], one: dict[str, Any], two: dict[str, Any], arguments: dict[str, Any]
) -> None:
    """On arguments without whole floats, where we are stricter on purpose, the verdict is that of `jsonschema`."""
    definitions = {"one": _without_references(one), "two": _without_references(two)}
    parameters = {**schema, "$defs": definitions}
    expected = jsonschema.Draft202012Validator(parameters).is_valid(arguments)
    assert (argument_failures(parameters, arguments) == []) is expected


_KEYS = st.sampled_from(
    ["a", "type", "enum", "items", "properties", "allOf", "$ref", "required", "default", "minimum", "pattern"]
)
_ANYTHING = st.recursive(
    st.none() | _NUMBERS | st.sampled_from(["a", "string", "#/properties/a", "("]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=200, deadline=None)
@given(_ANYTHING, _VALUES)
def test_no_schema_however_broken_raises(schema: object, value: object) -> None:
    """Whatever stands in a catalog, both functions answer with failures or with none."""
    entry = {"function": {"name": "f", "parameters": schema}}
    assert all(failure.reason for failure in definition_failures(entry))
    found = argument_failures(schema, {"a": value})
    assert all(isinstance(failure, ArgumentFailure) for failure in found)
