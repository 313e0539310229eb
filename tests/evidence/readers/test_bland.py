from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from mutants import mutants, survives

from averment.errors import EvidenceError
from averment.evidence import Evidence
from samples import counts, real, sample

Judge = Callable[..., Any]

CALL = json.loads(sample("bland/call.json").read_text())


def read(value: Any) -> Evidence:
    """The evidence of one value."""
    return Evidence.from_bytes(json.dumps(value).encode())


def test_turns_have_their_roles_and_moments() -> None:
    """`user` is who speaks; what the agent did is no speech."""
    model = Evidence.load(sample("bland/call.json")).model
    assert [(t.id, t.role_raw, t.role, t.said) for t in model.turns or ()] == [
        ("71", "assistant", "agent", True),
        ("72", "user", "user", True),
        ("73", "agent-action", "other", False),
        ("74", "robot", "agent", True),
    ]
    assert [t.start_ns for t in model.turns or ()][:2] == [
        1_767_261_603_000_000_000,
        1_767_261_606_500_000_000,
    ]
    assert {t.clock for t in model.turns or ()} == {"epoch"}
    assert model.conversation_id == "bakery-4"
    assert (model.sources[0].records, model.sources[0].records_read) == (4, 4)


def test_the_end_and_the_transfer_are_spans(judge: Judge) -> None:
    """With the moments that the call gives them."""
    evidence = Evidence.load(sample("bland/call.json"))
    assert [(s.type, s.fields, s.start_ns) for s in evidence.model.spans or ()] == [
        ("handoff", {"to": "bread-desk"}, 1_767_261_640_000_000_000),
        ("call_ended", {"reason": "completed", "by": "agent"}, 1_767_261_662_000_000_000),
    ]
    assert judge({"kind": "handoff", "to": "bread-desk"}, evidence)["status"] == "PASS"
    assert judge({"kind": "termination", "by": "agent"}, evidence)["status"] == "PASS"


def test_a_call_shows_no_tools(judge: Judge) -> None:
    """So that none was called is open, and so is what was keyed."""
    evidence = Evidence.load(sample("bland/call.json"))
    assert evidence.model.calls is None
    result = judge({"kind": "tool_call", "name": "pay", "absent": True}, evidence)
    assert result["status"] == "INCONCLUSIVE"
    assert result["evidence_gap"]["channel"] == "executions"
    assert "trace" in result["evidence_gap"]["how"]
    assert judge({"kind": "dtmf", "digits": "1", "absent": True}, evidence)["status"] == "INCONCLUSIVE"


def test_a_call_that_says_nothing_of_transfers_leaves_them_open(judge: Judge) -> None:
    """`transferred_to: null` says that there was none; without the key nothing is said."""
    silent = {key: value for key, value in CALL.items() if key != "transferred_to"}
    assert judge({"kind": "handoff", "absent": True}, read(silent))["status"] == "INCONCLUSIVE"
    assert (
        judge({"kind": "handoff", "absent": True}, read({**CALL, "transferred_to": None}))["status"] == "PASS"
    )


def test_facts_are_metadata_in_their_own_units() -> None:
    """Minutes and dollars, as written."""
    metadata = Evidence.load(sample("bland/call.json")).model.metadata or {}
    assert (metadata["call_length"], metadata["price"]) == (1.0, 0.09)


def test_a_list_holds_several_calls() -> None:
    """Each is a conversation."""
    found = Evidence.all_from_bytes(json.dumps({"calls": [CALL, {**CALL, "call_id": "bakery-5"}]}).encode())
    assert [each.model.conversation_id for each in found] == ["bakery-4", "bakery-5"]


@pytest.mark.parametrize("value", [{"transcripts": []}, {"transcripts": [{"text": "x"}]}, {"calls": []}])
def test_what_is_no_call_is_not_taken_for_one(value: Any) -> None:
    """Detection asks for utterances, or for keys of a call."""
    with pytest.raises(EvidenceError):
        read(value)


def test_no_value_breaks_the_reader() -> None:
    """Whatever stands in place of a part of the sample, it is read or refused."""
    for value in (CALL, {"calls": [CALL]}):
        for mutant in mutants(value):
            survives(mutant)


def test_the_real_call() -> None:
    """`$.transcripts` has two utterances, without moments; `$.completed` is true and `$.status` is completed."""
    evidence = Evidence.load(real("bland/futureagi_bland_1.json"))
    assert counts(evidence) == {"turns": 2, "calls": 0, "results": 0, "errors": 0, "notes": 0}
    assert all(t.start_ns is None for t in evidence.model.turns or ())
    (span,) = evidence.model.spans or ()
    assert span.fields == {"reason": "completed"}
    assert span.start_ns == 1_781_035_265_000_000_000  # $.end_at, 2026-06-09T20:01:05Z
