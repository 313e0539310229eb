from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from small_tasks import Handmade, Made, call, gold, made, reply, tool

from averment.oracle.catalog.reasons import ARGUMENT_REASONS
from averment.oracle.tasks.task import Task
from averment.oracle.tasks.trace import GoldCall, gold_calls
from averment.oracle.tasks.trace_checks import REASONS, TraceFailure, TraceRules, trace_failures


def failures(of: Made, calls: Sequence[GoldCall], task: Task | None = None) -> list[TraceFailure]:
    return trace_failures(task or of.task(), calls, of.pack, of.template, of.plan)


def reasons(of: Made, calls: Sequence[GoldCall], task: Task | None = None) -> list[str]:
    return [each.reason for each in failures(of, calls, task)]


def changed(of: Made, **fields: Any) -> Made:
    """With a template that no loader would have let through, or no plan."""
    return msgspec.structs.replace(of, template=msgspec.structs.replace(of.template, **fields))


def ordered(handmade: Handmade, order: str, required: list[str], prefix: int | None = None) -> Made:
    tools = [tool(name) for name in ("a", "b", "c", "d")]
    return changed(
        made(handmade, call("a"), tools=tools),
        call_order=order,
        required_tools=required,
        call_order_prefix=prefix,
    )


def test_derived_calls_are_sound(handmade: Handmade) -> None:
    """Nothing is found."""
    of = made(handmade, call(), call("take"), turn_policy="multi_tool", required_tools=["look", "take"])
    assert failures(of, gold_calls(of.script, of.task())) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"turn_index": -1},
        {"turn_index": True},
        {"turn_index": 1.0},
        {"call_group": "0"},
        {"position_in_group": None},
        {"function_name": None},
        {"function_name": " "},
    ],
)
def test_a_field_of_the_wrong_type_is_a_bad_struct_field(handmade: Handmade, fields: dict[str, Any]) -> None:
    """`bad_struct_field`; nothing else is asked of the call."""
    of = made(handmade, call())
    (failure,) = failures(of, [msgspec.structs.replace(gold("look")[0], **fields)])
    assert (failure.reason, failure.call) == ("bad_struct_field", 0)
    assert next(iter(fields)) in failure.message


def test_arguments_that_are_no_object(handmade: Handmade) -> None:
    """`arguments_not_object`; what else they lack is not asked."""
    of = made(handmade, call(), tools=[tool("look", "book")])
    wrong: Any = ["book"]
    assert reasons(of, [msgspec.structs.replace(gold("look")[0], arguments=wrong)]) == [
        "arguments_not_object"
    ]


def test_a_tool_that_the_catalog_lacks(handmade: Handmade) -> None:
    """`unknown_tool`; it has no schema to check arguments by."""
    of = made(handmade, call("lock"))
    assert failures(of, gold("lock", x=1)) == [
        TraceFailure(reason="unknown_tool", message="the catalog has no tool `lock`", call=0)
    ]


def test_a_tool_that_the_agent_does_not_see(handmade: Handmade) -> None:
    """`tool_not_exposed`; with `tools_present` left out it sees all."""
    of = made(handmade, call("take"), tools_present=["look"])
    assert reasons(of, gold("take")) == ["tool_not_exposed"]
    assert reasons(of, gold("look")) == []
    assert reasons(made(handmade, call("take")), gold("take")) == []


CONFIRMING = [{**tool("take"), "requires_confirmation": True}, tool("look")]


@pytest.mark.parametrize(
    ("name", "turn", "arguments", "found"),
    [
        ("take", 0, {"confirm": True}, True),
        ("take", 1, {"confirm": True}, False),
        ("take", 2, {"confirm": True}, True),
        ("take", 0, {"confirm": False}, False),
        ("take", 0, {"confirm": 1}, False),
        ("take", 0, {"sure": True}, False),
        ("look", 0, {"confirm": True}, False),
    ],
)
def test_a_confirmed_call_without_the_users_word(
    handmade: Handmade, name: str, turn: int, arguments: Any, found: bool
) -> None:
    """`confirmed_mutation_without_user_confirmation`: the tool asks for it, the parameter is true, the turn is none."""
    of = made(
        handmade,
        {"type": "ask_confirm"},
        call("take"),
        tools=CONFIRMING,
        turn_policy="confirmation",
        user_simulator_turns=[reply("ask_confirm")],
    )
    expected = ["confirmed_mutation_without_user_confirmation"] if found else []
    assert reasons(of, gold(name, turns=[turn], **arguments)) == expected


def test_the_parameter_for_confirmation_is_the_manifests(handmade: Handmade) -> None:
    """`confirm` is only its default."""
    of = made(handmade, call("take"), tools=CONFIRMING)
    manifest = msgspec.structs.replace(
        of.pack.manifest,
        confirmation=msgspec.structs.replace(of.pack.manifest.confirmation, parameter="sure"),
    )
    of = msgspec.structs.replace(of, pack=msgspec.structs.replace(of.pack, manifest=manifest))
    assert reasons(of, gold("take", confirm=True)) == []
    (failure,) = failures(of, gold("take", sure=True))
    assert (failure.argument, failure.call) == ("sure", 0)


@pytest.mark.parametrize(
    ("value", "found"), [(30, True), (60, False), (60.0, True), ("60", True), (None, True)]
)
def test_an_argument_called_like_a_corrected_slot_has_its_last_value(
    handmade: Handmade, value: Any, found: bool
) -> None:
    """`superseded_slot_value_in_trace`, by canonical equality."""
    of = made(
        handmade,
        {"type": "ask_confirm"},
        call(),
        slots={"days": 30, "other": 30},
        turn_policy="correction",
        user_simulator_turns=[reply("ask_confirm", days="new_days")],
    )
    task = of.task({0: {"days": 60}})
    expected = ["superseded_slot_value_in_trace"] if found else []
    assert reasons(of, gold("look", days=value), task) == expected
    assert reasons(of, gold("look", other=1, inner={"days": 30}), task) == []


SCHEMAS: dict[str, tuple[dict[str, Any], Any]] = {
    "argument_type_mismatch": ({"type": "integer"}, True),
    "argument_not_in_enum": ({"enum": [1]}, 2),
    "argument_not_equal_const": ({"const": 1}, 2),
    "string_too_short": ({"minLength": 1}, ""),
    "string_too_long": ({"maxLength": 0}, "a"),
    "string_pattern_mismatch": ({"pattern": "a"}, "b"),
    "number_below_minimum": ({"minimum": 1}, 0),
    "number_above_maximum": ({"maximum": 1}, 2),
    "array_too_short": ({"minItems": 1}, []),
    "array_too_long": ({"maxItems": 0}, [1]),
    "missing_required_argument": ({"type": "object", "required": ["y"]}, {}),
    "unknown_argument": ({"type": "object", "additionalProperties": False}, {"y": 1}),
    "unresolvable_schema_ref": ({"$ref": "#/$defs/none"}, 1),
    "invalid_schema_type": ({"type": "text"}, "a"),
}


@pytest.mark.parametrize("reason", SCHEMAS)
def test_arguments_have_to_fit_the_schema(handmade: Handmade, reason: str) -> None:
    """With the reasons that arguments have anywhere, and where in the arguments it is."""
    schema, value = SCHEMAS[reason]
    of = made(handmade, call(), tools=[tool("look", x=schema)])
    (failure,) = failures(of, gold("look", x=value))
    assert (failure.reason, failure.call) == (reason, 0)
    assert failure.argument in {"x", "x.y"}
    assert failure.message.startswith("the call of `look`: ")


def test_a_dependent_call_wants_an_order(handmade: Handmade) -> None:
    """`dependent_call_requires_strict_order`."""
    of = changed(made(handmade, call()), turn_policy="dependent_call", call_order="any")
    assert reasons(of, gold("look")) == ["dependent_call_requires_strict_order"]


def test_an_order_that_is_none(handmade: Handmade) -> None:
    """`unknown_call_order`; the calls are not measured by it."""
    assert reasons(ordered(handmade, "sorted", ["b", "a"]), gold("a", "b")) == ["unknown_call_order"]


@pytest.mark.parametrize("prefix", [None, 0, 3, True, "1"])
def test_a_prefix_that_is_no_number_of_required_tools(handmade: Handmade, prefix: Any) -> None:
    """`bad_call_order_prefix`."""
    assert reasons(ordered(handmade, "prefix", ["a", "b"], prefix), gold("a", "b")) == [
        "bad_call_order_prefix"
    ]


@pytest.mark.parametrize("order", ["strict", "any"])
def test_a_prefix_without_its_order(handmade: Handmade, order: str) -> None:
    """`call_order_prefix_without_prefix_order`."""
    found = reasons(ordered(handmade, order, ["a"], 1), gold("a"))
    assert found == ["call_order_prefix_without_prefix_order"]


@pytest.mark.parametrize(
    ("order", "prefix", "calls", "found"),
    [
        ("strict", None, "abc", []),
        ("strict", None, "aabac", []),
        ("strict", None, "dadbdc", []),
        ("strict", None, "acb", ["call_order_mismatch"]),
        ("any", None, "cba", []),
        ("any", None, "dcbac", []),
        ("prefix", 1, "acb", []),
        ("prefix", 2, "acb", ["call_order_mismatch"]),
        ("prefix", 1, "bac", ["call_order_mismatch"]),
        ("prefix", 2, "abac", []),
        ("strict", None, "ab", ["required_tool_not_called", "call_order_mismatch"]),
        ("prefix", 1, "ab", ["required_tool_not_called", "call_order_remainder_mismatch"]),
        ("prefix", 3, "ab", ["required_tool_not_called", "call_order_mismatch"]),
        ("any", None, "ab", ["required_tool_not_called"]),
        ("any", None, "", ["required_tool_not_called"] * 3),
    ],
)
def test_the_first_calls_of_required_tools_come_in_their_order(
    handmade: Handmade, order: str, prefix: int | None, calls: str, found: list[str]
) -> None:
    """All of them, the first of them, or in none; other tools and repeated calls say nothing."""
    assert reasons(ordered(handmade, order, ["a", "b", "c"], prefix), gold(*calls)) == found


def test_a_tool_that_is_required_twice_is_called_first_once(handmade: Handmade) -> None:
    """What is listed twice is no order of first calls; after a prefix it is a remainder that can't be."""
    assert reasons(ordered(handmade, "strict", ["a", "a"]), gold("a", "a")) == ["call_order_mismatch"]
    assert reasons(ordered(handmade, "prefix", ["a", "b", "b"], 1), gold("a", "b", "b")) == [
        "call_order_remainder_mismatch"
    ]


def test_a_group_is_made_in_one_turn(handmade: Handmade) -> None:
    """`call_group_spans_turns`, at the call that is elsewhere."""
    calls = [GoldCall(0, 0, 0, "look", {}), GoldCall(1, 0, 1, "look", {})]
    (failure,) = failures(made(handmade, call()), calls)
    assert (failure.reason, failure.call) == ("call_group_spans_turns", 1)


@pytest.mark.parametrize(
    ("positions", "found"), [((0, 1), False), ((1, 2), True), ((0, 2), True), ((0, 0), True), ((1, 0), True)]
)
def test_positions_in_a_group_count_from_0(
    handmade: Handmade, positions: tuple[int, int], found: bool
) -> None:
    """`non_contiguous_group_positions`, whether one is left out, stands twice, or comes first."""
    calls = [GoldCall(0, 0, position, "look", {}) for position in positions]
    assert reasons(made(handmade, call()), calls) == (["non_contiguous_group_positions"] if found else [])


@pytest.mark.parametrize("policy", ["irrelevant", "clarify_only"])
def test_a_task_that_asks_for_no_call_has_none(handmade: Handmade, policy: str) -> None:
    """`irrelevant_task_has_calls`."""
    of = changed(made(handmade, call()), turn_policy=policy)
    assert reasons(of, gold("look")) == ["irrelevant_task_has_calls"]
    assert reasons(of, []) == []


def test_a_required_tool_is_called(handmade: Handmade) -> None:
    """`required_tool_not_called`, once for each tool."""
    of = ordered(handmade, "any", ["a", "b", "b"])
    (failure,) = failures(of, gold("a"))
    assert failure.message == "`b` is required, and never called"


def test_all_failures_of_all_calls_are_told(handmade: Handmade) -> None:
    """Each at its call."""
    of = made(handmade, call(), tools=[tool("look", "x"), tool("take")], tools_present=["take"])
    found = failures(of, gold("look", "lock", "take"))
    assert [(each.reason, each.call, each.argument) for each in found] == [
        ("tool_not_exposed", 0, None),
        ("missing_required_argument", 0, "x"),
        ("unknown_tool", 1, None),
    ]


def test_rules_are_made_once_for_many_tasks(handmade: Handmade) -> None:
    """They remember nothing of the tasks before."""
    of = made(handmade, call(), tools=[tool("look", "x")])
    rules = TraceRules(of.pack, of.template, of.plan)
    assert [each.reason for each in rules.failures(gold("look"), of.task())] == ["missing_required_argument"]
    assert rules.failures(gold("look", x="a"), of.task()) == []


def test_every_reason_is_explained_and_tested() -> None:
    """Each code stands in a test of this file."""
    text = Path(__file__).read_text(encoding="utf-8")
    for code, reason in REASONS.items():
        assert reason.about
        assert reason.mend.endswith(".")
        assert f'"{code}"' in text
    assert {*SCHEMAS, "arguments_not_object"} == set(ARGUMENT_REASONS)
