"""Gold gone wrong on purpose: an assertion that passes whatever is done to its evidence says nothing.

A mutant is the evidence of a task with one thing wrong. Calls dropped, duplicated, swapped, altered or added are made
against the oracle, so that results and state are those that would have come of them; a corrupted result and a state
rolled back are made from the recorded evidence. A mutant that leaves the evidence as it was is no mutant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import msgspec

from averment.oracle.catalog.canonical import key
from averment.oracle.oracles import Oracle
from averment.oracle.replay.attempt import Attempt, Call, Script, judged, performed, playing, traced
from averment.oracle.worker.assertions import AssertionRunner

__all__ = ["KINDS", "Kills", "kills"]

KINDS = (
    "call_dropped",
    "call_duplicated",
    "calls_swapped",
    "argument_altered",
    "call_added",
    "result_corrupted",
    "state_rolled_back",
)
"""What is done to the evidence, one thing in each mutant."""


class Kills(msgspec.Struct, frozen=True):
    """How many mutants one assertion failed on, by kind: `(killed, of)`."""

    by_kind: dict[str, tuple[int, int]]

    @property
    def is_vacuous(self) -> bool:
        """Whether there were mutants, and it passed every one."""
        total = sum(of for _, of in self.by_kind.values())
        return total > 0 and not any(killed for killed, _ in self.by_kind.values())

    def joined(self, other: Kills) -> Kills:
        """Both counts together."""
        kinds = [kind for kind in KINDS if kind in self.by_kind or kind in other.by_kind]
        none = (0, 0)
        pairs = {kind: (self.by_kind.get(kind, none), other.by_kind.get(kind, none)) for kind in kinds}
        return Kills({kind: (a[0] + b[0], a[1] + b[1]) for kind, (a, b) in pairs.items()})


def kills(
    oracle: Oracle,
    runner: AssertionRunner,
    script: Script,
    gold: Attempt,
    *,
    further: Sequence[Call],
    most: int,
) -> dict[str, Kills]:
    """What each assertion of a task makes of the mutants of its gold attempt, by name.

    Args:
        oracle: what answers the calls of mutants; a mutant that it gives no answer to is left out.
        runner: the pack's assertions.
        script: the task.
        gold: its first attempt, in which every assertion passed.
        further: calls of which one may be added, if gold has none of that tool.
        most: the mutants of one kind at most.

    Raises:
        OracleError: an assertion ended its worker or took too long.
    """
    counts: dict[str, dict[str, tuple[int, int]]] = {name: {} for name in script.assertions}
    if not counts:
        return {}
    with runner.jury(script.context) as jury:
        for kind, mutant in _mutants(oracle, script, gold, further, most):
            for verdict in judged(mutant, script, jury).verdicts:
                killed, of = counts[verdict["name"]].get(kind, (0, 0))
                is_dead = verdict["status"] in ("failed", "infrastructure_error")
                counts[verdict["name"]][kind] = (killed + is_dead, of + 1)
    return {name: Kills(by_kind) for name, by_kind in counts.items()}


def _mutants(
    oracle: Oracle, script: Script, gold: Attempt, further: Sequence[Call], most: int
) -> Iterator[tuple[str, Attempt]]:
    """The mutants, by kind in the order of `KINDS`."""
    original = key([traced(gold.calls, gold.results), gold.state])
    changed = [
        (kind, calls)
        for kind, versions in _changed_calls(gold.calls, further)
        for calls in islice(versions, most)
    ]
    played = performed(oracle, script.context, [playing(calls) for _, calls in changed])
    for (kind, _), came in zip(changed, played, strict=True):
        if isinstance(came, Attempt) and key([traced(came.calls, came.results), came.state]) != original:
            yield kind, came
    for results in islice(_corrupted(gold.results), most):
        yield "result_corrupted", msgspec.structs.replace(gold, results=results)
    if key(gold.before) != key(gold.state):
        yield "state_rolled_back", msgspec.structs.replace(gold, state=gold.before)


def _changed_calls(
    calls: Sequence[Call], further: Sequence[Call]
) -> Iterator[tuple[str, Iterable[tuple[Call, ...]]]]:
    known = tuple(calls)
    places = range(len(known))
    yield "call_dropped", (known[:at] + known[at + 1 :] for at in places)
    yield "call_duplicated", (known[: at + 1] + known[at:] for at in places)
    swapped = (
        (*known[:at], known[at + 1], known[at], *known[at + 2 :])
        for at in places[:-1]
        if (known[at].tool, known[at].arguments) != (known[at + 1].tool, known[at + 1].arguments)
    )
    yield "calls_swapped", swapped
    altered = (
        (*known[:at], msgspec.structs.replace(known[at], arguments=arguments), *known[at + 1 :])
        for at in places
        for arguments in _altered_each(known[at].arguments)
    )
    yield "argument_altered", altered
    turn = known[-1].turn_index + 1 if known else 0
    used = {call.tool for call in known}
    added = (msgspec.structs.replace(call, turn_index=turn) for call in further if call.tool not in used)
    yield "call_added", ((*known, call) for call in added)


def _altered_each(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for name, part in value.items():
        yield {**value, name: _altered(part)}


def _altered(value: Any) -> Any:
    """Another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, str):
        return f"{value}-altered"
    if isinstance(value, list):
        return [*value, *value[:1]] if value else ["altered"]
    if isinstance(value, dict):
        return {**value, "altered": True}
    return "altered"


def _corrupted(results: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """The results with one field of one of them altered, or with one of them an error."""
    for at, result in enumerate(results):
        if isinstance(result, dict):
            changes: list[Any] = [{**result, name: _altered(result[name])} for name in result]
        else:
            changes = [_altered(result)]
        for change in (*changes, {"error": {"code": "corrupted"}}):
            yield (*results[:at], change, *results[at + 1 :])
