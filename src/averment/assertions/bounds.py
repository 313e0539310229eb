"""How often something may happen: a number, or bounds."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec
from msgspec import UNSET, UnsetType

from averment.text.structs import Mistake

__all__ = ["MANY", "Bounds", "bounds_mistakes", "bounds_text", "limits", "times"]

MANY = 2**63
"""More often than anything happens: the upper limit where there is none."""


class Bounds(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """How often, inclusive; a bound that is null or left out does not bind."""

    min: int | UnsetType | None = UNSET
    max: int | UnsetType | None = UNSET


def bounds_mistakes(count: int | Bounds | UnsetType) -> Iterable[Mistake]:
    """Bounds that bind nothing, or that nothing can satisfy."""
    if not isinstance(count, Bounds):
        return
    if count.min is UNSET and count.max is UNSET:
        yield Mistake("missing_field", "`count` has no bound", ("count",), expected="`min`, `max` or both")
    elif isinstance(count.min, int) and isinstance(count.max, int) and count.min > count.max:
        found = f"min {count.min}, max {count.max}"
        yield Mistake(
            "impossible_bounds", "`count` can never hold", ("count",), expected="min up to max", found=found
        )


def limits(count: int | Bounds) -> tuple[int, int]:
    """The least and the most that are allowed."""
    if isinstance(count, int):
        return count, count
    low = count.min if isinstance(count.min, int) else 0
    return low, count.max if isinstance(count.max, int) else MANY


def bounds_text(count: int | Bounds) -> str:
    """The bounds in words."""
    if isinstance(count, int):
        return times(count)
    low = count.min if isinstance(count.min, int) else None
    high = count.max if isinstance(count.max, int) else None
    if low is not None and high is not None:
        return f"{low} to {high} times"
    return f"at least {times(low)}" if low is not None else f"at most {times(high or 0)}"


def times(number: int) -> str:
    """A number of times, in words."""
    return "once" if number == 1 else f"{number} times"
