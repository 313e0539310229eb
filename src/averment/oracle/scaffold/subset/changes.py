"""What was changed in a schema on the way into the subset: where, and what it does to the calls that are allowed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from averment.errors import path_text

__all__ = ["EFFECTS", "Change", "Effect", "Path", "grouped"]

Path = tuple[str | int, ...]

Effect = Literal["wider", "narrower", "same", "note"]

EFFECTS: dict[Effect, str] = {
    "wider": "allows more than before",
    "narrower": "allows less than before",
    "same": "says the same in other words",
    "note": "says nothing about calls",
}
"""What each effect means, the gravest first."""


class Change(msgspec.Struct, frozen=True):
    """One change.

    Attributes:
        effect: what it does to the calls that are allowed.
        about: what was changed, a phrase without a place.
        path: the place in the file that was given.
    """

    effect: Effect
    about: str
    path: Path

    @property
    def place(self) -> str:
        """The place as people read it."""
        return path_text(self.path)


def grouped(changes: Iterable[Change]) -> dict[tuple[Effect, str], list[str]]:
    """The places of each change, by its effect and what it is, the gravest first; each place once."""
    found: dict[tuple[Effect, str], dict[str, None]] = {}
    for change in changes:
        found.setdefault((change.effect, change.about), {})[change.place] = None
    order = list(EFFECTS)
    return {key: list(found[key]) for key in sorted(found, key=lambda key: (order.index(key[0]), key[1]))}
