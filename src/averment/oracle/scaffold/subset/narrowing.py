"""One schema, as others write them, as one of the subset; every change is noted.

What the subset has no keyword for is left out, which allows more than before; where a union has to become one shape, it
becomes the first, which allows less. Either way the oracle can still refuse.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from averment.errors import Problem, nearest
from averment.oracle.catalog import canonical
from averment.oracle.catalog.arguments import value_failures
from averment.oracle.catalog.schema import TYPES, Schemas, declared_types
from averment.oracle.scaffold.subset.changes import Change, Effect, Path
from averment.oracle.scaffold.subset.shared import Shared, every_schema, place_of, value_at
from averment.oracle.scaffold.subset.unions import BOUNDS, are_disjoint, is_null, joined, merged, says_nothing
from averment.text.jsonvalue import is_number, show
from averment.text.patterns import PatternError, compile_pattern
from averment.text.source import Source

__all__ = ["Narrowing"]

_ANNOTATIONS: Final[dict[str, type]] = {
    "title": str,
    "description": str,
    "format": str,
    "deprecated": bool,
    "readOnly": bool,
    "writeOnly": bool,
    "examples": list,
}
_MAX_HOPS: Final = 20
_NOTES: Final = frozenset(
    {
        "$schema",
        "$id",
        "id",
        "$comment",
        "$anchor",
        "$vocabulary",
        "xml",
        "externalDocs",
        "discriminator",
        "example",
    }
    | {"contentEncoding", "contentMediaType", "contentSchema"}
)
_KNOWN: Final = frozenset(
    {
        *_ANNOTATIONS,
        "$ref",
        "$defs",
        "definitions",
        "allOf",
        "anyOf",
        "oneOf",
        "type",
        "nullable",
        "enum",
        "const",
    }
    | {"default", "properties", "required", "additionalProperties", "items", "pattern"}
    | {"exclusiveMinimum", "exclusiveMaximum", *(name for pair in BOUNDS for name in pair)}
)


class Narrowing:
    """Brings the schemas of one document into the subset.

    Schemas that are referred to are narrowed once, by `settle`; `closed` gives a tool's parameters those that it needs.

    Attributes:
        changes: what was changed so far.
        problems: what makes no sense whatever is done with it.
        shared: the schemas that others refer to.
    """

    def __init__(self, source: Source, root: Path = (), *, is_request: bool = False) -> None:
        """Begins.

        Args:
            source: the document.
            root: where in it the value stands that references start from.
            is_request: the schemas are of what is sent, so what is read-only is none of it.
        """
        self.changes: list[Change] = []
        self.problems: list[Problem] = []
        self.shared = Shared()
        self._source = source
        self._root = root
        self._document = value_at(root, source.value)
        self._is_request = is_request
        self._pending: list[tuple[str, Path, bool]] = []

    def schema(self, node: object, path: Path, *, null: bool = False) -> dict[str, Any]:
        """The schema at a path of the document, in the subset.

        Args:
            node: what stands there.
            path: where that is, from the document's root.
            null: allow null too.
        """
        if node is True:
            return {}
        if not isinstance(node, dict):
            self._note("wider", "what is no schema was left out", path)
            return {}
        given, null_in_union = self._without_unions(node, path)
        schema: dict[str, Any] = {}
        self._types(given, schema, path)
        for keyword, kind in _ANNOTATIONS.items():
            if isinstance(given.get(keyword), kind):
                schema[keyword] = given[keyword]
        if "example" in given and "examples" not in schema:
            schema["examples"] = [given["example"]]
        self._values(given, schema, path)
        self._bounds(given, schema, path)
        self._parts(given, schema, path)
        self._left_out(given, schema, path)
        if null or null_in_union:
            self._allow_null(schema, path)
        if isinstance(given.get("$ref"), str):
            self._refer(given["$ref"], schema, path, null=(null or null_in_union) and "allOf" not in schema)
        return schema

    def settle(self) -> None:
        """Narrows what was referred to, and what that refers to, and cuts circles; after all calls of `schema`."""
        for name, place, null in self._pending:  # grows on the way
            self.shared.definitions[name] = self.schema(
                value_at(place, self._document), (*self._root, *place), null=null
            )
        self._pending.clear()
        self.changes += self.shared.cut_circles()

    def closed(self, parameters: Mapping[str, Any], path: Path) -> dict[str, Any]:
        """The parameters with the definitions that they need, and without defaults that they refuse."""
        needed = self.shared.needed(parameters)
        whole = {**parameters, "$defs": needed} if needed else dict(parameters)
        schemas = Schemas(whole)
        for each in every_schema(whole):
            if "default" in each and value_failures(schemas, each, each["default"]):
                self._note("note", "a `default` that its schema refuses was left out", path)
                each.pop("default")  # type: ignore[attr-defined]
        return whole

    def _note(self, effect: Effect, about: str, path: Path) -> None:
        self.changes.append(Change(effect, about, path))

    def _without_unions(self, node: Mapping[str, Any], path: Path) -> tuple[dict[str, Any], bool]:
        """The schema without `anyOf` and `oneOf`, and whether null is allowed besides."""
        given = dict(node)
        if "anyOf" in given and "oneOf" in given:
            given["allOf"] = [*_list(given.get("allOf")), {"oneOf": given.pop("oneOf")}]
        keyword = "anyOf" if "anyOf" in given else "oneOf"
        if keyword not in given:
            return given, False
        union, place = given.pop(keyword), (*path, keyword)
        if not isinstance(union, list) or not union or not all(isinstance(b, dict | bool) for b in union):
            self._note("wider", f"`{keyword}` is no list of schemas and was left out", place)
            return given, False
        if keyword == "oneOf" and not are_disjoint([self._followed(shape) for shape in union]):
            self._note("wider", "`oneOf` no longer refuses what several of its shapes allow", place)
        shapes = [shape for shape in union if shape is not False and not is_null(shape)]
        if any(says_nothing(shape) for shape in shapes):
            self._note("same", f"`{keyword}` of anything was left out", place)
            return given, False
        inner, null = self._without_unions(self._one_of(shapes, keyword, place), place)
        null = null or (bool(shapes) and any(is_null(shape) for shape in union))
        if null and {"$ref", "allOf"} & given.keys():
            self._note("narrower", "null is no longer allowed beside a `$ref` or an `allOf`", place)
            null = False
        null = null and _admits_null(given)
        joint = merged(given, inner)
        return joint if joint is not None else {**given, "allOf": [*_list(given.get("allOf")), inner]}, null

    def _one_of(self, shapes: list[dict[str, Any]], keyword: str, place: Path) -> dict[str, Any]:
        """One shape for the shapes of a union that aren't null."""
        if not shapes:
            return {"type": "null"}
        if len(shapes) == 1:
            self._note("same", f"`{keyword}` of one shape and null became a list of types", place)
            return shapes[0]
        one = joined(shapes)
        if one is not None:
            self._note("same", f"`{keyword}` became a list of types or an `enum`", place)
            return one
        self._note("narrower", f"`{keyword}` of {len(shapes)} shapes became the first of them", place)
        return shapes[0]

    def _followed(self, shape: object) -> object:
        """What a shape that is nothing but a reference leads to, or itself."""
        for _ in range(_MAX_HOPS):
            if not isinstance(shape, dict) or not isinstance(shape.get("$ref"), str):
                break
            place = place_of(shape["$ref"], self._document)
            if place is None:
                break
            shape = value_at(place, self._document)
        return shape

    def _types(self, given: Mapping[str, Any], schema: dict[str, Any], path: Path) -> None:
        if "type" not in given:
            if given.get("nullable"):
                self._note("same", "`nullable` beside no `type` says nothing", (*path, "nullable"))
            return
        types = declared_types(given)
        if not types:
            names = [given["type"]] if isinstance(given["type"], str) else given["type"]
            odd = next(
                (name for name in names if name not in TYPES) if isinstance(names, list) else iter([names]),
                None,
            )
            self.problems.append(
                self._source.problem(
                    "invalid_schema_type",
                    "the schema declares a type that JSON Schema does not have",
                    (*path, "type"),
                    expected=f"one of {', '.join(TYPES)}, or a list of them",
                    found=show(odd if odd is not None else given["type"]),
                    nearest=nearest(odd, TYPES) if isinstance(odd, str) else None,
                )
            )
            return
        types = tuple(dict.fromkeys(types))
        if given.get("nullable") is True and "null" not in types:
            types = (*types, "null")
            self._note("same", "`nullable` became a list of types", (*path, "nullable"))
        schema["type"] = types[0] if len(types) == 1 else list(types)

    def _values(self, given: Mapping[str, Any], schema: dict[str, Any], path: Path) -> None:
        """`enum`, `const` and `default`; a default is looked at again when all schemas are known."""
        types = declared_types(schema)
        if "const" in given:
            if types is None or any(TYPES[name](given["const"]) for name in types):
                schema["const"] = given["const"]
            else:
                self._note("wider", "a `const` of another type was left out", (*path, "const"))
        if "enum" in given:
            listed = _list(given["enum"])
            values = {canonical.key(value): value for value in reversed(listed)}
            fitting = [
                value
                for value in reversed(values.values())
                if types is None or any(TYPES[name](value) for name in types)
            ]
            if fitting:
                schema["enum"] = fitting
            if not fitting:
                self._note("wider", "an `enum` without usable values was left out", (*path, "enum"))
            elif len(fitting) < len(listed):
                self._note(
                    "same", "values of an `enum` that stand twice or have another type were left out", path
                )
        if "default" in given:
            schema["default"] = given["default"]

    def _bounds(self, given: Mapping[str, Any], schema: dict[str, Any], path: Path) -> None:
        for pair in BOUNDS:
            for keyword in pair:
                if keyword not in given:
                    continue
                value = given[keyword]
                if keyword in {"minimum", "maximum"}:
                    fits = is_number(value)
                else:
                    value = int(value) if isinstance(value, float) and value.is_integer() else value
                    fits = isinstance(value, int) and not isinstance(value, bool) and value >= 0
                if fits:
                    schema[keyword] = value
                else:
                    self._note("wider", f"a `{keyword}` that makes no sense was left out", (*path, keyword))
        self._exclusive(given, schema, path, "minimum")
        self._exclusive(given, schema, path, "maximum")
        for low, high in BOUNDS:
            if low in schema and high in schema and schema[low] > schema[high]:
                self._note("wider", f"`{low}` above `{high}`: both were left out", (*path, low))
                del schema[low], schema[high]
        if "pattern" in given:
            try:
                compile_pattern(given["pattern"] if isinstance(given["pattern"], str) else "(")
                schema["pattern"] = given["pattern"]
            except PatternError:
                about = "a `pattern` that Python can't search for safely was left out"
                self._note("wider", about, (*path, "pattern"))

    def _exclusive(self, given: Mapping[str, Any], schema: dict[str, Any], path: Path, bound: str) -> None:
        """An exclusive bound: a number, or true beside an inclusive one, as OpenAPI 3.0 has it."""
        keyword = f"exclusive{bound.capitalize()}"
        value = given.get(keyword)
        if value is None or value is False:
            return
        if value is True:
            value = schema.pop(bound, None)
        if not is_number(value):
            self._note("wider", f"an `{keyword}` that makes no sense was left out", (*path, keyword))
            return
        is_whole = declared_types(schema) in {("integer",), ("integer", "null")}
        self._note("same" if is_whole else "wider", f"`{keyword}` became `{bound}`", (*path, keyword))
        if bound == "minimum":
            value = math.floor(value) + 1 if is_whole else value
            schema[bound] = max(value, schema.get(bound, value))
        else:
            value = math.ceil(value) - 1 if is_whole else value
            schema[bound] = min(value, schema.get(bound, value))

    def _parts(self, given: Mapping[str, Any], schema: dict[str, Any], path: Path) -> None:
        """What holds other schemas, and what says which of them must be there."""
        required = [name for name in _list(given.get("required")) if isinstance(name, str)]
        properties: dict[str, Any] = {}
        if isinstance(given.get("properties"), dict):
            for name, part in given["properties"].items():
                place = (*path, "properties", name)
                if self._is_request and isinstance(part, dict) and part.get("readOnly") is True:
                    self._note("narrower", "a read-only property was left out: it is not sent", place)
                    required = [each for each in required if each != name]
                elif part is False:
                    self._note("same", "a property that must not be there was left out", place)
                else:
                    properties[name] = self.schema(part, place)
            schema["properties"] = properties
        elif "properties" in given:
            self._note("wider", "`properties` that are no object were left out", (*path, "properties"))
        if required:
            for name in required:
                if name not in properties:
                    schema.setdefault("properties", properties)[name] = {}
                    about = "a required property was declared that was only required"
                    is_closed = given.get("additionalProperties") is False
                    self._note("wider" if is_closed else "same", about, (*path, "required"))
            schema["required"] = list(dict.fromkeys(required))
        if "additionalProperties" in given:
            further = given["additionalProperties"]
            schema["additionalProperties"] = further is not False
            if not isinstance(further, bool) and not says_nothing(further):
                about = "a schema of `additionalProperties` was left out: they may be anything"
                self._note("wider", about, (*path, "additionalProperties"))
        if isinstance(given.get("items"), dict | bool) and given["items"] is not False:
            schema["items"] = self.schema(given["items"], (*path, "items"))
        elif "items" in given:
            self._note("wider", "`items` that are no one schema were left out", (*path, "items"))
        members = [
            self.schema(part, (*path, "allOf", index)) for index, part in enumerate(_list(given.get("allOf")))
        ]
        if members:
            schema["allOf"] = members

    def _left_out(self, given: Mapping[str, Any], schema: dict[str, Any], path: Path) -> None:
        for keyword in given:
            if keyword in _NOTES or keyword.startswith("x-"):
                self._note("note", f"`{keyword}` was left out", (*path, keyword))
            elif keyword not in _KNOWN:
                self._note("wider", f"`{keyword}` was left out", (*path, keyword))
            elif keyword in _ANNOTATIONS and keyword not in schema:
                self._note("note", f"a `{keyword}` that makes no sense was left out", (*path, keyword))

    def _allow_null(self, schema: dict[str, Any], path: Path) -> None:
        if "allOf" in schema:
            self._note("narrower", "null is no longer allowed beside an `allOf`", path)
            return
        types = declared_types(schema)
        if types and "null" not in types:
            schema["type"] = [*types, "null"]
        if "const" in schema:
            schema["enum"] = [schema.pop("const")]
        if "enum" in schema and None not in schema["enum"]:
            schema["enum"] = [*schema["enum"], None]

    def _refer(self, reference: str, schema: dict[str, Any], path: Path, *, null: bool) -> None:
        place = place_of(reference, self._document)
        if place is None:
            self._note("wider", "a `$ref` that leads to nothing in this file was left out", (*path, "$ref"))
            return
        name, is_new = self.shared.name(place, null=null)
        if is_new:
            self._pending.append((name, place, null))
        self.shared.refer(schema, name, path)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _admits_null(given: Mapping[str, Any]) -> bool:
    types = declared_types(given)
    listed = [given["const"]] if "const" in given else given.get("enum", [None])
    return (types is None or "null" in types) and isinstance(listed, list) and None in listed
