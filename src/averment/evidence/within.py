"""`within`: looking only at the beginning or the end of a conversation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from averment.evidence.view import View
from averment.text.structs import Mistake

__all__ = ["Extent", "Within"]


class Extent(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How much of the conversation: exactly one of `seconds` and `turns`."""

    seconds: Annotated[float | UnsetType, Meta(description="Turns that start within so many seconds.")] = (
        UNSET
    )
    turns: Annotated[int | UnsetType, Meta(description="So many turns, whoever's they are.")] = UNSET

    def mistakes(self) -> Iterable[Mistake]:
        """No size, two sizes, or one that holds nothing."""
        if (self.seconds is UNSET) == (self.turns is UNSET):
            expected = "exactly one of `seconds`, `turns`"
            yield Mistake("fields_exclude", "an extent has one size", (), expected=expected)
        elif (self.seconds is not UNSET and self.seconds <= 0) or (
            self.turns is not UNSET and self.turns <= 0
        ):
            yield Mistake("out_of_range", "an extent of nothing", (), expected="a size above zero")


class Within(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Which part of the conversation is looked at: exactly one of `first` and `last`.

    Seconds count from the zero of a clock that starts with the conversation, else from the start of the first turn;
    backwards from the end of the last turn. A turn belongs to the part in which it starts.
    """

    first: Annotated[Extent | UnsetType, Meta(description="The beginning.")] = UNSET
    last: Annotated[Extent | UnsetType, Meta(description="The end.")] = UNSET

    def mistakes(self) -> Iterable[Mistake]:
        """No part, two parts, or a part without or with two sizes."""
        if (self.first is UNSET) == (self.last is UNSET):
            yield Mistake(
                "fields_exclude", "`within` names one part", (), expected="exactly one of `first`, `last`"
            )
        for name, extent in (("first", self.first), ("last", self.last)):
            if extent is not UNSET:
                yield from (mistake.under(name) for mistake in extent.mistakes())

    def turns(self, view: View) -> frozenset[int] | None:
        """Indexes of the turns in the part; None when it is given in seconds and the turns have no common clock."""
        indexes = range(len(view.turns))
        if self.first is not UNSET and self.first.turns is not UNSET:
            return frozenset(indexes[: self.first.turns])
        if self.last is not UNSET and self.last.turns is not UNSET:
            return frozenset(indexes[-self.last.turns :])
        turns = view.turns
        clocks = {turn.clock for turn in turns}
        starts = [turn.start_ns for turn in turns if turn.start_ns is not None]
        if len(starts) < len(turns) or len(clocks) > 1 or None in clocks:
            return None
        if not turns:
            return frozenset()
        if self.first is not UNSET:
            begin = 0 if clocks == {"call_relative"} else min(starts)
            limit = begin + _nanoseconds(self.first)
            return frozenset(index for index in indexes if starts[index] <= limit)
        end = max(
            turn.end_ns if turn.end_ns is not None else start
            for turn, start in zip(turns, starts, strict=True)
        )
        limit = end - (0 if self.last is UNSET else _nanoseconds(self.last))
        return frozenset(index for index in indexes if starts[index] >= limit)


def _nanoseconds(extent: Extent) -> int:
    return 0 if extent.seconds is UNSET else round(extent.seconds * 1_000_000_000)
