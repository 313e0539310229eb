"""Gold gone wrong on purpose: an assertion that passes whatever is done to its evidence says nothing.

A mutant is the evidence of a task with one thing wrong. Calls dropped, duplicated, swapped, altered or added are made
against the oracle, so that results and state are those that would have come of them; a corrupted result and a state
rolled back are made from the recorded evidence. A mutant that leaves the evidence as it was is no mutant.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from averment.oracle.catalog.canonical import key
from averment.oracle.model.tools import Tool
from averment.oracle.oracles import Oracle, OracleError
from averment.oracle.replay.attempt import Attempt, Call, Script, perform, playing, traced
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


class _Evidence(msgspec.Struct, frozen=True):
    trace: list[dict[str, Any]]
    state: Any
    turn_index: int


def kills(
    oracle: Oracle,
    runner: AssertionRunner,
    script: Script,
    gold: Attempt,
    *,
    tools: Sequence[Tool],
    most: int,
) -> dict[str, Kills]:
    """What each assertion of a task makes of the mutants of its gold attempt, by name.

    Args:
        oracle: what answers the calls of mutants.
        runner: the pack's assertions.
        script: the task.
        gold: its first attempt, in which every assertion passed.
        tools: the tools that a call may be added of.
        most: the mutants of one kind at most.

    Raises:
        OracleError: an assertion ended its worker or took too long.
    """
    counts: dict[str, dict[str, tuple[int, int]]] = {name: {} for name in script.assertions}
    if not script.assertions:
        return {}
    with runner.jury(script.context) as jury:
        for kind, evidence in _mutants(oracle, script, gold, tools, most):
            verdicts = jury.judge(
                script.assertions,
                state=evidence.state,
                trace=evidence.trace,
                task=script.task,
                turn_index=evidence.turn_index,
            )
            for verdict in verdicts:
                killed, of = counts[verdict["name"]].get(kind, (0, 0))
                dead = verdict["status"] in ("failed", "infrastructure_error")
                counts[verdict["name"]][kind] = (killed + dead, of + 1)
    return {name: Kills(by_kind) for name, by_kind in counts.items()}


def _mutants(
    oracle: Oracle, script: Script, gold: Attempt, tools: Sequence[Tool], most: int
) -> Iterator[tuple[str, _Evidence]]:
    """The mutants, by kind in the order of `KINDS`."""
    original = key([traced(gold.calls, gold.results), gold.state])
    changed = [
        (kind, calls) for kind, versions in _changed_calls(gold.calls, tools) for calls in versions[:most]
    ]
    for kind, evidence in _played(oracle, script, changed):
        if key([evidence.trace, evidence.state]) != original:
            yield kind, evidence
    turn = gold.calls[-1].turn_index if gold.calls else 0
    for results in _corrupted(gold.results)[:most]:
        yield "result_corrupted", _Evidence(traced(gold.calls, results), gold.state, turn)
    if key(gold.before) != key(gold.state):
        yield "state_rolled_back", _Evidence(traced(gold.calls, gold.results), gold.before, turn)


def _played(
    oracle: Oracle, script: Script, changed: Sequence[tuple[str, tuple[Call, ...]]]
) -> Iterator[tuple[str, _Evidence]]:
    """What comes of changed calls; one episode is reset for each, until the oracle gives no answer."""
    pending = list(changed)
    while pending:
        with suppress(OracleError), oracle.episode(script.context, "plain") as episode:
            while pending:
                kind, calls = pending.pop(0)
                came = perform(episode, playing(calls))
                turn = calls[-1].turn_index if calls else 0
                yield kind, _Evidence(traced(calls, came.results), came.state, turn)


def _changed_calls(
    calls: Sequence[Call], tools: Sequence[Tool]
) -> Iterator[tuple[str, list[tuple[Call, ...]]]]:
    known = tuple(calls)
    places = range(len(known))
    yield "call_dropped", [known[:at] + known[at + 1 :] for at in places]
    yield "call_duplicated", [known[: at + 1] + known[at:] for at in places]
    swapped = [
        (*known[:at], known[at + 1], known[at], *known[at + 2 :])
        for at in places[:-1]
        if (known[at].tool, known[at].arguments) != (known[at + 1].tool, known[at + 1].arguments)
    ]
    yield "calls_swapped", swapped
    altered = [
        (*known[:at], msgspec.structs.replace(known[at], arguments=arguments), *known[at + 1 :])
        for at in places
        for arguments in _altered_each(known[at].arguments)
    ]
    yield "argument_altered", altered
    turn = known[-1].turn_index + 1 if known else 0
    used = {call.tool for call in known}
    others = [tool for tool in tools if tool.name not in used]
    yield "call_added", [(*known, Call(tool.name, {}, turn)) for tool in others]


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


def _corrupted(results: Sequence[Any]) -> list[list[Any]]:
    """The results with one field of one of them altered, or with one of them an error."""
    versions: list[list[Any]] = []
    for at, result in enumerate(results):
        if isinstance(result, dict):
            changes: list[Any] = [{**result, name: _altered(result[name])} for name in result]
        else:
            changes = [_altered(result)]
        changes.append({"error": {"code": "corrupted"}})
        versions += [[*results[:at], change, *results[at + 1 :]] for change in changes]
    return versions
