"""Tools as BFCL's files describe functions: its names of types, references resolved, one type for each parameter.

BFCL's `parameters` are `{"type": "dict", "properties": ..., "required": ...}` and nothing else; `object` is `dict` there,
`number` is `float`. Its checker looks a parameter's type up by one name, so it can't tell a value of two types or of none.
A type with null is shown as the type alone: null is no type there, but it is a value. A default of a required parameter
is left out, as it is of no use.

Its prompting mode has models write calls in Python. So names must be names of Python, and a parameter that is called
like a keyword gets an underscore in front, as BFCL itself does it (`_from`).
"""

from __future__ import annotations

import keyword
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from averment.oracle.catalog import canonical
from averment.oracle.catalog.schema import TYPES, OutOfStepsError, Schema, Schemas, declared_types
from averment.text.jsonvalue import show

__all__ = ["MAX_PARAMETERS", "Function", "NotExpressibleError", "functions_of"]

MAX_PARAMETERS: Final = 5_000
"""How many schemas one tool may have when all its references are resolved; tools for people have some dozens."""

_MAX_DEPTH: Final = 50
_NAMES: Final = {"object": "dict", "number": "float"}
_WHOLE: Final = frozenset({"integer", "number"})
_LEAST: Final = ("maxLength", "maximum", "maxItems")
_MOST: Final = ("minLength", "minimum", "minItems")


class NotExpressibleError(ValueError):
    """A row that BFCL's files can't hold.

    Attributes:
        reason: one of `bfcl.REASONS`.
        detail: one sentence without a full stop.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


class Function(msgspec.Struct, frozen=True, kw_only=True):
    """A tool, and its description for BFCL.

    Attributes:
        name: the tool's, in both.
        doc: the description.
        parameters: `function.parameters` as the pack has them.
        names: what each parameter is called in `doc`, by its name in the pack.
        shapes: what `doc` says of each parameter, by its name in the pack.
        required: the parameters that must be given, by their names in the pack.
    """

    name: str
    doc: dict[str, Any]
    parameters: dict[str, Any]
    names: dict[str, str]
    shapes: dict[str, dict[str, Any]]
    required: frozenset[str]


def functions_of(tools: Sequence[Mapping[str, Any]]) -> dict[str, Function]:
    """The functions of a row's tools, by name and in their order.

    Raises:
        NotExpressibleError: BFCL can't describe one of them.
    """
    functions = {tool["function"]["name"]: _function(tool["function"]) for tool in tools}
    shown = {name.replace(".", "_") for name in functions}
    if len(shown) < len(functions):
        detail = "two tools have one name where BFCL writes `_` for `.`"
        raise NotExpressibleError("name_not_expressible", detail)
    return functions


def _function(tool: Mapping[str, Any]) -> Function:
    name = tool["name"]
    if not all(_is_name(part) and not keyword.iskeyword(part) for part in name.split(".")):
        detail = f"the tool's name {show(name)} can't be called in Python"
        raise NotExpressibleError("name_not_expressible", detail)
    parameters = tool.get("parameters") or {"type": "object", "properties": {}}
    try:
        shape = _Shapes(name, parameters).shape((parameters,), (), 0)
    except OutOfStepsError as error:
        raise _refused(name, (), str(error)) from None
    shapes, required = shape.get("properties", {}), shape.get("required", [])
    names = _names(name, shapes)
    doc = {
        "name": name,
        "description": tool.get("description", ""),
        "parameters": {
            "type": "dict",
            "properties": {names[key]: each for key, each in shapes.items()},
            "required": [names[key] for key in required],
        },
    }
    return Function(
        name=name,
        doc=doc,
        parameters=parameters,
        names=names,
        shapes=shapes,
        required=frozenset(required),
    )


def _names(tool: str, parameters: Iterable[str]) -> dict[str, str]:
    names = {name: f"_{name}" if keyword.iskeyword(name) else name for name in parameters}
    for name, shown in names.items():
        if not _is_name(shown):
            detail = f"the parameter {show(name)} of `{tool}` can't be named in Python"
            raise NotExpressibleError("name_not_expressible", detail)
    if len(set(names.values())) < len(names):
        detail = f"two parameters of `{tool}` have one name where BFCL puts `_` before a keyword"
        raise NotExpressibleError("name_not_expressible", detail)
    return names


def _is_name(name: str) -> bool:
    """Whether Python reads this as a name, and as the same one."""
    return name.isidentifier() and unicodedata.normalize("NFKC", name) == name


def _refused(tool: str, path: Sequence[str], what: str) -> NotExpressibleError:
    place = f"`{tool}({'.'.join(path)})`"
    return NotExpressibleError("schema_not_expressible", f"{place}: {what}")


class _Shapes:
    """The shapes of one tool's parameters."""

    def __init__(self, tool: str, parameters: Schema) -> None:
        self._tool = tool
        self._schemas = Schemas(parameters)
        self._made = 0

    def shape(self, applied: tuple[Schema, ...], path: tuple[str, ...], depth: int) -> dict[str, Any]:
        """What BFCL says of a value to which these schemas apply together."""
        self._made += 1
        if self._made > MAX_PARAMETERS or depth > _MAX_DEPTH:
            raise self._refused(path, "the schema is too large with its references resolved")
        conjuncts = self._schemas.conjuncts(*applied)
        parts = conjuncts.outer_first
        kind = self._kind(parts, path)
        shape: dict[str, Any] = {"type": _NAMES.get(kind, kind)}
        if depth:
            shape["description"] = next(_given(parts, "description"), "")
        self._restrict(shape, kind, parts, path)
        if kind == "object":
            self._add_properties(shape, conjuncts.inner_first, path, depth)
        elif kind == "array":
            self._add_items(shape, parts, path, depth)
        return shape

    def _kind(self, parts: Sequence[Schema], path: tuple[str, ...]) -> str:
        """The one type of a value, null aside."""
        kinds = frozenset(TYPES)
        declared = [types for each in parts if (types := declared_types(each)) is not None]
        for types in declared:
            kinds &= {*types, "integer"} if "number" in types else set(types)
        if not declared:
            kinds = frozenset(_implied(parts))
        if "number" in kinds and kinds <= {"number", "integer", "null"}:
            return "number"
        left = kinds - {"null"}
        if len(left) == 1:
            return next(iter(left))
        found = f"the types {', '.join(sorted(kinds))}" if kinds else "no type"
        raise self._refused(path, f"BFCL needs one type, and this has {found}")

    def _restrict(
        self, shape: dict[str, Any], kind: str, parts: Sequence[Schema], path: tuple[str, ...]
    ) -> None:
        """Say which values are allowed; BFCL's checker does not look, but the model is shown it."""
        for name in _MOST:
            if bounds := list(_given(parts, name)):
                shape[name] = max(bounds)
        for name in _LEAST:
            if bounds := list(_given(parts, name)):
                shape[name] = min(bounds)
        if formats := list(_given(parts, "format")):
            shape["format"] = formats[0]
        patterns = sorted(set(_given(parts, "pattern")))
        if len(patterns) > 1:
            raise self._refused(path, "several patterns apply at once")
        if patterns:
            shape["pattern"] = patterns[0]
        sets = [*_given(parts, "enum"), *([value] for value in _given(parts, "const"))]
        if sets:
            keys = [set(map(canonical.key, values)) for values in sets]
            kept = set.intersection(*keys)
            allowed = [value for value in sets[0] if canonical.key(value) in kept and value is not None]
            if not allowed:
                raise self._refused(path, "no value but null is allowed")
            shape["enum"] = [_number(value) for value in allowed] if kind == "number" else allowed

    def _add_properties(
        self, shape: dict[str, Any], parts: Sequence[Schema], path: tuple[str, ...], depth: int
    ) -> None:
        declared: dict[str, list[Schema]] = {}
        for properties in _given(parts, "properties"):
            for name, schema in properties.items():
                declared.setdefault(name, []).append(schema)
        asked = {name for names in _given(parts, "required") for name in names}
        shape["properties"] = {}
        for name, declaring in declared.items():
            part = shape["properties"][name] = self.shape(tuple(declaring), (*path, name), depth + 1)
            if name in asked:
                continue
            for default in _given(self._schemas.conjuncts(*declaring).outer_first, "default"):
                part["default"] = _number(default) if part["type"] == "float" else default
                break
        shape["required"] = [name for name in declared if name in asked]

    def _add_items(
        self, shape: dict[str, Any], parts: Sequence[Schema], path: tuple[str, ...], depth: int
    ) -> None:
        items = tuple(_given(parts, "items"))
        if not items:
            raise self._refused(path, "nothing is said of the items, and BFCL needs their type")
        inner = self.shape(items, (*path, "[]"), depth + 1)
        if inner["type"] == "array" and inner["items"]["type"] in ("array", "dict"):
            raise self._refused(path, "BFCL describes no lists of lists of lists or objects")
        shape["items"] = inner

    def _refused(self, path: tuple[str, ...], what: str) -> NotExpressibleError:
        return _refused(self._tool, path, what)


def _given(parts: Iterable[Schema], keyword: str) -> Iterator[Any]:
    return (each[keyword] for each in parts if keyword in each)


def _implied(parts: Sequence[Schema]) -> set[str]:
    """The types of what is allowed, where none is declared."""
    for values in (*_given(parts, "enum"), *([value] for value in _given(parts, "const"))):
        return {next(name for name in _EXACT if TYPES[name](value)) for value in values}
    if any("properties" in each for each in parts):
        return {"object"}
    return {"array"} if any("items" in each for each in parts) else set()


_EXACT: Final = ("integer", *(name for name in TYPES if name != "integer"))


def _number(value: Any) -> Any:
    """A whole number as BFCL has it where any number may stand, if that changes nothing."""
    if not isinstance(value, int) or isinstance(value, bool):
        return value
    try:
        real = float(value)
    except OverflowError:
        return value
    return real if real == value else value
