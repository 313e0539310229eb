"""Gold as this run should have made it: arguments that come from earlier results, read from the run's own replay.

A recorded value of gold belongs to the replay that gold was made in. An agent that took another way may rightly get
another value from its own call, and should have used that one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from averment.errors import path_text
from averment.oracle.grade.compare import Pairing
from averment.oracle.grade.gold import GoldTask
from averment.oracle.grade.replayed import Dependency
from averment.oracle.grade.replayed import DependencyStatus as Status
from averment.oracle.tasks.argument_tree import FromResult, leaves
from averment.oracle.tasks.dependent import NotDerivedError, value_at
from averment.oracle.tasks.trace import CallScript, GoldCall

__all__ = ["rebound"]


def rebound(
    task: GoldTask,
    script: CallScript,
    pairing: Pairing,
    results: Mapping[int, Any],
    refused: Collection[int] = (),
) -> tuple[GoldTask, tuple[Dependency, ...]]:
    """The task with its dependent arguments read from a run's replay, and how each of them came out.

    An argument that can't be read keeps the value of the task's own gold. Whose doing that is depends on the producer: it
    was not called, or called otherwise than gold does; or it was called rightly, and the oracle is to blame.

    Args:
        task: the task, with the values of its own gold.
        script: the calls of its template, which say what depends on what.
        pairing: the run's calls with those of gold.
        results: by the index of a call of the run what the oracle answered.
        refused: the calls of the run that could not be made, or must not.
    """
    by_gold = {pair.gold: pair for pair in pairing.pairs}
    producers = {call.id: index for index, call in enumerate(script.calls) if call.id is not None}
    calls = list(task.calls)
    found: list[Dependency] = []
    for index, scripted in enumerate(script.calls):
        for name, node in scripted.arguments.items():
            for path, leaf in leaves(node):
                if not isinstance(leaf, FromResult):
                    continue
                where = path_text((name, *path)).removeprefix("$.")
                pair = by_gold.get(producers[leaf.call])
                if pair is None or pair.call in refused:
                    found.append(Dependency(gold=index, argument=where, status="producer_not_called"))
                    continue
                try:
                    value = value_at(results[pair.call], leaf)
                except (KeyError, NotDerivedError):
                    is_right = pair.comparison.status == "equal"
                    status: Status = "unresolved" if is_right else "producer_differs"
                    found.append(Dependency(gold=index, argument=where, status=status))
                    continue
                found.append(Dependency(gold=index, argument=where, status="resolved"))
                calls[index] = _with(calls[index], (name, *path), value)
    return msgspec.structs.replace(task, calls=tuple(calls)), tuple(found)


def _with(call: GoldCall, path: tuple[str | int, ...], value: Any) -> GoldCall:
    """The call with another value at a path of its arguments."""
    return msgspec.structs.replace(call, arguments=_replaced(call.arguments, path, value))


def _replaced(holder: Any, path: tuple[str | int, ...], value: Any) -> Any:
    if not path:
        return value
    step, rest = path[0], path[1:]
    copied: Any = dict(holder) if isinstance(holder, dict) else list(holder)
    copied[step] = _replaced(copied[step], rest, value)
    return copied
