"""Where the values of a slot come from, and what they are.

    fixture:COLLECTION.FIELD      the field of each row that has it and that the slot's `filter` lets pass
    enum:TOOL.PARAMETER           the values that the catalog declares for a parameter
    literal:['a', 'b']            each value of a Python literal list
    literal:X                     one value: a Python literal where X is one, else the text X
    range:{min: 1, max: 5}        integers from min to max, both included, by `step` (1); keys may stand in quotes
    absent:COLLECTION             the ids that the manifest declares under `absent_ids`

A source without a colon is a fixture. Candidates come in the order of the files; those of a fixture carry a reference
to their row, `["collection","id"]` as JSON text, with the id as a string.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any, Final, Literal, TypeAlias

import msgspec

from averment.oracle.model.templates import Slot, SlotUpdate, Template
from averment.oracle.tasks.filters import Filter, FilterError, parse_filter
from averment.oracle.tasks.literals import (
    MAX_LITERAL,
    LiteralError,
    literal_of,
    not_json,
    offset_of,
    parse,
    read_literal,
)
from averment.oracle.tasks.naming import near
from averment.text.jsonvalue import cut
from averment.text.reading import is_readable
from averment.text.structs import Mistake

__all__ = [
    "KINDS",
    "MAX_RANGE",
    "AbsentSource",
    "Declared",
    "EnumSource",
    "FixtureSource",
    "LiteralSource",
    "RangeSource",
    "SlotSource",
    "SourceError",
    "declared_sources",
    "invalid",
    "parse_source",
    "refusal",
    "source_kind",
    "unevaluable",
]

KINDS: Final = ("fixture", "enum", "literal", "range", "absent")
"""The kinds of sources."""
MAX_RANGE: Final = 1_000_000
"""Integers of a range."""

_RANGE: Final = "Write `range:{min: 1, max: 5}`, with integers, and `step` where it isn't 1."


class FixtureSource(msgspec.Struct, frozen=True):
    """A field of the rows of a collection; `rows` says which of them."""

    collection: str
    field: str
    rows: Filter


class EnumSource(msgspec.Struct, frozen=True):
    """The declared values of a tool's parameter."""

    tool: str
    parameter: str


class LiteralSource(msgspec.Struct, frozen=True):
    """Values that stand in the template."""

    values: list[Any]


class RangeSource(msgspec.Struct, frozen=True):
    """Integers."""

    values: range


class AbsentSource(msgspec.Struct, frozen=True):
    """Ids that no row of a collection has."""

    collection: str


SlotSource: TypeAlias = FixtureSource | EnumSource | LiteralSource | RangeSource | AbsentSource


class SourceError(ValueError):
    """A source is none, or has no candidates.

    Attributes:
        mistake: its code is one of check 2's reasons; its path is `source` or `filter`, and its offset is inside it.
        facts: names and indexes for programs.
    """

    def __init__(self, mistake: Mistake, **facts: Any) -> None:
        super().__init__(mistake.message)
        self.mistake = mistake
        self.facts = facts


class Declared(msgspec.Struct, frozen=True):
    """A source that a template declares.

    Attributes:
        slot: the slot's name.
        path: where the slot or the update stands, inside the template.
        entry: the index of the simulator's turn, for the source of a correction.
    """

    slot: str
    path: tuple[str | int, ...]
    definition: Slot | SlotUpdate
    entry: int | None = None


def declared_sources(template: Template) -> Iterator[Declared]:
    """Every source of a template: of its slots, then of its corrections, in the order of the file."""
    for name, slot in template.slots.items():
        yield Declared(name, ("slots", name), slot)
    for entry, turn in enumerate(template.user_simulator_turns):
        for name, update in turn.slot_updates.items():
            yield Declared(name, ("user_simulator_turns", entry, "slot_updates", name), update, entry)


def source_kind(source: str) -> str:
    """The kind that a source says it is of, known or not; a source without a colon is a fixture."""
    kind, colon, _ = source.partition(":")
    return kind.strip() if colon else "fixture"


def parse_source(source: str, filter_text: str | None = None) -> SlotSource:
    """Read a source; `filter_text` counts for fixtures only.

    Raises:
        SourceError: `missing_source`, `bad_fixture_path`, `unevaluable_filter`, `bad_enum_path`, `invalid_source`, or
            `unknown_source_kind:KIND`.
    """
    if not source.strip():
        raise refusal(
            "missing_source", "the slot has no source", mend=_write("source: fixture:books.book_id")
        )
    kind = source_kind(source)
    rest = source.partition(":")[2] if ":" in source else source
    start = len(source) - len(rest)
    if kind == "fixture":
        collection, field = _dotted(rest, "bad_fixture_path", "fixture:COLLECTION.FIELD")
        try:
            return FixtureSource(collection, field, parse_filter(filter_text or ""))
        except FilterError as error:
            raise unevaluable(error) from None
    if kind == "enum":
        return EnumSource(*_dotted(rest, "bad_enum_path", "enum:TOOL.PARAMETER"))
    if kind == "literal":
        return LiteralSource(_literal(rest, start))
    if kind == "range":
        return RangeSource(_range(rest, start))
    if kind == "absent":
        if not rest.strip():
            raise invalid("the source names no collection", start, _write("absent:COLLECTION"))
        return AbsentSource(rest.strip())
    shown = cut(kind, 40)
    raise refusal(
        f"unknown_source_kind:{shown}",
        f"`{shown}` is no kind of source",
        offset=0,
        expected=f"one of {', '.join(KINDS)}",
        nearest=near(shown, KINDS),
        mend="For a text with a colon write `literal:` before it." if " " in source else None,
    )


def _literal(rest: str, start: int) -> list[Any]:
    body = rest.strip()
    at = start + len(rest) - len(rest.lstrip())
    if not body:
        raise invalid("the literal is empty", start, _write("literal:['a', 'b']` or `literal:X"))
    if len(body) > MAX_LITERAL:
        message = f"the literal has {len(body)} characters, more than {MAX_LITERAL}"
        raise invalid(message, start, "Keep the values in a collection of the fixtures.")
    try:
        value = read_literal(body)
    except LiteralError as error:
        if not body.startswith("["):
            return [body]
        mend = "Write a Python list; texts stand in quotes: `literal:['a', 'b']`."
        raise invalid("the list of values is no Python literal", at + (error.offset or 0), mend) from None
    if not body.startswith("["):
        values = [value]
    elif isinstance(value, list):
        values = value
    else:
        raise invalid("the values are not one list", at, "Write one list: `literal:['a', 'b']`.")
    if not values:
        raise invalid("the list of values is empty", at, "Write at least one value.")
    fault = not_json(values)
    if fault:
        mend = "Write a list for several values, and quotes around what is meant as text."
        raise invalid(f"the literal holds {fault}, which JSON has no form for", at, mend)
    return values


def _range(rest: str, start: int) -> range:
    at = start + len(rest) - len(rest.lstrip())
    try:
        tree = parse(rest)
    except LiteralError as error:
        raise invalid("the range can't be read", start + (error.offset or 0), _RANGE) from None
    if not isinstance(tree, ast.Dict):
        raise invalid("the range is no mapping", at, _RANGE)
    bounds: dict[str, int] = {}
    for key, node in zip(tree.keys, tree.values, strict=True):
        name = key.id if isinstance(key, ast.Name) else getattr(key, "value", None)
        where = start + offset_of(rest, node)
        if name not in {"min", "max", "step"}:
            close = near(name, ["min", "max", "step"]) if isinstance(name, str) else None
            raise invalid("a range has `min`, `max` and `step` only", where, _RANGE, nearest=close)
        try:
            value = literal_of(node)
        except LiteralError:
            value = None
        if not isinstance(value, int) or isinstance(value, bool):
            raise invalid(f"`{name}` of the range is no integer", where, _RANGE)
        if not is_readable(value):
            raise invalid(f"`{name}` of the range has too many digits", where, _RANGE)
        bounds[name] = value
    missing = [name for name in ("min", "max") if name not in bounds]
    if missing:
        raise invalid(f"the range has no `{missing[0]}`", at, _RANGE)
    low, high, step = bounds["min"], bounds["max"], bounds.get("step", 1)
    if step == 0:
        raise invalid("the range's `step` is 0", at, "Write a step of 1 or more, or below 0 to count down.")
    if (high - low) * step < 0:
        raise invalid("the range's `step` leads away from `max`", at, "Turn the step's sign round.")
    values = range(low, high + (1 if step > 0 else -1), step)
    # `len` of a range can't say more than the machine's word has room for.
    if abs(high - low) // abs(step) >= MAX_RANGE:
        raise invalid(f"the range has more than {MAX_RANGE} values", at, "Narrow it, or enlarge its step.")
    return values


def _dotted(rest: str, code: str, form: str) -> tuple[str, str]:
    """The two names of `A.B`; the second may have dots."""
    first, dot, second = rest.strip().partition(".")
    if not first or not dot or not second:
        raise refusal(code, "the source does not name two things joined by a dot", expected=f"`{form}`")
    return first, second


def refusal(
    code: str,
    message: str,
    field: Literal["source", "filter"] = "source",
    *,
    offset: int | None = None,
    expected: str | None = None,
    nearest: str | None = None,
    mend: str | None = None,
    **facts: Any,
) -> SourceError:
    """What to raise: a mistake in the source or its filter, with what programs want to know of it."""
    mistake = Mistake(code, message, (field,), offset=offset, expected=expected, nearest=nearest, mend=mend)
    return SourceError(mistake, **facts)


def invalid(
    message: str, offset: int | None, mend: str, *, nearest: str | None = None, **facts: Any
) -> SourceError:
    """What to raise about a literal, a range or an absent id."""
    return refusal("invalid_source", message, offset=offset, nearest=nearest, mend=mend, **facts)


def unevaluable(error: FilterError, **facts: Any) -> SourceError:
    """What to raise about a filter that is none, or that can't be asked of a row."""
    return refusal(
        "unevaluable_filter", error.message, "filter", offset=error.offset, mend=error.mend, **facts
    )


def _write(example: str) -> str:
    return f"Write `{example}`."
