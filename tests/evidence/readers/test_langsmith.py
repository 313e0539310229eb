from __future__ import annotations

import json
from typing import Any

import pytest
from mutants import mutants, survives

import averment
from averment.evidence import Evidence
from averment.evidence.model import EvidenceModel
from samples import all_counts, real, sample

RUNS: dict[str, Any] = json.loads(sample("langsmith/runs.json").read_bytes())


def read(value: Any) -> EvidenceModel:
    """The one conversation of a value."""
    (found,) = Evidence.all_from_bytes(json.dumps(value).encode())
    return found.model


@pytest.fixture(scope="module")
def runs() -> EvidenceModel:
    """The sample: runs of one trace, the last one first."""
    return read(RUNS)


def test_model_runs_are_one_conversation(runs: EvidenceModel) -> None:
    """LangChain's constructors in batches, repeated by the second run."""
    assert [(turn.role_raw, turn.text) for turn in runs.turns or ()] == [
        ("system", "Help with refunds."),
        ("human", "Where is A-17?"),
        ("ai", "In Turin."),
    ]
    assert runs.conversation_id == "thread-2"


def test_tool_runs_are_executions(runs: EvidenceModel) -> None:
    """Their printed input is read, and an error is a failure."""
    assert [(call.id, call.name, call.args, call.status, call.result) for call in (runs.calls or ())[:1]] == [
        ("call_1", "find_order", {"order": "A-17"}, "ok", "Turin")
    ]
    failed = (runs.calls or ())[1]
    assert (failed.name, failed.args, failed.status) == ("refund", {"order": "A-17"}, "error")
    assert failed.error == "CardError('expired')"
    assert (failed.start_ns, failed.end_ns) == (1_767_607_202_500_000_000, 1_767_607_202_750_000_000)


def test_what_was_posted_and_patched_is_one_run() -> None:
    """The SDK sends the beginning and the end of a run apart."""
    whole = RUNS["runs"][0]
    posted = {key: each for key, each in whole.items() if key not in ("outputs", "end_time", "error")}
    patched = {key: whole[key] for key in ("id", "trace_id", "dotted_order", "outputs", "end_time")}
    found = read({"post": [{**posted, "outputs": {}}], "patch": [patched]})
    assert [turn.text for turn in found.turns or ()][-1] == "In Turin."
    assert found.sources[0].records == 1
    del patched["id"]  # the address of the request names it
    patched["dotted_order"] = f"20260105T100003000000Z{whole['id']}"
    assert read({"post": [{**posted, "outputs": {}}], "patch": [patched]}).sources[0].records == 1


def test_a_run_that_never_ended_gave_nothing() -> None:
    """What the model would have said is not there, so nothing can be said not to have been said."""
    whole = RUNS["runs"][0]
    data = json.dumps({"post": [{**whole, "outputs": {}, "end_time": None}]}).encode()
    evidence = Evidence.from_bytes(data)
    assert evidence.model.coverage.transcript.state == "partial"
    document = averment.Document.of(
        {"version": 1, "assertions": [{"id": "never", "kind": "phrase", "regex": "sorry", "absent": True}]}
    )
    result = averment.run(document, evidence).to_dict()["results"][0]
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "transcript")
    assert "export all runs of the trace" in result["evidence_gap"]["how"]


@pytest.mark.parametrize(
    "start", [1_767_607_200_500, "2026-01-05T10:00:00.500", "2026-01-05T11:00:00.5+01:00"]
)
def test_times_are_iso_texts_or_epoch_milliseconds(start: Any) -> None:
    """Each SDK has its way; a text without an offset is in UTC."""
    run = {"id": "a", "run_type": "tool", "name": "f", "start_time": start, "trace_id": "a"}
    call = (read([{**run, "inputs": {"n": 1}, "outputs": {"output": 2}}]).calls or ())[0]
    assert (call.start_ns, call.result) == (1_767_607_200_500_000_000, 2)


def test_children_inside_a_run_are_runs() -> None:
    """Older exports nest them."""
    root, *children = RUNS["runs"][::-1]
    found = read({**root, "child_runs": children})
    assert [call.name for call in found.calls or ()] == ["find_order", "refund"]


def test_odd_values_are_noted_or_refused() -> None:
    """No value at any place stops the reader."""
    for wrong in mutants(RUNS):
        survives(wrong)


@pytest.mark.parametrize(
    "name",
    [
        # .post[0].inputs.messages[0] is the user's, .patch[0].outputs.choices[0].message the model's; there is no
        # tool. Nothing else holds a value, `serialized` and `extra` apart, which are named as not read in no note.
        "langsmith-sdk__integration_tests__test_data__langsmith_py_wrap_openai_.json",
        "langsmith-sdk__tests__test_data__langsmith_js_wrap_openai_reasoning.json",  # the same
    ],
)
def test_real_batches_hold_what_a_person_counts(name: str) -> None:
    """Counted by hand in the files."""
    expected = {"turns": 2, "calls": 0, "results": 0, "errors": 0, "notes": 0}
    assert all_counts(real(f"langsmith/{name}")) == [expected]
    model = Evidence.load(real(f"langsmith/{name}")).model
    assert model.coverage.executions.state == "absent"


def test_runs_that_are_named_and_missing_are_a_gap() -> None:
    """An export of some runs names the others as children."""
    run = {
        "id": "r",
        "trace_id": "r",
        "run_type": "chain",
        "name": "graph",
        "start_time": "2026-01-05T10:00:00Z",
    }
    tool = {**run, "id": "x", "run_type": "tool", "name": "refund", "parent_run_id": "r", "inputs": {"n": 1}}
    tool["outputs"] = {"output": "fine"}
    whole = read([{**run, "child_run_ids": ["x"]}, tool])
    assert whole.coverage.executions.state == "present"
    cut = read([{**run, "child_run_ids": ["x", "y"]}, tool])
    assert "run_missing" in [note.code for note in cut.notes]
    assert cut.coverage.executions.state == "partial"


def test_hidden_outputs_are_no_empty_ones() -> None:
    """With `hide_outputs` a run has `{}`; what the tool answered is not known."""
    tool = {
        "id": "x",
        "trace_id": "x",
        "run_type": "tool",
        "name": "refund",
        "start_time": "2026-01-05T10:00:00Z",
    }
    found = read([{**tool, "inputs": {}, "outputs": {}}])
    assert [(call.args_state, call.result_state) for call in found.calls or ()] == [("absent", "absent")]
    assert found.coverage.results.state == "partial"
    assert "hide_inputs" in str(found.coverage.arguments.how)
