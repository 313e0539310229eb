"""Running the probes, once in each ambient condition; what several checks look at is observed here once.

Probes make chains: one that does not ask for a reset goes on from the one before it. A chain is one episode: reset, the
state, then each call and the state after it. A call that gets no answer ends the episode, and the rest of the chain is
blocked by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec

from averment.oracle.catalog.divergence import first_difference
from averment.oracle.model.cases import Case
from averment.oracle.model.manifest import Confirmation
from averment.oracle.oracles import Condition, Context, Episode, Oracle, OracleError

__all__ = ["Chain", "Observations", "Step", "chains", "observe", "outcome"]


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one probe in one episode.

    Attributes:
        case: the probe.
        result: what the tool gave, where it answered with JSON.
        before: the state before the call.
        after: the state after it.
        error: why there is no answer; None where there is one.
        blocked_by: the id of the earlier probe of the chain that got none.
    """

    case: Case
    result: Any = None
    before: Any = None
    after: Any = None
    error: OracleError | None = None
    blocked_by: str | None = None

    @property
    def answered(self) -> bool:
        """Whether the tool was called and gave something."""
        return self.error is None and self.blocked_by is None

    @property
    def changed(self) -> bool:
        """Whether the call changed the state."""
        return self.changed_at is not None

    @property
    def changed_at(self) -> str | None:
        """Where the call changed the state, first; None where it did not."""
        if not self.answered or self.before is self.after:
            return None
        return first_difference(self.before, self.after)


class Chain(msgspec.Struct, frozen=True):
    """A chain of probes and its two episodes."""

    cases: tuple[Case, ...]
    plain: tuple[Step, ...]
    shifted: tuple[Step, ...]


class Observations(msgspec.Struct, frozen=True):
    """All chains, in the order of the file."""

    chains: tuple[Chain, ...]

    def steps(self) -> Iterator[tuple[Step, Step]]:
        """Each probe's step in the plain and in the shifted condition."""
        for chain in self.chains:
            yield from zip(chain.plain, chain.shifted, strict=True)


def chains(cases: Sequence[Case]) -> list[tuple[Case, ...]]:
    """The probes by chain; a first probe that asks for no reset starts one all the same."""
    found: list[list[Case]] = []
    for case in cases:
        if case.reset_before or not found:
            found.append([])
        found[-1].append(case)
    return [tuple(chain) for chain in found]


def observe(
    oracle: Oracle, known: Sequence[tuple[Case, ...]], context: Context, *, jobs: int
) -> Observations:
    """Run every chain in both conditions, `jobs` episodes at a time; the order of the outcome is theirs.

    Args:
        oracle: what answers.
        known: chains of probes, each of tools that exist.
        context: what `ctx` says; each chain's task id is that of its first probe.
        jobs: how many episodes may run side by side.
    """
    conditions: tuple[Condition, Condition] = ("plain", "shifted")
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        pending = [
            [pool.submit(_run, oracle, chain, context, condition) for condition in conditions]
            for chain in known
        ]
        try:
            return Observations(
                tuple(
                    Chain(chain, plain.result(), shifted.result())
                    for chain, (plain, shifted) in zip(known, pending, strict=True)
                )
            )
        except BaseException:  # an interrupt need not wait for all the others
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _run(oracle: Oracle, cases: Sequence[Case], context: Context, condition: Condition) -> tuple[Step, ...]:
    named = msgspec.structs.replace(context, task_id=f"probe:{cases[0].id}")
    steps: list[Step] = []
    try:
        with oracle.episode(named, condition) as episode:
            episode.reset()
            before = episode.state()
            for case in cases:
                step = _call(episode, case, before)
                steps.append(step)
                before = step.after
    except OracleError as error:
        last = min(len(steps), len(cases) - 1)  # one that fails to end is the last probe's
        steps[last:] = [Step(case=cases[last], error=error)]
    culprit = steps[-1].case.id
    return (*steps, *(Step(case=case, blocked_by=culprit) for case in cases[len(steps) :]))


def _call(episode: Episode, case: Case, before: Any) -> Step:
    result = episode.call(case.tool, case.arguments)
    return Step(case=case, result=result, before=before, after=episode.state())


def outcome(result: Any, confirmation: Confirmation) -> str:
    """The class of a result (contract, 5.2): `structured_error`, `awaiting_confirmation` or `success`."""
    if isinstance(result, dict):
        if isinstance(result.get("error"), dict):
            return "structured_error"
        if result.get(confirmation.status_field) == confirmation.pending_status:
            return "awaiting_confirmation"
    return "success"
