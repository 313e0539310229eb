"""The tasks that runs are graded against, with their gold: from the rows of a benchmark, or made of the pack itself.

A row of a build of ours says all of its task. Rows of other builders of the contract's benchmarks have no slots. Where the
pack binds the same task, it is taken from there; else the values of its slots are not known, and an assertion that reads one
gives no verdict (contract, 2.2).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from concurrent.futures import Future
from threading import Lock
from typing import Any

import msgspec

from averment.errors import PackError, Problem
from averment.oracle.build.rows import row
from averment.oracle.gold.kitchen import Kitchen
from averment.oracle.grade.gold import GoldTask, gold_task
from averment.oracle.grade.replaying import can_send
from averment.oracle.model.options import Options
from averment.oracle.oracles import Context, OracleError
from averment.oracle.tasks.task import Task, task_argument

__all__ = ["Subject", "Tasks"]


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """A task, as runs of it are graded.

    Attributes:
        gold: its gold.
        task: what assertions get as `task`.
        context: what `ctx` says.
        unresolved: what is not known of `task`, as `child.tracking.watched` takes it; empty for nothing.
    """

    gold: GoldTask
    task: dict[str, Any]
    context: Context
    unresolved: dict[str, Any] = {}


class Tasks:
    """The tasks of a pack, by id; the gold of each is made once, by whoever asks for it first.

    Args:
        kitchen: what gold is made with.
        rows: the rows of a benchmark of the pack, by task id; None to make gold of the pack's own tasks.

    Raises:
        PackError: no task can be bound of the pack.
    """

    def __init__(self, kitchen: Kitchen, rows: Mapping[str, dict[str, Any]] | None) -> None:
        self._kitchen = kitchen
        self._rows = rows
        self._bound: dict[str, Task] | None = None
        self._lock = Lock()
        self._subjects: dict[str, Future[Subject]] = {}
        self.ids = frozenset(self._tasks() if rows is None else rows)

    def subject(self, task_id: str) -> Subject:
        """The task of one of the `ids`.

        Raises:
            PackError: it has no gold, or its row can't be used.
        """
        with self._lock:
            found = self._subjects.get(task_id)
            is_first = found is None
            future = found or self._subjects.setdefault(task_id, Future())
        if is_first:
            try:
                future.set_result(self._subject(task_id))
            except BaseException as error:  # noqa: BLE001 - whoever else waits must know
                future.set_exception(error)
        return future.result()

    def _tasks(self) -> dict[str, Task]:
        if self._bound is None:
            self._bound = {task.task_id: task for task in self._kitchen.bound().tasks}
        return self._bound

    def _found(self, task_id: str) -> Task | None:
        """The task of that id, if the pack binds it under these options."""
        with self._lock:
            try:
                return self._tasks().get(task_id)
            except PackError:  # its budget, say, which the rows of somebody else don't follow
                return None

    def _subject(self, task_id: str) -> Subject:
        if self._rows is None:
            return self._made(self._tasks()[task_id])
        found = self._rows[task_id]
        task, unresolved = self._task_of(found)
        if not can_send(task):
            message = f"the row of `{task_id[:_MOST]}` holds text that is no Unicode"
            raise PackError(Problem(code="not_unicode", message=message, mend="Build the benchmark anew."))
        return Subject(
            gold=gold_task(found),
            task=task,
            context=context_of(self._kitchen.options, task_id, _seed(found)),
            unresolved=unresolved,
        )

    def _made(self, task: Task) -> Subject:
        pack = self._kitchen.pack
        try:
            made = self._kitchen.maker.make(task)
        except OracleError as error:
            mend = "Run `averment pack check` on the pack, and mend what it tells."
            raise PackError(Problem(code="oracle_unusable", message=error.message, mend=mend)) from None
        if made.drop is not None:
            raise PackError(
                Problem(
                    code="task_not_gold",
                    message=f"the task `{task.task_id}` has no gold: {made.drop.reason}",
                    found=made.drop.detail[:_MOST] or None,
                    mend="Mend the pack: `averment pack build` tells what is wrong with each of its tasks.",
                )
            )
        return Subject(
            gold=gold_task(msgspec.to_builtins(row(made, pack, tier="gold"))),
            task=task_argument(task),
            context=context_of(self._kitchen.options, task.task_id, task.seed),
        )

    def _task_of(self, found: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """What a row says of its task, and what nobody can know of it."""
        absent = [name for name in _FIELDS if name not in found]
        if not absent:
            return {name: found[name] for name in _FIELDS}, {}
        bound = self._found(found["task_id"])
        if bound is not None:
            return {**task_argument(bound), **{name: found[name] for name in _FIELDS if name in found}}, {}
        return self._rebuilt(found)

    def _rebuilt(self, found: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """A task of its template, whose values are not known."""
        template = next(
            (each for each in self._kitchen.pack.templates if each.template_id == found.get("template_id")),
            None,
        )
        if template is None:
            message = f"the pack has no template `{str(found.get('template_id'))[:_MOST]}`"
            raise PackError(
                Problem(code="other_pack", message=message, mend="Give the pack that it was built of.")
            )
        plan = self._kitchen.plans[template.template_id]
        names = sorted(template.slots)
        corrections = [
            (index, sorted(turn.slot_updates))
            for index, turn in enumerate(template.user_simulator_turns)
            if turn.slot_updates
        ]
        rebuilt: dict[str, Any] = {
            "edge_signatures": sorted(template.edge_signatures),
            "mutates": template.mutates,
            "is_multi_turn": plan.is_multi_turn,
            "num_tool_calls": plan.num_tool_calls,
            "has_user_confirmation": plan.has_user_confirmation,
            "confirmed_call_turns": list(plan.confirmed_call_turns),
            "slots": {},
            "slots_initial": {},
            "slot_updates": [{"entry_index": at, "values": {}, "aliases": {}} for at, _ in corrections],
        }
        task: dict[str, Any] = {name: found[name] if name in found else rebuilt.get(name) for name in _FIELDS}
        unresolved = {
            "unresolved_slots": [name for name in names if name not in task["slots"]],
            "unresolved_slots_initial": [name for name in names if name not in task["slots_initial"]],
            "unresolved_slot_updates": [
                {"update_index": at, "slots": slots} for at, (_, slots) in enumerate(corrections)
            ]
            if "slot_updates" not in found
            else [],
        }
        return task, unresolved


def context_of(options: Options, task_id: str, seed: int) -> Context:
    """What `ctx` says in a task."""
    return Context(clock=options.clock, seed=seed, timeout_s=options.tool_timeout_s, task_id=task_id)


_MOST = 200
_FIELDS = tuple(name for name in Task.__struct_fields__ if name != "base_task_id")


def _seed(found: Mapping[str, Any]) -> int:
    """The seed of a row; by its text where there is one, because many readers of JSON round the number."""
    text, seed = found.get("seed_hex"), found.get("seed")
    if isinstance(text, str) and re.fullmatch(r"[0-9a-f]{16}", text):
        return int(text, 16)
    if type(seed) is int and 0 <= seed < 2**64:
        return seed
    raise PackError(
        Problem(
            code="invalid_seed",
            message=f"the row of `{found['task_id'][:_MOST]}` has no seed",
            expected="an unsigned integer of 64 bits, or `seed_hex` with its 16 hexadecimal digits",
            mend="Build the benchmark anew.",
        )
    )
