"""Unions of shapes, `anyOf` and `oneOf`, as one shape: exactly where that is possible, else as the first of them.

Exact are unions of a shape and null, of shapes whose types differ, and of enumerations. The subset has a list of types
for the first two: a keyword like `minLength` says nothing of values of other types.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from averment.oracle.catalog import canonical
from averment.oracle.catalog.schema import declared_types
from averment.text.jsonvalue import is_number

__all__ = ["ANNOTATIONS", "BOUNDS", "are_disjoint", "is_null", "joined", "merged", "says_nothing"]

ANNOTATIONS: Final = frozenset(
    {
        "title",
        "description",
        "default",
        "examples",
        "example",
        "deprecated",
        "readOnly",
        "writeOnly",
        "$comment",
    }
)
"""Keywords that allow and refuse nothing."""

BOUNDS: Final = (("minLength", "maxLength"), ("minItems", "maxItems"), ("minimum", "maximum"))
"""Keywords of lower and upper bounds."""

_MAX_COMPARED: Final = 200
"""Shapes that are compared with each other; of more nothing is certain."""

_OF_TYPE: Final[dict[str, tuple[str, ...]]] = {
    "string": ("minLength", "maxLength", "pattern", "format"),
    "integer": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format"),
    "boolean": (),
    "array": ("items", "minItems", "maxItems", "uniqueItems"),
    "object": ("properties", "required", "additionalProperties"),
    "null": (),
}
"""The keywords that say something of values of one type and nothing of others."""


def is_null(shape: object) -> bool:
    """Whether the shape allows null and nothing else."""
    if not isinstance(shape, dict):
        return False
    said = {key: value for key, value in shape.items() if key not in ANNOTATIONS}
    return said in ({"type": "null"}, {"type": ["null"]}, {"const": None}, {"enum": [None]})


def says_nothing(shape: object) -> bool:
    """Whether the shape allows every value."""
    return shape is True or (isinstance(shape, dict) and ANNOTATIONS.issuperset(shape))


def are_disjoint(shapes: Sequence[object]) -> bool:
    """Whether it is certain that no value is allowed by two of the shapes."""
    return len(shapes) <= _MAX_COMPARED and all(
        _excludes(one, other) for index, one in enumerate(shapes) for other in shapes[:index]
    )


def joined(shapes: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """One shape for exactly the values that at least one of the shapes allows; None where there is none."""
    return _enumeration(shapes) or _of_types(shapes)


def merged(outer: Mapping[str, Any], inner: Mapping[str, Any]) -> dict[str, Any] | None:
    """One schema for the values that both allow; None where they say different things under one keyword."""
    result = dict(outer)
    for key, value in inner.items():
        if key not in result or result[key] == value:
            result[key] = value
        elif key in ANNOTATIONS:
            continue
        elif key == "required" and isinstance(value, list) and isinstance(result[key], list):
            result[key] = [*result[key], *(name for name in value if name not in result[key])]
        elif key == "properties" and isinstance(value, dict) and isinstance(result[key], dict):
            if any(result[key][name] != value[name] for name in result[key].keys() & value.keys()):
                return None
            result[key] = {**result[key], **value}
        else:
            return None
    for low, high in BOUNDS:
        if is_number(result.get(low)) and is_number(result.get(high)) and result[low] > result[high]:
            return None
    # A closed object refuses what it doesn't declare itself, so what it declares must not change.
    for part in (outer, inner):
        is_closed = part.get("additionalProperties", True) is not True
        if is_closed and result.get("properties") != part.get("properties"):
            return None
    return result


def _excludes(one: object, other: object) -> bool:
    """Whether it is certain that no value is allowed by both: by their types, their values, or a property of theirs."""
    if not isinstance(one, dict) or not isinstance(other, dict):
        return one is False or other is False
    types, other_types = _all_types(one), _all_types(other)
    if types is not None and other_types is not None and not types & other_types:
        return True
    values, other_values = _values(one), _values(other)
    if values is not None and other_values is not None and not values & other_values:
        return True
    if types != {"object"} or other_types != {"object"}:
        return False
    # What OpenAPI calls a discriminator: both ask for it, and for another value.
    shared = set(_required(one)) & set(_required(other))
    return any(_excludes(one["properties"][name], other["properties"][name]) for name in shared)


def _all_types(shape: Mapping[str, Any]) -> set[str] | None:
    types = declared_types(shape)
    return None if not types else {*types, *(("integer",) if "number" in types else ())}


def _values(shape: Mapping[str, Any]) -> set[bytes | None] | None:
    if "const" in shape:
        return {canonical.key(shape["const"])}
    listed = shape.get("enum")
    return set(map(canonical.key, listed)) if isinstance(listed, list) else None


def _required(shape: Mapping[str, Any]) -> list[str]:
    """The declared properties that must be there."""
    required, properties = shape.get("required"), shape.get("properties")
    if not isinstance(required, list) or not isinstance(properties, dict):
        return []
    return [name for name in required if isinstance(name, str) and name in properties]


def _enumeration(shapes: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    values: dict[bytes | None, Any] = {}
    for shape in shapes:
        said = shape.keys() - ANNOTATIONS
        if said - {"type"} == {"const"}:
            listed = [shape["const"]]
        elif said - {"type"} == {"enum"} and isinstance(shape["enum"], list):
            listed = shape["enum"]
        else:
            return None
        for value in listed:
            values.setdefault(canonical.key(value), value)
    return {"enum": list(values.values())} if values else None


def _of_types(shapes: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    result: dict[str, Any] = {}
    types: list[str] = []
    for shape in shapes:
        own = declared_types(shape)
        known = {key for name in own or () for key in _OF_TYPE[name]}
        said = shape.keys() - ANNOTATIONS - {"type"}
        overlap = (_all_types(shape) or set()) & (_all_types({"type": types}) or set())
        if not own or not said <= known or overlap or said & result.keys():
            return None
        types += own
        result |= {key: shape[key] for key in shape if key in said}
    return {"type": types, **result}
