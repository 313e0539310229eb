from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from example_episodes import InProcess
from example_packs import NAMES, ROOT, ExamplePack
from small_tasks import Handmade, Made, Recorded, call, made, read, reply, tool

from averment.oracle.model.loading import load_pack
from averment.oracle.tasks.dependent import derive
from averment.oracle.tasks.expansion import expand, reserved_rows
from averment.oracle.tasks.plan import plan
from averment.oracle.tasks.realizable import REASONS, Realizability, erring_calls
from averment.oracle.tasks.render import render
from averment.oracle.tasks.task import Task
from averment.oracle.tasks.trace import call_script
from averment.oracle.tasks.trace_checks import TraceFailure, TraceRules
from averment.oracle.tasks.wording import wording_of

DAYS: dict[str, Any] = {"type": "integer", "default": 30}
KIND: dict[str, Any] = {"type": "string", "enum": ["paper", "small-box"]}


def unknown(
    of: Made, *said: str, results: Sequence[Any] = (), task: Task | None = None, prompt: str = ""
) -> list[TraceFailure]:
    """What can't be known, where the user says this, and calls return that."""
    script, task = of.script, task or of.task()
    padded = [*results, *[{}] * (len(script.calls) - len(results))]
    calls = derive(script, task, Recorded(*padded)).calls
    return Realizability(of.pack, script, prompt).failures(task, calls, said, results)


def places(found: Sequence[TraceFailure]) -> list[tuple[int | None, str | None]]:
    assert {each.reason for each in found} <= {"gold_not_realizable"}
    return [(each.call, each.argument) for each in found]


# --- slots


@pytest.mark.parametrize(
    ("value", "said", "known"),
    [
        ("B-1", "Is B-1 in?", True),
        ("B-1", "Is B-12 in?", False),
        ("B-1", "Is b-1 in?", False),
        (90, "for 90 days", True),
        (90, "for 900 days", False),
        (500000, "500.000 đ", True),
        (1.5, "1.5 hours", True),
        (True, "Yes.", False),
        ("", "Is it in?", False),
    ],
)
def test_the_value_of_a_slot_is_known_where_the_user_says_it(
    handmade: Handmade, value: Any, said: str, known: bool
) -> None:
    """As guards look for values; a truth value too has to be said, since it differs between tasks."""
    of = made(handmade, call(args={"book": "{book}"}), slots={"book": value})
    assert places(unknown(of, said)) == ([] if known else [(0, "book")])


def test_what_is_not_known_is_told_with_the_call_and_the_slot(handmade: Handmade) -> None:
    """And its argument, at any depth."""
    of = made(handmade, call(args={"a": ["x", {"b c": "{book}"}]}), slots={"book": "B-1"})
    (failure,) = unknown(of, "x?")
    assert failure == TraceFailure(
        reason="gold_not_realizable",
        message='`a[1]["b c"]` of the call of `look` is "B-1", which is the value of the slot `book`, '
        "and no turn of the user before the call says it",
        call=0,
        argument='a[1]["b c"]',
    )


def test_a_parameter_that_is_filled_from_its_slot_has_to_be_said_too(handmade: Handmade) -> None:
    """Whether the template writes the placeholder or not."""
    of = made(handmade, call(), slots={"book": "B-1"}, tools=[tool("look", "book")])
    assert places(unknown(of, "That book, please.")) == [(0, "book")]


def test_what_the_user_says_after_the_call_comes_too_late(handmade: Handmade) -> None:
    """A hidden slot is known from the answer on."""
    of = made(
        handmade,
        call(args={"book": "{book}"}),
        {"type": "ask_confirm"},
        call("take", args={"book": "{book}"}),
        slots={"book": "B-1"},
        hidden=["book"],
        user_simulator_turns=[reply("ask_confirm")],
        turn_policy="confirmation",
    )
    assert places(unknown(of, "A book.", "B-1.")) == [(0, "book")]
    assert places(unknown(of, "A book.", "Yes.")) == [(0, "book"), (1, "book")]


def test_a_corrected_slot_has_to_be_said_from_its_correction_on(handmade: Handmade) -> None:
    """What the first turn says of it is taken back, even where the value stands there for another slot."""
    of = made(
        handmade,
        {"type": "ask_confirm"},
        call(args={"a": "{book}", "b": "{other}"}),
        slots={"book": "B-1", "other": "B-2"},
        user_simulator_turns=[reply("ask_confirm", book="new")],
        turn_policy="correction",
    )
    task = of.task({0: {"book": "B-2"}})
    assert places(unknown(of, "B-1 and B-2", "No, B-2 for both", task=task)) == []
    (failure,) = unknown(of, "B-1 and B-2", "No, the other", task=task)
    assert (failure.call, failure.argument) == (0, "a")
    assert failure.message.endswith("no turn of the user before the call says it from its correction on")


def test_each_value_of_a_slot_that_is_a_list_has_to_be_said(handmade: Handmade) -> None:
    """One that is not is told."""
    of = made(handmade, call(args={"books": "{books}"}), slots={"books": ["B-1", {"x": "B-2"}]})
    assert places(unknown(of, "B-1 and B-2")) == []
    (failure,) = unknown(of, "B-1")
    assert '"B-2"' in failure.message


def test_the_value_of_a_slot_may_be_the_declared_default(handmade: Handmade) -> None:
    """Then leaving the argument out means the same; an enum is no help, since the value differs between tasks."""
    tools = [tool("look", days=DAYS, kind=KIND)]
    args = {"days": "{days}", "kind": "{kind}"}
    of = made(handmade, call(args=args), slots={"days": 30, "kind": "paper"}, tools=tools)
    assert places(unknown(of, "Look.")) == [(0, "kind")]
    assert places(unknown(of, "Look.", task=of.task(days=30.0))) == [(0, "days"), (0, "kind")]


# --- results


def test_what_is_read_from_a_result_is_known(handmade: Handmade) -> None:
    """Whatever it is."""
    milestones = [call(id="a"), call("take", {"x": read("a", "id"), "y": read("a", "ok")})]
    of = made(handmade, *milestones, turn_policy="dependent_call")
    assert unknown(of, "Take one.", results=[{"id": "R-1", "ok": True}, {}]) == []


@pytest.mark.parametrize(
    ("value", "result", "known"),
    [
        ("B-1", {"rows": [{"id": "B-1"}]}, True),
        ("B-1", ["B-1"], True),
        ("B-1", "B-1", True),
        ("B-1", {"B-1": 1}, False),
        ("B-1", {"text": "It is B-1."}, False),
        (1, {"n": 1}, True),
        (1, {"n": 1.0}, False),
        (1, {"n": True}, False),
        (1, {"n": "1"}, False),
        (True, {"n": True}, False),
    ],
)
def test_a_value_that_an_earlier_result_holds_is_known(
    handmade: Handmade, value: Any, result: Any, known: bool
) -> None:
    """As a whole, with its type, anywhere in it; truth values are in every result and so in none."""
    milestones = [call(), call("take", {"x": "{x}"})]
    of = made(handmade, *milestones, slots={"x": value}, turn_policy="multi_tool")
    assert places(unknown(of, "Take it.", results=[result, {}])) == ([] if known else [(1, "x")])


def test_results_of_the_same_batch_and_of_later_ones_come_too_late(handmade: Handmade) -> None:
    """An agent issues a batch before it sees what any of its calls returns."""
    milestones = [call(call_group=1), call("take", {"x": "{x}"}, call_group=1), call()]
    of = made(handmade, *milestones, slots={"x": "B-1"}, turn_policy="multi_tool")
    assert places(unknown(of, "Take it.", results=["B-1", {}, "B-1"])) == [(1, "x")]


def test_without_results_only_the_user_is_listened_to(handmade: Handmade) -> None:
    """They are known after a replay only."""
    of = made(handmade, call(), call("take", {"x": "{x}"}), slots={"x": "B-1"}, turn_policy="multi_tool")
    assert places(unknown(of, "Take it.")) == [(1, "x")]


# --- constants of the template


@pytest.mark.parametrize(
    ("schema", "value", "said", "known"),
    [
        (KIND, "paper", "On sheets.", True),
        ({"const": "paper"}, "paper", "On sheets.", True),
        (DAYS, 30, "For a month.", True),
        (DAYS, 60, "For two months.", False),
        (DAYS, 60, "For 60 days.", True),
        ({"type": "string"}, "paper", "On sheets.", False),
        ({"type": "string"}, "paper", "On paper.", True),
        ({"type": "boolean"}, True, "Yes.", True),
        ({}, None, "Nothing.", True),
        ({"enum": [1.0]}, 1, "", False),
        ({"allOf": [{"$ref": "#/properties/other"}]}, "o", "", True),
        ({"default": {"a": [1, 2]}}, {"a": [1, 2]}, "", True),
        ({"default": {"a": [1, 2]}}, {"a": [1, 3]}, "", False),
        ({"properties": {"a": {"items": {"enum": [1, 2, 3]}}}}, {"a": [1, 3]}, "", True),
        ({"enum": [[]]}, [], "", True),
        ({}, [], "", False),
        ({}, {}, "", False),
    ],
)
def test_a_constant_is_declared_or_said(
    handmade: Handmade, schema: Any, value: Any, said: str, known: bool
) -> None:
    """By `enum`, `const` or `default`, at its place or around it; what stands in the template alone is a guess."""
    tools = [tool("look", x=schema, other={"enum": ["o"]})]
    of = made(handmade, call(args={"x": value}), tools=tools)
    found = unknown(of, said)
    assert bool(found) is not known
    assert all(
        "stands in the template, and neither a turn before the call nor the schema has it" in each.message
        for each in found
    )


def test_a_constant_may_stand_in_the_system_prompt_and_a_slot_may_not(handmade: Handmade) -> None:
    """What the agent is told once and for all is no value of one task."""
    of = made(handmade, call(args={"branch": "north", "book": "{book}"}), slots={"book": "B-1"})
    found = unknown(of, "Is it in?", prompt="You work for the branch north; B-1 is an example.")
    assert places(found) == [(0, "book")]


def test_a_call_of_an_unknown_tool_declares_nothing(handmade: Handmade) -> None:
    """That there is no such tool is told by `trace_checks`."""
    of = made(handmade, call("lock", args={"x": "{x}", "y": 7}), slots={"x": "B-1"})
    assert places(unknown(of, "B-1")) == [(0, "y")]


# --- texts


@pytest.mark.parametrize(
    ("said", "known"),
    [
        ("Write: Rent for May!", True),
        ("Rent, May", False),
        ("May rent for it", False),
    ],
)
def test_a_text_with_slots_in_it_is_known_as_a_whole(handmade: Handmade, said: str, known: bool) -> None:
    """Its parts are not enough: nobody tells how to join them."""
    of = made(handmade, call(args={"note": "Rent for {month}"}), slots={"month": "May"})
    found = unknown(of, said)
    assert places(found) == ([] if known else [(0, "note")])
    if found:
        assert "is made in the template, and no turn before the call has it as a whole" in found[0].message


def test_a_text_that_the_schema_lists_is_known_where_its_slots_are(handmade: Handmade) -> None:
    """Then its parts tell which member of the enum is meant."""
    of = made(handmade, call(args={"x": "{size}-box"}), slots={"size": "small"}, tools=[tool("look", x=KIND)])
    assert places(unknown(of, "In a small one.")) == []
    assert places(unknown(of, "In a box.")) == [(0, "x")]


def test_a_text_may_stand_in_an_earlier_result(handmade: Handmade) -> None:
    """As a whole."""
    milestones = [call(), call("take", {"x": "{n}/2026"})]
    of = made(handmade, *milestones, slots={"n": 7}, turn_policy="multi_tool")
    assert places(unknown(of, "Number 7.", results=[{"id": "7/2026"}, {}])) == []
    assert places(unknown(of, "Number 7.", results=[{"id": "7/2025"}, {}])) == [(1, "x")]


# --- calls that err


def test_a_gold_call_that_is_refused_drops_the_task(handmade: Handmade) -> None:
    """With the code that the tool gives."""
    of = made(handmade, call(), call("take"), turn_policy="multi_tool")
    calls = derive(of.script, of.task(), Recorded({}, {})).calls
    assert erring_calls(of.template, calls, [{}, {"error": {"code": "taken"}}]) == [
        TraceFailure(
            reason="gold_call_errs",
            message='the call of `take` is refused with "taken", and the policy is `multi_tool`',
            call=1,
        )
    ]
    assert erring_calls(of.template, calls, [{"error": "none"}, {"error": None}]) == []


def test_a_template_says_by_its_policy_that_a_call_is_refused(handmade: Handmade) -> None:
    """`negative_path`."""
    of = made(handmade, call(), turn_policy="negative_path")
    calls = derive(of.script, of.task(), Recorded({})).calls
    assert erring_calls(of.template, calls, [{"error": {"code": "taken"}}]) == []


# --- the example packs


@pytest.mark.parametrize("name", NAMES)
def test_every_task_of_the_example_packs_asks_for_nothing_that_can_not_be_known(name: str) -> None:
    """In each language, and none of their calls is refused without the template saying so."""
    pack, episode, count = load_pack(ROOT / name, strict=True), InProcess(ExamplePack(name)), 0
    plans = {each.template_id: plan(each) for each in pack.templates}
    wordings = [wording_of(pack, plans, language=language) for language in pack.manifest.languages]
    for template in pack.templates:
        planned = plans[template.template_id]
        script = call_script(template, planned, pack.tools)
        rules = TraceRules(pack, template, planned)
        realizable = Realizability(pack, script, pack.system_prompt or "")
        for task in expand(template, planned, pack, limit=12, reserved=reserved_rows(pack)):
            found = derive(script, task, episode)
            assert rules.failures(found.calls, task) == []
            assert erring_calls(template, found.calls, found.results) == []
            for wording in wordings:
                said = render(wording, task).user_turns
                assert realizable.failures(task, found.calls, said, found.results) == []
                assert realizable.failures(task, found.calls, said) == []
            count += 1
    assert count > 50


def test_every_reason_is_explained_and_tested() -> None:
    """In sentences; each code stands in a test of this file."""
    text = Path(__file__).read_text(encoding="utf-8")
    for code, reason in REASONS.items():
        assert reason.about.endswith(".")
        assert reason.mend.endswith(".")
        assert f'"{code}"' in text
