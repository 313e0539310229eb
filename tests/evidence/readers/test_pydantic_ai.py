from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from msgspec import UNSET
from mutants import mutants, survives

import averment
from averment.evidence import Evidence
from averment.evidence.model import EvidenceModel
from samples import counts, sample

MESSAGES: list[Any] = json.loads(sample("pydantic_ai/messages.json").read_bytes())
OLDER: list[Any] = json.loads(sample("pydantic_ai/older.json").read_bytes())


def at(text: str) -> int:
    """A time of the day of the sample, as nanoseconds since 1970."""
    minute, second = text.split(":")
    return 1_767_607_200_000_000_000 + int(minute) * 60_000_000_000 + round(float(second) * 1e9)


def read(value: Any) -> EvidenceModel:
    """The one conversation of a value."""
    (found,) = Evidence.all_from_bytes(json.dumps(value).encode())
    return found.model


def changed(message: int, part: int, **keys: Any) -> EvidenceModel:
    """The sample with some keys of one part changed."""
    value = copy.deepcopy(MESSAGES)
    value[message]["parts"][part] |= keys
    return read(value)


@pytest.fixture(scope="module")
def model() -> EvidenceModel:
    """The sample of a version that records outcomes."""
    return read(MESSAGES)


def test_prompts_and_texts_are_turns(model: EvidenceModel) -> None:
    """Texts that follow each other are one; what is said after a call is a turn of its own; prompts are not said."""
    assert [(turn.role_raw, turn.text, turn.said) for turn in model.turns or ()] == [
        ("system", "Be brief.", False),
        ("system", "Help with bookings.", False),
        ("user", "Move my table to eight.\nAnd tell the chef.", True),
        ("assistant", "One moment.", True),
        ("assistant", "Nearly done.", True),
        ("assistant", "It is at eight now.", True),
    ]
    assert (model.conversation_id, model.sources[0].format) == ("conv-9", "pydantic_ai")
    assert model.metadata == {"model_name": "gpt-x", "provider_name": "openai", "finish_reason": "stop"}


def test_calls_are_answered_by_their_ids(model: EvidenceModel) -> None:
    """The outcome says how a call went; no arguments are no arguments."""
    calls = model.calls or ()
    assert [(call.id, call.name, call.args, call.status) for call in calls] == [
        ("m1", "move_booking", {"hour": 20}, "ok"),
        ("t1", "tell_chef", {"text": "table moved"}, "error"),
        ("w1", "web_search", {}, "ok"),
    ]
    assert [call.result for call in calls] == [{"ok": True, "hour": 20}, UNSET, {"status": "completed"}]
    assert calls[1].error == "Say which booking."


def test_times(model: EvidenceModel) -> None:
    """Parts have times; a call runs from the response to its return, and a provider's own tool has no times."""
    assert [turn.start_ns for turn in model.turns or ()] == [
        None,
        at("00:00.1"),
        at("00:00.2"),
        *(at("00:02"), at("00:02"), at("00:04")),
    ]
    assert [(call.start_ns, call.end_ns) for call in model.calls or ()] == [
        (at("00:02"), at("00:02.5")),
        (at("00:02"), at("00:03")),
        (None, None),
    ]


def test_what_is_dropped_is_named(model: EvidenceModel) -> None:
    """Every message is read; what is no text, call or return is counted."""
    assert (model.sources[0].records, model.sources[0].records_read) == (4, 4)
    assert sorted(note.detail for note in model.notes) == [
        "`usage` is not read (2 times)",
        "a reasoning part is not read",
        "an image part is not read",
    ]
    assert model.coverage.errors.state == "present"


def test_messages_under_a_key() -> None:
    """A list that stands under `messages` is the same conversation."""
    assert counts(Evidence.from_value({"messages": MESSAGES})) == counts(Evidence.from_value(MESSAGES))


def test_older_versions_ask_to_retry() -> None:
    """A `retry-prompt` for a tool says that its call failed; a return without an outcome doesn't say how it went."""
    model = read(OLDER)
    assert [(call.id, call.status) for call in model.calls or ()] == [
        ("r1", "error"),
        ("r2", "executed"),
        ("f1", "executed"),
        ("r3", "cancelled"),
    ]
    assert (model.calls or ())[0].error[0]["msg"] == "Input should be a valid string"
    assert model.coverage.errors.state == "partial"


def test_a_provider_s_whole_seconds_begin_no_call() -> None:
    """The provider's clock is not the one that tools are timed by, so there is no duration to judge."""
    call = (read(OLDER).calls or ())[1]
    assert (call.start_ns, call.end_ns) == (None, 1_740_819_602_400_000_000)


def test_a_skipped_tool_was_not_called() -> None:
    """Its return says that it was not executed, with the outcome `success`; a count must not take it for a call."""
    skipped = changed(2, 0, content="Tool not executed - a final result was already processed.")
    call = (skipped.calls or ())[0]
    assert (call.status, call.result) == ("cancelled", UNSET)
    document = averment.Document.of(
        {
            "version": 1,
            "assertions": [{"id": "moved", "kind": "tool_call", "name": "refund", "args": {"order": "A-18"}}],
        }
    )
    envelope = averment.run(document, Evidence.from_value(OLDER))
    assert envelope.to_dict()["results"][0]["status"] == "FAIL"


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        *(("success", "ok"), ("failed", "error"), ("denied", "denied"), ("interrupted", "unanswered")),
        *(("someday", "ok"), (7, "ok")),
    ],
)
def test_outcomes(outcome: Any, status: str) -> None:
    """Each outcome has its status; one that nobody knows leaves it to the answer, which says `ok` here."""
    call = (changed(2, 0, outcome=outcome).calls or ())[0]
    assert call.status == status
    assert (call.result is UNSET) == (status in ("error", "denied", "unanswered"))


def test_what_an_older_version_can_t_show_is_inconclusive() -> None:
    """Whether a call without an outcome failed can't be said."""
    value = [OLDER[0], *OLDER[3:5]]
    document = averment.Document.of(
        {
            "version": 1,
            "assertions": [{"id": "clean", "kind": "tool_error", "name": "refund", "absent": True}],
        }
    )
    result = averment.run(document, Evidence.from_value(value)).to_dict()["results"][0]
    assert (result["status"], result["evidence_gap"]["channel"]) == ("INCONCLUSIVE", "errors")
    assert "later version" in result["evidence_gap"]["how"]


def test_speech_is_said_by_its_speaker() -> None:
    """Realtime sessions have transcripts; one without is audio alone."""
    speech = {"part_kind": "speech", "speaker": "user", "transcript": "Hello?"}
    model = read([{"kind": "request", "parts": [speech, {**speech, "transcript": None}]}])
    assert [(turn.role, turn.text) for turn in model.turns or ()] == [("user", "Hello?")]
    said = read([{"kind": "response", "parts": [{**speech, "speaker": "assistant", "transcript": "Hi."}]}])
    assert [(turn.role, turn.text) for turn in said.turns or ()] == [("agent", "Hi.")]


def test_what_the_framework_tells_the_model_is_not_said() -> None:
    """Feedback without a tool is a prompt, whatever voice it is sent in."""
    told = {"part_kind": "retry-feedback", "content": "Please return text.", "retry": {"cause": "no_output"}}
    old = {"part_kind": "retry-prompt", "content": "Try again.", "tool_name": None, "tool_call_id": "x"}
    model = read([{"kind": "request", "parts": [told, old]}])
    assert [(turn.text, turn.said) for turn in model.turns or ()] == [
        ("Please return text.", False),
        ("Try again.", False),
    ]
    assert model.calls == ()


def test_a_summary_stands_for_what_is_not_there() -> None:
    """After a compaction nobody can say what was never said or called."""
    value = [
        *MESSAGES,
        {"kind": "response", "parts": [{"part_kind": "compaction", "content": "They moved it."}]},
    ]
    assert read(value).coverage.transcript.state == read(value).coverage.executions.state == "partial"


def test_a_response_that_was_cut_limits_the_history() -> None:
    """A run that was interrupted may have said more."""
    value = copy.deepcopy(MESSAGES)
    value[-1]["state"] = "interrupted"
    assert read(value).coverage.transcript.state == "partial"


def test_calls_without_a_return_at_the_end() -> None:
    """A run that waits for an approval has asked, and nothing answers."""
    model = read(MESSAGES[:2])
    assert [call.status for call in model.calls or ()] == ["unanswered", "unanswered", "ok"]


def test_a_message_that_is_none_is_named() -> None:
    """What follows a line that can't be read may have lost something."""
    model = Evidence.from_value([*MESSAGES, {"kind": "request", "parts": 7}], from_format="pydantic_ai").model
    assert "message_unreadable" in {note.code for note in model.notes}
    assert model.coverage.transcript.state == "partial"
    assert (model.sources[0].records, model.sources[0].records_read) == (5, 4)


def test_no_wrong_value_breaks_the_reader() -> None:
    """Whatever stands where: it is read or refused, and what was read can be written."""
    for value in [*mutants(MESSAGES), *mutants(OLDER)]:
        survives(value)
        Evidence.from_bytes(Evidence.from_value(value, from_format="pydantic_ai").to_json())


@pytest.mark.parametrize("value", [None, 7, "x", {}, {"messages": 7}, [], [7], [[]], [{"kind": []}]])
def test_by_name_any_value_is_read_or_refused(value: Any) -> None:
    """`--from pydantic_ai` on something else is refused, or read with every message named as unreadable."""
    try:
        model = Evidence.from_value(value, from_format="pydantic_ai").model
    except averment.EvidenceError:
        return
    assert not model.turns
    assert not model.calls


def test_a_part_of_an_unknown_kind_may_be_a_call() -> None:
    """New kinds of parts come with new versions; a reasoning part leaves nothing open."""
    for kind, state in (("robot-call", "partial"), ("thinking", "present")):
        found = read([*MESSAGES, {"kind": "response", "parts": [{"part_kind": kind, "content": "x"}]}])
        assert found.coverage.executions.state == state
