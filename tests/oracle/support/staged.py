"""Oracles and assertions that are played here, without a worker: every function is given, and all that is asked is noted."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Literal, cast

from averment.oracle.oracles import Condition, Context, OracleError
from averment.oracle.replay.attempt import Call, Script, playing
from averment.oracle.worker.assertions import AssertionRunner

__all__ = ["StagedOracle", "broken", "runner", "script"]

Tool = Callable[[dict[str, Any], dict[str, Any], Condition], Any]
Predicate = Callable[[Any, Sequence[Mapping[str, Any]]], Any]


def broken(op: str = "call_tool", trouble: Any = "raised") -> OracleError:
    """Why a step has no answer."""
    return OracleError(trouble, op, f"{op} {trouble}")


class StagedOracle:
    """An oracle of functions `tool(state, arguments, condition)`, which change the state or raise `OracleError`.

    `leaks` resets nothing after the first time; `fails` at `reset` resets once only, at `close` ends with an error.

    Attributes:
        episodes: the context and the condition of each that was begun.
        steps: what was asked, in order: `reset`, `state`, or the call.
    """

    kind: Literal["backend"] = "backend"

    def __init__(
        self,
        start: Mapping[str, Any] | None = None,
        *,
        leaks: bool = False,
        fails: str = "",
        **tools: Tool,
    ) -> None:
        self._start = dict(start or {})
        self._tools = tools
        self._leaks = leaks
        self._fails = fails
        self.episodes: list[tuple[Context, Condition]] = []
        self.steps: list[Any] = []

    @contextmanager
    def episode(self, context: Context, condition: Condition = "plain") -> Iterator[_Episode]:
        """A new episode, with a state of its own."""
        self.episodes.append((context, condition))
        yield _Episode(self, condition)
        if self._fails == "close":
            raise broken("close")


class _Episode:
    def __init__(self, oracle: StagedOracle, condition: Condition) -> None:
        self._oracle = oracle
        self._condition = condition
        self._state: dict[str, Any] | None = None

    def reset(self) -> None:
        self._oracle.steps.append("reset")
        if self._state is not None and self._oracle._fails == "reset":
            raise broken("reset")
        if self._state is None or not self._oracle._leaks:
            self._state = copy.deepcopy(self._oracle._start)

    def list_tools(self) -> Any:
        return list(self._oracle._tools)

    def call(self, name: str, arguments: Mapping[str, Any], *, turn_index: int = 0) -> Any:
        assert self._state is not None
        self._oracle.steps.append((name, dict(arguments), turn_index))
        return copy.deepcopy(self._oracle._tools[name](self._state, dict(arguments), self._condition))

    def state(self) -> Any:
        self._oracle.steps.append("state")
        return copy.deepcopy(self._state)


class _Jury:
    def __init__(self, predicates: Mapping[str, Predicate]) -> None:
        self._predicates = predicates

    def judge(self, names: Sequence[str], *, state: Any, trace: Any, **_: Any) -> list[dict[str, Any]]:
        return [self._verdict(name, state, trace) for name in names]

    def _verdict(self, name: str, state: Any, trace: Any) -> dict[str, Any]:
        try:
            status, detail = self._predicates[name](state, trace) or ("passed", None)
        except AssertionError as error:
            status, detail = "failed", str(error)
        except OracleError:
            raise
        except Exception as error:  # noqa: BLE001 - as a worker has it
            status, detail = "infrastructure_error", type(error).__name__
        return {"name": name, "status": status, "passed": status == "passed", "detail": detail, "line": 1}


class _Runner:
    def __init__(self, predicates: Mapping[str, Predicate]) -> None:
        self._predicates = predicates

    @contextmanager
    def jury(self, context: Context, condition: Condition = "plain") -> Iterator[_Jury]:
        del context, condition
        yield _Jury(self._predicates)


def runner(**predicates: Predicate) -> AssertionRunner:
    """Assertions that are functions `predicate(state, trace)`: they assert, or return a status with a detail."""
    return cast("AssertionRunner", _Runner(predicates))


def script(*calls: Call, assertions: Sequence[str] = (), task: Mapping[str, Any] | None = None) -> Script:
    """A task of these calls."""
    context = Context(task_id="task", seed=7)
    return Script(play=playing(calls), assertions=assertions, task=task or {}, context=context)
