"""What is wrong with arguments, by the schema of their tool (contract, 1.4).

Where several schemas apply to a value, by `$ref` and `allOf`, it must fit them all. Each sees its own `properties`
only when it refuses unknown arguments, as JSON Schema says. Two things are stricter than there: `1.0` is no integer,
and equality is canonical, so `1`, `1.0` and `true` are three values. A pattern is searched for (`re.search`) and need
not match the whole string.

A value that is not of a declared type is told once, and nothing else is said of it. What makes no sense in a schema
is `definition_failures`' to tell: here a reference or a type that makes none fails the value, and other keywords that
make none are passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from averment.errors import path_text
from averment.oracle.catalog import canonical
from averment.oracle.catalog.reasons import ARGUMENT_REASONS
from averment.oracle.catalog.schema import TYPES, Conjuncts, OutOfStepsError, Schema, Schemas, declared_types
from averment.text.jsonvalue import is_number, show
from averment.text.patterns import PatternError, compile_pattern

__all__ = ["MAX_FAILURES", "REASONS", "ArgumentFailure", "argument_failures", "value_failures"]

REASONS: Final = ARGUMENT_REASONS

MAX_FAILURES: Final = 1_000
"""How many failures of one call are told."""

Path = tuple[str | int, ...]


class ArgumentFailure(msgspec.Struct, frozen=True):
    """One reason why arguments don't fit.

    Attributes:
        reason: one of `REASONS`.
        path: the argument, `limit` or `payload.counts[1]`; empty for all the arguments.
        message: one sentence without a full stop that names the argument.
        steps: the same path as keys and indexes.
    """

    reason: str
    path: str
    message: str
    steps: Path = ()


def argument_failures(parameters: object, arguments: object) -> list[ArgumentFailure]:
    """Every reason why the arguments don't fit a tool's `parameters`; none if they do.

    Args:
        parameters: `function.parameters` as declared.
        arguments: what the tool is called with, a JSON value.
    """
    if not isinstance(arguments, dict):
        message = f"the arguments must be an object and are {show(arguments)}"
        return [ArgumentFailure("arguments_not_object", "", message)]
    if not isinstance(parameters, dict):
        message = "the tool declares no object of parameters"
        return [ArgumentFailure("invalid_schema_type", "", message)]
    return value_failures(Schemas(parameters), parameters, arguments)


def value_failures(schemas: Schemas, schema: Schema, value: object) -> list[ArgumentFailure]:
    """Every reason why a value does not fit one of a tool's schemas, `MAX_FAILURES` at most, each once."""
    found: dict[ArgumentFailure, None] = {}
    checker = _Checker(schemas)
    try:
        for failure in checker.failures(schema, value):
            found[failure] = None
            if len(found) == MAX_FAILURES:
                break
    except OutOfStepsError as error:
        found[ArgumentFailure("unresolvable_schema_ref", "", str(error))] = None
    return list(found)


def _place(steps: Path) -> str:
    """A path as failures have it."""
    text = path_text(steps).removeprefix("$").removeprefix(".")
    return text if len(text) <= 500 else f"{text[:499]}…"


class _Checker:
    """Checks values against the schemas of one tool; each value once, against all that apply to it."""

    def __init__(self, schemas: Schemas) -> None:
        self._schemas = schemas

    def failures(self, schema: Schema, value: object) -> Iterator[ArgumentFailure]:
        """What is wrong with a value, outside first."""
        pending: list[tuple[Path, Any, tuple[Schema, ...]]] = [((), value, (schema,))]
        while pending:
            steps, part, applied = pending.pop()
            all_applied = self._schemas.conjuncts(*applied)
            wrong = list(self._unfit(all_applied, part))
            if not wrong:
                wrong = [fault for each in all_applied.outer_first for fault in self._faults(each, part)]
                pending += reversed(
                    [((*steps, *more), *rest) for more, *rest in self._parts(all_applied, part)]
                )
            for reason, below, message in wrong:
                place = _place((*steps, *below))
                subject = f"`{place}`" if place else "the value"
                yield ArgumentFailure(reason, place, f"{subject} {message}", (*steps, *below))

    def _unfit(self, applied: Conjuncts, value: object) -> Iterator[tuple[str, Path, str]]:
        """Why nothing more can be said of a value: the schema makes no sense, or the type is another."""
        for sentence in applied.unresolved:
            yield "unresolvable_schema_ref", (), f"can't be checked: {sentence}"
        for schema in applied.outer_first:
            types = declared_types(schema)
            if types is None or any(TYPES[name](value) for name in types):
                continue
            if not types:
                declared = show(schema["type"])
                yield "invalid_schema_type", (), f"can't be checked: {declared} is no type"
                continue
            # The one mismatch that people don't see.
            hint = ", which is no integer" if types == ("integer",) and isinstance(value, float) else ""
            message = f"must be of type {' or '.join(types)} and is {show(value)}{hint}"
            yield "argument_type_mismatch", (), message

    def _faults(self, schema: Schema, value: Any) -> Iterator[tuple[str, Path, str]]:
        """What one schema finds wrong with a value itself: the reason, where below it, and the rest of a sentence."""
        if isinstance(schema.get("enum"), list) and canonical.key(value) not in self._schemas.allowed(schema):
            yield "argument_not_in_enum", (), f"must be one of {show(schema['enum'])} and is {show(value)}"
        if "const" in schema and not canonical.equal(value, schema["const"]):
            yield "argument_not_equal_const", (), f"must be {show(schema['const'])} and is {show(value)}"
        if isinstance(value, str):
            yield from _length(schema, value, "Length", "string", "characters")
            if isinstance(schema.get("pattern"), str) and not _found(schema["pattern"], value):
                yield (
                    "string_pattern_mismatch",
                    (),
                    f"must match {show(schema['pattern'])} and is {show(value)}",
                )
        elif isinstance(value, list):
            yield from _length(schema, value, "Items", "array", "items")
        elif isinstance(value, dict):
            yield from self._keys(schema, value)
        elif is_number(value):
            least, most = schema.get("minimum"), schema.get("maximum")
            if is_number(least) and value < least:
                yield "number_below_minimum", (), f"must be at least {show(least)} and is {show(value)}"
            if is_number(most) and value > most:
                yield "number_above_maximum", (), f"must be at most {show(most)} and is {show(value)}"

    def _keys(self, schema: Schema, value: dict[str, Any]) -> Iterator[tuple[str, Path, str]]:
        required = schema.get("required")
        if isinstance(required, list):
            self._schemas.spend(len(required))
            for name in required:
                if isinstance(name, str) and name not in value:
                    yield "missing_required_argument", (name,), "is required and missing"
        if schema.get("additionalProperties") is False:
            self._schemas.spend(len(value))
            declared = schema.get("properties")
            for name in value:
                if not isinstance(declared, dict) or name not in declared:
                    yield "unknown_argument", (name,), "is not declared, and no other arguments are allowed"

    def _parts(self, applied: Conjuncts, value: Any) -> Iterator[tuple[Path, Any, tuple[Schema, ...]]]:
        """The parts of a value that have schemas, each with all that apply to it."""
        if isinstance(value, dict):
            declaring = [each["properties"] for each in applied.outer_first if _is_dict(each, "properties")]
            self._schemas.spend(len(declaring) * len(value))
            for name, part in value.items():
                found = tuple(each[name] for each in declaring if isinstance(each.get(name), dict))
                if found:
                    yield (name,), part, found
        elif isinstance(value, list):
            found = tuple(each["items"] for each in applied.outer_first if _is_dict(each, "items"))
            if found:
                yield from (((index,), part, found) for index, part in enumerate(value))


def _is_dict(schema: Schema, keyword: str) -> bool:
    return isinstance(schema.get(keyword), dict)


def _length(
    schema: Schema, value: str | list[Any], bound: str, noun: str, units: str
) -> Iterator[tuple[str, Path, str]]:
    """A string or a list that is too short or too long; a string's length is counted in code points."""
    is_whole: Callable[[object], bool] = TYPES["integer"]
    low, high = schema.get(f"min{bound}"), schema.get(f"max{bound}")
    if is_whole(low) and len(value) < low:  # type: ignore[operator]
        yield f"{noun}_too_short", (), f"must have at least {low} {units} and has {len(value)}"
    if is_whole(high) and len(value) > high:  # type: ignore[operator]
        yield f"{noun}_too_long", (), f"must have at most {high} {units} and has {len(value)}"


def _found(pattern: str, value: str) -> bool:
    try:
        return compile_pattern(pattern).test(value)
    except PatternError:
        return True
