from __future__ import annotations

from typing import Any

import pytest

from averment.oracle.catalog.definitions import REASONS, SchemaFailure, definition_failures
from averment.oracle.catalog.schema import KEYWORDS

_AT = ("function", "parameters")


def tool(parameters: object = None, **function: Any) -> dict[str, Any]:
    declared = {"type": "object", "properties": {}} if parameters is None else parameters
    return {"type": "function", "function": {"name": "look_up", "parameters": declared, **function}}


def of(schema: object) -> dict[str, Any]:
    """A tool with one argument of this schema."""
    return tool({"properties": {"a": schema}})


def only(entry: object) -> SchemaFailure:
    (failure,) = definition_failures(entry)
    return failure


ENTRIES = {
    "tool_not_object": (["look_up"], ()),
    "tool_type_not_function": ({**tool(), "type": "retrieval"}, ("type",)),
    "tool_function_not_object": ({"type": "function", "name": "look_up"}, ("function",)),
    "tool_name_not_nonempty_string": (tool(name="  "), ("function", "name")),
    "tool_description_not_string": (tool(description=["what it does"]), ("function", "description")),
    "tool_strict_not_boolean": (tool(strict="true"), ("function", "strict")),
    "parameters_not_object": ({"function": {"name": "look_up"}}, _AT),
    "parameters_type_not_object": (tool({"type": "array"}), (*_AT, "type")),
}
"""What is wrong with an entry itself: the smallest that earns each reason, and the place told."""

SCHEMAS: dict[str, tuple[object, tuple[str | int, ...]]] = {
    "unsupported_schema_keyword": ({"anyOf": [{}]}, ("anyOf",)),
    "invalid_schema_type": ({"type": "text"}, ("type",)),
    "duplicate_schema_type": ({"type": ["string", "string"]}, ("type", 1)),
    "schema_enum_not_array": ({"enum": "a"}, ("enum",)),
    "schema_enum_empty": ({"enum": []}, ("enum",)),
    "duplicate_schema_enum_value": ({"enum": [{"x": 1, "y": 2}, {"y": 2, "x": 1}]}, ("enum", 1)),
    "schema_value_violates_type": ({"type": "integer", "enum": [1, True]}, ("enum", 1)),
    "invalid_schema_default": ({"type": "integer", "default": "1"}, ("default",)),
    "schema_additional_properties_not_boolean": (
        {"additionalProperties": {}},
        ("additionalProperties",),
    ),
    "invalid_schema_bound": ({"minLength": -1}, ("minLength",)),
    "schema_pattern_not_string": ({"pattern": 1}, ("pattern",)),
    "invalid_schema_pattern": ({"pattern": "(a"}, ("pattern",)),
    "inconsistent_schema_bounds": ({"minimum": 2, "maximum": 1.5}, ("minimum",)),
    "schema_ref_not_local": ({"$ref": "https://example.com/schema"}, ("$ref",)),
    "cyclic_schema_ref": ({"$ref": "#/properties/a"}, ("$ref",)),
    "unresolvable_schema_ref": ({"$ref": "#/$defs/b"}, ("$ref",)),
    "schema_all_of_not_nonempty_array": ({"allOf": []}, ("allOf",)),
    "all_of_schema_not_object": ({"allOf": [True]}, ("allOf", 0)),
    "schema_definitions_not_object": ({"$defs": []}, ("$defs",)),
    "definition_schema_not_object": ({"definitions": {"b": 1}}, ("definitions", "b")),
    "schema_properties_not_object": ({"properties": ["b"]}, ("properties",)),
    "schema_required_not_string_array": ({"required": "b"}, ("required",)),
    "duplicate_required_property": ({"properties": {"b": {}}, "required": ["b", "b"]}, ("required", 1)),
    "required_property_not_declared": ({"required": ["b"]}, ("required", 0)),
    "property_schema_not_object": ({"properties": {"b": True}}, ("properties", "b")),
    "items_schema_not_object": ({"items": [{}]}, ("items",)),
}
"""What is wrong with a schema: the smallest that earns each reason, and the place told in it."""

CASES = {
    **ENTRIES,
    **{name: (of(schema), (*_AT, "properties", "a", *at)) for name, (schema, at) in SCHEMAS.items()},
}


def test_every_reason_has_a_case() -> None:
    """The table of cases below covers the closed table of reasons."""
    assert set(CASES) == set(REASONS)


@pytest.mark.parametrize("reason", CASES)
def test_the_smallest_mistake_earns_exactly_its_reason(reason: str) -> None:
    """One mistake, one failure: its reason, its place inside the entry, and a sentence without a full stop."""
    entry, path = CASES[reason]
    failure = only(entry)
    assert (failure.reason, failure.path) == (reason, path)
    assert failure.message
    assert not failure.message.endswith(".")


@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_says_what_it_means_and_what_to_do(reason: str) -> None:
    """A reason is a sentence without a full stop; its mend is a sentence with one."""
    assert REASONS[reason].about
    assert not REASONS[reason].about.endswith(".")
    assert REASONS[reason].mend.endswith(".")


def test_a_tool_that_uses_every_keyword_is_right() -> None:
    """Every allowed keyword is accepted, annotations and `format` included."""
    schema: dict[str, Any] = {
        "$defs": {"name": {"type": "string"}},
        "definitions": {"size": {"type": "number"}},
        "type": "object",
        "description": "d",
        "title": "t",
        "default": {"name": "ab"},
        "examples": [{"name": "ab"}],
        "deprecated": False,
        "readOnly": False,
        "writeOnly": False,
        "properties": {
            "name": {
                "$ref": "#/$defs/name",
                "allOf": [{}],
                "pattern": "^a",
                "minLength": 1,
                "maxLength": 9,
                "format": "name",
            },
            "size": {"$ref": "#/definitions/size", "minimum": 0, "maximum": 0.5},
            "tags": {
                "type": ["array", "null"],
                "items": {"enum": ["a", None]},
                "minItems": 0,
                "maxItems": 2,
            },
            "kind": {"const": "k", "enum": ["k"]},
        },
        "required": ["name"],
        "additionalProperties": False,
    }
    assert definition_failures(tool(schema)) == []
    used = {*schema, *(key for part in schema["properties"].values() for key in part)}
    assert used == set(KEYWORDS)


@pytest.mark.parametrize(
    "entry",
    [
        {"function": {"name": "f", "parameters": {}}},
        tool(strict=True, description=""),
        {**tool(), "x-mutates": True},
        of({"enum": [1, True]}),
        of({"enum": [1, 1.0, "1", None]}),
        of(
            {"type": None, "allOf": None, "$ref": None, "required": None, "properties": None, "minimum": None}
        ),
        of({"type": "number", "enum": [1, 1.5]}),
        of({"const": None}),
        of({"minLength": 1, "type": "integer"}),
    ],
)
def test_what_only_looks_odd_is_right(entry: object) -> None:
    """`type` is left out, `[1, true]` is an enumeration, null stands for a keyword that is not there."""
    assert definition_failures(entry) == []


def test_all_mistakes_are_told_in_the_order_of_the_schemas() -> None:
    """Every mistake of an entry, wherever it stands, and not the first."""
    entry = tool(
        {
            "required": ["b"],
            "properties": {"a": {"type": "str", "minimum": "1"}, "b": {"items": {"oneOf": [], "enum": []}}},
        },
        strict=1,
    )
    assert [(failure.reason, failure.path[2:]) for failure in definition_failures(entry)] == [
        ("tool_strict_not_boolean", ()),
        ("invalid_schema_type", ("properties", "a", "type")),
        ("invalid_schema_bound", ("properties", "a", "minimum")),
        ("unsupported_schema_keyword", ("properties", "b", "items", "oneOf")),
        ("schema_enum_empty", ("properties", "b", "items", "enum")),
    ]


@pytest.mark.parametrize(
    ("schema", "nearest", "mend"),
    [
        ({"minLenght": 1}, "minLength", None),
        ({"aditionalProperties": False}, "additionalProperties", None),
        ({"anyOf": []}, None, "list of types"),
        ({"not": {}}, None, "Say what is allowed"),
        ({"nullable": True}, None, '"null"'),
        ({"exclusiveMinimum": 0}, None, "`minimum`"),
        ({"multipleOf": 2}, None, None),
    ],
)
def test_an_unknown_keyword_is_told_with_the_nearest_or_a_way_around(
    schema: object, nearest: str | None, mend: str | None
) -> None:
    """A misspelt keyword gets its neighbour, one of JSON Schema that is not in the subset a mend of its own."""
    failure = only(of(schema))
    assert failure.reason == "unsupported_schema_keyword"
    assert failure.key
    assert failure.nearest == nearest
    assert (failure.mend is None) if mend is None else (mend in (failure.mend or ""))


@pytest.mark.parametrize(
    ("found", "nearest"), [("int", None), ("sting", "string"), (["string", "intger"], None), ([], None)]
)
def test_a_type_that_there_is_not_is_told_with_the_nearest(found: object, nearest: str | None) -> None:
    """An unknown name, a list with one, and an empty list are no types."""
    failure = only(of({"type": found}))
    assert (failure.reason, failure.nearest) == ("invalid_schema_type", nearest)


@pytest.mark.parametrize("bound", [True, 1.0, "1", -1, None])
def test_lengths_are_whole_numbers(bound: object) -> None:
    """A length is an integer from 0: `1.0` and `true` are none; null counts as left out."""
    failures = definition_failures(of({"maxItems": bound}))
    assert [each.reason for each in failures] == ([] if bound is None else ["invalid_schema_bound"])


def test_a_pattern_that_can_hang_is_refused_at_its_place() -> None:
    """What has no bounded search is no pattern for a pack; the mend says how to bound it."""
    failure = only(of({"pattern": r"(a+)+\1"}))
    assert (failure.reason, failure.offset) == ("invalid_schema_pattern", 5)
    assert "upper bound" in (failure.mend or "")


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": "integer", "default": True}, "must be of type integer and is true"),
        ({"type": "integer", "default": 1.0}, "is 1.0, which is no integer"),
        ({"enum": [1, 2], "default": 3}, "must be one of [1, 2] and is 3"),
        (
            {"allOf": [{"type": "object", "properties": {"b": {}}, "required": ["b"]}], "default": {}},
            "`b` is required",
        ),
        ({"$ref": "#/$defs/short", "default": "abc"}, "must have at most 2 characters and has 3"),
    ],
)
def test_a_default_must_fit_its_own_schema(schema: dict[str, Any], told: str) -> None:
    """By `$ref` and `allOf` as well."""
    entry = tool({"properties": {"a": schema}, "$defs": {"short": {"maxLength": 2}}})
    failure = only(entry)
    assert (failure.reason, failure.path[-1]) == ("invalid_schema_default", "default")
    assert told in failure.message


def test_a_default_is_not_blamed_for_its_schema() -> None:
    """Where the schema itself makes no sense, that alone is told."""
    assert only(of({"type": "str", "default": 1})).reason == "invalid_schema_type"
    assert only(of({"$ref": "#/no", "default": 1})).reason == "unresolvable_schema_ref"


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("#/$defs/a~1b", None),
        ("#/$defs/a%20b", None),
        ("#/properties/list/items", None),
        ("#/properties/both/allOf/1", None),
        ("#/properties/both/allOf/2", "unresolvable_schema_ref"),
        ("#/properties", "unresolvable_schema_ref"),
        ("#/properties/list/default", "unresolvable_schema_ref"),
        ("#/$defs/a%2", "unresolvable_schema_ref"),
        ("#", "schema_ref_not_local"),
        ("other.json#/a", "schema_ref_not_local"),
        (7, "schema_ref_not_local"),
    ],
)
def test_a_reference_leads_to_a_schema_of_the_same_tool(reference: object, reason: str | None) -> None:
    """References are JSON Pointers, percent-encoded or not, into the tool's own parameters, and end at a schema."""
    parameters = {
        "properties": {
            "a": {"$ref": reference},
            "list": {"items": {}, "default": {}},
            "both": {"allOf": [{}, {}]},
        },
        "$defs": {"a/b": {}, "a b": {}},
    }
    assert [each.reason for each in definition_failures(tool(parameters))] == ([reason] if reason else [])


@pytest.mark.parametrize(
    ("parameters", "path"),
    [
        (
            {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
            ("$defs", "b", "$ref"),
        ),
        (
            {"$defs": {"node": {"properties": {"child": {"$ref": "#/$defs/node"}}}}},
            ("$defs", "node", "properties", "child", "$ref"),
        ),
        (
            {"$defs": {"b": {"$ref": "#/$defs/a/allOf/0"}, "a": {"allOf": [{"$ref": "#/$defs/a"}]}}},
            ("$defs", "a", "allOf", 0, "$ref"),
        ),
        (
            {"$defs": {"list": {"items": {"allOf": [{"$ref": "#/$defs/list"}]}}}},
            ("$defs", "list", "items", "allOf", 0, "$ref"),
        ),
    ],
)
def test_a_schema_that_holds_itself_is_told_once(
    parameters: dict[str, Any], path: tuple[str | int, ...]
) -> None:
    """By references alone, or by way of properties, items and `allOf`."""
    failure = only(tool(parameters))
    assert (failure.reason, failure.path) == ("cyclic_schema_ref", (*_AT, *path))


def test_a_schema_may_be_referred_to_twice_and_define_what_refers_to_it() -> None:
    """Two ways to the same schema are no circle, and neither is a definition that a schema only keeps."""
    twice = {"properties": {"a": {"$ref": "#/$defs/c"}, "b": {"$ref": "#/$defs/c"}}, "$defs": {"c": {}}}
    keeps = {"$defs": {"outer": {"$defs": {"inner": {"$ref": "#/$defs/outer"}}}}}
    assert definition_failures(tool(twice)) == []
    assert definition_failures(tool(keeps)) == []


def test_a_thousand_references_in_a_chain_are_followed_without_recursion() -> None:
    """A long chain that closes is one circle, found in time."""
    chain = {f"d{index}": {"$ref": f"#/$defs/d{(index + 1) % 5000}"} for index in range(5000)}
    assert only(tool({"$defs": chain})).path[-2:] == ("d4999", "$ref")


def test_defaults_that_take_too_long_to_check_are_told_once() -> None:
    """Many defaults of a schema with very many members end in a failure, not in a run without end."""
    wide: dict[str, Any] = {"allOf": [{} for _ in range(1000)]}
    many = {f"p{index}": {"$ref": "#/$defs/wide", "default": 1} for index in range(2000)}
    failure = only(tool({"properties": many, "$defs": {"wide": wide}}))
    assert failure.reason == "invalid_schema_default"
    assert "too many steps" in failure.message
