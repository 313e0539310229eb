"""Oracles that are a `backend.py`: each episode is a worker of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, TypeVar

import msgspec

from averment.oracle.child.audit import KINDS
from averment.oracle.model.options import Options
from averment.oracle.oracles import Condition, Context, OracleError
from averment.oracle.worker.answers import Symbol
from averment.oracle.worker.deadline import Deadline
from averment.oracle.worker.nursery import Nursery
from averment.oracle.worker.process import WorkerProcess

__all__ = ["Asking", "Attempt", "BackendOracle", "Workers"]

_MOST_NAME = 200
_STARTING_S = 30
_T = TypeVar("_T")


class Attempt(msgspec.Struct, frozen=True, order=True):
    """Something that a pack's code tried, as the audit log has it.

    Attributes:
        kind: one of `child.audit.KINDS`.
        what: the event and what it was about.
        file: the pack's file, where it is known.
        line: its line.
    """

    kind: str
    what: str
    file: str = ""
    line: int = 0


class Workers:
    """The workers of one pack, and what they tried.

    Attributes:
        attempts: every attempt so far, once.
        enforced: what the kernel enforced on all of them; None before the first.
    """

    def __init__(self, nursery: Nursery, options: Options) -> None:
        self.nursery = nursery
        self.options = options
        self.attempts: set[Attempt] = set()
        self.enforced: set[str] | None = None
        self._hung: dict[str | None, OracleError] = {}

    @contextmanager
    def running(self, module: str | None, condition: Condition) -> Iterator[Asking]:
        """A worker with a module of the pack loaded; it is ended in the end, whatever happened.

        A module whose import took too long once is not waited for again.
        """
        if module in self._hung:
            raise self._hung[module]
        worker = self.nursery.worker(module, condition)
        asking = Asking(worker, self.options.episode_timeout_s)
        try:
            self._load(worker, module)
            yield asking
        finally:
            worker.end()
            self._learn(worker)
            worker.close()

    def _load(self, worker: WorkerProcess, module: str | None) -> None:
        seconds = self.options.import_timeout_s
        try:
            # Where no module is loaded, all that takes time is the framework's own start, on a busy machine.
            worker.loaded(seconds if module else max(seconds, _STARTING_S))
        except OracleError as error:
            if error.trouble == "timeout":
                self._hung[module] = error
            raise

    def probe(self) -> list[str]:
        """What the kernel enforces on workers here, asked of one without a pack."""
        with self.running(None, "plain"):
            pass
        return sorted(self.enforced or ())

    def scan(self, sources: Mapping[str, str]) -> dict[str, Any]:
        """What the static scan finds in Python files, by name; parsing is left to a worker, where it can do no harm."""
        with self.running(None, "plain") as asking:
            found: dict[str, Any] = asking.ask("scan", self.options.import_timeout_s, sources=sources)["ok"]
            return found

    def hang(self, seconds: float) -> None:
        """Take a step that never returns in a worker without a pack, which is ended after so many seconds.

        Raises:
            OracleError: always, if deadlines work: `timeout`.
        """
        with self.running(None, "plain") as asking:
            asking.ask("hang", seconds)

    def _learn(self, worker: WorkerProcess) -> None:
        enforced = set(worker.enforced)
        if enforced:
            self.enforced = enforced if self.enforced is None else self.enforced & enforced
        for note in worker.notes():
            if note.kind in KINDS:
                file, what = (note.file or "")[:_MOST_NAME], self.nursery.shown(note.what[:_MOST_NAME])
                self.attempts.add(Attempt(note.kind, what, file, note.line or 0))


class Asking:
    """A worker under the deadline of its whole episode."""

    def __init__(self, worker: WorkerProcess, seconds: float) -> None:
        self._worker = worker
        self._deadline = Deadline(seconds)

    def ask(self, op: str, seconds: float, **fields: Any) -> dict[str, Any]:
        """Take a step, as `WorkerProcess.ask` does, and end with the episode at the latest."""
        return self._worker.ask(op, min(seconds, self._deadline.remaining()), **fields)

    def value(self, kind: type[_T], op: str, seconds: float, **fields: Any) -> _T:
        """Take a step whose value has a known shape, one of `answers`.

        Raises:
            OracleError: there is no answer, or one of another shape: `protocol`.
        """
        value = self.ask(op, seconds, **fields)["ok"]
        try:
            return msgspec.convert(value, kind)
        except msgspec.ValidationError:
            raise self._worker.refuse(op) from None


class BackendOracle:
    """The `backend.py` of a pack.

    Args:
        workers: where workers come from.
        module: the path of the backend inside the pack.
    """

    kind: Literal["backend"] = "backend"

    def __init__(self, workers: Workers, module: str) -> None:
        self._workers = workers
        self._module = module

    @contextmanager
    def episode(self, context: Context, condition: Condition = "plain") -> Iterator[_BackendEpisode]:
        """A worker with the backend loaded, not yet reset."""
        with self._workers.running(self._module, condition) as asking:
            yield _BackendEpisode(asking, context, self._workers.options)

    def inspect(self) -> dict[str, Symbol]:
        """For each of the four functions: `callable`, `line`, and `mismatch`, why it can't be called as it will be."""
        with self._workers.running(self._module, "plain") as asking:
            return asking.value(dict[str, Symbol], "inspect", self._workers.options.tool_timeout_s)


class _BackendEpisode:
    def __init__(self, asking: Asking, context: Context, options: Options) -> None:
        self._asking = asking
        self._options = options
        self._state: Any = None
        # A step of the framework's own, like its start: no call of the pack, however slow the machine.
        seconds = max(options.tool_timeout_s, _STARTING_S)
        asking.ask("begin", seconds, context=msgspec.to_builtins(context))

    def reset(self) -> None:
        self._asking.ask("reset", self._options.reset_timeout_s)

    def list_tools(self) -> Any:
        return self._asking.ask("list_tools", self._options.tool_timeout_s)["ok"]

    def call(self, name: str, arguments: Mapping[str, Any], *, turn_index: int = 0) -> Any:
        answer = self._asking.ask(
            "call_tool", self._options.tool_timeout_s, name=name, arguments=arguments, turn_index=turn_index
        )
        return answer["ok"]

    def state(self) -> Any:
        answer = self._asking.ask("get_state", self._options.tool_timeout_s)
        if "same" not in answer:
            self._state = answer["ok"]
        return self._state
