from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

import pytest

from averment.oracle.checks.observations import Step, chains, observe, outcome
from averment.oracle.model.cases import Case
from averment.oracle.model.manifest import Confirmation
from averment.oracle.oracles import Condition, Context, OracleError


def probe(name: str, *, reset: bool = True, arguments: Any = None) -> Case:
    return Case(id=name, tool="t", arguments=arguments or {}, reset_before=reset)


class Scripted:
    """An oracle whose state is the ids of the calls so far; `fail` says what goes wrong, by step or probe."""

    kind: Literal["backend"] = "backend"

    def __init__(self, fail: Mapping[str, str] | None = None) -> None:
        self.fail = fail or {}
        self.episodes: list[tuple[str, str]] = []
        self.lock = threading.Lock()

    @contextmanager
    def episode(self, context: Context, condition: Condition = "plain") -> Iterator[ScriptedEpisode]:
        with self.lock:
            self.episodes.append((context.task_id, condition))
        self.reach("import")
        yield ScriptedEpisode(self)
        self.reach("close")

    def reach(self, step: str) -> None:
        if step in self.fail:
            raise OracleError("raised", step, self.fail[step])


class ScriptedEpisode:
    """One of its episodes."""

    def __init__(self, oracle: Scripted) -> None:
        self.oracle = oracle
        self.calls: list[str] = []

    def reset(self) -> None:
        self.oracle.reach("reset")

    def list_tools(self) -> Any:
        raise NotImplementedError

    def call(self, name: str, arguments: Mapping[str, Any], *, turn_index: int = 0) -> Any:
        del name, turn_index
        self.oracle.reach(arguments["id"])
        self.calls.append(arguments["id"])
        return {"calls": len(self.calls)}

    def state(self) -> Any:
        if self.calls:
            self.oracle.reach(f"state after {self.calls[-1]}")
        return {"calls": list(self.calls)}


def cases(*names: str) -> tuple[Case, ...]:
    return tuple(probe(name, reset=not index, arguments={"id": name}) for index, name in enumerate(names))


def steps(oracle: Scripted, *names: str) -> tuple[Step, ...]:
    """One chain, in the plain condition."""
    observed = observe(oracle, [cases(*names)], Context(), jobs=2)
    return observed.chains[0].plain


@pytest.mark.parametrize(
    ("resets", "expected"),
    [
        ([True, True], [[0], [1]]),
        ([True, False, True], [[0, 1], [2]]),
        ([False, False], [[0, 1]]),
        ([], []),
    ],
)
def test_a_probe_without_a_reset_goes_on_with_the_chain(
    resets: list[bool], expected: list[list[int]]
) -> None:
    """The first probe starts a chain, whatever it says."""
    listed = [probe(str(index), reset=reset) for index, reset in enumerate(resets)]
    assert [[int(case.id) for case in chain] for chain in chains(listed)] == expected


def test_each_chain_is_one_episode_in_each_condition() -> None:
    """Its task is its first probe's, the same in both."""
    oracle = Scripted()
    observed = observe(oracle, [cases("a", "b"), cases("c")], Context(), jobs=4)
    assert sorted(oracle.episodes) == [
        ("probe:a", "plain"),
        ("probe:a", "shifted"),
        ("probe:c", "plain"),
        ("probe:c", "shifted"),
    ]
    assert [[case.id for case in chain.cases] for chain in observed.chains] == [["a", "b"], ["c"]]


def test_the_state_is_taken_before_and_after_every_call() -> None:
    """What one call leaves is what the next one finds."""
    first, second = steps(Scripted(), "a", "b")
    assert (first.before, first.after) == ({"calls": []}, {"calls": ["a"]})
    assert (second.before, second.after) == ({"calls": ["a"]}, {"calls": ["a", "b"]})
    assert second.result == {"calls": 2}
    assert (second.changed, second.changed_at) == (True, "$.calls[1]")


@pytest.mark.parametrize("where", ["b", "state after b"])
def test_a_call_without_an_answer_blocks_the_rest_of_its_chain_and_nothing_else(where: str) -> None:
    """The episode is over; other chains have theirs."""
    oracle = Scripted({where: "no"})
    observed = observe(oracle, [cases("a", "b", "c", "d"), cases("e")], Context(), jobs=2)
    first, second = observed.chains
    told = [(step.answered, step.error and step.error.message, step.blocked_by) for step in first.plain]
    assert told == [(True, None, None), (False, "no", None), (False, None, "b"), (False, None, "b")]
    assert [step.answered for step in second.plain] == [True]


@pytest.mark.parametrize("where", ["import", "reset"])
def test_an_episode_that_does_not_begin_is_the_failure_of_its_first_probe(where: str) -> None:
    """There is no earlier one."""
    first, second = steps(Scripted({where: "no"}), "a", "b")
    assert first.error is not None
    assert (first.error.op, second.blocked_by) == (where, "a")


def test_an_episode_that_does_not_end_is_the_failure_of_its_last_probe() -> None:
    """A service whose session can't be deleted."""
    first, second = steps(Scripted({"close": "no"}), "a", "b")
    assert first.answered
    assert second.error is not None
    assert second.error.op == "close"


def test_a_step_that_was_not_answered_changed_nothing() -> None:
    """Nobody has seen a state after it."""
    (step,) = steps(Scripted({"a": "no"}), "a")
    assert (step.changed, step.changed_at) == (False, None)


@pytest.mark.parametrize("jobs", [1, 4])
def test_the_order_is_that_of_the_file_for_any_number_of_jobs(jobs: int) -> None:
    """However episodes overtake one another."""
    known = [cases(str(index)) for index in range(8)]
    observed = observe(Scripted(), known, Context(), jobs=jobs)
    assert [plain.case.id for plain, _ in observed.steps()] == list("01234567")


PENDING = {"status": "awaiting_confirmation"}


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ({"error": {"code": "x"}}, "structured_error"),
        ({"error": {}}, "structured_error"),
        ({"error": {"code": "x"}, **PENDING}, "structured_error"),
        (PENDING, "awaiting_confirmation"),
        ({"error": "a text", **PENDING}, "awaiting_confirmation"),
        ({"error": "a text"}, "success"),
        ({"error": None}, "success"),
        ({"status": "done"}, "success"),
        ({}, "success"),
    ],
)
def test_results_are_classified_in_the_order_of_the_contract(result: Any, expected: str) -> None:
    """An error is a mapping; then comes the pending status; all else is a success."""
    assert outcome(result, Confirmation()) == expected


def test_the_manifest_names_the_field_and_the_status_that_waits() -> None:
    """Then the default ones are words like others."""
    named = Confirmation(status_field="phase", pending_status="ask")
    assert outcome({"phase": "ask"}, named) == "awaiting_confirmation"
    assert outcome(PENDING, named) == "success"
