"""The metrics of the contract (9.5) over graded runs: integers over integers, and a reason where there is nothing to divide.

What nobody can tell of is in no denominator; `undecided` says how much that is. There is no overall score: metrics of
outcomes and of paths stand side by side, and no sum or mean of them is made.

    schema_valid_rate              calls of the run that fit their tool's schema, of those of tools of the task
    tool_name_accuracy             calls of gold whose tool was called, one for one
    argument_accuracy              calls of gold that were made with these arguments
    call_group_accuracy            groups of gold that were made at once, and alone
    call_order_accuracy            tasks whose order is right, of those with one and with the right calls
    required_call_subset_accuracy  tasks of which every call of gold was made, whatever else was
    milestone_accuracy             texts of gold with a counterpart
    turn_success_rate              turns of gold with a counterpart, all of its calls equal
    tool_execution_success_rate    calls that the oracle answered, refusals included
    assertion_success_rate         assertions that hold, of those that apply
    state_match_rate               those of category `state`
    path_success_rate              tasks of which all gates of the path and all assertions of category `path` hold
    final_answer_success_rate      assertions of category `final_answer` that hold
    task_success_rate              tasks that succeed
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from averment.oracle.grade.counts import Count, all_hold, count
from averment.oracle.grade.gates import PATH, Status
from averment.oracle.grade.report import GradedRun

__all__ = ["METRICS", "Metric", "metrics"]


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


def metrics(runs: Iterable[GradedRun]) -> tuple[Metric, ...]:
    """All metrics over some runs, in the contract's order."""
    told = list(runs)
    return tuple(_metric(name, told) for name in METRICS)


_TRUTH: Mapping[Status, bool | None] = {"passed": True, "failed": False, "undecided": None}


def _summed(name: str) -> Callable[[Sequence[GradedRun]], Count]:
    def summed(runs: Sequence[GradedRun]) -> Count:
        parts = [run.counts[name] for run in runs]
        return Count(
            sum(part.hits for part in parts),
            sum(part.of for part in parts),
            sum(part.undecided for part in parts),
        )

    return summed


def _ordered(runs: Sequence[GradedRun]) -> Count:
    return count(
        _TRUTH[gate.status]
        for run in runs
        for gate in run.gates
        if gate.name == "call_ordering" and gate.status in _TRUTH
    )


def _of_path(runs: Sequence[GradedRun]) -> Count:
    """Tasks by their path; one without anything that could be asked of it is left out."""
    answers = []
    for run in runs:
        gates = [_TRUTH[gate.status] for gate in run.gates if gate.name in PATH and gate.status in _TRUTH]
        said = run.counts["assertions_path"]
        gates += [True] * said.hits + [False] * (said.of - said.hits) + [None] * said.undecided
        if gates:
            answers.append(all_hold(gates))
    return count(answers)


def _succeeding(runs: Sequence[GradedRun]) -> Count:
    return count(_TRUTH[run.success] for run in runs if run.success in _TRUTH)


METRICS: Mapping[str, tuple[Callable[[Sequence[GradedRun]], Count], str, str]] = {
    "schema_valid_rate": (_summed("valid"), "no_attempted_call", "path_evidence_incomplete"),
    "tool_name_accuracy": (_summed("names"), "no_expected_call", "path_evidence_incomplete"),
    "argument_accuracy": (_summed("calls"), "no_expected_call", "path_evidence_incomplete"),
    "call_group_accuracy": (_summed("groups"), "no_expected_call", "path_evidence_incomplete"),
    "call_order_accuracy": (_ordered, "gate_not_applicable", "path_evidence_incomplete"),
    "required_call_subset_accuracy": (_summed("gold_made"), "no_expected_call", "path_evidence_incomplete"),
    "milestone_accuracy": (_summed("texts"), "no_text_milestone", "path_evidence_incomplete"),
    "turn_success_rate": (_summed("turns"), "no_evaluated_turn", "path_evidence_incomplete"),
    "tool_execution_success_rate": (_summed("executed"), "no_attempted_call", "path_evidence_incomplete"),
    "assertion_success_rate": (
        _summed("assertions"),
        "no_declared_assertion",
        "assertion_evidence_incomplete",
    ),
    "state_match_rate": (_summed("assertions_state"), "no_state_assertion", "assertion_evidence_incomplete"),
    "path_success_rate": (_of_path, "no_applicable_task", "path_evidence_incomplete"),
    "final_answer_success_rate": (
        _summed("assertions_final_answer"),
        "no_final_answer_assertion",
        "assertion_evidence_incomplete",
    ),
    "task_success_rate": (_succeeding, "no_applicable_task", "path_evidence_incomplete"),
}
"""By the name of a metric how it is counted, why it may have no value, and why when all of it is undecided."""


def _metric(name: str, runs: Sequence[GradedRun]) -> Metric:
    counting, nothing, unknown = METRICS[name]
    found = counting(runs)
    reason = None
    if not found.of:
        reason = unknown if found.undecided else nothing
        declared = [verdict for run in runs for verdict in run.outcome.assertions]
        if name == "assertion_success_rate" and reason == nothing and declared:
            reason = "all_assertions_not_applicable"
    return Metric(
        name=name,
        numerator=found.hits,
        denominator=found.of,
        value=found.hits / found.of if found.of else None,
        reason=None if reason is None else f"metric.{reason}",
        undecided=found.undecided,
    )
