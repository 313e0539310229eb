"""The candidates of a slot: the values that its source has in a pack, in the order of the files."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final, overload

import msgspec

from averment.oracle.model.keys import AmbiguousKeyError, primary_key
from averment.oracle.model.pack import Pack
from averment.oracle.tasks.filters import FilterError
from averment.oracle.tasks.naming import near
from averment.oracle.tasks.sources import (
    EnumSource,
    FixtureSource,
    LiteralSource,
    RangeSource,
    SlotSource,
    SourceError,
    invalid,
    refusal,
    unevaluable,
)
from averment.text.jsontext import canonical_known
from averment.text.structs import describe

__all__ = ["Candidate", "absent_ids", "fixture_ref", "resolve"]

_ROWS: Final = 20
"""Rows that a mistake lists."""


class Candidate(msgspec.Struct, frozen=True):
    """A value that a slot may be bound to, and the reference of the row that it is of."""

    value: Any
    fixture_ref: str | None = None


def resolve(source: SlotSource, pack: Pack, *, reserved: Collection[str] = ()) -> Sequence[Candidate]:
    """The candidates of a source, in their order; never none.

    Args:
        source: what `parse_source` made.
        pack: whose fixtures, tools and manifest are looked into.
        reserved: references of rows that must not be bound.

    Raises:
        SourceError: `unknown_collection`, `unevaluable_filter`, `filter_matches_zero`, `primary_key_ambiguous`,
            `fixture_row_missing_primary_key`, `enum_missing`, `invalid_source`; and `rows_reserved`, which is none of
            check 2's, where every row that could be bound is reserved.
    """
    if isinstance(source, FixtureSource):
        return _fixture_candidates(source, pack, reserved)
    if isinstance(source, EnumSource):
        return [Candidate(value) for value in _enum_values(source, pack)]
    if isinstance(source, LiteralSource):
        return [Candidate(value) for value in source.values]
    if isinstance(source, RangeSource):
        return _Integers(source.values)
    values = absent_ids(pack, source.collection)
    if not values:
        raise invalid(
            f"the manifest declares no absent id for `{source.collection}`",
            None,
            f"Add one under `absent_ids.{source.collection}` of the manifest.",
            nearest=near(source.collection, pack.manifest.absent_ids),
            collection=source.collection,
        )
    return [Candidate(value) for value in values]


def absent_ids(pack: Pack, collection: str) -> list[Any]:
    """The ids that the manifest declares absent from a collection."""
    declared = pack.manifest.absent_ids.get(collection)
    if declared is None:
        return []
    return list(declared) if isinstance(declared, list) else [declared]


def fixture_ref(collection: str, identifier: object) -> str:
    """The reference to a row, by which reservations and tasks name it."""
    return canonical_known([collection, str(identifier)]).decode()


class _Integers(Sequence[Candidate]):
    """The candidates of a range, made as they are asked for."""

    def __init__(self, values: range) -> None:
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    @overload
    def __getitem__(self, index: int) -> Candidate: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Candidate]: ...
    def __getitem__(self, index: int | slice) -> Candidate | Sequence[Candidate]:
        if isinstance(index, slice):
            return _Integers(self._values[index])
        return Candidate(self._values[index])


def _fixture_candidates(source: FixtureSource, pack: Pack, reserved: Collection[str]) -> list[Candidate]:
    rows = _rows(source, pack)
    name = source.collection
    try:
        drawn = [
            (index, row)
            for index, row in enumerate(rows)
            if isinstance(row, dict) and source.field in row and source.rows.matches(row)
        ]
    except FilterError as error:
        raise unevaluable(error, collection=name) from None
    if not drawn:
        raise _nothing_drawn(source, rows)
    try:
        key = primary_key(name, rows, pack.manifest.primary_keys.get(name))
    except AmbiguousKeyError as error:
        raise refusal(
            "primary_key_ambiguous",
            str(error),
            mend=f"Name the field that identifies a row under `primary_keys.{name}` of the manifest.",
            collection=name,
        ) from None
    nameless = [index for index, row in drawn if row.get(key) is None]
    if nameless:
        raise refusal(
            "fixture_row_missing_primary_key",
            f"{_count(nameless, 'row')} of `{name}` that the slot draws from {_have(nameless)} no `{key}`",
            mend=f"Give each such row a `{key}`, or exclude it by the filter.",
            collection=name,
            primary_key=key,
            rows=nameless[:_ROWS],
        )
    found = [Candidate(row[source.field], fixture_ref(name, row[key])) for _, row in drawn]
    free = [candidate for candidate in found if candidate.fixture_ref not in reserved] if reserved else found
    if not free:
        raise refusal(
            "rows_reserved",
            f"every row of `{name}` that the slot could draw from is held out",
            mend="Add rows to the fixtures, or release some in the held-out file.",
            collection=name,
        )
    return free


def _rows(source: FixtureSource, pack: Pack) -> list[Any]:
    rows = pack.fixtures.get(source.collection)
    if isinstance(rows, list):
        return rows
    name = source.collection
    message = f"the fixtures have no collection `{name}`"
    if name in pack.fixtures:
        message = f"`{name}` of the fixtures is {describe(rows)}, and not a list of rows"
    known = [other for other, value in pack.fixtures.items() if isinstance(value, list)]
    raise refusal("unknown_collection", message, nearest=near(name, known), collection=name)


def _nothing_drawn(source: FixtureSource, rows: list[Any]) -> SourceError:
    """Why no row is left: the field is in none, or the filter lets none pass."""
    name, field = source.collection, source.field
    fields = {known: None for row in rows if isinstance(row, dict) for known in row}
    if field not in fields:
        message = f"no row of `{name}` has the field `{field}`" if rows else f"`{name}` has no rows"
        close = near(field, fields)
        return refusal("filter_matches_zero", message, nearest=close, collection=name)
    unknown = [known for known in source.rows.fields if known not in fields]
    message = f"the filter matches no row of `{name}`"
    if unknown:
        message += f": no row has the field `{unknown[0]}`"
    return refusal(
        "filter_matches_zero",
        message,
        "filter",
        nearest=near(unknown[0], fields) if unknown else None,
        collection=name,
    )


def _enum_values(source: EnumSource, pack: Pack) -> list[Any]:
    tool = pack.tool(source.tool)
    if tool is None:
        close = near(source.tool, [known.name for known in pack.tools])
        raise _enum_missing(source, f"there is no tool `{source.tool}`", close)
    declared = tool.parameters.get("properties") if isinstance(tool.parameters, dict) else None
    properties = declared if isinstance(declared, dict) else {}
    if source.parameter not in properties:
        message = f"`{source.tool}` has no parameter `{source.parameter}`"
        raise _enum_missing(source, message, near(source.parameter, properties))
    schema = properties[source.parameter]
    values = schema.get("enum") if isinstance(schema, dict) else None
    if not isinstance(values, list) or not values:
        raise _enum_missing(source, f"`{source.parameter}` of `{source.tool}` declares no `enum`", None)
    return values


def _enum_missing(source: EnumSource, message: str, nearest: str | None) -> SourceError:
    return refusal(
        "enum_missing",
        message,
        nearest=nearest,
        mend="Name a parameter with an `enum` in the catalog, or write the values as `literal:[...]`.",
        tool=source.tool,
        parameter=source.parameter,
    )


def _count(items: Sequence[object], noun: str) -> str:
    return f"{len(items)} {noun}{'' if len(items) == 1 else 's'}"


def _have(items: Sequence[object]) -> str:
    return "has" if len(items) == 1 else "have"
