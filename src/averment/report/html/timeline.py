"""The timeline of a conversation: two lanes of turns, one of calls, one of spans.

The lanes are drawn once in the page; what a card is about is marked over a reference to them. Places are told in per
mille of the width, so that the drawing is as wide as there is room.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from averment.evidence.model import EvidenceModel, Span, ToolCall, Turn

__all__ = ["LANES", "Lane", "Moment", "Tick", "Timeline", "timeline"]

_SECOND = 1_000_000_000
_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400)
_FOR_EACH_TICK = 130
"""Pixels."""
_WIDE = 1000
_NARROWEST, _WIDEST = 560, 4000
_FOR_EACH = 4


class Lane(msgspec.Struct, frozen=True):
    """One of the four lanes: its name, and where it lies from top to bottom, in pixels."""

    key: str
    label: str
    top: int
    height: int


LANES: Mapping[str, Lane] = {
    lane.key: lane
    for lane in (
        Lane("agent", "agent", 14, 14),
        Lane("other", "user, others", 31, 14),
        Lane("call", "calls", 51, 12),
        Lane("span", "spans", 68, 10),
    )
}


class Moment(msgspec.Struct, frozen=True):
    """Something that happened: in which lane, and when, as far as its source says."""

    anchor: str
    lane: str
    thing: Turn | ToolCall | Span


class Tick(msgspec.Struct, frozen=True):
    """A label of the axis."""

    x: str
    label: str


class Timeline(msgspec.Struct, frozen=True):
    """The drawing.

    Attributes:
        by_clock: whether things are placed by their times; else by their order.
        caption: how they are placed, in a sentence.
        width: how wide it should be at least, in pixels.
        paths: the outline of each lane.
        ticks: labels of the axis.
        places: by anchor, where it is: its left edge and its width, in per mille.
    """

    by_clock: bool
    caption: str
    width: int
    paths: Mapping[str, str]
    ticks: Sequence[Tick]
    places: Mapping[str, str]


def timeline(model: EvidenceModel, moments: Sequence[Moment]) -> Timeline | None:
    """The drawing of what happened, in this order; None when nothing did."""
    if not moments:
        return None
    clock = _clock(model)
    drawn = [each for each in moments if clock is None or _is_on(each, clock)]
    boxes = _by_order(drawn) if clock is None else _by_time(drawn)
    width = min(max(_NARROWEST, _FOR_EACH * len(drawn)), _WIDEST)
    least = 3 * _WIDE / width
    outlines: dict[str, list[str]] = {name: [] for name in LANES}
    places = {}
    for each, (start, end) in zip(drawn, boxes, strict=True):
        size = max(end - start, least)
        left = min(start, _WIDE - size)
        lane = LANES[each.lane]
        outlines[each.lane].append(f"M{_n(left)} {lane.top}h{_n(size)}v{lane.height}h-{_n(size)}z")
        places[each.anchor] = f"{_n(left)} {_n(size)}"
    return Timeline(
        by_clock=clock is not None,
        caption=_caption(clock, len(moments) - len(drawn)),
        width=width,
        paths={name: "".join(outline) for name, outline in outlines.items() if outline},
        ticks=_ticks(drawn, width // _FOR_EACH_TICK) if clock is not None else (),
        places=places,
    )


def _caption(clock: str | None, undrawn: int) -> str:
    if clock is None:
        return "Placed by order: the evidence has no times on one clock."
    if undrawn:
        return f"Placed by time; {undrawn:,} without a time on the same clock are not drawn."
    return "Placed by time."


def _clock(model: EvidenceModel) -> str | None:
    """The clock that every turn and call is on; None where they have none in common, or one that nobody shares."""
    things: list[Turn | ToolCall | Span] = [*(model.turns or ()), *(model.calls or ())]
    things = things or [*(model.spans or ())]
    clocks = {thing.clock for thing in things}
    if len(clocks) != 1 or any(thing.start_ns is None for thing in things):
        return None
    clock = clocks.pop()
    return None if clock == "monotonic" and len(model.sources) > 1 else clock


def _is_on(moment: Moment, clock: str) -> bool:
    return moment.thing.clock == clock and moment.thing.start_ns is not None


def _ends(moment: Moment) -> tuple[int, int]:
    start = moment.thing.start_ns or 0
    return start, max(start, moment.thing.end_ns or start)


def _by_time(moments: Sequence[Moment]) -> list[tuple[float, float]]:
    ends = [_ends(moment) for moment in moments]
    first, last = _bounds(ends)
    length = max(last - first, 1)
    return [((start - first) * _WIDE / length, (end - first) * _WIDE / length) for start, end in ends]


def _bounds(ends: Sequence[tuple[int, int]]) -> tuple[int, int]:
    first = min(start for start, _ in ends)
    # A recording begins at zero where times count from its start.
    return min(first, 0) if 0 <= first < 10 * _SECOND else first, max(end for _, end in ends)


def _by_order(moments: Sequence[Moment]) -> list[tuple[float, float]]:
    slot = _WIDE / len(moments)
    return [(index * slot + slot * 0.1, (index + 1) * slot - slot * 0.1) for index in range(len(moments))]


def _ticks(moments: Sequence[Moment], most: int) -> list[Tick]:
    first, last = _bounds([_ends(moment) for moment in moments])
    length = last - first
    step = next((step for step in _STEPS if step * _SECOND * most >= length), None)
    if step is None or length <= 0:
        return []
    count = length // (step * _SECOND)
    return [
        Tick(f"{_n(index * step * _SECOND * 100 / length)}%", clock_time(index * step * _SECOND))
        for index in range(count + 1)
        if index * step * _SECOND <= 0.97 * length
    ]


def clock_time(nanoseconds: int) -> str:
    """A time since the start, as players show it: `1:04`, `1:02:03`."""
    seconds = nanoseconds // _SECOND
    hours, rest = divmod(seconds, 3600)
    minutes, seconds = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
