from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_builds import counting

from averment.errors import PackError
from averment.oracle.build.journal import Entry, Journal
from averment.oracle.build.production import Progress, Tally, Watch, produce
from averment.oracle.gold.making import Made
from averment.oracle.gold.reasons import Drop
from averment.oracle.model.loading import load_pack
from averment.oracle.oracles import OracleError
from averment.oracle.tasks.budget import bind, budget_of
from averment.oracle.tasks.plan import plan
from averment.oracle.tasks.render import Conversation
from averment.oracle.tasks.task import Task

COUNT = 20
Make = Callable[[Task], Made]


class Line:
    """A line of production: twenty tasks, a journal, and what is told."""

    def __init__(self, folder: Path) -> None:
        self.pack = load_pack(counting(folder / "pack", COUNT))
        plans = {each.template_id: plan(each) for each in self.pack.templates}
        self.tasks = bind(self.pack, plans, budget_of(self.pack, tasks_per_category=COUNT)).tasks
        self.path = folder / "journal"
        self.told: list[Progress] = []

    def run(self, make: Make, *, wanted: int = COUNT, jobs: int = 3) -> tuple[Tally, int]:
        """Make the tasks."""
        with Journal(self.path, {}) as journal:
            return produce(
                self.tasks,
                journal,
                make=make,
                entry_of=entry,
                watch=Watch(self.pack),
                wanted=wanted,
                jobs=jobs,
                progress=self.told.append,
            )

    def entries(self) -> list[tuple[str, str | None]]:
        """What the journal has."""
        with Journal(self.path, {}) as journal:
            return [(each.task_id, each.reason) for each in journal.entries()]


@pytest.fixture
def line(tmp_path: Path) -> Line:
    return Line(tmp_path)


def entry(made: Made) -> Entry:
    reason = None if made.drop is None else made.drop.reason
    return Entry(task_id=made.task.task_id, reason=reason, row=b"{}")


def gold(task: Task) -> Made:
    spoken = Conversation(
        task_id=task.task_id,
        base_task_id=task.task_id,
        variant_index=0,
        language="en",
        system_prompt_id="",
        turns=(),
        violations=(),
    )
    return Made(task=task, conversation=spoken)


def dropped(task: Task, **facts: Any) -> Made:
    failures = (facts,) if facts else ()
    drop = Drop(reason="executable_replay_failed", detail="it went wrong", failures=failures)
    return Made(task=task, conversation=gold(task).conversation, drop=drop)


def test_tasks_are_journalled_in_their_order_whichever_is_made_first(line: Line) -> None:
    """The slowest comes first."""

    def make(task: Task) -> Made:
        time.sleep(0.03 if task is line.tasks[0] else 0)
        return gold(task)

    tally, resumed = line.run(make)
    assert line.entries() == [(task.task_id, None) for task in line.tasks]
    assert (tally.done, tally.gold.total(), resumed) == (COUNT, COUNT, 0)
    assert [each.done for each in line.told] == list(range(COUNT + 1))


@pytest.mark.parametrize("trouble", ["timeout", "died"])
def test_what_a_busy_machine_may_have_done_is_tried_once_more(line: Line, trouble: str) -> None:
    """A task that gave no answer in time is gold if it does the second time; else it is dropped."""
    tries: dict[str, int] = {}

    def make(task: Task) -> Made:
        tries[task.task_id] = tries.get(task.task_id, 0) + 1
        never = task is line.tasks[1]
        return dropped(task, trouble=trouble) if never or tries[task.task_id] == 1 else gold(task)

    tally, _ = line.run(make)
    assert set(tries.values()) == {2}
    assert tally.reasons() == {"executable_replay_failed": 1}
    assert line.entries()[1] == (line.tasks[1].task_id, "executable_replay_failed")


@pytest.mark.parametrize("facts", [{}, {"trouble": "raised"}, {"reason": "value_mismatch"}])
def test_what_the_pack_did_is_not_tried_again(line: Line, facts: dict[str, Any]) -> None:
    """It would do it again."""
    tries: list[str] = []

    def make(task: Task) -> Made:
        tries.append(task.task_id)
        return dropped(task, **facts)

    line.run(make)
    assert len(tries) == COUNT


def test_a_full_category_gets_no_further_task(line: Line) -> None:
    """Those that were begun meanwhile count for nothing; hardly more than are made at once."""
    made: list[Task] = []

    def make(task: Task) -> Made:
        made.append(task)
        return dropped(task) if task in line.tasks[:2] else gold(task)

    tally, _ = line.run(make, wanted=3, jobs=1)
    assert line.entries() == [(task.task_id, entry(make(task)).reason) for task in line.tasks[:5]]
    assert (tally.done, tally.gold.total()) == (5, 3)
    assert len({task.task_id for task in made}) <= 5 + 4


def test_an_oracle_that_can_not_be_used_stops_it_after_what_is_made(line: Line) -> None:
    """The tasks before it are kept."""

    def make(task: Task) -> Made:
        if task is line.tasks[4]:
            raise OracleError("unreachable", "reset", "nobody is there")
        return gold(task)

    with pytest.raises(PackError) as caught:
        line.run(make)
    assert [each.code for each in caught.value.problems] == ["oracle_unusable"]
    assert "nobody is there" in caught.value.problems[0].message
    assert len(line.entries()) == 4


def test_a_journal_of_other_tasks_is_kept_as_far_as_it_fits(line: Line) -> None:
    """What somebody else wrote to it is made anew."""
    line.run(gold)
    lines = line.path.read_bytes().splitlines(keepends=True)
    line.path.write_bytes(b"".join([*lines[:4], lines[9], *lines[5:]]))
    tally, resumed = line.run(gold)
    assert (resumed, tally.done) == (3, COUNT)
    assert line.path.read_bytes() == b"".join(lines)


def test_more_lines_than_tasks_are_forgotten(line: Line) -> None:
    """The journal ends where the tasks do."""
    line.run(gold)
    whole = line.path.read_bytes()
    line.path.write_bytes(whole + b'["other",null]\t{}\n')
    assert line.run(gold)[1] == COUNT
    assert line.path.read_bytes() == whole
