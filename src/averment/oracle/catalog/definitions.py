"""What is wrong with a tool as the catalog declares it (contract, 1.4).

Every mistake of an entry is told, in the order of its schemas. A keyword whose value is null counts as left out where
null could mean nothing else: exporters write it for what isn't there.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from averment.errors import nearest
from averment.oracle.catalog import canonical
from averment.oracle.catalog.arguments import value_failures
from averment.oracle.catalog.circles import circular_references
from averment.oracle.catalog.reasons import DEFINITION_REASONS
from averment.oracle.catalog.schema import KEYWORDS, TYPES, Schema, Schemas, children, declared_types
from averment.text.jsonvalue import is_number, show
from averment.text.patterns import PatternError, compile_pattern
from averment.text.structs import describe

__all__ = ["REASONS", "SchemaFailure", "definition_failures"]

REASONS: Final = DEFINITION_REASONS

Path = tuple[str | int, ...]

_BOUNDS = (("minLength", "maxLength"), ("minItems", "maxItems"), ("minimum", "maximum"))
_UNDECIDED = frozenset({"unresolvable_schema_ref", "invalid_schema_type"})
_CHOICE = "Write `type` as a list of types, or `enum` for fixed values; arguments of different shapes need tools of their own."
_LENGTHS = "Say it in `description`, and let the oracle refuse such arguments."
_NOTHING = "Leave it out; it says nothing about arguments."
_INSTEAD = {
    "anyOf": _CHOICE,
    "oneOf": _CHOICE,
    "not": "Say what is allowed instead, with `type`, `enum`, `pattern` or bounds.",
    "nullable": 'Write the type and null: `"type": ["string", "null"]`.',
    "exclusiveMinimum": "Write `minimum` with the smallest value that is allowed.",
    "exclusiveMaximum": "Write `maximum` with the largest value that is allowed.",
    "prefixItems": "Write one schema for all items with `items`.",
    "minProperties": _LENGTHS,
    "maxProperties": _LENGTHS,
    "$schema": _NOTHING,
    "$id": _NOTHING,
    "$comment": _NOTHING,
    "example": "Write `examples`, a list.",
}


class SchemaFailure(msgspec.Struct, frozen=True, kw_only=True):
    """One mistake in a tool as declared.

    Attributes:
        reason: one of `REASONS`.
        path: the place inside the catalog's entry.
        message: one sentence without a full stop.
        expected: what would have been right.
        found: what stands there.
        nearest: the known name closest to the one found.
        mend: the next step, where there is a better one than the reason's.
        key: whether the key at the path is meant, and not its value.
        offset: the character of the string at the path, from 0.
    """

    reason: str
    path: Path
    message: str
    expected: str | None = None
    found: str | None = None
    nearest: str | None = None
    mend: str | None = None
    key: bool = False
    offset: int | None = None


def definition_failures(tool_entry: object) -> list[SchemaFailure]:
    """Every mistake in one entry of a catalog, none if it is right.

    Args:
        tool_entry: the entry as it was read, a JSON value.
    """
    return list(_entry_failures(tool_entry))


def _failure(reason: str, path: Path, message: str | None = None, **more: Any) -> SchemaFailure:
    return SchemaFailure(reason=reason, path=path, message=message or REASONS[reason].about, **more)


def _not_a(reason: str, path: Path, value: object, expected: str) -> SchemaFailure:
    return _failure(reason, path, expected=expected, found=describe(value))


def _entry_failures(entry: object) -> Iterator[SchemaFailure]:
    if not isinstance(entry, dict):
        yield _not_a("tool_not_object", (), entry, "an object with `type` and `function`")
        return
    if entry.get("type", "function") != "function":
        yield _not_a("tool_type_not_function", ("type",), entry["type"], "`function`")
    function = entry.get("function")
    if not isinstance(function, dict):
        yield _not_a("tool_function_not_object", ("function",), function, "an object with `name`")
        return
    name = function.get("name")
    if not isinstance(name, str) or not name.strip():
        yield _not_a("tool_name_not_nonempty_string", ("function", "name"), name, "a non-empty string")
    if not isinstance(function.get("description", ""), str):
        described = function["description"]
        yield _not_a("tool_description_not_string", ("function", "description"), described, "a string")
    if not isinstance(function.get("strict", False), bool):
        yield _not_a("tool_strict_not_boolean", ("function", "strict"), function["strict"], "true or false")
    parameters = function.get("parameters")
    at: Path = ("function", "parameters")
    if not isinstance(parameters, dict):
        yield _not_a("parameters_not_object", at, parameters, "an object schema")
        return
    if parameters.get("type", "object") != "object":
        yield _not_a("parameters_type_not_object", (*at, "type"), parameters["type"], "`object`")
    yield from _Definition(parameters, at).failures()


class _Definition:
    """One tool's parameters, and every schema in them."""

    def __init__(self, parameters: Schema, at: Path) -> None:
        self._schemas = Schemas(parameters)
        self._places: dict[int, tuple[Schema, Path]] = {}
        pending: list[tuple[Schema, Path]] = [(parameters, at)]
        while pending:
            schema, path = pending.pop()
            if id(schema) not in self._places:
                self._places[id(schema)] = (schema, path)
                pending += reversed([(part, (*path, *steps)) for steps, part in children(schema)])
        self._circles = circular_references(self._schemas, [schema for schema, _ in self._places.values()])
        self._root = parameters

    def failures(self) -> Iterator[SchemaFailure]:
        """What is wrong with each schema, from the outside in."""
        for schema, path in self._places.values():
            for failure in self._faults(schema):
                yield msgspec.structs.replace(failure, path=(*path, *failure.path))

    def _faults(self, schema: Schema) -> Iterator[SchemaFailure]:
        yield from _keywords(schema)
        yield from self._type(schema)
        yield from _values(schema)
        yield from self._default(schema)
        yield from _bounds(schema)
        yield from _pattern(schema)
        yield from self._reference(schema)
        yield from _parts(schema)
        yield from _required(schema)

    def _type(self, schema: Schema) -> Iterator[SchemaFailure]:
        types = declared_types(schema)
        if types is None or schema is self._root:
            return
        if not types:
            declared = schema["type"]
            near = nearest(declared, TYPES) if isinstance(declared, str) else None
            expected = f"one of {', '.join(TYPES)}, or a list of them"
            found = describe(declared)
            yield _failure("invalid_schema_type", ("type",), expected=expected, found=found, nearest=near)
        for index, name in enumerate(types):
            if name in types[:index]:
                yield _failure("duplicate_schema_type", ("type", index), f"the type `{name}` stands twice")

    def _default(self, schema: Schema) -> Iterator[SchemaFailure]:
        if "default" not in schema or self._schemas.is_exhausted:
            return
        failures = value_failures(self._schemas, schema, schema["default"])
        told = [failure for failure in failures if failure.reason not in _UNDECIDED]
        for failure in told[:1]:
            message = f"the default does not fit its own schema: {failure.message}"
            yield _failure("invalid_schema_default", ("default",), message)
        if self._schemas.is_exhausted:
            message = "the defaults take too many steps to check, this one and those after it"
            mend = "Refer to fewer schemas at once."
            yield _failure("invalid_schema_default", ("default",), message, mend=mend)

    def _reference(self, schema: Schema) -> Iterator[SchemaFailure]:
        reference = schema.get("$ref")
        if reference is None:
            return
        found = describe(reference)
        target = self._schemas.target(reference)
        if not isinstance(reference, str) or not reference.startswith("#/"):
            yield _failure(
                "schema_ref_not_local", ("$ref",), expected="a string that begins with `#/`", found=found
            )
        elif target is None or id(target) not in self._places:
            what = "nothing" if target is None else "an object that is no schema"
            message = f"`$ref` leads to {what}"
            expected = "a place in the tool's own `parameters`"
            yield _failure("unresolvable_schema_ref", ("$ref",), message, expected=expected, found=found)
        elif id(schema) in self._circles:
            message = "`$ref` leads back to a schema that it stands in"
            yield _failure("cyclic_schema_ref", ("$ref",), message, found=found)


def _keywords(schema: Schema) -> Iterator[SchemaFailure]:
    for keyword in schema:
        if keyword not in KEYWORDS:
            mend = _INSTEAD.get(keyword)
            yield _failure(
                "unsupported_schema_keyword",
                (keyword,),
                f"the keyword {show(keyword)} is not supported",
                nearest=None if mend else nearest(keyword, KEYWORDS),
                mend=mend,
                key=True,
            )


def _values(schema: Schema) -> Iterator[SchemaFailure]:
    """`enum` and `const`."""
    fixed: list[tuple[Path, Any]] = [(("const",), schema["const"])] if "const" in schema else []
    if "enum" in schema:
        enum = schema["enum"]
        if not isinstance(enum, list):
            yield _not_a("schema_enum_not_array", ("enum",), enum, "a non-empty list")
        elif not enum:
            yield _failure("schema_enum_empty", ("enum",), expected="at least one value")
        else:
            seen: set[bytes | None] = set()
            for index, value in enumerate(enum):
                key = canonical.key(value)
                if key in seen:
                    message = f"the value {show(value)} stands twice in `enum`"
                    yield _failure("duplicate_schema_enum_value", ("enum", index), message)
                seen.add(key)
            fixed = [*((("enum", index), value) for index, value in enumerate(enum)), *fixed]
    types = declared_types(schema)
    if types:
        for path, value in fixed:
            if not any(TYPES[name](value) for name in types):
                message = f"no value of type {' or '.join(types)} equals {show(value)}"
                yield _failure("schema_value_violates_type", path, message)


def _bounds(schema: Schema) -> Iterator[SchemaFailure]:
    for pair in _BOUNDS:
        is_length = pair[0] != "minimum"
        is_right = TYPES["integer"] if is_length else is_number
        right = {}
        for keyword in pair:
            value = schema.get(keyword)
            if value is None:
                continue
            if is_right(value) and (not is_length or value >= 0):
                right[keyword] = value
            else:
                expected = "a whole number from 0" if is_length else "a number"
                message = f"`{keyword}` is no {'length' if is_length else 'number'}"
                found = describe(value)
                yield _failure("invalid_schema_bound", (keyword,), message, expected=expected, found=found)
        if len(right) == 2 and right[pair[0]] > right[pair[1]]:
            low, high = (show(value) for value in right.values())
            message = f"`{pair[0]}` is {low}, above `{pair[1]}`, which is {high}"
            yield _failure("inconsistent_schema_bounds", (pair[0],), message)


def _pattern(schema: Schema) -> Iterator[SchemaFailure]:
    if "pattern" not in schema:
        return
    pattern = schema["pattern"]
    if not isinstance(pattern, str):
        yield _not_a("schema_pattern_not_string", ("pattern",), pattern, "a string")
        return
    try:
        compile_pattern(pattern)
    except PatternError as error:
        yield _failure(
            "invalid_schema_pattern", ("pattern",), error.message, mend=error.mend, offset=error.position
        )


def _parts(schema: Schema) -> Iterator[SchemaFailure]:
    """What should hold further schemas, or says whether others are allowed."""
    if not isinstance(schema.get("additionalProperties", False), bool):
        others = schema["additionalProperties"]
        yield _not_a(
            "schema_additional_properties_not_boolean", ("additionalProperties",), others, "true or false"
        )
    members = schema.get("allOf")
    if members is not None and (not isinstance(members, list) or not members):
        yield _not_a("schema_all_of_not_nonempty_array", ("allOf",), members, "a non-empty list of schemas")
    elif members:
        for index, part in enumerate(members):
            if not isinstance(part, dict):
                yield _not_a("all_of_schema_not_object", ("allOf", index), part, "an object")
    for keyword, whole, single in (
        ("$defs", "schema_definitions_not_object", "definition_schema_not_object"),
        ("definitions", "schema_definitions_not_object", "definition_schema_not_object"),
        ("properties", "schema_properties_not_object", "property_schema_not_object"),
    ):
        named = schema.get(keyword)
        if named is None:
            continue
        if not isinstance(named, dict):
            yield _not_a(whole, (keyword,), named, "an object of schemas by name")
            continue
        for name, part in named.items():
            if not isinstance(part, dict):
                yield _not_a(single, (keyword, name), part, "an object")
    if "items" in schema and not isinstance(schema["items"], dict):
        yield _not_a("items_schema_not_object", ("items",), schema["items"], "one schema, an object")


def _required(schema: Schema) -> Iterator[SchemaFailure]:
    required = schema.get("required")
    if required is None:
        return
    if not isinstance(required, list) or not all(isinstance(name, str) for name in required):
        yield _not_a("schema_required_not_string_array", ("required",), required, "a list of names")
        return
    properties = schema.get("properties")
    declared = properties if isinstance(properties, dict) else {}
    seen: set[str] = set()
    for index, name in enumerate(required):
        if name in seen:
            message = f"{show(name)} stands twice in `required`"
            yield _failure("duplicate_required_property", ("required", index), message)
        elif name not in declared:
            message = f"{show(name)} is required and not declared in `properties`"
            near = nearest(name, declared)
            yield _failure("required_property_not_declared", ("required", index), message, nearest=near)
        seen.add(name)
