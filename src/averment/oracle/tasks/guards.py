"""Guards of what the user says: values that must be stated or kept back, and words that may not be mentioned.

* `must_preserve`: a slot that is visible in the first turn has its first value there. What a correction replaces it by,
  and the value of a slot that the template's `must_preserve` names, stand somewhere in the user's turns.
* `must_omit`: a hidden slot, and one that `must_omit` names, has its last value not in the first turn.
* `must_not_mention`: no turn names a tool of the catalog, as a word in any case, but for the exempt ones; nor a phrase
  of the template, as part of a word or not, in any case.

A task whose turns violate a guard is dropped and told; no other task is the worse for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal

import msgspec

from averment.oracle.model.pack import Pack
from averment.oracle.model.templates import Paraphrase, Template
from averment.oracle.tasks.mentions import Surface, names_tool
from averment.oracle.tasks.shapes import hidden_slots
from averment.oracle.tasks.task import Task

__all__ = ["Guards", "Violation", "guarded_names", "guards_of", "violations"]

_TOOL_NAMES: Final = "tool_names"
"""The entry of `must_not_mention` that stands for the names of all tools."""


class Violation(msgspec.Struct, frozen=True, omit_defaults=True):
    """One guard that a task's turns violate: which, and about which slot, tool or phrase."""

    guard: Literal["must_preserve", "must_omit", "must_not_mention"]
    slot: str | None = None
    tool: str | None = None
    phrase: str | None = None


class Guards(msgspec.Struct, frozen=True):
    """The guards of a template.

    Attributes:
        stated: slots whose first value the first turn states.
        kept: slots whose first value stands somewhere.
        corrected: slots whose corrections stand somewhere.
        omitted: slots whose last value the first turn doesn't state.
        tools: names that are not mentioned.
        phrases: what else is not mentioned.
    """

    stated: tuple[str, ...]
    kept: frozenset[str]
    corrected: tuple[str, ...]
    omitted: tuple[str, ...]
    tools: tuple[str, ...]
    phrases: tuple[str, ...]


def guarded_names(pack: Pack) -> tuple[str, ...]:
    """The names of tools that no user may mention, sorted: those that the manifest does not exempt."""
    exempt = set(pack.manifest.surface_guards.tool_names_exempt)
    return tuple(sorted(tool.name for tool in pack.tools if tool.name not in exempt))


def guards_of(
    template: Template,
    tool_names: Sequence[str],
    *,
    preserve_slot_values: bool = True,
    prevent_tool_name_leakage: bool = True,
) -> Guards:
    """The guards of a template.

    Args:
        template: the template.
        tool_names: what `guarded_names` says of the pack.
        preserve_slot_values: visible slots must be stated, whether the template's `must_preserve` names them or not.
        prevent_tool_name_leakage: tools may not be named, whether the template's `must_not_mention` says so or not.
    """
    paraphrase = template.paraphrase or Paraphrase()
    declared = set(paraphrase.must_preserve)
    visible = {name for name, slot in template.slots.items() if slot.visible_in_first_turn}
    stated = visible if preserve_slot_values else set()
    guards_tools = prevent_tool_name_leakage or _TOOL_NAMES in paraphrase.must_not_mention
    return Guards(
        stated=tuple(sorted(stated)),
        kept=frozenset(declared - stated),
        corrected=tuple(sorted(declared | stated)),
        omitted=tuple(sorted({*paraphrase.must_omit, *hidden_slots(template)})),
        tools=tuple(tool_names) if guards_tools else (),
        phrases=tuple(phrase for phrase in paraphrase.must_not_mention if phrase != _TOOL_NAMES),
    )


def violations(guards: Guards, task: Task, turns: Sequence[str]) -> tuple[Violation, ...]:
    """The guards that a task's turns violate.

    Args:
        guards: those of its template.
        task: the task.
        turns: what the user says, in order.
    """
    first, whole = Surface(turns[0] if turns else ""), " \n".join(turns)
    return (
        *(
            Violation("must_preserve", slot=name)
            for name in guards.stated
            if name in task.slots_initial and not first.states(str(task.slots_initial[name]))
        ),
        *_unstated(guards, task, Surface(whole)),
        *(
            Violation("must_omit", slot=name)
            for name in guards.omitted
            if name in task.slots and first.states(str(task.slots[name]))
        ),
        *_mentioned(guards, whole.lower()),
    )


def _unstated(guards: Guards, task: Task, surface: Surface) -> Iterator[Violation]:
    """Values that should stand somewhere; one for each value that doesn't."""
    for name in guards.corrected:
        values: list[Any] = []
        if name in guards.kept and name in task.slots_initial:
            values.append(task.slots_initial[name])
        values.extend(update.values[name] for update in task.slot_updates if name in update.values)
        for value in dict.fromkeys(map(str, values)):
            if not surface.states(value):
                yield Violation("must_preserve", slot=name)


def _mentioned(guards: Guards, lowered: str) -> Iterator[Violation]:
    for name in guards.tools:
        if names_tool(lowered, name.lower()):
            yield Violation("must_not_mention", tool=name)
    for phrase in guards.phrases:
        if phrase.lower() in lowered:
            yield Violation("must_not_mention", phrase=phrase)
