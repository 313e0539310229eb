"""The times of Vapi's messages, in units that are decided for all messages of a file together.

Webhooks have milliseconds since 1970, some exports seconds since the start of the call, under the same keys. A unit
that was guessed for each value would turn a short sentence into a long one, so where values disagree none is read.
"""

from __future__ import annotations

from typing import Any

from averment.evidence.draft import Draft, nanoseconds
from averment.evidence.model import Clock
from averment.evidence.times import MILLISECOND, SECOND, scaled

__all__ = ["MessageTimes"]


class MessageTimes:
    """The times of the messages of one call, in units that are decided for all of them together."""

    def __init__(self, items: list[tuple[dict[str, Any], str]], draft: Draft) -> None:
        self._relative = any(_is_number(item.get("secondsFromStart")) for item, _ in items)
        moments = [item[key] for item, _ in items for key in ("time", "endTime") if _is_number(item.get(key))]
        lengths = [item["duration"] for item, _ in items if _is_number(item.get("duration"))]
        lengths = [length for length in lengths if length > 0]
        self._moment, self._is_epoch = _unit_of(moments)
        self._length = self._moment or _unit_of_lengths(lengths)
        loc = items[0][1] if items else ""
        if moments and self._moment is None:
            draft.note(
                "mixed_units", loc, "`time` and `endTime` are not all in one unit, so they are left out"
            )
        if lengths and self._length is None:
            draft.note("mixed_units", loc, "`duration` is not always in one unit, so it is left out")

    def of(self, item: dict[str, Any]) -> tuple[int | None, int | None, Clock | None]:
        """When a message begins and ends, and by which clock."""
        first, last = (self._scaled(item.get(key), self._moment) for key in ("time", "endTime"))
        length = self._scaled(item.get("duration"), self._length)
        if first is not None and last is not None:
            length = last - first
        start = nanoseconds(item.get("secondsFromStart")) if self._relative else first
        end = start + length if start is not None and length is not None and length > 0 else None
        return start, end, "call_relative" if self._relative or not self._is_epoch else "epoch"

    @staticmethod
    def _scaled(value: Any, unit: int | None) -> int | None:
        return scaled(value, unit) if unit is not None and _is_number(value) else None


def _unit_of(moments: list[float]) -> tuple[int | None, bool]:
    """The unit of moments, and whether they count from 1970; no unit where they don't agree."""
    if moments and all(moment >= _EPOCH_MS for moment in moments):
        return MILLISECOND, True
    if moments and all(_EPOCH_S <= moment < _EPOCH_MS for moment in moments):
        return SECOND, True
    if moments and all(0 <= moment < _LONGEST_S for moment in moments):
        return SECOND, False
    return None, False


def _unit_of_lengths(lengths: list[float]) -> int | None:
    """The unit of durations that stand alone: nobody speaks for a minute at a time, or for under 60 ms."""
    if all(length >= _APART for length in lengths):
        return MILLISECOND
    return SECOND if all(length < _APART for length in lengths) else None


_EPOCH_MS = 100_000_000_000
_EPOCH_S = 1_000_000_000
_LONGEST_S = 1_000_000
_APART = 60


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)
