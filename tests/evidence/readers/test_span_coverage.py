"""What spans can't show, whatever file they came in: content that is off, cut or missing, and what that leaves open."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from otel import (
    ASK,
    CALL,
    DONE,
    TOLD,
    chat,
    message,
    only,
    refund,
    span,
    tool,
)

Judge = Callable[..., Any]


def test_content_that_was_not_recorded_is_no_silence(judge: Judge) -> None:
    """With content capture off, a promise can be neither found nor missed, and the way to record it is told."""
    spans = [chat(1, None, None), tool(2, "refund", own="c1", at=2)]
    evidence = only(*spans)
    assert evidence.model.turns is None
    assert evidence.model.coverage.transcript.state == "redacted"
    assert evidence.model.coverage.results.state == "redacted"
    said = judge({"kind": "phrase", "regex": "refund"}, evidence)
    assert (said["status"], said["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "transcript")
    assert "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT" in said["evidence_gap"]["how"]
    called = judge({"kind": "tool_call", "name": "refund"}, evidence)
    assert called["status"] == "PASS"
    with_arguments = judge({"kind": "tool_call", "name": "refund", "args": {"order": 7}}, evidence)
    assert with_arguments["status"] == "INCONCLUSIVE"


def test_model_calls_without_spans_of_tools_show_no_execution(judge: Judge) -> None:
    """The model asked for nothing, but code may have called the tool: absence is not provable."""
    evidence = only(chat(1, [ASK], [DONE]))
    assert evidence.model.coverage.executions.state == "absent"
    result = judge({"kind": "tool_call", "name": "refund", "absent": True}, evidence)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "executions")
    assert "execute_tool" in result["evidence_gap"]["how"]


def test_answers_in_later_messages_show_executions(judge: Judge) -> None:
    """Without spans of tools, what a model is told is the evidence; whether a call failed, it doesn't say."""
    evidence = only(chat(1, [ASK], [CALL]), chat(2, [ASK, CALL, TOLD], [DONE], at=2))
    assert [(call.name, call.status) for call in evidence.model.calls or ()] == [("refund", "executed")]
    assert judge({"kind": "tool_call", "name": "refund"}, evidence)["status"] == "PASS"
    result = judge({"kind": "tool_error", "name": "refund", "absent": True}, evidence)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "errors")


def test_a_request_that_nothing_answers_may_have_been_executed() -> None:
    """The last model call asks for a tool, and the trace has no span of any."""
    model = only(chat(1, [ASK], [CALL])).model
    assert [call.status for call in model.calls or ()] == ["requested"]
    assert model.coverage.executions.state == "absent"


def test_model_calls_that_show_half_leave_the_transcript_partial() -> None:
    """One of two has no content."""
    assert (
        only(chat(1, [ASK], [CALL]), chat(2, None, None, at=2)).model.coverage.transcript.state == "partial"
    )


def test_a_failed_model_call_hides_nothing() -> None:
    """It gave nothing back, and that is all there is to it."""
    failed = chat(1, [ASK], None, status={"code": "ERROR"})
    model = only(failed, chat(2, [ASK], [DONE], at=2)).model
    assert model.coverage.transcript.state == "present"
    assert len(model.turns or ()) == 2


def test_dropped_attributes_leave_the_rest_truncated() -> None:
    """The exporter counts what it dropped."""
    model = only(chat(1, [ASK], [DONE], dropped_attributes=3)).model
    assert model.coverage.transcript.state == "truncated"


def test_texts_of_one_greatest_length_were_cut() -> None:
    """A limit on the length of values leaves several of exactly that length, and JSON that ends in the middle."""
    long = [message("user", "x" * 900)]
    spans = [chat(1, long, [DONE]), tool(2, "refund", result="y" * 400, at=2)]
    spans[0]["attributes"]["gen_ai.input.messages"] = json.dumps(long)[:400]
    model = only(*spans).model
    assert model.coverage.transcript.state == "truncated"
    assert model.coverage.results.state == "truncated"
    assert [note.code for note in model.notes] == ["messages_cut"]


def test_messages_in_other_words_than_json_are_unreadable() -> None:
    """They are recorded, and can't be made out."""
    spoilt = chat(1, None, [DONE], attributes={"gen_ai.input.messages": "[{'role': 'user'}]"})
    model = only(spoilt).model
    assert model.coverage.transcript.state == "unreadable"
    assert [note.code for note in model.notes] == ["messages_unreadable"]


def test_parents_that_are_missing_leave_executions_open(judge: Judge) -> None:
    """One may be in another service, where the trace begins; with several, spans are missing."""
    absent = {"kind": "tool_call", "name": "cancel", "absent": True}
    elsewhere = span(9, "x", within=77, at=8)
    assert judge(absent, only(*refund()))["status"] == "PASS"
    assert judge(absent, only(*refund(), elsewhere))["status"] == "PASS"
    gappy = only(*refund(), elsewhere, span(10, "y", within=78, at=8))
    assert "spans_missing" in {note.code for note in gappy.model.notes}
    result = judge(absent, gappy)
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "executions")


def test_a_user_s_text_without_a_place_leaves_the_transcript_open() -> None:
    """It stands in a history in front of what was said before, and nobody saw it said."""
    hi, what = message("user", "Hi."), message("assistant", "Yes?")
    spans = [chat(1, [hi], [what]), chat(2, [hi, message("user", "(late)"), what, ASK], [DONE], at=2)]
    model = only(*spans).model
    assert [note.code for note in model.notes] == ["history_differs"]
    assert model.coverage.transcript.state == "partial"


def test_every_span_is_accounted_for() -> None:
    """Records are spans; each is in the trace."""
    model = only(*refund()).model
    assert (model.sources[0].records, model.sources[0].records_read) == (4, 4)
    assert [each.fields["trace_id"] for each in model.spans or ()] == [refund()[0]["trace_id"]] * 4
