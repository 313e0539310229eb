"""What a run makes gold with: the plans of all templates, their texts in its language, and the maker."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import msgspec

from averment.errors import PackError
from averment.oracle.gold.making import Made, Maker
from averment.oracle.model.options import Options
from averment.oracle.model.pack import Pack
from averment.oracle.model.problems import Problems
from averment.oracle.model.templates import Template
from averment.oracle.oracles import Oracle, OracleError
from averment.oracle.replay.mutants import Kills
from averment.oracle.tasks.budget import Bound, bind, budget_of
from averment.oracle.tasks.codes import problem_at
from averment.oracle.tasks.expansion import ExpansionError, expand, reserved_rows
from averment.oracle.tasks.plan import PlanError, plan
from averment.oracle.tasks.steps import Plan
from averment.oracle.tasks.wording import Wording, wording_of
from averment.oracle.worker.assertions import AssertionRunner

__all__ = ["Kitchen", "Sample"]

Sample = tuple[Template, Made | OracleError | PackError]
"""A template, and the task that was made of it; or why the oracle gave no answer, or why it has no task at all."""


class Kitchen(msgspec.Struct, frozen=True, kw_only=True):
    """A run's plans, texts and maker.

    Attributes:
        pack: the pack.
        options: the run's options.
        plans: by template id.
        wording: the texts in the run's language.
        maker: makes gold of tasks.
    """

    pack: Pack
    options: Options
    plans: dict[str, Plan]
    wording: Wording
    maker: Maker

    @classmethod
    def of(cls, pack: Pack, options: Options, oracle: Oracle, runner: AssertionRunner) -> Kitchen:
        """The kitchen of a run.

        Raises:
            PackError: with every template that has no plan, every text that is missing in the language, every template
                whose calls can't be made whatever the values.
        """
        plans = _plans(pack)
        wording = wording_of(pack, plans, language=options.language)
        maker = Maker(pack, plans, wording, oracle=oracle, runner=runner, options=options)
        return cls(pack=pack, options=options, plans=plans, wording=wording, maker=maker)

    @property
    def wanted(self) -> int:
        """How many gold tasks fill a category."""
        return budget_of(self.pack, tasks_per_category=self.options.tasks_per_category).size

    def bound(self) -> Bound:
        """The tasks of the run.

        Raises:
            PackError: with every template that can't be bound, and every budget that is too small.
        """
        options = self.options
        candidates = options.candidate_tasks_per_category
        budget = budget_of(
            self.pack,
            tasks_per_category=options.tasks_per_category,
            candidate_tasks_per_category=None if candidates is None else max(candidates, self.wanted),
        )
        return bind(self.pack, self.plans, budget, seed=options.random_seed)

    def samples(self, jobs: int) -> list[Sample]:
        """One task of each template, those that are held out among them, made side by side.

        Rows that are held out are used where the oracle has them.
        """
        held_out = self.pack.held_out
        hidden = held_out is not None and not held_out.policy.fixtures_in_backend_state
        reserved = reserved_rows(self.pack) if hidden else frozenset()
        seed = self.options.random_seed

        def sample(template: Template) -> Made | OracleError | PackError:
            plan = self.plans[template.template_id]
            try:
                task, *_ = expand(template, plan, self.pack, limit=1, seed=seed, reserved=reserved)
                return self.maker.make(task)
            except ExpansionError as error:
                mistakes = [mistake.under(template.index) for mistake in error.mistakes]
                return PackError(problem_at(self.pack, "templates", mistake) for mistake in mistakes)
            except (OracleError, PackError) as error:
                return error

        with ThreadPoolExecutor(max_workers=jobs) as pool:
            return list(zip(self.pack.templates, pool.map(sample, self.pack.templates), strict=True))

    def kill_table(self, made: Sequence[Made], jobs: int, *, most: int = 8) -> dict[str, Kills]:
        """What each assertion makes of the mutants of these gold tasks, together, by its name in order.

        A task whose mutants can't be judged counts for nothing. `most` bounds the mutants of one kind and task.
        """

        def killed(each: Made) -> dict[str, Kills]:
            try:
                return self.maker.kills(each, most)
            except OracleError:
                return {}

        table: dict[str, Kills] = {}
        with ThreadPoolExecutor(max_workers=jobs) as pool:
            for found in pool.map(killed, made):
                for name, kills in found.items():
                    table[name] = kills.joined(table[name]) if name in table else kills
        return dict(sorted(table.items()))


def _plans(pack: Pack) -> dict[str, Plan]:
    problems = Problems()
    plans: dict[str, Plan] = {}
    for template in pack.templates:
        try:
            plans[template.template_id] = plan(template)
        except PlanError as error:
            for refusal in error.refusals:
                problems.report(problem_at(pack, "templates", refusal.under(template.index)))
    problems.raise_any()
    return plans
