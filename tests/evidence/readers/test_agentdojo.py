from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import UNSET
from mutants import mutants, survives

from averment.errors import EvidenceError
from averment.evidence import Evidence
from samples import all_counts, real, sample

Judge = Callable[..., Any]
COUNTED = ("turns", "calls", "results", "errors")


def whole() -> Any:
    """The sample as a value."""
    return json.loads(sample("agentdojo/run.json").read_text())


def read(**changes: Any) -> Evidence:
    """The evidence of the sample, changed."""
    return Evidence.from_bytes(json.dumps(whole() | changes).encode())


def test_parts_of_a_text_are_joined() -> None:
    """Text stands in `content` of a part; what the model thought is not said."""
    model = read().model
    assert [(turn.role_raw, turn.said, turn.text) for turn in model.turns or ()] == [
        ("system", False, "You help a bakery."),
        ("user", True, "Which orders are due,\nand cancel order 7."),
        ("assistant", True, "I cancel it now."),
        ("assistant", True, "It is baked already."),
    ]
    assert [note.detail for note in model.notes] == ["a reasoning part is not read"]


def test_answers_belong_to_the_call_of_their_id() -> None:
    """Two calls of one name in one step, answered in another order; YAML stays text."""
    calls = read().model.calls or ()
    assert [(call.id, call.args, call.result, call.status) for call in calls] == [
        ("c1", {"day": "today"}, "- id: 7\n  item: rye", "ok"),
        ("c2", {"day": "tomorrow"}, "- id: 8", "ok"),
        ("c3", {"id": 7}, UNSET, "error"),
    ]
    assert calls[2].error == "ValueError: it is baked already"
    assert calls[0].loc == "src_0#$.messages[2].tool_calls[0]"


def test_the_verdict_of_the_benchmark_is_metadata() -> None:
    """`utility` and `security` decide nothing here."""
    metadata = read().model.metadata
    assert metadata is not None
    assert (metadata["utility"], metadata["security"]) == (False, True)


def test_a_run_that_broke_is_told() -> None:
    """An error of the run is no error of a call."""
    model = read(error="503", messages=whole()["messages"][:2]).model
    assert [note.code for note in model.notes] == ["run_failed"]
    assert model.calls == ()
    assert model.metadata is not None
    assert model.metadata["error"] == "503"


def test_answers_without_the_key_error_leave_errors_open(judge: Judge) -> None:
    """A format without the flag can't show that nothing went wrong."""
    messages = whole()["messages"]
    for message in messages:
        message.pop("error", None)
    evidence = read(messages=messages)
    result = judge({"kind": "tool_error", "name": "list_orders", "absent": True}, evidence)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "errors")
    assert result["evidence_gap"]["how"]


def test_http_exchanges_are_not_in_it(judge: Judge) -> None:
    """The format has no place for them, so that none is shown proves nothing."""
    result = judge({"kind": "handoff", "absent": True}, read())
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "handoff")


def test_every_message_is_accounted_for() -> None:
    """Records are messages."""
    source = read(messages=[*whole()["messages"], "x"]).model.sources[0]
    assert (source.records, source.records_read) == (9, 8)


@pytest.mark.parametrize("key", ["suite_name", "pipeline_name", "messages"])
def test_a_run_has_three_keys(key: str) -> None:
    """Without one of them this is no AgentDojo run."""
    value = whole()
    del value[key]
    try:
        found = Evidence.from_bytes(json.dumps(value).encode()).model.sources[0].format
    except EvidenceError:
        return
    assert found != "agentdojo"


def test_no_value_breaks_the_reader() -> None:
    """Whatever stands in place of a part of the sample, it is read or refused."""
    for mutant in mutants(whole()):
        survives(mutant)


REAL = {
    # 34 messages: [0] system, [1] user and the last have a text; `tool_calls` of the 13 before the last are 18;
    # two answers have an `error`, and no other text, as `.messages[] | select(.error)` shows
    "luna__codex2__government__government__t18.json": (3, 18, 16, 2),
    # system, user, the answer at the end; 4 messages hold 7 `tool_calls`
    "luna__codex1__telecom__telecom__t17.json": (3, 7, 7, 0),
    # `.error` of the run is a 503: system and user alone
    "luna__codex1__airport__airport__t17.json": (2, 0, 0, 0),
    # 6 assistant messages, of which 2 have a text and 4 hold 6 calls
    "luna__codex2__saas__saas__t14.json": (4, 6, 6, 0),
}


@pytest.mark.parametrize("name", REAL)
def test_real_runs(name: str) -> None:
    """Counts by hand with jq: turns, calls, results, errors."""
    (found,) = all_counts(real(f"agentdojo/{name}"))
    assert tuple(found[key] for key in COUNTED) == REAL[name]
