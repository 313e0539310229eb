"""Half-open ranges of text, in code points: what detectors find and redaction removes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

__all__ = ["Detector", "Range", "merge"]

Range = tuple[int, int]

Detector = Callable[[str], list[Range]]
"""A text to the ranges found in it, from left to right, none overlapping another."""


def merge(ranges: Iterable[Range]) -> list[Range]:
    """The union of the ranges, from left to right: those that overlap or touch become one."""
    merged: list[Range] = []
    for start, end in sorted(ranges):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged
