"""Building the benchmark of a pack.

The pack is certified first, and refused below the tier that is asked for. Its tasks are made side by side and written in
their order: the rows of gold tasks to `benchmark.jsonl`, every other task with its reason to `dropped.jsonl`. Every file
appears whole and in one step; `run_manifest.json` comes last and is the mark of a build that is complete: starting again
removes it first. What was made is kept in a journal, so that a build that was killed goes on, to the same bytes.

What varies between machines stands in `build_environment.json`, and in what the report on the pack says of isolation.
"""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from averment._version import __version__
from averment.errors import PackError, Problem
from averment.oracle.build.artifacts import Artifacts
from averment.oracle.build.journal import Entry, Journal
from averment.oracle.build.manifest import environment_of, subject_of
from averment.oracle.build.rows import dropped_row, row
from averment.oracle.certify import Certification, certify
from averment.oracle.gold.kitchen import Kitchen
from averment.oracle.gold.making import Made, Maker
from averment.oracle.model.options import Options
from averment.oracle.model.pack import Pack
from averment.oracle.oracles import OracleError
from averment.oracle.replay.mutants import Kills
from averment.oracle.report import report
from averment.oracle.running import refuse_drift, running
from averment.oracle.tasks.task import Task
from averment.oracle.worker.deadline import Stopwatch
from averment.text.jsontext import canonical

__all__ = ["Built", "Progress", "build"]


class _Formats(msgspec.Struct, frozen=True):
    """The further formats of a build."""

    exports: tuple[str, ...]
    parquet: bool

    def write(self, artifacts: Artifacts, pack: Pack) -> None:
        """Write them, from the rows that are there."""


_TIERS = ("prototype", "silver", "gold")
_JOURNAL = ".build/journal.jsonl"
_LOCK = ".build/lock"
_MANIFEST = "run_manifest.json"


class Progress(msgspec.Struct, frozen=True):
    """How far a build is; `per_second` counts the tasks of this start, and is None at first."""

    done: int
    of: int
    dropped: int
    per_second: float | None = None


class Built(msgspec.Struct, frozen=True, kw_only=True):
    """A build that is complete.

    Attributes:
        manifest: what `run_manifest.json` says.
        dropped: how many tasks were dropped, by reason.
        vacuous: the assertions that passed every mutant.
        resumed: how many tasks were there from an earlier start.
    """

    manifest: dict[str, Any]
    dropped: dict[str, int]
    vacuous: tuple[str, ...]
    resumed: int


def build(
    path: str | Path,
    out: str | Path,
    options: Options | None = None,
    *,
    jobs: int = 2,
    allow: str = "gold",
    strict: bool = False,
    require: str | None = None,
    exports: Sequence[str] = (),
    parquet: bool = False,
    progress: Callable[[Progress], object] = lambda _: None,
) -> Built:
    """Build the benchmark of a pack.

    Args:
        path: the pack's directory.
        out: the folder to build in, outside the pack; made where it is not there.
        options: the run's options; the defaults where None.
        jobs: how many tasks are made side by side; the outcome is the same for any number.
        allow: the lowest tier that is built, `gold` or `silver`; rows say which they are of.
        strict: take unknown keys for mistakes.
        require: refuse to run code with less isolation than this level.
        exports: of `chat` and `bfcl`: written beside the rows.
        parquet: whether to write `benchmark.parquet`.
        progress: is told after every task.

    Raises:
        PackError: the pack can't be loaded, is below the tier, can make no tasks, or all of them are dropped; or
            somebody else builds in the same folder.
    """
    options = options or Options()
    folder = Path(out)
    certified = certify(path, options, strict=strict, jobs=jobs, require=require)
    _refuse_tier(certified, allow)
    _refuse_inside(certified, folder)
    (folder / _JOURNAL).parent.mkdir(parents=True, exist_ok=True)
    with _locked(folder / _LOCK):
        (folder / _MANIFEST).unlink(missing_ok=True)
        return _built(certified, folder, jobs, _Formats(tuple(exports), parquet), progress)


def _built(
    certified: Certification,
    folder: Path,
    jobs: int,
    formats: _Formats,
    progress: Callable[[Progress], object],
) -> Built:
    pack, options = certified.pack, certified.options
    artifacts = Artifacts(folder)
    with running(pack, options) as at_work:
        kitchen = Kitchen.of(pack, options, at_work.oracle, at_work.runner)
        bound = kitchen.bound()
        subject = subject_of(certified, kitchen)
        with Journal(folder / _JOURNAL, subject) as journal:
            resumed = journal.known
            made = _made(kitchen.maker, bound.tasks[resumed:], jobs)
            for step in _make(bound.tasks, made, journal, certified):
                progress(step)
            refuse_drift(pack)
            table = _kill_table(kitchen, bound.tasks, journal, jobs)
            drops, gold = _write_rows(artifacts, journal)
        environment = environment_of(at_work.isolation())
    vacuous = tuple(name for name, kills in table.items() if kills.is_vacuous)
    artifacts.write("kill_table.json", {name: kills.by_kind for name, kills in table.items()})
    artifacts.write("oracle_validation_report.json", report(certified), counted=False)
    formats.write(artifacts, pack)
    artifacts.write("build_environment.json", environment, counted=False)
    manifest = {
        "schema": "averment.run_manifest.v1",
        "engine": {"name": "averment", "version": __version__},
        **subject,
        "tier": certified.tier,
        "gold_eligible": certified.tier == "gold",
        "stage_counts": {"expanded": len(bound.tasks), "dropped": sum(drops.values()), "published": gold},
        "drops": drops,
        "notes": [msgspec.to_builtins(note) for note in bound.notes],
        "vacuous_assertions": list(vacuous),
        "artifacts": {name: {"content_hash": found} for name, found in sorted(artifacts.digests.items())},
    }
    artifacts.write(_MANIFEST, manifest)
    return Built(manifest=manifest, dropped=drops, vacuous=vacuous, resumed=resumed)


def _make(
    tasks: Sequence[Task], made: Iterator[Made], journal: Journal, certified: Certification
) -> Iterator[Progress]:
    """Write what is made into the journal, after what it has already."""
    watch = Stopwatch()
    known = journal.known
    dropped = sum(not entry.gold for entry in journal.entries())
    for number, each in enumerate(made, 1):
        journal.add(_entry(each, certified))
        dropped += each.drop is not None
        yield Progress(known + number, len(tasks), dropped, number / (watch.seconds() or 1))


def _write_rows(artifacts: Artifacts, journal: Journal) -> tuple[dict[str, int], int]:
    """Write the rows of gold and of dropped tasks; how many were dropped for each reason, and how many are gold."""
    gold = 0
    drops: Counter[str] = Counter()
    with artifacts.writing("benchmark.jsonl") as benchmark, artifacts.writing("dropped.jsonl") as rejected:
        for entry in journal.entries():
            if entry.gold:
                gold += 1
                benchmark.write(bytes(entry.row) + b"\n")
            else:
                drops[msgspec.json.decode(entry.row)["reason"]] += 1
                rejected.write(bytes(entry.row) + b"\n")
    if not gold:
        reasons = ", ".join(f"{name} {count}" for name, count in sorted(drops.items()))
        raise PackError(
            Problem(
                code="nothing_gold",
                message=f"none of the {sum(drops.values())} tasks is gold",
                found=reasons,
                mend="Read `dropped.jsonl` in the folder, and mend what it tells.",
            )
        )
    return dict(sorted(drops.items())), gold


def _made(maker: Maker, tasks: Sequence[Task], jobs: int) -> Iterator[Made]:
    """The tasks, made side by side, in their order; only so many are held at once."""
    waiting: deque[Future[Made]] = deque()
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        try:
            for task in tasks:
                waiting.append(pool.submit(maker.make, task))
                if len(waiting) >= 4 * jobs:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        except OracleError as error:
            raise _unusable(error) from None
        finally:
            for future in waiting:
                future.cancel()


def _unusable(error: OracleError) -> PackError:
    mend = "Run `averment pack check` on the pack, and mend what it tells."
    return PackError(Problem(code="oracle_unusable", message=error.message, mend=mend))


def _entry(made: Made, certified: Certification) -> Entry:
    gold = made.drop is None
    pack = certified.pack
    shown = row(made, pack, tier=certified.tier, name=pack.manifest.pack_id) if gold else dropped_row(made)
    return Entry(
        task_id=made.task.task_id,
        template_id=made.task.template_id,
        gold=gold,
        row=msgspec.Raw(canonical(shown)),
    )


def _kill_table(kitchen: Kitchen, tasks: Sequence[Task], journal: Journal, jobs: int) -> dict[str, Kills]:
    """The kill table over the first gold task of each template, which is made again for it."""
    first: dict[str, str] = {}
    for entry in journal.entries():
        if entry.gold:
            first.setdefault(entry.template_id, entry.task_id)
    chosen = [task for task in tasks if first.get(task.template_id) == task.task_id]
    made = [each for each in _made(kitchen.maker, chosen, jobs) if each.drop is None]
    return kitchen.kill_table(made, jobs)


def _refuse_tier(certified: Certification, allow: str) -> None:
    if _TIERS.index(certified.tier) >= _TIERS.index(allow):
        return
    failed = [row for row in certified.rows if row.status != "pass"]
    first = next((failure for row in failed for failure in row.failures), None)
    names = ", ".join(row.id for row in failed)
    may = " or give `--allow-tier silver`" if allow == "gold" and certified.tier == "silver" else ""
    raise PackError(
        Problem(
            code="tier_too_low",
            message=f"the pack is {certified.tier}, and {allow} is asked for; in the way: {names}",
            found=None if first is None else f"{first.reason}: {first.message}",
            mend=f"See `averment pack check`, and mend what it tells{may}.",
        )
    )


def _refuse_inside(certified: Certification, folder: Path) -> None:
    root = certified.pack.root
    place = folder.resolve()
    if place == root or root in place.parents:
        raise PackError(
            Problem(
                code="output_inside_pack",
                message="the folder to build in is a part of the pack, which it would change",
                file=str(folder),
                mend="Give a folder outside the pack.",
            )
        )


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One build at a time in a folder; the lock goes with the process, however it ends."""
    import fcntl

    with open(path, "w", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise PackError(
                Problem(
                    code="output_in_use",
                    message="somebody else builds in this folder",
                    file=os.fspath(path.parent.parent),
                    mend="Wait for it to end, or give another folder.",
                )
            ) from None
        yield
