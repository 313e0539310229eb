from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

import averment
from averment.evidence import Evidence
from averment.evidence.draft import Draft, Part
from averment.evidence.model import MAX_TEXT_BYTES, EvidenceModel, Source, ToolCall
from averment.evidence.readers.dialogue import Dialogue


def told(tell: Callable[[Dialogue], Any], **finishing: Any) -> EvidenceModel:
    """The model of a dialogue in which things are told, as a reader tells them."""
    draft = Draft()
    draft.sources.append(Source(id="src_0", format="f", reader="r"))
    dialogue = Dialogue(draft, Part([]))
    tell(dialogue)
    dialogue.finish(**finishing)
    return draft.model()


def steps(*events: tuple[Any, ...], **finishing: Any) -> EvidenceModel:
    """The same by a list of events: `("step",)`, `("ask", name, arguments, id)`, `("answer", result, id, name)`."""

    def tell(dialogue: Dialogue) -> None:
        for number, (what, *rest) in enumerate(events):
            loc = f"src_0#{number}"
            if what == "step":
                dialogue.step()
            elif what == "turn":
                dialogue.turn("user", rest[0], loc)
            elif what == "ask":
                dialogue.request(rest[0], rest[1], loc, own=rest[2] if len(rest) > 2 else None)
            else:
                more = rest[3] if len(rest) > 3 else {}
                own, name = rest[1] if len(rest) > 1 else None, rest[2] if len(rest) > 2 else None
                dialogue.answer(rest[0], loc, own=own, name=name, **more)

    return told(tell, **finishing)


def shown(model: EvidenceModel) -> list[tuple[str, Any, str]]:
    return [(call.id, call.result, call.status) for call in model.calls or ()]


def codes(model: EvidenceModel) -> list[str]:
    return [note.code for note in model.notes]


def states(model: EvidenceModel, *channels: str) -> list[str]:
    return [getattr(model.coverage, channel).state for channel in channels]


# Ids.


def test_what_says_the_default_is_the_default() -> None:
    """An agent's call is written alike whether its source says so or not, so a digest survives a round trip."""
    written: Any = b"agent".decode()  # equal to the default, and not the same object
    model = told(lambda dialogue: dialogue.request("find", {"a": 1}, "src_0#1", requestor=written))
    data = Evidence._of(model).to_json()
    assert b"requestor" not in data
    assert Evidence.from_bytes(data).to_json() == data


def test_parallel_calls_are_paired_by_their_ids_in_any_order() -> None:
    """The answers come back in another order than the requests."""
    model = steps(
        *(
            ("step",),
            ("ask", "a", {}, "x"),
            ("ask", "a", {"n": 1}, "y"),
            ("answer", 2, "y"),
            ("answer", 1, "x"),
        )
    )
    assert shown(model) == [("x", 1, "ok"), ("y", 2, "ok")]
    assert codes(model) == []


def test_an_id_is_compared_with_its_json_type() -> None:
    """`1` is not `"1"`: two calls, each with its own answer; the second keeps no id that is taken."""
    model = steps(
        ("ask", "a", {"n": 1}, 1), ("ask", "a", {"n": 2}, "1"), ("answer", "s", "1"), ("answer", "i", 1)
    )
    assert shown(model) == [("1", "i", "ok"), ("c_1", "s", "ok")]


@pytest.mark.parametrize("own", [True, 1.0, [], {}, ""])
def test_what_can_be_no_id_is_none(own: Any) -> None:
    """Such requests are numbered, and answers wait for their step to end."""
    model = steps(("ask", "a", {"n": 1}, own), ("answer", "r", own, "a"))
    assert shown(model) == [("c_0", "r", "ok")]


def test_an_id_that_is_used_again_belongs_to_the_oldest_open_request() -> None:
    """Each answer goes to a request that has none yet, and a later call of the same id is one of its own."""
    model = steps(
        *(("ask", "a", {"n": 1}, "x"), ("answer", 1, "x"), ("step",)),
        *(("ask", "a", {"n": 2}, "x"), ("answer", 2, "x")),
    )
    assert shown(model) == [("x", 1, "ok"), ("c_1", 2, "ok")]
    model = steps(("ask", "a", {}, "x"), ("ask", "b", {"n": 1}, "x"), ("answer", 1, "x"), ("answer", 2, "x"))
    assert [call.result for call in model.calls or ()] == [1, 2]


@pytest.mark.parametrize("own", ["c_1", "c_7"])
def test_a_sources_id_never_takes_the_number_of_another_call(own: str) -> None:
    """An id that looks like one of averment's is none, unless it is the one that the call would have."""
    model = steps(("ask", "a", {"n": 1}, own), ("ask", "a", {"n": 1}, None), ("answer", 1, own))
    assert [call.id for call in model.calls or ()] == ["c_0", "c_1"]
    assert (model.calls or ())[0].result == 1


def test_an_answer_to_no_request_is_a_call_of_its_own_in_its_place() -> None:
    """Its arguments are unknown; what follows the answer follows the call."""
    for own in ("z", None):
        model = steps(("answer", "r", own, "a"), ("turn", "thanks"), ("step",), ("ask", "b", {"n": 1}, "y"))
        orphan = next(call for call in model.calls or () if call.name == "a")
        assert (orphan.result, orphan.args, orphan.args_state, orphan.status) == ("r", UNSET, "absent", "ok")
        assert "result_without_call" in codes(model)
        assert orphan.seq == 0
        assert (model.turns or ())[0].seq == 1


# Answers without an id.


def test_answers_without_ids_belong_to_the_requests_of_their_names_in_order() -> None:
    """Within the step; the next one begins anew."""
    model = steps(
        *(("step",), ("ask", "a", {"n": 1}), ("ask", "b", {}), ("ask", "a", {"n": 2})),
        *(("answer", "b0", None, "b"), ("answer", "a1", None, "a"), ("answer", "a2", None, "a")),
        *(("step",), ("ask", "a", {"n": 3}), ("answer", "a3", None, "a")),
    )
    assert [call.result for call in model.calls or ()] == ["a1", "b0", "a2", "a3"]
    assert codes(model) == []


def test_answers_without_ids_and_names_belong_to_the_requests_in_order() -> None:
    """As many answers as there are requests."""
    model = steps(("step",), ("ask", "a", {"n": 1}), ("ask", "b", {"n": 2}), ("answer", 1), ("answer", 2))
    assert [call.result for call in model.calls or ()] == [1, 2]


@pytest.mark.parametrize(
    ("requests", "name"),
    [
        ([("a", {"n": 1}), ("a", {"n": 2})], "a"),
        ([("a", {"n": 1}), ("b", {"n": 1})], None),
        ([("a", "{"), ("a", "{{")], "a"),
    ],
)
def test_an_answer_that_may_belong_to_several_belongs_to_none(requests: Any, name: str | None) -> None:
    """None counts as answered, and what was executed is known in part: no verdict can rest on it."""
    model = steps(("step",), *(("ask", *each) for each in requests), ("answer", "r", None, name))
    assert shown(model) == [("c_0", UNSET, "unanswered"), ("c_1", UNSET, "unanswered")]
    assert "ambiguous_result" in codes(model)
    assert states(model, "requests", "executions", "results", "errors") == ["present", *["partial"] * 3]
    evidence = Evidence._of(model)
    forbidden = {"id": "a", "kind": "tool_call", "name": "a", "absent": True}
    document = averment.Document.of({"version": 1, "assertions": [forbidden]})
    result = averment.run(document, evidence).to_dict()["results"][0]
    assert (result["status"], "id of the call" in result["reason"]) == ("INCONCLUSIVE", True)


def test_of_requests_that_are_all_alike_the_first_is_answered() -> None:
    """Which of them it was makes no difference."""
    model = steps(("step",), ("ask", "a", {"n": 1}), ("ask", "a", {"n": 1}), ("answer", "r", None, "a"))
    assert shown(model) == [("c_0", "r", "ok"), ("c_1", UNSET, "unanswered")]
    assert states(model, "executions") == ["present"]


def test_more_answers_than_requests_are_calls_of_their_own() -> None:
    """In order, the first of them belong to the requests."""
    model = steps(("step",), ("ask", "a", {"n": 1}), ("answer", 1, None, "a"), ("answer", 2, None, "a"))
    assert shown(model) == [("c_0", 1, "ok"), ("c_1", 2, "ok")]


def test_an_answer_with_an_id_never_takes_a_request_that_a_nameless_one_answered() -> None:
    """It is a second answer to that request, and both differ."""
    model = steps(
        *(("step",), ("ask", "a", {"n": 1}, "x"), ("answer", 1, None, "a"), ("step",), ("answer", 2, "x")),
    )
    assert shown(model) == [("x", UNSET, "ok")]
    assert codes(model) == ["result_conflict"]


# Two answers.


def test_the_same_answer_twice_is_one() -> None:
    """Noted, for it is odd, and without effect."""
    model = steps(("ask", "a", {"n": 1}, "x"), ("answer", {"k": 1}, "x"), ("answer", '{"k": 1}', "x"))
    assert shown(model) == [("x", {"k": 1}, "ok")]
    assert [(note.code, note.severity) for note in model.notes] == [("duplicate_result", "info")]


def test_two_answers_that_differ_are_none() -> None:
    """And a third can't decide between them."""
    asked = ("ask", "a", {"n": 1}, "x")
    model = steps(asked, ("answer", 1, "x"), ("answer", 2, "x"), ("answer", 1, "x"))
    call = (model.calls or ())[0]
    assert (call.result, call.result_state, call.status) == (UNSET, "conflicting", "ok")
    assert codes(model) == ["result_conflict", "result_conflict"]


@pytest.mark.parametrize("failed_first", [True, False])
def test_a_call_of_which_one_answer_says_that_it_failed_did_not_go_well(*, failed_first: bool) -> None:
    """What both say alike stays known."""
    flags = (True, False) if failed_first else (False, True)
    model = steps(
        ("ask", "a", {"n": 1}, "x"), *(("answer", "r", "x", None, {"failed": flag}) for flag in flags)
    )
    assert shown(model) == [("x", "r", "error")]
    assert codes(model) == ["result_conflict"]


# How far a call came.


def test_requests_are_unanswered_where_the_source_has_answers_and_requested_where_it_has_none() -> None:
    """A source without any answer says nothing about what was executed."""
    asked = (("ask", "a", {"n": 1}, "x"), ("ask", "a", {"n": 2}, "y"))
    model = steps(*asked, ("answer", 1, "x"))
    assert [call.status for call in model.calls or ()] == ["ok", "unanswered"]
    model = steps(*asked)
    assert [call.status for call in model.calls or ()] == ["requested", "requested"]
    assert states(model, "requests", "executions", "results", "errors") == ["present", *["absent"] * 3]
    model = steps(*asked, records_answers=True)
    assert [call.status for call in model.calls or ()] == ["unanswered", "unanswered"]
    assert states(model, "executions") == ["present"]


@pytest.mark.parametrize(
    ("result", "more", "status"),
    [
        ("fine", {}, "ok"),
        ("fine", {"failed": True}, "error"),
        ({"isError": True}, {}, "error"),
        ({"isError": True}, {"failed": False}, "error"),
        ({"success": False}, {"status": "ok"}, "error"),
        ({"status": "failed"}, {"failed": False}, "ok"),  # the state of what was asked about
        ({"status": "failed"}, {}, "error"),
        ({"error": "no stock"}, {"status": "executed"}, "error"),
        ({"error": "no stock"}, {"status": "denied"}, "denied"),
        ("fine", {"error": "broken"}, "error"),
        (UNSET, {"error": None}, "ok"),
        ("fine", {"status": "timeout"}, "timeout"),
        ("Error: no such order", {}, "ok"),
    ],
)
def test_a_call_failed_where_the_source_says_so(result: Any, more: dict[str, Any], status: str) -> None:
    """By a flag, an error or a result that tells, which outweighs a flag; words alone are an answer."""
    model = steps(("ask", "a", {"n": 1}, "x"), ("answer", result, "x", None, more))
    assert [call.status for call in model.calls or ()] == [status]


def test_without_a_flag_for_failures_an_answer_says_only_that_a_call_was_executed() -> None:
    """And the errors are known in part, unless no tool was called."""
    asked = (("ask", "a", {"n": 1}, "x"), ("answer", "Error: no", "x"))
    model = steps(*asked, flags_failures=False)
    assert [call.status for call in model.calls or ()] == ["executed"]
    assert states(model, "errors") == ["partial"]
    assert states(steps(("turn", "hi"), flags_failures=False), "errors") == ["empty"]


def test_what_the_source_says_of_a_request_stays() -> None:
    """A status of its own outlives the answer."""

    def tell(dialogue: Dialogue) -> None:
        dialogue.request("a", {"n": 1}, "src_0#0", own="x", status="denied", start_ns=1, clock="epoch")
        dialogue.answer("no", "src_0#1", own="x", end_ns=3, clock="epoch", latency_ms=2)

    call = (told(tell).calls or ())[0]
    assert (call.status, call.result) == ("denied", "no")
    assert (call.start_ns, call.end_ns, call.clock, call.latency_ms) == (1, 3, "epoch", 2)


# Arguments and results.


@pytest.mark.parametrize(
    ("arguments", "args", "state", "error"),
    [
        ({"n": 1}, {"n": 1}, "recorded", None),
        ('{"n": 1}', {"n": 1}, "recorded", None),
        ("", {}, "recorded", None),
        (" \n", {}, "recorded", None),
        (None, UNSET, "absent", None),
        (UNSET, UNSET, "absent", None),
        ('{"n": ', UNSET, "recorded", "json_truncated"),
        ("n=1", UNSET, "recorded", "json_syntax"),
        ([1], [1], "recorded", None),
        ("null", UNSET, "recorded", None),  # recorded, and there was none
    ],
)
def test_arguments_are_read_and_never_invented(
    arguments: Any, args: Any, state: str, error: str | None
) -> None:
    """An empty text is no arguments; what can't be read or is not shown is unknown, never `{}`."""
    call = (steps(("ask", "a", arguments, "x"), ("ask", "b", {"k": 1}, "y")).calls or ())[0]
    assert (call.args, call.args_state, call.args_error) == (args, state, error)
    assert call.args_raw == (arguments if isinstance(arguments, str) else None)


def test_text_that_is_the_argument_itself_is_not_parsed() -> None:
    """A tool that takes text takes any text."""
    model = told(lambda dialogue: dialogue.request("a", '{"n": 1', "src_0#0", parse=False))
    assert (model.calls or ())[0].args == '{"n": 1'


def test_empty_arguments_of_every_call_are_doubted() -> None:
    """Some exporters leave them out; one such call, or one that has arguments, takes the doubt away."""
    model = steps(("ask", "a", "{}", "x"), ("ask", "b", {}, "y"))
    assert [(call.args, call.args_state) for call in model.calls or ()] == [(UNSET, "absent")] * 2
    assert codes(model) == ["arguments_all_empty"]
    assert states(model, "arguments") == ["partial"]
    assert [call.args for call in steps(("ask", "a", {}, "x")).calls or ()] == [{}]
    model = steps(("ask", "a", {}, "x"), ("ask", "b", {"n": 1}, "y"))
    assert [call.args for call in model.calls or ()] == [{}, {"n": 1}]


@pytest.mark.parametrize(
    ("result", "value", "raw", "noted"),
    [
        ('{"a": 1}', {"a": 1}, '{"a": 1}', []),
        (" [1]", [1], " [1]", []),
        ("[not json]", "[not json]", None, ["result_unreadable"]),
        ('{"a": 1, "a": 2}', {"a": 2}, '{"a": 1, "a": 2}', ["duplicate_key"]),
        ("12", "12", None, []),
        (None, UNSET, None, []),
        (0, 0, None, []),
    ],
)
def test_results_that_mean_to_be_json_are_read(result: Any, value: Any, raw: Any, noted: list[str]) -> None:
    """Other texts are answers in words."""
    model = steps(("ask", "a", {"n": 1}, "x"), ("answer", result, "x"))
    call = (model.calls or ())[0]
    assert (call.result, call.result_raw, codes(model)) == (value, raw, noted)


@pytest.mark.parametrize("name", [None, "", 3, ["a"]])
def test_a_call_of_no_tool_is_noted(name: Any) -> None:
    """It is kept: something was asked for."""
    model = steps(("ask", name, {"n": 1}, "x"))
    assert [(call.name, call.id) for call in model.calls or ()] == [(None, "x")]
    assert codes(model) == ["call_without_name"]


# Turns.


def test_turns_and_calls_have_one_order() -> None:
    """The order in which they were told."""
    model = steps(("turn", "hi"), ("step",), ("ask", "a", {"n": 1}, "x"), ("answer", 1, "x"), ("turn", "ok"))
    assert [turn.seq for turn in model.turns or ()] == [0, 3]
    assert [call.seq for call in model.calls or ()] == [1]


def test_a_turn_keeps_what_its_source_says() -> None:
    """Ids that are taken or look like numbers are not kept; a clock without times is none."""

    def tell(dialogue: Dialogue) -> None:
        dialogue.turn("bot", "a", "src_0#0", own="m", clock="epoch")
        dialogue.turn("narrator", "b", "src_0#1", own="m", start_ns=1, clock="epoch", said=False)
        dialogue.turn(None, "c", "src_0#2", own="t_0", role="agent")

    turns = told(tell).turns or ()
    assert [(turn.id, turn.role, turn.clock) for turn in turns] == [
        ("m", "agent", None),
        ("t_1", "other", "epoch"),
        ("t_2", "agent", None),
    ]
    assert [turn.role_raw for turn in turns] == ["bot", "narrator", None]


def test_a_speaker_of_unknown_role_is_a_gap() -> None:
    """Who said what decides what a role-filtered assertion sees."""
    model = told(lambda dialogue: dialogue.turn("speaker_0", "a", "src_0#0", role="unknown"))
    assert states(model, "speakers") == ["partial"]


def test_a_text_that_is_too_long_is_a_problem() -> None:
    """The bound of one turn."""
    with pytest.raises(averment.EvidenceError) as error:
        told(lambda dialogue: dialogue.turn("user", "x" * (MAX_TEXT_BYTES + 1), "src_0#0"))
    assert [problem.code for problem in error.value.problems] == ["text_too_long"]


# In general.

_OWN = st.sampled_from([None, "x", "y", 1, "1", "c_0"])
_EVENT = st.one_of(
    st.just(("step",)),
    st.tuples(st.just("turn"), st.text(max_size=3)),
    st.tuples(
        st.just("ask"), st.sampled_from(["a", "b", None]), st.sampled_from([{}, {"n": 1}, "", "{"]), _OWN
    ),
    st.tuples(st.just("answer"), st.sampled_from([1, "r", UNSET]), _OWN, st.sampled_from(["a", "b", None])),
)


@settings(deadline=None, max_examples=300)
@given(st.lists(_EVENT, max_size=12))
def test_every_request_and_every_answer_is_accounted_for(events: list[tuple[Any, ...]]) -> None:
    """No more answered calls than answers, every request is a call, and the evidence can be read back."""
    model = steps(*events)
    calls = model.calls or ()
    asked = sum(event[0] == "ask" for event in events)
    answers = sum(event[0] == "answer" for event in events)
    told_of = sum(
        note.code in ("ambiguous_result", "duplicate_result", "result_conflict") for note in model.notes
    )
    orphans = codes(model).count("result_without_call")
    assert len(calls) == asked + orphans
    assert sum(_is_answered(call) for call in calls) + told_of == answers
    assert len({call.seq for call in calls} | {turn.seq for turn in model.turns or ()}) == len(calls) + len(
        model.turns or ()
    )
    evidence = Evidence._of(model)
    assert Evidence.from_bytes(evidence.to_json()).to_json() == evidence.to_json()


def _is_answered(call: ToolCall) -> bool:
    return call.status not in ("requested", "unanswered")


@pytest.mark.parametrize("named", [True, False])
def test_pairing_takes_linear_time(*, named: bool) -> None:
    """Ten times the calls of one step, each of another name, take about ten times as long."""

    def seconds(count: int) -> float:
        names = [f"tool_{number}" for number in range(count)]
        events = [
            *(("ask", name, {"n": 1}) for name in names),
            *(("answer", "r", None, name if named else None) for name in reversed(names)),
        ]
        start = time.process_time()
        model = steps(("step",), *events)
        assert all(call.status == "ok" for call in model.calls or ())
        return time.process_time() - start

    assert min(seconds(20_000) for _ in range(3)) < 40 * max(seconds(2_000), 0.005)


# What may be anything.


@pytest.mark.parametrize(
    "mark", ["[REDACTED]", " <masked> ", "***", "REDACTED", "[content redacted]", "********"]
)
def test_what_was_taken_out_of_a_source_is_not_known(mark: str) -> None:
    """A mark in the place of arguments, of a result or of a text is none of them."""
    model = steps(("turn", mark), ("ask", "a", mark, "x"), ("answer", mark, "x"))
    call = (model.calls or ())[0]
    assert (call.args, call.args_state, call.args_error, call.result_state) == (
        UNSET,
        "redacted",
        None,
        "redacted",
    )
    assert states(model, "transcript", "arguments") == ["redacted", "partial"]
    assert codes(model) == []


@pytest.mark.parametrize("text", ["hidden", "REMOVED", "**", "[1]", "redacted", "It was [REDACTED].", "*a*"])
def test_words_are_no_marks(text: str) -> None:
    """A tool may answer that something was removed, and a text with a mark in it still says the rest."""
    model = steps(("turn", text), ("ask", "a", {"n": 1}, "x"), ("answer", text, "x"))
    assert (model.calls or ())[0].result_state == "recorded"
    assert states(model, "transcript") == ["present"]


def test_a_call_of_no_tool_may_be_of_any() -> None:
    """Be it a request or an answer without one: that a tool was not called can't be told."""
    for events in ([("ask", None, {"n": 1}, "x"), ("answer", 1, "x")], [("answer", 1, "z")]):
        assert states(steps(*events), "requests", "executions") == ["partial", "partial"]
    assert states(steps(("answer", 1, "z", "a")), "requests", "executions") == ["present", "present"]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("unknown_type", ["partial"] * 5),
        ("not_transcribed", ["partial", *["present"] * 4]),
        ("other", ["present"] * 5),
    ],
)
def test_what_is_not_known_may_have_been_said_or_called(code: str, expected: list[str]) -> None:
    """A note of a reader says that something is left out that may be either."""
    draft = Draft()
    dialogue = Dialogue(draft, Part([]))
    dialogue.turn("user", "hi", "src_0#0")
    dialogue.request("a", {"n": 1}, "src_0#1", own="x")
    dialogue.answer("fine", "src_0#2", own="x")
    draft.note(code, "src_0#3", "this is left out")
    dialogue.finish()
    model = draft.model()
    assert states(model, "transcript", "requests", "executions", "results", "errors") == expected


def test_an_answer_can_say_that_a_call_went_well() -> None:
    """By the words by which it can say that it failed; then errors are known where the source flags none."""
    for result in (
        {"ok": True},
        {"success": True},
        {"isError": False},
        {"status": "success"},
        '{"ok": true}',
    ):
        model = steps(("ask", "a", {"n": 1}, "x"), ("answer", result, "x"), flags_failures=False)
        assert ((model.calls or ())[0].status, states(model, "errors")) == ("ok", ["present"])
    bad: tuple[dict[str, Any], ...] = ({"ok": True, "error": "no"}, {"success": True, "status": "failed"})
    for result in bad:
        model = steps(("ask", "a", {"n": 1}, "x"), ("answer", result, "x"), flags_failures=False)
        assert ((model.calls or ())[0].status, states(model, "errors")) == ("error", ["present"])


def test_a_format_that_always_has_arguments_leaves_none_out() -> None:
    """So several calls without any are just that; and a reader may say how to record arguments."""
    model = steps(("ask", "a", {}, "x"), ("ask", "b", {}, "y"), writes_arguments=True)
    assert [call.args for call in model.calls or ()] == [{}, {}]
    assert (codes(model), states(model, "arguments")) == ([], ["absent"])
    model = steps(("ask", "a", None, "x"), how_arguments="Switch it on.")
    assert model.coverage.arguments.how == "Switch it on."


@pytest.mark.parametrize(
    ("roles", "read"),
    [
        (("user", "virtual_assistant"), ["user", "unknown"]),
        (("assistant", "Maria"), ["agent", "unknown"]),
        (("Agent 1", "Agent 2"), ["unknown", "unknown"]),
        (("user", "assistant", "supervisor"), ["user", "agent", "other"]),
        (("user", "system"), ["user", "system"]),
    ],
)
def test_a_role_that_nobody_knows_may_be_the_one_who_is_missing(
    roles: tuple[str, ...], read: list[str]
) -> None:
    """Of the agent and the user; where both are known it is somebody else, and so is who says nothing."""

    def tell(dialogue: Dialogue) -> None:
        for role in roles:
            dialogue.turn(role, "hi", "src_0#0")
        dialogue.turn("prompt", "hi", "src_0#0", said=False)

    model = told(tell)
    assert [turn.role for turn in model.turns or ()] == [*read, "other"]
    assert states(model, "speakers") == ["partial" if "unknown" in read else "absent"]


@pytest.mark.parametrize("masked", ["***", "[REDACTED]", "<masked>"])
def test_a_mark_inside_a_payload_makes_it_redacted_and_keeps_the_rest(masked: str) -> None:
    """Arguments and results in which a value was taken out say so, as text and as objects."""
    payload = {"order": "A-17", "card": {"number": masked}}
    for shape in (payload, json.dumps(payload)):
        model = steps(("step",), ("ask", "a", shape, "c1"), ("answer", shape, "c1"))
        call = (model.calls or ())[0]
        assert (call.args, call.args_state) == (payload, "redacted")
        assert (call.result, call.result_state) == (payload, "redacted")
    model = steps(("step",), ("ask", "a", {"text": f"a {masked} word"}, "c1"))
    assert (model.calls or ())[0].args_state == "recorded"
