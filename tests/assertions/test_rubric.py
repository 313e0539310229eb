from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Fixture = Callable[..., Any]

FULL = {
    "criterion": "The agent stays kind.",
    "dimension": "conversation",
    "evidence": ["transcript", "tool_trace"],
    "response": {"type": "categorical", "values": ["pass", "fail", "inconclusive"]},
    "examples": {"pass": ["I am sorry to hear that."], "fail": ["That is your problem."]},
    "evaluation": {"model": "m", "repetitions": 3, "confidence_required": 0.85},
    "review": {"human_required_on": ["fail", "disagreement"]},
}


@pytest.mark.parametrize("kind", ["human_rubric", "judge_rubric"])
@pytest.mark.parametrize("fields", [{}, FULL, {"evidence": "transcript"}])
def test_a_rubric_is_never_decided(envelope_of: Fixture, kind: str, fields: dict[str, Any]) -> None:
    """Whatever the evidence; it is counted as open and no judge ever counts."""
    for parts in ({}, {"transcript": [{"role": "agent", "text": "kind words"}], "trace": []}):
        envelope = envelope_of([{"kind": kind, **fields}], **parts)
        (result,) = envelope["results"]
        assert (result["status"], result["code"]) == ("INCONCLUSIVE", "rubric_lane")
        assert result["deterministic"] is True
        assert envelope["summary"]["deterministic"] == {"pass": 0, "fail": 0, "inconclusive": 1}
        assert envelope["summary"]["judge"] == {"pass": 0, "fail": 0}


@pytest.mark.parametrize("kind", ["human_rubric", "judge_rubric"])
def test_an_open_rubric_gates_like_any_open_question(envelope_of: Fixture, kind: str) -> None:
    """Under `refuse` it refuses, unless it is only a note."""
    document = {"inconclusive_policy": "refuse"}
    assert envelope_of([{"kind": kind}], document=document)["exit_code"] == 2
    assert envelope_of([{"kind": kind, "severity": "note"}], document=document)["exit_code"] == 0


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"criteria": "x"}, [("unknown_field", "criteria")]),
        ({"criterion": 5}, [("wrong_type", "criterion")]),
        ({"evidence": [""]}, [("empty_value", "evidence[0]")]),
        ({"response": ["pass"]}, [("wrong_type", "response")]),
        ({"overall_score": 1}, [("unknown_field", "overall_score")]),
    ],
)
def test_a_rubric_has_the_fields_of_its_lane(
    problems_of: Fixture, fields: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    """Difference 1 holds for fields that nothing here reads, too."""
    for kind in ("human_rubric", "judge_rubric"):
        assert problems_of({"kind": kind, **fields}) == expected
