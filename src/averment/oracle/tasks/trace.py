"""Gold calls: what a right assistant calls in a task, with which arguments.

The steps of the plan are walked with the values of the slots that are in force, which the user's corrections replace
on the way. The arguments of a call are those of its milestone (`argument_tree`); a parameter that the tool requires and
that the milestone does not give is filled from the slot of its name. Parameters that are optional are never filled.

What is the same for all tasks of a template is found once, as its `CallScript`, and so are the faults that all of them
would have (`trace_faults`).

Where arguments are read from results, calls have to be made to know them: see `dependent`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import msgspec

from averment.oracle.model.templates import Template
from averment.oracle.model.tools import Tool
from averment.oracle.tasks.argument_tree import FromResult, FromSlot, Node, Results, argument_tree, leaves
from averment.oracle.tasks.arguments import required_parameters
from averment.oracle.tasks.steps import CallsStep, Plan, UserStep
from averment.oracle.tasks.task import Task
from averment.oracle.tasks.trace_faults import TraceError, stale_reads, unknown_placeholders

__all__ = [
    "CallScript",
    "GoldCall",
    "ScriptedCall",
    "call_script",
    "gold_calls",
    "values_in_force",
]


class GoldCall(msgspec.Struct, frozen=True):
    """A call that a right assistant makes.

    Attributes:
        turn_index: the ordinal of its message among the assistant's, from 0.
        call_group: the ordinal of its batch, from 0.
        position_in_group: its place in the batch, from 0.
        function_name: the tool.
        arguments: what the tool is called with; shared with the task where a slot's value is a list or an object.
    """

    turn_index: int
    call_group: int
    position_in_group: int
    function_name: str
    arguments: dict[str, Any]


class ScriptedCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call of a template.

    Attributes:
        milestone: its index in `assistant_milestones`.
        id: what later calls name it by.
        tool: the tool.
        turn: the ordinal of its message among the assistant's.
        group: the ordinal of its batch.
        position: its place in the batch.
        arguments: by name, those of required parameters that come from slots of their names among them.
        user_turns: how many turns the user has had before it.
        corrections: which of those replaced values, as indexes in `user_simulator_turns`.
    """

    milestone: int
    id: str | None
    tool: str
    turn: int
    group: int
    position: int
    arguments: dict[str, Node]
    user_turns: int
    corrections: tuple[int, ...]

    def bound(self, values: Mapping[str, Any], results: Results) -> GoldCall:
        """The call of a task with these values."""
        arguments = {name: node.bound(values, results) for name, node in self.arguments.items()}
        return GoldCall(self.turn, self.group, self.position, self.tool, arguments)


class CallScript(msgspec.Struct, frozen=True, kw_only=True):
    """The calls of a template, for all its tasks.

    Attributes:
        template_id: the template.
        calls: in the order in which they are made.
        user_entries: for each turn of the user its index in `user_simulator_turns`; None for the first turn.
        is_dependent: whether some argument is read from a result.
    """

    template_id: str
    user_entries: tuple[int | None, ...]
    calls: tuple[ScriptedCall, ...]
    is_dependent: bool


def call_script(template: Template, plan: Plan, tools: Sequence[Tool]) -> CallScript:
    """The calls of a template, as planned.

    A tool that the catalog lacks has no required parameters here; `trace_checks` refuses its calls.

    Raises:
        TraceError: `unknown_placeholder`, `stale_argument`.
    """
    catalog = {tool.name: tool for tool in tools}
    mistakes = [*unknown_placeholders(template), *stale_reads(template, plan, catalog)]
    if mistakes:
        raise TraceError(mistakes)
    calls: list[ScriptedCall] = []
    entries: list[int | None] = []
    corrections: tuple[int, ...] = ()
    for step in plan.steps:
        if isinstance(step, UserStep):
            entries.append(step.entry)
            if step.corrects and step.entry is not None:
                corrections = (*corrections, step.entry)
        elif isinstance(step, CallsStep):
            for position, index in enumerate(step.milestones):
                milestone = template.assistant_milestones[index]
                name = milestone.tool or ""
                calls.append(
                    ScriptedCall(
                        milestone=index,
                        id=milestone.id,
                        tool=name,
                        turn=step.turn,
                        group=step.group,
                        position=position,
                        arguments=_arguments(template, index, catalog.get(name)),
                        user_turns=len(entries),
                        corrections=corrections,
                    )
                )
    return CallScript(
        template_id=template.template_id,
        user_entries=tuple(entries),
        calls=tuple(calls),
        is_dependent=any(
            isinstance(leaf, FromResult)
            for call in calls
            for node in call.arguments.values()
            for _, leaf in leaves(node)
        ),
    )


def gold_calls(of: CallScript, task: Task) -> list[GoldCall]:
    """The gold calls of a task in which none depends on a result, in the order in which they are made."""
    values = values_in_force(task)
    return [call.bound(values(call.corrections), _no_results) for call in of.calls]


def values_in_force(task: Task) -> Callable[[tuple[int, ...]], Mapping[str, Any]]:
    """A function from the corrections that have been said to the values of all slots then."""
    if not task.slot_updates:
        return lambda _: task.slots_initial
    replaced = {update.entry_index: update.values for update in task.slot_updates}

    def values(corrections: tuple[int, ...]) -> Mapping[str, Any]:
        found = dict(task.slots_initial)
        for entry in corrections:
            found.update(replaced.get(entry, {}))
        return found

    return values


def _no_results(marker: FromResult) -> NoReturn:
    message = f"the result of `{marker.call}` has to be known: derive these calls in an episode"
    raise AssertionError(message)


def _arguments(template: Template, index: int, tool: Tool | None) -> dict[str, Node]:
    milestone = template.assistant_milestones[index]
    place = ("assistant_milestones", index, "args")
    found = {name: argument_tree(value, (*place, name)) for name, value in milestone.args.items()}
    for name in required_parameters(tool) if tool is not None else ():
        if name not in found and name in template.slots:
            found[name] = FromSlot(name)
    return found
