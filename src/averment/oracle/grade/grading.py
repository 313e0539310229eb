"""Grading recorded runs against a pack: which task a run is of, its replay, its verdicts.

A run is of the task that is named; else of the one whose id is the conversation's, or stands in its metadata or its labels
as `task_id`. Nothing is guessed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from msgspec.structs import replace

from averment.errors import AvermentError, PackError, Problem, nearest
from averment.evidence.model import EvidenceModel
from averment.oracle.gold.kitchen import Kitchen
from averment.oracle.grade.calls import Shown, shown
from averment.oracle.grade.compare import Pairing, pair_calls
from averment.oracle.grade.dependencies import rebound
from averment.oracle.grade.gold import GoldTask
from averment.oracle.grade.policy import Policy
from averment.oracle.grade.replayed import Dependency
from averment.oracle.grade.replaying import Asking, can_replay, replay_run, trace_verdicts, verdicts_of
from averment.oracle.grade.report import GradedRun, grade
from averment.oracle.grade.shape import says_confirmed, unearned
from averment.oracle.grade.tasks import Subject, Tasks
from averment.oracle.oracles import OracleError
from averment.oracle.running import Running
from averment.oracle.tasks.trace import CallScript, call_script
from averment.text.shown import printable

__all__ = ["Grader"]

_NOT_AGREED = "it says that the user has agreed, and the user has not"


class Grader:
    """Grades runs against the tasks of one pack; several threads may ask one grader.

    Args:
        at_work: the pack at work.
        rows: the rows of a benchmark of the pack, by task id; None to make gold of the pack's own tasks.
        policy: how to compare.
        trace_only: whether nothing is made again on the oracle.

    Raises:
        PackError: no task can be made of the pack, its assertions can't be loaded, or its service can't be reached.
    """

    def __init__(
        self,
        at_work: Running,
        rows: Mapping[str, dict[str, Any]] | None = None,
        *,
        policy: Policy | None = None,
        trace_only: bool = False,
    ) -> None:
        self._at_work = at_work
        self._policy = policy or Policy()
        self._trace_only = trace_only
        pack = at_work.pack
        if not trace_only:
            at_work.metadata()  # a service that is not there would fail every run
        kitchen = Kitchen.of(pack, at_work.options, at_work.oracle, at_work.runner)
        self._tasks = Tasks(kitchen, rows)
        parameter = pack.manifest.confirmation.parameter
        self._confirmations = {tool.name: parameter for tool in pack.tools if tool.requires_confirmation}
        self._mutates = {tool.name: tool.mutates for tool in pack.tools}
        self._scripts = {
            template.template_id: call_script(template, kitchen.plans[template.template_id], pack.tools)
            for template in pack.templates
        }
        self._capabilities = _capabilities(at_work)
        self._categories = {
            name: str(each.get("category", "unclassified")) for name, each in self._capabilities.items()
        }
        self._by_trace = frozenset(name for name, each in self._capabilities.items() if each.get("trace"))

    def grade(self, evidence: EvidenceModel, *, label: str, task_id: str | None = None) -> GradedRun:
        """Grade one run.

        Args:
            evidence: of the conversation.
            label: what to call the run in problems.
            task_id: the task, where it is named; else the run must say it.

        Raises:
            PackError: the run is of no task of the pack, or its task has no gold.
        """
        subject = self._tasks.subject(self._task_id(evidence, label, task_id))
        self._refuse_unaskable(subject.gold)
        run = _unprefixed(shown(evidence), self._policy.tool_prefix)
        asking = Asking(
            runner=self._at_work.runner,
            names=subject.gold.success_assertions,
            categories=self._categories,
            task=subject.task,
            context=subject.context,
            unresolved=subject.unresolved,
        )
        if self._trace_only or not can_replay(run):
            verdicts = trace_verdicts(run, self._by_trace, asking)
            return grade(
                subject.gold, run, verdicts=verdicts, confirmations=self._confirmations, policy=self._policy
            )
        return self._replayed(subject, run, asking)

    def grade_all(
        self,
        runs: Iterable[tuple[str, EvidenceModel | AvermentError]],
        *,
        task_id: str | None = None,
        jobs: int = 1,
    ) -> Generator[tuple[str, GradedRun | AvermentError], None, None]:
        """Grade runs side by side, in their order; only so many are held at once.

        Who stops before the last one closes it, and so waits for what is being graded: the pack has to be at work still.

        Args:
            runs: each with what to call it; what could not be read is handed on.
            task_id: the task of all, where it is named.
            jobs: how many are graded at once; the grades are the same for any number.

        Returns:
            Each run's label with its grades, or with why it has none.

        Raises:
            PackError: there is no task of the name.
        """
        if task_id is not None and task_id not in self._tasks.ids:
            raise PackError(self._unknown([task_id], None))

        return self._side_by_side(runs, task_id, jobs)

    def _side_by_side(
        self, runs: Iterable[tuple[str, EvidenceModel | AvermentError]], task_id: str | None, jobs: int
    ) -> Generator[tuple[str, GradedRun | AvermentError], None, None]:
        def graded(label: str, run: EvidenceModel | AvermentError) -> GradedRun | AvermentError:
            if isinstance(run, AvermentError):
                return run
            try:
                return self.grade(run, label=label, task_id=task_id)
            except PackError as error:
                return error

        waiting: _Waiting = deque()
        with ThreadPoolExecutor(max_workers=jobs) as pool:
            try:
                for label, run in runs:
                    waiting.append((label, pool.submit(graded, label, run)))
                    if len(waiting) >= 2 * jobs:
                        yield _first(waiting)
                while waiting:
                    yield _first(waiting)
            finally:
                for _, future in waiting:
                    future.cancel()

    def _replayed(self, subject: Subject, run: Shown, asking: Asking) -> GradedRun:
        gold = subject.gold

        known: dict[frozenset[int], dict[int, bool]] = {}
        producers = self._producers(gold)

        def forbidden(index: int, results: Mapping[int, Any]) -> str | None:
            if says_confirmed(run.calls[index], self._confirmations) is not True:
                return None
            # Gold is another only where a producer has answered meanwhile.
            answered = frozenset(at for at in results if run.calls[at].name in producers)
            if answered not in known:
                live, pairing, _ = self._live(gold, run, results)
                known[answered] = dict(unearned(live, run, pairing, self._confirmations))
            return _NOT_AGREED if known[answered].get(index) is False else None

        replayed = replay_run(
            self._at_work.oracle, run, subject.context, tools=self._mutates, forbidden=forbidden
        )
        refused = frozenset(each.call for each in replayed.facts.calls if each.outcome == "not_executed")
        live, _, dependencies = self._live(gold, run, replayed.by_call, refused)
        return grade(
            live,
            run,
            verdicts=verdicts_of(replayed, asking),
            replay=replace(replayed.facts, dependencies=dependencies),
            confirmations=self._confirmations,
            policy=self._policy,
        )

    def _live(
        self,
        gold: GoldTask,
        run: Shown,
        results: Mapping[int, Any],
        refused: frozenset[int] = frozenset(),
    ) -> tuple[GoldTask, Pairing, tuple[Dependency, ...]]:
        """Gold with its dependent arguments from these results, and the run's calls beside it.

        Which call of the run is a producer follows from the arguments of gold, and those from the producers before it: so
        both are worked out in turn until neither changes.
        """
        script = self._script(gold)
        pairing = pair_calls(gold.calls, run.calls, gold.tools, self._policy)
        if script is None:
            return gold, pairing, ()
        live, dependencies = rebound(gold, script, pairing, results, refused)
        for _ in gold.calls:
            pairing = pair_calls(live.calls, run.calls, gold.tools, self._policy)
            again, dependencies = rebound(gold, script, pairing, results, refused)
            if again == live:
                break
            live = again
        return live, pairing, dependencies

    def _script(self, gold: GoldTask) -> CallScript | None:
        """The calls of the task's template, where values of theirs come from results."""
        script = self._scripts.get(gold.template_id)
        if script is None or not script.is_dependent:
            return None
        scripted = [call.tool for call in script.calls]
        return script if scripted == [call.function_name for call in gold.calls] else None

    def _producers(self, gold: GoldTask) -> frozenset[str]:
        """The tools whose results have values of gold."""
        script = self._script(gold)
        return frozenset(call.tool for call in script.calls if call.id is not None) if script else frozenset()

    def _task_id(self, evidence: EvidenceModel, label: str, named: str | None) -> str:
        said = [(part or {}).get("task_id") for part in (evidence.metadata, evidence.labels)]
        tried = [named] if named is not None else [evidence.conversation_id, *said]
        given = [each for each in tried if isinstance(each, str)]
        found = next((each for each in given if each in self._tasks.ids), None)
        if found is not None:
            return found
        raise PackError(self._unknown(given, label))

    def _unknown(self, given: Sequence[str], label: str | None) -> Problem:
        """No task has one of the ids that were given."""
        return Problem(
            code="unknown_task",
            message=f"there is no task `{printable(given[0], _MOST)}`"
            if given
            else "the run does not say which task it is of",
            file=label,
            expected="the id of a task as the conversation's id, or as `task_id` in its metadata or labels",
            nearest=nearest(given[0][:_MOST], sorted(self._tasks.ids)[:1000]) if given else None,
            mend="Name the task with `--task`, or give the benchmark that has it with `--benchmark`.",
        )

    def _refuse_unaskable(self, gold: GoldTask) -> None:
        """See that the pack has the assertions of a task, and that they can be run on what a replay comes to."""
        for name in gold.success_assertions:
            known = self._capabilities.get(name)
            if known is None:
                raise PackError(
                    Problem(
                        code="missing_assertion",
                        message=f"the pack has no assertion `{name[:_MOST]}`, which `{gold.task_id}` names",
                        nearest=nearest(name, sorted(self._capabilities)),
                        mend="Run `averment pack check --only assertions` on the pack, or build the benchmark anew.",
                    )
                )
            if known.get("executable") is False and not self._trace_only:
                raise PackError(
                    Problem(
                        code="assertion_not_executable_compatible",
                        message=f"`{name}`, which `{gold.task_id}` names, is declared as `executable: false`",
                        mend="Take it out of the template, or give `--trace-only`.",
                    )
                )


_MOST = 120
_Waiting = deque[tuple[str, Future[GradedRun | AvermentError]]]


def _first(waiting: _Waiting) -> tuple[str, GradedRun | AvermentError]:
    label, future = waiting.popleft()
    return label, future.result()


def _capabilities(at_work: Running) -> dict[str, dict[str, Any]]:
    """What the pack declares of each assertion that it exports."""
    path = at_work.pack.root / at_work.pack.files["assertions"]
    try:
        exports = at_work.runner.inspect(path.read_text(encoding="utf-8", errors="replace"))["exports"]
    except OracleError as error:
        mend = "Run `averment pack check --only assertions` on the pack, and mend what it tells."
        raise PackError(
            Problem(
                code="assertions_import_failed",
                message=error.message,
                file=error.file or at_work.pack.files["assertions"],
                line=error.line,
                mend=mend,
            )
        ) from None
    return {name: export["capabilities"] or {} for name, export in exports.items()}


def _unprefixed(run: Shown, prefix: str) -> Shown:
    """The run with the names of tools as the pack has them."""
    if not prefix:
        return run
    calls = [
        call if call.name is None else replace(call, name=call.name.removeprefix(prefix))
        for call in run.calls
    ]
    return replace(run, calls=tuple(calls))
