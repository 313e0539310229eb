"""The gates of executable mode (contract, 9.4), from the facts of a replay: the run's calls, made again on the oracle.

Who replays gives the facts; what they come to is decided here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from averment.oracle.grade import gates
from averment.oracle.grade.gates import Attribution, Gate, Verdict

__all__ = ["Dependency", "DependencyStatus", "Executed", "Replay", "assertions_gate", "replay_gates"]


class Executed(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One call of the run, made again.

    Attributes:
        call: its index in the run's calls.
        outcome: `completed`; `business_rejection`, an error that the tool answers with; `not_executed`, because the
            call can't be made, or must not; or how the oracle failed.
        mutates: whether its tool may change the state.
        commit: what became of the state, by its digests; `unknown` where there is none.
        detail: what went wrong.
        differs_at: the first path at which the answer of now is another than the recorded one; None where they are the
            same, or none is recorded. It decides nothing: the agent may have had another world before it.
    """

    call: int
    outcome: Literal["completed", "business_rejection", "not_executed", "malformed", "timeout", "failed"]
    mutates: bool = False
    commit: Literal["committed", "unchanged", "unknown"] = "unchanged"
    detail: str | None = None
    differs_at: str | None = None


DependencyStatus = Literal["resolved", "producer_not_called", "producer_differs", "unresolved"]
"""Whether a value could be read, and if not, whether for the agent's call or for the oracle's answer."""


class Dependency(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A value of gold that comes from the result of an earlier call, in this run's own replay.

    Attributes:
        gold: the index of the call of gold that has it.
        argument: where in its arguments.
        status: whether it could be read.
    """

    gold: int
    argument: str
    status: DependencyStatus


class Replay(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What came of making a run's calls again.

    Attributes:
        calls: those that were tried, in order.
        dependencies: of the task.
        reset: whether the oracle began in the pack's state.
        complete: whether nothing broke off the replay before its last call.
        detail: what did.
    """

    calls: tuple[Executed, ...] = ()
    dependencies: tuple[Dependency, ...] = ()
    reset: bool = True
    complete: bool = True
    detail: str | None = None


def replay_gates(replay: Replay) -> list[Gate]:
    """What the replay says of the run, but for the assertions."""
    return [
        _oracle_execution(replay),
        _dependency_resolution(replay.dependencies),
        _commit_state_known(replay.calls),
        _executable_completion(replay),
    ]


def _oracle_execution(replay: Replay) -> Gate:
    name = "oracle_execution"
    if not replay.reset:
        return gates.failed(name, "oracle_reset_failed", replay.detail, blame="fatal_setup")
    for call in replay.calls:
        if call.outcome in {"malformed", "timeout", "failed"}:
            return gates.failed(name, "oracle_failed", call.detail, blame="infrastructure")
    for call in replay.calls:
        if call.outcome == "not_executed":
            return gates.failed(name, "call_not_executed", call.detail)
    return gates.passed(name) if replay.calls else gates.not_applicable(name, "no_attempted_call")


def _dependency_resolution(dependencies: Sequence[Dependency]) -> Gate:
    name = "dependency_resolution"
    wrong = [each for each in dependencies if each.status != "resolved"]
    if not wrong:
        return gates.passed(name) if dependencies else gates.not_applicable(name, "no_dependency")
    # The agent's own doing comes first: what follows from it is no fault of the oracle.
    first = next((each for each in wrong if each.status != "unresolved"), wrong[0])
    blame: Attribution = "infrastructure" if first.status == "unresolved" else "candidate"
    why = "dependency_unresolved" if first.status == "unresolved" else first.status
    return gates.failed(name, why, f"`{first.argument}` of call {first.gold} of gold", blame=blame)


def _commit_state_known(calls: Sequence[Executed]) -> Gate:
    name = "commit_state_known"
    mutating = [call for call in calls if call.mutates and call.outcome != "not_executed"]
    if not mutating:
        return gates.not_applicable(name, "no_mutating_call")
    unknown = [call for call in mutating if call.commit == "unknown"]
    if unknown:
        return gates.failed(name, "commit_unknown", unknown[0].detail, blame="infrastructure")
    return gates.passed(name)


def _executable_completion(replay: Replay) -> Gate:
    name = "executable_completion"
    if not replay.reset:
        return gates.failed(name, "oracle_reset_failed", replay.detail, blame="fatal_setup")
    if not replay.complete:
        return gates.failed(name, "replay_incomplete", replay.detail, blame="infrastructure")
    return gates.passed(name)


def assertions_gate(verdicts: Sequence[Verdict], *, executable: bool) -> Gate:
    """What the assertions say together: one that does not hold is the candidate's, one that can't be run is not.

    Args:
        verdicts: one for each assertion that the template names, in its order.
        executable: whether there was an oracle: without one, an assertion that asks for it was not run.
    """
    name = "assertions"
    if not verdicts:
        return gates.not_applicable(name, "no_declared_assertion")
    for verdict in verdicts:
        if verdict.status == "failed":
            return gates.failed(name, "assertion_failed", _told(verdict))
        if verdict.status == "infrastructure_error":
            return gates.failed(name, "assertion_infrastructure", _told(verdict), blame="infrastructure")
    if any(verdict.status == "not_run" for verdict in verdicts):
        if not executable:
            return gates.undecided(name, "not_replayed")
        return gates.failed(name, "assertion_state_unavailable", blame="infrastructure")
    if all(verdict.status == "not_applicable" for verdict in verdicts):
        return gates.not_applicable(name, "all_assertions_not_applicable")
    return gates.passed(name)


def _told(verdict: Verdict) -> str:
    return f"`{verdict.name}`" + (f": {verdict.detail}" if verdict.detail else "")
