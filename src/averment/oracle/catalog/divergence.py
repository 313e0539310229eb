"""Where two JSON values first differ."""

from __future__ import annotations

from typing import Any

from averment.errors import path_text
from averment.oracle.catalog.canonical import equal, key
from averment.text.jsonvalue import ABSENT

__all__ = ["first_difference"]


def first_difference(a: object, b: object) -> str | None:
    """The path of the first value that is not the same in both, keys in their order; None where all are.

    A list that is longer in one differs at its first item that the other has not; a mapping at its first key of that
    kind. Values are the same as in `catalog.canonical`: `1` and `1.0` differ.
    """
    whole = key(a)
    if whole is not None and whole == key(b):
        return None
    pending: list[tuple[tuple[Any, ...], object, object]] = [((), a, b)]
    while pending:
        place, a, b = pending.pop()
        if isinstance(a, dict) and isinstance(b, dict):
            names = sorted({*a, *b}, reverse=True)
            pending += [((place, name), a.get(name, ABSENT), b.get(name, ABSENT)) for name in names]
        elif isinstance(a, list) and isinstance(b, list):
            longer = max(len(a), len(b))
            pending += [((place, at), _item(a, at), _item(b, at)) for at in reversed(range(longer))]
        elif not equal(a, b):
            return path_text(_steps(place))
    return None


def _item(items: list[Any], index: int) -> object:
    return items[index] if index < len(items) else ABSENT


def _steps(place: tuple[Any, ...]) -> list[str | int]:
    """The path of a place, which is its parent's place and its own name: so nothing is copied on the way down."""
    steps: list[str | int] = []
    while place:
        place, step = place
        steps.append(step)
    return steps[::-1]
