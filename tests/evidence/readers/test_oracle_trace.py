from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import UNSET
from mutants import mutants, survives

from averment.evidence import Evidence
from averment.evidence.readers import oracle_trace
from samples import sample

Judge = Callable[..., Any]

TRACE = json.loads(sample("oracle_trace/loan.json").read_text())


def read(value: Any) -> Evidence:
    """The evidence of one value."""
    return Evidence.from_bytes(json.dumps(value).encode())


def test_every_entry_is_an_executed_call() -> None:
    """A refusal is a failed call; an entry without a result had none."""
    model = Evidence.load(sample("oracle_trace/loan.json")).model
    assert [(c.name, c.args, c.status, c.error) for c in model.calls or ()] == [
        ("get_book", {"book_id": "BK-1"}, "ok", UNSET),
        (
            *("lend", {"book_id": "BK-1", "patron": "P-9"}, "error"),
            {"code": "unknown_patron", "id": "P-9"},
        ),
        ("ping", {}, "executed", UNSET),
    ]
    assert (model.calls or ())[2].result is UNSET
    assert next(c.loc for c in model.calls or ()) == "src_0#$.trace[0]"
    assert (model.sources[0].records, model.sources[0].records_read) == (3, 3)
    assert (model.turns, model.coverage.transcript.state) == (None, "absent")


def test_the_state_is_the_system_of_record(judge: Judge) -> None:
    """Rows by resource are records; the task and the context are metadata."""
    evidence = Evidence.load(sample("oracle_trace/loan.json"))
    model = evidence.model
    assert [(each.resource, len(each.rows)) for each in model.states or ()] == [("books", 1), ("loans", 0)]
    assert model.metadata == {"task": TRACE["task"], "ctx": {"seed": 7}}
    assert model.conversation_id == "loan-0001"
    other = read({"trace": TRACE["trace"], "state": {"count": 3}}).model
    assert (other.states, other.metadata) == (None, {"state": {"count": 3}})
    result = judge({"kind": "phrase", "regex": "lent"}, evidence)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "transcript")


def test_no_results_are_not_missing_results(judge: Judge) -> None:
    """An oracle writes down what there was: a result that is not there was none."""
    evidence = Evidence.load(sample("oracle_trace/loan.json"))
    assert judge({"kind": "tool_error", "name": "lend"}, evidence)["status"] == "PASS"
    assert judge({"kind": "tool_error", "name": "get_book", "absent": True}, evidence)["status"] == "PASS"
    assert judge({"kind": "tool_call", "name": "return_book", "absent": True}, evidence)["status"] == "PASS"


def test_a_list_alone_is_a_trace() -> None:
    """In the order of the list."""
    model = read(TRACE["trace"]).model
    assert [(c.name, c.seq) for c in model.calls or ()] == [("get_book", 0), ("lend", 1), ("ping", 2)]


def test_an_entry_that_is_no_object_leaves_a_gap(judge: Judge) -> None:
    """It may have been any call."""
    evidence = read({"trace": [*TRACE["trace"] * 20, 7], "task": {}})
    assert [note.code for note in evidence.model.notes] == ["call_unreadable"]
    result = judge({"kind": "tool_call", "name": "return_book", "absent": True}, evidence)
    assert result["status"] == "INCONCLUSIVE"


@pytest.mark.parametrize(
    "value",
    [
        [{"tool": "x"}],
        [{"type": "tool_call", "tool": "x", "arguments": {}}],
        [{"role": "tool", "tool": "x", "result": 1}],
        {"trace": TRACE["trace"], "transcript": []},
        {"trace": []},
        [],
        None,
    ],
)
def test_what_others_write_does_not_fit(value: Any) -> None:
    """A call needs a tool and arguments or a result."""
    assert oracle_trace.fits(value) is None


def test_hostile_values_are_read_or_refused() -> None:
    """Whatever stands in the place of a value, nothing but a refusal is raised."""
    for value in (TRACE, TRACE["trace"]):
        for mutant in mutants(value):
            survives(mutant)
