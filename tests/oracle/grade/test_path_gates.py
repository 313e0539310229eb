from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from averment.oracle.grade import gates
from averment.oracle.grade.calls import Call, RunTurn, Shown
from averment.oracle.grade.gates import Gate
from averment.oracle.grade.gold import GoldTask
from averment.oracle.grade.path import CUT, compared, path_gates
from averment.oracle.grade.policy import Policy

Task = Callable[..., GoldTask]
Run = Callable[..., Shown]
PING: tuple[str, dict[str, Any]] = ("ping", {})
FLY: tuple[str, dict[str, Any]] = ("fly", {})
A, B = ("find", {"id": "A"}), ("find", {"id": "B"})
LEND = ("lend", {"id": "A", "confirm": True})
CONFIRMED = (">lend it", "Shall I?", ">yes", [LEND], "Done.")
CONFIRMATIONS = {"lend": "confirm"}


def all_gates(task: GoldTask, run: Shown, policy: Policy | None = None, **facts: Any) -> dict[str, Gate]:
    policy = policy or Policy()
    found = path_gates(task, run, compared(task, run, policy), policy, confirmations=CONFIRMATIONS, **facts)
    assert [gate.name for gate in found] == [*gates.PATH, "trace_completion", "confirmation"]
    assert all(gate.why is None or gate.why in gates.WHY for gate in found)
    return {gate.name: gate for gate in found}


def said(task: GoldTask, run: Shown, name: str, policy: Policy | None = None) -> tuple[str, str | None]:
    gate = all_gates(task, run, policy)[name]
    return gate.status, gate.why


def failing(task: GoldTask, run: Shown) -> set[str]:
    return {name for name, gate in all_gates(task, run).items() if gate.status == "failed"}


def changed(run: Shown, *, call: int | None = None, **fields: Any) -> Shown:
    """The run, or one of its calls, with other fields."""
    if call is None:
        return msgspec.structs.replace(run, **fields)
    calls = list(run.calls)
    calls[call] = msgspec.structs.replace(calls[call], **fields)
    return msgspec.structs.replace(run, calls=tuple(calls))


# Gold itself, and one thing at a time.


@pytest.mark.parametrize(
    "steps",
    [
        (">x", [A], "Done."),
        (">x", [A, B], "Done."),
        (">x", [A], [B], "Done."),
        (">x", "Let me see.", [A], "Done."),
        (">x", "Which?", ">A", [A], "Done."),
        CONFIRMED,
        (">x", [A], "Found it. Shall I?", ">yes", [LEND, PING], "Done.", ">thanks", "Bye."),
        (">x", [A]),
    ],
)
def test_gold_passes_its_own_gates(task: Task, run: Run, steps: tuple[Any, ...]) -> None:
    """No gate fails, and none is undecided."""
    statuses = {gate.status for gate in all_gates(task(*steps), run(*steps)).values()}
    assert statuses <= {"passed", "not_applicable"}


def test_a_wrong_tool_fails_the_selection_alone(task: Task, run: Run) -> None:
    """Its arguments are another tool's."""
    gold, made = task(">x", [A], [B], "Done."), run(">x", [A], [PING], "Done.")
    assert failing(gold, made) == {"tool_selection"}
    assert said(gold, made, "tool_selection") == ("failed", "wrong_tool")


def test_right_calls_in_a_wrong_order_fail_the_order_alone(task: Task, run: Run) -> None:
    """They are paired as sets."""
    gold, made = task(">x", [A], [B], "Done."), run(">x", [B], [A], "Done.")
    assert failing(gold, made) == {"call_ordering"}
    assert said(gold, made, "call_ordering") == ("failed", "order_differs")


def test_wrong_arguments_fail_the_arguments_alone(task: Task, run: Run) -> None:
    """The tool was the right one."""
    gold, made = task(">x", [A], "Done."), run(">x", [B], "Done.")
    assert failing(gold, made) == {"arguments"}
    assert all_gates(gold, made)["arguments"].detail == (
        'call_0 calls `find` with other arguments: `id` is "B", and gold has "A"'
    )


def test_a_call_that_was_never_made_fails_selection_and_arguments(task: Task, run: Run) -> None:
    """Both ask for the whole of gold."""
    gold, made = task(">x", [A], [PING], "Done."), run(">x", [A], "Done.")
    assert failing(gold, made) == {"tool_selection", "arguments"}
    assert said(gold, made, "arguments") == ("failed", "call_missing")
    stopped = all_gates(gold, made, stopped=True)
    assert {stopped[name].attribution for name in ("tool_selection", "arguments")} == {"infrastructure"}


def test_a_call_too_many_fails_the_selection(task: Task, run: Run) -> None:
    """Gold's calls are all there, and so are their arguments."""
    gold, made = task(">x", [A], "Done."), run(">x", [A], [A], "Done.")
    assert failing(gold, made) == {"tool_selection"}
    assert said(gold, made, "tool_selection") == ("failed", "unexpected_call")


def test_where_no_call_is_expected_none_may_be_made(task: Task, run: Run) -> None:
    """To decline is enough; a call is one too many."""
    gold = task(">x", "No.")
    quiet = changed(run(">x", "No."), calls_gap=None)
    assert said(gold, quiet, "tool_selection") == ("passed", None)
    assert said(gold, run(">x", [PING], "No."), "tool_selection") == ("failed", "unexpected_call")
    for name in ("arguments", "call_grouping"):
        assert said(gold, quiet, name) == ("not_applicable", "no_expected_call")


def test_an_agent_that_takes_a_turn_more_is_not_wrong_from_there_on(task: Task, run: Run) -> None:
    """Turns are aligned, not numbered."""
    gold = task(">x", "Which?", ">A", [A], "Done.")
    assert (
        failing(gold, run(">x", "Which?", ">hm", "Say again?", ">A", [A], "Done.", ">thanks", "Bye."))
        == set()
    )


# Schemas.


def test_arguments_that_break_a_schema_are_told(task: Task, run: Run) -> None:
    """Also of a call that gold does not have."""
    gold = task(">x", [A], "Done.")
    assert said(gold, run(">x", [A], [("find", {"id": 7})], "Done."), "schema_valid") == (
        "failed",
        "schema_violated",
    )
    assert said(gold, run(">x", [("find", "{")], "Done."), "schema_valid") == (
        "failed",
        "arguments_unreadable",
    )
    assert said(gold, run(">x", [("find", "[]")], "Done."), "schema_valid") == (
        "failed",
        "arguments_not_object",
    )


def test_a_tool_that_the_task_does_not_have_has_no_schema(task: Task, run: Run) -> None:
    """That it was called is the selection's matter."""
    gold, made = task(">x", [A], "Done."), run(">x", [("fly", {"to": "moon"})], "Done.")
    assert said(gold, made, "schema_valid") == ("not_applicable", "no_attempted_call")
    assert said(gold, made, "arguments") == ("not_applicable", "nothing_to_compare")


# Groups.


def test_calls_that_gold_makes_at_once_may_not_be_made_one_by_one(task: Task, run: Run) -> None:
    """Nor the other way round."""
    at_once, one_by_one = (">x", [A, B], "Done."), (">x", [A], [B], "Done.")
    assert said(task(*at_once), run(*one_by_one), "call_grouping") == ("failed", "group_split")
    assert said(task(*one_by_one), run(*at_once), "call_grouping") == ("failed", "group_joined")
    assert failing(task(*at_once), run(*one_by_one)) == {"call_grouping"}


def test_calls_that_are_the_same_are_of_either_group(task: Task, run: Run) -> None:
    """Gold has one of them alone and one beside another, and so has the run: in another order, which is free."""
    gold = task(">x", [A], [A, B], "Done.", call_order="any")
    assert said(gold, run(">x", [A, B], [A], "Done."), "call_grouping") == ("passed", None)
    assert said(gold, run(">x", [B], [A, A], "Done."), "call_grouping")[0] == "failed"
    twice = task(">x", [A], [A], "Done.")
    assert said(twice, run(">x", [A], [A, PING], "Done."), "call_grouping") == ("failed", "group_joined")


def test_what_gold_does_not_have_may_not_be_made_with_it(task: Task, run: Run) -> None:
    """At once, that is; on its own it is the selection's matter."""
    gold = task(">x", [A], "Done.")
    assert said(gold, run(">x", [A, PING], "Done."), "call_grouping") == ("failed", "group_joined")
    assert said(gold, run(">x", [PING], [A], "Done."), "call_grouping") == ("passed", None)


def test_groups_that_were_not_called_are_not_asked_about(task: Task, run: Run) -> None:
    """What is missing is told elsewhere."""
    gold = task(">x", [A, B], "Done.")
    assert said(gold, run(">x", [A], "Done."), "call_grouping") == ("not_applicable", "nothing_to_compare")


def test_where_nothing_tells_what_was_called_at_once_the_grouping_is_undecided(task: Task, run: Run) -> None:
    """Traces of executions, and records without an order of calls and texts."""
    made = run(">x", [A], [B], "Done.")
    second = msgspec.structs.replace(made.turns[1], apart=False)
    unknown = changed(made, turns=(made.turns[0], second, *made.turns[2:]))
    for steps in ((">x", [A, B], "Done."), (">x", [A], [B], "Done.")):
        assert said(task(*steps), unknown, "call_grouping") == ("undecided", "groups_unknown")
    calls = tuple(msgspec.structs.replace(call, turn=None) for call in made.calls)
    bare = changed(made, calls=calls, turns=(), turns_gap="transcript_not_recorded")
    assert said(task(">x", [A, B]), bare, "call_grouping") == ("undecided", "transcript_not_recorded")


# Order.


@pytest.mark.parametrize(
    ("columns", "steps", "expected"),
    [
        ({"call_order": "any"}, ([B], [A]), ("not_applicable", "order_is_free")),
        ({}, ([A], [B]), ("passed", None)),
        ({}, ([B, A],), ("failed", "order_differs")),
        ({}, ([A], [PING]), ("not_applicable", "calls_differ")),
        ({}, ([A],), ("not_applicable", "calls_differ")),
    ],
)
def test_the_order_is_asked_for_only_of_the_right_calls(
    task: Task, run: Run, columns: dict[str, Any], steps: tuple[Any, ...], expected: tuple[str, str | None]
) -> None:
    """`strict` goes through all calls one by one, those of one group too; `any` asks for nothing."""
    gold = task(">x", [A], [B], "Done.", **columns)
    assert said(gold, run(">x", *steps, "Done."), "call_ordering") == expected


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (([A], [PING], [LEND]), ("passed", None)),
        (([A], [LEND], [PING]), ("passed", None)),
        (([A], [B], [PING], [LEND]), ("passed", None)),
        (([FLY], [A], [PING], [LEND]), ("passed", None)),
        (([PING], [A], [LEND]), ("failed", "prefix_differs")),
        (([LEND], [A], [PING]), ("failed", "prefix_differs")),
    ],
)
def test_a_prefix_binds_the_first_appearances_of_required_tools(
    task: Task, run: Run, steps: tuple[Any, ...], expected: tuple[str, str | None]
) -> None:
    """Other tools, and what comes after the prefix, are free."""
    columns = {"call_order": "prefix", "call_order_prefix": 1, "required_tools": ["find", "lend", "ping"]}
    gold = task(">x", *reversed(steps), "Done.", **columns)
    assert said(gold, run(">x", *steps, "Done."), "call_ordering") == expected


def test_a_prefix_counts_each_required_tool_once(task: Task, run: Run) -> None:
    """By its first appearance."""
    columns = {"call_order": "prefix", "call_order_prefix": 2, "required_tools": ["find", "lend"]}
    gold = task(">x", [A], [B], [LEND], **columns)
    assert said(gold, run(">x", [B], [A], [LEND]), "call_ordering") == ("passed", None)
    assert said(gold, run(">x", [LEND], [A], [B]), "call_ordering") == ("failed", "prefix_differs")


def test_one_call_has_no_order(task: Task, run: Run) -> None:
    """Nor has none."""
    assert said(task(">x", [A]), run(">x", [A]), "call_ordering") == ("not_applicable", "one_call")


def test_an_order_that_is_not_shown_is_undecided(task: Task, run: Run) -> None:
    """As is one of calls that may be others, unless it is right anyway."""
    gold, made = task(">x", [A], [PING]), run(">x", [A], [PING])
    assert said(gold, changed(made, order_gap="order_unknown"), "call_ordering") == (
        "undecided",
        "order_unknown",
    )
    swapped = changed(run(">x", [PING], [A]), call=1, hidden="arguments_truncated", arguments=msgspec.UNSET)
    assert said(gold, swapped, "call_ordering") == ("undecided", "arguments_truncated")
    columns = {"call_order": "prefix", "call_order_prefix": 1, "required_tools": ["find"]}
    nameless = changed(made, call=1, name=None, hidden="name_not_recorded")
    assert said(task(">x", [A], [PING], **columns), nameless, "call_ordering") == (
        "undecided",
        "name_not_recorded",
    )


# Texts.


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ((">x", "May I?", ">ok", [A], "There."), ("passed", None)),
        ((">x", [A], "There."), ("failed", "text_missing")),
        ((">x", "Which?", ">A", [A]), ("failed", "text_missing")),
        ((">x", "Which? I look.", [A], "Done."), ("failed", "text_missing")),
    ],
)
def test_texts_have_a_counterpart_in_their_place(
    task: Task, run: Run, steps: tuple[Any, ...], expected: tuple[str, str | None]
) -> None:
    """By their place among the calls; what is said with calls, and answered by nobody, is none."""
    assert said(task(">x", "Which?", ">A", [A], "Done."), run(*steps), "text_turn") == expected


def test_texts_on_the_other_side_of_the_calls_are_in_another_place(task: Task, run: Run) -> None:
    """Calls hold their places, however many texts would find a counterpart without them."""
    gold = task(">x", "Which?", ">A", "Sure?", ">yes", [A])
    made = run(">x", [A], "Which?", ">A", "Sure?", ">yes")
    assert said(gold, made, "text_turn") == ("failed", "text_missing")


def test_verbatim_asks_for_the_very_words_but_of_the_last_text(task: Task, run: Run) -> None:
    """A last text tells what came of it, in any words."""
    gold, verbatim = task(">x", "Which?", ">A", [A], "Done."), Policy(text="verbatim")
    assert said(gold, run(">x", "Which?", ">A", [A], "There."), "text_turn", verbatim) == ("passed", None)
    assert said(gold, run(">x", "May I?", ">A", [A], "Done."), "text_turn", verbatim) == (
        "failed",
        "text_missing",
    )


def test_a_text_that_may_have_been_cut_is_undecided(task: Task, run: Run) -> None:
    """What is there counts all the same."""
    gold = task(">x", "Which?", ">A", [A], "Done.")
    cut = changed(run(">x", "Which?", ">A", [A]), turns_gap="transcript_incomplete")
    assert said(gold, cut, "text_turn") == ("undecided", "transcript_incomplete")
    whole = changed(run(">x", "Which?", ">A", [A], "Done."), turns_gap="transcript_incomplete")
    assert said(gold, whole, "text_turn") == ("passed", None)


def test_gold_without_texts_asks_for_none(task: Task, run: Run) -> None:
    """The gate does not apply."""
    assert said(task(">x", [A]), run(">x", [A], "Done."), "text_turn") == (
        "not_applicable",
        "no_text_milestone",
    )


# The end.


@pytest.mark.parametrize("reason", sorted(CUT))
def test_an_answer_that_was_cut_is_no_end(task: Task, run: Run, reason: str) -> None:
    """Whatever the run did before."""
    made = changed(run(">x", [A], "Done."), finish_reason=reason)
    assert said(task(">x", [A], "Done."), made, "trace_completion") == ("failed", "answer_cut")


def test_a_run_that_breaks_off_is_not_complete(task: Task, run: Run) -> None:
    """With an open call, or before it began."""
    gold = task(">x", [A], "Done.")
    open_ = changed(run(">x", [A]), left_open="call_0")
    assert said(gold, open_, "trace_completion") == ("failed", "ended_open")
    assert all_gates(gold, open_, stopped=True)["trace_completion"].attribution == "infrastructure"
    assert said(gold, Shown(), "trace_completion") == ("failed", "nothing_done")
    unseen = Shown(turns_gap="transcript_not_recorded", calls_gap="calls_not_recorded")
    assert said(gold, unseen, "trace_completion") == ("undecided", "transcript_not_recorded")


# The user's word.


@pytest.mark.parametrize(
    ("steps", "status"),
    [
        (CONFIRMED, "passed"),
        ((">x", [A], "Shall I?", ">yes", [LEND]), "passed"),
        ((">x", [LEND], "Done."), "failed"),
        (("Hello!", ">x", [LEND], "Done."), "failed"),
        ((">x", "Shall I?", [LEND], "Done."), "failed"),
        ((">x", "Shall I?", ">yes", [A], [LEND], "Done."), "failed"),
        ((">x", "Shall I?", ">yes", [LEND, A], "Done."), "failed"),
        ((">x", "Shall I?", ">yes", [("lend", {"id": "B", "confirm": True})], "Done."), "failed"),
        ((">x", "Shall I?", ">yes", [LEND], [LEND], "Done."), "failed"),
        ((">x", [("lend", {"id": "A", "confirm": False})], "Done."), "not_applicable"),
        ((">x", [("lend", {"id": "A", "confirm": None})], "Done."), "not_applicable"),
        ((">x", [("lend", {"id": "A", "confirm": 0})], "Done."), "not_applicable"),
        ((">x", [("lend", {"id": "A", "confirm": 1})], "Done."), "failed"),
        ((">x", "Shall I?", ">yes", [("lend", {"id": "A", "confirm": "true"})], "Done."), "failed"),
    ],
)
def test_who_says_that_the_user_has_agreed_has_just_heard_so(
    task: Task, run: Run, steps: tuple[Any, ...], status: str
) -> None:
    """One answer covers the next batch alone, which is gold's as a whole; what code may take for true says it."""
    why = {"failed": "confirmation_not_earned", "not_applicable": "no_confirmation"}.get(status)
    assert said(task(*CONFIRMED), run(*steps), "confirmation") == (status, why)


def test_a_batch_is_earned_as_a_whole(task: Task, run: Run) -> None:
    """A part of it alone is not what the user has agreed to."""
    gold = task(">x", "Shall I?", ">yes", [LEND, PING], "Done.")
    assert said(gold, run(">x", "Shall I?", ">yes", [LEND], [PING]), "confirmation")[0] == "failed"
    assert said(gold, run(">x", "Shall I?", ">yes", [LEND, PING]), "confirmation")[0] == "passed"


def test_an_answer_to_another_question_is_no_agreement(task: Task, run: Run) -> None:
    """Gold asks twice, so the user must have answered twice."""
    gold = task(">x", "Which?", ">A", "Shall I?", ">yes", [LEND], "Done.")
    assert said(gold, run(">x", "Which?", ">A", [LEND], "Done."), "confirmation")[0] == "failed"
    assert said(gold, run(">x", "Which?", "Sure?", ">yes", [LEND]), "confirmation")[0] == "failed"
    assert said(gold, run(">x", "Which?", ">A", "Sure?", ">yes", [LEND]), "confirmation")[0] == "passed"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"call": 0, "hidden": "arguments_truncated", "arguments": msgspec.UNSET}, "arguments_truncated"),
        ({"call": 0, "name": None, "hidden": "name_not_recorded"}, "name_not_recorded"),
        ({"call": 0, "turn": None}, "groups_unknown"),
        ({"calls_gap": "calls_incomplete"}, "calls_incomplete"),
    ],
)
def test_whether_the_user_agreed_may_not_be_shown(
    task: Task, run: Run, change: dict[str, Any], why: str
) -> None:
    """Then it is undecided."""
    assert said(task(*CONFIRMED), changed(run(*CONFIRMED), **change), "confirmation") == ("undecided", why)


# What the evidence does not show.


@pytest.mark.parametrize(
    ("gap", "steps", "expected"),
    [
        ("calls_not_recorded", (), ("undecided", "undecided", "undecided")),
        ("calls_incomplete", ([A], [B]), ("undecided", "passed", "undecided")),
        ("calls_incomplete", ([A],), ("undecided", "undecided", "undecided")),
        ("calls_incomplete", ([A], [B], [PING]), ("failed", "passed", "undecided")),
        ("calls_incomplete", ([PING],), ("failed", "undecided", "undecided")),
        ("calls_incomplete", ([A], [("find", {"id": "C"})]), ("undecided", "failed", "undecided")),
    ],
)
def test_calls_that_may_be_missing_from_the_evidence_are_not_missing(
    task: Task, run: Run, gap: str, steps: tuple[Any, ...], expected: tuple[str, ...]
) -> None:
    """What is shown can fail a gate; what is not there can't."""
    made = changed(run(">x", *steps, "Done."), calls_gap=gap)
    found = all_gates(task(">x", [A], [B], "Done."), made)
    assert tuple(found[name].status for name in ("tool_selection", "arguments", "schema_valid")) == expected


def test_arguments_that_are_not_shown_leave_two_gates_undecided(task: Task, run: Run) -> None:
    """Not the selection: the tool is shown."""
    made = changed(run(">x", [A], "Done."), call=0, hidden="arguments_not_recorded", arguments=msgspec.UNSET)
    undecided = {
        name: gate.why
        for name, gate in all_gates(task(">x", [A], "Done."), made).items()
        if gate.status == "undecided"
    }
    assert undecided == {"arguments": "arguments_not_recorded", "schema_valid": "arguments_not_recorded"}


def test_a_tool_that_is_not_shown_leaves_the_selection_undecided(task: Task, run: Run) -> None:
    """It may be the right one."""
    made = changed(run(">x", [A], "Done."), call=0, name=None, hidden="name_not_recorded")
    assert said(task(">x", [A], "Done."), made, "tool_selection") == ("undecided", "name_not_recorded")


# Properties.

CALLS = st.lists(
    st.sampled_from([A, B, PING, LEND, ("find", {"id": "A", "limit": 3})]), min_size=1, max_size=4
)


def plain(calls: list[tuple[str, dict[str, Any]]]) -> Shown:
    """A run that makes these calls at once."""
    return Shown(
        calls=tuple(
            Call(id=f"c{index}", name=name, arguments=json.loads(json.dumps(arguments)), turn=0)
            for index, (name, arguments) in enumerate(calls)
        ),
        turns=(RunTurn(calls=tuple(range(len(calls))), heard_user=True),),
    )


@given(CALLS, CALLS, st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_order_of_calls_changes_neither_selection_nor_arguments(
    task: Task, expected: list[Any], made: list[Any], random: Any
) -> None:
    """Whichever way gold's calls and the run's are shuffled."""
    names = ("tool_selection", "arguments", "schema_valid", "call_grouping")

    def statuses() -> list[str]:
        found = all_gates(task(">x", expected), plain(made))
        return [found[name].status for name in names]

    before = statuses()
    random.shuffle(expected)
    random.shuffle(made)
    assert statuses() == before


@given(CALLS)
@settings(deadline=None)
def test_identical_calls_pass(task: Task, calls: list[Any]) -> None:
    """Selection, arguments, grouping and order."""
    found = all_gates(task(">x", calls), plain(calls))
    assert {found[name].status for name in gates.PATH} <= {"passed", "not_applicable"}
