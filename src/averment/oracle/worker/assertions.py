"""Running a pack's assertions: in workers of their own, which have no backend, over evidence that the parent holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

import msgspec

from averment.oracle.oracles import Condition, Context
from averment.oracle.worker.answers import Inspected, Verdict
from averment.oracle.worker.backend import Asking, Workers

__all__ = ["AssertionRunner", "Jury"]


class AssertionRunner:
    """The `assertions.py` of a pack.

    Args:
        workers: where workers come from.
        module: the path of the assertions inside the pack.
    """

    def __init__(self, workers: Workers, module: str) -> None:
        self._workers = workers
        self._module = module

    def inspect(self, source: str) -> dict[str, Any]:
        """What `child.assertions.inspect_exports` says of the module, whose text is `source`."""
        with self._workers.running(self._module, "plain") as asking:
            seconds = self._workers.options.import_timeout_s
            found = asking.value(Inspected, "inspect_assertions", seconds, source=source)
            return cast("dict[str, Any]", found)

    @contextmanager
    def jury(self, context: Context, condition: Condition = "plain") -> Iterator[Jury]:
        """A worker with the assertions loaded, to judge one piece of evidence after the other.

        Raises:
            OracleError: the module can't be loaded.
        """
        with self._workers.running(self._module, condition) as asking:
            seconds = self._workers.options.assertion_timeout_s
            asking.ask("begin", seconds, context=msgspec.to_builtins(context))
            yield Jury(asking, seconds)

    def run(
        self,
        names: Sequence[str],
        *,
        state: Any,
        trace: Sequence[Mapping[str, Any]],
        task: Mapping[str, Any],
        context: Context,
        turn_index: int = 0,
        condition: Condition = "plain",
    ) -> list[dict[str, Any]]:
        """Judge one piece of evidence in a worker of its own; as `Jury.judge`."""
        with self.jury(context, condition) as jury:
            return jury.judge(names, state=state, trace=trace, task=task, turn_index=turn_index)


class Jury:
    """A worker that runs assertions."""

    def __init__(self, asking: Asking, seconds: float) -> None:
        self._asking = asking
        self._seconds = seconds

    def judge(
        self,
        names: Sequence[str],
        *,
        state: Any,
        trace: Sequence[Mapping[str, Any]],
        task: Mapping[str, Any],
        turn_index: int = 0,
    ) -> list[dict[str, Any]]:
        """Run assertions in their order, each with copies of its own, and return their verdicts.

        A verdict is `{"name", "status", "passed", "detail", "line"}`; see `child.assertions.run_assertion`.

        Args:
            names: exported names.
            state: the state after the last call.
            trace: the calls, each `{"tool", "arguments", "result", "turn_index"}`.
            task: the bound task.
            turn_index: the turn of the last call, which `ctx` has.

        Raises:
            OracleError: an assertion ended the worker or took too long.
        """
        self.take(state=state, trace=trace, task=task, turn_index=turn_index)
        return [self.verdict(name) for name in names]

    def take(
        self,
        *,
        state: Any,
        trace: Sequence[Mapping[str, Any]],
        task: Mapping[str, Any],
        turn_index: int = 0,
        unresolved: Mapping[str, Any] | None = None,
    ) -> None:
        """Give what the next verdicts are about, as `judge` does.

        `unresolved` is what is not known of the task, see `child.tracking.watched`.
        """
        more = {"unresolved": unresolved} if unresolved else {}
        self._asking.ask(
            "evidence", self._seconds, state=state, trace=trace, task=task, turn_index=turn_index, **more
        )

    def verdict(self, name: str) -> dict[str, Any]:
        """Run one assertion over what was taken last; raises as `judge` does."""
        return cast("dict[str, Any]", self._asking.value(Verdict, "run_assertion", self._seconds, name=name))
