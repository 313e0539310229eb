from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Fixture = Callable[..., Any]


def handoff(**fields: Any) -> dict[str, Any]:
    return {"kind": "handoff", **fields}


def handed(**fields: Any) -> dict[str, Any]:
    return {"type": "handoff", **fields}


TRACE = [handed(to="human"), {"type": "tool_call", "name": "x"}, handed(attributes={"target": "billing"})]


def test_any_handoff_passes_with_all_of_them_as_grounds(judge: Fixture) -> None:
    """Without a target every handoff is what is looked for; other spans with a name are not."""
    result = judge(handoff(), trace=TRACE)
    assert (result["status"], result["span_ids"]) == ("PASS", ["s_0", "s_2"])
    assert judge(handoff(to="x"), trace=TRACE)["status"] == "FAIL"


@pytest.mark.parametrize(
    ("span", "matches"),
    [
        (handed(to="a"), True),
        (handed(target="a"), True),
        (handed(name="a"), True),
        (handed(attributes={"to": "a"}, name="b"), True),
        (handed(to="b", target="a"), False),
        (handed(to=None, target="a"), True),
        (handed(to="A"), False),
        (handed(to=["a"]), False),
        (handed(), False),
    ],
)
def test_the_target_is_the_first_that_is_there_exactly(
    judge: Fixture, span: dict[str, Any], matches: bool
) -> None:
    """`to` comes before `target`, and `target` before `name`, each at the top before among the attributes."""
    assert judge(handoff(to="a"), trace=[span])["status"] == ("PASS" if matches else "FAIL")
    assert judge(handoff(to="a", absent=True), trace=[span])["status"] == ("FAIL" if matches else "PASS")


def test_a_handoff_to_somebody_else_says_to_whom(judge: Fixture) -> None:
    """The grounds are the handoffs that there are."""
    result = judge(handoff(to="legal"), trace=TRACE)
    assert (result["status"], result["code"], result["span_ids"]) == (
        "FAIL",
        "value_mismatch",
        ["s_0", "s_2"],
    )
    assert result["reason"] == (
        'a handoff to `legal` must occur, and does not; it was handed to "human", "billing"'
    )
    assert result["public_reason"] == "the handoff to legal is not as required"


def test_no_handoff_at_all_is_not_found(judge: Fixture) -> None:
    """An empty trace shows that there was none, whatever was promised."""
    said = [{"role": "agent", "text": "I am transferring you to legal."}]
    for fields in ({}, {"to": "legal"}):
        result = judge(handoff(**fields), trace=[], transcript=said)
        assert (result["status"], result["code"]) == ("FAIL", "not_found")
        assert result["reason"].endswith("must occur, and does not")
    assert judge(handoff(to="the team"), trace=[])["public_reason"] == "a handoff is not as required"


def test_absent_forbids_such_a_handoff(judge: Fixture) -> None:
    """Of the others none is forbidden."""
    result = judge(handoff(to="billing", absent=True), trace=TRACE)
    assert (result["status"], result["code"], result["span_ids"]) == ("FAIL", "found_but_forbidden", ["s_2"])
    assert result["reason"] == "a handoff to `billing` must not occur, and does: s_2"
    passing = judge(handoff(to="legal", absent=True), trace=TRACE)
    assert passing["status"] == "PASS"
    assert "span_ids" not in passing


def test_a_source_without_handoffs_is_inconclusive(judge: Fixture, gapped: Fixture) -> None:
    """Tool calls that are recorded say nothing of handoffs, and neither does a missing trace."""
    for code, channel, noun, evidence in (
        ("trace_absent", "executions", "trace", gapped({}, transcript=[])),
        ("handoff_absent", "handoff", "handoff", gapped({"handoff": "absent"}, trace=TRACE[1:2])),
    ):
        for fields in ({}, {"absent": True}):
            result = judge(handoff(**fields), evidence)
            assert (result["status"], result["code"]) == ("INCONCLUSIVE", code)
            assert result["evidence_gap"]["channel"] == channel
            assert result["public_reason"] == f"required {noun} evidence was missing"


@pytest.mark.parametrize("state", ["truncated", "partial", "redacted"])
def test_incomplete_handoffs_prove_only_those_that_are_there(
    judge: Fixture, gapped: Fixture, state: str
) -> None:
    """The one that is looked for may be in the missing part."""
    evidence = gapped({"handoff": state}, trace=TRACE)
    assert judge(handoff(to="human"), evidence)["status"] == "PASS"
    assert judge(handoff(to="human", absent=True), evidence)["status"] == "FAIL"
    for fields in ({"to": "legal"}, {"to": "legal", "absent": True}):
        result = judge(handoff(**fields), evidence)
        assert (result["status"], result["code"]) == ("INCONCLUSIVE", "channel_truncated")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"to": 3}, [("wrong_type", "to")]),
        ({"to": None}, [("wrong_type", "to")]),
        ({"absent": 0}, [("wrong_type", "absent")]),
        ({"target": "x"}, [("unknown_field", "target")]),
    ],
)
def test_mistakes_are_told_with_their_places(
    problems_of: Fixture, fields: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    """Every mistake of a handoff is found before anything runs."""
    assert problems_of(handoff(**fields)) == expected
