"""A folder appears in one step, or not at all, and never in place of anything."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from averment.errors import UsageError
from averment.oracle.scaffold import writing
from averment.oracle.scaffold.writing import write_folder

FILES = {"a.txt": b"a", "b.txt": b"b"}


def test_the_files_are_there_and_nothing_else(tmp_path: Path) -> None:
    """With their bytes."""
    write_folder(str(tmp_path / "pack"), FILES)
    assert {path.name: path.read_bytes() for path in (tmp_path / "pack").iterdir()} == FILES
    assert [path.name for path in tmp_path.iterdir()] == ["pack"]


def test_a_path_may_end_in_a_slash_and_be_relative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As shells complete it."""
    monkeypatch.chdir(tmp_path)
    write_folder("pack/", FILES)
    assert (tmp_path / "pack" / "a.txt").read_bytes() == b"a"


@pytest.mark.parametrize("kind", ["folder", "empty folder", "file", "dangling link"])
def test_what_exists_stays_as_it_was(tmp_path: Path, kind: str) -> None:
    """Even an empty folder, and even a link to nothing."""
    target = tmp_path / "pack"
    if kind == "file":
        target.write_text("mine")
    elif kind == "dangling link":
        target.symlink_to(tmp_path / "nowhere")
    else:
        target.mkdir()
        if kind == "folder":
            (target / "mine.txt").write_text("mine")
    before = (sorted(os.listdir(tmp_path)), os.lstat(target).st_mtime_ns)
    with pytest.raises(UsageError, match="target_exists"):
        write_folder(str(target), FILES)
    assert (sorted(os.listdir(tmp_path)), os.lstat(target).st_mtime_ns) == before
    assert kind != "folder" or (target / "mine.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("target", "code"),
    [("", "invalid_target"), ("a\0b", "invalid_target"), ("no/such/pack", "output_unwritable")],
)
def test_a_place_that_can_t_be_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, code: str
) -> None:
    """Before anything is written."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=code):
        write_folder(target, FILES)
    assert list(tmp_path.iterdir()) == []


class _Breaking(Mapping[str, bytes]):
    """Files of which the second can't be had."""

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def __getitem__(self, name: str) -> bytes:
        if name == "b.txt":
            raise self._error
        return FILES[name]

    def __iter__(self) -> Iterator[str]:
        return iter(FILES)

    def __len__(self) -> int:
        return len(FILES)


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), UsageError),
        (KeyboardInterrupt(), KeyboardInterrupt),
        (RuntimeError(), RuntimeError),
    ],
)
def test_a_failure_in_the_middle_leaves_nothing(
    tmp_path: Path, error: BaseException, raised: type[BaseException]
) -> None:
    """A full disk, an interrupt, a defect."""
    with pytest.raises(raised):
        write_folder(str(tmp_path / "pack"), _Breaking(error))
    assert list(tmp_path.iterdir()) == []


def test_what_appears_meanwhile_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody else made the folder while the files were written."""
    target = tmp_path / "pack"
    opened = open

    def open_and_race(*args: Any, **kwargs: Any) -> Any:
        target.mkdir(exist_ok=True)
        return opened(*args, **kwargs)

    monkeypatch.setattr(writing, "open", open_and_race, raising=False)
    with pytest.raises(UsageError, match="target_exists"):
        write_folder(str(target), FILES)
    assert [path.name for path in tmp_path.rglob("*")] == ["pack"]


def test_an_interrupt_after_the_folder_was_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first moment at which there is something to clean up."""
    make = os.mkdir

    def make_and_stop(path: str) -> None:
        make(path)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "mkdir", make_and_stop)
    with pytest.raises(KeyboardInterrupt):
        write_folder(str(tmp_path / "pack"), FILES)
    assert list(tmp_path.iterdir()) == []


def test_a_leftover_of_the_same_name_is_not_removed(tmp_path: Path) -> None:
    """What was there before is somebody else's."""
    leftover = tmp_path / f".pack.{os.getpid()}.part"
    leftover.mkdir()
    with pytest.raises(UsageError, match="output_unwritable"):
        write_folder(str(tmp_path / "pack"), FILES)
    assert list(tmp_path.iterdir()) == [leftover]
