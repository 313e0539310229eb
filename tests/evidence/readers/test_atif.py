from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from mutants import mutants, survives

from averment.evidence import Evidence
from averment.evidence.readers import atif
from samples import all_counts, real, sample

Judge = Callable[..., Any]

WALK = json.loads(sample("atif/walk.json").read_text())


def read(value: Any) -> Evidence:
    """The evidence of one value."""
    return Evidence.from_bytes(json.dumps(value).encode())


def test_steps_are_turns_and_calls() -> None:
    """Results go by the id of their call, or in order within their step; a step without words is no turn."""
    model = Evidence.load(sample("atif/walk.json")).model
    start = 1772355600 * 10**9
    assert [(t.role_raw, t.role, t.text, t.said) for t in model.turns or ()] == [
        ("system", "system", "You plan walks.", False),
        ("user", "user", "A short walk.", True),
        ("agent", "agent", "I look for one.", True),
        ("agent", "agent", "The river walk, with an umbrella.", True),
    ]
    assert [((t.start_ns or 0) - start, t.clock) for t in model.turns or ()] == [
        (0, "epoch"),
        (10**9, "epoch"),
        (2_250_000_000, "epoch"),
        (4 * 10**9, "epoch"),
    ]
    assert [(c.id, c.name, c.args, c.result, c.status) for c in model.calls or ()] == [
        ("w1", "find_walk", {"km": 3}, {"walk": "river"}, "executed"),
        ("w2", "weather", {"day": "today"}, "rain", "executed"),
        ("w3", "save", {"walk": "river"}, "saved", "executed"),
    ]
    assert (model.conversation_id, model.sources[0].records, model.sources[0].records_read) == (
        "walk-1",
        5,
        5,
    )
    assert (model.metadata or {})["final_metrics"] == {"total_steps": 5}


def test_failures_are_not_flagged(judge: Judge) -> None:
    """What a tool answered may tell; the format doesn't."""
    evidence = Evidence.load(sample("atif/walk.json"))
    result = judge({"kind": "tool_error", "name": "save", "absent": True}, evidence)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "errors")
    assert judge({"kind": "tool_call", "name": "book", "absent": True}, evidence)["status"] == "PASS"


def test_what_stands_in_other_files_is_a_gap(judge: Judge) -> None:
    """Sub-agents may have called what the agent didn't; a continuation goes on."""
    steps = json.loads(json.dumps(WALK["steps"]))
    steps[3]["observation"]["results"][0]["subagent_trajectory_ref"] = [{"session_id": "other"}]
    evidence = read({**WALK, "steps": steps})
    result = judge({"kind": "tool_call", "name": "book", "absent": True}, evidence)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "executions")
    assert judge({"kind": "phrase", "regex": "boat", "absent": True}, evidence)["status"] == "PASS"
    continued = read({**WALK, "continued_trajectory_ref": "walk-2.json"})
    assert judge({"kind": "phrase", "regex": "boat", "absent": True}, continued)["status"] == "INCONCLUSIVE"


def test_an_observation_without_a_call_answers_none(judge: Judge) -> None:
    """An agent that writes its commands into its messages shows no calls."""
    steps = [{"source": "agent", "message": "ls", "observation": {"results": [{"content": "a.txt"}]}}]
    evidence = read({**WALK, "steps": steps})
    assert not evidence.model.calls
    result = judge({"kind": "tool_call", "name": "ls", "absent": True}, evidence)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "executions")
    silent = read({**WALK, "steps": WALK["steps"][:2]})
    assert judge({"kind": "tool_call", "name": "ls", "absent": True}, silent)["status"] == "PASS"


@pytest.mark.parametrize("value", [{"schema_version": 1}, {"steps": []}, {}, [], None, {"a": {}, "b": WALK}])
def test_what_others_write_does_not_fit(value: Any) -> None:
    """The version says ATIF."""
    assert atif.fits(value) is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # $.steps[0..4] all have a message; tool_calls in [1] (three) and [3] (one), each with a result;
        # notes: reasoning_content, metrics, extra
        ("multi_tool_trajectory", [{"turns": 5, "calls": 4, "results": 4, "errors": 0, "notes": 3}]),
        # $.steps[0..5]; a call in [4] with its result, one in [5] without; notes: metrics
        ("harbor_openhands", [{"turns": 6, "calls": 2, "results": 1, "errors": 0, "notes": 1}]),
        # $.steps[0..4]; a call and its result without an id in each of [2], [3] and [4]; the observation of [1]
        # answers no call; notes: that, reasoning_content, metrics
        ("harbor_terminus2_invalid_json", [{"turns": 5, "calls": 3, "results": 3, "errors": 0, "notes": 3}]),
        (
            "subagent_trajectories",
            [
                # $.parent.steps[0..2], a call in [1]; notes: the sub-agent's trajectory, metrics
                {"turns": 3, "calls": 1, "results": 1, "errors": 0, "notes": 2},
                # $.child.steps[0..2]; notes: is_copied_context, metrics
                {"turns": 3, "calls": 0, "results": 0, "errors": 0, "notes": 2},
            ],
        ),
    ],
)
def test_real_files(name: str, expected: list[dict[str, int]]) -> None:
    """What stands in them, counted by hand."""
    assert all_counts(real(f"atif-trajectory/phoenix__atif__fixtures__{name}.json")) == expected


def test_hostile_values_are_read_or_refused() -> None:
    """Whatever stands in the place of a value, nothing but a refusal is raised."""
    for mutant in mutants(WALK):
        survives(mutant)
    for mutant in mutants({"parent": {**WALK, "steps": []}, "child": {**WALK, "steps": []}}):
        survives(mutant)
