"""Whether gold calls are what a task may ask for (contract, 6.8): the tools, the arguments, the order, the turns.

What is the same for all tasks of a template is found once, as its `TraceRules`. Each failure has a reason of `REASONS`:
those below, and those of `catalog.reasons` for arguments that don't fit their schema.

The order of calls is that in which the required tools are first called. `strict` wants all of `required_tools` in that
order; `prefix` wants the first of them so, and the others after these in any order; `any` wants each to be called.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from averment.oracle.catalog import canonical
from averment.oracle.catalog.arguments import argument_failures
from averment.oracle.catalog.reasons import ARGUMENT_REASONS
from averment.oracle.findings import Reason
from averment.oracle.model.pack import Pack
from averment.oracle.model.templates import Template
from averment.oracle.tasks.naming import some
from averment.oracle.tasks.steps import Plan
from averment.oracle.tasks.task import Task
from averment.oracle.tasks.trace import GoldCall
from averment.text.jsonvalue import cut, show
from averment.text.structs import describe

__all__ = ["REASONS", "VERDICT", "TraceFailure", "TraceRules", "trace_failures"]

VERDICT: Final = "expected_trace_schema_mismatch"
"""Why a task is dropped whose gold calls fail; `REASONS` has the particulars."""

REASONS: Final[dict[str, Reason]] = {
    "bad_struct_field": Reason(
        "A field of a gold call is of the wrong type: ordinals are integers from 0, a tool's name is a text.",
        "Derive the calls from the template, and don't edit them.",
    ),
    "unknown_tool": Reason(
        "A gold call names a tool that the catalog does not declare.",
        "Correct the name in the template, or declare the tool.",
    ),
    "tool_not_exposed": Reason(
        "A gold call names a tool that the agent does not see.",
        "Add the tool to the template's `tools_present`.",
    ),
    "confirmed_mutation_without_user_confirmation": Reason(
        "A gold call says that the user has confirmed, in a turn before which the user has not.",
        "Put an `ask_confirm` with the user's answer right before the call.",
    ),
    "superseded_slot_value_in_trace": Reason(
        "An argument that is called like a corrected slot has another value than the user has settled on.",
        "Read the slot in the argument, or give the parameter a slot of another name.",
    ),
    "dependent_call_requires_strict_order": Reason(
        "A call that reads a result comes after the one that gave it, and the template does not ask for an order.",
        "Write `call_order: strict`.",
    ),
    "unknown_call_order": Reason(
        "The order of calls is none of `strict`, `any` and `prefix`.", "Write one of the three."
    ),
    "bad_call_order_prefix": Reason(
        "The prefix of the order is no number of required tools.",
        "Write an integer from 1 to the number of `required_tools`.",
    ),
    "call_order_prefix_without_prefix_order": Reason(
        "There is a prefix, and the order of calls is not `prefix`.",
        "Write `call_order: prefix`, or take `call_order_prefix` out.",
    ),
    "call_order_mismatch": Reason(
        "The required tools are not called in the order of `required_tools`.",
        "List `required_tools` in the order of the calls, or write `call_order: any`.",
    ),
    "call_order_remainder_mismatch": Reason(
        "After the prefix of the order not all of the other required tools are called, each listed once.",
        "Call them, or take them out of `required_tools`.",
    ),
    "call_group_spans_turns": Reason(
        "The calls of one group are made in several turns.",
        "Give the calls of each turn a group of their own.",
    ),
    "non_contiguous_group_positions": Reason(
        "The calls of a group are not numbered from 0, one by one, in their order.",
        "Derive the calls from the template, and don't edit them.",
    ),
    "irrelevant_task_has_calls": Reason(
        "A task whose right answer is no call at all has gold calls.",
        "Take the calls out, or choose the policy that they make.",
    ),
    "required_tool_not_called": Reason(
        "A tool that the template requires is in no gold call.",
        "Add the call, or take the tool out of `required_tools`.",
    ),
    **ARGUMENT_REASONS,
}
"""Every reason."""

_ORDERS: Final = ("strict", "any", "prefix")
_WITHOUT_CALLS: Final = frozenset({"irrelevant", "clarify_only"})


class TraceFailure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One reason why gold calls won't do.

    Attributes:
        reason: one of `REASONS`.
        message: one sentence without a full stop.
        call: the index of the call among the gold calls; None where it is about all of them.
        argument: the argument, `payload.counts[1]`.
    """

    reason: str
    message: str
    call: int | None = None
    argument: str | None = None


class TraceRules:
    """What the gold calls of a template's tasks have to keep.

    Args:
        pack: whose catalog and whose parameter for confirmation count.
        template: the template.
        plan: its plan.
    """

    def __init__(self, pack: Pack, template: Template, plan: Plan) -> None:
        self._template = template
        self._tools = {tool.name: tool for tool in pack.tools}
        self._exposed = set(self._tools if template.tools_present is None else template.tools_present)
        self._parameter = pack.manifest.confirmation.parameter
        self._confirmed = frozenset(plan.confirmed_call_turns)
        self._corrected = sorted(
            {slot for turn in template.user_simulator_turns for slot in turn.slot_updates}
        )
        self._declared = tuple(_declaration_failures(template))

    def failures(self, calls: Sequence[GoldCall], task: Task) -> list[TraceFailure]:
        """Every reason why the gold calls of a task won't do; none if they do."""
        found = list(self._declared)
        sound = []
        for index, call in enumerate(calls):
            wrong = list(_field_failures(index, call))
            found += wrong
            if not wrong:
                sound.append((index, call))
                found += self._call_failures(index, call, task)
        found += _group_failures(sound)
        found += self._order_failures([call.function_name for _, call in sound])
        if calls and self._template.turn_policy in _WITHOUT_CALLS:
            policy = self._template.turn_policy
            message = f"the policy is `{policy}`, and there {_count(len(calls), 'is', 'are', 'gold call')}"
            found.append(TraceFailure(reason="irrelevant_task_has_calls", message=message))
        return found

    def _call_failures(self, index: int, call: GoldCall, task: Task) -> Iterator[TraceFailure]:
        name, arguments = call.function_name, call.arguments
        tool = self._tools.get(name)
        if tool is None:
            message = f"the catalog has no tool `{cut(name, 60)}`"
            yield TraceFailure(reason="unknown_tool", message=message, call=index)
            return
        if name not in self._exposed:
            message = f"`{name}` is called, and the agent does not see it"
            yield TraceFailure(reason="tool_not_exposed", message=message, call=index)
        for failure in argument_failures(tool.parameters, arguments):
            yield TraceFailure(
                reason=failure.reason,
                message=f"the call of `{name}`: {failure.message}",
                call=index,
                argument=failure.path or None,
            )
        if not isinstance(arguments, dict):
            return
        if (
            tool.requires_confirmation
            and call.turn_index not in self._confirmed
            and arguments.get(self._parameter) is True
        ):
            yield TraceFailure(
                reason="confirmed_mutation_without_user_confirmation",
                message=f"the call of `{name}` says `{self._parameter}: true`, and the user has not confirmed it",
                call=index,
                argument=self._parameter,
            )
        for slot in self._corrected:
            if slot in arguments and not canonical.equal(arguments[slot], task.slots.get(slot)):
                message = (
                    f"the call of `{name}` has {show(arguments[slot])} as `{slot}`, "
                    f"and the user has settled on {show(task.slots.get(slot))}"
                )
                yield TraceFailure(
                    reason="superseded_slot_value_in_trace", message=message, call=index, argument=slot
                )

    def _order_failures(self, called: list[str]) -> Iterator[TraceFailure]:
        template = self._template
        required = template.required_tools
        for name in dict.fromkeys(required):
            if name not in called:
                message = f"`{name}` is required, and never called"
                yield TraceFailure(reason="required_tool_not_called", message=message)
        if self._declared or template.call_order == "any":
            return
        first = [name for name in dict.fromkeys(called) if name in required]
        count = template.call_order_prefix if template.call_order == "prefix" else None
        if first[:count] != required[:count]:
            message = f"the required tools are called in the order {_names(first[:count])}, "
            message += f"and are asked for in the order {_names(required[:count])}"
            yield TraceFailure(reason="call_order_mismatch", message=message)
        elif count is not None and sorted(first[count:]) != sorted(required[count:]):
            message = f"after the prefix of the order come {_names(first[count:])}, "
            message += f"and {_names(required[count:])} are asked for"
            yield TraceFailure(reason="call_order_remainder_mismatch", message=message)


def trace_failures(
    task: Task, calls: Sequence[GoldCall], pack: Pack, template: Template, plan: Plan
) -> list[TraceFailure]:
    """Every reason why the gold calls of one task won't do; for many tasks of a template make its rules once."""
    return TraceRules(pack, template, plan).failures(calls, task)


def _declaration_failures(template: Template) -> Iterator[TraceFailure]:
    """What is wrong with the order that a template asks for."""
    order, prefix, most = template.call_order, template.call_order_prefix, len(template.required_tools)
    if template.turn_policy == "dependent_call" and order != "strict":
        message = f"the policy is `dependent_call`, and the order of its calls is `{order}`"
        yield TraceFailure(reason="dependent_call_requires_strict_order", message=message)
    if order not in _ORDERS:
        message = f"`{cut(str(order), 60)}` is no order of calls; expected one of {', '.join(_ORDERS)}"
        yield TraceFailure(reason="unknown_call_order", message=message)
    elif order == "prefix":
        if prefix is None or not _is_ordinal(prefix) or not 1 <= prefix <= most:
            message = f"the prefix is {describe(prefix)}; expected an integer from 1 to {most}"
            yield TraceFailure(reason="bad_call_order_prefix", message=message)
    elif prefix is not None:
        message = f"there is a prefix, and the order of calls is `{order}`"
        yield TraceFailure(reason="call_order_prefix_without_prefix_order", message=message)


def _field_failures(index: int, call: GoldCall) -> Iterator[TraceFailure]:
    """Fields that are of the wrong type, but for the arguments, which have reasons of their own."""
    for field, value in (
        ("turn_index", call.turn_index),
        ("call_group", call.call_group),
        ("position_in_group", call.position_in_group),
    ):
        if not _is_ordinal(value):
            message = f"`{field}` is {describe(value)}; expected an integer from 0"
            yield TraceFailure(reason="bad_struct_field", message=message, call=index)
    name: object = call.function_name
    if not isinstance(name, str) or not name.strip():
        message = f"`function_name` is {describe(name)}; expected a name"
        yield TraceFailure(reason="bad_struct_field", message=message, call=index)


def _group_failures(calls: Sequence[tuple[int, GoldCall]]) -> Iterator[TraceFailure]:
    groups: dict[int, list[tuple[int, GoldCall]]] = {}
    for index, call in calls:
        groups.setdefault(call.call_group, []).append((index, call))
    for group, members in groups.items():
        first = members[0][1]
        strange = next((index for index, call in members if call.turn_index != first.turn_index), None)
        if strange is not None:
            message = f"the calls of group {group} are made in more turns than {first.turn_index}"
            yield TraceFailure(reason="call_group_spans_turns", message=message, call=strange)
        positions = [call.position_in_group for _, call in members]
        if positions != list(range(len(members))):
            message = f"the positions in group {group} are {show(positions)}"
            yield TraceFailure(reason="non_contiguous_group_positions", message=message, call=members[0][0])


def _is_ordinal(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _names(names: Sequence[str]) -> str:
    return some(names) if names else "nothing"


def _count(count: int, one: str, several: str, noun: str) -> str:
    return f"{one} a {noun}" if count == 1 else f"{several} {count} {noun}s"
