from __future__ import annotations

from typing import Any

import pytest
from example_episodes import InProcess
from example_gold import GOLD, Gold
from example_packs import NAMES, ROOT, ExamplePack
from small_tasks import Handmade, call, made, read, reply, task_with, tool

from averment.oracle.model.loading import load_pack
from averment.oracle.tasks.dependent import derive
from averment.oracle.tasks.plan import plan
from averment.oracle.tasks.task import Correction
from averment.oracle.tasks.trace import GoldCall, call_script, gold_calls
from averment.oracle.tasks.trace_checks import trace_failures
from averment.oracle.tasks.trace_faults import FAULTS, TraceError

PACKS = {name: load_pack(ROOT / name, strict=True) for name in NAMES}


@pytest.mark.parametrize("gold", [pytest.param(gold, id=gold.template) for gold in GOLD])
def test_what_was_derived_by_hand_is_derived(gold: Gold) -> None:
    """Same tools, same arguments, same order; and the calls are sound."""
    pack = PACKS[gold.pack]
    template = next(each for each in pack.templates if each.template_id == gold.template)
    planned = plan(template)
    first = {**gold.slots, **gold.initial}
    updates = [
        Correction(entry, {slot: gold.slots[slot] for slot in turn.slot_updates})
        for entry, turn in enumerate(template.user_simulator_turns)
        if turn.slot_updates
    ]
    task = task_with(template, planned, first, gold.slots, updates)
    of = call_script(template, planned, pack.tools)
    if of.is_dependent:
        calls = derive(of, task, InProcess(ExamplePack(gold.pack))).calls
    else:
        calls = gold_calls(of, task)
    assert [(each.function_name, each.arguments) for each in calls] == list(gold.calls)
    assert trace_failures(task, calls, pack, template, planned) == []
    assert len(calls) == planned.num_tool_calls


def test_a_lone_placeholder_keeps_the_type_and_another_makes_text(handmade: Handmade) -> None:
    """At any depth; values are not searched for placeholders, and keys are what they are."""
    args = {"a": "{n}", "b": "no. {n}{t}", "c": [{"{n}": "{t}"}, " {n}", 7, None], "d": {"e": "{list}"}}
    of = made(handmade, call(args=args), slots={"n": 3, "t": "{n}", "list": [1]})
    (found,) = gold_calls(of.script, of.task())
    assert found.arguments == {
        "a": 3,
        "b": "no. 3{n}",
        "c": [{"{n}": "{n}"}, " 3", 7, None],
        "d": {"e": [1]},
    }


def test_braces_around_what_is_no_name_are_text(handmade: Handmade) -> None:
    """Only an ASCII name in braces is a placeholder."""
    args = {"a": "{}", "b": "{1}", "c": "{n }"}
    of = made(handmade, call(args=args), slots={"n": 3})
    assert gold_calls(of.script, of.task())[0].arguments == args


def test_required_parameters_are_filled_and_optional_ones_never(handmade: Handmade) -> None:
    """From the slot of the same name, where the call does not give the argument itself."""
    look = tool("look", "book", "shelf", note={"type": "string"})
    of = made(
        handmade, call(args={"shelf": "B"}), slots={"book": "B-1", "shelf": "A", "note": "n"}, tools=[look]
    )
    assert gold_calls(of.script, of.task())[0].arguments == {"shelf": "B", "book": "B-1"}


def test_a_required_parameter_without_a_slot_stays_away(handmade: Handmade) -> None:
    """Validation tells that it is missing."""
    of = made(handmade, call(), tools=[tool("look", "book")])
    calls = gold_calls(of.script, of.task())
    assert calls[0].arguments == {}
    assert [each.reason for each in trace_failures(of.task(), calls, of.pack, of.template, of.plan)] == [
        "missing_required_argument"
    ]


def test_a_call_knows_its_turn_its_group_and_its_place(handmade: Handmade) -> None:
    """Turns count the assistant's messages, texts too; groups count batches, whatever the template calls them."""
    of = made(
        handmade,
        {"type": "ask_confirm"},
        call(call_group="x"),
        call("take", call_group="x"),
        call(),
        user_simulator_turns=[reply("ask_confirm")],
        turn_policy="multi_tool",
    )
    assert gold_calls(of.script, of.task()) == [
        GoldCall(1, 0, 0, "look", {}),
        GoldCall(1, 0, 1, "take", {}),
        GoldCall(2, 1, 0, "look", {}),
    ]


def test_a_template_without_calls_has_no_gold_calls(handmade: Handmade) -> None:
    """The right answer is a text."""
    of = made(
        handmade, {"type": "decline"}, turn_policy="irrelevant", assistant_milestones=[{"type": "decline"}]
    )
    assert gold_calls(of.script, of.task()) == []


CORRECTED: dict[str, Any] = {
    "turn_policy": "correction",
    "user_simulator_turns": [reply("ask_confirm", book="other")],
}


def test_a_call_after_a_correction_has_the_new_value(handmade: Handmade) -> None:
    """And values that are not corrected as they were."""
    of = made(
        handmade,
        call(args={"shelf": "{shelf}"}),
        {"type": "ask_confirm"},
        call("take", {"book": "{book}", "shelf": "{shelf}"}),
        slots={"book": "B-1", "shelf": "A"},
        **CORRECTED,
    )
    calls = gold_calls(of.script, of.task({0: {"book": "B-2"}}))
    assert [each.arguments for each in calls] == [{"shelf": "A"}, {"book": "B-2", "shelf": "A"}]


def faults(handmade: Handmade, *milestones: dict[str, Any], **fields: Any) -> list[tuple[str, Any, Any]]:
    of = made(handmade, *milestones, **fields)
    with pytest.raises(TraceError) as caught:
        call_script(of.template, of.plan, of.pack.tools)
    return [(each.code, each.path, each.nearest) for each in caught.value.mistakes]


@pytest.mark.parametrize("args", [{"b": "{book}"}, None], ids=["named", "filled"])
def test_a_call_that_reads_a_slot_before_its_correction_stops_the_run(handmade: Handmade, args: Any) -> None:
    """By a placeholder, or because a required parameter has the slot's name."""
    milestones = [call(args=args), {"type": "ask_confirm"}, call("take", {"book": "{book}"})]
    tools = [tool("look", "book"), tool("take")] if args is None else None
    found = faults(handmade, *milestones, slots={"book": "B-1"}, tools=tools, **CORRECTED)
    assert found == [("stale_argument", ("assistant_milestones", 0), None)]


def test_a_slot_with_the_value_that_another_had_is_not_stale(handmade: Handmade) -> None:
    """What counts is which slot is read, and never the bare value."""
    of = made(
        handmade,
        call(args={"b": "{same}"}),
        {"type": "ask_confirm"},
        call("take", {"b": "{book}", "c": "{same}"}),
        slots={"book": "B-1", "same": "B-1"},
        **CORRECTED,
    )
    calls = gold_calls(of.script, of.task({0: {"book": "B-2"}}))
    assert [each.arguments for each in calls] == [{"b": "B-1"}, {"b": "B-2", "c": "B-1"}]


def test_an_argument_that_names_no_slot_stops_the_run(handmade: Handmade) -> None:
    """Every one is told with its place; the alias of a correction counts in its turn only."""
    found = faults(
        handmade,
        {"type": "ask_confirm"},
        call(args={"a": ["x {bok}"], "b": "{other}"}),
        slots={"book": "B-1"},
        **CORRECTED,
    )
    place = ("assistant_milestones", 1, "args")
    assert found == [
        ("unknown_placeholder", (*place, "a", 0), "book"),
        ("unknown_placeholder", (*place, "b"), None),
    ]


def test_a_fault_of_a_template_is_shown_at_its_place_in_the_file(handmade: Handmade) -> None:
    """With what to do about it."""
    of = made(handmade, call(args={"a": "{book}"}))
    with pytest.raises(TraceError) as caught:
        call_script(of.template, of.plan, of.pack.tools)
    (problem,) = caught.value.refusal(of.pack, of.template).problems
    assert (problem.file, problem.path) == ("task_templates.yaml", "$[0].assistant_milestones[0].args.a")
    assert problem.line is not None
    assert problem.mend == FAULTS["unknown_placeholder"].mend


def test_a_script_knows_whether_it_reads_results(handmade: Handmade) -> None:
    """However deep the marker stands."""
    milestones = [call(id="first"), call(args={"a": [{"b": read("first", "c")}]})]
    assert made(handmade, *milestones, turn_policy="dependent_call").script.is_dependent
    assert not made(handmade, call()).script.is_dependent


def test_every_fault_says_what_it_is_and_what_to_do() -> None:
    """In sentences."""
    for reason in FAULTS.values():
        assert reason.about.endswith(".")
        assert reason.mend.endswith(".")
