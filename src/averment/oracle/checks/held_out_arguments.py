"""Why a probe may have found nothing: its arguments name rows that the pack has reserved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from averment.oracle.model.cases import Case
from averment.oracle.model.pack import Pack
from averment.oracle.tasks.candidates import fixture_ref

__all__ = ["held_out_arguments"]


def held_out_arguments(pack: Pack, case: Case, result: Any) -> list[dict[str, Any]]:
    """The arguments of a probe that are ids of reserved rows, where its result says that something was not found.

    Each as `argument`, its path, `value`, `collection` and `fixture_ref`. It is context for a failure and never one
    by itself: the probe may well ask for another thing of that name.
    """
    error = result.get("error") if isinstance(result, dict) else None
    code = error.get("code") if isinstance(error, dict) else None
    if pack.held_out is None or not (isinstance(code, str) and code.endswith("not_found")):
        return []
    reserved = {name: {str(item) for item in ids} for name, ids in pack.held_out.fixtures.items()}
    return [
        {"argument": path, "value": value, "collection": name, "fixture_ref": fixture_ref(name, value)}
        for path, value in _scalars("", case.arguments)
        for name, ids in reserved.items()
        if str(value) in ids
    ]


def _scalars(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Every text and number in the arguments, with its path: `book_ids[1]`, `loan.book_id`."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _scalars(f"{path}.{name}" if path else name, inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _scalars(f"{path}[{index}]", inner)
    elif isinstance(value, str | int | float):
        yield path, value
