from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET

from averment import Evidence
from averment.oracle.grade.calls import MAX_TURNS, Shown, shown

Run = Callable[..., Shown]
SAMPLES = Path(__file__).parents[2] / "samples"
A, B = ("find", {"id": "A"}), ("find", {"id": "B"})


def turns(run: Shown) -> list[list[str | None] | str | None]:
    """Each turn as the names of its calls, or its text."""
    return [
        [run.calls[index].name for index in turn.calls] if turn.calls else turn.text for turn in run.turns
    ]


def from_model(calls: list[dict[str, Any]], **fields: Any) -> Shown:
    """What a run shows that is written as an evidence file, with all channels there."""
    present = {"state": "present"}
    value = {
        "schema": "averment.evidence.v1",
        "coverage": {"transcript": present, "requests": present, "executions": present},
        "turns": [],
        "calls": [
            {"id": f"c_{index}", "name": "find", "status": "ok"} | call for index, call in enumerate(calls)
        ],
        **fields,
    }
    return shown(Evidence.from_bytes(json.dumps(value).encode()).model)


# Turns.


def test_calls_of_one_message_are_one_turn_and_those_of_two_are_two(run: Run) -> None:
    """What an agent asks for before it hears from the tools is asked for at once."""
    seen = run(">x", [A, B], [A], "Done.")
    assert turns(seen) == [["find", "find"], ["find"], "Done."]
    assert all(turn.apart for turn in seen.turns)
    assert [turn.heard_user for turn in seen.turns] == [True, False, False]


def test_what_is_said_with_calls_or_right_before_them_is_of_their_turn(run: Run) -> None:
    """Thinking aloud is no text turn; what the user answers is."""
    seen = run(">x", "Let me see.", [A], "Shall I?", ">yes", [B])
    assert turns(seen) == [["find"], "Shall I?", ["find"]]
    assert seen.turns[0].text == "Let me see."


def test_a_greeting_before_the_user_has_spoken_is_left_out(run: Run) -> None:
    """It answers nothing, so it stands in for no text of gold."""
    assert turns(run("Hello!", ">x", "No.")) == ["No."]
    assert turns(run("Hello!", "Is anybody there?")) == ["Hello!", "Is anybody there?"]


def test_what_is_said_after_a_call_is_no_greeting(run: Run) -> None:
    """Also where the agent has begun without the user."""
    assert turns(run([A], "Found.", ">x", "No.")) == [["find"], "Found.", "No."]


def test_an_utterance_that_a_later_one_replaces_was_not_said() -> None:
    """Transcripts of speech hold drafts."""
    heard = {"role": "agent", "loc": "src_0#$"}
    seen = from_model(
        [],
        turns=[
            {"id": "a", "text": "No", "final": False, "seq": 0, **heard},
            {"id": "b", "text": "Now.", "seq": 1, **heard},
        ],
    )
    assert turns(seen) == ["Now."]


def test_a_text_without_a_word_in_it_is_none(run: Run) -> None:
    """Blank text says nothing."""
    assert turns(run(">x", "  ", [A])) == [["find"]]


def test_system_prompts_and_users_calls_are_not_the_agents() -> None:
    """Only what the agent does is graded."""
    seen = from_model(
        [{"args": {}, "seq": 2, "requestor": "user"}, {"args": {}, "seq": 3}],
        turns=[
            {"id": "s", "role": "system", "text": "Be kind.", "said": False, "seq": 0, "loc": "src_0#$"},
            {"id": "u", "role": "user", "text": "Hi.", "seq": 1, "loc": "src_0#$"},
        ],
    )
    assert ([call.id for call in seen.calls], turns(seen)) == (["c_1"], [["find"]])


def test_a_text_after_an_answer_is_a_turn_of_its_own_even_in_one_message() -> None:
    """A tool that the vendor runs is answered within the message that calls it."""
    seen = from_model(
        [{"args": {}, "seq": 1, "loc": "src_0#$[1].content[0]"}],
        turns=[
            {"id": "u", "role": "user", "text": "Hi.", "seq": 0, "loc": "src_0#$[0]"},
            {"id": "a", "role": "agent", "text": "Found.", "seq": 3, "loc": "src_0#$[1].content[2]"},
        ],
    )
    assert turns(seen) == [["find"], "Found."]


def test_a_text_between_the_calls_of_one_message_is_said_with_them() -> None:
    """Nothing was heard in between."""
    seen = from_model(
        [
            {"args": {}, "seq": 1, "loc": "src_0#$[1].content[0]"},
            {"args": {}, "seq": 3, "loc": "src_0#$[1].content[2]"},
        ],
        turns=[
            {"id": "u", "role": "user", "text": "Hi.", "seq": 0, "loc": "src_0#$[0]"},
            {"id": "a", "role": "agent", "text": "And.", "seq": 2, "loc": "src_0#$[1].content[1]"},
        ],
    )
    assert (turns(seen), seen.turns[0].text) == ([["find", "find"]], "And.")


def test_without_messages_calls_asked_for_before_the_first_was_answered_are_of_one_turn() -> None:
    """An answer has a place of its own in the order, so there is none between them."""
    assert turns(from_model([{"args": {}, "seq": 0}, {"args": {}, "seq": 1}])) == [["find", "find"]]


@pytest.mark.parametrize(
    "calls", [[{"seq": 0}, {"seq": 2}], [{"seq": 0, "status": "unanswered"}, {"seq": 1}]]
)
def test_a_boundary_that_nothing_tells_is_unknown(calls: list[dict[str, Any]]) -> None:
    """A trace of executions writes each call with its answer, whether they were asked for at once or not."""
    seen = from_model([{"args": {}, **call} for call in calls])
    assert [turn.apart for turn in seen.turns] == [True, False]


def test_spans_of_tools_do_not_tell_what_was_asked_for_at_once() -> None:
    """The sample's two calls were executed one after the other."""
    seen = shown(Evidence.load_all(str(SAMPLES / "otel_spans" / "refund.jsonl"))[0].model)
    assert [turn.apart for turn in seen.turns if turn.calls] == [True, False]


def test_a_very_long_run_is_cut_and_says_so(run: Run) -> None:
    """Turns are compared with all of gold's."""
    seen = run(">x", *["a", ">b"] * (MAX_TURNS + 1))
    assert (len(seen.turns), seen.turns_gap) == (MAX_TURNS, "transcript_incomplete")


# Gaps.


@pytest.mark.parametrize(
    ("coverage", "fields", "gaps"),
    [
        ({}, {}, (None, None, None)),
        ({"requests": "absent"}, {}, (None, None, None)),
        ({"executions": "absent"}, {}, (None, None, None)),
        ({"requests": "partial", "executions": "truncated"}, {}, ("calls_incomplete", None, None)),
        ({"requests": "absent", "executions": "unreadable"}, {}, ("calls_not_recorded", None, None)),
        ({"transcript": "truncated"}, {}, (None, None, "transcript_incomplete")),
        ({"transcript": "absent"}, {}, (None, None, "transcript_not_recorded")),
        (
            {},
            {"turns": [{"id": "t", "role": "unknown", "text": "?", "seq": 2, "loc": "src_0#$"}]},
            (None, None, "speakers_unknown"),
        ),
        (
            {},
            {"turns": [{"id": "t", "role": "agent", "text": "!", "loc": "src_0#$"}]},
            (None, None, "order_unknown"),
        ),
    ],
)
def test_what_the_evidence_does_not_show_is_said(
    coverage: dict[str, str], fields: dict[str, Any], gaps: tuple[str | None, ...]
) -> None:
    """One channel of calls that is whole shows what was called; texts without an order have no place."""
    states = {"transcript": "present", "requests": "present", "executions": "present"} | coverage
    seen = from_model(
        [{"args": {}, "seq": 0}],
        coverage={name: {"state": state} for name, state in states.items()},
        **fields,
    )
    assert (seen.calls_gap, seen.order_gap, seen.turns_gap) == gaps


def test_calls_of_two_sources_without_times_have_no_order() -> None:
    """Nobody says which of them came first."""
    sources = [{"id": f"src_{index}", "format": "openai_chat", "reader": "r"} for index in range(2)]
    seen = from_model([{"args": {}, "seq": 0}, {"args": {}}], sources=sources)
    assert (seen.order_gap, seen.turns_gap, seen.calls[0].turn) == ("order_unknown", "order_unknown", None)


def test_a_chat_without_calls_does_not_show_that_there_were_none(run: Run) -> None:
    """Its reader says so: nothing tells which tools there were."""
    assert run(">x", "No.").calls_gap == "calls_not_recorded"


@pytest.mark.parametrize(
    ("metadata", "reason"),
    [
        ({"finish_reason": "length"}, "length"),
        ({"stop_reason": "max_tokens"}, "max_tokens"),
        ({"incomplete_details": {"reason": "max_output_tokens"}}, "max_output_tokens"),
        ({"incomplete_details": None, "finish_reason": 7}, None),
    ],
)
def test_why_the_model_stopped_is_read_in_each_vendors_words(
    metadata: dict[str, Any], reason: str | None
) -> None:
    """From what the source says of the last response."""
    assert from_model([], metadata=metadata).finish_reason == reason


def test_a_run_that_ends_with_an_open_call_says_so() -> None:
    """Where answers are recorded; a call in the middle is another matter."""
    open_, closed = {"args": {}, "seq": 1, "status": "unanswered"}, {"args": {}, "seq": 0}
    assert from_model([closed, open_]).left_open == "c_1"
    assert from_model([open_, {"args": {}, "seq": 2}]).left_open is None


# Arguments.


@pytest.mark.parametrize(
    ("fields", "arguments", "unfit", "hidden"),
    [
        ({"args": {"id": 1}}, {"id": 1}, None, None),
        ({"args": {"id": 1}, "args_raw": '{"id": 1}'}, {"id": 1}, None, None),
        ({"args": {}, "args_raw": ""}, UNSET, "arguments_unreadable", None),
        ({"args": {"id": 2}, "args_raw": '{"id": 1, "id": 2}'}, UNSET, "arguments_unreadable", None),
        ({"args": {"id": "x"}, "args_raw": '{"id": NaN}'}, UNSET, "arguments_unreadable", None),
        ({"args_raw": "{", "args_error": "json_truncated"}, UNSET, "arguments_unreadable", None),
        ({"args": '{"id": 1}', "args_raw": '"{\\"id\\": 1}"'}, UNSET, "arguments_not_object", None),
        ({"args": ["id"]}, UNSET, "arguments_not_object", None),
        ({"args_state": "absent"}, UNSET, None, "arguments_not_recorded"),
        ({"args_state": "truncated", "args_raw": '{"id'}, UNSET, None, "arguments_truncated"),
        ({"args_state": "conflicting"}, UNSET, None, "arguments_conflicting"),
        ({"args_state": "redacted", "args_raw": "[REDACTED]"}, UNSET, None, "arguments_redacted"),
        ({"args_state": "redacted", "args": {"id": "***"}}, {"id": "***"}, None, "arguments_redacted"),
    ],
)
def test_arguments_are_an_object_read_once_or_there_is_a_reason(
    fields: dict[str, Any], arguments: object, unfit: str | None, hidden: str | None
) -> None:
    """What can't be read is the agent's fault; what is not shown is the evidence's."""
    call = from_model([fields]).calls[0]
    assert (call.arguments, call.unfit, call.hidden) == (arguments, unfit, hidden)


def test_a_number_that_json_does_not_have_is_not_read_as_its_text() -> None:
    """Also where arguments stand in the source as a value."""
    text = b'[{"tool": "find", "arguments": {"id": [NaN]}}]'
    assert shown(Evidence.from_bytes(text).model).calls[0].unfit == "arguments_unreadable"


def test_a_call_without_a_name_is_hidden(run: Run) -> None:
    """Which tool it is of can't be told, and so there may be calls that are not known."""
    seen = run(">x", [("", {})])
    assert (seen.calls[0].name, seen.calls[0].hidden) == (None, "name_not_recorded")
