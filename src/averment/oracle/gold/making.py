"""From a bound task to gold, or to the reason why it is none.

A task is rendered and its user's turns are guarded; its gold calls are worked out, checked against the catalog and the
template, and every value in them is traced to something an agent can know; it is replayed twice, in two worlds, and its
assertions pass; and they don't pass for an agent that makes no call, which is silent or declines, nor for one that calls
every tool once with arguments that its schema allows.

What is the same for all tasks of a template is prepared once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from averment.oracle.catalog.samples.values import sample_arguments
from averment.oracle.gold.reasons import Drop
from averment.oracle.model.options import Options
from averment.oracle.model.pack import Pack
from averment.oracle.model.problems import Problems
from averment.oracle.model.templates import Template
from averment.oracle.oracles import Context, Oracle, OracleError
from averment.oracle.replay.attempt import Attempt, Call, Script, playing
from averment.oracle.replay.mutants import Kills, kills
from averment.oracle.replay.twice import Replay, replay
from averment.oracle.tasks.dependent import VERDICT as NOT_DERIVED
from averment.oracle.tasks.dependent import NotDerivedError, derive
from averment.oracle.tasks.realizable import Realizability, erring_calls
from averment.oracle.tasks.render import Conversation, render
from averment.oracle.tasks.steps import Plan
from averment.oracle.tasks.task import Task, task_argument
from averment.oracle.tasks.trace import CallScript, GoldCall, call_script, gold_calls
from averment.oracle.tasks.trace_checks import VERDICT as INVALID
from averment.oracle.tasks.trace_checks import TraceFailure, TraceRules
from averment.oracle.tasks.trace_faults import TraceError
from averment.oracle.tasks.wording import Wording
from averment.oracle.worker.assertions import AssertionRunner

__all__ = ["Made", "Maker"]


class Made(msgspec.Struct, frozen=True, kw_only=True):
    """What a task came to.

    Attributes:
        task: the task.
        conversation: its turns.
        calls: its gold calls; empty where they could not be worked out.
        attempt: its first replay, judged; None where it came to none.
        drop: why it is not gold; None where it is.
        error: why the oracle or an assertion gave no answer, where that is why it is dropped.
    """

    task: Task
    conversation: Conversation
    calls: tuple[GoldCall, ...] = ()
    attempt: Attempt | None = None
    drop: Drop | None = None
    error: OracleError | None = None


class _Recipe(msgspec.Struct, frozen=True):
    """What the tasks of a template have in common.

    Attributes:
        every: a call of every tool that its agents see, as an agent may make it that knows only its schema.
        further: a call of every such tool that works, where the pack has a probe that does.
    """

    template: Template
    script: CallScript
    rules: TraceRules
    realizability: Realizability
    every: tuple[Call, ...]
    further: tuple[Call, ...]


class Maker:
    """Makes gold of the tasks of one pack in one language.

    Args:
        pack: the pack.
        plans: the plan of every template, by its id.
        wording: the pack's texts in the language.
        oracle: what answers calls.
        runner: the pack's assertions.
        options: the run's options.

    Raises:
        PackError: with every template that can't be made into calls, whatever the values.
    """

    def __init__(
        self,
        pack: Pack,
        plans: Mapping[str, Plan],
        wording: Wording,
        *,
        oracle: Oracle,
        runner: AssertionRunner,
        options: Options,
    ) -> None:
        self._pack = pack
        self._wording = wording
        self._oracle = oracle
        self._runner = runner
        self._options = options
        self._every = {
            tool.name: Call(tool.name, sample_arguments(tool.parameters).arguments) for tool in pack.tools
        }
        self._further = self._every | _successes(pack)
        self._recipes: dict[str, _Recipe] = {}
        problems = Problems()
        for template in pack.templates:
            try:
                self._recipes[template.template_id] = self._recipe(template, plans[template.template_id])
            except TraceError as error:
                for problem in error.refusal(pack, template).problems:
                    problems.report(problem)
        problems.raise_any()

    def make(self, task: Task) -> Made:
        """Make one task.

        Raises:
            PackError: a fault of its template that every task of it has.
            OracleError: the oracle can't be used at all.
        """
        recipe = self._recipes[task.template_id]
        made = Made(task=task, conversation=render(self._wording, task))
        if not made.conversation.accepted:
            violations = tuple(msgspec.to_builtins(each) for each in made.conversation.violations)
            detail = "; ".join(_violation(each) for each in violations)
            return _dropped(made, "surface_guard_violation", detail, violations)
        try:
            calls = self._gold_calls(recipe, task)
        except NotDerivedError as error:
            facts = {"reason": error.code, **error.facts}
            return _dropped(made, NOT_DERIVED, error.message, (facts,))
        made = msgspec.structs.replace(made, calls=tuple(calls))
        wrong = recipe.rules.failures(calls, task)
        if wrong:
            return _dropped(made, INVALID, _details(wrong), _plain(wrong))
        return self._replayed(recipe, made)

    def kills(self, made: Made, most: int) -> dict[str, Kills]:
        """What the assertions of a gold task make of its mutants, at most so many of a kind, by name.

        Raises:
            OracleError: an assertion gave no answer.
        """
        assert made.attempt is not None  # noqa: S101 - gold has one
        script = self._script(made.task, made.calls)
        further = self._recipes[made.task.template_id].further
        return kills(self._oracle, self._runner, script, made.attempt, further=further, most=most)

    def _recipe(self, template: Template, plan: Plan) -> _Recipe:
        pack = self._pack
        script = call_script(template, plan, pack.tools)
        seen = list(self._every) if template.tools_present is None else template.tools_present
        return _Recipe(
            template=template,
            script=script,
            rules=TraceRules(pack, template, plan),
            realizability=Realizability(pack, script, self._wording.system_prompt.text),
            every=tuple(
                msgspec.structs.replace(self._every[name], turn_index=turn) for turn, name in enumerate(seen)
            ),
            further=tuple(self._further[name] for name in seen),
        )

    def _gold_calls(self, recipe: _Recipe, task: Task) -> Sequence[GoldCall]:
        if not recipe.script.is_dependent:
            return gold_calls(recipe.script, task)
        try:
            with self._oracle.episode(self._context(task)) as episode:
                return derive(recipe.script, task, episode).calls
        except TraceError as error:
            raise error.refusal(self._pack, recipe.template) from None

    def _replayed(self, recipe: _Recipe, made: Made) -> Made:
        script = self._script(made.task, made.calls)
        # An agent that declines makes the same calls as one that is silent: none. Neither can be wrong where none is due.
        others = [playing(()), playing(recipe.every)] if recipe.script.calls else []
        came = replay(self._oracle, self._runner, script, others)
        made = msgspec.structs.replace(made, attempt=came.attempt, error=came.error)
        if came.reason is not None:
            if came.error is not None and not came.error.is_of_the_task:
                raise came.error
            return _dropped(made, came.reason, came.detail, _particulars(came))
        results = came.attempt.results if came.attempt is not None else ()
        wrong = erring_calls(recipe.template, made.calls, results)
        if wrong:
            return _dropped(made, "gold_call_errs", _details(wrong), _plain(wrong))
        unknown = recipe.realizability.failures(made.task, made.calls, made.conversation.user_turns, results)
        if unknown:
            return _dropped(made, "gold_not_realizable", _details(unknown), _plain(unknown))
        for name, other in zip(_AGENTS, came.others, strict=False):
            if other is not None and other.passed:
                detail = f"{name} passes every assertion"
                return _dropped(made, "trivially_passable", detail, ({"agent": name},))
        return made

    def _script(self, task: Task, calls: Sequence[GoldCall]) -> Script:
        return Script(
            play=playing([Call(call.function_name, call.arguments, call.turn_index) for call in calls]),
            assertions=task.success_assertions,
            task=task_argument(task),
            context=self._context(task),
        )

    def _context(self, task: Task) -> Context:
        options = self._options
        return Context(
            clock=options.clock, seed=task.seed, timeout_s=options.tool_timeout_s, task_id=task.task_id
        )


_AGENTS = ("an agent that makes no call", "an agent that calls every tool once")


def _successes(pack: Pack) -> dict[str, Call]:
    """The call of the first probe of each tool that succeeds from a reset, by the tool's name."""
    found: dict[str, Call] = {}
    for case in pack.cases:
        succeeds = case.reset_before and case.expect.get("result_class") == "success"
        if succeeds and isinstance(case.arguments, dict):
            found.setdefault(case.tool, Call(case.tool, case.arguments))
    return found


def _dropped(made: Made, reason: str, detail: str, failures: tuple[dict[str, Any], ...]) -> Made:
    return msgspec.structs.replace(made, drop=Drop(reason=reason, detail=detail, failures=failures))


def _details(failures: Sequence[TraceFailure]) -> str:
    return "; ".join(failure.message for failure in failures)


def _plain(failures: Sequence[TraceFailure]) -> tuple[dict[str, Any], ...]:
    return tuple(msgspec.to_builtins(failure) for failure in failures)


def _particulars(came: Replay) -> tuple[dict[str, Any], ...]:
    """What programs may want to know of a replay that came to nothing."""
    if came.diverged is not None:
        return ({"reason": came.reason, "what": came.diverged[0], "differs_at": came.diverged[1]},)
    if came.error is None:
        verdicts = came.attempt.verdicts if came.attempt is not None else ()
        wrong = (verdict for verdict in verdicts if verdict["status"] != "passed")
        names = ("name", "status", "detail", "line")
        return tuple({"reason": came.reason, **{name: verdict[name] for name in names}} for verdict in wrong)
    error = came.error
    told = {"op": error.op, "error_type": error.error_type, "file": error.file, "line": error.line}
    known = {name: value for name, value in told.items() if value is not None}
    return ({"reason": came.reason, "trouble": error.trouble, **known},)


def _violation(violation: Mapping[str, Any]) -> str:
    what = violation.get("slot") or violation.get("tool") or violation.get("phrase")
    return f"{violation['guard']}: {what}"
