from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import pytest

from averment.oracle.grade.calls import Shown
from averment.oracle.grade.counts import Count
from averment.oracle.grade.gates import Verdict
from averment.oracle.grade.gold import GoldTask
from averment.oracle.grade.metrics import METRICS, Metric, metrics
from averment.oracle.grade.policy import Policy
from averment.oracle.grade.replayed import Executed, Replay
from averment.oracle.grade.report import GradedRun, grade, score_sha256

Task = Callable[..., GoldTask]
Run = Callable[..., Shown]
PING: tuple[str, dict[str, Any]] = ("ping", {})
A, B = ("find", {"id": "A"}), ("find", {"id": "B"})
HELD = (Verdict(name="assert_a", status="passed", category="state"),)


def measured(runs: Sequence[GradedRun]) -> dict[str, Metric]:
    return {metric.name: metric for metric in metrics(runs)}


def fraction(metric: Metric) -> tuple[int, int, int]:
    return metric.numerator, metric.denominator, metric.undecided


# One run.


def test_outcome_and_path_are_reported_apart(task: Task, run: Run) -> None:
    """The state came out right, by another way than gold's."""
    graded = grade(task(">x", [A], "Done."), run(">x", [B], "Done."), verdicts=HELD, replay=Replay())
    assert (graded.outcome.status, graded.path.status) == ("passed", "failed")
    assert (graded.outcome.mode, graded.outcome.assertions) == ("executable", HELD)
    assert (graded.success, graded.attribution) == ("failed", "candidate")


@pytest.mark.parametrize(
    ("order", "path", "decides"),
    [
        ("strict", "template", True),
        ("prefix", "template", True),
        ("any", "template", False),
        ("any", "always", True),
        ("strict", "never", False),
    ],
)
def test_the_path_decides_where_the_template_states_one(
    task: Task, run: Run, order: str, path: Any, *, decides: bool
) -> None:
    """By its `call_order`; elsewhere it is reported alone."""
    columns = {"call_order": order, "call_order_prefix": 1 if order == "prefix" else None}
    gold = task(">x", [A], "Done.", **columns)
    graded = grade(gold, run(">x", [B], "Done."), verdicts=HELD, replay=Replay(), policy=Policy(path=path))
    assert (graded.path.status, graded.path.decides) == ("failed", decides)
    assert graded.success == ("failed" if decides else "passed")
    assert {gate.decides for gate in graded.gates if gate.side == "path"} == {decides}
    assert all(gate.decides for gate in graded.gates if gate.side != "path")


def test_every_call_of_gold_and_of_the_run_stands_in_the_report_once(task: Task, run: Run) -> None:
    """With its counterpart, in place of what it was called, or alone."""
    graded = grade(task(">x", [A], [PING], [B], "Done."), run(">x", [B], [("lend", {"id": "A"})], "Done."))
    assert [(call.gold, call.call, call.tool) for call in graded.path.calls] == [
        (0, "call_1", "find"),
        (1, None, "ping"),
        (2, "call_0", "find"),
    ]
    extra = grade(task(">x", [A], "Done."), run(">x", [A], [PING], "Done."))
    assert [(call.gold, call.call, call.tool) for call in extra.path.calls] == [
        (0, "call_0", "find"),
        (None, "call_1", "ping"),
    ]


def test_turns_of_gold_name_their_counterparts(task: Task, run: Run) -> None:
    """A text that nothing stands in for has none."""
    gold = task(">x", "Which?", ">A", [A], "Done.")
    assert grade(gold, run(">x", [A], "Done.")).path.turns == (None, 0, 1)


def test_without_an_oracle_what_was_not_run_is_undecided(task: Task, run: Run) -> None:
    """The path can be right, and the outcome nobody knows."""
    unrun = (Verdict(name="assert_a", status="not_run", category="state"),)
    graded = grade(task(">x", [A], "Done."), run(">x", [A], "Done."), verdicts=unrun)
    assert (graded.outcome.mode, graded.outcome.status, graded.path.status) == (
        "trace",
        "undecided",
        "passed",
    )
    assert (graded.success, graded.attribution) == ("undecided", "evidence")


def test_a_graded_run_is_json_and_comes_back_as_it_was(task: Task, run: Run) -> None:
    """Reports are written and read."""
    graded = grade(task(">x", [A], "Done."), run(">x", [B], "Done."), verdicts=HELD)
    assert msgspec.json.decode(msgspec.json.encode(graded), type=GradedRun) == graded
    assert "score" not in json.dumps(msgspec.to_builtins(graded))


def test_a_score_has_one_digest_however_it_is_worded(task: Task, run: Run) -> None:
    """Words for people are left out of it; findings are in it."""

    def digest(status: Any, detail: str) -> str:
        verdict = Verdict(name="assert_a", status=status, detail=detail)
        return score_sha256(grade(task(">x", [A], "Done."), run(">x", [B], "Done."), verdicts=[verdict]))

    assert digest("failed", "one way") == digest("failed", "another way")
    assert digest("failed", "one way") != digest("passed", "one way")


# Counts.


def test_what_nobody_can_tell_of_is_in_no_denominator(task: Task, run: Run) -> None:
    """It is counted apart."""
    gold, made = task(">x", [A], [B], "Done."), run(">x", [A], [B], "Done.")
    hidden = msgspec.structs.replace(made.calls[1], hidden="arguments_truncated", arguments=msgspec.UNSET)
    graded = grade(gold, msgspec.structs.replace(made, calls=(made.calls[0], hidden)))
    assert graded.counts["names"] == Count(2, 2, 0)
    assert graded.counts["calls"] == Count(1, 1, 1)
    assert graded.counts["valid"] == Count(1, 1, 1)
    assert graded.counts["gold_made"] == Count(0, 0, 1)
    assert graded.counts["turns"] == Count(2, 2, 1)


def test_where_calls_and_texts_may_be_missing_nothing_is_counted_as_missing(task: Task, run: Run) -> None:
    """What is shown counts."""
    gold = task(">x", "Which?", ">A", [A], [PING], "Done.")
    cut = msgspec.structs.replace(
        run(">x", "Which?", ">A", [A]), calls_gap="calls_incomplete", turns_gap="transcript_incomplete"
    )
    counts = grade(gold, cut).counts
    assert (counts["names"], counts["calls"]) == (Count(1, 1, 1), Count(1, 1, 1))
    assert (counts["texts"], counts["groups"], counts["turns"]) == (
        Count(1, 1, 1),
        Count(1, 1, 1),
        Count(2, 2, 2),
    )


# Metrics.


def test_the_metrics_are_those_of_the_contract_and_no_more() -> None:
    """There is no overall score."""
    assert list(METRICS) == [
        "schema_valid_rate",
        "tool_name_accuracy",
        "argument_accuracy",
        "call_group_accuracy",
        "call_order_accuracy",
        "required_call_subset_accuracy",
        "milestone_accuracy",
        "turn_success_rate",
        "tool_execution_success_rate",
        "assertion_success_rate",
        "state_match_rate",
        "path_success_rate",
        "final_answer_success_rate",
        "task_success_rate",
    ]


def test_metrics_are_sums_of_integers(task: Task, run: Run) -> None:
    """Of two runs, one like gold and one that did another thing."""
    gold = task(">x", [A], [B], "Done.")
    executed = Replay(
        calls=(Executed(call=0, outcome="business_rejection"), Executed(call=1, outcome="not_executed"))
    )
    verdicts = [
        Verdict(name="assert_a", status="passed", category="state"),
        Verdict(name="assert_b", status="failed", category="path"),
        Verdict(name="assert_c", status="not_applicable", category="final_answer"),
        Verdict(name="assert_d", status="failed", category="result"),
    ]
    found = measured(
        [
            grade(gold, run(">x", [A], [B], "Done."), verdicts=HELD, replay=Replay()),
            grade(gold, run(">x", [("find", {"id": 1})], [PING]), verdicts=verdicts, replay=executed),
        ]
    )
    assert {name: fraction(metric)[:2] for name, metric in found.items()} == {
        "schema_valid_rate": (3, 4),
        "tool_name_accuracy": (3, 4),
        "argument_accuracy": (2, 4),
        "call_group_accuracy": (3, 4),
        "call_order_accuracy": (1, 1),
        "required_call_subset_accuracy": (1, 2),
        "milestone_accuracy": (1, 2),
        "turn_success_rate": (3, 6),
        "tool_execution_success_rate": (1, 2),
        "assertion_success_rate": (2, 4),
        "state_match_rate": (2, 2),
        "path_success_rate": (1, 2),
        "final_answer_success_rate": (0, 0),
        "task_success_rate": (1, 2),
    }
    assert found["argument_accuracy"].value == 0.5
    assert found["final_answer_success_rate"].reason == "metric.no_final_answer_assertion"


def test_an_assertion_of_the_path_fails_the_path_of_a_task(task: Task, run: Run) -> None:
    """Besides its gates."""
    broken = [Verdict(name="assert_b", status="failed", category="path")]
    graded = grade(task(">x", [A], "Done."), run(">x", [A], "Done."), verdicts=broken, replay=Replay())
    assert (graded.path.status, fraction(measured([graded])["path_success_rate"])) == ("passed", (0, 1, 0))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("schema_valid_rate", "no_attempted_call"),
        ("tool_name_accuracy", "no_expected_call"),
        ("argument_accuracy", "no_expected_call"),
        ("call_group_accuracy", "no_expected_call"),
        ("call_order_accuracy", "gate_not_applicable"),
        ("required_call_subset_accuracy", "no_expected_call"),
        ("milestone_accuracy", "no_text_milestone"),
        ("turn_success_rate", "no_evaluated_turn"),
        ("tool_execution_success_rate", "no_attempted_call"),
        ("assertion_success_rate", "no_declared_assertion"),
        ("state_match_rate", "no_state_assertion"),
        ("path_success_rate", "no_applicable_task"),
        ("final_answer_success_rate", "no_final_answer_assertion"),
        ("task_success_rate", "no_applicable_task"),
    ],
)
def test_a_metric_of_nothing_has_no_value_and_a_reason(name: str, reason: str) -> None:
    """Nought out of nought is no zero."""
    metric = measured([])[name]
    assert (metric.value, metric.reason, fraction(metric)) == (None, f"metric.{reason}", (0, 0, 0))


def test_what_is_all_undecided_has_that_for_a_reason(task: Task) -> None:
    """The evidence is what is missing, not the calls or the assertions."""
    unseen = Shown(calls_gap="calls_not_recorded", turns_gap="transcript_not_recorded")
    unrun = [
        Verdict(name=f"assert_{category}", status="not_run", category=category)
        for category in ("state", "final_answer")
    ]
    found = measured([grade(task(">x", [A], "Done."), unseen, verdicts=unrun)])
    for name in (
        "tool_name_accuracy",
        "argument_accuracy",
        "milestone_accuracy",
        "turn_success_rate",
        "path_success_rate",
    ):
        assert found[name].reason == "metric.path_evidence_incomplete", name
    for name in ("assertion_success_rate", "state_match_rate", "final_answer_success_rate"):
        assert found[name].reason == "metric.assertion_evidence_incomplete", name
    assert fraction(found["task_success_rate"]) == (0, 0, 1)


def test_assertions_that_all_do_not_apply_are_not_none(task: Task, run: Run) -> None:
    """The reason tells one from the other."""
    skipped = [Verdict(name="assert_a", status="not_applicable", category="state")]
    graded = grade(task(">x", [A], "Done."), run(">x", [A], "Done."), verdicts=skipped, replay=Replay())
    assert measured([graded])["assertion_success_rate"].reason == "metric.all_assertions_not_applicable"
