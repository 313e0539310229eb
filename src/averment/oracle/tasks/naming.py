"""Names of a pack in messages: the one that was meant, and the first few of many."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import islice
from typing import Final

from averment.errors import nearest
from averment.text.jsonvalue import cut

__all__ = ["near", "some"]

_MANY: Final = 300
"""Names among which no one is sought: it takes time, and a pack may make as many mistakes as it has lines."""


def near(name: str, known: Collection[str]) -> str | None:
    """The known name that `name` most likely misspells, or None when nothing is close."""
    return nearest(name, known) if len(known) <= _MANY and len(name) <= 200 else None


def some(names: Iterable[str], limit: int = 5) -> str:
    """The first of the names, as a list in a sentence."""
    first = list(islice(names, limit + 1))
    shown = ", ".join(f"`{cut(name, 60)}`" for name in first[:limit])
    return shown if len(first) <= limit else f"{shown}, ..."
