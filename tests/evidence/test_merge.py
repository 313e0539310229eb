from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

import averment
from averment.errors import EvidenceError
from averment.evidence import Evidence
from averment.evidence import merge as merging
from averment.evidence.merge import Records, merged
from averment.evidence.model import EvidenceModel


def made(
    calls: Sequence[dict[str, Any]] | None = None, coverage: dict[str, Any] | None = None, **fields: Any
) -> Evidence:
    """Evidence from a file of averment's own: whatever a reader can come to."""
    record: dict[str, Any] = {"schema": "averment.evidence.v1", **fields}
    record["coverage"] = {name: {"state": state} for name, state in (coverage or {}).items()}
    record.setdefault("sources", [{"id": "src_0", "format": "otlp", "reader": "r"}])
    if calls is not None:
        record["calls"] = [{"name": "pay", "status": "ok", "loc": "src_0#$", **call} for call in calls]
    return Evidence.from_bytes(json.dumps(record).encode())


def turn(text: str, role: str = "agent", **fields: Any) -> dict[str, Any]:
    return {"id": f"t{text}", "role": role, "role_raw": role, "text": text, "loc": "src_0#$", **fields}


def span(identity: str, kind: str = "http_exchange", **fields: Any) -> dict[str, Any]:
    return {"id": identity, "type": kind, "loc": "src_0#$", **fields}


def codes(evidence: Evidence) -> list[str]:
    return [note.code for note in evidence.model.notes]


def refused(call: Any) -> str:
    with pytest.raises(EvidenceError) as error:
        call()
    return error.value.problems[0].code


def states(evidence: Evidence, *channels: str) -> list[str]:
    return [getattr(evidence.model.coverage, channel).state for channel in channels]


WHOLE = dict.fromkeys(("requests", "executions", "results", "errors"), "present")

# Which records belong together.


def test_records_belong_together_by_the_conversations_id() -> None:
    """The same id in both is a key; the second fills what the first doesn't have."""
    whole = made(conversation_id="c", turns=[turn("hi")]).merged(
        made([{"id": "a"}], WHOLE, conversation_id="c")
    )
    assert (len(whole.model.turns or ()), len(whole.model.calls or ())) == (1, 1)
    assert [source.id for source in whole.model.sources] == ["src_0", "src_1"]
    assert (whole.model.calls or ())[0].loc == "src_1#$"
    assert codes(whole) == []


def test_records_belong_together_by_the_id_of_a_call() -> None:
    """A call of one id in both is a key, whatever the conversations are called."""
    whole = made([{"id": "call_a"}]).merged(made([{"id": "call_a", "result": 1}], conversation_id="x"))
    assert [(call.id, call.result) for call in whole.model.calls or ()] == [("call_a", 1)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"calls": [{"id": "a"}]}, {"calls": [{"id": "b"}]}),
        ({"calls": [{"id": "c_0"}]}, {"calls": [{"id": "c_0"}]}),
        ({"calls": [{"id": "1"}]}, {"calls": [{"id": "1"}]}),
        ({"conversation_id": "c"}, {"conversation_id": "d"}),
        ({}, {}),
    ],
)
def test_nothing_else_relates_two_records(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Ids that differ, that averment gave, or that only count, like those of JSON-RPC, are no key."""
    assert refused(lambda: made(**one).merged(made(**other))) == "no_join_key"


def test_of_several_records_the_only_one_that_has_a_key_is_the_partner() -> None:
    """The conversation's id decides, then ids of calls within it; two candidates are none."""
    models = [made([{"id": "a"}], conversation_id="c").model, made([{"id": "b"}], conversation_id="c").model]
    lone = made([{"id": "z"}], conversation_id="d").model
    records = Records([*models, lone])
    assert records.partner(made(conversation_id="d").model) is lone
    assert records.partner(made([{"id": "b"}], conversation_id="c").model) is models[1]
    assert records.partner(made(conversation_id="c").model) is None
    assert records.partner(made([{"id": "z"}]).model) is lone
    assert records.partner(made([{"id": "a"}, {"id": "b"}]).model) is None
    assert records.partner(made([{"id": "nowhere"}]).model) is None


def test_partners_of_many_are_found_in_linear_time() -> None:
    """A lookup doesn't look at every record, not even where all share an id."""

    def seconds(count: int) -> float:
        models = [
            made([{"id": "same"}, {"id": f"call_{n}"}], conversation_id="c").model for n in range(count)
        ]
        taken = []
        for _ in range(3):
            start = time.process_time()
            records = Records(models)
            for model in models:
                records.partner(model)
            taken.append(time.process_time() - start)
        return min(taken)

    assert min(seconds(2_000) for _ in range(3)) < 40 * max(seconds(200), 0.004)


# Clocks.


def test_the_clock_of_1970_is_shared_and_others_are_not() -> None:
    """Epoch times are comparable; where a second source has another zero is not known."""
    base = made(conversation_id="c", turns=[turn("a", start_ns=1, clock="epoch")])
    other = made([{"id": "x", "start_ns": 5, "clock": "epoch"}], conversation_id="c")
    assert [call.clock for call in base.merged(other).model.calls or ()] == ["epoch"]
    base = made(conversation_id="c", turns=[turn("a", start_ns=1, clock="call_relative")])
    other = made([{"id": "x", "start_ns": 5, "clock": "call_relative"}], conversation_id="c")
    call = (base.merged(other).model.calls or ())[0]
    assert (call.clock, call.start_ns) == ("monotonic", 5)


def test_a_record_without_times_leaves_the_others_as_they_are() -> None:
    """There is nothing with which they could be confused."""
    other = made([{"id": "x", "start_ns": 5, "clock": "call_relative"}], conversation_id="c")
    assert (made(conversation_id="c").merged(other).model.calls or ())[0].clock == "call_relative"


def test_two_clocks_of_unknown_zero_are_never_one() -> None:
    """Of a third record with a zero of its own the times are left out, with a note."""
    record = made([{"id": "x", "start_ns": 1, "clock": "monotonic"}], conversation_id="c")
    base = made(conversation_id="c", turns=[turn("a", start_ns=1, clock="monotonic")])
    whole = base.merged(record)
    assert (whole.model.calls or ())[0].start_ns is None
    assert "times_not_related" in codes(whole)


def test_an_offset_relates_two_clocks() -> None:
    """The other's zero, on the first one's clock: 2.5 s later each time is."""
    base = made(turns=[turn("a", start_ns=10**9, clock="call_relative")])
    other = made([{"id": "x", "start_ns": 5, "end_ns": 6, "clock": "epoch"}])
    call = (base.merged(other, clock_offset=2.5).model.calls or ())[0]
    assert (call.start_ns, call.end_ns, call.clock) == (2_500_000_005, 2_500_000_006, "call_relative")


def test_an_offset_needs_two_clocks() -> None:
    """A record without times, or with several clocks, has no zero to relate."""
    timed = made([{"id": "x", "start_ns": 5, "clock": "epoch"}])
    two = made(
        [{"id": "x", "start_ns": 5, "clock": "epoch"}, {"id": "y", "start_ns": 5, "clock": "monotonic"}]
    )
    assert refused(lambda: made(turns=[turn("a")]).merged(timed, clock_offset=1)) == "no_common_clock"
    assert refused(lambda: two.merged(timed, clock_offset=1)) == "no_common_clock"
    assert refused(lambda: timed.merged(two, clock_offset=1)) == "no_common_clock"


@pytest.mark.parametrize("offset", [float("nan"), float("inf"), 1e11, -1e300])
def test_an_offset_that_is_no_time_is_refused(offset: float) -> None:
    """It would otherwise join what has no key, without relating anything."""
    timed = made([{"id": "x", "start_ns": 5, "clock": "epoch"}])
    assert refused(lambda: timed.merged(timed, clock_offset=offset)) == "out_of_range"


def test_a_time_that_leaves_the_range_is_left_out() -> None:
    """64 bits are what an evidence file holds."""
    timed = made([{"id": "x", "start_ns": 2**63 - 1, "clock": "epoch"}])
    whole = timed.merged(made([{"id": "y", "start_ns": 2**63 - 1, "clock": "epoch"}]), clock_offset=9)
    assert "time_unreadable" in codes(whole)
    assert Evidence.from_bytes(whole.to_json()).to_json() == whole.to_json()


# Calls.


def test_what_one_record_of_a_call_lacks_the_other_fills() -> None:
    """A request from the messages, its result, time and outcome from the trace."""
    asked = made([{"id": "a", "args": {"n": 1}, "status": "requested"}], conversation_id="c")
    ran = made(
        [
            {
                "id": "a",
                "status": "ok",
                "args_state": "absent",
                "result": {"ok": True},
                "start_ns": 3,
                "clock": "epoch",
                "latency_ms": 4,
            }
        ]
    )
    for one, other in ((asked, ran), (ran, asked)):
        call = (one.merged(other).model.calls or ())[0]
        assert (call.args, call.result, call.status) == ({"n": 1}, {"ok": True}, "ok")
        assert (call.start_ns, call.latency_ms) == (3, 4)


def test_records_of_one_call_that_differ_leave_it_unknown() -> None:
    """Neither argument nor result counts, and a failure that one source tells is one."""
    one = made([{"id": "a", "args": {"n": 1}, "result": "x", "status": "ok"}])
    other = made([{"id": "a", "name": "refund", "args": {"n": 2}, "result": "y", "status": "error"}])
    whole = one.merged(other)
    call = (whole.model.calls or ())[0]
    assert (call.args_state, call.result_state, call.status) == ("conflicting", "conflicting", "error")
    assert (call.args, call.result) == (UNSET, UNSET)
    assert codes(whole) == ["arguments_conflict", "result_conflict", "name_conflict", "status_conflict"]
    assert all(note.loc == "src_1#$" for note in whole.model.notes)
    third = whole.merged(one)
    assert (third.model.calls or ())[0].args_state == "conflicting", "a third record is no judge"


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("requested", "unanswered", "unanswered"),
        ("executed", "ok", "ok"),
        ("executed", "error", "error"),
        ("unanswered", "timeout", "timeout"),
        ("ok", "timeout", "timeout"),
        ("executed", "denied", "denied"),
        ("ok", "cancelled", "cancelled"),
    ],
)
def test_the_status_that_knows_more_counts(one: str, other: str, expected: str) -> None:
    """Whichever record comes first; a contradiction is noted."""
    for pair in ((one, other), (other, one)):
        first, second = (made([{"id": "a", "status": status}]) for status in pair)
        whole = first.merged(second)
        assert (whole.model.calls or ())[0].status == expected
        assert codes(whole) == (["status_conflict"] if (one, expected) in CONTRADICTIONS else [])


CONTRADICTIONS = {("ok", "timeout"), ("executed", "denied"), ("ok", "cancelled")}


def test_a_redacted_payload_gives_way_to_a_recorded_one() -> None:
    """And is no conflict with it, in either order."""
    full, cut = (
        made([{"id": "a", "result": "all of it"}]),
        made([{"id": "a", "result": "al", "result_state": "truncated"}]),
    )
    for one, other in ((full, cut), (cut, full)):
        call = (one.merged(other).model.calls or ())[0]
        assert (call.result, call.result_state) == ("all of it", "recorded")


def test_a_number_in_words_is_the_number() -> None:
    """Chat messages hold every answer as text."""
    for text, value in (("42", 42), (" 4.5", 4.5), ("true", True)):
        whole = made([{"id": "a", "result": text}]).merged(made([{"id": "a", "result": value}]))
        assert (whole.model.calls or ())[0].result == text
    assert codes(made([{"id": "a", "result": "41"}]).merged(made([{"id": "a", "result": 42}]))) == [
        "result_conflict"
    ]


@pytest.mark.parametrize(
    ("mine", "theirs", "expected"),
    [
        (["a", "b"], ["b", "c"], ["a", "b", "c"]),  # one kind of ids: c is a call of its own
        (["a", "c_1"], ["a", "b"], ["a", "c_1"]),  # b may be c_1
        (["a", "b"], ["a", "c_1"], ["a", "b"]),  # c_1 may be b
        (["c_0", "c_1"], ["c_0", "c_1"], ["c_0", "c_1"]),
        (["a", "b"], ["x", "y", "z"], ["a", "b"]),  # ids of two systems: no call counts twice
        (["1"], ["1", "2"], ["1"]),
    ],
)
def test_no_call_counts_twice(mine: list[str], theirs: list[str], expected: list[str]) -> None:
    """What may be a call that is known already is left out, with a note."""
    one, other = (made([{"id": id_} for id_ in ids], WHOLE, conversation_id="c") for ids in (mine, theirs))
    whole = one.merged(other)
    assert [call.id for call in whole.model.calls or ()] == expected
    assert ("calls_not_joined" in codes(whole)) == (expected != ["a", "b", "c"])


def test_of_calls_that_cannot_be_joined_those_of_the_fuller_record_count() -> None:
    """Executions that one record shows are worth more than requests of another; its coverage comes with them."""
    asked = made([{"id": "c_0", "status": "requested"}], {"requests": "present"}, conversation_id="c")
    ran = made([{"id": "x"}], WHOLE, conversation_id="c")
    for one, other in ((asked, ran), (ran, asked)):
        whole = one.merged(other)
        assert [call.id for call in whole.model.calls or ()] == ["x"]
        assert states(whole, *WHOLE) == ["present"] * 4


def test_the_call_that_a_call_repeats_stays_one_of_the_whole() -> None:
    """A reference to a call that was not taken would lead nowhere, or to another call."""
    other = made([{"id": "c_0"}, {"id": "b", "retry_of": "c_0"}, {"id": "a"}], conversation_id="c")
    whole = made([{"id": "a"}], conversation_id="c").merged(other)
    assert [(call.id, call.retry_of) for call in whole.model.calls or ()] == [("a", None), ("b", None)]
    Evidence.from_bytes(whole.to_json())


# Turns, spans and the rest.


def test_two_transcripts_are_one_and_a_difference_is_noted() -> None:
    """The first counts, and with it its coverage: the second's can't make it whole."""
    one = made(conversation_id="c", turns=[turn("a")], coverage={"transcript": "partial"})
    other = made(conversation_id="c", turns=[turn("a"), turn("b")], coverage={"transcript": "present"})
    whole = one.merged(other)
    assert [each.text for each in whole.model.turns or ()] == ["a"]
    assert (codes(whole), states(whole, "transcript")) == (["turns_conflict"], ["partial"])
    assert codes(one.merged(one)) == []


def test_an_empty_part_is_a_part() -> None:
    """Absent and empty stay apart: what the second record says it has none of is not unknown."""
    whole = made(conversation_id="c").merged(
        made([], dict.fromkeys((*WHOLE, "transcript"), "empty"), conversation_id="c", turns=[], spans=[])
    )
    assert (whole.model.turns, whole.model.calls, whole.model.spans) == ((), (), ())
    assert states(whole, "transcript", "executions") == ["empty", "empty"]


def test_spans_of_one_id_are_one_and_of_other_ids_several() -> None:
    """Ids that both records share show that they are of one kind, so others are other spans."""
    one = made(conversation_id="c", spans=[span("f1", name="x"), span("f2")])
    other = made(conversation_id="c", spans=[span("f2", name="y"), span("f3"), span("s_2", "dtmf")])
    whole = one.merged(other)
    assert [each.id for each in whole.model.spans or ()] == ["f1", "f2", "f3", "s_3"]
    assert codes(whole) == ["span_conflict"]


@pytest.mark.parametrize("ids", [("s_0", "s_0"), ("s_0", "f1"), ("f1", "s_0"), ("f1", "f2")])
def test_spans_that_no_id_tells_apart_do_not_count_twice(ids: tuple[str, str]) -> None:
    """Of a type that both show the first one's count; what only the second shows is added."""
    coverage = {"http": "partial", "dtmf": "empty"}
    one = made(conversation_id="c", spans=[span(ids[0])], coverage=coverage)
    other = made(
        conversation_id="c",
        spans=[span(ids[1]), span("k", "dtmf")],
        coverage={"http": "present", "dtmf": "present"},
    )
    whole = one.merged(other)
    assert [each.type for each in whole.model.spans or ()] == ["http_exchange", "dtmf"]
    assert codes(whole) == ["spans_not_joined"]
    assert states(whole, "http", "dtmf") == ["partial", "present"]


def test_a_call_keeps_its_span_and_a_span_its_call() -> None:
    """Positions move with the spans; the span of a call that the first record shows at its own is not taken."""
    other = made(
        [{"id": "a", "span_id": "s_0", "position": 0}, {"id": "b", "span_id": "s_1", "position": 1}],
        WHOLE,
        conversation_id="c",
        spans=[span("s_0", "tool"), span("s_1", "tool")],
    )
    chat = made([{"id": "a"}], conversation_id="c", spans=[span("s_0", "dtmf")])
    whole = chat.merged(other)
    assert [(call.id, call.span_id, call.position) for call in whole.model.calls or ()] == [
        ("a", "s_1", 1),
        ("b", "s_2", 2),
    ]
    shown = made(
        [{"id": "a", "span_id": "z", "position": 0}], conversation_id="c", spans=[span("z", "tool_call")]
    )
    whole = shown.merged(other)
    assert [each.type for each in whole.model.spans or ()] == ["tool_call", "tool"]
    assert [(call.id, call.position) for call in whole.model.calls or ()] == [("a", 0), ("b", 1)]


def test_a_span_id_that_looks_like_a_number_of_ours_is_not_given_twice() -> None:
    """Every id of the whole is its own, whatever ids evidence files come with."""
    one = made(conversation_id="c", spans=[span("s_1", "a"), span("s_2", "a"), span("s_3", "a")])
    other = made(conversation_id="c", spans=[span("s_0", "b"), span("s_9", "b")])
    whole = one.merged(other)
    assert len({each.id for each in whole.model.spans or ()}) == 5
    assert Evidence.from_bytes(whole.to_json()).to_json() == whole.to_json()


def test_too_many_spans_together_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """What could not be read back is not made."""
    monkeypatch.setattr(merging, "MAX_SPANS", 1)
    one, other = (made(conversation_id="c", spans=[span(kind, kind)]) for kind in "ab")
    assert refused(lambda: one.merged(other)) == "too_many_spans"


def test_parts_that_cannot_be_added_up_are_the_first_records() -> None:
    """A difference is noted; what the first lacks the second fills."""
    one = made(conversation_id="c", timing=[1], metadata={"a": 1})
    other = made(
        conversation_id="c",
        timing=[True],
        metadata={"a": True, "b": 2},
        labels={"x": 1},
        states=[{"resource": "r", "rows": []}],
    )
    whole = one.merged(other).model
    assert (whole.timing, whole.metadata, whole.labels) == ([1], {"a": 1, "b": 2}, {"x": 1})
    assert [state.resource for state in whole.states or ()] == ["r"]
    assert [note.code for note in whole.notes] == ["timing_conflict", "metadata_conflict"]
    unreadable = made(
        conversation_id="c", coverage={"state": "unreadable"}, states=[{"resource": "r", "rows": []}]
    )
    both = unreadable.merged(
        made(conversation_id="c", coverage={"state": "present"}, states=[{"resource": "q", "rows": []}])
    )
    assert states(both, "state") == ["unreadable"]


def test_a_declared_join_of_two_ids_is_noted() -> None:
    """An offset joins whatever it is told to; that the ids differ stands in the notes."""
    one, other = (
        made([{"id": name, "start_ns": 1, "clock": "epoch"}], conversation_id=name) for name in "xy"
    )
    whole = one.merged(other, clock_offset=0)
    assert (whole.model.conversation_id, "conversation_id_conflict" in codes(whole)) == ("x", True)


def test_many_conflicts_of_a_kind_are_one_note() -> None:
    """A file can't flood the notes: one tells how often, and where first."""
    one = made([{"id": f"k{n}", "result": n} for n in range(500)])
    other = made([{"id": f"k{n}", "result": n + 1} for n in range(500)])
    assert [(note.code, "(in 500 places)" in note.detail) for note in one.merged(other).model.notes] == [
        ("result_conflict", True)
    ]


# Coverage.


@pytest.mark.parametrize(
    ("mine", "theirs", "only", "expected"),
    [
        ({"requests": "present"}, WHOLE, [], ["present", "present", "present", "present"]),
        (WHOLE, {"requests": "present"}, [], ["present", "present", "present", "present"]),
        (WHOLE, {**WHOLE, "results": "partial"}, ["ok"], ["present", "present", "partial", "present"]),
        (
            WHOLE,
            {**WHOLE, "results": "partial"},
            ["unanswered"],
            ["present", "present", "present", "present"],
        ),
        (dict.fromkeys(WHOLE, "partial"), WHOLE, [], ["present", "present", "present", "present"]),
        (dict.fromkeys(WHOLE, "partial"), dict.fromkeys(WHOLE, "absent"), [], ["partial"] * 4),
    ],
)
def test_joined_calls_are_as_whole_as_the_records_that_show_them(
    mine: dict[str, str], theirs: dict[str, str], only: list[str], expected: list[str]
) -> None:
    """A channel is whole where every call of the whole is shown by a record that is whole in it."""
    one = made([{"id": "a"}], mine)
    other = made([{"id": "a"}, *({"id": "b", "status": status} for status in only)], theirs)
    assert states(one.merged(other), *WHOLE) == expected


def test_a_record_of_which_calls_were_left_out_makes_nothing_whole() -> None:
    """It may hold what the first lacks."""
    one = made([{"id": "a"}], dict.fromkeys(WHOLE, "partial"))
    other = made([{"id": "a"}, {"id": "c_1"}], WHOLE)
    assert states(one.merged(other), "requests", "executions") == ["partial", "partial"]


def test_arguments_that_conflict_are_a_gap() -> None:
    """And arguments that the second record fills are none."""
    one, other = (made([{"id": "a", "args": n}]) for n in (1, 2))
    assert states(one.merged(other), "arguments") == ["partial"]
    cut = made([{"id": "a", "args_state": "absent"}], {"arguments": "partial"})
    assert states(cut.merged(one), "arguments") == ["absent"]


# Order.


def ordered(text: str, place: int) -> dict[str, Any]:
    return turn(text, seq=place)


def test_merged_sources_have_no_common_order() -> None:
    """The order of messages is known within one source alone."""
    talk = made(conversation_id="c", turns=[ordered("a", 0), ordered("b", 2)])
    trace = made([{"id": "x", "seq": 1}], WHOLE, conversation_id="c")
    for whole in (talk.merged(trace), trace.merged(talk)):
        assert {each.seq for each in whole.model.turns or ()} == {None}
        assert {each.seq for each in whole.model.calls or ()} == {None}


def test_an_order_survives_what_only_fills_its_calls() -> None:
    """A chat whose calls a trace completes still has the order of its messages."""
    chat = made([{"id": "x", "seq": 1}], conversation_id="c", turns=[ordered("a", 0), ordered("b", 2)])
    whole = chat.merged(made([{"id": "x", "result": 1, "seq": 0}], WHOLE, conversation_id="c"))
    assert [call.seq for call in whole.model.calls or ()] == [1]
    assert [each.seq for each in whole.model.turns or ()] == [0, 2]
    more = chat.merged(made([{"id": "x", "seq": 0}, {"id": "y", "seq": 1}], WHOLE, conversation_id="c"))
    assert [call.seq for call in more.model.calls or ()] == [None, None]
    spans = made(conversation_id="c", spans=[span("h", seq=7)])
    assert [each.seq for each in chat.merged(spans).model.spans or ()] == [None]


# In general.

_CALL_ID = st.sampled_from(["a", "b", "c_0", "c_1", "7"])
_STATUS = st.sampled_from(["requested", "unanswered", "executed", "ok", "error", "timeout", "denied"])
_VALUE: st.SearchStrategy[Any] = st.sampled_from([{}, {"n": 1}, "x", 1, [1.5], None])
_TIMES: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {},
    optional={
        "start_ns": st.integers(0, 5),
        "clock": st.sampled_from(["epoch", "call_relative", "monotonic"]),
    },
)


@st.composite
def _evidences(draw: st.DrawFn) -> Evidence:
    ids = draw(st.lists(_CALL_ID, unique=True, max_size=4))
    kinds = draw(st.lists(st.sampled_from(["tool_call", "http_exchange", "dtmf"]), max_size=3))
    spans = [
        span(f"s_{n}" if draw(st.booleans()) else f"f{n}", kind, **draw(_TIMES))
        for n, kind in enumerate(kinds)
    ]
    calls: list[dict[str, Any]] = []
    for place, id_ in enumerate(ids):
        call: dict[str, Any] = {"id": id_, "status": draw(_STATUS), "seq": place, **draw(_TIMES)}
        call |= draw(st.fixed_dictionaries({}, optional={"args": _VALUE, "result": _VALUE}))
        if draw(st.booleans()) and spans:
            position = draw(st.integers(0, len(spans) - 1))
            call |= {"position": position, "span_id": spans[position]["id"]}
        if draw(st.booleans()) and calls:
            call["retry_of"] = calls[0]["id"]
        calls.append(call)
    state = st.sampled_from(["present", "empty", "absent", "partial"])
    fields: dict[str, Any] = {"conversation_id": "c"}
    if draw(st.booleans()):
        fields["turns"] = [turn(str(n), seq=n, **draw(_TIMES)) for n in range(draw(st.integers(0, 2)))]
    if draw(st.booleans()):
        fields["spans"] = spans
    else:
        calls = [
            {key: value for key, value in call.items() if key not in ("position", "span_id")}
            for call in calls
        ]
    return made(
        calls if draw(st.booleans()) else None, {name: draw(state) for name in (*WHOLE, "http")}, **fields
    )


@settings(deadline=None, max_examples=150)
@given(_evidences())
def test_a_record_merged_with_itself_adds_nothing_but_notes(evidence: Evidence) -> None:
    """Turns, calls, spans, times and coverage are what they were."""
    whole, model = evidence.merged(evidence).model, evidence.model

    def content(each: EvidenceModel) -> Any:
        written = json.loads(Evidence._of(each).to_json())
        return {name: value for name, value in written.items() if name not in ("notes", "sources")}

    assert content(whole) == content(model)


@settings(deadline=None, max_examples=200)
@given(_evidences(), _evidences(), _evidences(), st.none() | st.integers(-(2**63), 2**63 - 1))
def test_whatever_is_merged_can_be_read_back(
    one: Evidence, other: Evidence, third: Evidence, offset: int | None
) -> None:
    """Ids are unique, references lead somewhere, and no call or span is there more often than in both together."""
    try:
        model = merged(one.model, other.model, offset_ns=offset)
    except EvidenceError as error:
        assert {problem.code for problem in error.problems} == {"no_common_clock"}  # noqa: PT017
        return
    whole = Evidence._of(merged(model, third.model))
    assert Evidence.from_bytes(whole.to_json()).to_json() == whole.to_json()
    for name in ("turns", "calls", "spans"):
        parts = [getattr(each.model, name) or () for each in (one, other, third)]
        assert len(getattr(whole.model, name) or ()) <= sum(map(len, parts))
    if whole.model.calls:
        envelope = averment.run(DOCUMENT, whole)
        assert envelope.results


DOCUMENT = averment.Document.of(
    {
        "version": 1,
        "assertions": [
            {"id": "a", "kind": "tool_call", "name": "pay"},
            {"id": "b", "kind": "claim", "says": "1", "tool": "pay"},
            {"id": "c", "kind": "sequence", "steps": [{"phrase": "0"}, {"tool": "pay"}]},
        ],
    }
)


def test_large_records_are_merged_in_linear_time() -> None:
    """Ten times the calls and spans take about ten times as long."""

    def seconds(count: int) -> float:
        one, other = (
            made(
                [{"id": f"k{n}", "result": n + more} for n in range(count)],
                WHOLE,
                conversation_id="c",
                spans=[span(f"f{n + more}") for n in range(count)],
            )
            for more in (0, 1)
        )
        start = time.process_time()
        one.merged(other)
        return time.process_time() - start

    assert min(seconds(20_000) for _ in range(3)) < 40 * max(seconds(2_000), 0.005)
