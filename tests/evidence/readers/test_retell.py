from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from msgspec import UNSET
from mutants import mutants, survives

from averment.errors import EvidenceError
from averment.evidence import Evidence
from samples import counts, real, sample

Judge = Callable[..., Any]

HOOK = json.loads(sample("retell/call_ended.json").read_text())


def read(value: Any) -> Evidence:
    """The evidence of one value."""
    return Evidence.from_bytes(json.dumps(value).encode())


def changed(**keys: Any) -> Evidence:
    """The evidence of the sample's call with some keys changed, and those that are None left out."""
    call = {**copy.deepcopy(HOOK["call"]), **keys}
    return read({key: value for key, value in call.items() if value is not None})


def test_turns_last_from_their_first_word_to_their_last() -> None:
    """Seconds since the start of the call."""
    model = Evidence.load(sample("retell/call_ended.json")).model
    assert [(t.role_raw, t.role, t.start_ns, t.end_ns, t.clock) for t in model.turns or ()] == [
        ("agent", "agent", 500_000_000, 2_000_000_000, "call_relative"),
        ("user", "user", 3_000_000_000, 4_500_000_000, "call_relative"),
        ("agent", "agent", 7_250_000_000, 9_150_000_000, "call_relative"),
    ]
    assert model.conversation_id == "museum-17"


def test_calls_are_joined_to_their_results_by_id() -> None:
    """In whatever order the results come; an empty text is no arguments; no result is none."""
    calls = Evidence.load(sample("retell/call_ended.json")).model.calls or ()
    assert [(c.id, c.name, c.args, c.result, c.status) for c in calls] == [
        ("tc_a", "find_slot", {"day": "Friday", "tickets": 2}, {"slot": "10:30"}, "executed"),
        ("tc_b", "price_of", {}, "no price list today", "executed"),
        ("tc_c", "book_slot", {"slot": "10:30"}, UNSET, "unanswered"),
    ]
    assert all(c.start_ns is None and c.latency_ms is None for c in calls)


def test_events_are_spans(judge: Judge) -> None:
    """Digits, nodes, the transfer and the end; none of them is speech."""
    evidence = Evidence.load(sample("retell/call_ended.json"))
    assert [s.type for s in evidence.model.spans or ()] == [
        "node_transition",
        "dtmf",
        "handoff",
        "call_ended",
    ]
    assert judge({"kind": "dtmf", "digits": "2"}, evidence)["status"] == "PASS"
    assert judge({"kind": "dtmf", "digits": "3"}, evidence)["status"] == "FAIL"
    assert judge({"kind": "handoff", "to": "guide-desk"}, evidence)["status"] == "PASS"
    assert judge({"kind": "termination", "reason": "call_transfer"}, evidence)["status"] == "PASS"


def test_words_and_tools_have_one_order(judge: Judge) -> None:
    """Tools have no times; the order of the list is what there is."""
    evidence = Evidence.load(sample("retell/call_ended.json"))
    steps = [{"phrase": "for Friday"}, {"tool": "find_slot"}, {"phrase": "is free"}]
    assert judge({"kind": "sequence", "steps": steps}, evidence)["status"] == "PASS"
    assert judge({"kind": "sequence", "steps": steps[::-1]}, evidence)["status"] == "FAIL"


def test_a_latency_of_tools_is_open(judge: Judge) -> None:
    """Never told from the neighbours in the list."""
    evidence = Evidence.load(sample("retell/call_ended.json"))
    assertion = {"kind": "latency", "tool": "find_slot", "max_ms": 9000}
    assert judge(assertion, evidence)["status"] == "INCONCLUSIVE"


def test_a_duration_that_contradicts_the_times_is_noted() -> None:
    """Tricky input 12 of section 7: the platform's own example has ten seconds for twenty-one."""
    codes = [note.code for note in changed(duration_ms=10_000).model.notes]
    assert "duration_conflict" in codes
    assert "duration_conflict" not in [note.code for note in changed().model.notes]


@pytest.mark.parametrize(("flag", "status"), [(True, "ok"), (False, "error"), ("no", "executed")])
def test_a_result_may_say_whether_the_tool_failed(flag: Any, status: str) -> None:
    """Only a boolean says so."""
    items = [
        {"role": "tool_call_invocation", "tool_call_id": "a", "name": "x", "arguments": '{"a": 1}'},
        {"role": "tool_call_result", "tool_call_id": "a", "content": "no", "successful": flag},
    ]
    model = changed(transcript_with_tool_calls=items).model
    assert (model.calls or ())[0].status == status
    assert model.coverage.errors.state == ("partial" if flag == "no" else "present")


def test_without_the_list_with_tools_nothing_is_known_of_tools(judge: Judge) -> None:
    """`transcript_object` holds utterances alone."""
    evidence = changed(transcript_with_tool_calls=None)
    assert counts(evidence)["turns"] == 3
    assert evidence.model.calls is None
    result = judge({"kind": "tool_call", "name": "find_slot", "absent": True}, evidence)
    assert result["status"] == "INCONCLUSIVE"
    assert result["evidence_gap"]["channel"] == "executions"
    assert "transcript_with_tool_calls" in result["evidence_gap"]["how"]
    assert judge({"kind": "dtmf", "digits": "2", "absent": True}, evidence)["status"] == "INCONCLUSIVE"


def test_a_scrubbed_call_never_proves_an_absence(judge: Judge) -> None:
    """What was removed may be what is looked for."""
    evidence = changed(transcript_with_tool_calls=None, transcript_object=None, transcript=None)
    assert counts(evidence)["turns"] == 1
    assert evidence.model.coverage.transcript.state == "redacted"
    assert judge({"kind": "phrase", "regex": "Friday", "absent": True}, evidence)["status"] == "INCONCLUSIVE"


def test_where_both_are_there_the_scrubbed_twin_is_not_read() -> None:
    """It is the same call again."""
    model = Evidence.load(sample("retell/call_ended.json")).model
    assert model.coverage.transcript.state == "present"
    assert any("scrubbed" in note.detail for note in model.notes)


def test_a_call_that_goes_on_never_proves_an_absence(judge: Judge) -> None:
    """`transcript_updated` and `call_started` come while it does."""
    evidence = changed(call_status="ongoing", disconnection_reason=None)
    result = judge({"kind": "tool_call", "name": "charge", "absent": True}, evidence)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "executions")


def test_a_call_without_a_transcript_is_silent_about_words() -> None:
    """Absent, not empty."""
    model = read({"call_id": "x", "call_status": "not_connected", "disconnection_reason": "dial_busy"}).model
    assert model.turns is None
    assert model.coverage.transcript.state == "absent"
    assert [(s.type, s.fields) for s in model.spans or ()] == [("call_ended", {"reason": "dial_busy"})]


def test_a_page_holds_several_calls() -> None:
    """Each is a conversation, also in a plain list."""
    call = HOOK["call"]
    page = {"items": [call, {**call, "call_id": "museum-18"}], "has_more": False, "pagination_key": "k"}
    for value in (page, page["items"]):
        found = Evidence.all_from_bytes(json.dumps(value).encode())
        assert [each.model.conversation_id for each in found] == ["museum-17", "museum-18"]


def test_every_item_is_accounted_for() -> None:
    """What is no object, and an utterance without a text, are noted and not read."""
    model = changed(
        transcript_with_tool_calls=[{"role": "agent", "content": "hi"}, 7, {"role": "user"}]
    ).model
    assert (model.sources[0].records, model.sources[0].records_read) == (3, 1)
    assert {"item_not_object", "dropped_key"} <= {note.code for note in model.notes}


@pytest.mark.parametrize("value", [{"event": "x", "call": 5}, {"items": [], "has_more": False}])
def test_what_is_no_call_is_not_taken_for_one(value: Any) -> None:
    """Detection asks for keys of a call."""
    with pytest.raises(EvidenceError):
        read(value)


def test_no_value_breaks_the_reader() -> None:
    """Whatever stands in place of a part of the sample, it is read or refused."""
    hook = copy.deepcopy(HOOK)
    items = hook["call"]["transcript_with_tool_calls"]
    for item in items:
        item["words"] = item.get("words", [])[:1]
    del hook["call"]["transcript_object"], hook["call"]["scrubbed_transcript_with_tool_calls"]
    for mutant in mutants(hook):
        survives(mutant)


def test_the_documented_call() -> None:
    """`$.call.transcript_with_tool_calls`: [0], [1], [4] utterances, [2] and [3] one call and its result."""
    evidence = Evidence.load(real("retell/retell_documented_shape.call_ended.json"))
    assert counts(evidence) == {
        "turns": 3,  # [0], [1], [4]
        "calls": 1,  # [2]
        "results": 1,  # [3]
        "errors": 0,
        "notes": 2,  # duration_ms 10000 against 21522 ms; the text `transcript` is not read
    }
    (call,) = evidence.model.calls or ()
    assert (call.id, call.args, call.result) == ("tc_fixture_1", {"location": "main"}, {"hours": "9-5"})
    assert (call.start_ns, call.end_ns, call.latency_ms) == (None, None, None)
    assert "duration_conflict" in [note.code for note in evidence.model.notes]


def test_the_call_with_an_unnamed_tool() -> None:
    """`$.transcript_with_tool_calls`: [0] and [1] utterances, [2] a call with an id in its metadata alone."""
    evidence = Evidence.load(real("retell/futureagi_voice_provider__1.json"))
    assert counts(evidence) == {
        "turns": 2,  # [0], [1]
        "calls": 1,  # [2]
        "results": 0,
        "errors": 0,
        "notes": 2,  # [2] has no name; `metadata` of [0], [1] and [2]
    }
    (call,) = evidence.model.calls or ()
    assert (call.id, call.name, call.args_state, call.status) == ("tc_1", None, "absent", "unanswered")


def test_an_item_of_an_unknown_role_may_be_a_call(judge: Judge) -> None:
    """New kinds of items stand among the utterances."""
    absent = {"kind": "tool_call", "name": "pay", "absent": True}
    said = {"role": "agent", "content": "hi", "words": []}
    assert judge(absent, changed(transcript_with_tool_calls=[said]))["status"] == "PASS"
    other = changed(transcript_with_tool_calls=[said, {"role": "tool_step", "content": "pay"}])
    assert judge(absent, other)["status"] == "INCONCLUSIVE"


def test_a_result_without_its_content_may_be_any() -> None:
    """As where Retell stores no sensitive data."""
    items = [
        {"role": "tool_call_invocation", "tool_call_id": "a", "name": "x", "arguments": "{}"},
        {"role": "tool_call_result", "tool_call_id": "a"},
    ]
    assert [c.result_state for c in changed(transcript_with_tool_calls=items).model.calls or ()] == ["absent"]
