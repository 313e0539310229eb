from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from averment.errors import EvidenceError
from averment.evidence import Evidence
from averment.evidence.model import MAX_DEPTH
from averment.evidence.plain import MAX_VALUES
from averment.text import jsontext

RECORD: dict[str, Any] = {
    "conversation_id": "c-7",
    "transcript": [
        {"role": "agent", "text": "hello", "start": 0.1, "end": 1.5},
        {"speaker": "caller", "content": "hi"},
    ],
    "spans": [
        {
            "type": "tool_call",
            "name": "lookup",
            "arguments": {"id": 7},
            "result": {"ok": True},
            "time_sec": 2,
        },
        {"type": "handoff", "attributes": {"target": "billing"}},
    ],
    "timing": {"events": [{"event_id": "e", "signals": {"latency": {"response_gap_sec": 0.5}}}]},
    "state": {"orders": [{"id": 1}], "snap": {"before": [{"n": 1}], "after": {"n": 2}}},
    "metadata": {"state": "CA"},
    "labels": {"split": "test"},
}

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(st.text(max_size=6), json_values, max_size=4)
seconds = st.none() | st.integers(-5, 10**6) | st.floats(-10, 1e6)
turns = st.lists(
    st.fixed_dictionaries(
        {
            "role": st.sampled_from(["agent", "Caller", "tool", "x", None]),
            "text": st.text(max_size=20) | st.none(),
        },
        optional={
            "start": seconds,
            "end": seconds,
            "id": json_values,
            "confidence": json_values,
            "interrupted": st.booleans(),
        },
    ),
    max_size=5,
)
spans = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["tool_call", "tool_retry", "tool_timeout", "handoff", "x"])},
        optional={
            "name": st.sampled_from(["a", "b", None, 5]),
            "arguments": json_values | st.sampled_from(['{"a": 1}', "{", ""]),
            "result": json_values | st.sampled_from(['{"a": 1}', "[1", "[]", "done"]),
            "error": json_values,
            "status": json_values | st.sampled_from(["error", "OK", "cancelled", 500]),
            "attempt": st.integers(-1, 4),
            "latency_ms": scalars,
            "start_sec": seconds,
            "end_sec": seconds,
            "time_sec": seconds,
            "attributes": objects | json_values,
            "span_id": st.sampled_from(["a", "b", "s_0", 3]),
        },
    ),
    max_size=6,
)
records = st.fixed_dictionaries(
    {},
    optional={
        "conversation_id": st.text(max_size=5),
        "transcript": turns,
        "spans": spans,
        "timing": st.lists(objects, max_size=2) | objects,
        "state": st.dictionaries(
            st.text(max_size=5), st.lists(objects, max_size=2) | objects | json_values, max_size=3
        ),
        "metadata": objects,
        "labels": objects,
    },
)


def reordered(value: Any) -> Any:
    """The same JSON value with the keys of every object in the opposite order."""
    if isinstance(value, dict):
        return {key: reordered(item) for key, item in reversed(value.items())}
    return [reordered(item) for item in value] if isinstance(value, list) else value


def codes(error: pytest.ExceptionInfo[EvidenceError]) -> list[str]:
    return [problem.code for problem in error.value.problems]


def test_absent_and_empty_parts_stay_apart() -> None:
    """None is absent and an empty list is empty, in the model and in the file."""
    empty = Evidence(transcript=[], trace=[], timing=[], state={})
    assert (
        empty.model.turns,
        empty.model.spans,
        empty.model.calls,
        empty.model.timing,
        empty.model.states,
    ) == ((), (), (), [], ())
    assert empty.model.coverage.transcript.state == "empty"
    absent = Evidence()
    assert (
        absent.model.turns,
        absent.model.spans,
        absent.model.calls,
        absent.model.timing,
        absent.model.states,
    ) == (None,) * 5
    assert absent.model.coverage.executions.state == "absent"
    for evidence in (empty, absent):
        assert Evidence.from_bytes(evidence.to_json()).model == evidence.model
        assert b"null" not in evidence.to_json()


def test_a_null_in_a_record_is_absent() -> None:
    """A key whose value is null says no more than a missing key."""
    record = dict.fromkeys(RECORD)
    assert Evidence.from_record(record).sha256 == Evidence().sha256


def test_every_way_in_gives_the_same_digest() -> None:
    """Values, a record and the evidence file hold the same conversation and have the same digest."""
    parts = {"trace" if key == "spans" else key: value for key, value in RECORD.items()}
    evidence = Evidence(**parts)
    assert evidence.sha256 == Evidence.from_record(RECORD).sha256
    assert evidence.sha256 == Evidence.from_bytes(evidence.to_json(), name="elsewhere.json").sha256
    assert evidence.sha256.startswith("sha256:")


@pytest.mark.parametrize("odd", ["\ud800", 10**40, 1e-7, "\u2028\x7f", [], {"a": None}])
def test_the_digest_is_over_the_model_without_places_and_sources(odd: Any) -> None:
    """Encoded straight from the structs, the bytes are those of the model's values as canonical JSON."""
    turns = [*RECORD["transcript"], {"role": "agent", "text": "a", "noted": odd}]
    record = {
        **RECORD,
        "transcript": turns,
        "metadata": {"odd": odd},
        "labels": {"\ue000": 1, "\U0001f600": 2, "a": odd},
    }
    evidence = Evidence.from_record(record)
    content = jsontext.decode(evidence.to_json()).value
    assert evidence.to_json() == jsontext.canonical(content)
    del content["sources"]
    for part in (*content["turns"], *content["spans"], *content["notes"]):
        del part["loc"]
    assert evidence.sha256 == jsontext.digest(content)


def test_what_was_recorded_changes_the_digest() -> None:
    """A difference in any part of a conversation is a difference in its digest."""
    digests = {Evidence.from_record(RECORD).sha256}
    for key in RECORD:
        changed = {name: value for name, value in RECORD.items() if name != key}
        digests.add(Evidence.from_record(changed).sha256)
    assert len(digests) == len(RECORD) + 1


def test_the_callers_values_are_neither_changed_nor_shared() -> None:
    """Evidence stays as it was when the caller's lists change afterwards, and the caller's lists stay as they were."""
    record = copy.deepcopy(RECORD)
    evidence = Evidence.from_record(record)
    assert record == RECORD
    before = evidence.to_json()
    record["transcript"].append({"role": "agent", "text": "more"})
    record["spans"][0]["arguments"]["id"] = 8
    record["state"]["orders"][0]["id"] = 2
    record["timing"]["events"].clear()
    record["metadata"]["state"] = "FL"
    assert evidence.to_json() == before


def test_all_bad_items_are_named_at_once() -> None:
    """Every turn and every span that can't be read is reported, with its place."""
    with pytest.raises(EvidenceError) as error:
        Evidence.from_record(
            {
                "transcript": [{"text": 5}, {"text": "ok"}, "hi"],
                "trace": [{"type": 3}, 5, {"name": "x"}],
                "metadata": [],
            }
        )
    assert [problem.path for problem in error.value.problems] == [
        "$.metadata",
        "$.transcript[0].text",
        "$.transcript[2]",
        "$.trace[0]",
        "$.trace[1]",
        "$.trace[2]",
    ]


@pytest.mark.parametrize(
    ("value", "code", "path"),
    [
        ((1, 2), "not_json", "$.timing[1].a"),
        (b"x", "not_json", "$.timing[1].a"),
        ({1, 2}, "not_json", "$.timing[1].a"),
        (float("nan"), "non_finite", "$.timing[1].a"),
        (float("-inf"), "non_finite", "$.timing[1].a"),
        pytest.param(10**5000, "number_too_long", "$.timing[1].a", id="a long integer"),
        ({5: 1}, "not_json", "$.timing[1].a"),
        (object(), "not_json", "$.timing[1].a"),
    ],
)
def test_values_that_are_no_json_are_refused_with_their_place(value: Any, code: str, path: str) -> None:
    """A tuple, bytes, NaN or a key that is no string is named, never converted."""
    with pytest.raises(EvidenceError) as error:
        Evidence(timing=[{}, {"a": value}])
    assert [(problem.code, problem.path) for problem in error.value.problems] == [(code, path)]


def test_a_value_that_holds_itself_is_refused() -> None:
    """A cycle ends at the limit on depth instead of in endless copying."""
    cycle: list[Any] = []
    cycle.append([cycle, cycle])
    with pytest.raises(EvidenceError) as error:
        Evidence(timing=cycle)
    assert codes(error) == ["evidence_too_deep"]


def nested(levels: int) -> Any:
    """Lists inside each other, so many levels deep."""
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("record", "deepest"),
    [
        (lambda value: {"timing": value}, MAX_DEPTH - 1),
        (lambda value: {"metadata": {"a": value}}, MAX_DEPTH - 2),
        (lambda value: {"state": {"r": {"a": value}}}, MAX_DEPTH - 5),
        (lambda value: {"spans": [{"type": "a", "b": value}]}, MAX_DEPTH - 4),
        (lambda value: {"spans": [{"type": "tool_call", "attributes": {"arguments": value}}]}, MAX_DEPTH - 4),
        (lambda value: {"spans": [{"type": "tool_call", "arguments": json.dumps(value)}]}, MAX_DEPTH - 3),
    ],
)
def test_depth_is_limited_so_that_the_evidence_file_can_be_read(record: Any, deepest: int) -> None:
    """What nests 200 levels deep in the evidence file is read, one level more is refused, from values and bytes alike."""
    within = record(nested(deepest))
    for evidence in (Evidence.from_record(within), Evidence.from_bytes(json.dumps(within).encode())):
        assert Evidence.from_bytes(evidence.to_json()).sha256 == evidence.sha256
    beyond = record(nested(deepest + 1))
    with pytest.raises(EvidenceError) as error:
        Evidence.from_record(beyond)
    assert codes(error) == ["evidence_too_deep"]
    with pytest.raises(EvidenceError) as error:
        Evidence.from_bytes(json.dumps(beyond).encode())
    assert codes(error) == ["evidence_too_deep"]


def test_lists_that_share_their_parts_are_bounded() -> None:
    """A few shared lists that stand for billions of values are refused by their number, without unfolding them."""
    value: list[Any] = ["x"] * (MAX_VALUES // 10)
    for _ in range(3):
        value = [value] * 10
    with pytest.raises(EvidenceError) as error:
        Evidence(timing=value)
    assert codes(error) == ["too_many_values"]


def test_subclasses_of_json_types_become_these_types() -> None:
    """An ordered dict or a string enum is read as the JSON value that it is."""

    class Name(str):
        __slots__ = ()

    class Fields(dict[str, Any]):
        pass

    evidence = Evidence(timing=[Fields({Name("a"): Name("b")})])
    assert type(evidence.model.timing[0]) is dict  # type: ignore[index]
    assert evidence.sha256 == Evidence(timing=[{"a": "b"}]).sha256


def test_evidence_survives_pickling() -> None:
    """Evidence can be sent to a worker process and keeps its bytes, unset fields too."""
    evidence = Evidence(trace=[{"type": "tool_call", "name": "x"}])
    assert pickle.loads(pickle.dumps(evidence)).to_json() == evidence.to_json()  # noqa: S301 - our own bytes


def test_its_representation_quotes_no_evidence() -> None:
    """A representation in a log shows counts only."""
    assert repr(Evidence.from_record(RECORD)) == "<Evidence: 2 turns, 1 tool calls, 2 spans>"


def test_problems_quote_no_evidence() -> None:
    """A refusal names types and places, never the values that stand there."""
    with pytest.raises(EvidenceError) as error:
        Evidence.from_record(
            {
                "transcript": [{"text": ["secret"]}, "secret"],
                "trace": ["secret"],
                "state": "secret",
                "call_id": ["secret"],
            }
        )
    assert "secret" not in str(error.value)


@settings(deadline=None, max_examples=150)
@given(records)
def test_the_evidence_file_is_read_back_to_the_same_bytes(record: dict[str, Any]) -> None:
    """Whatever native evidence holds, its file has the same bytes and the same digest after reading and writing."""
    evidence = Evidence.from_record(record)
    again = Evidence.from_bytes(evidence.to_json())
    assert again.to_json() == evidence.to_json()
    assert again.sha256 == evidence.sha256


@settings(deadline=None, max_examples=100)
@given(records)
def test_the_digest_does_not_depend_on_the_order_of_keys(record: dict[str, Any]) -> None:
    """The same record with its keys in another order is the same evidence."""
    assert Evidence.from_record(reordered(record)).sha256 == Evidence.from_record(record).sha256


@settings(deadline=None, max_examples=150)
@given(st.dictionaries(st.sampled_from([*RECORD, "trace", "call_id", "x"]), json_values) | json_values)
def test_random_values_raise_nothing_but_evidence_errors(value: Any) -> None:
    """Hostile values are evidence or refused, and never a crash."""
    parts = (
        value
        if isinstance(value, dict)
        else {"transcript": value, "trace": value, "timing": value, "state": value}
    )
    known = {
        key: item
        for key, item in parts.items()
        if key in {"transcript", "trace", "timing", "state", "metadata", "labels"}
    }
    for read, given_parts in ((Evidence.from_record, {"record": value}), (Evidence, known)):
        try:
            evidence = read(**given_parts)
        except EvidenceError:
            continue
        assert Evidence.from_bytes(evidence.to_json()).to_json() == evidence.to_json()
