from __future__ import annotations

from typing import Any

import pytest

from averment.oracle.build.exports.bfcl_functions import MAX_PARAMETERS, NotExpressibleError, functions_of


def _tool(parameters: Any, name: str = "look", **fields: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": parameters, **fields}}


def _parameter(schema: dict[str, Any], **root: Any) -> dict[str, Any]:
    """What BFCL is told of a required parameter."""
    parameters = {"type": "object", "properties": {"p": schema}, "required": ["p"], **root}
    shape: dict[str, Any] = functions_of([_tool(parameters)])["look"].doc["parameters"]["properties"]["p"]
    return {key: value for key, value in shape.items() if key != "description"}


@pytest.mark.parametrize(
    ("schema", "shape"),
    [
        ({"type": "string"}, {"type": "string"}),
        ({"type": "integer"}, {"type": "integer"}),
        ({"type": "number"}, {"type": "float"}),
        ({"type": "boolean"}, {"type": "boolean"}),
        (
            {"type": "array", "items": {"type": "number"}},
            {"type": "array", "items": {"type": "float", "description": ""}},
        ),
        ({"type": "object"}, {"type": "dict", "properties": {}, "required": []}),
    ],
    ids=lambda value: value["type"],
)
def test_types_have_bfcls_names(schema: dict[str, Any], shape: dict[str, Any]) -> None:
    """`object` is `dict`, `number` is `float`, the others are as they are."""
    assert _parameter(schema) == shape


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        pytest.param({"type": ["string", "null"]}, "string", id="or null"),
        pytest.param({"type": ["integer", "number"]}, "float", id="any number"),
        pytest.param({"allOf": [{"type": "number"}, {"type": "integer"}]}, "integer", id="a whole number"),
        pytest.param({"enum": ["A", "B", None]}, "string", id="of texts"),
        pytest.param({"const": 2.5}, "float", id="one value"),
        pytest.param({"properties": {}}, "dict", id="with properties"),
        pytest.param({"items": {"type": "string"}}, "array", id="with items"),
    ],
)
def test_one_type_is_found(schema: dict[str, Any], kind: str) -> None:
    """Null aside, and from what is allowed where no type is declared."""
    assert _parameter(schema)["type"] == kind


def test_references_are_resolved() -> None:
    """A parameter says itself what its `$ref` and the members of its `allOf` say; the narrower bound counts."""
    day = {
        "type": "string",
        "description": "A day.",
        "minLength": 1,
        "maxLength": 10,
        "enum": ["Mo", "Tu", "We"],
    }
    schema = {"allOf": [{"$ref": "#/$defs/day"}, {"minLength": 2, "maxLength": 20, "enum": ["We", "Mo"]}]}
    found = _parameter(schema, **{"$defs": {"day": day}})
    assert found == {"type": "string", "minLength": 2, "maxLength": 10, "enum": ["Mo", "We"]}


def test_objects_are_described_inside() -> None:
    """Each key with its type, and which are required; what is closed or open is not said."""
    schema = {
        "type": "object",
        "properties": {"days": {"type": "number", "description": "How many."}, "note": {"type": "string"}},
        "required": ["days"],
        "additionalProperties": False,
    }
    assert _parameter(schema) == {
        "type": "dict",
        "properties": {
            "days": {"type": "float", "description": "How many."},
            "note": {"type": "string", "description": ""},
        },
        "required": ["days"],
    }


def test_defaults_are_shown_where_they_are_of_use() -> None:
    """An optional parameter's default is, in the type's own form; a required one's is not."""
    properties = {"a": {"type": "number", "default": 5}, "b": {"type": "string", "default": "x"}}
    doc = functions_of([_tool({"type": "object", "properties": properties, "required": ["b"]})])["look"].doc
    found = doc["parameters"]["properties"]
    assert str(found["a"]["default"]) == "5.0"
    assert "default" not in found["b"]


def test_a_description_always_stands_there() -> None:
    """BFCL adds words to it."""
    (found,) = functions_of([_tool({"type": "object", "properties": {"p": {"type": "number"}}})]).values()
    assert found.doc["description"] == ""
    assert found.doc["parameters"]["properties"]["p"]["description"] == ""


def test_a_tool_without_parameters_has_none() -> None:
    """The three keys stand there all the same."""
    (found,) = functions_of([{"type": "function", "function": {"name": "list_all"}}]).values()
    assert found.doc["parameters"] == {"type": "dict", "properties": {}, "required": []}


def test_keywords_get_an_underscore_and_dots_stay() -> None:
    """`from` is no name of an argument in Python; BFCL itself writes `_` for the dots of functions."""
    parameters = {"type": "object", "properties": {"from": {"type": "string"}}, "required": ["from"]}
    found = functions_of([_tool(parameters, name="trains.find")])["trains.find"]
    assert found.names == {"from": "_from"}
    assert found.doc["name"] == "trains.find"
    assert found.doc["parameters"]["properties"].keys() == {"_from"}
    assert found.doc["parameters"]["required"] == ["_from"]


_DEEP = {"type": "array", "items": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}}


@pytest.mark.parametrize(
    ("schema", "told"),
    [
        ({"type": ["string", "integer"]}, "the types integer, string"),
        ({"type": "null"}, "the types null"),
        ({"description": "Anything."}, "no type"),
        ({"enum": [1, "1"]}, "the types integer, string"),
        ({"allOf": [{"type": "string"}, {"type": "boolean"}]}, "no type"),
        ({"type": "array"}, "nothing is said of the items"),
        (_DEEP, "no lists of lists of lists"),
        ({"type": ["string", "null"], "enum": [None]}, "no value but null"),
        ({"type": "string", "pattern": "a", "allOf": [{"pattern": "b"}]}, "several patterns"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_what_bfcls_types_can_not_say_is_refused(schema: dict[str, Any], told: str) -> None:
    """With the place in the tool."""
    with pytest.raises(NotExpressibleError, match=told) as refused:
        _parameter(schema)
    assert refused.value.reason == "schema_not_expressible"
    assert refused.value.detail.startswith("`look(p")


def test_a_schema_that_unfolds_without_end_is_refused() -> None:
    """Each definition holds the one before it twice: written in a few lines, and larger than memory when resolved."""
    definitions: dict[str, Any] = {"d0": {"type": "string"}}
    for level in range(1, 40):
        inner = {"$ref": f"#/$defs/d{level - 1}"}
        definitions[f"d{level}"] = {"type": "object", "properties": {"a": inner, "b": inner}}
    with pytest.raises(NotExpressibleError, match="too large"):
        _parameter({"$ref": "#/$defs/d39"}, **{"$defs": definitions})
    assert MAX_PARAMETERS < 2**39


_PLAIN = {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("tools", "told"),
    [
        ([_tool(_PLAIN, name="get-book")], "can't be called in Python"),
        ([_tool(_PLAIN, name="a..b")], "can't be called in Python"),
        ([_tool(_PLAIN, name="class")], "can't be called in Python"),
        ([_tool(_PLAIN, name="a.b"), _tool(_PLAIN, name="a_b")], "two tools have one name"),
        ([_tool({"properties": {"first-name": {"type": "string"}}})], "can't be named in Python"),
        (
            [_tool({"properties": {"from": {"type": "string"}, "_from": {"type": "string"}}})],
            "two parameters of `look`",
        ),
        ([_tool({"properties": {"\ufb01le": {"type": "string"}}})], "can't be named in Python"),
    ],
    ids=["hyphen", "empty part", "keyword", "dots", "parameter", "underscore", "ligature"],
)
def test_names_that_python_can_not_call_are_refused(tools: list[Any], told: str) -> None:
    """Models of the prompting mode answer with calls in Python."""
    with pytest.raises(NotExpressibleError, match=told) as refused:
        functions_of(tools)
    assert refused.value.reason == "name_not_expressible"
