from __future__ import annotations

from typing import Any

import pytest

from averment.oracle.grade import gates
from averment.oracle.grade.gates import Gate, Verdict, status_of, task_success
from averment.oracle.grade.policy import Policy
from averment.oracle.grade.replayed import Dependency, Executed, Replay, assertions_gate, replay_gates


def replayed(*outcomes: str, **facts: Any) -> dict[str, Gate]:
    calls = tuple(Executed(call=index, outcome=outcome) for index, outcome in enumerate(outcomes))  # type: ignore[arg-type]
    return {gate.name: gate for gate in replay_gates(Replay(calls=calls, **facts))}


def verdict(status: Any, name: str = "assert_x", **fields: Any) -> Verdict:
    return Verdict(name=name, status=status, **fields)


def test_the_gates_of_a_replay_are_these() -> None:
    """Each is of the run, not of its path or its outcome."""
    found = replayed("completed")
    assert list(found) == list(gates.RUN[2:])
    assert {gate.side for gate in found.values()} == {"run"}


@pytest.mark.parametrize(
    ("outcome", "status", "attribution"),
    [
        ("completed", "passed", "success"),
        ("business_rejection", "passed", "success"),
        ("not_executed", "failed", "candidate"),
        ("malformed", "failed", "infrastructure"),
        ("timeout", "failed", "infrastructure"),
        ("failed", "failed", "infrastructure"),
    ],
)
def test_a_refusal_is_an_answer_and_silence_is_not_the_agents_fault(
    outcome: str, status: str, attribution: str
) -> None:
    """What can't be executed is."""
    gate = replayed("completed", outcome)["oracle_execution"]
    assert (gate.status, gate.attribution) == (status, attribution)


def test_nothing_to_execute_is_not_asked_about() -> None:
    """A run without calls has nothing to replay."""
    found = replayed()
    assert found["oracle_execution"].why == "no_attempted_call"
    assert found["commit_state_known"].why == "no_mutating_call"
    assert found["dependency_resolution"].why == "no_dependency"
    assert found["executable_completion"].status == "passed"


def test_an_oracle_that_does_not_start_is_fatal() -> None:
    """Nobody's run can be judged then."""
    found = replayed(reset=False, complete=False, detail="reset raised")
    assert {found[name].attribution for name in ("oracle_execution", "executable_completion")} == {
        "fatal_setup"
    }
    assert found["oracle_execution"].why == "oracle_reset_failed"


def test_a_replay_that_breaks_off_is_not_complete() -> None:
    """By no fault of the agent's."""
    gate = replayed("completed", complete=False, detail="died")["executable_completion"]
    assert (gate.status, gate.why, gate.attribution, gate.detail) == (
        "failed",
        "replay_incomplete",
        "infrastructure",
        "died",
    )


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("resolved", ("passed", None, "success")),
        ("producer_not_called", ("failed", "producer_not_called", "candidate")),
        ("unresolved", ("failed", "dependency_unresolved", "infrastructure")),
    ],
)
def test_a_value_comes_from_the_runs_own_result(status: Any, expected: tuple[str, str | None, str]) -> None:
    """Where its producer was not called, the agent is to blame."""
    gate = replayed(dependencies=(Dependency(gold=1, argument="id", status=status),))["dependency_resolution"]
    assert (gate.status, gate.why, gate.attribution) == expected


@pytest.mark.parametrize(
    ("mutates", "commit", "expected"),
    [
        (True, "committed", ("passed", None)),
        (True, "unchanged", ("passed", None)),
        (True, "unknown", ("failed", "commit_unknown")),
        (False, "unknown", ("not_applicable", "no_mutating_call")),
    ],
)
def test_what_a_mutating_call_did_to_the_state_must_be_known(
    *, mutates: bool, commit: Any, expected: tuple[str, str | None]
) -> None:
    """Of other calls nobody asks."""
    call = Executed(call=0, outcome="completed", mutates=mutates, commit=commit)
    gate = {gate.name: gate for gate in replay_gates(Replay(calls=(call,)))}["commit_state_known"]
    assert (gate.status, gate.why) == expected


def test_a_call_that_was_not_executed_changed_nothing() -> None:
    """So nobody asks what it did."""
    call = Executed(call=0, outcome="not_executed", mutates=True, commit="unknown")
    gate = {gate.name: gate for gate in replay_gates(Replay(calls=(call,)))}["commit_state_known"]
    assert gate.status == "not_applicable"


@pytest.mark.parametrize(
    ("statuses", "executable", "expected"),
    [
        ([], True, ("not_applicable", "no_declared_assertion", "not_applicable")),
        (["passed", "not_applicable"], True, ("passed", None, "success")),
        (["not_applicable"], True, ("not_applicable", "all_assertions_not_applicable", "not_applicable")),
        (["passed", "failed", "infrastructure_error"], True, ("failed", "assertion_failed", "candidate")),
        (["infrastructure_error", "failed"], True, ("failed", "assertion_infrastructure", "infrastructure")),
        (["passed", "not_run"], False, ("undecided", "not_replayed", "evidence")),
        (["passed", "not_run"], True, ("failed", "assertion_state_unavailable", "infrastructure")),
        (["failed", "not_run"], False, ("failed", "assertion_failed", "candidate")),
    ],
)
def test_assertions_are_judged_in_their_order(
    statuses: list[str], *, executable: bool, expected: tuple[str, str | None, str]
) -> None:
    """One that does not apply is skipped; one that was not run is no success."""
    gate = assertions_gate([verdict(status) for status in statuses], executable=executable)
    assert (gate.status, gate.why, gate.attribution) == expected


def test_an_assertion_that_fails_is_told_in_its_own_words() -> None:
    """With its name."""
    gate = assertions_gate([verdict("failed", detail="no loan")], executable=True)
    assert gate.detail == "`assert_x`: no loan"


# What follows from several gates.


def test_a_failure_comes_before_what_is_undecided() -> None:
    """And what is undecided before what is passed."""
    passed, failed = gates.passed("arguments"), gates.failed("arguments", "arguments_differ")
    open_, none = (
        gates.undecided("arguments", "calls_incomplete"),
        gates.not_applicable("arguments", "no_expected_call"),
    )
    assert status_of([passed, open_, failed, none]) == "failed"
    assert status_of([passed, open_, none]) == "undecided"
    assert status_of([passed, none]) == "passed"
    assert status_of([none]) == status_of([]) == "not_applicable"


def test_the_agent_is_blamed_for_what_is_its_own() -> None:
    """Also where the oracle failed too; a setup that is broken comes before both."""
    own, oracle = gates.failed("arguments", "arguments_differ"), replayed("timeout")["oracle_execution"]
    broken = replayed(reset=False)["oracle_execution"]
    assert task_success([own, oracle], Policy()) == ("failed", "candidate")
    assert task_success([oracle], Policy()) == ("failed", "infrastructure")
    assert task_success([own, broken], Policy()) == ("failed", "fatal_setup")
    assert task_success([gates.undecided("arguments", "calls_incomplete")], Policy()) == (
        "undecided",
        "evidence",
    )


def test_assertions_alone_can_be_asked_for() -> None:
    """For debugging: what else the agent did wrong is left aside, and what others did is not."""
    policy = Policy(success="assertions_only")
    own, held = gates.failed("arguments", "arguments_differ"), gates.passed("assertions")
    assert task_success([own, held], policy) == ("passed", "success")
    assert task_success([held, replayed("timeout")["oracle_execution"]], policy) == (
        "failed",
        "infrastructure",
    )
    assert task_success([gates.failed("assertions", "assertion_failed")], policy) == ("failed", "candidate")
    assert task_success([own], policy) == ("not_applicable", "not_applicable")


def test_every_why_has_its_words() -> None:
    """The codes are a closed list."""
    assert all(words.endswith(".") and words[0].isupper() for words in gates.WHY.values())


@pytest.mark.parametrize("status", ["producer_not_called", "producer_differs"])
def test_the_agents_own_doing_comes_before_the_oracles(status: Any) -> None:
    """What could not be read may follow from what was not called."""
    given = (
        Dependency(gold=1, argument="a", status="unresolved"),
        Dependency(gold=2, argument="b", status=status),
    )
    (gate,) = [
        each for each in replay_gates(Replay(dependencies=given)) if each.name == "dependency_resolution"
    ]
    assert (gate.why, gate.attribution, gate.detail) == (status, "candidate", "`b` of call 2 of gold")
