"""The published schemas: an editor that knows them completes and marks what averment accepts and refuses."""

from __future__ import annotations

from typing import Any

import jsonschema
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from averment.assertions import KINDS, kind
from averment.documents import Document
from averment.errors import DocumentError
from averment.report.schemas import schema
from averment.text.source import read_source

DOCUMENT = jsonschema.Draft202012Validator(schema("document"))
STRUCTURAL = {"unknown_field", "missing_field", "wrong_type", "not_allowed", "empty_value", "unknown_kind"}
"""Mistakes that a schema can mark; the others need references, patterns or arithmetic."""


def document(**fields: Any) -> dict[str, Any]:
    return {"version": 1, "assertions": [{"id": "a", **fields}]}


def expecting(value: Any) -> dict[str, Any]:
    return document(kind="tool_call", name="t", args=value)


@pytest.mark.parametrize("name", list(KINDS))
def test_the_worked_example_of_each_kind_fits(name: str) -> None:
    """What the reference shows, an editor accepts."""
    DOCUMENT.validate(read_source(kind(name).example).value)


@pytest.mark.parametrize("name", list(KINDS))
def test_a_misspelt_field_is_marked_for_each_kind(name: str) -> None:
    """Unknown fields are mistakes in the editor as they are in the check."""
    value = read_source(kind(name).example).value
    for assertion in value["assertions"]:
        if assertion["kind"] == name:
            assertion["abscent"] = True
    assert not DOCUMENT.is_valid(value)


@pytest.mark.parametrize("name", list(KINDS))
def test_each_kind_and_each_field_has_a_description(name: str) -> None:
    """Editors show what a kind and a field are for."""
    definition = schema("document")["$defs"][kind(name).__name__]
    assert definition["description"]
    assert all("description" in field or name == "kind" for name, field in definition["properties"].items())


@pytest.mark.parametrize(
    "value",
    [
        *(None, 1, 1.5, "x", True, [], {}, [1, {"a": 2}], {"a": {"b": [None]}}),
        *(
            {"$ne": 1},
            {"$gt": 1, "$lte": 5},
            {"$gt": "a"},
            {"$in": [1, {"$gt": 2}]},
            {"$nin": ["x"]},
            {"$regex": "a+"},
        ),
        *(
            {"a": {"$exists": False}},
            {"$type": "integer"},
            {"$len": 3},
            {"$len": {"$gt": 1}},
            {"$contains": 1},
        ),
        *(
            {"$all": [{"$gt": 1}]},
            {"$any": [1, 2]},
            {"$not": {"a": 1}},
            {"$approx": {"value": 1, "abs": 0.1}},
        ),
        *({"$exact": {"a": 1}}, {"$exact": {"a": 1}, "$ignore": ["b"]}, {"$literal": {"$x": 1}}),
    ],
    ids=repr,
)
def test_every_expected_value_that_is_right_fits(value: Any) -> None:
    """Scalars, lists, mappings and each operator with its operand."""
    Document.of(expecting(value))
    DOCUMENT.validate(expecting(value))


@pytest.mark.parametrize(
    "value",
    [
        *(
            {"$gtt": 1},
            {"$gt": 1, "a": 2},
            {"a": {"b": {"$nope": 1}}},
            [{"$gt": True}],
            {"$in": 1},
            {"$in": []},
        ),
        *({"$regex": 1}, {"$exists": "yes"}, {"$type": "int"}, {"$approx": {"value": 1}}, {"$approx": 1}),
        *({"$approx": {"value": 1, "abs": -1}}, {"$approx": {"value": 1, "abs": 1, "x": 1}}, {"$all": []}),
    ],
    ids=repr,
)
def test_an_expected_value_that_is_wrong_is_marked(value: Any) -> None:
    """An unknown operator, mixed keys and wrong operands, at any depth."""
    with pytest.raises(DocumentError):
        Document.of(expecting(value))
    assert not DOCUMENT.is_valid(expecting(value))


SHARED = {
    "version": 1,
    "vars": {"n": 1, "who": "agent", "limit": 50, "close": True},
    "defaults": {"regex": "hello", "requestor": "{{who}}"},
    "assertions": [
        {"id": "greets", "kind": "phrase", "case_sensitive": "{{ close }}"},
        {"id": "refunds", "kind": "count", "tool": "issue_refund", "count": {"min": "{{n}}"}},
        {
            "id": "within",
            "kind": "tool_result",
            "name": "t",
            "result": {"amount": {"$approx": {"value": 1, "abs": "{{n}}"}}},
        },
        {
            "id": "size",
            "kind": "tool_result",
            "name": "t",
            "result": {"$len": "{{n}}", "$exists": "{{close}}"},
        },
        {"id": "fast", "kind": "latency", "tool": "t", "max_ms": "{{limit}}"},
    ],
}


def test_a_variable_fits_where_a_number_a_boolean_or_a_name_is_expected() -> None:
    """What `check` takes with `{{name}}` and with fields from `defaults`, an editor does not mark."""
    Document.of(SHARED)
    DOCUMENT.validate(SHARED)


@pytest.mark.parametrize("field", ["min", "kind"])
def test_a_text_without_a_variable_does_not_fit_in_its_place(field: str) -> None:
    """Only `{{name}}` is taken for a number, and not even that for a kind."""
    value = document(kind="count", tool="t", count={"min": "1"})
    if field == "kind":
        value = document(kind="{{kind}}", tool="t", count={"min": 1})
    assert not DOCUMENT.is_valid(value)


def _required() -> list[tuple[str, str]]:
    return [
        (name, field)
        for name in KINDS
        for field in msgspec.json.schema_components([kind(name)])[1][kind(name).__name__]["required"]
        if field not in ("id", "kind")
    ]


@pytest.mark.parametrize(("name", "field"), _required())
def test_a_missing_field_is_marked_unless_defaults_give_it(name: str, field: str) -> None:
    """A field that a kind requires is asked for in each of its assertions, or once in `defaults`."""
    whole = next(
        each
        for each in read_source(kind(name).example).value["assertions"]
        if each["kind"] == name and field in each
    )
    given = whole.pop(field)
    value: dict[str, Any] = {"version": 1, "assertions": [whole]}
    assert not DOCUMENT.is_valid(value)
    assert not DOCUMENT.is_valid({**value, "defaults": {"owner": "x"}})
    DOCUMENT.validate({**value, "defaults": {field: given}})


_NAMES = sorted(
    {name for each in KINDS for name in schema("document")["$defs"][kind(each).__name__]["properties"]}
)
_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.text(max_size=3)
    | st.sampled_from(["any", "first", "before"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["min", "tool", "x"]), inner, max_size=2)
    ),
    max_leaves=4,
)


@given(st.dictionaries(st.sampled_from(_NAMES), _VALUES, max_size=4), st.sampled_from(list(KINDS)))
@settings(max_examples=300, deadline=None)
def test_the_schema_marks_what_is_structurally_wrong_and_accepts_what_is_right(
    fields: dict[str, Any], name: str
) -> None:
    """A document without mistakes fits; one with a structural mistake does not."""
    value = document(**{**fields, "id": "a", "kind": name})
    try:
        Document.of(value)
    except DocumentError as error:
        if {problem.code for problem in error.problems} & STRUCTURAL - {"missing_field"}:
            assert not DOCUMENT.is_valid(value)
    else:
        DOCUMENT.validate(value)


@pytest.mark.parametrize(
    "path", [(), ("summary",), ("engine",), ("results", 0), ("results", 0, "pack"), ("summary", "judge")]
)
def test_an_overall_score_is_refused_wherever_it_stands(path: tuple[Any, ...], envelope_of: Any) -> None:
    """The envelope schema has no place for a merged number, at any depth."""
    envelope = envelope_of([{"kind": "policy"}], transcript=[])
    target = envelope
    for step in path:
        target = target[step]
    validator = jsonschema.Draft202012Validator(schema("envelope"))
    validator.validate(envelope)
    target["overall_score"] = 1
    assert not validator.is_valid(envelope)


def test_written_evidence_fits_its_schema() -> None:
    """What `to_json` writes, the evidence schema accepts."""
    import json

    import averment

    evidence = averment.Evidence(
        transcript=[{"role": "agent", "text": "hi", "start": 1, "end": 2}],
        trace=[{"type": "tool_call", "name": "t", "arguments": {"a": 1}, "result": "x", "start_sec": 1}],
        state={"r": [{"a": 1}]},
        timing=[{"x": 1}],
        labels={"a": "b"},
    )
    jsonschema.Draft202012Validator(schema("evidence")).validate(json.loads(evidence.to_json()))
