"""Making the tasks of a build: side by side, counted and journalled in their order.

A category may have more candidates than tasks that are wanted of it. Candidates beyond those that fill it are not made, so
that the outcome depends on the order of the tasks and on nothing else.
"""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import msgspec

from averment.errors import PackError, Problem
from averment.oracle.build.journal import Entry, Journal
from averment.oracle.gold.making import Made
from averment.oracle.model.pack import Pack
from averment.oracle.oracles import OracleError
from averment.oracle.running import refuse_drift
from averment.oracle.tasks.budget import category_of
from averment.oracle.tasks.task import Task
from averment.oracle.worker.deadline import Stopwatch

__all__ = ["Progress", "Tally", "Watch", "produce"]

_AHEAD = 4
"""How many tasks are begun for each that is made at once, so that a slow one keeps nobody waiting."""

_BY_ACCIDENT = frozenset({"timeout", "died"})
"""What a busy machine may do to a task that is as it should be."""


class Progress(msgspec.Struct, frozen=True):
    """How far a build is.

    Attributes:
        done: tasks so far, those of an earlier start among them.
        of: tasks at most.
        drops: how many were dropped, by reason.
        per_second: tasks of this start; None before the first.
    """

    done: int
    of: int
    drops: dict[str, int]
    per_second: float | None = None


class Tally:
    """What came of the tasks so far.

    Attributes:
        wanted: how many gold tasks fill a category.
        gold: how many there are, by category.
        drops: how many tasks of each template were dropped, by reason.
        made: how many tasks of each template came to something.
    """

    def __init__(self, wanted: int) -> None:
        self.wanted = wanted
        self.gold: Counter[str] = Counter()
        self.drops: dict[str, Counter[str]] = {}
        self.made: Counter[str] = Counter()

    def needs(self, task: Task) -> bool:
        """Whether the task's category is not filled."""
        return self.gold[category_of(task)] < self.wanted

    def count(self, task: Task, reason: str | None) -> None:
        """Count a task that is gold, or was dropped for that reason."""
        self.made[task.template_id] += 1
        if reason is None:
            self.gold[category_of(task)] += 1
        else:
            self.drops.setdefault(reason, Counter())[task.template_id] += 1

    @property
    def done(self) -> int:
        """How many tasks came to something."""
        return self.made.total()

    def reasons(self) -> dict[str, int]:
        """How many tasks were dropped, by reason, in the order of the reasons' names."""
        return {reason: self.drops[reason].total() for reason in sorted(self.drops)}


class Watch:
    """Sees whether the files of a pack have been written to, quickly enough to be asked after every task."""

    def __init__(self, pack: Pack) -> None:
        names = [name.removeprefix("tree/") for name in pack.digests]
        folders = {str(parent) for name in names for parent in Path(name).parents}
        self._pack = pack
        self._paths = sorted(os.path.join(pack.root, each) for each in (*names, *folders))
        self._seen = self._stamps()

    def look(self) -> None:
        """See that nobody has.

        Raises:
            PackError: with every file that has changed.
        """
        stamps = self._stamps()
        if stamps != self._seen:
            refuse_drift(self._pack)  # a file may be written as it was, or be none of the pack
            self._seen = stamps

    def _stamps(self) -> list[tuple[int, ...] | None]:
        return [_stamp(path) for path in self._paths]


def _stamp(path: str) -> tuple[int, ...] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def produce(
    tasks: Sequence[Task],
    journal: Journal,
    *,
    make: Callable[[Task], Made],
    entry_of: Callable[[Made], Entry],
    watch: Watch,
    wanted: int,
    jobs: int,
    progress: Callable[[Progress], object],
) -> tuple[Tally, int]:
    """Make the tasks that the journal has not, and add them to it.

    Args:
        tasks: all of them, in their order.
        journal: what is known, and where the rest is added.
        make: makes one.
        entry_of: what the journal says of it.
        watch: asked before anything is added: what was made while the pack was written to is made of neither.
        wanted: how many gold tasks fill a category.
        jobs: how many are made side by side.
        progress: is told after every task.

    Returns:
        What came of all, and how many the journal had.

    Raises:
        PackError: the oracle can't be used, or the pack has changed.
    """
    tally = Tally(wanted)
    place = _recall(tasks, journal, tally)
    resumed = tally.done
    stopwatch = Stopwatch()
    progress(Progress(resumed, len(tasks), tally.reasons()))
    waiting: deque[tuple[Task, Future[Made]]] = deque()
    pool = ThreadPoolExecutor(max_workers=jobs)
    try:
        while waiting or place < len(tasks):
            while place < len(tasks) and len(waiting) < _AHEAD * jobs:
                task, place = tasks[place], place + 1
                if tally.needs(task):
                    waiting.append((task, pool.submit(_made, make, task)))
            if not waiting:
                break
            task, future = waiting.popleft()
            if not tally.needs(task):  # those before it have filled its category meanwhile
                future.cancel()
                continue
            entry = entry_of(future.result())
            watch.look()
            journal.add(entry)
            tally.count(task, entry.reason)
            rate = (tally.done - resumed) / (stopwatch.seconds() or 1)
            progress(Progress(tally.done, len(tasks), tally.reasons(), rate))
    except OracleError as error:
        raise _unusable(error) from None
    finally:
        pool.shutdown(cancel_futures=True)
    return tally, resumed


def _recall(tasks: Sequence[Task], journal: Journal, tally: Tally) -> int:
    """Count what the journal has; the place of the first task that comes after it."""
    place = known = 0
    for entry in journal.entries():
        while place < len(tasks) and not tally.needs(tasks[place]):
            place += 1
        if place == len(tasks) or tasks[place].task_id != entry.task_id:
            journal.keep(known)  # somebody else has written to it
            break
        tally.count(tasks[place], entry.reason)
        place, known = place + 1, known + 1
    return place


def _made(make: Callable[[Task], Made], task: Task) -> Made:
    """Make a task, and once more where it may have been the machine that gave no answer in time."""
    made = make(task)
    if made.drop is None or all(each.get("trouble") not in _BY_ACCIDENT for each in made.drop.failures):
        return made
    return make(task)


def _unusable(error: OracleError) -> PackError:
    return PackError(
        Problem(
            code="oracle_unusable",
            message=f"the oracle can't be used: {error.message}",
            mend="Give the same command again, and it goes on where it was; if it comes here again, run "
            "`averment pack check`.",
        )
    )
