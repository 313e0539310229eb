"""From a template to its tasks: values for its slots, in a deterministic order that no folder and no file changes.

Slots take their values in the order of their names; corrections come after them, in the order in which the user makes
them, and take a value that differs from the one in force (contract, section 6.4).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import msgspec

from averment.oracle.model.pack import Pack
from averment.oracle.model.templates import SlotUpdate, Template
from averment.oracle.tasks.candidates import Candidate, fixture_ref, resolve
from averment.oracle.tasks.corrections import correction_mistakes
from averment.oracle.tasks.growth import Combination, Replacements, grow
from averment.oracle.tasks.identity import Identity, task_id, task_seed
from averment.oracle.tasks.sources import Declared, SlotSource, SourceError, declared_sources, parse_source
from averment.oracle.tasks.steps import Plan
from averment.oracle.tasks.task import Correction, Task
from averment.text.jsontext import canonical_known
from averment.text.structs import Mistake

__all__ = ["Expansion", "ExpansionError", "expand", "expansion_of", "reserved_rows"]


class ExpansionError(ValueError):
    """A template can't be bound.

    Attributes:
        mistakes: every reason, with paths relative to the template; their codes are those of check 2, `rows_reserved`
            and `correction_changes_nothing`.
    """

    def __init__(self, mistakes: Sequence[Mistake]) -> None:
        super().__init__("; ".join(mistake.message for mistake in mistakes))
        self.mistakes = tuple(mistakes)


class Expansion(msgspec.Struct, frozen=True):
    """The values that a template's tasks will have; a task is made when it is asked for.

    Attributes:
        declared: the slots, then the corrections, in the order in which they take values.
        combinations: the values of each task, one for each of `declared`.
    """

    template: Template
    plan: Plan
    pack: Pack
    seed: int
    declared: tuple[Declared, ...]
    combinations: tuple[Combination, ...]

    def __len__(self) -> int:
        """How many tasks there are."""
        return len(self.combinations)

    def task(self, ordinal: int) -> Task:
        """The task with the values of that combination."""
        return _task(self, self.combinations[ordinal])


def expand(
    template: Template,
    plan: Plan,
    pack: Pack,
    *,
    limit: int,
    seed: int = 0,
    reserved: Collection[str] = (),
) -> list[Task]:
    """The tasks of a template, at most `limit` of them; see `expansion_of`."""
    expansion = expansion_of(template, plan, pack, limit=limit, seed=seed, reserved=reserved)
    return [expansion.task(ordinal) for ordinal in range(len(expansion))]


def expansion_of(
    template: Template,
    plan: Plan,
    pack: Pack,
    *,
    limit: int,
    seed: int = 0,
    reserved: Collection[str] = (),
) -> Expansion:
    """The values of a template's tasks; never none.

    Whether the template itself is held out is not asked.

    Args:
        template: the template, as loaded.
        plan: its plan.
        pack: whose fixtures, tools and manifest have the values.
        limit: how many tasks at most; 1 at least. Which ones are made depends on it.
        seed: the run's seed.
        reserved: references of rows that no task may be made of.

    Raises:
        ExpansionError: with every source that has no values, every correction that corrects nothing.
    """
    delivery = {entry: place for place, entry in enumerate(plan.deliveries)}
    every = list(declared_sources(template))
    slots = sorted((each for each in every if each.entry is None), key=lambda each: each.slot)
    corrections = sorted(
        (each for each in every if each.entry is not None),
        key=lambda each: delivery.get(each.entry or 0, len(delivery)),
    )
    declared = (*slots, *corrections)
    mistakes = [mistake for _, mistake in correction_mistakes(template)]
    sources = list(_sources(declared, pack, reserved, mistakes))
    if mistakes:
        raise ExpansionError(mistakes)
    replaced = _replaced(declared)
    combinations: list[Combination] = [()]
    for position, (source, candidates) in enumerate(sources):
        usable: Sequence[Sequence[Candidate]] = [candidates] * len(combinations)
        if position in replaced:
            replacements = Replacements(source, candidates)
            usable = [replacements.of(each[replaced[position]].value) for each in combinations]
        material = {"template_id": template.template_id, "seed": seed, "position": position}
        combinations = grow(combinations, usable, limit=max(limit, 1), material=material)
    kept = tuple(each for each in combinations if not replaced or _corrects(each, replaced))
    if not kept:
        mend = "Draw the corrections from a source with other values than the slots have."
        message = f"no correction of `{template.template_id}` replaces a value by another one"
        mistake = Mistake("correction_changes_nothing", message, corrections[0].path, key=True, mend=mend)
        raise ExpansionError([mistake])
    return Expansion(template, plan, pack, seed, declared, kept)


def reserved_rows(pack: Pack) -> frozenset[str]:
    """The references of the rows that the pack holds out."""
    held_out = pack.held_out.fixtures if pack.held_out is not None else {}
    return frozenset(fixture_ref(name, each) for name, ids in held_out.items() for each in ids)


def _sources(
    declared: Sequence[Declared], pack: Pack, reserved: Collection[str], mistakes: list[Mistake]
) -> Iterator[tuple[SlotSource, Sequence[Candidate]]]:
    """Each source with its candidates; what is wrong with the others is added to the mistakes."""
    for each in declared:
        try:
            source = parse_source(each.definition.source, each.definition.filter)
            yield source, resolve(source, pack, reserved=reserved)
        except SourceError as error:
            mistakes.append(error.mistake.under(*each.path))


def _replaced(declared: Sequence[Declared]) -> dict[int, int]:
    """For each correction, the position whose value it replaces: the slot's, or that of an earlier correction."""
    latest: dict[str, int] = {}
    replaced: dict[int, int] = {}
    for position, each in enumerate(declared):
        if each.entry is not None:
            replaced[position] = latest[each.slot]
        latest[each.slot] = position
    return replaced


def _corrects(combination: Combination, replaced: dict[int, int]) -> bool:
    """Whether some correction replaces a value by another one."""
    return any(
        canonical_known(combination[before].value) != canonical_known(combination[position].value)
        for position, before in replaced.items()
    )


def _task(expansion: Expansion, combination: Combination) -> Task:
    template, plan, manifest = expansion.template, expansion.plan, expansion.pack.manifest
    initial: dict[str, Any] = {}
    bindings: dict[str, Any] = {}
    updates: dict[int, Correction] = {}
    for declared, candidate in zip(expansion.declared, combination, strict=True):
        if declared.entry is None:
            initial[declared.slot] = bindings[declared.slot] = candidate.value
            continue
        bindings[f"{declared.slot}@correction{declared.entry}"] = candidate.value
        update = updates.setdefault(declared.entry, Correction(declared.entry, {}, {}))
        update.values[declared.slot] = candidate.value
        alias = declared.definition.bind_as if isinstance(declared.definition, SlotUpdate) else None
        if alias:
            update.aliases[alias] = candidate.value
    final = dict(initial)
    for update in updates.values():
        final.update(update.values)
    refs = sorted({candidate.fixture_ref for candidate in combination if candidate.fixture_ref})
    identity = Identity(
        pack_id=manifest.pack_id,
        pack_version=manifest.version,
        template_id=template.template_id,
        fixture_refs=refs,
        slot_bindings=bindings,
    )
    name = task_id(identity)
    return Task(
        task_id=name,
        base_task_id=name,
        template_id=template.template_id,
        pack_id=manifest.pack_id,
        pack_version=manifest.version,
        intent=template.intent,
        category=template.category,
        difficulty=template.difficulty,
        turn_policy=template.turn_policy,
        call_order=template.call_order,
        call_order_prefix=template.call_order_prefix,
        variant_index=identity.variant_index,
        seed=task_seed(identity, expansion.seed),
        mutates=template.mutates,
        required_tools=tuple(template.required_tools),
        tools_present=_tools_present(template, expansion.pack),
        success_assertions=tuple(template.success_assertions),
        edge_signatures=tuple(template.edge_signatures),
        fixture_refs=tuple(refs),
        slots=final,
        slots_initial=initial,
        slot_updates=tuple(updates.values()),
        is_multi_turn=plan.is_multi_turn,
        num_tool_calls=plan.num_tool_calls,
        has_user_confirmation=plan.has_user_confirmation,
        confirmed_call_turns=plan.confirmed_call_turns,
    )


def _tools_present(template: Template, pack: Pack) -> tuple[str, ...]:
    if template.tools_present is not None:
        return tuple(template.tools_present)
    return tuple(tool.name for tool in pack.tools)
