"""One graded run: its outcome and its path apart, and every gate. Nothing here is a score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from averment.oracle.grade.calls import Shown
from averment.oracle.grade.compare import Comparison
from averment.oracle.grade.counts import Count, counts
from averment.oracle.grade.gates import (
    OUTCOME,
    PATH,
    Attribution,
    Gate,
    Status,
    Verdict,
    status_of,
    task_success,
)
from averment.oracle.grade.gold import GoldTask
from averment.oracle.grade.path import Compared, compared, path_gates
from averment.oracle.grade.policy import Policy
from averment.oracle.grade.replayed import Executed, Replay, assertions_gate, replay_gates
from averment.text.jsontext import digest

__all__ = ["LOGIC_VERSION", "GradedCall", "GradedRun", "Outcome", "Path", "grade", "score_sha256"]

LOGIC_VERSION = 1
"""Raised when runs come to be graded differently: scores of two versions then have different digests."""


class GradedCall(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A call of gold, a call of the run, or both.

    Attributes:
        gold: the index of the call of gold; None for one that gold does not have.
        call: the id of the run's call; None for one that was not made.
        index: its place among the run's calls, which `executed` names it by.
        tool: of gold, else of the run.
        comparison: what both have in common.
    """

    gold: int | None = None
    call: str | None = None
    index: int | None = None
    tool: str | None = None
    comparison: Comparison | None = None


class Outcome(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of the run.

    Attributes:
        status: of the outcome's gates.
        mode: whether the calls were made again on the oracle, or the recorded trace was all there is.
        assertions: what each said.
        executed: the calls, made again.
    """

    status: Status
    mode: str
    assertions: tuple[Verdict, ...] = ()
    executed: tuple[Executed, ...] = ()


class Path(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How it came about.

    Attributes:
        status: of the path's gates.
        decides: whether the task hangs on them.
        calls: each call of gold with its counterpart, then what else was called.
        turns: by the index of a turn of gold that of its counterpart in the run; None for none.
    """

    status: Status
    decides: bool
    calls: tuple[GradedCall, ...] = ()
    turns: tuple[int | None, ...] = ()


class GradedRun(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One run, graded against one task.

    Attributes:
        task_id: the task.
        run: the id of the conversation.
        success: whether no gate that decides has failed or is undecided; not a mean of anything.
        attribution: whose doing it is.
        outcome: what came of it.
        path: how.
        gates: all of them.
        counts: what metrics are summed from.
        policy: how it was graded.
    """

    task_id: str
    run: str | None = None
    success: Status
    attribution: Attribution
    outcome: Outcome
    path: Path
    gates: tuple[Gate, ...]
    counts: dict[str, Count]
    policy: Policy = Policy()


def grade(
    task: GoldTask,
    run: Shown,
    *,
    verdicts: Sequence[Verdict] = (),
    replay: Replay | None = None,
    confirmations: Mapping[str, str] | None = None,
    policy: Policy | None = None,
    stopped: bool = False,
) -> GradedRun:
    """Grade a run.

    Args:
        task: with its gold.
        run: what the evidence shows, by `calls.shown`.
        verdicts: of the assertions that the task names, in its order: after a replay, or of the recorded trace; one that
            could not be run is `not_run`.
        replay: what came of making the calls again; None in trace mode.
        confirmations: by the name of each tool that asks for the user's word the parameter that says it was given.
        policy: how; the defaults where left out.
        stopped: whether it was not the agent that ended the run.
    """
    policy = policy or Policy()
    decides = policy.path == "always" or (policy.path == "template" and task.call_order != "any")
    found = compared(task, run, policy)
    gates = path_gates(task, run, found, policy, confirmations=confirmations, stopped=stopped)
    if replay is not None:
        gates += replay_gates(replay)
    gates.append(assertions_gate(verdicts, executable=replay is not None))
    gates = [
        msgspec.structs.replace(gate, decides=False) if gate.side == "path" and not decides else gate
        for gate in gates
    ]
    success, attribution = task_success(gates, policy)
    executed = () if replay is None else replay.calls
    return GradedRun(
        task_id=task.task_id,
        run=run.run,
        success=success,
        attribution=attribution,
        outcome=Outcome(
            status=status_of(gate for gate in gates if gate.name in OUTCOME),
            mode="trace" if replay is None else "executable",
            assertions=tuple(verdicts),
            executed=executed,
        ),
        path=Path(
            status=status_of(gate for gate in gates if gate.name in PATH),
            decides=decides,
            calls=tuple(_graded_calls(task, run, found)),
            turns=tuple(found.turns.get(at) for at in range(len(task.turns))),
        ),
        gates=tuple(gates),
        counts=counts(task, run, found, verdicts, executed),
        policy=policy,
    )


def score_sha256(run: GradedRun) -> str:
    """The digest of what a run was found to be: the same for the same findings, however they are worded.

    Sentences for people are left out of it, and no quotient is in it.
    """
    said = msgspec.to_builtins(run)
    return digest({"logic": LOGIC_VERSION, "run": _unworded(said)})


_WORDS = frozenset({"detail", "explanation", "message"})


def _unworded(value: Any) -> Any:
    """A value without what is worded for people."""
    if isinstance(value, dict):
        return {key: _unworded(part) for key, part in value.items() if key not in _WORDS}
    return [_unworded(part) for part in value] if isinstance(value, list | tuple) else value


def _graded_calls(task: GoldTask, run: Shown, found: Compared) -> list[GradedCall]:
    of_gold = {pair.gold: pair for pair in (*found.pairing.pairs, *found.pairing.instead)}
    graded = []
    for index, gold in enumerate(task.calls):
        pair = of_gold.get(index)
        graded.append(
            GradedCall(
                gold=index,
                call=None if pair is None else run.calls[pair.call].id,
                index=None if pair is None else pair.call,
                tool=gold.function_name,
                comparison=None if pair is None else pair.comparison,
            )
        )
    told = {pair.call for pair in of_gold.values()}
    graded += [
        GradedCall(call=call.id, index=index, tool=call.name)
        for index, call in enumerate(run.calls)
        if index not in told
    ]
    return graded
