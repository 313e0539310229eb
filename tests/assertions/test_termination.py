from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import averment

Fixture = Callable[..., Any]


def termination(**fields: Any) -> dict[str, Any]:
    return {"kind": "termination", **fields}


def ended(**fields: Any) -> dict[str, Any]:
    return {"type": "call_ended", **fields}


TRACE = [ended(reason="silence", by="system"), {"type": "hangup", "attributes": {"terminated_by": "caller"}}]


@pytest.mark.parametrize(
    ("span_type", "is_end"),
    [
        ("termination", True),
        ("call_ended", True),
        ("call_terminated", True),
        ("hangup", True),
        ("disconnect", False),
        ("Hangup", False),
        ("handoff", False),
    ],
)
def test_four_types_of_span_end_a_conversation(judge: Fixture, span_type: str, is_end: bool) -> None:
    """As in the reference; no other type is guessed at."""
    trace = [{"type": "tool_call", "name": "x"}, {"type": span_type}]
    result = judge(termination(), trace=trace)
    assert (result["status"], result.get("span_ids")) == (("PASS", ["s_1"]) if is_end else ("FAIL", None))
    assert judge(termination(absent=True), trace=trace)["status"] == ("FAIL" if is_end else "PASS")


@pytest.mark.parametrize(
    ("fields", "span_ids"),
    [
        ({}, ["s_0", "s_1"]),
        ({"reason": "silence"}, ["s_0"]),
        ({"by": "system"}, ["s_0"]),
        ({"by": "caller"}, ["s_1"]),
        ({"reason": "silence", "by": "system"}, ["s_0"]),
        ({"reason": "silence", "by": "caller"}, None),
        ({"reason": "Silence"}, None),
        ({"by": "agent"}, None),
    ],
)
def test_one_span_must_have_all_that_is_asked(
    judge: Fixture, fields: dict[str, Any], span_ids: list[str] | None
) -> None:
    """A reason from one end and somebody from another do not add up."""
    result = judge(termination(**fields), trace=TRACE)
    assert result["status"] == ("PASS" if span_ids else "FAIL")
    assert result["span_ids"] == (span_ids or ["s_0", "s_1"])
    absent = judge(termination(**fields, absent=True), trace=TRACE)
    assert (absent["status"], absent.get("span_ids")) == ("FAIL" if span_ids else "PASS", span_ids)


def test_another_end_is_told(judge: Fixture) -> None:
    """The reason says how it was ended instead; the public reason quotes nothing."""
    result = judge(termination(reason="completed", by="agent"), trace=TRACE)
    assert result["code"] == "value_mismatch"
    assert result["reason"] == (
        "an end of the conversation with reason `completed` by `agent` must occur, and does not; "
        'it was ended by "system" with reason "silence", by "caller" with reason null'
    )
    assert result["public_reason"] == "the end of the conversation is not as required"


def test_no_end_at_all_is_not_found(judge: Fixture) -> None:
    """A trace that shows none has none."""
    result = judge(termination(), trace=[])
    assert (result["status"], result["code"]) == ("FAIL", "not_found")
    assert result["reason"] == "an end of the conversation must occur, and does not"


def test_absent_forbids_such_an_end(judge: Fixture) -> None:
    """The code tells it from an end that is missing."""
    result = judge(termination(by="caller", absent=True), trace=TRACE)
    assert (result["code"], result["span_ids"]) == ("found_but_forbidden", ["s_1"])


def test_a_source_without_spans_is_inconclusive(judge: Fixture) -> None:
    """Without a trace, or from a source that doesn't record ends, nothing shows how a conversation ended."""
    model = json.loads(averment.Evidence(trace=[{"type": "tool_call", "name": "x"}]).to_json())
    del model["coverage"]["termination"]
    no_ends = averment.Evidence.from_bytes(json.dumps(model).encode())
    for evidence, noun in ((averment.Evidence(transcript=[]), "trace"), (no_ends, "termination")):
        for fields in ({}, {"absent": True}):
            result = judge(termination(**fields), evidence)
            assert (result["status"], result["code"]) == ("INCONCLUSIVE", f"{noun}_absent")
            assert result["evidence_gap"]["how"] in result["reason"]
            assert result["public_reason"] == f"required {noun} evidence was missing"


@pytest.mark.parametrize("state", ["truncated", "partial", "redacted"])
def test_an_incomplete_trace_proves_only_the_end_that_it_has(
    judge: Fixture, gapped: Fixture, state: str
) -> None:
    """A trace that was cut most likely lacks its end."""
    evidence = gapped({"termination": state}, trace=TRACE)
    assert judge(termination(by="caller"), evidence)["status"] == "PASS"
    assert judge(termination(by="caller", absent=True), evidence)["status"] == "FAIL"
    for fields in ({"by": "agent"}, {"by": "agent", "absent": True}):
        assert judge(termination(**fields), evidence)["code"] == "channel_truncated"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"reason": 3}, [("wrong_type", "reason")]),
        ({"by": None}, [("wrong_type", "by")]),
        ({"absent": "yes"}, [("wrong_type", "absent")]),
        ({"terminated_by": "x"}, [("unknown_field", "terminated_by")]),
    ],
)
def test_mistakes_are_told_with_their_places(
    problems_of: Fixture, fields: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    """Every mistake of a termination is found before anything runs."""
    assert problems_of(termination(**fields)) == expected
