"""Combinations of the values of slots, grown slot by slot and never beyond a limit.

Where all combinations fit, they come in the order of their values. Where they don't, each is extended once before any
is extended again, in an order that digests choose, so that few combinations still show many values of every slot.
Nothing is made that is not kept: a slot with a million values costs what its kept ones do.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, TypeAlias, overload

from averment.oracle.tasks.candidates import Candidate
from averment.oracle.tasks.cycle import cycle_of
from averment.oracle.tasks.sources import RangeSource, SlotSource
from averment.text.jsontext import canonical_known

__all__ = ["Combination", "Replacements", "grow"]

Combination: TypeAlias = tuple[Candidate, ...]
"""A value for each position so far."""


def grow(
    combinations: Sequence[Combination], usable: Sequence[Sequence[Candidate]], *, limit: int, material: Any
) -> list[Combination]:
    """Every combination with one more value, at most `limit` of them.

    Args:
        combinations: what there is; never none.
        usable: for each combination, the values that may come next; never none.
        limit: how many to keep.
        material: a JSON value that chooses the order where not all are kept.
    """
    if sum(map(len, usable)) <= limit:
        pairs = zip(combinations, usable, strict=True)
        return [(*combination, candidate) for combination, candidates in pairs for candidate in candidates]
    ring = cycle_of(len(combinations), {"seed": material, "kind": "combinations"})
    order = [ring.at(ordinal) for ordinal in range(len(combinations))]
    open_ones = []
    for index in order:
        chosen = {"seed": material, "kind": "candidates", "combination": index}
        open_ones.append((combinations[index], usable[index], cycle_of(len(usable[index]), chosen)))
    grown: list[Combination] = []
    turn = 0
    while True:
        for combination, candidates, cycle in open_ones:
            grown.append((*combination, candidates[cycle.at(turn)]))
            if len(grown) == limit:
                return grown
        turn += 1
        open_ones = [each for each in open_ones if turn < len(each[1])]


class Replacements:
    """The values of a correction that differ from one that is in force."""

    def __init__(self, source: SlotSource, candidates: Sequence[Candidate]) -> None:
        """Take what the source of the correction has."""
        self._candidates = candidates
        self._range = source.values if isinstance(source, RangeSource) else None
        self._places: dict[bytes, list[int]] = {}
        if self._range is None:
            for place, candidate in enumerate(candidates):
                self._places.setdefault(canonical_known(candidate.value), []).append(place)
        self._differing: dict[bytes, Sequence[Candidate]] = {}

    def of(self, value: Any) -> Sequence[Candidate]:
        """The candidates with another value; all of them where none has, since another slot may still change."""
        key = canonical_known(value)
        if key not in self._differing:
            rest = _Without(self._candidates, self._equal(value, key))
            self._differing[key] = rest or self._candidates
        return self._differing[key]

    def _equal(self, value: Any, key: bytes) -> list[int]:
        if self._range is None:
            return self._places.get(key, [])
        return [self._range.index(value)] if type(value) is int and value in self._range else []


class _Without(Sequence[Candidate]):
    """A sequence without some of its places."""

    def __init__(self, candidates: Sequence[Candidate], places: list[int]) -> None:
        self._candidates = candidates
        self._length = len(candidates) - len(places)
        # How many of what is left stands before each place that is left out.
        self._before = [place - ordinal for ordinal, place in enumerate(places)]

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, index: int) -> Candidate: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Candidate]: ...
    def __getitem__(self, index: int | slice) -> Candidate | Sequence[Candidate]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(self._length))]
        if not 0 <= index < self._length:
            raise IndexError(index)
        return self._candidates[index + bisect_right(self._before, index)]
