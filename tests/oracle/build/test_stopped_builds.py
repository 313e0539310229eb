"""Builds that are stopped: by kill -9 at every step and at random moments, by a full disk, by a pack that changes.

Whatever stopped it, the folder has either a manifest and all that it vouches for, or no manifest; and the same command goes
on to the bytes of a build that nobody stopped.
"""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from small_builds import InProcess, certified, counting, files, with_no_workers

from averment.errors import PackError, UsageError
from averment.oracle.build import building, journal
from averment.oracle.build.artifacts import claimed, digest_of
from averment.oracle.build.building import build
from averment.oracle.build.production import Progress
from averment.oracle.model.options import Options
from averment.oracle.running import Running, running

TASKS = 12
OPTIONS = Options(tasks_per_category=TASKS)
FORMATS: dict[str, Any] = {"exports": ("chat", "bfcl")}
_SEEDED = random.Random(2026)  # noqa: S311 - moments, not secrets
MOMENTS = [_SEEDED.uniform(0, 0.08) for _ in range(20)]
_EVENTS = frozenset({"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir"})


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    return counting(tmp_path / "pack", 60)


def forked(work: Callable[[], object]) -> int:
    """What `work` comes to in a fork of this process: 0, 1 where it raises, or the signal that ended it, negative."""
    pid = os.fork()
    if not pid:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def is_published(folder: Path) -> bool:
    """Whether there is a manifest; then every file is as it says."""
    manifest, environment = folder / "run_manifest.json", folder / "build_environment.json"
    if not manifest.exists():
        return False
    for path in (manifest, environment):
        for name, artifact in msgspec.json.decode(path.read_bytes())["artifacts"].items():
            assert digest_of(folder / name) == artifact["content_hash"]
    return True


def killed_at(step: int, folder: Path) -> None:
    """Kill this process at the so manieth step that touches the folder; a line of the journal is cut in half."""
    steps = 0

    def count() -> bool:
        nonlocal steps
        steps += 1
        return steps == step

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event in _EVENTS and args and str(args[0]).startswith(str(folder)):
            is_idle = event == "os.remove" and not os.path.lexists(args[0])
            if not is_idle and count():
                os.kill(os.getpid(), signal.SIGKILL)

    def write(descriptor: int, data: Any) -> int:
        if count():
            os.write(descriptor, data[: len(data) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        return os.write(descriptor, data)

    class Os:
        def __getattr__(self, name: str) -> Any:
            return write if name == "write" else getattr(os, name)

    vars(journal)["os"] = Os()
    sys.addaudithook(hook)


def test_killed_at_any_step_it_goes_on_to_the_same_bytes(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every step of a build in a folder that holds another one: each opening, renaming, removing, each line."""
    with_no_workers(monkeypatch)
    monkeypatch.setattr(os, "fsync", lambda _: None)  # the power stays on
    options = Options(tasks_per_category=5)
    build(pack, tmp_path / "whole", options, exports=("chat",))
    whole = files(tmp_path / "whole")
    build(pack, tmp_path / "other", Options(random_seed=1, tasks_per_category=2), exports=("chat",))
    seen = set()
    for step in range(1, 1000):
        out = tmp_path / f"out{step}"
        shutil.copytree(tmp_path / "other", out)

        def killed(step: int = step, out: Path = out) -> None:
            killed_at(step, out)
            build(pack, out, options, exports=("chat",))

        code = forked(killed)
        published = is_published(out)
        seen.add((code, published))
        build(pack, out, options, exports=("chat",))
        assert files(out) == whole
        shutil.rmtree(out)
        if code == 0:
            break
    assert step > 30
    # The other build was there at first, nothing was in between, the new one at last.
    assert seen == {(-signal.SIGKILL, True), (-signal.SIGKILL, False), (0, True)}


def test_killed_while_formats_are_changed_it_is_complete_all_the_same(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every step: one format comes, another goes, and no task is made again."""
    with_no_workers(monkeypatch)
    monkeypatch.setattr(os, "fsync", lambda _: None)
    options = Options(tasks_per_category=3)
    build(pack, tmp_path / "before", options, exports=("chat",))
    build(pack, tmp_path / "after", options, exports=("bfcl",))
    after = files(tmp_path / "after")
    for step in range(1, 100):
        out = tmp_path / f"out{step}"
        shutil.copytree(tmp_path / "before", out)

        def killed(step: int = step, out: Path = out) -> None:
            killed_at(step, out)
            build(pack, out, options, exports=("bfcl",))

        code = forked(killed)
        assert is_published(out)
        assert build(pack, out, options, exports=("bfcl",)).was_complete
        assert files(out) == after
        if code == 0:
            break
    assert step > 8


def test_killed_twenty_times_it_loses_nothing(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At random moments of making tasks with workers, one start after the other: what was made is not made again."""
    monkeypatch.setattr(building, "certify", certified)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    options = Options(tasks_per_category=60)
    out, known, moments = tmp_path / "out", 0, list(MOMENTS)
    journalled = out / ".journal.jsonl"
    while moments:
        ended = killed_soon(lambda progress: build(pack, out, options, progress=progress), moments[-1])
        if ended == -signal.SIGKILL:
            moments.pop()
        if is_published(out):  # it was quicker than the next moment
            shutil.rmtree(out)
            known = 0
            continue
        lines = journalled.read_bytes().count(b"\n") - 1
        assert lines >= known
        known = lines
    assert build(pack, out, options).resumed == known
    with_no_workers(monkeypatch)
    build(pack, tmp_path / "whole", options)
    for name in ("benchmark.jsonl", "dropped.jsonl"):
        assert files(out)[name] == files(tmp_path / "whole")[name]


def killed_soon(work: Callable[[Callable[[Progress], object]], object], seconds: float) -> int:
    """Do the work in a fork, and kill that so many seconds after its first task could be begun; how it ended."""
    ready, begun = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.close(ready)
            work(lambda _: os.write(begun, b"."))
        finally:
            os._exit(1)
    os.close(begun)
    os.read(ready, 1)
    time.sleep(seconds)
    os.kill(pid, signal.SIGKILL)
    os.close(ready)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.parametrize("room", [10, 900, 3000, 12_000, 20_000, 25_000])
def test_a_full_disk_is_told_and_the_build_goes_on_when_there_is_room(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int
) -> None:
    """Wherever it gets full; a limit on the size of files is to a process what a full disk is."""
    with_no_workers(monkeypatch)
    build(pack, tmp_path / "whole", OPTIONS, **FORMATS)
    out, told = tmp_path / "out", tmp_path / "told"

    def cramped() -> None:
        _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, most))
        try:
            build(pack, out, OPTIONS, **FORMATS)
        except UsageError as error:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
            (problem,) = error.problems
            told.write_text(f"{problem.code}: {problem.message}")

    assert forked(cramped) == 0
    assert told.read_text() == "output_unwritable: the output can't be written: File too large"
    assert not is_published(out)
    build(pack, out, OPTIONS, **FORMATS)
    assert files(out) == files(tmp_path / "whole")


@pytest.mark.parametrize(("name", "text"), [("backend.py", "# changed\n"), ("notes.txt", "new")])
def test_a_pack_that_changes_in_the_middle_stops_the_build(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    """At once, with the file's name; nothing that was made afterwards is kept, and with the old pack it goes on."""
    with_no_workers(monkeypatch)
    build(pack, tmp_path / "whole", OPTIONS)
    before = (pack / name).read_bytes() if (pack / name).exists() else None

    def change(progress: Progress) -> None:
        if progress.done == 5:
            with open(pack / name, "a", encoding="utf-8") as file:
                file.write(text)

    with pytest.raises(PackError) as caught:
        build(pack, tmp_path / "out", OPTIONS, progress=change)
    assert [(each.code, each.file) for each in caught.value.problems] == [("pack_changed", name)]
    assert (tmp_path / "out" / ".journal.jsonl").read_bytes().count(b"\n") == 1 + 5
    if before is None:
        (pack / name).unlink()
    else:
        (pack / name).write_bytes(before)
    assert build(pack, tmp_path / "out", OPTIONS).resumed == 5
    assert files(tmp_path / "out") == files(tmp_path / "whole")


def test_a_file_that_is_written_as_it_was_stops_nothing(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither does a cache of bytecode, which is no part of a pack."""
    with_no_workers(monkeypatch)

    def touch(progress: Progress) -> None:
        if progress.done == 5:
            (pack / "backend.py").write_bytes((pack / "backend.py").read_bytes())
            (pack / "__pycache__").mkdir()

    assert build(pack, tmp_path / "out", OPTIONS, progress=touch).manifest.stage_counts.published == TASKS


def test_workers_that_are_gone_drop_no_task(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The build stops and says so, whatever happened to the process that they come from; then it goes on."""
    monkeypatch.setattr(building, "certify", certified)
    nurseries: list[Any] = []

    @contextmanager
    def watched(*args: Any, **named: Any) -> Iterator[Running]:
        with running(*args, **named) as at_work:
            nurseries.append(at_work.workers.nursery)
            yield at_work

    def end(progress: Progress) -> None:
        if progress.done == 3:
            nurseries[-1]._zygotes["shifted"]._process.kill()

    monkeypatch.setattr(building, "running", watched)
    with pytest.raises(PackError) as caught:
        build(pack, tmp_path / "out", OPTIONS, progress=end)
    (problem,) = caught.value.problems
    assert problem.code == "oracle_unusable"
    assert "goes on where it was" in (problem.mend or "")
    built = build(pack, tmp_path / "out", OPTIONS)
    assert built.resumed >= 3
    assert (built.manifest.drops, built.manifest.stage_counts.published) == ({}, TASKS)


def test_what_the_journal_has_is_not_made_again(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two episodes for each task that is missing, and none for the others."""
    asked: list[InProcess] = []

    def oracle(of: Any) -> InProcess:
        asked.append(InProcess(of))
        return asked[-1]

    with_no_workers(monkeypatch, oracle=oracle)

    def stop(progress: Progress) -> None:
        if progress.done == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(pack, tmp_path / "out", OPTIONS, progress=stop)
    told: list[Progress] = []
    assert build(pack, tmp_path / "out", OPTIONS, progress=told.append).resumed == 7
    assert asked[-1].episodes == 2 * (TASKS - 7)
    assert [each.done for each in told] == list(range(7, TASKS + 1))
    assert (told[0].per_second, told[-1].of) == (None, TASKS)


@pytest.mark.parametrize("change", [{"random_seed": 1}, {"clock": "2027-01-01T00:00:00Z"}])
def test_a_journal_of_another_build_is_begun_anew(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any]
) -> None:
    """Other options, another benchmark."""
    with_no_workers(monkeypatch)

    def stop(progress: Progress) -> None:
        if progress.done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build(pack, tmp_path / "out", OPTIONS, progress=stop)
    other = msgspec.structs.replace(OPTIONS, **change)
    assert build(pack, tmp_path / "out", other).resumed == 0


def test_two_builds_are_not_made_in_one_folder(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second is refused, and harms nothing."""
    with_no_workers(monkeypatch)
    with claimed(tmp_path / "out"), pytest.raises(PackError) as caught:
        build(pack, tmp_path / "out", OPTIONS)
    assert caught.value.problems[0].code == "output_in_use"
    assert files(tmp_path / "out") == {}
    build(pack, tmp_path / "out", OPTIONS)


@pytest.mark.parametrize("place", ["file", "file/below", "a\0b"])
def test_a_folder_that_can_not_be_made_is_refused(
    pack: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """Before any task is made."""
    with_no_workers(monkeypatch)
    (tmp_path / "file").write_text("mine")
    told: list[Progress] = []
    with pytest.raises(UsageError) as caught:
        build(pack, tmp_path / place, OPTIONS, progress=told.append)
    assert caught.value.problems[0].code == "output_unwritable"
    assert told == []
    assert (tmp_path / "file").read_text() == "mine"
