"""`within` as assertions use it: the part of a conversation that they look at, and what to say without times."""

from __future__ import annotations

from averment.assertions.base import Finding, Gap, inconclusive
from averment.assertions.codes import Code
from averment.evidence.within import Extent, Within

__all__ = ["Extent", "Within", "no_clock"]


def no_clock() -> Finding:
    """INCONCLUSIVE, because seconds are asked for and the turns have no times on one clock."""
    how = "Record the start time of every turn, on one clock."
    return inconclusive(
        Code.NO_CLOCK,
        lambda: f"the turns have no times on a common clock, so seconds can't be counted. {how}",
        "required time evidence was missing",
        gap=Gap("transcript", "partial", how),
    )
