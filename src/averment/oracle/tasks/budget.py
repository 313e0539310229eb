"""How many tasks each category gets, and which: a budget that the templates of a category share, turn by turn."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice

import msgspec

from averment.errors import Problem
from averment.oracle.model.pack import Pack
from averment.oracle.model.problems import Problems
from averment.oracle.model.templates import Template
from averment.oracle.tasks.candidates import resolve
from averment.oracle.tasks.codes import problem_at
from averment.oracle.tasks.expansion import Expansion, ExpansionError, expansion_of, reserved_rows
from averment.oracle.tasks.naming import some
from averment.oracle.tasks.sources import FixtureSource, declared_sources, parse_source
from averment.oracle.tasks.steps import Plan
from averment.oracle.tasks.task import Task
from averment.text.jsonvalue import cut
from averment.text.structs import Mistake

__all__ = ["Bound", "Budget", "Share", "bind", "budget_of", "category_of", "round_robin"]


class Budget(msgspec.Struct, frozen=True):
    """How many tasks a category may have.

    Attributes:
        size: that many.
        asked: whether somebody asked for them; else it is what the widest category needs for one task of each template.
    """

    size: int
    asked: bool


class Share(msgspec.Struct, frozen=True):
    """What a category got.

    Attributes:
        category: its name.
        tasks: how many.
        withheld: what was held out from it: `template:ID`, and `fixture:REFERENCE` for rows, where that left it short.
    """

    category: str
    tasks: int
    withheld: tuple[str, ...] = ()


class Bound(msgspec.Struct, frozen=True):
    """The tasks of a pack.

    Attributes:
        tasks: by category in the order of the file, and inside it one per template, then a second, and so on.
        budget: how many each category could have.
        shares: how many each has.
        notes: a warning for each category that has fewer.
    """

    tasks: tuple[Task, ...]
    budget: Budget
    shares: tuple[Share, ...]
    notes: tuple[Problem, ...]


def category_of(of: Template | Task) -> str:
    """The category of a template, or of a task of it: its label as text, or the template's id where it has none."""
    return str(of.category) if of.category else of.template_id


def budget_of(
    pack: Pack,
    *,
    tasks_per_category: int | None = None,
    candidate_tasks_per_category: int | None = None,
) -> Budget:
    """The budget of every category of a pack.

    Args:
        pack: the pack; its held-out templates don't count.
        tasks_per_category: how many tasks are asked for.
        candidate_tasks_per_category: how many to make, where some of them will be chosen.
    """
    asked = candidate_tasks_per_category or tasks_per_category
    if asked is not None:
        return Budget(asked, asked=True)
    return Budget(max(map(len, _by_category(_free(pack)).values()), default=1), asked=False)


def round_robin(lengths: Sequence[int], size: int) -> Iterator[tuple[int, int]]:
    """The first of each pool, then the second of each, and so on: at most `size` pairs of a pool and a place in it."""
    turns = (
        (pool, place)
        for place in range(max(lengths, default=0))
        for pool, length in enumerate(lengths)
        if place < length
    )
    return islice(turns, size)


def bind(pack: Pack, plans: Mapping[str, Plan], budget: Budget, *, seed: int = 0) -> Bound:
    """Bind the templates of a pack, as many tasks as the budget has room for.

    Held-out templates and rows are never bound. That a category is short is a note, but for two cases: nothing is left
    of it, or its size was asked for and it would have that many tasks if nothing were held out.

    Args:
        pack: the pack.
        plans: the plan of every template, by its id.
        budget: what `budget_of` says.
        seed: the run's seed.

    Raises:
        PackError: with every template that can't be bound, and every category whose budget is too small for its
            templates, that is short because of what is held out, or that has two tasks of one id.
    """
    problems, notes = Problems(), Problems()
    free = _by_category(_free(pack))
    reserved = reserved_rows(pack)
    tasks: list[Task] = []
    shares: list[Share] = []
    for category, templates in _by_category(pack.templates).items():
        bindable = free.get(category, [])
        if budget.size < len(bindable):
            problems.report(_too_small(pack, category, bindable, budget))
        found = [
            _expansion(
                pack,
                template,
                plans[template.template_id],
                problems,
                limit=budget.size,
                seed=seed,
                reserved=reserved,
            )
            for template in bindable
        ]
        expansions = [expansion for expansion in found if expansion is not None]
        if len(expansions) < len(bindable):
            continue
        turns = round_robin([len(each) for each in expansions], budget.size)
        made = [expansions[pool].task(place) for pool, place in turns]
        tasks += made
        is_short = len(made) < budget.size
        share = Share(category, len(made), _withheld(pack, templates, reserved) if is_short else ())
        shares.append(share)
        if share.withheld and (not made or (budget.asked and _would_fill(pack, templates, plans, budget))):
            problems.report(_short(pack, templates[0], share, budget, "reservations_leave_too_few"))
        elif is_short:
            notes.report(_short(pack, templates[0], share, budget, "category_short"))
    for problem in _duplicates(pack, tasks):
        problems.report(problem)
    problems.raise_any()
    return Bound(tuple(tasks), budget, tuple(shares), notes.warnings)


def _expansion(
    pack: Pack,
    template: Template,
    plan: Plan,
    problems: Problems,
    *,
    limit: int,
    seed: int,
    reserved: Collection[str],
) -> Expansion | None:
    """The values of a template's tasks, or None after reporting why it has none."""
    try:
        return expansion_of(template, plan, pack, limit=limit, seed=seed, reserved=reserved)
    except ExpansionError as error:
        for mistake in error.mistakes:
            problems.report(problem_at(pack, "templates", mistake.under(template.index)))
    return None


def _too_small(pack: Pack, category: str, templates: Sequence[Template], budget: Budget) -> Problem:
    message = f"the category `{cut(category, 60)}` has {len(templates)} templates, and may have {budget.size} task{'' if budget.size == 1 else 's'}"
    path = (templates[0].index, "category")
    return problem_at(
        pack, "templates", Mistake("budget_too_small", message, path, expected=f"{len(templates)} or more")
    )


def _would_fill(pack: Pack, templates: Sequence[Template], plans: Mapping[str, Plan], budget: Budget) -> bool:
    """Whether the category would have all its tasks if nothing were held out."""
    count = 0
    for template in templates:
        try:
            count += len(expansion_of(template, plans[template.template_id], pack, limit=budget.size))
        except ExpansionError:
            continue  # a held-out template that can't be bound
    return count >= budget.size


def _short(pack: Pack, template: Template, share: Share, budget: Budget, code: str) -> Problem:
    message = f"the category `{cut(share.category, 60)}` has {share.tasks} of {budget.size} tasks"
    if share.withheld:
        message += f", and {some(share.withheld)} {'is' if len(share.withheld) == 1 else 'are'} held out"
    mistake = Mistake(code, message, (template.index, "category"))
    return problem_at(pack, "templates", mistake, severity="warning" if code == "category_short" else "error")


def _withheld(pack: Pack, templates: Sequence[Template], reserved: Collection[str]) -> tuple[str, ...]:
    """What is held out from a category: its templates, and the rows that the others could have drawn from."""
    free = {template.template_id for template in _free(pack)}
    blocked = sorted(each.template_id for each in templates if each.template_id not in free)
    rows: set[str | None] = set()
    for template in templates if reserved else ():
        for each in declared_sources(template) if template.template_id in free else ():
            source = parse_source(each.definition.source, each.definition.filter)
            if isinstance(source, FixtureSource):
                rows.update(candidate.fixture_ref for candidate in resolve(source, pack))
    refs = sorted(row for row in rows if row is not None and row in reserved)
    return (*(f"template:{name}" for name in blocked), *(f"fixture:{ref}" for ref in refs))


def _duplicates(pack: Pack, tasks: Sequence[Task]) -> Iterator[Problem]:
    """One problem for each template some of whose tasks have one id."""
    index_of = {template.template_id: template.index for template in pack.templates}
    seen: set[str] = set()
    told: set[str] = set()
    for task in tasks:
        if task.task_id in seen and task.template_id not in told:
            told.add(task.template_id)
            message = f"two tasks of `{task.template_id}` have the id `{task.task_id}`"
            path = (index_of[task.template_id], "template_id")
            yield problem_at(pack, "templates", Mistake("duplicate_task", message, path))
        seen.add(task.task_id)


def _free(pack: Pack) -> list[Template]:
    held_out = set(pack.held_out.templates) if pack.held_out is not None else set()
    return [template for template in pack.templates if template.template_id not in held_out]


def _by_category(templates: Sequence[Template]) -> dict[str, list[Template]]:
    categories: dict[str, list[Template]] = {}
    for template in templates:
        categories.setdefault(category_of(template), []).append(template)
    return categories
