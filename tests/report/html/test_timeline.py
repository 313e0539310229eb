from __future__ import annotations

from typing import Any

from averment.evidence.model import Coverage, EvidenceModel, Source, Span, ToolCall, Turn
from averment.report.evidence import timeline as in_order
from averment.report.html.timeline import Moment, Timeline, clock_time, timeline

SECOND = 1_000_000_000


def turn(index: int, **fields: Any) -> Turn:
    return Turn(id=f"t{index}", text="hello", role="agent" if index % 2 else "user", loc="src_0#$", **fields)


def drawn(**parts: Any) -> Timeline:
    """The drawing of a model; things are called by their ids."""
    model = EvidenceModel(coverage=Coverage(), **parts)
    lanes = {Turn: "agent", ToolCall: "call", Span: "span"}
    found = timeline(model, [Moment(thing.id, lanes[type(thing)], thing) for thing in in_order(model)])
    assert found is not None
    return found


def at(start: float, end: float | None = None, clock: str = "call_relative") -> dict[str, Any]:
    whole = {"start_ns": int(start * SECOND), "clock": clock}
    return whole if end is None else {**whole, "end_ns": int(end * SECOND)}


def test_things_are_placed_by_their_times() -> None:
    """On one clock every thing lies where it happened, as wide as it took; the axis tells times."""
    found = drawn(
        turns=(turn(0, **at(0, 5)), turn(1, **at(5, 10))),
        calls=(ToolCall(id="c", name="x", status="ok", **at(2.5, 5)),),
    )
    assert found.by_clock
    assert found.caption == "Placed by time."
    assert found.places == {"t0": "0 500", "t1": "500 500", "c": "250 250"}
    assert found.paths["call"] == "M250 51h250v12h-250z"
    assert [(tick.label, tick.x) for tick in found.ticks][:2] == [("0:00", "0%"), ("0:05", "50%")]


def test_without_a_common_clock_they_are_placed_by_order() -> None:
    """One thing without a time, or a second clock, and no place is claimed to be a time."""
    timed = turn(0, **at(0, 5))
    for other in (turn(1), turn(1, **at(5, clock="epoch"))):
        found = drawn(turns=(timed, other))
        assert not found.by_clock
        assert found.caption.startswith("Placed by order")
        assert found.ticks == ()
        assert found.places == {"t0": "50 400", "t1": "550 400"}


def test_a_clock_that_is_its_own_source_s_is_trusted_within_it_only() -> None:
    """What a monotonic clock calls zero is known to its own source alone."""
    turns = (turn(0, **at(100, 101, "monotonic")), turn(1, **at(102, 103, "monotonic")))
    sources = [Source(id=f"src_{index}", format="native", reader="native") for index in range(2)]
    assert drawn(turns=turns, sources=tuple(sources[:1])).by_clock
    assert not drawn(turns=turns, sources=tuple(sources)).by_clock


def test_spans_without_a_time_are_not_drawn_and_counted() -> None:
    """Turns and calls decide whether there is a clock; a span that is not on it has no place."""
    spans = (Span(id="s0", type="x", loc="src_0#$"), Span(id="s1", type="x", loc="src_0#$", **at(1, 2)))
    found = drawn(turns=(turn(0, **at(0, 2)),), spans=spans)
    assert found.places.keys() == {"t0", "s1"}
    assert found.caption == "Placed by time; 1 without a time on the same clock are not drawn."


def test_what_takes_no_time_can_be_seen() -> None:
    """A moment has a width, and lies within the drawing at its end, too."""
    found = drawn(turns=(turn(0, **at(0)), turn(1, **at(10)), turn(2, **at(10))))
    left, width = map(float, found.places["t2"].split())
    assert width > 3
    assert left + width <= 1000.01


def test_everything_at_once_is_no_division_by_nothing() -> None:
    """Times that are all the same leave no length to divide by."""
    assert drawn(turns=(turn(0, **at(50)), turn(1, **at(50)))).by_clock


def test_nothing_is_not_drawn() -> None:
    """A conversation without any event has no timeline."""
    assert timeline(EvidenceModel(coverage=Coverage()), []) is None


def test_times_read_as_players_show_them() -> None:
    """Minutes and seconds, and hours where there are any."""
    assert [clock_time(seconds * SECOND) for seconds in (0, 64, 3723)] == ["0:00", "1:04", "1:02:03"]
