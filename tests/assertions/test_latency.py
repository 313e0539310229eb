from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import averment

Fixture = Callable[..., Any]


def call(latency: Any = None, name: str = "t", **fields: Any) -> dict[str, Any]:
    span = {"type": "tool_call", "name": name, **fields}
    return span if latency is None else {**span, "latency_ms": latency}


def latency(**fields: Any) -> dict[str, Any]:
    return {"kind": "latency", **fields}


def turns(*spoken: tuple[str, float, float]) -> list[dict[str, Any]]:
    return [{"role": role, "text": "x", "start": start, "end": end} for role, start, end in spoken]


# Calls and spans.


def test_the_slowest_call_decides_and_all_that_were_measured_are_the_grounds(judge: Fixture) -> None:
    """A call of another tool and a call without a time are none of them."""
    trace = [call(120), call(900, "u"), call(), call(80)]
    result = judge(latency(tool="t", max_ms=120), trace=trace)
    assert (result["status"], result["measured_ms"]) == ("PASS", 120)
    assert (result["tool_calls"], result["span_ids"]) == (["c_0", "c_3"], ["s_0", "s_3"])
    assert result["unmeasured"] == 1
    result = judge(latency(tool="t", max_ms=119.5), trace=trace)
    assert (result["status"], result["code"], result["measured_ms"]) == ("FAIL", "over_limit", 120)
    assert result["reason"] == "calls of `t`: max of 2 is 120 ms, and may be at most 119.5 ms"
    assert result["public_reason"] == "a measured value is over its limit"


def test_spans_of_a_type_are_measured_alike(judge: Fixture) -> None:
    """By type, whatever their names; attributes are read as well."""
    trace = [{"type": "llm", "latency_ms": 5}, {"type": "llm", "attributes": {"latency_ms": 7}}, call(99)]
    result = judge(latency(span_type="llm", max_ms=6), trace=trace)
    assert (result["status"], result["measured_ms"], result["span_ids"]) == ("FAIL", 7, ["s_0", "s_1"])
    assert "unmeasured" not in result


def test_without_a_stated_latency_start_and_end_tell(judge: Fixture) -> None:
    """Exactly: in floats 2.3 - 2.0 is less than 0.3, and 1.1 - 1.0 more than 0.1."""
    for kind in ({"tool": "t"}, {"span_type": "tool_call"}):
        for start, end, most in ((2.0, 2.3, 300), (1.0, 1.1, 100)):
            trace = [call(start_sec=start, end_sec=end)]
            result = judge(latency(**kind, max_ms=most), trace=trace)
            assert (result["status"], result["measured_ms"]) == ("PASS", most)
            assert judge(latency(**kind, max_ms=most - 0.001), trace=trace)["status"] == "FAIL"
        stated = [call(5, start_sec=0, end_sec=9)]
        assert judge(latency(**kind, max_ms=5), trace=stated)["measured_ms"] == 5
        part = [call(start_sec=0, end_sec=0.0005)]
        assert judge(latency(**kind, max_ms=1), trace=part)["measured_ms"] == 0.5


@pytest.mark.parametrize(
    "trace",
    [
        [],
        [call(9, "u")],
        [call()],
        [call("900")],
        [call(True)],
        [call(time_sec=3)],
        [call(start_sec=3)],
        [call(start_sec=3, end_sec=2)],
    ],
)
def test_what_has_no_measurement_has_no_verdict(judge: Fixture, trace: list[Any]) -> None:
    """Never called, no time, a point in time, an end before the start, no number."""
    result = judge(latency(tool="t", max_ms=1), trace=trace)
    assert (result["status"], result["code"]) == ("INCONCLUSIVE", "no_measurement")
    assert result["evidence_gap"]["channel"] == "executions"
    assert "measured_ms" not in result


def test_fault_16_a_text_is_no_number_in_a_native_trace(judge: Fixture) -> None:
    """Formats that write numbers as texts are read as numbers; in this one a text is a text, and times still count."""
    assert judge(latency(tool="t", max_ms=500), trace=[call("900")])["code"] == "no_measurement"
    timed = [call("900", start_sec=0, end_sec=0.9)]
    assert judge(latency(tool="t", max_ms=500), trace=timed)["code"] == "over_limit"


# Timing events.


def test_fault_6_every_event_is_read(judge: Fixture) -> None:
    """The reference looked at the first one alone, so 0.5 hid 9."""
    result = judge(latency(field="v", max=1), timing=[{"v": 0.5}, {"v": 9}])
    assert (result["status"], result["measured"], result["event"]) == ("FAIL", 9, 1)
    assert result["reason"] == "`v`: max of 2 is 9, and may be at most 1"


VALUES = [5, 1, 4, 2, 3, 10, 6, 9, 7, 8]


@pytest.mark.parametrize(
    ("stat", "value", "event"),
    [
        ("max", 10, 5),
        ("min", 1, 1),
        ("mean", 5.5, None),
        ("p50", 5, 0),
        ("p90", 9, 7),
        ("p95", 10, 5),
        ("p99", 10, 5),
        ("first", 5, 0),
        ("last", 8, 9),
    ],
)
def test_a_statistic_can_be_chosen(judge: Fixture, stat: str, value: float, event: int | None) -> None:
    """Percentiles are nearest ranks; the event that a value comes from is told."""
    timing = [{"a": {"b": number}} for number in VALUES]
    result = judge(latency(field="a.b", max=value, stat=stat), timing=timing)
    assert (result["status"], result["measured"], result.get("event")) == ("PASS", value, event)
    assert judge(latency(field="a.b", max=value - 0.001, stat=stat), timing=timing)["status"] == "FAIL"
    trace = [call(number) for number in VALUES]
    assert judge(latency(tool="t", max_ms=value, stat=stat), trace=trace)["measured_ms"] == value


def test_of_one_value_every_statistic_is_that_value(judge: Fixture) -> None:
    """No rank is beyond the list."""
    for stat in ("max", "min", "mean", "p50", "p90", "p95", "p99", "first", "last"):
        assert judge(latency(field="a", max=2, stat=stat), timing={"a": 2})["measured"] == 2


def test_a_mean_is_exact_at_its_limit(judge: Fixture) -> None:
    """In floats the mean of 0.1, 0.2 and 0.3 is above 0.2."""
    timing = [{"v": 0.1}, {"v": 0.2}, {"v": 0.3}]
    assert judge(latency(field="v", max=0.2, stat="mean"), timing=timing)["status"] == "PASS"
    thirds = [{"v": 1}, {"v": 1}, {"v": 2}]
    assert judge(latency(field="v", max=1.33, stat="mean"), timing=thirds)["measured"] == 4 / 3


def test_numbers_of_any_size_are_compared(judge: Fixture) -> None:
    """No float can overflow on the way to a verdict."""
    large = 10**400
    timing = [{"v": large}, {"v": large + 1}]
    assert judge(latency(field="v", max=1e300), timing=timing)["measured"] == large + 1
    assert judge(latency(field="v", max=1e300, stat="mean"), timing=timing)["measured"] == large
    assert judge(latency(field="v", max=1), timing=[{"v": 1e-300}, {"v": -5}])["measured"] == 1e-300


def test_where_picks_the_events(judge: Fixture) -> None:
    """Any expected value, as for arguments."""
    timing = [{"v": 9, "type": "greeting"}, {"v": 2, "type": "answer"}, {"v": 3, "type": "answer"}, 5]
    asked = latency(field="v", max=3, where={"type": {"$in": ["answer", "refusal"]}})
    result = judge(asked, timing=timing)
    assert (result["status"], result["measured"], result["event"]) == ("PASS", 3, 2)
    assert judge(latency(field="v", max=9, where={"type": "x"}), timing=timing)["code"] == "no_measurement"


def test_an_event_that_is_not_scorable_is_never_read(judge: Fixture) -> None:
    """Neither as a PASS nor as a FAIL; if nothing else is left there is no measurement."""
    bad = {"v": 9, "scorable": False}
    result = judge(latency(field="v", max=1), timing=[bad, {"v": 0.5, "scorable": True}])
    assert (result["status"], result["measured"], result["event"]) == ("PASS", 0.5, 1)
    for most in (1, 10):
        for timing in (bad, [bad]):
            result = judge(latency(field="v", max=most), timing=timing)
            assert (result["status"], result["code"]) == ("INCONCLUSIVE", "no_measurement")
            assert result["evidence_gap"]["channel"] == "timing"


def test_a_single_timing_object_has_no_event_number(judge: Fixture) -> None:
    """There is nothing to count."""
    result = judge(latency(field="a.b", max=2), timing={"a": {"b": 2}})
    assert result["measured"] == 2
    assert "event" not in result


@pytest.mark.parametrize("value", [None, True, "3", [3], {"b": 3}])
def test_only_numbers_are_measured(judge: Fixture, value: Any) -> None:
    """A text of a number is none, and a boolean is no number."""
    assert judge(latency(field="a", max=9), timing=[{"a": value}])["code"] == "no_measurement"


def test_a_measured_card_number_is_not_shown(judge: Fixture) -> None:
    """A number can be personal data too."""
    result = judge(latency(field="a", max=1), timing=[{"a": 4111111111111111}])
    assert "4111111111111111" not in str(result)
    assert result["measured"] == "[REDACTED]"


# Between turns.

TALK = turns(("caller", 0, 2), ("agent", 3.5, 5), ("caller", 4.5, 8), ("agent", 8.25, 9), ("agent", 11, 12))


@pytest.mark.parametrize(
    ("measure", "fields", "value", "grounds"),
    [
        ("response_gap", {}, 1500, [0, 1]),
        ("response_gap", {"stat": "last"}, 250, [2, 3]),
        ("response_gap", {"stat": "mean"}, 875, [0, 1, 2, 3]),
        ("response_gap", {"role": "assistant"}, 1500, [0, 1]),
        ("overlap", {}, 500, [1]),
        ("overlap", {"stat": "min"}, 0, [3]),
        ("overlap", {"role": "customer"}, 500, [2]),
        ("silence", {}, 2000, [3, 4]),
        ("silence", {"stat": "first"}, 1500, [0, 1]),
        ("silence", {"stat": "min"}, 250, [2, 3]),
    ],
)
def test_times_between_turns_are_measured(
    judge: Fixture, measure: str, fields: dict[str, Any], value: float, grounds: list[int]
) -> None:
    """With the turns they lie between as grounds, and the grain of the source's times."""
    result = judge(latency(measure=measure, max_ms=value, **fields), transcript=TALK)
    assert (result["status"], result["measured_ms"], result["turns"]) == ("PASS", value, grounds)
    assert result["grain_ms"] == 10
    result = judge(latency(measure=measure, max_ms=value - 0.001, **fields), transcript=TALK)
    assert (result["status"], result["code"], result["turns"]) == ("FAIL", "over_limit", grounds)


def test_the_reason_of_a_slow_response_has_the_arithmetic(judge: Fixture) -> None:
    """What was measured, how often, and the limit."""
    result = judge(latency(measure="response_gap", max_ms=1000, stat="p90"), transcript=TALK)
    assert result["reason"] == "response gaps: p90 of 2 is 1500 ms, and may be at most 1000 ms"


@pytest.mark.parametrize(
    ("spoken", "gaps"),
    [
        ([("caller", 0, 10), ("agent", 4, 5), ("agent", 12, 13)], 2000),
        ([("caller", 0, 1), ("caller", 2, 3), ("agent", 4, 5)], 1000),
        ([("caller", 0, 9), ("other", 2, 3), ("agent", 10, 11)], 1000),
        ([("caller", 0, 1), ("agent", 1, 2)], 0),
        ([("agent", 0, 1), ("caller", 2, 3), ("agent", 5, 6), ("agent", 9, 10)], 2000),
        ([("agent", 5, 6), ("caller", 2, 3)], 2000),
    ],
)
def test_a_response_is_the_next_turn_after_the_others_have_ended(
    judge: Fixture, spoken: list[tuple[str, float, float]], gaps: float
) -> None:
    """A word thrown in answers nothing, only the first turn of several answers, and position is no time."""
    result = judge(latency(measure="response_gap", max_ms=99_999), transcript=turns(*spoken))
    assert result["measured_ms"] == gaps


@pytest.mark.parametrize(
    "spoken",
    [
        [],
        [("agent", 0, 1), ("agent", 2, 3)],
        [("caller", 0, 1)],
        [("caller", 0, 5), ("agent", 4, 6)],
        [("caller", 0, 5), ("agent", 0, 6)],
    ],
)
def test_where_nobody_answers_there_is_no_gap(judge: Fixture, spoken: list[tuple[str, float, float]]) -> None:
    """A response that never comes is no short one."""
    result = judge(latency(measure="response_gap", max_ms=99_999), transcript=turns(*spoken))
    assert (result["status"], result["code"]) == ("INCONCLUSIVE", "no_measurement")


def test_no_overlap_and_no_silence_are_measured_as_nothing(judge: Fixture) -> None:
    """When there are turns; without a turn of the role, or any turn, there is nothing to measure."""
    calm = turns(("caller", 0, 1), ("agent", 1, 2))
    for measure in ("overlap", "silence"):
        result = judge(latency(measure=measure, max_ms=0), transcript=calm)
        assert (result["status"], result["measured_ms"]) == ("PASS", 0)
        assert judge(latency(measure=measure, max_ms=0), transcript=[])["code"] == "no_measurement"
    asked = latency(measure="overlap", max_ms=0, role="supervisor")
    assert judge(asked, transcript=calm)["code"] == "no_measurement"


def test_speech_of_several_others_is_counted_once(judge: Fixture) -> None:
    """Overlap and silence look at whether anyone speaks, not how many."""
    crowd = turns(("caller", 0, 4), ("other", 1, 5), ("caller", 2, 3), ("other", 6, 7), ("agent", 2, 8))
    assert judge(latency(measure="overlap", max_ms=9000), transcript=crowd)["measured_ms"] == 4000
    assert judge(latency(measure="silence", max_ms=9000), transcript=crowd)["measured_ms"] == 0


@pytest.mark.parametrize(
    ("times", "grain"),
    [
        ((0, 2, 3, 5), 1000),
        ((0, 2.5, 3, 5), 100),
        ((0, 2.25, 3, 5), 10),
        ((0, 2.125, 3, 5), 1),
        ((0, 2.0001, 3, 5), 0.1),
        ((0, 2.000000001, 3, 5), 1e-06),
        ((0, 0, 0, 0), 1000),
    ],
)
def test_the_grain_is_that_of_the_times(
    judge: Fixture, times: tuple[float, float, float, float], grain: float
) -> None:
    """Whole seconds say so: a gap of one second may then have been nearly two."""
    first, second, third, fourth = times
    transcript = turns(("caller", first, second), ("agent", third, fourth))
    assert judge(latency(measure="silence", max_ms=1), transcript=transcript)["grain_ms"] == grain


@pytest.mark.parametrize(
    "bad",
    [
        {"start": None},
        {"end": None},
        {"start": None, "end": None},
        {"start": 9, "end": 8},
        {"start": "3"},
    ],
)
def test_without_times_of_every_turn_nothing_is_measured(judge: Fixture, bad: dict[str, Any]) -> None:
    """A turn without them may lie anywhere."""
    transcript = [*turns(("caller", 0, 1), ("agent", 2, 3)), {**turns(("agent", 4, 5))[0], **bad}]
    for measure in ("response_gap", "overlap", "silence"):
        result = judge(latency(measure=measure, max_ms=1), transcript=transcript)
        assert (result["status"], result["code"]) == ("INCONCLUSIVE", "no_clock")
        assert result["evidence_gap"]["channel"] == "transcript"


def test_turns_on_two_clocks_are_not_compared(judge: Fixture, gapped: Fixture) -> None:
    """Their zeros mean different things."""
    model = json.loads(gapped({}, transcript=turns(("caller", 0, 1), ("agent", 2, 3))).to_json())
    asked = latency(measure="silence", max_ms=1000)
    assert judge(asked, averment.Evidence.from_bytes(json.dumps(model).encode()))["status"] == "PASS"
    model["turns"][1]["clock"] = "epoch"
    assert judge(asked, averment.Evidence.from_bytes(json.dumps(model).encode()))["code"] == "no_clock"


def test_a_turn_that_a_later_one_replaces_is_not_heard(judge: Fixture) -> None:
    """Interim transcriptions are no speech of their own, and need no times."""
    interim = {"role": "caller", "text": "he", "final": False}
    transcript = [interim, *turns(("caller", 0, 1), ("agent", 2, 3))]
    result = judge(latency(measure="response_gap", max_ms=1000), transcript=transcript)
    assert (result["status"], result["turns"]) == ("PASS", [1, 2])


def test_a_prompt_is_no_speech_and_needs_no_end(judge: Fixture, gapped: Fixture) -> None:
    """Platforms write the system prompt into the transcript, at the time of its message and without a duration."""
    model = json.loads(
        gapped({}, transcript=turns(("system", 0, 9), ("caller", 0, 1), ("agent", 2, 3))).to_json()
    )
    del model["turns"][0]["end_ns"]
    model["turns"][0]["said"] = False
    evidence = averment.Evidence.from_bytes(json.dumps(model).encode())
    result = judge(latency(measure="response_gap", max_ms=1000), evidence)
    assert (result["status"], result["turns"]) == ("PASS", [1, 2])


# Evidence that is missing.


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"tool": "t", "max_ms": 1}, "trace_absent"),
        ({"span_type": "t", "max_ms": 1}, "trace_absent"),
        ({"field": "t", "max": 1}, "timing_absent"),
        ({"measure": "silence", "max_ms": 1}, "transcript_absent"),
    ],
)
def test_absent_evidence_has_no_times(judge: Fixture, fields: dict[str, Any], code: str) -> None:
    """Each source needs its own channel."""
    assert judge(latency(**fields))["code"] == code


@pytest.mark.parametrize(
    ("stat", "most", "status"),
    [
        ("max", 3, "INCONCLUSIVE"),
        ("max", 2, "FAIL"),
        ("min", 1, "PASS"),
        ("min", 0, "INCONCLUSIVE"),
        ("p50", 3, "INCONCLUSIVE"),
        ("p50", 0, "INCONCLUSIVE"),
        ("first", 3, "INCONCLUSIVE"),
        ("last", 0, "INCONCLUSIVE"),
        ("mean", 0, "INCONCLUSIVE"),
    ],
)
def test_of_a_part_only_what_nothing_can_turn_is_known(
    judge: Fixture, gapped: Fixture, stat: str, most: float, status: str
) -> None:
    """One that is too slow stays so, and so does one that is quick enough for the least."""
    for state in ("truncated", "partial", "redacted"):
        for channel, fields in (
            ("executions", {"tool": "t", "max_ms": most}),
            ("timing", {"field": "v", "max": most}),
        ):
            evidence = gapped({channel: state}, trace=[call(1), call(3)], timing=[{"v": 1}, {"v": 3}])
            assert judge(latency(stat=stat, **fields), evidence)["status"] == status


def test_a_missing_turn_changes_what_lies_around_it(judge: Fixture, gapped: Fixture) -> None:
    """A gap in a part of the transcript is no gap for sure."""
    evidence = gapped({"transcript": "partial"}, transcript=TALK)
    for stat in ("max", "min"):
        for most in (0, 99_999):
            asked = latency(measure="silence", max_ms=most, stat=stat)
            assert judge(asked, evidence)["code"] == "channel_truncated"


# Mistakes.


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"max_ms": 1}, [("fields_exclude", "")]),
        ({"tool": "t", "field": "f", "max": 1, "max_ms": 1}, [("fields_exclude", "")]),
        ({"tool": "t"}, [("missing_field", "")]),
        ({"tool": "t", "max": 1}, [("missing_field", ""), ("fields_exclude", "max")]),
        ({"field": "f", "max_ms": 1}, [("missing_field", ""), ("fields_exclude", "max_ms")]),
        ({"field": "f", "max": 1, "max_ms": 1}, [("fields_exclude", "max_ms")]),
        ({"measure": "silence", "max": 1}, [("missing_field", ""), ("fields_exclude", "max")]),
        ({"tool": "t", "max_ms": 1, "where": {}}, [("fields_exclude", "where")]),
        ({"field": "f", "max": 1, "where": {"a": {"$gtt": 1}}}, [("bad_expected_value", "where.a.$gtt")]),
        ({"measure": "silence", "max_ms": 1, "role": "agent"}, [("fields_exclude", "role")]),
        ({"tool": "t", "max_ms": 1, "role": "agent"}, [("fields_exclude", "role")]),
        ({"tool": "t", "max_ms": "1"}, [("wrong_type", "max_ms")]),
        ({"tool": "t", "max_ms": True}, [("wrong_type", "max_ms")]),
        ({"tool": "t", "max_ms": 1, "stat": "p42"}, [("not_allowed", "stat")]),
        ({"measure": "pause", "max_ms": 1}, [("not_allowed", "measure")]),
        ({"tool": "t", "max_ms": 1, "min_ms": 1}, [("unknown_field", "min_ms")]),
    ],
)
def test_mistakes_are_told_with_their_places(
    problems_of: Fixture, fields: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    """Every mistake of a latency is found before anything runs."""
    assert problems_of(latency(**fields)) == expected
