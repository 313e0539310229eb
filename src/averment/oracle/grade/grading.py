"""Grading recorded runs against a pack: which task a run is of, its gold, its replay, its verdicts.

Gold comes from the rows of a benchmark, or is made of the pack for the tasks that are asked for. A run is of the task that
is named; else of the one whose id is the conversation's, or stands in its metadata as `task_id`. Nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from averment.errors import PackError, Problem, nearest
from averment.evidence.model import EvidenceModel
from averment.oracle.build.rows import row
from averment.oracle.gold.kitchen import Kitchen
from averment.oracle.grade.calls import Shown, shown
from averment.oracle.grade.compare import Pairing
from averment.oracle.grade.dependencies import rebound
from averment.oracle.grade.gold import GoldTask, gold_task
from averment.oracle.grade.path import compared
from averment.oracle.grade.policy import Policy
from averment.oracle.grade.replayed import Dependency, Replay
from averment.oracle.grade.replaying import Replayed, can_replay, replay_run, trace_verdicts, verdicts_of
from averment.oracle.grade.report import GradedRun, grade
from averment.oracle.grade.shape import unearned
from averment.oracle.oracles import Context, OracleError
from averment.oracle.running import Running
from averment.oracle.tasks.task import Task
from averment.oracle.tasks.trace import call_script

__all__ = ["Grader"]

_TASK_FIELDS = tuple(name for name in Task.__struct_fields__ if name != "base_task_id")


class Grader:
    """Grades runs against the tasks of one pack.

    Args:
        at_work: the pack at work.
        rows: the rows of a benchmark of the pack, by task id; None to make gold of the pack's own tasks.
        policy: how to compare.
        trace_only: whether nothing is made again on the oracle.

    Raises:
        PackError: no task can be made of the pack, or the rows are those of another pack.
    """

    def __init__(
        self,
        at_work: Running,
        rows: Mapping[str, dict[str, Any]] | None,
        *,
        policy: Policy | None = None,
        trace_only: bool = False,
    ) -> None:
        self._at_work = at_work
        self._policy = policy or Policy()
        self._trace_only = trace_only
        pack = at_work.pack
        self._kitchen = Kitchen.of(pack, at_work.options, at_work.oracle, at_work.runner)
        self._rows: dict[str, dict[str, Any]] = {}
        self._tasks: dict[str, Task] = {}
        if rows is None:
            self._tasks = {task.task_id: task for task in self._kitchen.bound().tasks}
        else:
            _refuse_other_pack(rows, pack.manifest.pack_id, pack.manifest.version)
            self._rows.update(rows)
        parameter = pack.manifest.confirmation.parameter
        self._confirmations = {tool.name: parameter for tool in pack.tools if tool.requires_confirmation}
        self._mutates = {tool.name: tool.mutates for tool in pack.tools}
        self._templates = {template.template_id: template for template in pack.templates}
        exports = at_work.runner.inspect(_source(at_work))["exports"]
        known = {name: export["capabilities"] or {} for name, export in exports.items()}
        self._categories = {name: str(each.get("category", "unclassified")) for name, each in known.items()}
        self._by_trace = frozenset(name for name, each in known.items() if each.get("trace"))

    def grade(self, evidence: EvidenceModel, *, label: str, task_id: str | None = None) -> GradedRun:
        """Grade one run.

        Args:
            evidence: of the conversation.
            label: what to call the run in problems.
            task_id: the task, where it is named; else the run must say it.

        Raises:
            PackError: the run is of no task of the pack, or its task has no gold.
        """
        found = self._row(self._task_id(evidence, label, task_id))
        gold, run = gold_task(found), shown(evidence)
        context = self._context(found)
        task = {name: found[name] for name in _TASK_FIELDS}
        if self._trace_only or not can_replay(run):
            verdicts = trace_verdicts(
                self._at_work.runner,
                run,
                names=gold.success_assertions,
                categories=self._categories,
                by_trace=self._by_trace,
                task=task,
                context=context,
            )
            return self._graded(gold, run, verdicts=verdicts)
        pairing = compared(gold, run, self._policy).pairing
        replayed = replay_run(
            self._at_work.oracle,
            run,
            context,
            tools=self._mutates,
            unearned=self._unearned(gold, run, pairing),
        )
        gold, dependencies = self._rebound(gold, pairing, replayed)
        verdicts = verdicts_of(
            self._at_work.runner,
            replayed,
            names=gold.success_assertions,
            categories=self._categories,
            task=task,
            context=context,
        )
        return self._graded(gold, run, verdicts=verdicts, replay=_with(replayed.facts, dependencies))

    def _graded(self, gold: GoldTask, run: Shown, **more: Any) -> GradedRun:
        return grade(gold, run, confirmations=self._confirmations, policy=self._policy, **more)

    def _unearned(self, gold: GoldTask, run: Shown, pairing: Pairing) -> dict[int, str]:
        """Calls that say that the user has agreed, where it is known that the user has not."""
        return {
            index: "it says that the user has agreed, and the user has not"
            for index, is_doubtful in unearned(gold, run, pairing, self._confirmations)
            if not is_doubtful
        }

    def _rebound(
        self, gold: GoldTask, pairing: Pairing, replayed: Replayed
    ) -> tuple[GoldTask, tuple[Dependency, ...]]:
        template = self._templates.get(gold.template_id)
        if template is None:
            return gold, ()
        plan = self._kitchen.plans[template.template_id]
        script = call_script(template, plan, self._at_work.pack.tools)
        if not script.is_dependent or len(script.calls) != len(gold.calls):
            return gold, ()
        return rebound(gold, script, pairing, replayed.by_call)

    def _context(self, found: Mapping[str, Any]) -> Context:
        options = self._at_work.options
        return Context(
            clock=options.clock,
            seed=int(found["seed"]),
            timeout_s=options.tool_timeout_s,
            task_id=str(found["task_id"]),
        )

    def _task_id(self, evidence: EvidenceModel, label: str, named: str | None) -> str:
        known = self._tasks.keys() | self._rows.keys()
        said = (evidence.metadata or {}).get("task_id")
        tried = [named] if named is not None else [evidence.conversation_id, said]
        for each in tried:
            if isinstance(each, str) and each in known:
                return each
        given = next((each for each in tried if isinstance(each, str)), None)
        raise PackError(
            Problem(
                code="unknown_task",
                message="the run is of no task of the pack"
                if given is None
                else f"there is no task `{given[:80]}`",
                file=label,
                expected="the id of a task as the conversation's id, or in its metadata as `task_id`",
                nearest=None if given is None else nearest(given, known),
                mend="Name the task with `--task`, or give the benchmark that has it with `--benchmark`.",
            )
        )

    def _row(self, task_id: str) -> dict[str, Any]:
        found = self._rows.get(task_id)
        if found is None:
            found = self._rows[task_id] = self._made(self._tasks[task_id])
        return found

    def _made(self, task: Task) -> dict[str, Any]:
        pack = self._at_work.pack
        try:
            made = self._kitchen.maker.make(task)
        except OracleError as error:
            raise PackError(
                Problem(code="oracle_unusable", message=error.message, mend="Check the pack first.")
            ) from None
        if made.drop is not None:
            raise PackError(
                Problem(
                    code="task_not_gold",
                    message=f"the task `{task.task_id}` has no gold: {made.drop.reason}",
                    found=made.drop.detail,
                    mend="Mend the pack, or grade against another task.",
                )
            )
        return row(made, pack, tier="gold", name=pack.manifest.pack_id)


def _with(facts: Replay, dependencies: tuple[Dependency, ...]) -> Replay:
    return replace(facts, dependencies=dependencies)


def _source(at_work: Running) -> str:
    path = at_work.pack.root / at_work.pack.files["assertions"]
    return path.read_text(encoding="utf-8", errors="replace")


def _refuse_other_pack(rows: Mapping[str, Mapping[str, Any]], pack_id: str, version: str) -> None:
    for found in rows.values():
        if (found.get("pack_id"), found.get("pack_version")) != (pack_id, version):
            raise PackError(
                Problem(
                    code="other_pack",
                    message="the benchmark is of another pack",
                    expected=f"{pack_id} {version}",
                    found=f"{found.get('pack_id')} {found.get('pack_version')}",
                    mend="Give the pack that it was built of, or build it anew.",
                )
            )
