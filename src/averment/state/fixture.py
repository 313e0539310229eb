"""Recorded snapshots of a system of record, asked like the system itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from averment.evidence.model import StateSnapshot
from averment.text.jsonvalue import json_equal

__all__ = ["Fixture", "Record"]


class Record(msgspec.Struct, frozen=True):
    """One row of a resource, and its number among the rows, from 0."""

    row: int
    fields: Mapping[str, Any]


class Fixture:
    """The snapshots of one conversation's evidence, by resource (reference, section 12).

    A resource that was recorded once answers for either side; asking what changed in it makes no sense, and
    `has_snapshots` says so (difference 10 of assert-v1.md).
    """

    __slots__ = ("_snapshots",)

    def __init__(self, snapshots: Iterable[StateSnapshot]) -> None:
        self._snapshots = {(snapshot.resource, snapshot.side): snapshot for snapshot in snapshots}

    def find(
        self, resource: str, filters: Mapping[str, Any], side: Literal["before", "after"] = "after"
    ) -> Record | None:
        """The first record in which every filter key exists and is equal as JSON, or None."""
        snapshot = self._snapshot(resource, side)
        if snapshot is None:
            return None
        for number, row in enumerate(snapshot.rows):
            if all(key in row and json_equal(row[key], value) for key, value in filters.items()):
                return Record(number, row)
        return None

    def has_snapshots(self, resource: str) -> bool:
        """Whether the resource was recorded both before and after."""
        return (resource, "before") in self._snapshots and (resource, "after") in self._snapshots

    def unreadable(self, resource: str, side: Literal["before", "after"] = "after") -> str | None:
        """Why rows of the resource can't be read, so that not finding one proves nothing; None when all can."""
        snapshot = self._snapshot(resource, side)
        return None if snapshot is None else snapshot.unreadable

    def _snapshot(self, resource: str, side: Literal["before", "after"]) -> StateSnapshot | None:
        return self._snapshots.get((resource, side)) or self._snapshots.get((resource, "only"))
