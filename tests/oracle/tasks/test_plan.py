from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from averment.oracle.model.pack import Pack
from averment.oracle.tasks.plan import CODE, PlanError, plan
from averment.oracle.tasks.steps import CallsStep, Plan, TextStep, UserStep
from averment.text.source import read_source

Handmade = Callable[..., Pack]

CALL = "{type: tool_call, tool: get_book}"
FINAL = "{type: final_answer}"
CONFIRM = "{type: ask_confirm}"
HIDDEN = "{source: 'fixture:books.book_id', visible_in_first_turn: false}"
VISIBLE = "{source: 'fixture:books.book_id', visible_in_first_turn: true}"


def turn(after: str, updates: str = "{}") -> str:
    return f"{{after: '{after}', content_template: {{en: yes}}, slot_updates: {updates}}}"


def template(policy: str, milestones: list[str], turns: list[str] | None = None, **fields: str) -> str:
    """One template as YAML; fields are YAML too."""
    said = {
        "turn_policy": policy,
        "success_assertions": "[assert_it]",
        "assistant_milestones": f"[{', '.join(milestones)}]",
        "user_simulator_turns": f"[{', '.join(turns or [])}]",
        **fields,
    }
    return "- " + "\n  ".join(f"{name}: {text}" for name, text in said.items())


def planned(
    handmade: Handmade, policy: str, milestones: list[str], turns: list[str] | None = None, **fields: str
) -> Plan:
    pack = handmade(template(policy, milestones, turns, **fields))
    return plan(pack.templates[0])


def refusals(
    handmade: Handmade, policy: str, milestones: list[str], turns: list[str] | None = None, **fields: str
) -> list[tuple[str, tuple[str | int, ...]]]:
    """The messages and paths of all refusals; every path exists, or its parent does."""
    pack = handmade(template(policy, milestones, turns, **fields))
    with pytest.raises(PlanError) as caught:
        plan(pack.templates[0])
    for refusal in caught.value.refusals:
        assert refusal.code == CODE
        place: Any = read_source(template(policy, milestones, turns, **fields)).value[0]
        for step in refusal.path[:-1]:
            place = place[step]
    return [(refusal.message, refusal.path) for refusal in caught.value.refusals]


def test_a_plan_is_the_first_turn_and_the_milestones(handmade: Handmade) -> None:
    """Texts and calls are counted as the assistant's turns."""
    made = planned(handmade, "single_turn", [CALL, FINAL])
    assert made.steps == (UserStep(), CallsStep((0,), 0, 0), TextStep(1, 1))
    assert (made.template_id, made.num_user_turns, made.num_tool_calls) == ("t0", 1, 1)
    assert (made.is_multi_turn, made.has_user_confirmation, made.has_slot_correction) == (False,) * 3


def test_calls_of_one_group_are_one_turn(handmade: Handmade) -> None:
    """They stand together and are numbered in the order in which they are issued."""
    grouped = [f"{{type: tool_call, tool: get_book, call_group: {group}}}" for group in ("b", "b", 0)]
    made = planned(handmade, "multi_tool", [*grouped, FINAL])
    assert made.steps[1:] == (CallsStep((0, 1), 0, 0), CallsStep((2,), 1, 1), TextStep(3, 2))
    assert made.num_tool_calls == 3


def test_calls_without_a_group_stay_one_after_the_other(handmade: Handmade) -> None:
    """Even where another call's group is their index."""
    made = planned(handmade, "multi_tool", [CALL, CALL, "{type: tool_call, tool: get_book, call_group: 1}"])
    assert [step.milestones for step in made.steps if isinstance(step, CallsStep)] == [(0,), (1,), (2,)]


@pytest.mark.parametrize("between", [FINAL, CALL, "{type: tool_call, tool: get_book, call_group: 8}"])
def test_a_group_that_is_split_is_refused(handmade: Handmade, between: str) -> None:
    """Calls of one message can't stand on both sides of another."""
    member = "{type: tool_call, tool: get_book, call_group: 7}"
    message = (
        "the calls of `call_group: 7` do not stand together: "
        "milestone 0 has opened the group, and another milestone has ended it"
    )
    expected = [(message, ("assistant_milestones", 2, "call_group"))]
    assert refusals(handmade, "multi_tool", [member, between, member]) == expected


@pytest.mark.parametrize("after", ["ask_confirm", "ask_confirm@0"])
def test_a_turn_comes_after_the_milestone_that_it_names(handmade: Handmade, after: str) -> None:
    """By its type, or by its type and index."""
    made = planned(handmade, "confirmation", [CONFIRM, CALL], [turn(after)])
    assert made.steps == (UserStep(), TextStep(0, 0), UserStep(0), CallsStep((1,), 0, 1))
    assert made.is_multi_turn
    assert made.deliveries == (0,)


def test_an_id_names_a_milestone_among_others_of_its_type(handmade: Handmade) -> None:
    """Even one that is spelt as the type is."""
    milestones = ["{type: ask_confirm, id: ask_confirm}", CALL, "{type: ask_confirm, id: again}", CALL]
    made = planned(handmade, "confirmation", milestones, [turn("again"), turn("ask_confirm")])
    assert made.deliveries == (1, 0)
    assert made.confirmed_call_turns == (1, 3)


@pytest.mark.parametrize("after", ["first", "second", "tool_call@1"])
def test_a_turn_may_name_any_call_of_a_batch(handmade: Handmade, after: str) -> None:
    """It comes after the whole batch."""
    calls = [
        f"{{type: tool_call, tool: get_book, id: {name}, call_group: 0}}" for name in ("first", "second")
    ]
    made = planned(handmade, "multi_tool", [*calls, FINAL], [turn(after)])
    assert made.steps == (UserStep(), CallsStep((0, 1), 0, 0), UserStep(0), TextStep(2, 1))


def test_turns_after_one_milestone_keep_their_order(handmade: Handmade) -> None:
    """Those that name it by its id come first, then those that name its type; each in the order of the file."""
    milestones = ["{type: ask_confirm, id: sure}", CALL]
    turns = [turn("ask_confirm"), turn("sure"), turn("ask_confirm"), turn("ask_confirm@0")]
    assert planned(handmade, "confirmation", milestones, turns).deliveries == (1, 3, 0, 2)


def test_a_type_that_occurs_twice_names_nothing(handmade: Handmade) -> None:
    """The refusal says what would."""
    pack = handmade(template("confirmation", [CONFIRM, CONFIRM, CALL], [turn("ask_confirm")]))
    with pytest.raises(PlanError) as caught:
        plan(pack.templates[0])
    (refusal,) = caught.value.refusals
    assert refusal.message == "the turn comes after `ask_confirm`, which 2 milestones are"
    assert refusal.path == ("user_simulator_turns", 0, "after")
    assert "`ask_confirm@0`, `ask_confirm@1`" in str(refusal.mend)


def test_a_turn_that_comes_after_nothing_has_the_nearest_name(handmade: Handmade) -> None:
    """And the milestone that lacks it is not told as well."""
    pack = handmade(template("confirmation", [CONFIRM, CALL], [turn("ask_confirms")]))
    with pytest.raises(PlanError) as caught:
        plan(pack.templates[0])
    (refusal,) = caught.value.refusals
    assert (refusal.message, refusal.nearest) == (
        "the turn comes after `ask_confirms`, which no milestone is",
        "ask_confirm",
    )


@pytest.mark.parametrize("kind", ["ask_confirm", "ask_for_slot"])
def test_a_question_in_the_middle_needs_an_answer(handmade: Handmade, kind: str) -> None:
    """At the end it may stay open."""
    message = f"the user does not answer `{kind}`, and the conversation goes on after it"
    question = f"{{type: {kind}}}"
    assert refusals(handmade, "single_turn", [question, CALL]) == [(message, ("assistant_milestones", 0))]
    assert planned(handmade, "single_turn", [CALL, question]).num_user_turns == 1


@pytest.mark.parametrize(
    ("milestones", "turns", "covered"),
    [
        ([CONFIRM, CALL], ["ask_confirm"], (1,)),
        ([CALL, CONFIRM], ["ask_confirm"], ()),
        ([CONFIRM, CALL, CALL], ["ask_confirm"], (1,)),
        ([CONFIRM, FINAL, CALL], ["ask_confirm"], (2,)),
        ([CONFIRM, "{type: ask_for_slot}", CALL], ["ask_confirm", "ask_for_slot"], ()),
        (["{type: ask_for_slot}", CONFIRM, CALL], ["ask_confirm", "ask_for_slot"], (2,)),
        ([FINAL, CALL], ["final_answer"], ()),
        (
            [CONFIRM, *["{type: tool_call, tool: get_book, call_group: 1}"] * 2, CALL],
            ["ask_confirm"],
            (1,),
        ),
    ],
)
def test_a_confirmation_covers_the_next_batch(
    handmade: Handmade, milestones: list[str], turns: list[str], covered: tuple[int, ...]
) -> None:
    """The user's answer to `ask_confirm`, up to one batch of calls; asking for a slot withdraws it."""
    pack = handmade(template("negative_path", milestones, [turn(after) for after in turns]))
    made = plan(pack.templates[0])
    assert made.confirmed_call_turns == covered
    assert made.has_user_confirmation == bool(covered)


UPDATE = "{book: {source: 'literal:B-2'}}"


@pytest.mark.parametrize(
    ("turns", "covered"),
    [
        ([turn("first", UPDATE), turn("second")], (2,)),
        ([turn("first"), turn("second", UPDATE)], ()),
        ([turn("second"), turn("second", UPDATE), turn("first")], ()),
        ([turn("second", UPDATE), turn("second"), turn("first")], ()),
    ],
)
def test_a_correction_withdraws_a_confirmation(
    handmade: Handmade, turns: list[str], covered: tuple[int, ...]
) -> None:
    """In the turn that answers as in a later one; only another answer to another question confirms again."""
    milestones = ["{type: ask_confirm, id: first}", "{type: ask_confirm, id: second}", CALL]
    made = planned(handmade, "correction", milestones, turns, slots=f"{{book: {VISIBLE}}}")
    assert made.has_slot_correction
    assert made.confirmed_call_turns == covered


POLICIES: dict[str, tuple[list[str], list[str], dict[str, str]]] = {
    "single_turn": ([CALL, FINAL], [], {}),
    "multi_tool": ([CALL, CALL, FINAL], [], {}),
    "missing_slot": (
        ["{type: ask_for_slot}", CALL, FINAL],
        [turn("ask_for_slot")],
        {"slots": f"{{book: {HIDDEN}}}"},
    ),
    "confirmation": ([CONFIRM, CALL, FINAL], [turn("ask_confirm")], {}),
    "correction": ([CONFIRM, CALL, FINAL], [turn("ask_confirm", UPDATE)], {"slots": f"{{book: {VISIBLE}}}"}),
    "dependent_call": (
        [
            "{type: tool_call, tool: get_book, id: a}",
            "{type: tool_call, tool: get_book, args: {book_id: {from_result: {call: a, path: next.0.id}}}}",
        ],
        [],
        {},
    ),
    "negative_path": ([CALL, FINAL], [], {}),
    "clarify_only": (["{type: ask_for_slot}"], [], {}),
    "irrelevant": (["{type: decline}"], [], {}),
}


@pytest.mark.parametrize("policy", list(POLICIES))
def test_every_policy_has_a_smallest_plan(handmade: Handmade, policy: str) -> None:
    """Each of the nine can be planned."""
    milestones, turns, fields = POLICIES[policy]
    made = planned(handmade, policy, milestones, turns, **fields)
    assert made.is_multi_turn == bool(turns)
    assert made.num_tool_calls == sum("tool_call" in milestone for milestone in milestones)


@pytest.mark.parametrize("policy", [name for name in POLICIES if name not in {"clarify_only", "irrelevant"}])
def test_every_policy_but_two_makes_a_call(handmade: Handmade, policy: str) -> None:
    """A conversation without a call has another name."""
    _, turns, fields = POLICIES[policy]
    milestones = ["{type: ask_for_slot}", "{type: ask_confirm}", FINAL]
    turns = [
        "{after: ask_for_slot, content_template: {en: x}}",
        turn("ask_confirm", UPDATE if policy == "correction" else "{}"),
    ]
    found = [message for message, _ in refusals(handmade, policy, milestones, turns, **fields)]
    assert f"the policy is `{policy}`, and no tool is called" in found


MILESTONES = ("assistant_milestones",)
Case: TypeAlias = tuple[str, list[str], list[str], dict[str, str], list[tuple[str, tuple[str | int, ...]]]]


@pytest.mark.parametrize(
    "case",
    [
        (
            "single_turn",
            [CALL, FINAL],
            [turn("final_answer")],
            {},
            [("the policy is `single_turn`, and the user has 2 turns", ("user_simulator_turns",))],
        ),
        (
            "multi_tool",
            [CALL],
            [],
            {},
            [("the policy is `multi_tool`, and one tool is called once", MILESTONES)],
        ),
        (
            "confirmation",
            [CALL, CONFIRM],
            [turn("ask_confirm")],
            {},
            [("the policy is `confirmation`, and no call is confirmed by the user", MILESTONES)],
        ),
        (
            "correction",
            [CALL],
            [],
            {},
            [("the policy is `correction`, and no turn of the user replaces a value", ("turn_policy",))],
        ),
        (
            "negative_path",
            [CALL],
            [],
            {"success_assertions": "[]"},
            [
                (
                    "the policy is `negative_path`, and no assertion says what must have been refused",
                    ("turn_policy",),
                )
            ],
        ),
        (
            "irrelevant",
            [CALL, "{type: decline}"],
            [],
            {},
            [("the policy is `irrelevant`, and a tool is called", (*MILESTONES, 0))],
        ),
        (
            "irrelevant",
            ["{type: decline}", FINAL],
            [],
            {},
            [("the policy is `irrelevant`, and the last milestone is `final_answer`", (*MILESTONES, 1))],
        ),
        (
            "clarify_only",
            ["{type: decline}"],
            [],
            {},
            [("the policy is `clarify_only`, and the last milestone is `decline`", (*MILESTONES, 0))],
        ),
        (
            "missing_slot",
            [CALL],
            [],
            {"slots": f"{{book: {VISIBLE}}}"},
            [("the policy is `missing_slot`, and the user states every slot in the first turn", ("slots",))],
        ),
        (
            "missing_slot",
            [CALL],
            [],
            {"slots": f"{{book: {HIDDEN}}}"},
            [("the hidden slot `book` is never asked for", ("slots", "book"))],
        ),
        (
            "missing_slot",
            ["{type: ask_for_slot, slot: seen}", CALL],
            [turn("ask_for_slot")],
            {"slots": f"{{book: {HIDDEN}, seen: {VISIBLE}}}"},
            [
                ("`ask_for_slot` asks for `seen`, which is no hidden slot", (*MILESTONES, 0, "slot")),
                ("the hidden slot `book` is never asked for", ("slots", "book")),
            ],
        ),
        (
            "missing_slot",
            ["{type: ask_for_slot}", CALL],
            [turn("ask_for_slot")],
            {"slots": f"{{book: {HIDDEN}, reader: {HIDDEN}}}"},
            [
                (
                    "several slots are hidden, and `ask_for_slot` does not say which of them it asks for",
                    (*MILESTONES, 0),
                )
            ],
        ),
        (
            "missing_slot",
            [CALL, "{type: ask_for_slot}", CALL],
            [turn("ask_for_slot")],
            {"slots": f"{{book: {HIDDEN}}}"},
            [("the hidden slot `book` is asked for after a tool was called", (*MILESTONES, 1))],
        ),
        (
            "confirmation",
            [CONFIRM, CALL],
            [turn("ask_confirm"), turn("ask_confirm", UPDATE)],
            {"slots": f"{{book: {VISIBLE}}}"},
            [
                (
                    "a turn replaces values, and the policy is `confirmation`",
                    ("user_simulator_turns", 1, "slot_updates"),
                ),
                ("the policy is `confirmation`, and no call is confirmed by the user", MILESTONES),
            ],
        ),
    ],
)
def test_a_policy_is_held_to_its_shape(handmade: Handmade, case: Case) -> None:
    """Every way in which a conversation is not what its policy calls it."""
    policy, milestones, turns, fields, expected = case
    assert refusals(handmade, policy, milestones, turns, **fields) == expected


def test_several_hidden_slots_are_each_asked_for(handmade: Handmade) -> None:
    """By name, in any order, before the first call."""
    milestones = ["{type: ask_for_slot, slot: b, id: x}", "{type: ask_for_slot, slot: a, id: y}", CALL]
    made = planned(
        handmade, "missing_slot", milestones, [turn("y"), turn("x")], slots=f"{{a: {HIDDEN}, b: {HIDDEN}}}"
    )
    assert made.deliveries == (1, 0)


@pytest.mark.parametrize("policy", ["confirmation", "correction"])
def test_other_policies_may_ask_for_what_they_like(handmade: Handmade, policy: str) -> None:
    """An `ask_for_slot` as a question back is no mistake outside `missing_slot`."""
    milestones = ["{type: ask_for_slot}", CONFIRM, CALL]
    turns = [turn("ask_for_slot", UPDATE if policy == "correction" else "{}"), turn("ask_confirm")]
    made = planned(handmade, policy, milestones, turns, slots=f"{{book: {VISIBLE}}}")
    assert made.confirmed_call_turns == (2,)


def test_every_refusal_is_told_at_once(handmade: Handmade) -> None:
    """Those of the turns, of the updates and of the policy."""
    milestones = ["{type: tool_call, tool: get_book, call_group: 1}", FINAL]
    found = refusals(handmade, "multi_tool", milestones, [turn("nothing"), turn("final_answer", UPDATE)])
    assert [path for _, path in found] == [
        ("user_simulator_turns", 0, "after"),
        ("user_simulator_turns", 1, "slot_updates"),
        ("assistant_milestones",),
    ]
