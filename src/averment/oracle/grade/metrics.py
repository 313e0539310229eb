"""The metrics of the contract (9.5) over graded runs: integers over integers, and a reason where there is nothing to divide.

What nobody can tell of is in no denominator; `undecided` says how much that is. There is no overall score: metrics of
outcomes and of paths stand side by side, and no sum or mean of them is made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec

from averment.oracle.grade.counts import Count, all_hold, count
from averment.oracle.grade.gates import PATH, Status
from averment.oracle.grade.report import GradedRun

__all__ = ["METRICS", "REASONS", "Counted", "Metric", "Tally", "metrics"]


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """One metric.

    Attributes:
        name: one of `METRICS`.
        numerator, denominator: integers; over several sets of runs, sum them and divide once.
        value: the quotient; None where the denominator is 0.
        reason: why there is no value, `metric.<code>`.
        undecided: how many more the evidence does not decide.
    """

    name: str
    numerator: int
    denominator: int
    value: float | None
    reason: str | None
    undecided: int


class Tally:
    """What metrics are made of, added up run by run; no run is kept."""

    def __init__(self) -> None:
        self._counts = dict.fromkeys(METRICS, Count())
        self._is_any_declared = False

    def add(self, run: GradedRun) -> None:
        """Count a run."""
        for name, metric in METRICS.items():
            found, sum_ = metric.count(run), self._counts[name]
            self._counts[name] = Count(
                sum_.hits + found.hits, sum_.of + found.of, sum_.undecided + found.undecided
            )
        self._is_any_declared = self._is_any_declared or bool(run.outcome.assertions)

    def metrics(self) -> tuple[Metric, ...]:
        """All metrics so far, in the contract's order."""
        return tuple(self._metric(name, found) for name, found in self._counts.items())

    def _metric(self, name: str, found: Count) -> Metric:
        reason = None
        if not found.of:
            reason = METRICS[name].unknown if found.undecided else METRICS[name].nothing
            if name == "assertion_success_rate" and not found.undecided and self._is_any_declared:
                reason = "all_assertions_not_applicable"
        return Metric(
            name=name,
            numerator=found.hits,
            denominator=found.of,
            value=found.hits / found.of if found.of else None,
            reason=None if reason is None else f"metric.{reason}",
            undecided=found.undecided,
        )


def metrics(runs: Iterable[GradedRun]) -> tuple[Metric, ...]:
    """All metrics over some runs, in the contract's order."""
    tally = Tally()
    for run in runs:
        tally.add(run)
    return tally.metrics()


_TRUTH: Mapping[Status, bool | None] = {"passed": True, "failed": False, "undecided": None}


def _counted(name: str) -> Callable[[GradedRun], Count]:
    return lambda run: run.counts[name]


def _ordered(run: GradedRun) -> Count:
    return count(
        _TRUTH[gate.status] for gate in run.gates if gate.name == "call_ordering" and gate.status in _TRUTH
    )


def _of_path(run: GradedRun) -> Count:
    """The run by its path; none where nothing could be asked of it."""
    gates = [_TRUTH[gate.status] for gate in run.gates if gate.name in PATH and gate.status in _TRUTH]
    said = run.counts["assertions_path"]
    gates += [True] * said.hits + [False] * (said.of - said.hits) + [None] * said.undecided
    return count([all_hold(gates)] if gates else [])


def _succeeding(run: GradedRun) -> Count:
    return count([_TRUTH[run.success]] if run.success in _TRUTH else [])


class Counted(msgspec.Struct, frozen=True):
    """How a metric is made.

    Attributes:
        about: what is counted, of what.
        count: of one run.
        nothing: why it may have no value.
        unknown: why, where there is something and the evidence decides none of it.
    """

    about: str
    count: Callable[[GradedRun], Count]
    nothing: str
    unknown: str = "path_evidence_incomplete"


METRICS: Mapping[str, Counted] = {
    "schema_valid_rate": Counted(
        "Calls of the run that fit their tool's schema, of those of tools of the task.",
        _counted("valid"),
        "no_attempted_call",
    ),
    "tool_name_accuracy": Counted(
        "Calls of gold whose tool was called, one for one.", _counted("names"), "no_expected_call"
    ),
    "argument_accuracy": Counted(
        "Calls of gold that were made with these arguments.", _counted("calls"), "no_expected_call"
    ),
    "call_group_accuracy": Counted(
        "Groups of gold that were made at once, and alone.", _counted("groups"), "no_expected_call"
    ),
    "call_order_accuracy": Counted(
        "Tasks whose order is right, of those that state one and have the right calls.",
        _ordered,
        "gate_not_applicable",
    ),
    "required_call_subset_accuracy": Counted(
        "Tasks of which every call of gold was made, whatever else was.",
        _counted("gold_made"),
        "no_expected_call",
    ),
    "milestone_accuracy": Counted(
        "Texts of gold with a counterpart.", _counted("texts"), "no_text_milestone"
    ),
    "turn_success_rate": Counted(
        "Turns of gold with a counterpart, all of its calls equal.", _counted("turns"), "no_evaluated_turn"
    ),
    "tool_execution_success_rate": Counted(
        "Calls that the oracle answered, refusals included.", _counted("executed"), "no_attempted_call"
    ),
    "assertion_success_rate": Counted(
        "Assertions that hold, of those that apply.",
        _counted("assertions"),
        "no_declared_assertion",
        "assertion_evidence_incomplete",
    ),
    "state_match_rate": Counted(
        "Assertions of the category `state` that hold.",
        _counted("assertions_state"),
        "no_state_assertion",
        "assertion_evidence_incomplete",
    ),
    "path_success_rate": Counted(
        "Tasks of which all gates of the path and all assertions of the category `path` hold.",
        _of_path,
        "no_applicable_task",
    ),
    "final_answer_success_rate": Counted(
        "Assertions of the category `final_answer` that hold.",
        _counted("assertions_final_answer"),
        "no_final_answer_assertion",
        "assertion_evidence_incomplete",
    ),
    "task_success_rate": Counted("Tasks that succeed.", _succeeding, "no_applicable_task"),
}
"""All there are, in the contract's order."""

REASONS: Mapping[str, str] = {
    "all_assertions_not_applicable": "No assertion applies to any of these runs.",
    "assertion_evidence_incomplete": "None of the assertions could be run on what is there.",
    "gate_not_applicable": "No task states an order of calls that were all made.",
    "no_applicable_task": "There is no run to count.",
    "no_attempted_call": "No run has a call that counts here.",
    "no_declared_assertion": "No template has an assertion.",
    "no_evaluated_turn": "Gold has no turn.",
    "no_expected_call": "Gold has no call.",
    "no_final_answer_assertion": "No assertion is of the category `final_answer`.",
    "no_state_assertion": "No assertion is of the category `state`.",
    "no_text_milestone": "Gold has no text.",
    "path_evidence_incomplete": "The evidence decides none of it.",
}
"""Why a metric has no value; reports write `metric.` before it."""
