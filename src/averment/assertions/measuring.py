"""Measured values: exact numbers, statistics over them, and times between turns.

Every number is exact. A float is the decimal that its shortest form shows, so 0.1 is a tenth; times are integers of
nanoseconds. What is compared with a limit is never rounded.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import accumulate
from math import gcd
from typing import Literal

import msgspec

from averment.evidence.view import View

__all__ = ["Measure", "Sample", "Stat", "Times", "exact", "number", "statistic"]

Stat = Literal["max", "min", "mean", "p50", "p90", "p95", "p99", "first", "last"]
Measure = Literal["response_gap", "overlap", "silence"]

_NS_PER_MS = 1_000_000
_COARSEST = 1_000_000_000
"""The coarsest grain that is told apart: whole seconds."""


class Sample(msgspec.Struct, frozen=True):
    """One measured value, with the turns that it lies between or the timing event that states it."""

    value: Fraction
    turns: tuple[int, ...] = ()
    event: int | None = None


def exact(value: float) -> Fraction:
    """The number as it is written."""
    return Fraction(value) if isinstance(value, int) else Fraction(repr(value))


def number(value: Fraction) -> int | float:
    """The exact value as a JSON number: whole if it is whole, else the nearest float."""
    if value.denominator == 1:
        return value.numerator
    try:
        return float(value)
    except OverflowError:  # the mean of numbers that no float holds
        return round(value)


def statistic(samples: Sequence[Sample], stat: Stat) -> tuple[Fraction, Sample | None]:
    """A statistic of at least one sample, and the sample that it is; None for the mean, which is none.

    `p90` is the nearest rank: the smallest value that at least 90 of 100 values do not exceed, always one of them.
    `first` and `last` go by the order given.
    """
    if stat == "mean":
        return sum((sample.value for sample in samples), Fraction()) / len(samples), None
    if stat in {"first", "last"}:
        picked = samples[0 if stat == "first" else -1]
    elif stat in {"max", "min"}:
        picked = (max if stat == "max" else min)(samples, key=lambda sample: sample.value)
    else:
        rank = -(-int(stat[1:]) * len(samples) // 100)
        picked = sorted(samples, key=lambda sample: sample.value)[rank - 1]
    return picked.value, picked


class _Spoken(msgspec.Struct, frozen=True):
    """One turn in time, in nanoseconds; `ours` is whether it is of the role that is asked about."""

    index: int
    start: int
    end: int
    ours: bool


class Times:
    """The turns of a conversation in time, by when they start; not what a later turn replaces or nobody says.

    Attributes:
        grain_ms: the largest of 1000, 100, 10 ... of which every time is a multiple: how finely the source tells time.
    """

    def __init__(self, turns: Sequence[_Spoken]) -> None:
        # At one and the same moment the others speak first, so that whoever begins with them answers nothing.
        self._turns = sorted(turns, key=lambda turn: (turn.start, turn.ours))
        grain, common = _COARSEST, gcd(*(time for turn in turns for time in (turn.start, turn.end)))
        while common % grain:
            grain //= 10
        self.grain_ms = number(Fraction(grain, _NS_PER_MS))

    @classmethod
    def of(cls, view: View, role: str | None) -> Times | None:
        """The turns' times; None where a turn has no start or end, or not all are on one clock."""
        ours = frozenset(view.turns_of(role))
        turns: list[_Spoken] = []
        clocks = set()
        for index, turn in enumerate(view.turns):
            if not (turn.final and turn.said):
                continue
            start, end = turn.start_ns, turn.end_ns
            clocks.add(turn.clock)
            if start is None or end is None or end < start or turn.clock is None or len(clocks) > 1:
                return None
            turns.append(_Spoken(index, start, end, index in ours))
        return cls(turns)

    def measure(self, what: Measure) -> list[Sample]:
        """The samples of a measure, in the order of time, in milliseconds."""
        return _MEASURES[what](self._turns)


def _response_gaps(turns: Sequence[_Spoken]) -> list[Sample]:
    """From the end of the others' speech to the start of the next turn of the role.

    A turn that begins while another role is speaking answers nothing, and what nobody answers has no gap.
    """
    gaps: list[Sample] = []
    waiting: _Spoken | None = None  # the turn of the others that ends last, while it is not answered
    for turn in turns:
        if not turn.ours:
            if waiting is None or turn.end >= waiting.end:
                waiting = turn
        elif waiting is not None and waiting.end <= turn.start:
            gaps.append(_sample(turn.start - waiting.end, waiting, turn))
            waiting = None
    return gaps


def _overlaps(turns: Sequence[_Spoken]) -> list[Sample]:
    """For each turn of the role, how long any other role speaks during it."""
    starts: list[int] = []
    ends: list[int] = []
    for turn in turns:
        if turn.ours:
            continue
        if not ends or turn.start > ends[-1]:
            starts.append(turn.start)
            ends.append(turn.end)
        else:
            ends[-1] = max(ends[-1], turn.end)
    before = [0, *accumulate(end - start for start, end in zip(starts, ends, strict=True))]

    def spoken_until(time: int) -> int:
        stretch = bisect_right(starts, time) - 1
        return 0 if stretch < 0 else before[stretch] + min(time, ends[stretch]) - starts[stretch]

    return [_sample(spoken_until(turn.end) - spoken_until(turn.start), turn) for turn in turns if turn.ours]


def _silences(turns: Sequence[_Spoken]) -> list[Sample]:
    """Between turns, each stretch in which nobody speaks; one of nothing where there is none."""
    silences: list[Sample] = []
    latest: _Spoken | None = None
    for turn in turns:
        if latest is not None and turn.start > latest.end:
            silences.append(_sample(turn.start - latest.end, latest, turn))
        if latest is None or turn.end >= latest.end:
            latest = turn
    return silences or [Sample(Fraction()) for _ in turns[:1]]


_MEASURES: Mapping[str, Callable[[Sequence[_Spoken]], list[Sample]]] = {
    "response_gap": _response_gaps,
    "overlap": _overlaps,
    "silence": _silences,
}


def _sample(nanoseconds: int, *turns: _Spoken) -> Sample:
    return Sample(Fraction(nanoseconds, _NS_PER_MS), tuple(sorted(turn.index for turn in turns)))
