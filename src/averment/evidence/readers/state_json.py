"""A system of record as JSON: `{resource: rows}`.

Rows are a list of records, one record, or `{before, after}` with either on each side (reference, section 12). The
reference's `{adapter: mock, data: {...}}` is read as its data; the other adapters reach out of the evidence and are
refused. Rows that are no records are kept as unreadable, so that not finding one in them proves nothing.
"""

from __future__ import annotations

from typing import Any, Literal

from averment.evidence.draft import Draft, Part, kind_of, quoted
from averment.evidence.model import StateSnapshot

__all__ = ["read"]


def read(part: Part, draft: Draft) -> None:
    """Read every resource of a state fixture."""
    value = part.value
    if isinstance(value, dict) and isinstance(value.get("adapter"), str):
        if value["adapter"] != "mock" or not isinstance(value.get("data"), dict):
            draft.problems.append(
                part.problem(
                    "unsupported_adapter",
                    "this adapter can't be read as evidence",
                    expected="`adapter: mock` with `data`",
                    mend="Export the records as {resource: rows}, or name a SQLite file directly.",
                )
            )
            return
        part = part.at("data")
        value = part.value
    if value == []:
        value = {}
    if not isinstance(value, dict):
        draft.problems.append(
            part.problem(
                "wrong_type",
                "state must be an object of resources",
                expected="{resource: rows}",
                found=kind_of(value),
            )
        )
        return
    snapshots = []
    for resource, rows in sorted(
        value.items()
    ):  # the order of resources means nothing, the digest must not know it
        sided = isinstance(rows, dict) and not rows.keys().isdisjoint(_SIDES)
        for side in _SIDES if sided else _ONLY:
            snapshot = rows.get(side) if sided else rows
            if snapshot is not None:
                snapshots.append(_snapshot(resource, side, snapshot))
    draft.states = snapshots
    draft.cover("state", len(snapshots))
    for snapshot in snapshots:
        if snapshot.unreadable is not None:
            draft.note("state_unreadable", part.loc(), f"{quoted(snapshot.resource)}: {snapshot.unreadable}")


_Side = Literal["before", "after", "only"]
_SIDES: tuple[_Side, ...] = ("before", "after")
_ONLY: tuple[_Side, ...] = ("only",)


def _snapshot(resource: str, side: _Side, rows: Any) -> StateSnapshot:
    if isinstance(rows, dict):
        rows = [rows]
    unreadable = None
    if not isinstance(rows, list):
        unreadable = f"rows must be a list or an object, not {kind_of(rows)}"
        rows = []
    records = tuple(row for row in rows if isinstance(row, dict))
    if len(records) < len(rows):
        unreadable = f"{len(rows) - len(records)} of {len(rows)} rows are no objects"
    return StateSnapshot(resource=resource, side=side, rows=records, unreadable=unreadable)
