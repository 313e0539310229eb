"""Values that satisfy a schema: what it gives itself where that fits (default, example, enumeration), else made up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from averment.oracle.catalog.arguments import argument_failures, value_failures
from averment.oracle.catalog.samples.words import word_of
from averment.oracle.catalog.schema import OutOfStepsError, Schema, Schemas, declared_types
from averment.text.jsonvalue import is_number

__all__ = ["Sample", "sample_arguments"]

_FORMATS: Final = {
    "date-time": "2026-01-01T00:00:00Z",
    "date": "2026-01-01",
    "time": "09:00:00Z",
    "duration": "P1D",
    "email": "user@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "url": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000001",
}
_STRINGS: Final = ("sample", "sample-1", "A", "1")
_MAX_ITEMS: Final = 100
_MAX_VALUES: Final = 2_000
"""How many values are made for one call: parts that are shared could make it exponentially many."""

_MAX_DEPTH: Final = 30
"""How deep values stand in each other."""


class Sample:
    """Arguments of a call.

    Attributes:
        arguments: each required argument.
        fits: whether they satisfy the schema.
    """

    __slots__ = ("arguments", "fits")

    def __init__(self, arguments: dict[str, Any], *, fits: bool) -> None:
        self.arguments = arguments
        self.fits = fits


def sample_arguments(parameters: Schema, more: Mapping[str, Any] | None = None) -> Sample:
    """The required arguments of a tool, and some more.

    Args:
        parameters: the tool's.
        more: arguments whose values are known.
    """
    try:
        made = _Samples(parameters).value((parameters,))
    except OutOfStepsError:
        made = {}
    arguments = {**(made if isinstance(made, dict) else {}), **(more or {})}
    return Sample(arguments, fits=not argument_failures(parameters, arguments))


class _Samples:
    """Makes values for the schemas of one tool."""

    def __init__(self, parameters: Schema) -> None:
        self._schemas = Schemas(parameters)
        self._left = _MAX_VALUES
        self._depth = 0
        self._kept: list[Schema] = []  # `Schemas` knows schemas by their ids, so each must live as long

    def value(self, schemas: tuple[Schema, ...]) -> Any:
        """The first candidate that satisfies all of the schemas; the last one where none does."""
        if self._depth == _MAX_DEPTH:
            return None
        self._depth += 1
        found = self._found(schemas)
        self._depth -= 1
        return found

    def _found(self, schemas: tuple[Schema, ...]) -> Any:
        applied = tuple(self._schemas.conjuncts(*schemas).outer_first)
        whole = schemas[0] if len(schemas) == 1 else {"allOf": list(schemas)}
        self._kept.append(whole)
        self._left -= 1
        candidate: Any = None
        for candidate in self._candidates(applied):
            if not value_failures(self._schemas, whole, candidate):
                break
        return candidate

    def _candidates(self, applied: tuple[Schema, ...]) -> Iterator[Any]:
        for each in applied:
            if "const" in each:
                yield each["const"]
        for each in applied:
            examples = each.get("examples")
            yield from examples[:3] if isinstance(examples, list) else ()
            if "default" in each:
                yield each["default"]
        for each in applied:
            yield from each.get("enum", ())[:100]
        types = [declared for each in applied if (declared := declared_types(each)) is not None]
        named = dict.fromkeys(name for each in types for name in each) if types else _guess(applied)
        names = [
            name
            for name in named
            if all(name in each or (name == "integer" and "number" in each) for each in types)
        ]
        for name in sorted(names, key=lambda name: name == "null"):
            yield from self._of_type(name, applied)

    def _of_type(self, name: str, applied: tuple[Schema, ...]) -> Iterator[Any]:
        match name:
            case "string":
                yield from _strings(applied)
            case "integer" | "number":
                yield from _numbers(applied, is_whole=name == "integer")
            case "boolean":
                yield from (True, False)
            case "array":
                yield from self._arrays(applied)
            case "object":
                yield self._object(applied)
            case _:
                yield None

    def _arrays(self, applied: tuple[Schema, ...]) -> Iterator[Any]:
        items = tuple(each["items"] for each in applied if isinstance(each.get("items"), dict))
        least = _tightest(applied, "minItems", max) or 0
        most = _tightest(applied, "maxItems", min)
        item = self.value(items) if items and self._left > 0 else "sample"
        yield [item] * min(max(least, 0 if most == 0 else 1), _MAX_ITEMS)
        yield []

    def _object(self, applied: tuple[Schema, ...]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        names = dict.fromkeys(name for each in applied for name in each.get("required", ()))
        for name in names if self._left > 0 else ():
            declaring = tuple(
                each["properties"][name] for each in applied if name in each.get("properties", {})
            )
            made[name] = self.value(declaring) if declaring else "sample"
        return made


def _guess(applied: tuple[Schema, ...]) -> tuple[str, ...]:
    """The type of a value whose schema declares none."""
    said = {keyword for each in applied for keyword in each}
    for name, keywords in (
        ("object", {"properties", "required"}),
        ("array", {"items", "minItems", "maxItems"}),
        ("integer", {"minimum", "maximum"}),
    ):
        if said & keywords:
            return (name,)
    return ("string",)


def _strings(applied: tuple[Schema, ...]) -> Iterator[str]:
    least = _tightest(applied, "minLength", max) or 0
    most = _tightest(applied, "maxLength", min)
    for each in applied:
        if "pattern" in each:
            word = word_of(each["pattern"], least, most)
            if word is not None:
                yield word
    for each in applied:
        if isinstance(each.get("format"), str) and each["format"] in _FORMATS:
            yield _FORMATS[each["format"]]
    for text in _STRINGS:
        yield text.ljust(min(least, 100_000), "x")[:most]


def _numbers(applied: tuple[Schema, ...], *, is_whole: bool) -> Iterator[int | float]:
    least, most = _tightest(applied, "minimum", max), _tightest(applied, "maximum", min)
    yield 1
    for bound, step in ((least, 1), (most, -1)):
        if bound is not None:
            # Whole numbers are said aloud more easily, so they come first even where others may.
            yield int(bound)
            yield int(bound) + step
            if not is_whole:
                yield bound
    yield 0


def _tightest(applied: tuple[Schema, ...], keyword: str, choose: Any) -> Any:
    """The bound that leaves the least room; None where there is none."""
    bounds = [each[keyword] for each in applied if is_number(each.get(keyword))]
    return choose(bounds) if bounds else None
