from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from mutants import mutants, survives

from averment.errors import EvidenceError
from averment.evidence import Evidence
from samples import counts, real, sample

Judge = Callable[..., Any]

REPORT = json.loads(sample("vapi/report.json").read_text())
HOOKS = [json.loads(line) for line in sample("vapi/webhooks.jsonl").read_text().splitlines()]


def read(value: Any) -> Evidence:
    """The evidence of one value."""
    return Evidence.from_bytes(json.dumps(value).encode())


def of_messages(*messages: dict[str, Any]) -> Evidence:
    """The evidence of a list of messages alone."""
    return read(list(messages))


def test_turns_have_their_roles_and_call_relative_times() -> None:
    """A turn lasts from its time to its end time, counted from the start of the call; a prompt is not said."""
    model = Evidence.load(sample("vapi/report.json")).model
    assert [(t.role_raw, t.role, t.start_ns, t.end_ns, t.said) for t in model.turns or ()] == [
        ("system", "system", 0, None, False),
        ("bot", "agent", 1_200_000_000, 3_500_000_000, True),
        ("user", "user", 4_000_000_000, 5_500_000_000, True),
        ("bot", "agent", 8_000_000_000, 11_000_000_000, True),
        ("user", "user", 11_500_000_000, 12_400_000_000, True),
    ]
    assert {t.clock for t in model.turns or ()} == {"call_relative"}
    assert (model.turns or ())[1].loc == "src_0#$.message.artifact.messages[1]"
    assert model.conversation_id == "call-boat-1"


def test_a_call_runs_from_its_request_to_its_result() -> None:
    """Both are joined by the id; neither is a turn."""
    calls = Evidence.load(sample("vapi/report.json")).model.calls or ()
    assert [(c.id, c.name, c.args, c.status, c.start_ns, c.end_ns) for c in calls] == [
        (
            "call_w1",
            "find_boat",
            {"kind": "canoe", "day": "Sunday"},
            "executed",
            6_100_000_000,
            7_600_000_000,
        ),
        ("call_w2", "transferCall", {"destination": "desk"}, "executed", 13_000_000_000, 13_200_000_000),
    ]
    assert calls[0].result == {"boat": "C7", "price": 30}


def test_the_end_and_the_transfer_are_spans(judge: Judge) -> None:
    """What Vapi says of the end and of the destination is what `termination` and `handoff` read."""
    evidence = Evidence.load(sample("vapi/report.json"))
    assert [(s.type, s.fields) for s in evidence.model.spans or ()] == [
        ("handoff", {"to": "desk-number"}),
        ("call_ended", {"reason": "assistant-forwarded-call"}),
    ]
    assert judge({"kind": "handoff", "to": "desk-number"}, evidence)["status"] == "PASS"
    assert judge({"kind": "handoff", "absent": True}, evidence)["status"] == "FAIL"


@pytest.mark.parametrize(
    ("reason", "by"),
    [("customer-ended-call", "caller"), ("assistant-ended-call", "agent"), ("silence-timed-out", None)],
)
def test_who_ended_the_call_is_told_where_the_reason_says_so(reason: str, by: str | None) -> None:
    """Only reasons that name somebody do."""
    (span,) = read({"id": "c", "assistantId": "a", "endedReason": reason}).model.spans or ()
    assert span.fields == {"reason": reason} | ({} if by is None else {"by": by})


def test_turns_calls_and_the_end_have_one_order(judge: Judge) -> None:
    """A recorded end must not hide which came first, the call or the words."""
    evidence = Evidence.load(sample("vapi/report.json"))
    steps = [{"phrase": "canoe for Sunday"}, {"tool": "find_boat"}, {"phrase": "C7 is free"}]
    assert judge({"kind": "sequence", "steps": steps}, evidence)["status"] == "PASS"


def test_facts_are_metadata_as_written() -> None:
    """Costs, durations and analyses are kept, and decide nothing."""
    metadata = Evidence.load(sample("vapi/report.json")).model.metadata or {}
    assert (metadata["cost"], metadata["durationSeconds"]) == (0.09, 20)
    assert metadata["analysis"] == {"successEvaluation": "true"}


def test_repeated_content_is_read_once() -> None:
    """`messagesOpenAIFormatted` is the same content again: no turn comes from it, and a note says so."""
    model = Evidence.load(sample("vapi/report.json")).model
    assert len(model.turns or ()) == 5
    assert any("messagesOpenAIFormatted" in note.detail for note in model.notes)


def test_durations_are_in_one_unit_for_the_whole_file() -> None:
    """Reserve case of section 7: one export has seconds where others have milliseconds."""
    seconds = of_messages(
        {
            "role": "bot",
            "message": "a",
            "secondsFromStart": 0.5,
            "time": 0.5,
            "endTime": 1.25,
            "duration": 0.75,
        }
    )
    assert [(t.start_ns, t.end_ns) for t in seconds.model.turns or ()] == [(500_000_000, 1_250_000_000)]
    alone = of_messages(
        {"role": "bot", "message": "a", "secondsFromStart": 0.5, "duration": 750},
        {"role": "user", "message": "b", "secondsFromStart": 1.5, "duration": 1250.5},
    )
    assert [t.end_ns for t in alone.model.turns or ()] == [1_250_000_000, 2_750_500_000]


def test_durations_that_disagree_on_their_unit_are_left_out() -> None:
    """A unit that was guessed for each value would make a latency out of nothing."""
    model = of_messages(
        {"role": "bot", "message": "a", "secondsFromStart": 0.5, "duration": 0.75},
        {"role": "user", "message": "b", "secondsFromStart": 1.5, "duration": 900},
    ).model
    assert [(t.start_ns, t.end_ns) for t in model.turns or ()] == [(500_000_000, None), (1_500_000_000, None)]
    assert [note.code for note in model.notes] == ["mixed_units"]


def test_moments_that_disagree_on_their_unit_are_left_out() -> None:
    """Milliseconds since 1970 beside seconds of the call."""
    model = of_messages(
        {"role": "bot", "message": "a", "secondsFromStart": 1, "time": 1767261600000, "endTime": 3},
    ).model
    assert [(t.start_ns, t.end_ns) for t in model.turns or ()] == [(1_000_000_000, None)]
    assert [note.code for note in model.notes] == ["mixed_units"]


def test_messages_with_moments_alone_are_by_the_clock() -> None:
    """Without seconds from the start, milliseconds since 1970 are what there is."""
    call = {
        "id": "c",
        "assistantId": "a",
        "messages": [{"role": "bot", "message": "a", "time": 1767261600250}],
    }
    (turn,) = read(call).model.turns or ()
    assert (turn.start_ns, turn.clock) == (1767261600250000000, "epoch")


def test_a_log_of_webhooks_is_one_conversation_for_each_call() -> None:
    """The report's messages are read; what only other webhooks tell is added, and all of them are accounted for."""
    first, second = Evidence.load_all(sample("vapi/webhooks.jsonl"))
    assert counts(first)["turns"] == 5
    assert counts(first)["calls"] == 2
    assert [s.type for s in first.model.spans or ()] == ["transfer_requested", "handoff", "call_ended"]
    source = first.model.sources[0]
    assert (source.records, source.records_read) == (15, 15)  # six webhooks and nine messages
    assert second.model.conversation_id == "call-boat-2"
    assert second.model.turns is None


def test_a_request_for_a_destination_is_no_handoff(judge: Judge) -> None:
    """Nobody was transferred yet, and the call goes on, so whether anybody will be is open."""
    evidence = read(HOOKS[3])
    assert judge({"kind": "handoff"}, evidence)["status"] == "INCONCLUSIVE"


def test_a_tool_calls_webhook_shows_a_request_and_nothing_of_its_end(judge: Judge) -> None:
    """Requested is not executed; and what else will be called is not known."""
    evidence = read(HOOKS[1])
    (call,) = evidence.model.calls or ()
    assert (call.id, call.args, call.status) == ("call_w1", {"kind": "canoe", "day": "Sunday"}, "requested")
    assert [t.role_raw for t in evidence.model.turns or ()] == ["system", "bot", "user"]
    result = judge({"kind": "tool_call", "name": "charge_card", "absent": True}, evidence)
    assert result["status"] == "INCONCLUSIVE"
    assert result["evidence_gap"]["channel"] == "executions"


def test_a_status_update_with_messages_is_read_and_never_proves_an_absence(judge: Judge) -> None:
    """The call goes on: what was not said may be said yet."""
    evidence = read(HOOKS[0])
    assert counts(evidence)["turns"] == 1
    result = judge({"kind": "phrase", "regex": "canoe", "absent": True}, evidence)
    assert result["status"] == "INCONCLUSIVE"
    assert result["evidence_gap"]["channel"] == "transcript"
    assert "end-of-call-report" in result["evidence_gap"]["how"]


def test_a_report_without_messages_shows_the_end_alone(judge: Judge) -> None:
    """Its end is known, its words and tools are not."""
    evidence = read(HOOKS[6])
    assert judge({"kind": "termination", "by": "caller"}, evidence)["status"] == "PASS"
    result = judge({"kind": "phrase", "regex": "x", "absent": True}, evidence)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "transcript")
    assert judge({"kind": "tool_call", "name": "x", "absent": True}, evidence)["status"] == "INCONCLUSIVE"


def test_failures_are_not_recorded(judge: Judge) -> None:
    """Vapi's results have no flag, so that no call failed can't be told."""
    evidence = Evidence.load(sample("vapi/report.json"))
    assert evidence.model.coverage.errors.state == "partial"
    assert judge({"kind": "dtmf", "digits": "1", "absent": True}, evidence)["status"] == "INCONCLUSIVE"


def test_changes_of_the_assistant_are_handoffs() -> None:
    """Each assistant after the first was handed the call by the one before."""
    report = copy.deepcopy(REPORT)
    del report["message"]["call"]["destination"]
    report["message"]["artifact"]["assistantActivations"] = [
        {"assistantName": "hello"},
        {"assistantName": "boats"},
    ]
    report["message"]["artifact"]["transfers"] = [
        {"destination": {"type": "sip", "sipUri": "sip:x"}, "status": "failed"},
        {"destination": {"type": "number", "number": "y"}, "status": "completed"},
    ]
    assert [(s.type, s.fields) for s in read(report).model.spans or ()] == [
        ("handoff", {"from": "hello", "to": "boats"}),
        ("transfer_failed", {"to": "sip:x", "status": "failed"}),
        ("handoff", {"to": "y", "status": "completed"}),
        ("call_ended", {"reason": "assistant-forwarded-call"}),
    ]


def test_a_partial_transcript_event_is_not_final() -> None:
    """A later one replaces it."""
    event = {"type": "transcript[transcriptType='partial']", "role": "user", "transcriptType": "partial"}
    (turn,) = read({"message": {**event, "transcript": "a can"}}).model.turns or ()
    assert (turn.text, turn.final) == ("a can", False)


@pytest.mark.parametrize(
    "value",
    [
        {"message": "hello"},
        {"message": {"type": "assistant-request"}},
        {"message": {"type": 5}},
        {"artifact": {"messages": 5}},
        {"results": [{"toolCallId": "x", "result": "y"}]},
        {"model": {"messages": [{"role": "system", "content": "x"}]}, "firstMessage": "hello"},
    ],
)
def test_what_is_no_call_is_not_taken_for_one(value: Any) -> None:
    """Configurations and answers of tool servers are no conversations."""
    with pytest.raises(EvidenceError) as error:
        read(value)
    assert error.value.problems[0].code == "unsupported_format"


def test_no_value_breaks_the_reader() -> None:
    """Whatever stands in place of a part of a sample, it is read or refused."""
    report = copy.deepcopy(REPORT)
    artifact = report["message"]["artifact"]
    artifact["messages"] = artifact["messages"][2:5]
    artifact["transfers"] = [{"destination": {"type": "number", "number": "y"}, "status": "x"}]
    artifact["assistantActivations"] = [{"assistantName": "a"}, {"assistantName": "b"}]
    for mutant in mutants(report):
        survives(mutant)
    for mutant in mutants(HOOKS[1:5]):
        survives(mutant)
    for mutant in mutants(artifact["messages"]):
        survives(mutant)


def test_the_call_in_seconds() -> None:
    """`messages` of the file: [0] system without times, [1] bot in seconds; no tools."""
    evidence = Evidence.load(real("vapi/futureagi_vapi_process_mapping_1.json"))
    assert counts(evidence) == {"turns": 2, "calls": 0, "results": 0, "errors": 0, "notes": 0}
    turn = (evidence.model.turns or ())[1]
    assert (turn.start_ns, turn.end_ns) == (858_000_000, 1_629_000_000)  # $.messages[1].time and .endTime
    assert (evidence.model.metadata or {})["costBreakdown"]["total"] == 0.7  # $.costBreakdown.total


def test_the_report_of_a_queued_call() -> None:
    """The file has no messages; `$.message.call.endedReason` is all that happened."""
    evidence = Evidence.load(real("vapi/vapi_docs_call-queue-management_1.json"))
    assert counts(evidence) == {"turns": 0, "calls": 0, "results": 0, "errors": 0, "notes": 0}
    (span,) = evidence.model.spans or ()
    assert span.fields == {"reason": "assistant-ended-call", "by": "agent"}


def test_the_transcript_event() -> None:
    """One partial utterance of the user, and the keys isFiltered, detectedThreats and originalTranscript."""
    evidence = Evidence.load(real("vapi/vapi_docs_events_15.json"))
    assert counts(evidence) == {"turns": 1, "calls": 0, "results": 0, "errors": 0, "notes": 3}


@pytest.mark.parametrize(
    ("name", "line", "column"),
    [("vapi_docs_events_2.json", 4, 15), ("vapi_docs_custom-tools_0.json", 28, 21)],
)
def test_a_copied_page_with_comments_is_refused_with_its_place(name: str, line: int, column: int) -> None:
    """Reserve case of section 7: comments and ellipses are no JSON."""
    with pytest.raises(EvidenceError) as error:
        Evidence.load_all(real(f"vapi/{name}"))
    problem = error.value.problems[0]
    assert (problem.code, problem.line, problem.column) == ("json_syntax", line, column)


def test_comments_in_json_are_refused_with_their_place() -> None:
    """The same, rebuilt by hand."""
    with pytest.raises(EvidenceError) as error:
        Evidence.from_bytes(b'{\n  "message": {\n    "type": "hang",\n    "call": { /* a call */ }\n  }\n}\n')
    assert (error.value.problems[0].line, error.value.problems[0].column) == (4, 15)


def report(reason: str, *messages: dict[str, Any]) -> Evidence:
    """The evidence of a report with these messages."""
    spoken = {"role": "bot", "message": "hi", "time": 1_700_000_000_000, "secondsFromStart": 1.0}
    message = {
        "type": "end-of-call-report",
        "endedReason": reason,
        "artifact": {"messages": [spoken, *messages]},
    }
    return read({"message": message})


def test_a_call_that_was_forwarded_was_handed_over(judge: Judge) -> None:
    """By the reason of its end alone: that there was a handoff is known, and to whom it was is not."""
    evidence = report("assistant-forwarded-call")
    assert judge({"kind": "handoff"}, evidence)["status"] == "PASS"
    assert judge({"kind": "handoff", "absent": True}, evidence)["status"] == "FAIL"
    assert judge({"kind": "handoff", "to": "desk"}, evidence)["status"] == "INCONCLUSIVE"
    assert judge({"kind": "handoff"}, report("customer-ended-call"))["status"] == "FAIL"


def test_a_result_tells_whether_its_tool_failed(judge: Judge) -> None:
    """Vapi flags none, so what the tool answered counts; without words of it nobody knows."""
    none = {"kind": "tool_error", "name": "refund", "absent": True}
    function = {"name": "refund", "arguments": '{"n": 1}'}
    call = {"role": "tool_calls", "toolCalls": [{"id": "a", "function": function}], "secondsFromStart": 2.0}
    for result, status in (("done", "INCONCLUSIVE"), ('{"ok": true}', "PASS"), ('{"error": "no"}', "FAIL")):
        answer = {"role": "tool_call_result", "toolCallId": "a", "result": result, "secondsFromStart": 3.0}
        assert judge(none, report("customer-ended-call", call, answer))["status"] == status


def test_what_is_said_with_a_call_is_said_before_it() -> None:
    """A message that announces what its call is to do has not seen it done."""
    function = {"name": "refund", "arguments": '{"n": 1}'}
    both = {"role": "bot", "message": "You are refunded.", "secondsFromStart": 2.0}
    evidence = report("customer-ended-call", {**both, "toolCalls": [{"id": "a", "function": function}]})
    model = evidence.model
    assert ((model.turns or ())[-1].seq or 0) < ((model.calls or ())[0].seq or 0)


def test_a_message_of_an_unknown_role_may_be_a_call(judge: Judge) -> None:
    """One without a text, that is; what somebody said in a role of its own is a turn."""
    absent = {"kind": "tool_call", "name": "refund", "absent": True}
    assert judge(absent, report("customer-ended-call"))["status"] == "PASS"
    other = report("customer-ended-call", {"role": "robot_step", "name": "refund", "secondsFromStart": 2.0})
    assert judge(absent, other)["status"] == "INCONCLUSIVE"


def test_a_call_that_took_place_and_has_no_messages_is_redacted(judge: Judge) -> None:
    """As in HIPAA mode; one that nobody took has none to tell."""
    for reason, status in (("customer-ended-call", "INCONCLUSIVE"), ("customer-did-not-answer", "PASS")):
        message = {"type": "end-of-call-report", "endedReason": reason, "artifact": {"messages": []}}
        evidence = read({"message": message})
        assert judge({"kind": "phrase", "regex": "promise", "absent": True}, evidence)["status"] == status
        assert judge({"kind": "tool_call", "name": "refund", "absent": True}, evidence)["status"] == status
