from __future__ import annotations

from typing import Any

import pytest

from averment.oracle.catalog.defaults import declared_defaults, with_defaults
from averment.oracle.catalog.schema import OutOfStepsError


def test_what_is_left_out_gets_its_default_and_what_is_given_stays() -> None:
    """False and null are defaults like any other; a property without one is left out."""
    parameters = {"properties": {"a": {"default": False}, "b": {"default": None}, "c": {}}}
    assert declared_defaults(parameters) == {"a": False, "b": None}
    assert with_defaults(parameters, {"a": True, "z": 1}) == {"a": True, "z": 1, "b": None}


@pytest.mark.parametrize("parameters", [None, [], {}, {"properties": []}, {"properties": {"a": True}}])
def test_what_is_no_schema_has_no_defaults(parameters: object) -> None:
    """Arguments stay as they are."""
    assert with_defaults(parameters, {"a": 1}) == {"a": 1}


def test_defaults_are_inherited_through_references_and_all_of() -> None:
    """Those of a property, and those of properties that another schema declares; the property's own comes first."""
    parameters = {
        "allOf": [{"$ref": "#/$defs/paging"}],
        "properties": {
            "sort": {"allOf": [{"$ref": "#/$defs/order"}]},
            "own": {"$ref": "#/$defs/order", "default": "desc"},
        },
        "$defs": {
            "paging": {"properties": {"limit": {"default": 10}}},
            "order": {"enum": ["asc", "desc"], "default": "asc"},
        },
    }
    assert declared_defaults(parameters) == {"limit": 10, "sort": "asc", "own": "desc"}


def test_the_inner_schema_of_an_object_comes_first() -> None:
    """Where two declare the same property, what `$ref` leads to and `allOf` holds is filled in before."""
    parameters = {
        "properties": {"a": {"default": "outer"}},
        "allOf": [{"properties": {"a": {"default": "member"}}}],
        "$ref": "#/$defs/base",
        "$defs": {"base": {"properties": {"a": {"default": "base"}}}},
    }
    assert declared_defaults(parameters) == {"a": "base"}


def test_objects_and_lists_that_are_there_get_their_own_defaults() -> None:
    """Inside given values and inside defaults; an object that is not there is not made."""
    line = {"properties": {"count": {"default": 1}}}
    parameters = {
        "properties": {
            "lines": {"items": line},
            "first": {**line, "default": {"id": "x"}},
            "absent": line,
        }
    }
    given: dict[str, Any] = {"lines": [{}, {"count": 2}, 3]}
    assert with_defaults(parameters, given) == {
        "lines": [{"count": 1}, {"count": 2}, 3],
        "first": {"id": "x", "count": 1},
    }
    assert given == {"lines": [{}, {"count": 2}, 3]}


def test_the_schema_is_not_shared_with_what_is_filled() -> None:
    """Whoever changes arguments changes no default."""
    parameters: dict[str, Any] = {"properties": {"a": {"default": {"list": []}}}}
    declared_defaults(parameters)["a"]["list"].append(1)
    assert declared_defaults(parameters) == {"a": {"list": []}}


def test_defaults_that_hold_themselves_or_double_end() -> None:
    """Neither a schema with itself as a default inside, nor one with two of the next, runs on."""
    node = {"default": {}, "properties": {"child": {"$ref": "#/properties/node"}}}
    with pytest.raises(OutOfStepsError):
        declared_defaults({"properties": {"node": node}})
    doubling = {
        f"d{index}": {
            "default": {},
            "properties": {name: {"$ref": f"#/$defs/d{index + 1}"} for name in "ab"},
        }
        for index in range(40)
    }
    with pytest.raises(OutOfStepsError):
        declared_defaults({"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": doubling})
