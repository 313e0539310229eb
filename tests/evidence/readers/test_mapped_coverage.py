from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from mappings import (
    CALLS,
    EVERY_CALL_CHANNEL,
    SAMPLES,
    TURNS,
    call,
    loaded,
    notes,
    read,
    state,
    turn,
)

from averment.evidence import Evidence
from averment.evidence.mapping import Mapping, mapped
from samples import sample

Judge = Callable[..., Any]


def test_an_item_that_no_rule_takes_leaves_open_what_it_is(judge: Judge) -> None:
    """An unknown event may be the call that must not be there: it is mapped, ignored or declared away."""
    assertion = {"kind": "tool_call", "name": "refund", "absent": True}
    rules: dict[str, Any] = {"turns": TURNS, "calls": {**CALLS, "result": "/gave"}}
    items = [turn(), {"is": "call2", "tool": "refund"}]
    evidence = read(items, **rules)
    result = judge(assertion, evidence)
    assert (result["status"], result["evidence_gap"]["state"]) == ("INCONCLUSIVE", "partial")
    assert "`ignore`" in result["evidence_gap"]["how"]
    assert notes(evidence, "item_not_taken") == ["no rule of the mapping takes an item"]
    assert judge(assertion, read(items, ignore={"/is": "call2"}, **rules))["status"] == "PASS"
    shows = ["transcript", "requests", "executions", "results"]
    assert judge(assertion, read(items, shows=shows, **rules))["status"] == "PASS"


def test_what_is_mapped_and_not_declared_proves_only_what_it_shows(judge: Judge) -> None:
    """With `shows`, a channel that it leaves out can have what is there, and never lacks anything for sure."""
    rules: dict[str, Any] = {
        "turns": TURNS,
        "calls": {**CALLS, "result": "/gave"},
        "spans": {"type": "handoff", "where": {"/is": "pass"}, "fields": {"to": "/to"}},
    }
    shows = ["transcript", "requests", "executions", "results"]
    evidence = read([turn(), {"is": "pass", "to": "desk"}], shows=shows, **rules)
    assert state(evidence, "handoff") == "partial"
    assert judge({"kind": "handoff", "to": "desk"}, evidence)["status"] == "PASS"
    assert judge({"kind": "handoff", "to": "boss"}, evidence)["status"] == "INCONCLUSIVE"


def test_a_list_that_is_not_there_is_absent_and_not_empty() -> None:
    """Null and nothing are not recorded; an empty list is recorded."""
    fields = {"lines": "conversations", "turns": {"items": "/log", **TURNS}}
    missing: list[dict[str, Any]] = [{"other": 1}, {"log": None}, {"log": {}}]
    for value in missing:
        evidence = read(value, **fields)
        assert (evidence.model.turns, state(evidence, "transcript")) == (None, "absent")
        assert notes(evidence, "pointer_matches_nothing")
    evidence = read({"log": []}, **fields)
    assert (evidence.model.turns, state(evidence, "transcript")) == ((), "empty")


def test_a_misspelt_pointer_is_noted() -> None:
    """A pointer that leads nowhere in any of the items that its rule takes."""
    evidence = read([turn(), turn()], turns={**TURNS, "role": "/wo"})
    assert notes(evidence, "pointer_matches_nothing") == [
        "`turns`: `role` is not at `/wo` in any of the 2 items that the rule takes"
    ]
    evidence = read([turn()], turns=TURNS, calls={**CALLS, "where": {"/si": "call"}})
    assert "`calls`: `where` finds nothing at `/si` in any item" in notes(evidence, "pointer_matches_nothing")
    assert state(evidence, "requests") == "partial"


def test_a_list_that_no_item_has_is_open_until_it_is_declared(judge: Judge) -> None:
    """A conversation without calls has no `/calls` in its items, and so has one whose pointer is misspelt."""
    rules: dict[str, Any] = {
        "turns": TURNS,
        "calls": {"each": "/calls", "name": "/tool", "result": "/gave"},
    }
    assertion = {"kind": "tool_call", "name": "refund", "absent": True}
    assert judge(assertion, read([turn()], **rules))["status"] == "INCONCLUSIVE"
    shows = ["transcript", "requests", "executions", "results"]
    assert judge(assertion, read([turn()], shows=shows, **rules))["status"] == "PASS"
    assert judge(assertion, read([turn(calls=[])], **rules))["status"] == "PASS"


def test_turns_and_calls_of_several_lists_have_no_order_but_that_of_times() -> None:
    """Which came first can't be told from two lists."""
    value = {"said": [turn()], "done": [call(gave=1)]}
    evidence = read(
        value,
        lines="conversations",
        turns={"items": "/said", **TURNS},
        calls={"items": "/done", **CALLS, "result": "/gave"},
    )
    assert [each.seq for each in evidence.model.turns or ()] == [None]
    assert [each.seq for each in evidence.model.calls or ()] == [None]


def test_a_declared_channel_is_absent_where_its_list_is_not_there() -> None:
    """`shows` speaks of the source; a conversation without the list was cut, or the pointer is misspelt."""
    evidence = read(
        {"log": [turn()]},
        lines="conversations",
        turns={"items": "/log", **TURNS},
        calls={"items": "/lg", "each": "/calls", "name": "/tool", "result": "/gave"},
        shows=["transcript", "requests", "executions", "results"],
    )
    assert evidence.model.calls is None
    assert [state(evidence, channel) for channel in EVERY_CALL_CHANNEL] == ["absent"] * 4


def test_an_answer_without_a_call_is_a_call_at_its_place() -> None:
    """Its arguments are not recorded; in the same list it has its place among turns."""
    answers = {"where": {"/is": "answer"}, "id": "/id", "name": "/tool", "result": "/gave"}
    items = [turn(), {"is": "answer", "id": 3, "tool": "refund", "gave": 1}, turn("agent")]
    evidence = read(items, turns=TURNS, calls={**CALLS, "id": "/id"}, answers=answers)
    (found,) = evidence.model.calls or ()
    assert (found.name, found.args_state, found.seq) == ("refund", "absent", 1)
    assert notes(evidence, "result_without_call")


def test_a_conversation_reads_alike_in_a_file_of_its_own_and_in_a_batch() -> None:
    """What is decided about a conversation hangs on nothing else."""
    form = mapped(Mapping.load(sample("mapping/acme.yaml")))
    sessions = json.loads(sample("mapping/acme.json").read_text())["sessions"]
    for whole, session in zip(loaded("acme"), sessions, strict=True):
        alone = Evidence.from_bytes(json.dumps({"sessions": [session]}).encode(), from_format=form)
        assert alone.sha256 == whole.sha256


@pytest.mark.parametrize("name", SAMPLES)
def test_every_record_is_accounted_for(name: str) -> None:
    """Records that are not read stand in a note: ignored, or taken by no rule."""
    for evidence in loaded(name):
        source = evidence.model.sources[0]
        assert source.records is not None
        assert source.records_read is not None
        unread = len(notes(evidence, "item_not_taken"))
        unread += sum("ignores" in detail for detail in notes(evidence, "dropped_key"))
        assert source.records - source.records_read == unread


def test_what_stands_beside_the_mapped_is_counted() -> None:
    """Keys of items that no pointer looks at; an item that is taken whole has none."""
    evidence = read([turn(extra=1), turn(extra=2)], turns=TURNS)
    assert notes(evidence, "dropped_key") == ["`extra` is not read (2 times)"]
    evidence = read([call(extra=1)], calls={**CALLS, "arguments": ""})
    assert notes(evidence, "dropped_key") == []
