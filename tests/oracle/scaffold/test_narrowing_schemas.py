"""Schemas brought into the subset: what becomes of each keyword, and that each change is told."""

from __future__ import annotations

from typing import Any

import pytest

from averment.oracle.catalog.arguments import argument_failures
from averment.oracle.catalog.definitions import definition_failures
from averment.oracle.scaffold.subset.changes import grouped
from averment.oracle.scaffold.subset.narrowing import Narrowing
from averment.oracle.scaffold.subset.parameters import as_object
from averment.text.source import source_of

Found = dict[str, Any]


def _narrowed(schema: Any, *, is_request: bool = False) -> tuple[Found, set[tuple[str, str]]]:
    """The property `x` with that schema, and what was changed."""
    whole, changes = _parameters({"properties": {"x": schema}}, is_request=is_request)
    return whole["properties"]["x"], changes


def _parameters(parameters: Any, *, is_request: bool = False) -> tuple[Found, set[tuple[str, str]]]:
    narrowing = Narrowing(source_of(parameters), is_request=is_request)
    schema = narrowing.schema(parameters, ())
    narrowing.settle()
    assert narrowing.problems == []
    found = as_object(schema, narrowing.shared)
    assert found is not None
    closed = narrowing.closed(found, ())
    entry = {"type": "function", "function": {"name": "t", "parameters": closed}}
    assert definition_failures(entry) == []
    return closed, set(grouped(narrowing.changes))


UNCHANGED: list[Found] = [
    {},
    {"type": "string", "minLength": 1, "maxLength": 5, "pattern": "^a", "format": "date"},
    {"type": ["integer", "null"], "minimum": 0, "maximum": 9, "default": 3},
    {"enum": [1, True, "a", None]},
    {"const": {"a": [1]}},
    {"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 2},
    {"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": False},
    {"allOf": [{"type": "string"}, {"minLength": 2}]},
    {"title": "t", "description": "d", "examples": ["a"], "deprecated": True, "writeOnly": True},
]


@pytest.mark.parametrize("schema", UNCHANGED, ids=str)
def test_what_is_in_the_subset_stays_as_it_is(schema: Found) -> None:
    """Nothing is changed, and nothing told."""
    assert _narrowed(schema) == (schema, set())


DROPPED = ["not", "if", "then", "else", "dependentRequired", "patternProperties", "propertyNames", "contains"]
DROPPED += [
    "uniqueItems",
    "multipleOf",
    "prefixItems",
    "unevaluatedProperties",
    "minProperties",
    "$dynamicRef",
]


@pytest.mark.parametrize("keyword", DROPPED)
def test_a_constraint_without_a_keyword_is_left_out_and_told(keyword: str) -> None:
    """More is allowed than before."""
    assert _narrowed({"type": "array", keyword: {}}) == (
        {"type": "array"},
        {("wider", f"`{keyword}` was left out")},
    )


@pytest.mark.parametrize(
    "keyword", ["$schema", "$id", "$comment", "xml", "externalDocs", "discriminator", "x-order"]
)
def test_what_says_nothing_about_calls_is_left_out_and_told(keyword: str) -> None:
    """It is a note, whatever it is."""
    assert _narrowed({"type": "string", keyword: "a"}) == (
        {"type": "string"},
        {("note", f"`{keyword}` was left out")},
    )


UNIONS: list[tuple[str, Found, Found, str]] = [
    (
        "a shape and null, as Pydantic writes what is optional",
        {"anyOf": [{"type": "string", "minLength": 1}, {"type": "null"}], "default": None, "title": "X"},
        {"type": ["string", "null"], "minLength": 1, "default": None, "title": "X"},
        "same",
    ),
    (
        "an enumeration and null",
        {"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]},
        {"type": ["string", "null"], "enum": ["a", None]},
        "same",
    ),
    ("null alone", {"anyOf": [{"type": "null"}, {"const": None}]}, {"type": "null"}, ""),
    (
        "exactly one of two objects that are told apart by a property",
        {
            "oneOf": [
                {"type": "object", "properties": {"kind": {"const": kind}}, "required": ["kind"]}
                for kind in "ab"
            ]
        },
        {"type": "object", "properties": {"kind": {"const": "a"}}, "required": ["kind"]},
        "narrower",
    ),
    (
        "exactly one of a shape and null, where the shape allows null too",
        {"oneOf": [{"minLength": 1}, {"type": "null"}]},
        {"minLength": 1},
        "same wider",
    ),
    (
        "two unions at once",
        {"anyOf": [{"type": "string"}, {"type": "null"}], "oneOf": [{"enum": ["a"]}, {"enum": ["b"]}]},
        {"type": "string", "allOf": [{"enum": ["a", "b"]}]},
        "same narrower",
    ),
    (
        "shapes of different types",
        {"anyOf": [{"type": "string", "minLength": 2}, {"type": "integer", "minimum": 3}]},
        {"type": ["string", "integer"], "minLength": 2, "minimum": 3},
        "same",
    ),
    (
        "constants with a description each",
        {"oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}, {"enum": ["d", "c"]}]},
        {"enum": ["a", "b", "d", "c"]},
        "same",
    ),
    (
        "integers and numbers, which overlap",
        {"oneOf": [{"type": "integer", "minimum": 1}, {"type": "number", "maximum": 0}]},
        {"type": "integer", "minimum": 1},
        "narrower wider",
    ),
    (
        "two objects",
        {"anyOf": [{"type": "object", "properties": {"a": {}}}, {"type": "object", "properties": {"b": {}}}]},
        {"type": "object", "properties": {"a": {}}},
        "narrower",
    ),
    ("anything", {"anyOf": [{"type": "string"}, {}]}, {}, "same"),
    (
        "a union in a union",
        {"anyOf": [{"anyOf": [{"type": "string"}, {"type": "null"}]}]},
        {"type": ["string", "null"]},
        "same",
    ),
    ("no list", {"anyOf": {}}, {}, "wider"),
    ("an empty list", {"oneOf": []}, {}, "wider"),
    (
        "alternatives of what is required",
        {
            "type": "object",
            "properties": {"a": {}, "b": {}},
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}],
        },
        {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a"]},
        "narrower",
    ),
    (
        "a shape that contradicts what stands beside it",
        {"type": "string", "maxLength": 3, "anyOf": [{"maxLength": 2}, {"pattern": "a"}]},
        {"type": "string", "maxLength": 3, "allOf": [{"maxLength": 2}]},
        "narrower",
    ),
    (
        "null beside a type that does not allow it",
        {"type": "string", "anyOf": [{"minLength": 1}, {"type": "null"}]},
        {"type": "string", "minLength": 1},
        "same",
    ),
]


@pytest.mark.parametrize(
    ("schema", "expected", "effects"), [each[1:] for each in UNIONS], ids=[each[0] for each in UNIONS]
)
def test_a_union_becomes_one_shape(schema: Found, expected: Found, effects: str) -> None:
    """Exactly where that is possible, else the first of them; which of both is told."""
    found, changes = _narrowed(schema)
    assert found == expected
    assert {each for each, _ in changes} == set(effects.split())


OTHERS: list[tuple[str, Found, Found, set[str]]] = [
    ("nullable", {"type": "string", "nullable": True}, {"type": ["string", "null"]}, {"same"}),
    (
        "nullable and an enumeration",
        {"type": "string", "nullable": True, "enum": ["a"]},
        {"type": ["string", "null"], "enum": ["a"]},
        {"same"},
    ),
    ("not nullable", {"type": "string", "nullable": False}, {"type": "string"}, set()),
    (
        "exclusive, of integers",
        {"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 9.5},
        {"type": "integer", "minimum": 4, "maximum": 9},
        {"same"},
    ),
    (
        "exclusive, of numbers",
        {"type": "number", "exclusiveMinimum": 3},
        {"type": "number", "minimum": 3},
        {"wider"},
    ),
    (
        "exclusive, as OpenAPI 3.0 has it",
        {"type": "integer", "minimum": 3, "exclusiveMinimum": True, "exclusiveMaximum": False},
        {"type": "integer", "minimum": 4},
        {"same"},
    ),
    (
        "exclusive without a bound",
        {"type": "integer", "exclusiveMinimum": True},
        {"type": "integer"},
        {"wider"},
    ),
    (
        "two lower bounds",
        {"type": "integer", "minimum": 9, "exclusiveMinimum": 3},
        {"type": "integer", "minimum": 9},
        {"same"},
    ),
    ("bounds that contradict", {"minLength": 3, "maxLength": 1}, {}, {"wider"}),
    ("a length of 3.0", {"minLength": 3.0}, {"minLength": 3}, set()),
    ("a negative length", {"maxLength": -1}, {}, {"wider"}),
    ("a bound that is text", {"minimum": "1"}, {}, {"wider"}),
    ("a pattern of another dialect", {"pattern": r"^\p{L}+$"}, {}, {"wider"}),
    ("a pattern that is no text", {"pattern": 3}, {}, {"wider"}),
    ("an enumeration with a value twice", {"enum": ["a", "a", "b"]}, {"enum": ["a", "b"]}, {"same"}),
    (
        "an enumeration with another type",
        {"type": "string", "enum": ["a", 1]},
        {"type": "string", "enum": ["a"]},
        {"same"},
    ),
    ("an empty enumeration", {"enum": []}, {}, {"wider"}),
    ("a constant of another type", {"type": "string", "const": 1}, {"type": "string"}, {"wider"}),
    ("a type twice", {"type": ["string", "string"]}, {"type": "string"}, set()),
    ("a default that is refused", {"type": "string", "default": 1}, {"type": "string"}, {"note"}),
    (
        "a default that is allowed",
        {"type": "string", "default": "a"},
        {"type": "string", "default": "a"},
        set(),
    ),
    ("an example", {"example": 3}, {"examples": [3]}, {"note"}),
    (
        "a schema for further properties",
        {"additionalProperties": {"type": "string"}},
        {"additionalProperties": True},
        {"wider"},
    ),
    ("any further properties", {"additionalProperties": {}}, {"additionalProperties": True}, set()),
    (
        "required and not declared",
        {"required": ["a", "a"]},
        {"properties": {"a": {}}, "required": ["a"]},
        {"same"},
    ),
    ("a tuple", {"items": [{"type": "string"}]}, {}, {"wider"}),
    (
        "true for a schema",
        {"items": True, "properties": {"a": True}},
        {"items": {}, "properties": {"a": {}}},
        set(),
    ),
    ("false for a schema", {"properties": {"a": False}}, {"properties": {}}, {"same"}),
    ("text for a schema", {"properties": {"a": "b"}}, {"properties": {"a": {}}}, {"wider"}),
    ("properties that are none", {"properties": []}, {}, {"wider"}),
    ("an annotation that is none", {"title": 3, "deprecated": "yes"}, {}, {"note"}),
]


@pytest.mark.parametrize(
    ("schema", "expected", "effects"), [each[1:] for each in OTHERS], ids=[each[0] for each in OTHERS]
)
def test_other_keywords(schema: Found, expected: Found, effects: set[str]) -> None:
    """Each becomes what says the same, or as nearly as the subset can."""
    found, changes = _narrowed(schema)
    assert found == expected
    assert {effect for effect, _ in changes} == effects


def test_references_become_definitions_of_the_tool() -> None:
    """From wherever they lead; what nothing refers to is left behind."""
    found, changes = _parameters(
        {
            "properties": {
                "a": {"$ref": "#/$defs/A"},
                "b": {"$ref": "#/definitions/B~1b"},
                "c": {"$ref": "#/properties/d/items"},
                "d": {"items": {"type": "boolean"}},
            },
            "$defs": {"A": {"$ref": "#/$defs/C"}, "C": {"type": "string"}, "unused": {"not": {}}},
            "definitions": {"B/b": {"type": "integer"}},
        }
    )
    assert changes == set()
    assert found["$defs"] == {
        "A": {"$ref": "#/$defs/C"},
        "B_b": {"type": "integer"},
        "C": {"type": "string"},
        "items": {"type": "boolean"},
    }


def test_a_reference_or_null_has_a_definition_of_its_own() -> None:
    """The subset can't add null to what is referred to."""
    found, changes = _parameters(
        {
            "properties": {
                "a": {"$ref": "#/$defs/A"},
                "b": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]},
            },
            "$defs": {"A": {"type": "object", "properties": {"n": {"type": "integer"}}}},
        }
    )
    assert {effect for effect, _ in changes} == {"same"}
    assert argument_failures(found, {"a": {"n": 1}, "b": None}) == []
    assert argument_failures(found, {"b": {"n": 1}}) == []
    assert len(argument_failures(found, {"a": None})) == 1
    assert len(argument_failures(found, {"b": {"n": "1"}})) == 1


CIRCLES: list[Found] = [
    {"properties": {"x": {"$ref": "#"}}},
    {"properties": {"x": {"$ref": "#/properties/x"}}},
    {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/A"}}},
    {"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}},
    {
        "properties": {"x": {"$ref": "#/$defs/A"}},
        "$defs": {"A": {"properties": {"y": {"$ref": "#/$defs/A"}}}},
    },
    {"properties": {"x": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"allOf": [{"$ref": "#/$defs/A"}]}}},
    {
        "properties": {"x": {"$ref": "#/$defs/A"}},
        "$defs": {"A": {"items": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]}}},
    },
]


@pytest.mark.parametrize("parameters", CIRCLES, ids=str)
def test_a_schema_that_holds_itself_is_cut_once(parameters: Found) -> None:
    """What is deeper is not checked, which is told."""
    _, changes = _parameters(parameters)
    assert ("wider", "what lies deeper in a schema that holds itself is not checked") in changes


@pytest.mark.parametrize(
    "reference", ["other.yaml#/A", "#/nowhere", "#anchor", "#/properties/y/0", "https://x/y"]
)
def test_a_reference_to_nothing_here_is_left_out_and_told(reference: str) -> None:
    """Other files are not read."""
    found, changes = _narrowed({"$ref": reference, "description": "d"})
    assert found == {"description": "d"}
    assert changes == {("wider", "a `$ref` that leads to nothing in this file was left out")}


def test_what_is_read_only_is_no_part_of_a_request() -> None:
    """It is not sent, and so not required; elsewhere it says nothing."""
    schema = {
        "type": "object",
        "properties": {"id": {"type": "integer", "readOnly": True}, "n": {}},
        "required": ["id", "n"],
    }
    found, changes = _narrowed(schema, is_request=True)
    assert found == {"type": "object", "properties": {"n": {}}, "required": ["n"]}
    assert {effect for effect, _ in changes} == {"narrower"}
    assert _narrowed(schema) == (schema, set())


def test_parameters_stand_in_the_open() -> None:
    """What they refer to and what they are composed of is written into them, as far as it agrees."""
    found, changes = _parameters(
        {
            "allOf": [
                {"$ref": "#/$defs/A"},
                {"properties": {"b": {"type": "string"}}, "required": ["b"]},
            ],
            "$defs": {"A": {"type": "object", "properties": {"a": {}}, "required": ["a"]}},
        }
    )
    assert found == {
        "type": "object",
        "properties": {"a": {}, "b": {"type": "string"}},
        "required": ["a", "b"],
    }
    assert changes == set()


def test_closed_parts_stay_apart() -> None:
    """Written into one, they would allow what each refuses."""
    part = {"properties": {"a": {}}, "additionalProperties": False}
    found, _ = _parameters({"allOf": [part, {"properties": {"b": {}}}]})
    assert found["allOf"] == [part, {"properties": {"b": {}}}]
    assert len(argument_failures(found, {"b": 1})) == 1


def test_many_ways_to_one_schema_take_no_longer() -> None:
    """Each definition is made once, however many paths lead to it."""
    definitions: Found = {"N40": {"type": "string"}}
    for level in range(40):
        nullable = {"anyOf": [{"$ref": f"#/$defs/N{level + 1}"}, {"type": "null"}]}
        definitions[f"N{level}"] = {
            "type": "object",
            "properties": {"a": nullable, "b": {"$ref": f"#/$defs/N{level + 1}"}},
        }
    found, _ = _parameters({"properties": {"x": {"$ref": "#/$defs/N0"}}, "$defs": definitions})
    assert len(found["$defs"]) == 40 * 2 + 1


def test_a_type_that_is_none_is_a_mistake_with_a_place() -> None:
    """Nothing can be guessed from it."""
    narrowing = Narrowing(source_of({}))
    narrowing.schema({"properties": {"a": {"type": "strin"}, "b": {"type": ["any"]}, "c": {"type": []}}}, ())
    assert [(each.code, each.path, each.nearest) for each in narrowing.problems] == [
        ("invalid_schema_type", "$.properties.a.type", "string"),
        ("invalid_schema_type", "$.properties.b.type", None),
        ("invalid_schema_type", "$.properties.c.type", None),
    ]


@pytest.mark.parametrize("schema", [{"type": "string"}, {"type": ["array", "null"]}, {"$ref": "#/$defs/A"}])
def test_parameters_that_allow_no_object_are_none(schema: Found) -> None:
    """Arguments are always an object."""
    whole = {**schema, "$defs": {"A": {"type": "integer"}}}
    narrowing = Narrowing(source_of(whole))
    found = narrowing.schema(whole, ())
    narrowing.settle()
    assert as_object(found, narrowing.shared) is None
