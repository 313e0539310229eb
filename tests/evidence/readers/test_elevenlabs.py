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

HOOK = json.loads(sample("elevenlabs/conversation.json").read_text())


def read(value: Any) -> Evidence:
    """The evidence of one value."""
    return Evidence.from_bytes(json.dumps(value).encode())


def of_items(*items: dict[str, Any], **keys: Any) -> Evidence:
    """The evidence of a conversation with these items."""
    timed = [{"time_in_call_secs": 0, **item} for item in items]
    return read({"conversation_id": "c", "agent_id": "a", "status": "done", "transcript": timed, **keys})


def test_what_was_said_and_what_was_meant() -> None:
    """The agent was cut off: the message is what was heard. An item of tools alone is no turn."""
    turns = Evidence.load(sample("elevenlabs/conversation.json")).model.turns or ()
    assert [(t.role_raw, t.text, t.start_ns, t.interrupted) for t in turns] == [
        ("agent", "Garden centre, hello.", 0, False),
        ("user", "Is my rose in stock?", 3_000_000_000, None),
        ("agent", "Yes, we have", 7_000_000_000, True),
    ]
    assert turns[2].original == "Yes, we have nine roses in stock."
    assert all(t.end_ns is None and t.clock == "call_relative" for t in turns)


def test_calls_are_joined_to_their_results_by_request_id() -> None:
    """In whatever order they come; a failure is flagged; a latency of 0 is none."""
    calls = Evidence.load(sample("elevenlabs/conversation.json")).model.calls or ()
    assert [(c.id, c.name, c.status, c.error, c.latency_ms) for c in calls] == [
        ("req_1", "check_stock", "ok", UNSET, None),
        ("req_2", "check_price", "error", "upstream", 1250),
        ("req_3", "transfer_to_agent", "ok", UNSET, None),
    ]
    assert calls[0].args == {"plant": "rose"}
    assert calls[0].result == {"count": 9}


def test_a_transfer_is_a_handoff_and_its_call_says_where(judge: Judge) -> None:
    """The call of the platform's own tool is executed by the span."""
    evidence = Evidence.load(sample("elevenlabs/conversation.json"))
    handoff, end = evidence.model.spans or ()
    assert (handoff.type, handoff.fields) == ("handoff", {"to": "agent-till", "from": "agent-garden"})
    assert (end.type, end.fields) == ("call_ended", {"reason": "Call ended by remote party"})
    call = (evidence.model.calls or ())[2]
    assert (call.span_id, call.position) == ("s_0", 0)
    assert judge({"kind": "handoff", "to": "agent-till"}, evidence)["status"] == "PASS"


@pytest.mark.parametrize("change", [{"is_error": True}, {"result": {"status": "error"}}])
def test_a_failed_transfer_is_no_handoff(change: dict[str, Any]) -> None:
    """Its answer says so."""
    hook = copy.deepcopy(HOOK)
    hook["data"]["transcript"][4]["tool_results"][0].update(change)
    assert [s.type for s in read(hook).model.spans or ()] == ["call_ended"]


def test_the_agent_ends_the_call_by_a_tool() -> None:
    """Then it is known who did."""
    evidence = of_items(
        {
            "role": "agent",
            "message": "Bye.",
            "tool_calls": [{"request_id": "r", "tool_name": "end_call", "params_as_json": '{"reason": "x"}'}],
            "tool_results": [
                {"request_id": "r", "tool_name": "end_call", "result_value": "ok", "is_error": False}
            ],
        },
        metadata={"termination_reason": "end_call tool was called."},
    )
    (span,) = evidence.model.spans or ()
    assert span.fields == {"reason": "end_call tool was called.", "by": "agent"}


def test_null_is_not_recorded_and_an_empty_list_is_none(judge: Judge) -> None:
    """Reserve case of section 7: with null, whether a tool was called is open; with [], none was."""
    assertion = {"kind": "tool_call", "name": "pay", "absent": True}
    silent = of_items({"role": "agent", "message": "hi", "tool_calls": None, "tool_results": None})
    assert silent.model.calls is None
    result = judge(assertion, silent)
    assert result["status"] == "INCONCLUSIVE"
    assert result["evidence_gap"]["channel"] == "executions"
    assert "GET /v1/convai/conversations" in result["evidence_gap"]["how"]
    none = of_items({"role": "agent", "message": "hi", "tool_calls": [], "tool_results": None})
    assert none.model.calls == ()
    assert judge(assertion, none)["status"] == "PASS"


def test_null_in_some_turns_leaves_an_absence_open(judge: Judge) -> None:
    """What was called in those is not known."""
    evidence = of_items(
        {"role": "agent", "message": "hi", "tool_calls": []},
        {"role": "agent", "message": "ho", "tool_calls": None},
    )
    assert judge({"kind": "tool_call", "name": "pay", "absent": True}, evidence)["status"] == "INCONCLUSIVE"


def test_calls_without_recorded_results_are_requests() -> None:
    """`tool_results: null` in each turn: nothing is known of how they went."""
    call = {"request_id": "r", "tool_name": "pay", "params_as_json": '{"sum": 1}'}
    model = of_items({"role": "agent", "message": None, "tool_calls": [call], "tool_results": None}).model
    assert [c.status for c in model.calls or ()] == ["requested"]
    assert model.coverage.results.state == "absent"


def test_a_tool_that_was_not_called_was_only_requested() -> None:
    """`tool_has_been_called` says so."""
    call = {
        "request_id": "r",
        "tool_name": "pay",
        "params_as_json": '{"sum": 1}',
        "tool_has_been_called": False,
    }
    model = of_items({"role": "agent", "message": None, "tool_calls": [call], "tool_results": []}).model
    assert [c.status for c in model.calls or ()] == ["requested"]


def test_facts_are_metadata() -> None:
    """Of the call, of its analysis and of its beginning."""
    metadata = Evidence.load(sample("elevenlabs/conversation.json")).model.metadata or {}
    assert (metadata["cost"], metadata["call_duration_secs"]) == (40, 11)
    assert metadata["dynamic_variables"] == {"plant": "rose"}
    assert metadata["analysis"]["call_successful"] == "success"


def test_a_conversation_that_goes_on_never_proves_an_absence(judge: Judge) -> None:
    """Nor does one whose transcript was deleted."""
    phrase = {"kind": "phrase", "regex": "no", "absent": True}
    running = of_items({"role": "agent", "message": "hi", "tool_calls": []}, status="in-progress")
    assert judge(phrase, running)["status"] == "INCONCLUSIVE"
    deletion = {"deletion_settings": {"deleted_transcript_at_time_unix_secs": 1767261600}}
    deleted = of_items({"role": "agent", "message": "hi", "tool_calls": []}, metadata=deletion)
    assert deleted.model.coverage.transcript.state == "redacted"
    assert judge(phrase, deleted)["status"] == "INCONCLUSIVE"


def test_a_simulated_conversation_is_read_alike() -> None:
    """Its items are those of a transcript."""
    items = HOOK["data"]["transcript"]
    model = read({"simulated_conversation": items, "analysis": {}}).model
    assert (len(model.turns or ()), len(model.calls or ())) == (3, 3)


def test_every_item_is_accounted_for() -> None:
    """One with neither words nor tools is noted and not read."""
    model = of_items({"role": "agent", "message": "hi"}, {"role": "user", "message": None}).model
    assert (model.sources[0].records, model.sources[0].records_read) == (2, 1)


@pytest.mark.parametrize(
    "value",
    [
        {"type": "post_call_audio", "data": {"conversation_id": "x"}},
        {"type": "post_call_transcription", "data": 5},
    ],
)
def test_what_is_no_conversation_is_not_taken_for_one(value: Any) -> None:
    """The webhook of the audio holds no words."""
    with pytest.raises(EvidenceError):
        read(value)


def test_a_conversation_record_is_not_taken_for_one() -> None:
    """Averment's own record has an id and a transcript as well."""
    record = {"conversation_id": "c", "transcript": [{"role": "agent", "text": "hi"}]}
    assert read(record).model.sources[0].format == "conversation"


def test_no_value_breaks_the_reader() -> None:
    """Whatever stands in place of a part of the sample, it is read or refused."""
    hook = copy.deepcopy(HOOK)
    del hook["data"]["transcript"][1:3]
    for mutant in mutants(hook):
        survives(mutant)


def test_the_documented_webhook() -> None:
    """`$.data.transcript` has three messages; every `tool_calls` and `tool_results` is null."""
    evidence = Evidence.load(real("elevenlabs/11labs_docs_webhooks_0.json"))
    assert counts(evidence) == {
        "turns": 3,  # $.data.transcript[0..2].message
        "calls": 0,
        "results": 0,
        "errors": 0,
        "notes": 2,  # conversation_turn_metrics of [2]; metadata.authorization_method
    }
    model = evidence.model
    assert model.calls is None
    assert model.spans is None  # $.data.metadata.termination_reason is the empty text
    assert [t.start_ns for t in model.turns or ()] == [0, 2_000_000_000, 9_000_000_000]  # time_in_call_secs
    assert model.coverage.executions.state == "absent"


def test_the_audio_webhook_is_refused() -> None:
    """It has `type: post_call_audio`, and audio alone."""
    with pytest.raises(EvidenceError) as error:
        Evidence.load_all(real("elevenlabs/11labs_docs_post-call-webhook_1.json"))
    assert error.value.problems[0].code == "unsupported_format"


def tool(**result: Any) -> Evidence:
    """The evidence of one call and its result."""
    call = {"request_id": "r", "tool_name": "refund", "params_as_json": "{}", "tool_has_been_called": True}
    answer = {"request_id": "r", "tool_name": "refund", **result}
    return of_items({"role": "agent", "message": "hi", "tool_calls": [call], "tool_results": [answer]})


def test_a_result_without_a_flag_says_not_how_the_call_went(judge: Judge) -> None:
    """And one that says that it failed outweighs the flag, which says that it was delivered."""
    none = {"kind": "tool_error", "name": "refund", "absent": True}
    assert judge(none, tool(result_value="done"))["status"] == "INCONCLUSIVE"
    assert judge(none, tool(result_value="done", is_error=None))["status"] == "INCONCLUSIVE"
    assert judge(none, tool(result_value="done", is_error=False))["status"] == "PASS"
    assert judge(none, tool(result_value='{"success": false}', is_error=False))["status"] == "FAIL"


def test_a_result_without_its_value_may_be_any(judge: Judge) -> None:
    """As where it was removed."""
    result = judge({"kind": "tool_result", "name": "refund", "result": "done"}, tool(is_error=False))
    assert result["status"] == "INCONCLUSIVE"


def test_a_call_that_was_made_was_made_without_a_result_too(judge: Judge) -> None:
    """`tool_has_been_called` says so, as of a tool that expects no answer; how it went is not known."""
    call = {
        "request_id": "r",
        "tool_name": "refund",
        "params_as_json": '{"n": 1}',
        "tool_has_been_called": True,
    }
    missing: tuple[Any, ...] = ([], None)
    for results in missing:
        evidence = of_items({"role": "agent", "message": "hi", "tool_calls": [call], "tool_results": results})
        assert judge({"kind": "tool_call", "name": "refund", "args": {"n": 1}}, evidence)["status"] == "PASS"
        assert (
            judge({"kind": "tool_error", "name": "refund", "absent": True}, evidence)["status"]
            == "INCONCLUSIVE"
        )
        asked = {"kind": "tool_result", "name": "refund", "result": "x"}
        assert judge(asked, evidence)["status"] == "INCONCLUSIVE"


def test_an_empty_transcript_of_a_call_that_lasted_was_not_kept() -> None:
    """As with zero retention; a call of no length has nothing to keep."""
    for seconds, state in ((40, "redacted"), (0, "empty"), (None, "empty")):
        model = of_items(metadata={"call_duration_secs": seconds}).model
        assert model.coverage.transcript.state == state
