from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

Fixture = Callable[..., Any]


def dtmf(digits: Any = "1234#", **fields: Any) -> dict[str, Any]:
    return {"kind": "dtmf", "digits": digits, **fields}


def keyed(**fields: Any) -> dict[str, Any]:
    return {"type": "dtmf", **fields}


TRACE = [keyed(digit="1"), keyed(digits=23), keyed(attributes={"digits": "4#"}), keyed(), {"type": "x"}]
"""The digits 1234# over three spans; the last two spans carry none."""


@pytest.mark.parametrize(
    ("digits", "stands"),
    [
        ("1234#", True),
        ("23", True),
        ("34#", True),
        ("1", True),
        ("43", False),
        ("12 34", False),
        ("5", False),
    ],
)
def test_digits_may_straddle_spans(judge: Fixture, digits: str, stands: bool) -> None:
    """All that was keyed is one text; the grounds are the spans that carry digits."""
    result = judge(dtmf(digits), trace=TRACE)
    assert (result["status"], result["span_ids"]) == ("PASS" if stands else "FAIL", ["s_0", "s_1", "s_2"])
    result = judge(dtmf(digits, absent=True), trace=TRACE)
    assert (result["status"], result["span_ids"]) == ("FAIL" if stands else "PASS", ["s_0", "s_1", "s_2"])


def test_digits_are_joined_in_the_order_of_time(judge: Fixture) -> None:
    """Fault 14 of the reference: the order of an unsorted list said what was keyed when."""
    trace = [keyed(digit="2", time_sec=9), keyed(digit="1", time_sec=3)]
    assert judge(dtmf("12"), trace=trace)["status"] == "PASS"
    assert judge(dtmf("21"), trace=trace)["status"] == "FAIL"
    del trace[0]["time_sec"]
    assert judge(dtmf("21"), trace=trace)["status"] == "PASS"


@pytest.mark.parametrize(
    "digits", [5, 10**4000, -1, 5.0, True, ["5"], {"a": "5"}], ids=lambda digits: str(type(digits))
)
def test_digits_of_every_type_are_read(judge: Fixture, digits: Any) -> None:
    """Numbers are written as JSON writes them, at any size, and nothing raises."""
    result = judge(dtmf("555"), trace=[keyed(digits=digits)])
    assert (result["status"], result["code"], result["span_ids"]) == ("FAIL", "value_mismatch", ["s_0"])


def test_no_digits_at_all_are_not_found(judge: Fixture) -> None:
    """An empty trace shows that nothing was keyed."""
    for trace in ([], [keyed()], [{"type": "tool_call", "name": "x", "digits": "1234#"}]):
        result = judge(dtmf(), trace=trace)
        assert (result["status"], result["code"], result["reason"]) == (
            "FAIL",
            "not_found",
            "no digits were keyed",
        )


def test_each_verdict_has_its_code(judge: Fixture) -> None:
    """Other digits are told from none, and from forbidden ones."""
    assert judge(dtmf("9"), trace=TRACE)["code"] == "value_mismatch"
    assert judge(dtmf("9"), trace=[])["code"] == "not_found"
    assert judge(dtmf("4", absent=True), trace=TRACE)["code"] == "found_but_forbidden"


@pytest.mark.parametrize("absent", [True, False])
@pytest.mark.parametrize("asked", ["80417", "99999"])
@pytest.mark.parametrize("state", ["present", "truncated", "unreadable"])
def test_keyed_digits_are_never_printed(
    envelope_of: Fixture, gapped: Fixture, absent: bool, asked: str, state: str
) -> None:
    """Difference 23: the reference's reason printed every digit; ours print none, not even the document's own."""
    trace = [keyed(digits="804"), keyed(digits="17"), keyed(digit=80417)]
    envelope = envelope_of([dtmf(asked, absent=absent)], gapped({"dtmf": state}, trace=trace))
    del envelope["evidence_sha256"], envelope["document"]
    written = json.dumps(envelope)
    for digits in ("80417", "804", "99999"):
        assert digits not in written


def test_a_source_without_keyed_digits_is_inconclusive(judge: Fixture, gapped: Fixture) -> None:
    """A missing trace, or one that does not show the keypad, says nothing."""
    for code, noun, evidence in (
        ("trace_absent", "trace", gapped({}, transcript=[])),
        ("dtmf_absent", "keypad", gapped({"dtmf": "absent"}, trace=[])),
    ):
        for fields in ({}, {"absent": True}):
            result = judge(dtmf(**fields), evidence)
            assert (result["status"], result["code"]) == ("INCONCLUSIVE", code)
            assert result["public_reason"] == f"required {noun} evidence was missing"


@pytest.mark.parametrize("state", ["truncated", "partial", "redacted"])
def test_incomplete_digits_prove_only_those_that_are_there(
    judge: Fixture, gapped: Fixture, state: str
) -> None:
    """The others may be in the missing part."""
    evidence = gapped({"dtmf": state}, trace=TRACE)
    assert judge(dtmf("23"), evidence)["status"] == "PASS"
    assert judge(dtmf("23", absent=True), evidence)["status"] == "FAIL"
    for fields in ({}, {"absent": True}):
        result = judge(dtmf("99", **fields), evidence)
        assert (result["status"], result["code"]) == ("INCONCLUSIVE", "channel_truncated")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"digits": 123}, [("wrong_type", "digits")]),
        ({"digits": ""}, [("empty_value", "digits")]),
        ({"absent": 1}, [("wrong_type", "absent")]),
        ({"digit": "1"}, [("unknown_field", "digit")]),
    ],
)
def test_mistakes_are_told_with_their_places(
    problems_of: Fixture, fields: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    """Every mistake of a dtmf is found before anything runs."""
    assert problems_of(dtmf(**fields)) == expected
    assert problems_of({"kind": "dtmf"}) == [("missing_field", "")]
