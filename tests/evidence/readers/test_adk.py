from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from mutants import mutants, survives

import averment
from averment.errors import EvidenceError
from averment.evidence import Evidence
from averment.evidence.model import EvidenceModel
from samples import all_counts, real, sample

SESSION: dict[str, Any] = json.loads(sample("adk/refund.session.json").read_bytes())
EVAL_SET: dict[str, Any] = json.loads(sample("adk/refund.evalset.json").read_bytes())


def read(value: Any) -> list[EvidenceModel]:
    """The conversations of a value."""
    return [each.model for each in Evidence.all_from_bytes(json.dumps(value).encode())]


def codes(found: EvidenceModel) -> list[str]:
    """The codes of the notes."""
    return [note.code for note in found.notes]


def event(author: str, *parts: Any, **fields: Any) -> dict[str, Any]:
    """An event of a session."""
    return {"author": author, "invocation_id": "i", "content": {"parts": list(parts)}, **fields}


@pytest.fixture(scope="module")
def session() -> EvidenceModel:
    """The sample: a transfer, parallel calls, a long-running tool, a failure and a stream."""
    return read(SESSION)[0]


def test_an_author_is_the_user_or_an_agent_by_name(session: EvidenceModel) -> None:
    """Reasoning is not said, a tool's response under the role `user` is no speech, a partial event is not read."""
    assert [(turn.role_raw, turn.speaker, turn.text) for turn in session.turns or ()] == [
        ("user", None, "I want my money back for A-17."),
        ("model", "desk", "Let me hand you to billing."),
        ("model", "billing", "Your card has expired."),
    ]
    assert [turn.id for turn in session.turns or ()] == ["e1", "e2", "e10"]


def test_calls_are_paired_with_their_responses(session: EvidenceModel) -> None:
    """Parallel calls by id; an `error` in the response is a failure, and other calls are only known to have run."""
    assert [(call.id, call.name, call.status, call.result) for call in session.calls or ()] == [
        ("f1", "transfer_to_agent", "executed", {"result": None}),
        ("f2", "find_order", "executed", {"total": 42}),
        ("f3", "ask_manager", "executed", {"status": "approved"}),
        ("f4", "refund", "error", {"error": "the card has expired"}),
    ]
    assert session.coverage.errors.state == "partial"
    assert "interim_result" in codes(session)


def test_times_are_those_of_the_day(session: EvidenceModel) -> None:
    """Seconds since 1970 to the digit; a call begins with its request and ends with its response."""
    assert [turn.start_ns for turn in session.turns or ()][:2] == [
        1_760_000_000_250_000_000,
        1_760_000_001_500_000_000,
    ]
    call = (session.calls or ())[1]
    assert (call.start_ns, call.end_ns, call.clock) == (
        1_760_000_003_000_000_000,
        1_760_000_004_000_000_000,
        "epoch",
    )


def test_a_transfer_is_one_handoff(session: EvidenceModel) -> None:
    """The response and the action of one event speak of the same transfer."""
    assert [(span.type, span.fields) for span in session.spans or ()] == [
        ("handoff", {"from": "desk", "to": "billing"})
    ]
    assert session.coverage.handoff.state == "present"
    action = read([event("a", {"text": "x"}, actions={"transferToAgent": "b"})])[0]
    assert [span.fields["to"] for span in action.spans or ()] == ["b"]


def test_a_transfer_that_failed_is_none() -> None:
    """Only an answered call hands over."""
    call = {"function_call": {"name": "transfer_to_agent", "args": {"agent_name": "b"}}}
    failed = {"function_response": {"name": "transfer_to_agent", "response": {"error": "no such agent"}}}
    found = read([event("a", call), event("a", failed)])[0]
    assert found.spans is None
    assert [each.status for each in found.calls or ()] == ["error"]


def test_what_is_said_of_a_session_is_kept(session: EvidenceModel) -> None:
    """The final state is metadata; a change of it is named and not read."""
    assert session.conversation_id == "session-7"
    assert session.metadata == {
        "app_name": "refunds",
        "user_id": "user-3",
        "state": {"order": "A-17", "refunded": True},
        "last_update_time": 1760000020.5,
    }
    assert any("`state_delta`" in note.detail for note in session.notes)
    assert (session.sources[0].records, session.sources[0].records_read) == (10, 9)


def test_either_spelling_of_keys_is_read(session: EvidenceModel) -> None:
    """The web API writes camelCase."""
    text = json.dumps(SESSION)
    for key in ("invocation_id", "function_call", "function_response", "long_running_tool_ids", "app_name"):
        first, *rest = key.split("_")
        text = text.replace(f'"{key}"', f'"{first}{"".join(word.capitalize() for word in rest)}"')
    found = read(json.loads(text))[0]
    assert [(call.id, call.status) for call in found.calls or ()] == [
        (call.id, call.status) for call in session.calls or ()
    ]
    assert [turn.text for turn in found.turns or ()] == [turn.text for turn in session.turns or ()]


def test_a_stream_that_was_cut_is_truncated() -> None:
    """What was said last is not known, so nothing can be said not to have been said."""
    found = read([event("user", {"text": "hi"}), event("a", {"text": "I ca"}, partial=True)])[0]
    assert found.coverage.transcript.state == "truncated"
    assert "cut_stream" in codes(found)


def test_calls_without_ids_are_paired_by_name_within_a_step() -> None:
    """Older sessions have no ids; of two calls that differ and one response, neither is answered."""
    calls = [{"function_call": {"name": "f", "args": {"n": number}}} for number in (1, 2)]
    response = {"function_response": {"name": "f", "response": {"n": 1}}}
    found = read([event("a", calls[0]), event("a", response), event("a", *calls), event("a", response)])[0]
    assert [call.status for call in found.calls or ()] == ["executed", "unanswered", "unanswered"]
    assert "ambiguous_result" in codes(found)


@pytest.mark.parametrize("time", [1760000000500, "yesterday", -5, 12.5])
def test_times_that_can_not_be_seconds_since_1970_are_left_out(time: Any) -> None:
    """One wrong unit makes all of them doubtful."""
    found = read(
        [event("user", {"text": "a"}, timestamp=1760000000), event("a", {"text": "b"}, timestamp=time)]
    )[0]
    assert [turn.start_ns for turn in found.turns or ()] == [None, None]
    assert codes(found) == ["time_unreadable"]


def test_iso_times_are_read() -> None:
    """Vertex AI writes RFC 3339 texts."""
    found = read([event("user", {"text": "a"}, timestamp="2026-01-05T10:00:00Z")])[0]
    assert [turn.start_ns for turn in found.turns or ()] == [1_767_607_200_000_000_000]


def test_live_transcriptions_are_turns() -> None:
    """What was heard and what was spoken; unfinished ones are named."""
    events = [
        {"author": "user", "invocation_id": "i", "input_transcription": {"text": "Hello", "finished": True}},
        {"author": "a", "invocation_id": "i", "output_transcription": {"text": "Hi", "finished": False}},
        {"author": "a", "invocation_id": "i", "outputTranscription": {"text": "Hi!"}, "interrupted": True},
    ]
    found = read(events)[0]
    assert [(turn.role, turn.text, turn.interrupted) for turn in found.turns or ()] == [
        ("user", "Hello", None),
        ("agent", "Hi!", True),
    ]


def test_an_eval_case_is_a_reference_and_no_recording() -> None:
    """Its calls were only asked for: nothing passes as executed, and the gap says what to export."""
    whole, answered = Evidence.load_all(sample("adk/refund.evalset.json"))
    assert [(call.name, call.status) for call in whole.model.calls or ()] == [
        ("find_order", "requested"),
        ("refund", "requested"),
    ]
    assert [turn.text for turn in whole.model.turns or ()] == [
        "Refund A-17, please.",
        "One moment.",
        "It is refunded.",
    ]
    assert whole.model.metadata is not None
    assert whole.model.metadata["reference"] is True
    assert "reference_conversation" in codes(whole.model)
    assert [(call.status, call.result) for call in answered.model.calls or ()] == [
        ("executed", {"place": "Turin"})
    ]
    assert answered.model.coverage.executions.state == "partial"
    document = averment.Document.of(
        {"version": 1, "assertions": [{"id": "refunded", "kind": "tool_call", "name": "refund"}]}
    )
    result = averment.run(document, whole).to_dict()["results"][0]
    assert result["status"] == "INCONCLUSIVE"
    assert result["evidence_gap"]["channel"] == "executions"
    assert "Export the session of a run" in result["evidence_gap"]["how"]


def test_the_older_list_is_one_reference_conversation() -> None:
    """Questions, expected calls and reference answers; a mocked output is no result."""
    item = {
        "query": "Where is A-17?",
        "expected_tool_use": [
            {"tool_name": "find_order", "tool_input": {"order": "A-17"}, "mock_tool_output": "Turin"}
        ],
        "expected_intermediate_agent_responses": [{"author": "desk", "text": "One moment."}],
        "reference": "In Turin.",
    }
    for value in ([item], [{"name": "places", "data": [item], "initial_state": {}}]):
        found = read(value)[0]
        assert [turn.text for turn in found.turns or ()] == ["Where is A-17?", "One moment.", "In Turin."]
        assert [(call.name, call.args, call.status) for call in found.calls or ()] == [
            ("find_order", {"order": "A-17"}, "requested")
        ]
        assert "order_unknown" in codes(found)
        assert any("`mock_tool_output`" in note.detail for note in found.notes)


def test_an_eval_result_is_read_from_its_session_or_its_actual_invocations() -> None:
    """That did run; the expected invocation beside it is not read."""
    per = {"actualInvocation": EVAL_SET["evalCases"][1]["conversation"][0], "expectedInvocation": {}}
    results = [
        {"evalId": "a", "sessionDetails": copy.deepcopy(SESSION)},
        {"evalId": "b", "evalMetricResultPerInvocation": [per]},
    ]
    first, second = read({"evalSetResultId": "r", "evalCaseResults": results})
    assert len(first.calls or ()) == 4
    assert [(call.name, call.status) for call in second.calls or ()] == [("find_order", "executed")]
    assert second.coverage.executions.state == "present"


def test_a_test_configuration_is_no_conversation() -> None:
    """It is refused."""
    with pytest.raises(EvidenceError):
        read({"criteria": {"tool_trajectory_avg_score": 1.0}})


@pytest.mark.parametrize("value", [SESSION, EVAL_SET])
def test_odd_values_are_noted_or_refused(value: Any) -> None:
    """No value at any place stops the reader."""
    for wrong in mutants(value):
        survives(wrong)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "adk/adk-samples__tests__example_interactions__image_search_denim_skirt.session.json",
            # Texts: .events[3, 9, 24, 29, 36] of the user, [4, 6, 10, 12, 14, 18, 22, 25, 27, 30, 34, 40] of the
            # agent. function_call: [4, 10, 12, 14, 16, 18, 20, 25, 30, 32, 37], each answered by the next event; no
            # response has an error. One note: `state_delta` at [0] and eight more.
            {"turns": 17, "calls": 11, "results": 11, "errors": 0, "notes": 1},
        ),
        (
            "adk/adk-python__fixture__flow_complex_spark__sample.session.json",
            # Texts: .events[0] and [3..6]. Calls: [1] and [7], answered by [2] and [8]. Six keys are not read:
            # .past_events, .pending_events, .artifacts, .event_logs, .events[*].options and .is_greeting.
            {"turns": 5, "calls": 2, "results": 2, "errors": 0, "notes": 6},
        ),
        (
            "adk/adk-python__fixture__ecommerce_customer_service_agent__order_query.test.json",
            # Four invocations of two texts; .tool_uses hold 1, 1, 4 and 1 calls, and there are no responses. The note
            # says that it is a reference.
            {"turns": 8, "calls": 7, "results": 0, "errors": 0, "notes": 1},
        ),
        (
            "adk/adk-samples__eval__data__eval_data1.evalset.json",
            # $[0].data has 6 items of a query and a reference, ten expected calls, and an intermediate response in
            # [1], [2] and [5], each beside calls: an `order_unknown` each, and the note on the reference.
            {"turns": 15, "calls": 10, "results": 0, "errors": 0, "notes": 4},
        ),
    ],
)
def test_real_files_hold_what_a_person_counts(name: str, expected: dict[str, int]) -> None:
    """Counted by hand in the files."""
    assert all_counts(real(name)) == [expected]


def test_a_part_of_an_unknown_kind_may_be_a_call() -> None:
    """A kind that is known to be neither speech nor a call leaves nothing open."""
    for part, state in (
        ({"tool_call": {"name": "x"}}, "partial"),
        ({"file_data": {"file_uri": "gs://x"}}, "present"),
    ):
        session = copy.deepcopy(SESSION)
        session["events"][-1]["content"]["parts"].append(part)
        assert read(session)[0].coverage.executions.state == state
