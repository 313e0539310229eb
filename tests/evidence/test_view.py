from __future__ import annotations

import json
from typing import Any

import pytest

from averment import Evidence
from averment.evidence.view import Event, Roles, View
from averment.text.patterns import Pattern, PatternSet, compile_pattern


def view(
    *patterns: Pattern, evidence: Evidence | None = None, roles: Roles | None = None, **parts: Any
) -> View:
    model = (evidence or Evidence(**parts)).model
    return View(model, PatternSet(patterns), patterns, roles or Roles())


def from_model(**fields: Any) -> Evidence:
    return Evidence.from_bytes(
        json.dumps({"schema": "averment.evidence.v1", "coverage": {}, **fields}).encode()
    )


def call(identity: str, **fields: Any) -> dict[str, Any]:
    return {"id": identity, "name": identity, "status": "ok", **fields}


def span(identity: str, **fields: Any) -> dict[str, Any]:
    return {"id": identity, "type": "tool_call", "loc": "src_0#$", **fields}


def turn(identity: str, **fields: Any) -> dict[str, Any]:
    return {"id": identity, "text": identity, "loc": "src_0#$", **fields}


def order(events: Any) -> str:
    """Turns as digits, calls by name, other spans as dots."""
    return "".join(
        str(event.turn) if event.turn is not None else event.call.id if event.call else "."
        for event in events
    )


TIMED = [
    {"type": "tool_call", "name": "late", "start_sec": 3},
    {"type": "dtmf", "time_sec": 2},
    {"type": "tool_call", "name": "early", "start_sec": 1},
]


# Order.


def test_the_trace_goes_by_time_when_every_span_has_one() -> None:
    """Difference 15: indexes stay those of the source, the order is that of events."""
    seen = view(trace=TIMED)
    assert list(seen.trace) == [2, 1, 0]
    assert [item.name for item in seen.calls] == ["early", "late"]
    assert seen.tool_names == ("early", "late")


def test_the_trace_stays_as_recorded_when_a_time_is_missing() -> None:
    """A mixed order would be a guess."""
    seen = view(trace=[*TIMED, {"type": "dtmf"}])
    assert list(seen.trace) == [0, 1, 2, 3]
    assert [item.name for item in seen.calls] == ["late", "early"]


def test_spans_of_a_type_are_in_trace_order() -> None:
    """Types match exactly, and a type that no span has has none."""
    seen = view(
        trace=[
            {"type": "dtmf", "time_sec": 2},
            {"type": "DTMF", "time_sec": 0},
            {"type": "dtmf", "time_sec": 1},
        ]
    )
    assert list(seen.spans_of("dtmf")) == [2, 0]
    assert list(seen.spans_of("handoff")) == []


def test_equal_times_keep_the_order_of_the_source() -> None:
    """Sorting is stable, in the trace and between turns and spans, where what is said comes first."""
    seen = view(
        transcript=[{"text": "x", "start": 1}],
        trace=[{"type": "a", "time_sec": 1}, {"type": "b", "time_sec": 1}],
    )
    assert list(seen.trace) == [0, 1]
    assert seen.timeline(turns=True, spans=True) == [
        Event(0, None, None),
        Event(None, 0, None),
        Event(None, 1, None),
    ]


@pytest.mark.parametrize(
    ("clocks", "trusted"),
    [
        (("epoch", "epoch"), True),
        (("monotonic", "monotonic"), True),
        (("epoch", "call_relative"), False),
        ((None, None), False),
        ((None, "epoch"), False),
    ],
)
def test_times_are_trusted_on_one_declared_clock(
    clocks: tuple[str | None, str | None], trusted: bool
) -> None:
    """Times whose zero is unknown, or differs, are not compared."""
    spans = [
        span(name, start_ns=start, **({} if clock is None else {"clock": clock}))
        for name, start, clock in zip("ab", (2, 1), clocks, strict=True)
    ]
    assert list(view(evidence=from_model(spans=spans)).trace) == ([1, 0] if trusted else [0, 1])


def test_calls_without_a_span_come_last_and_by_their_own_times() -> None:
    """A source may show some calls in spans and others not, or have no spans at all."""
    calls = [
        call("x", start_ns=5, clock="epoch"),
        call("a", position=0, span_id="s"),
        call("y", start_ns=4, clock="epoch"),
    ]
    evidence = from_model(spans=[span("s"), span("t")], calls=calls)
    seen = view(evidence=evidence)
    assert [item.id for item in seen.calls] == ["a", "y", "x"]
    assert order(seen.events(turns=False, spans=True)) == "a.yx"
    del calls[2]["clock"]
    seen = view(evidence=from_model(spans=[span("s")], calls=calls))
    assert [item.id for item in seen.calls] == ["a", "x", "y"]


def test_several_calls_in_one_span_are_events_of_their_own() -> None:
    """None of them is lost."""
    calls = [call("a", position=0), call("b", position=0)]
    seen = view(evidence=from_model(spans=[span("s")], calls=calls))
    assert order(seen.events(turns=False, spans=True)) == "ab"


def test_a_timeline_merges_turns_and_spans_by_time() -> None:
    """What was said and what was done have one order on one clock."""
    turns = [{"text": "a", "start": 0}, {"text": "b", "start": 2.5}]
    seen = view(transcript=turns, trace=TIMED)
    assert order(seen.timeline(turns=True, spans=True)) == "0c_1.1c_0"
    assert order(seen.timeline(turns=True, spans=False)) == "01"
    assert order(seen.timeline(turns=False, spans=True)) == "c_1.c_0"
    assert order(seen.events(turns=True, spans=True)) == "01c_1.c_0"


def test_calls_without_a_span_take_their_place_by_time() -> None:
    """Message lists have turns and calls; a call without a time leaves no common order."""
    turns = [turn("t", start_ns=2, clock="epoch")]
    calls = [call("a", start_ns=1, clock="epoch"), call("b", start_ns=3, clock="epoch")]
    timeline = view(evidence=from_model(turns=turns, calls=calls)).timeline(turns=True, spans=True)
    assert order(timeline) == "a0b"
    del calls[1]["start_ns"]
    assert view(evidence=from_model(turns=turns, calls=calls)).timeline(turns=True, spans=True) is None


def test_one_side_alone_needs_no_times() -> None:
    """Turns without any span, and spans without any turn, are in the order of their source."""
    seen = view(transcript=[{"text": "a"}], trace=[])
    assert order(seen.timeline(turns=True, spans=True)) == "0"
    seen = view(transcript=[], trace=[{"type": "tool_call", "name": "a"}])
    assert order(seen.timeline(turns=True, spans=True)) == "c_0"
    assert view().timeline(turns=True, spans=True) == []


@pytest.mark.parametrize(
    "missing",
    [{"transcript": [{"text": "a"}]}, {"trace": [{"type": "a"}]}, {"trace": [*TIMED, {"type": "a"}]}],
)
def test_there_is_no_timeline_where_a_time_is_missing(missing: dict[str, Any]) -> None:
    """None is no empty timeline."""
    parts = {"transcript": [{"text": "a", "start": 0}], "trace": TIMED, **missing}
    assert view(**parts).timeline(turns=True, spans=True) is None


@pytest.mark.parametrize(
    ("clock", "sources", "ordered"), [("epoch", 2, True), ("monotonic", 1, True), ("monotonic", 2, False)]
)
def test_a_monotonic_clock_is_shared_by_no_other_source(clock: str, sources: int, ordered: bool) -> None:
    """Turns of one file and spans of another have a common order only by a clock that both know."""
    evidence = from_model(
        turns=[turn("t", start_ns=2, clock=clock)],
        spans=[span("s", start_ns=1, clock=clock)],
        sources=[{"id": f"src_{index}", "format": "f", "reader": "r"} for index in range(sources)],
    )
    timeline = view(evidence=evidence).timeline(turns=True, spans=True)
    assert (timeline is not None) is ordered
    if timeline is not None:
        assert order(timeline) == ".0"


# Roles, patterns, calls.


def test_roles_match_in_any_case_and_through_aliases() -> None:
    """Difference 14: one canonical name for a role and its aliases; unknown names are their own."""
    roles = Roles()
    for name in ("agent", "Assistant", "BOT", "ai"):
        assert roles.canonical(name) == "agent"
    for name in ("caller", "user", "Customer", "human"):
        assert roles.canonical(name) == "caller"
    assert roles.canonical("Nurse") == "nurse"
    assert roles.canonical(None) is None
    own = Roles({"Agent": ["Nurse"], "caller": []})
    assert own.canonical("NURSE") == "agent"
    assert own.canonical("user") == "user"


def test_turns_of_a_role_are_indexes_into_the_transcript() -> None:
    """Every turn for None; a turn without a role has none."""
    seen = view(
        transcript=[
            {"role": "user", "text": ""},
            {"role": "Bot", "text": ""},
            {"text": ""},
            {"speaker": "AI", "text": ""},
        ]
    )
    assert list(seen.turns_of("agent")) == [1, 3]
    assert list(seen.turns_of("caller")) == [0]
    assert list(seen.turns_of(None)) == [0, 1, 2, 3]
    assert list(seen.turns_of("nobody")) == []


def test_hits_are_ascending_turns_of_the_role() -> None:
    """Each pattern keeps its own, in whatever order patterns stand."""
    one, two = compile_pattern("a"), compile_pattern("B", ignore_case=True)
    seen = view(
        one,
        two,
        transcript=[
            {"role": "user", "text": "ab"},
            {"role": "bot", "text": "b"},
            {"role": "bot", "text": "a"},
        ],
    )
    assert seen.hits(one) == [0, 2]
    assert seen.hits(two) == [0, 1]
    assert seen.hits(one, "agent") == [2]
    assert seen.hits(one, "nobody") == []


def test_calls_are_found_by_their_exact_name() -> None:
    """A call without a name is called nothing; names are told in the order of first calls."""
    spans = [{"type": "tool_call", "name": name} for name in ("b", "a", "b")] + [{"type": "tool_call"}]
    seen = view(trace=spans)
    assert [item.id for item in seen.called("b")] == ["c_0", "c_2"]
    assert list(seen.called("B")) == []
    assert seen.tool_names == ("b", "a")
    assert len(seen.calls) == 4


# What is there, and what leaves.


def test_absent_parts_are_empty_to_look_at_and_missing_to_ask() -> None:
    """The engine asks before a check looks."""
    seen = view()
    assert (list(seen.turns), list(seen.spans), list(seen.calls), seen.timing) == ([], [], [], None)
    for channel in ("transcript", "executions", "timing", "state", "http"):
        assert seen.is_missing(channel)
        assert not seen.is_incomplete(channel)
        assert seen.coverage(channel) == ("absent", None)
        assert seen.source_format(channel) is None
    assert seen.store.find("r", {}) is None


@pytest.mark.parametrize(
    ("state", "missing", "incomplete"),
    [
        ("present", False, False),
        ("empty", False, False),
        ("absent", True, False),
        ("unreadable", True, False),
        ("truncated", False, True),
        ("partial", False, True),
        ("redacted", False, True),
    ],
)
def test_a_state_of_coverage_is_missing_or_incomplete_or_neither(
    state: str, missing: bool, incomplete: bool
) -> None:
    """Missing answers nothing; incomplete never proves absence."""
    seen = view(evidence=from_model(coverage={"transcript": {"state": state, "reason": "why"}}))
    assert (seen.is_missing("transcript"), seen.is_incomplete("transcript")) == (missing, incomplete)
    assert seen.coverage("transcript") == (state, "why")


def test_the_source_format_is_told_where_there_is_one_source() -> None:
    """With several sources it is not known which one; what an evidence file writes there is redacted."""
    coverage = {"transcript": {"state": "partial"}}

    def seen(*formats: str) -> str | None:
        sources = [{"id": f"src_{i}", "format": name, "reader": "r"} for i, name in enumerate(formats)]
        return view(evidence=from_model(coverage=coverage, sources=sources)).source_format("transcript")

    assert seen("otlp") == "otlp"
    assert seen("otlp", "vapi") is None
    assert seen("by jane.roe@example.com") == "by [REDACTED]"


def test_the_redacted_transcript_has_every_turn_with_its_times() -> None:
    """Times are seconds again, whole ones without a fraction; what is unknown is left out."""
    turns = [
        {"role": "jane.roe@example.com", "text": "card 4111 1111 1111 1111!", "start": 1, "end": 2.25},
        {"text": "ok", "end": 3},
    ]
    redacted = view(transcript=turns).redacted_transcript
    assert redacted == [
        {"role": "[REDACTED]", "text": "card [REDACTED]!", "start": 1, "end": 2.25},
        {"role": None, "text": "ok", "end": 3},
    ]
    assert type(redacted[0]["start"]) is int


def test_suspects_are_turns_of_the_role_that_may_hold_personal_data() -> None:
    """Detectors look at these turns only."""
    turns = [
        {"role": "agent", "text": "no digits"},
        {"role": "caller", "text": "415 555 0123"},
        {"role": "Assistant", "text": "a@b.com"},
    ]
    seen = view(transcript=turns)
    assert seen.suspects() == [1, 2]
    assert seen.suspects("agent") == [2]
    assert seen.suspects("nobody") == []


def test_a_view_tells_the_hits_of_its_own_patterns_only() -> None:
    """A pattern that was never searched for is a defect, and no pattern without hits."""
    said, unsaid = compile_pattern("refund"), compile_pattern("lawyer")
    seen = view(said, unsaid, transcript=[{"text": "no"}, {"text": "a refund"}])
    assert seen.all_hits == {said: [1], unsaid: []}
    with pytest.raises(KeyError):
        seen.hits(compile_pattern("other"))


# The order of a source.


def test_the_order_of_a_source_is_the_timeline_where_there_are_no_times() -> None:
    """Turns and calls as their places in the source have them."""
    evidence = from_model(
        turns=[turn("a", seq=0), turn("b", seq=3)], calls=[call("y", seq=4), call("x", seq=1)]
    )
    seen = view(evidence=evidence)
    assert seen.is_sequenced
    assert order(seen.timeline(turns=True, spans=True)) == "0x1y"
    assert [each.id for each in seen.calls] == ["x", "y"]


def test_the_order_of_a_source_is_that_of_all_or_of_none() -> None:
    """One thing without a place, or a span that has none, leaves the timeline to the clock."""
    turns, calls = [turn("a", seq=0)], [call("x", seq=1)]
    for fields in (
        {"turns": [turn("a")], "calls": calls},
        {"turns": turns, "calls": [*calls, call("y")]},
    ):
        seen = view(evidence=from_model(**fields))
        assert not seen.is_sequenced
        assert seen.timeline(turns=True, spans=True) is None
    other = {"id": "s", "type": "dtmf", "loc": "src_0#$"}
    seen = view(evidence=from_model(turns=turns, calls=calls, spans=[other]))
    assert seen.timeline(turns=True, spans=True) is None
    seen = view(evidence=from_model(turns=turns, calls=calls, spans=[{**other, "seq": 2}]))
    assert order(seen.timeline(turns=True, spans=True)) == "0x."


def test_the_order_of_a_source_is_known_whatever_its_clocks_say() -> None:
    """Times that only some things have change nothing."""
    timed = turn("a", seq=1, start_ns=9, clock="epoch")
    seen = view(evidence=from_model(turns=[timed], calls=[call("x", seq=0)]))
    assert order(seen.timeline(turns=True, spans=True)) == "x0"


def test_merged_sources_have_no_order_but_a_clock() -> None:
    """Places in two sources are not comparable; times on one clock are."""

    def merged(**times: Any) -> View:
        talk = from_model(conversation_id="c", turns=[turn("a", seq=0, **times), turn("b", seq=1, **times)])
        trace = from_model(conversation_id="c", calls=[call("x", seq=0, **times)])
        return view(evidence=talk.merged(trace))

    assert not merged().is_sequenced
    assert merged().timeline(turns=True, spans=True) is None
    assert order(merged(start_ns=1, clock="epoch").timeline(turns=True, spans=True)) == "01x"
    assert merged(start_ns=1, clock="call_relative").timeline(turns=True, spans=True) is None
