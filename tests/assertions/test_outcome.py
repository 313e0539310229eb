from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Fixture = Callable[..., Any]

CALLED = {"tool_called": "refund"}
UNCALLED = {"tool_called": "cancel"}
SAID = {"phrase": "issued"}
UNSAID = {"phrase": "goodbye"}
TIMED = {"field_present": "verdict.did_yield"}
UNTIMED = {"field_present": "verdict.nothing"}

EVIDENCE: dict[str, Any] = {
    "transcript": [{"role": "agent", "text": "hello"}, {"role": "agent", "text": "Issued"}],
    "trace": [{"type": "tool_call", "name": "refund"}, {"type": "tool_call", "name": "lookup"}],
    "timing": [{"verdict": None}, {"verdict": {"did_yield": False, "nothing": None}}],
}


def outcome(**fields: Any) -> dict[str, Any]:
    return {"kind": "outcome", **fields}


@pytest.mark.parametrize(
    ("fields", "status", "met", "of"),
    [
        ({"all_of": [CALLED, SAID, TIMED]}, "PASS", 3, 3),
        ({"all_of": [CALLED, UNSAID, TIMED]}, "FAIL", 2, 3),
        ({"any_of": [UNCALLED, UNSAID, TIMED]}, "PASS", 1, 3),
        ({"any_of": [UNCALLED, UNSAID, UNTIMED]}, "FAIL", 0, 3),
        ({"all_of": [CALLED], "any_of": [UNCALLED, SAID]}, "PASS", 2, 3),
        ({"all_of": [CALLED], "any_of": [UNCALLED, UNSAID]}, "FAIL", 1, 3),
        ({"all_of": [UNCALLED], "any_of": [CALLED]}, "FAIL", 1, 2),
        ({"all_of": [CALLED], "any_of": None}, "PASS", 1, 1),
    ],
)
def test_all_of_and_any_of_must_both_hold(
    judge: Fixture, fields: dict[str, Any], status: str, met: int, of: int
) -> None:
    """Fault 7 of the reference: an `any_of` beside `all_of` was never read; `met` and `of` count both."""
    result = judge(outcome(**fields), **EVIDENCE)
    assert (result["status"], result["met"], result["of"]) == (status, met, of)
    if status == "FAIL":
        assert result["code"] == "outcome_not_met"
        assert result["public_reason"] == f"{met} of {of} conditions hold"


def test_grounds_are_the_turns_and_calls_of_the_conditions_that_hold(judge: Fixture) -> None:
    """PASS and FAIL both point to what was found."""
    for conditions in ([CALLED, SAID, TIMED], [CALLED, SAID, UNCALLED]):
        result = judge(outcome(all_of=conditions), **EVIDENCE)
        assert (result["turns"], result["tool_calls"], result["span_ids"]) == ([1], ["c_0"], ["s_0"])


def test_turns_of_several_conditions_are_ascending_and_each_once(judge: Fixture) -> None:
    """Whatever the order of the conditions."""
    turns = [{"text": {1: "early", 8: "late, not early"}.get(index, "")} for index in range(9)]
    asked = outcome(all_of=[{"phrase": "late"}, {"phrase": "early"}])
    assert judge(asked, transcript=turns)["turns"] == [1, 8]


def test_the_reason_names_the_conditions_that_do_not_hold(judge: Fixture) -> None:
    """Each is called by what it tests."""
    result = judge(outcome(all_of=[UNCALLED, CALLED, UNSAID, UNTIMED]), **EVIDENCE)
    assert result["reason"] == (
        "1 of 4 conditions hold; not met: tool_called cancel; phrase /goodbye/; field_present verdict.nothing"
    )


@pytest.mark.parametrize(
    ("timing", "path", "present"),
    [
        ([{"a": {"b": 0}}], "a.b", True),
        ([{"a": {"b": False}}], "a.b", True),
        ([{"a": {"b": ""}}], "a.b", True),
        ([{"a": {"b": None}}], "a.b", False),
        ([{"a": None}, {"a": {"b": 1}}], "a.b", True),
        ({"a": {"b": 1}}, "a.b", True),
        ([], "a", False),
        ({}, "a", False),
        ([{"a": [1]}], "a.0", False),
        ([{"a.b": 1}], "a.b", True),
        (["a"], "a", False),
    ],
)
def test_a_field_is_present_when_any_event_has_a_value(
    judge: Fixture, timing: Any, path: str, present: bool
) -> None:
    """False, zero and empty are values; null is none; lists have no paths."""
    result = judge(outcome(all_of=[{"field_present": path}]), timing=timing)
    assert result["status"] == ("PASS" if present else "FAIL")


def test_a_phrase_may_have_a_role(judge: Fixture) -> None:
    """Roles match through the alias table, patterns in any case."""
    said = {"phrase": "ISSUED", "role": "assistant"}
    assert judge(outcome(all_of=[said]), **EVIDENCE)["status"] == "PASS"
    assert judge(outcome(all_of=[{**said, "role": "caller"}]), **EVIDENCE)["status"] == "FAIL"


@pytest.mark.parametrize(
    ("absent", "code"),
    [("transcript", "transcript_absent"), ("trace", "trace_absent"), ("timing", "timing_absent")],
)
def test_an_absent_input_is_inconclusive_even_where_others_decide(
    judge: Fixture, absent: str, code: str
) -> None:
    """Difference 8, as in the reference; `met` counts what is known."""
    evidence = {name: value for name, value in EVIDENCE.items() if name != absent}
    for fields in ({"all_of": [UNCALLED, CALLED, SAID, TIMED]}, {"any_of": [CALLED, SAID, TIMED]}):
        result = judge(outcome(**fields), **evidence)
        of = len(next(iter(fields.values())))
        assert (result["status"], result["code"], result["of"]) == ("INCONCLUSIVE", code, of)
        assert result["met"] == 2
    assert judge(outcome(all_of=[CALLED]), trace=EVIDENCE["trace"])["status"] == "PASS"


def test_the_first_condition_that_lacks_its_evidence_gives_the_code(judge: Fixture) -> None:
    """Conditions are told in the order written."""
    assert judge(outcome(any_of=[TIMED, SAID, CALLED]))["code"] == "timing_absent"
    assert judge(outcome(any_of=[CALLED], all_of=[SAID]))["code"] == "transcript_absent"


def test_empty_evidence_is_judged(judge: Fixture) -> None:
    """Nothing said, done or measured meets no condition."""
    for condition in (CALLED, SAID, TIMED):
        result = judge(outcome(all_of=[condition]), transcript=[], trace=[], timing=[])
        assert (result["status"], result["met"]) == ("FAIL", 0)


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"all_of": [CALLED, SAID]}, "PASS"),
        ({"any_of": [UNSAID, CALLED]}, "PASS"),
        ({"all_of": [CALLED, UNSAID]}, "INCONCLUSIVE"),
        ({"any_of": [UNCALLED, UNSAID]}, "INCONCLUSIVE"),
        ({"all_of": [UNCALLED, UNSAID]}, "FAIL"),
        ({"all_of": [UNSAID], "any_of": [UNCALLED]}, "FAIL"),
        ({"all_of": [UNSAID], "any_of": [CALLED]}, "INCONCLUSIVE"),
        ({"any_of": [UNCALLED, UNTIMED]}, "FAIL"),
    ],
)
@pytest.mark.parametrize("state", ["truncated", "partial", "redacted"])
def test_missing_parts_matter_only_where_they_could_turn_the_verdict(
    judge: Fixture, gapped: Fixture, fields: dict[str, Any], status: str, state: str
) -> None:
    """With an incomplete transcript, a FAIL for want of a call stands and one for want of a phrase does not."""
    result = judge(outcome(**fields), gapped({"transcript": state}, **EVIDENCE))
    assert result["status"] == status
    if status == "INCONCLUSIVE":
        assert (result["code"], result["evidence_gap"]["channel"]) == ("channel_truncated", "transcript")


def test_only_executed_calls_of_the_agent_count(judge: Fixture, gapped: Fixture) -> None:
    """A call that was only requested, or was the simulated user's, is none."""
    for fields in ({"status": "requested"}, {"status": "denied"}, {"requestor": "user"}):
        assert judge(outcome(all_of=[CALLED]), gapped({}, [fields], **EVIDENCE))["status"] == "FAIL"
    for fields in ({"status": "error"}, {"status": "timeout"}, {"status": "ok"}):
        assert judge(outcome(all_of=[CALLED]), gapped({}, [fields], **EVIDENCE))["status"] == "PASS"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, [("missing_field", "")]),
        ({"all_of": None, "any_of": None}, [("missing_field", "")]),
        ({"all_of": []}, [("empty_value", "all_of")]),
        ({"any_of": {}}, [("wrong_type", "any_of")]),
        ({"all_of": [{}]}, [("fields_exclude", "all_of[0]")]),
        ({"all_of": [CALLED, {**CALLED, **SAID}]}, [("fields_exclude", "all_of[1]")]),
        ({"any_of": [{**CALLED, "role": "agent"}]}, [("field_needs", "any_of[0].role")]),
        ({"any_of": [{"role": "agent"}]}, [("fields_exclude", "any_of[0]")]),
        ({"any_of": [{**SAID, "role": None}]}, [("wrong_type", "any_of[0].role")]),
        ({"any_of": [{"tool_called": ""}]}, [("empty_value", "any_of[0].tool_called")]),
        ({"any_of": [{"phrase": "("}]}, [("bad_pattern", "any_of[0].phrase")]),
        ({"any_of": [{"field_present": 5}]}, [("wrong_type", "any_of[0].field_present")]),
        ({"any_of": [{"tool_caled": "x"}]}, [("unknown_field", "any_of[0].tool_caled")]),
        (
            {"all_of": [{}], "any_of": [{}]},
            [("fields_exclude", "all_of[0]"), ("fields_exclude", "any_of[0]")],
        ),
    ],
)
def test_mistakes_are_told_with_their_places(
    problems_of: Fixture, fields: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    """Every mistake of an outcome is found before anything runs."""
    assert problems_of(outcome(**fields)) == expected
