from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import averment

Fixture = Callable[..., Any]


def call(name: str, args: Any = None, **fields: Any) -> dict[str, Any]:
    arguments = {} if args is None else {"arguments": args}
    return {"type": "tool_call", "name": name, **arguments, **fields}


def sequence(*steps: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"kind": "sequence", "steps": list(steps), **fields}


def tools(names: str, **fields: Any) -> dict[str, Any]:
    return sequence(*({"tool": name} for name in names), **fields)


def trace(names: str) -> list[dict[str, Any]]:
    return [call(name) for name in names]


def without(name: str) -> dict[str, Any]:
    return {"tool": name, "absent": True}


# Steps in order.


@pytest.mark.parametrize(
    ("steps", "happened", "code", "calls"),
    [
        ("ab", "ab", None, ["c_0", "c_1"]),
        ("ab", "xaxbx", None, ["c_1", "c_3"]),
        ("aa", "aba", None, ["c_0", "c_2"]),
        ("aba", "aabba", None, ["c_0", "c_2", "c_4"]),
        ("ba", "ab", "wrong_order", ["c_1"]),
        ("aa", "a", "wrong_order", ["c_0"]),
        ("ac", "ab", "not_found", ["c_0"]),
        ("ca", "ab", "not_found", None),
        ("ac", "aab", "not_found", ["c_0"]),
        ("a", "", "not_found", None),
    ],
)
def test_steps_happen_in_order_with_others_in_between(
    judge: Fixture, steps: str, happened: str, code: str | None, calls: list[str] | None
) -> None:
    """The grounds are the events of the steps, of a FAIL those that could be placed."""
    result = judge(tools(steps), trace=trace(happened))
    assert result["status"] == ("FAIL" if code else "PASS")
    assert (result.get("code"), result.get("tool_calls")) == (code, calls)


def test_a_reason_names_the_step_that_found_no_place(judge: Fixture) -> None:
    """Steps are counted from one; what never happens is told from what happens too early."""
    result = judge(tools("aba"), trace=trace("ab"))
    assert result["reason"] == "step 3 of 3 (a call of `a`) does not follow the steps before it"
    assert result["public_reason"] == "events are not in the required order"
    result = judge(sequence({"tool": "a"}, {"span_type": "dtmf"}), trace=trace("ab"))
    assert result["reason"] == "step 2 of 2 (a span of type `dtmf`) never happens"
    result = judge(sequence({"http": {}}), trace=trace("ab"))
    assert result["reason"] == "step 1 of 1 (an HTTP exchange) never happens"
    result = judge(sequence({"phrase": "bye"}), transcript=[])
    assert result["reason"] == "step 1 of 1 (/bye/ said) never happens"


def test_the_step_blamed_is_the_one_that_fails_without_the_forbidden_ones(judge: Fixture) -> None:
    """Where a step never happens, an event that must not happen is not the cause."""
    result = judge(sequence({"tool": "a"}, without("x"), {"tool": "b"}, {"tool": "c"}), trace=trace("axb"))
    assert (result["code"], result["reason"]) == ("not_found", "step 4 of 4 (a call of `c`) never happens")


def test_steps_of_every_kind_stand_in_one_sequence(judge: Fixture) -> None:
    """Spans by type, calls by tool and arguments, HTTP exchanges and phrases share one order."""
    turns = [
        {"role": "agent", "text": "One moment", "start": 0},
        {"role": "agent", "text": "Done", "start": 9},
        {"role": "caller", "text": "Done", "start": 2},
    ]
    spans = [
        call("refund", {"id": 1, "n": 2}, start_sec=3),
        {"type": "http_exchange", "method": "POST", "time_sec": 4},
        {"type": "dtmf", "time_sec": 1},
    ]
    steps: list[dict[str, Any]] = [
        {"phrase": "moment", "role": "assistant"},
        {"span_type": "dtmf"},
        {"tool": "refund", "args_subset": {"id": 1}},
        {"http": {"method": "post"}},
        {"phrase": "done"},
    ]
    result = judge(sequence(*steps), transcript=turns, trace=spans)
    assert (result["status"], result["turns"]) == ("PASS", [0, 1])
    assert (result["tool_calls"], result["span_ids"]) == (["c_0"], ["s_0", "s_1", "s_2"])
    result = judge(sequence(*steps[:4], {"phrase": "done", "role": "caller"}), transcript=turns, trace=spans)
    assert (result["status"], result["code"]) == ("FAIL", "wrong_order")


def test_arguments_of_a_step_are_matched(judge: Fixture) -> None:
    """Fault 7 of the reference: arguments of a step were ignored."""
    steps = [{"tool": "a", "args_subset": {"id": 1}}, {"tool": "a", "args_subset": {"id": {"$gt": 1}}}]
    assert judge(sequence(*steps), trace=[call("a", {"id": 1}), call("a", {"id": 2})])["status"] == "PASS"
    assert judge(sequence(*steps), trace=[call("a", {"id": 2}), call("a", {"id": 1})])["status"] == "FAIL"
    assert judge(sequence(steps[0]), trace=[call("a", {"id": True})])["code"] == "not_found"


def test_one_event_is_one_step(judge: Fixture) -> None:
    """A call that two steps would fit is taken by one of them."""
    steps = [{"tool": "a"}, {"span_type": "tool_call"}]
    assert judge(sequence(*steps), trace=trace("a"))["status"] == "FAIL"
    assert judge(sequence(*steps), trace=trace("ab"))["status"] == "PASS"


# Order and time.


def test_sequence_goes_by_time_when_every_span_has_one(judge: Fixture) -> None:
    """Fault 14: the order of the list was taken for the order of events."""
    late_first = [call("b", start_sec=5), call("a", start_sec=2)]
    result = judge(tools("ab"), trace=late_first)
    assert (result["status"], result["tool_calls"]) == ("PASS", ["c_1", "c_0"])
    assert result["span_ids"] == ["s_0", "s_1"]
    late_first[1].pop("start_sec")
    assert judge(tools("ab"), trace=late_first)["status"] == "FAIL"


def test_turns_and_spans_without_a_common_clock_have_no_order(judge: Fixture) -> None:
    """A guess would be a verdict on nothing; what is missing is told."""
    steps = [{"phrase": "hello"}, {"tool": "a"}]
    timed = {"transcript": [{"text": "hello", "start": 1}], "trace": [call("a", start_sec=2)]}
    assert judge(sequence(*steps), **timed)["status"] == "PASS"
    for change in ({"transcript": [{"text": "hello"}]}, {"trace": [call("a")]}):
        result = judge(sequence(*steps), **{**timed, **change})
        assert (result["status"], result["code"]) == ("INCONCLUSIVE", "no_clock")
        assert result["public_reason"] == "required time evidence was missing"
        assert result["evidence_gap"]["how"].startswith("Record start times")


def test_in_any_order_needs_no_clock(judge: Fixture) -> None:
    """Where order does not matter, times do not either."""
    steps = [{"tool": "a"}, {"phrase": "hello"}]
    evidence = {"transcript": [{"text": "hello"}], "trace": trace("a")}
    result = judge(sequence(*steps, unordered=True), **evidence)
    assert (result["status"], result["turns"], result["tool_calls"]) == ("PASS", [0], ["c_0"])


def test_steps_that_are_all_turns_go_by_the_transcript(judge: Fixture) -> None:
    """Phrases need no trace and no times."""
    turns = [{"role": "agent", "text": "hello"}, {"role": "caller", "text": "bye"}]
    assert judge(sequence({"phrase": "HELLO"}, {"phrase": "bye"}), transcript=turns)["turns"] == [0, 1]
    result = judge(sequence({"phrase": "bye"}, {"phrase": "hello"}), transcript=turns)
    assert (result["code"], result["turns"]) == ("wrong_order", [1])


def test_calls_that_no_span_shows_are_events_too(judge: Fixture) -> None:
    """Sources such as message lists have calls and no spans."""
    model = {
        "schema": "averment.evidence.v1",
        "calls": [
            {"id": "x", "name": "a", "args": {}, "status": "ok"},
            {"id": "y", "name": "b", "args": {}, "status": "ok"},
        ],
        "coverage": {"executions": {"state": "present"}},
    }
    evidence = averment.Evidence.from_bytes(_json(model))
    assert judge(tools("ab"), evidence)["tool_calls"] == ["x", "y"]
    assert judge(tools("ba"), evidence)["code"] == "wrong_order"
    assert judge(tools("ab", strict=True), evidence)["status"] == "PASS"


def _json(value: Any) -> bytes:
    import json

    return json.dumps(value).encode()


# Absent, strict, unordered.


@pytest.mark.parametrize(
    ("steps", "happened", "status"),
    [
        ([{"tool": "a"}, without("x"), {"tool": "b"}], "ab", "PASS"),
        ([{"tool": "a"}, without("x"), {"tool": "b"}], "axb", "FAIL"),
        ([{"tool": "a"}, without("x"), {"tool": "b"}], "xabx", "PASS"),
        ([{"tool": "a"}, without("x"), {"tool": "b"}], "axab", "PASS"),
        ([{"tool": "a"}, without("x"), {"tool": "b"}], "axbaxb", "FAIL"),
        ([without("x"), {"tool": "a"}], "xa", "FAIL"),
        ([without("x"), {"tool": "a"}], "ax", "PASS"),
        ([{"tool": "a"}, without("x")], "ax", "FAIL"),
        ([{"tool": "a"}, without("x")], "axa", "PASS"),
        ([{"tool": "a"}, without("x")], "xa", "PASS"),
    ],
)
def test_an_absent_step_forbids_an_event_between_its_neighbours(
    judge: Fixture, steps: list[dict[str, Any]], happened: str, status: str
) -> None:
    """Some way to place the steps must have nothing forbidden in between."""
    result = judge(sequence(*steps), trace=trace(happened))
    assert result["status"] == status
    if status == "FAIL":
        assert result["code"] == "found_but_forbidden"
        assert result["reason"] == "every step happens, and an event that must not happen stands between them"


@pytest.mark.parametrize(
    ("happened", "status"),
    [("ab", "PASS"), ("axb", "FAIL"), ("xabx", "PASS"), ("axab", "PASS"), ("aab", "PASS"), ("abb", "PASS")],
)
def test_strict_allows_no_other_call_between_first_and_last(
    judge: Fixture, happened: str, status: str
) -> None:
    """Calls before the first step and after the last are free."""
    result = judge(tools("ab", strict=True), trace=trace(happened))
    assert result["status"] == status
    assert result.get("code") == ("found_but_forbidden" if status == "FAIL" else None)


def test_strict_is_about_counted_calls_alone(judge: Fixture) -> None:
    """Other spans, and calls that the reading leaves out, may stand between."""
    spans = [call("a"), {"type": "dtmf"}, call("x", error="down"), call("b")]
    assert judge(tools("ab", strict=True), trace=spans)["status"] == "FAIL"
    assert judge(tools("ab", strict=True, attempts="successful"), trace=spans)["status"] == "PASS"


def test_strict_between_phrases_reads_the_trace(judge: Fixture) -> None:
    """No call between two things said, by time; without a trace that is unknown."""
    turns = [{"text": "one", "start": 1}, {"text": "two", "start": 3}]
    asked = sequence({"phrase": "one"}, {"phrase": "two"}, strict=True)
    for second, status in ((0, "PASS"), (2, "FAIL"), (4, "PASS")):
        result = judge(asked, transcript=turns, trace=[call("x", start_sec=second)])
        assert result["status"] == status
    assert judge(asked, transcript=turns)["code"] == "trace_absent"


@pytest.mark.parametrize(
    ("steps", "happened", "status", "code"),
    [
        ([{"tool": "a"}, {"tool": "b"}], "ba", "PASS", None),
        ([{"tool": "a"}, {"tool": "a"}], "a", "FAIL", "not_found"),
        ([{"span_type": "tool_call"}, {"tool": "a"}], "ab", "PASS", None),
        ([{"tool": "c"}, {"tool": "a"}], "ab", "FAIL", "not_found"),
        ([{"tool": "a"}, {"tool": "b"}, without("x")], "bax", "FAIL", "found_but_forbidden"),
        ([{"tool": "a"}, {"tool": "b"}, without("x")], "ba", "PASS", None),
    ],
)
def test_unordered_steps_happen_in_any_order(
    judge: Fixture, steps: list[dict[str, Any]], happened: str, status: str, code: str | None
) -> None:
    """Each step has an event of its own; an absent one forbids the event everywhere."""
    result = judge(sequence(*steps, unordered=True), trace=trace(happened))
    assert (result["status"], result.get("code")) == (status, code)


def test_an_unordered_fail_blames_the_step_that_is_missing(judge: Fixture) -> None:
    """Not the step whose number is that of the events found."""
    result = judge(tools("ca", unordered=True), trace=trace("ab"))
    assert result["reason"] == "step 1 of 2 (a call of `c`) never happens"
    assert result["tool_calls"] == ["c_0"]
    assert judge(tools("ba", unordered=True), trace=trace("ab"))["tool_calls"] == ["c_0", "c_1"]
    result = judge(tools("aa", unordered=True), trace=trace("ab"))
    assert result["reason"] == (
        "step 2 of 2 (a call of `a`) has no event of its own: other steps need those that there are"
    )
    result = judge(sequence({"tool": "a"}, without("b"), unordered=True), trace=trace("ab"))
    assert result["reason"] == "every step happens, and an event that must not happen happens too"


# What is missing.


def test_absent_evidence_is_inconclusive_and_empty_evidence_is_judged(judge: Fixture) -> None:
    """Only the evidence that a step looks at is needed."""
    assert judge(tools("a"))["code"] == "trace_absent"
    assert judge(sequence({"phrase": "a"}), trace=[])["code"] == "transcript_absent"
    assert judge(sequence({"tool": "a"}, {"phrase": "a"}), trace=[])["code"] == "transcript_absent"
    assert judge(sequence({"http": {}}))["code"] == "trace_absent"
    assert judge(tools("a"), trace=[])["code"] == "not_found"
    assert judge(sequence({"http": {}}), trace=[])["code"] == "not_found"
    assert judge(sequence({"tool": "a"}, {"phrase": "a"}), trace=[], transcript=[])["code"] == "not_found"


@pytest.mark.parametrize("state", ["truncated", "partial", "redacted"])
def test_an_incomplete_trace_proves_what_happened_and_nothing_else(
    judge: Fixture, gapped: Fixture, state: str
) -> None:
    """A missing event could make a FAIL a PASS, and where something is forbidden a PASS a FAIL."""
    evidence = gapped({"executions": state}, trace=trace("ab"))
    assert judge(tools("ab"), evidence)["status"] == "PASS"
    assert judge(tools("ba", unordered=True), evidence)["status"] == "PASS"
    for asked in (
        tools("ba"),
        tools("ac"),
        tools("ab", strict=True),
        sequence({"tool": "a"}, without("x"), {"tool": "b"}),
        sequence({"tool": "a"}, without("b")),
    ):
        result = judge(asked, evidence)
        assert (result["status"], result["code"]) == ("INCONCLUSIVE", "channel_truncated")
        assert result["evidence_gap"]["channel"] == "executions"


def test_a_pass_rests_only_on_the_channel_of_what_is_forbidden(judge: Fixture, gapped: Fixture) -> None:
    """A transcript with gaps does not touch a ban on calls."""
    turns, spans = [{"text": "hi", "start": 0}], [call("a", start_sec=1)]
    evidence = gapped({"transcript": "truncated"}, transcript=turns, trace=spans)
    steps = [{"phrase": "hi"}, {"tool": "a"}]
    assert judge(sequence(*steps, without("x")), evidence)["status"] == "PASS"
    assert judge(sequence(*steps, strict=True), evidence)["status"] == "PASS"
    banned = {"phrase": "no", "absent": True}
    assert judge(sequence(*steps, banned), evidence)["evidence_gap"]["channel"] == "transcript"


@pytest.mark.parametrize("state", ["truncated", "partial", "redacted"])
def test_http_steps_look_at_the_coverage_of_http(judge: Fixture, gapped: Fixture, state: str) -> None:
    """A source that shows calls may show exchanges in part or not at all."""
    spans = [{"type": "http_exchange", "method": "GET"}]
    evidence = gapped({"http": state}, trace=spans)
    assert judge(sequence({"http": {"method": "GET"}}), evidence)["status"] == "PASS"
    result = judge(sequence({"http": {"method": "PUT"}}), evidence)
    assert (result["code"], result["evidence_gap"]["channel"]) == ("channel_truncated", "http")
    result = judge(sequence({"http": {}}), gapped({"http": "unreadable"}, trace=spans))
    assert result["code"] == "channel_unreadable"


def test_unrecorded_arguments_leave_the_verdict_open(judge: Fixture, gapped: Fixture) -> None:
    """A call that may be the one, or the forbidden one, hangs on its arguments."""
    hidden = {"args": None, "args_state": "redacted"}
    spans = [call("a", {"id": 1}), call("b", {"id": 1}), call("a", {"id": 2})]
    evidence = gapped({}, [hidden], trace=spans)
    one = {"tool": "a", "args_subset": {"id": 1}}
    for asked in (
        sequence(one, {"tool": "b"}),
        sequence({**one, "absent": True}, {"tool": "b"}),
        sequence({"tool": "b"}, one, unordered=True),
    ):
        result = judge(asked, evidence)
        assert (result["status"], result["code"]) == ("INCONCLUSIVE", "arguments_not_recorded")
        assert result["tool_calls"] == ["c_0"]
        assert result["evidence_gap"]["state"] == "redacted"
        assert result["reason"].endswith("hangs on the arguments of c_0")
    assert judge(tools("ab"), evidence)["status"] == "PASS"
    assert judge(sequence({"tool": "a", "args_subset": {}}), evidence)["status"] == "PASS"
    result = judge(sequence({"tool": "b"}, one), evidence)
    assert (result["status"], result["code"]) == ("FAIL", "wrong_order")


@pytest.mark.parametrize("unordered", [True, False])
def test_a_fail_blames_what_fails_however_unknown_calls_turn_out(
    judge: Fixture, gapped: Fixture, unordered: bool
) -> None:
    """The step that hangs on unrecorded arguments may have happened; the other never does."""
    evidence = gapped({}, [{"args": None, "args_state": "absent"}], trace=[call("a", {"id": 1})])
    steps: list[dict[str, Any]] = [{"tool": "a", "args_subset": {"id": 1}}, {"tool": "c"}]
    result = judge(sequence(*steps, unordered=unordered), evidence)
    assert (result["code"], result["reason"]) == ("not_found", "step 2 of 2 (a call of `c`) never happens")


def test_turns_among_the_grounds_are_ascending(judge: Fixture) -> None:
    """Times may place a later turn of the transcript first; its index is still told in order."""
    turns = [{"text": "two", "start": 2}, {"text": "one", "start": 1}]
    asked = sequence({"phrase": "one"}, {"phrase": "two"}, {"span_type": "dtmf"})
    result = judge(asked, transcript=turns, trace=[{"type": "dtmf", "time_sec": 3}])
    assert (result["status"], result["turns"]) == ("PASS", [0, 1])


def test_unreadable_arguments_have_a_code_of_their_own(judge: Fixture) -> None:
    """Text that is no JSON was recorded, so the mend is another."""
    result = judge(sequence({"tool": "a", "args_subset": {"id": 1}}), trace=[call("a", "{")])
    assert (result["status"], result["code"]) == ("INCONCLUSIVE", "arguments_unreadable")


# Mistakes.


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([], [("empty_value", "steps")]),
        ([5], [("wrong_type", "steps[0]")]),
        ([{}], [("fields_exclude", "steps[0]")]),
        ([{"tool": "a", "span_type": "b"}], [("fields_exclude", "steps[0]")]),
        ([{"tool": 5}], [("wrong_type", "steps[0].tool")]),
        ([{"tool": ""}], [("empty_value", "steps[0].tool")]),
        ([{"span_type": None}], [("wrong_type", "steps[0].span_type")]),
        ([{"tool": "a"}, {"phrase": "("}], [("bad_pattern", "steps[1].phrase")]),
        ([{"span_type": "a", "args_subset": {}}], [("field_needs", "steps[0].args_subset")]),
        ([{"tool": "a", "role": "agent"}], [("field_needs", "steps[0].role")]),
        (
            [{"tool": "a", "args_subset": {"b": {"$x": 1}}}],
            [("bad_expected_value", "steps[0].args_subset.b.$x")],
        ),
        ([{"tool": "a", "args": {}}], [("unknown_field", "steps[0].args")]),
        ([without("a"), without("b")], [("field_needs", "steps")]),
        ([{"tool": "a", "absent": "yes"}], [("wrong_type", "steps[0].absent")]),
    ],
)
def test_mistakes_are_told_with_their_places(
    problems_of: Fixture, steps: list[Any], expected: list[tuple[str, str]]
) -> None:
    """Difference 2: the reference checked neither the values of steps nor their other keys."""
    assert problems_of(sequence(*steps)) == expected


def test_strict_and_unordered_exclude_each_other(problems_of: Fixture) -> None:
    """Without an order there is nothing between the first and the last."""
    assert problems_of(tools("ab", strict=True, unordered=True)) == [("fields_exclude", "strict")]


@settings(max_examples=100, deadline=None)
@given(
    names=st.text("abx", max_size=6),
    steps=st.text("ab", min_size=1, max_size=3),
    data=st.data(),
)
def test_other_spans_never_change_a_verdict(names: str, steps: str, data: Any) -> None:
    """Spans that no step looks at may stand anywhere."""
    spans = trace(names)
    mixed = list(spans)
    for _ in range(data.draw(st.integers(0, 3))):
        mixed.insert(data.draw(st.integers(0, len(mixed))), {"type": "asr_partial"})
    document = averment.Document.of(
        {
            "version": 1,
            "assertions": [
                {"id": "a", **tools(steps)},
                {"id": "b", **tools(steps, strict=True)},
                {"id": "c", **tools(steps, unordered=True)},
            ],
        }
    )
    verdicts = [
        [
            (result.status, result.tool_calls)
            for result in averment.run(document, averment.Evidence(trace=each)).results
        ]
        for each in (spans, mixed)
    ]
    assert verdicts[0] == verdicts[1]
