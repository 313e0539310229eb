"""The journal of a build: what has been made so far, so that a build that was stopped goes on where it was.

The first line says what is being built, and where; each further line is one task, in the order of the tasks: what is
known of it, a tab, its row. A line that was cut off is no line. A journal of another build (another pack, other options,
another machine) is begun anew.

Lines are written in one piece and not held back, so a process that is killed loses what it was just making. What the
system has taken and not put on the disk when the power goes is lost as well; that is a shorter journal, not a wrong one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import msgspec

from averment.oracle.build.artifacts import refusing
from averment.text.jsontext import canonical, decode

__all__ = ["Entry", "Journal"]


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one task.

    Attributes:
        task_id: the task.
        reason: why it was dropped; None where it is gold.
        row: the canonical JSON of its row, in the benchmark or among the dropped tasks.
    """

    task_id: str
    reason: str | None
    row: bytes


class Journal:
    """A journal, open for adding to it.

    Args:
        path: its file; the folder exists.
        subject: what is being built; canonical JSON of it decides whether an existing journal is of the same build.

    Raises:
        UsageError: it can't be written.
    """

    def __init__(self, path: Path, subject: dict[str, Any]) -> None:
        self._path = path
        head = canonical(subject) + b"\n"
        with refusing(path):
            end = self._recovered(head)
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
            self._file = os.open(path, flags, 0o666)
            os.ftruncate(self._file, end)
            os.lseek(self._file, end, os.SEEK_SET)
        if not end:
            self._write(head)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)

    def add(self, entry: Entry) -> None:
        """Write what came of the next task; it is kept even if this process is killed at once.

        Raises:
            UsageError: it can't be written.
        """
        known = canonical([entry.task_id, entry.reason])
        self._write(b"%b\t%b\n" % (known, entry.row))

    def entries(self) -> Iterator[Entry]:
        """Every entry, in order, read as they are asked for."""
        with open(self._path, "rb") as file:
            next(file, None)
            for line in file:
                entry = _entry(line)
                if entry is not None:
                    yield entry

    def keep(self, count: int) -> None:
        """Forget every entry after the first so many."""
        with open(self._path, "rb") as file:
            end = sum(len(line) for _, line in zip(range(count + 1), file, strict=False))
        with refusing(self._path):
            os.ftruncate(self._file, end)
            os.lseek(self._file, end, os.SEEK_SET)

    def remove(self) -> None:
        """Remove the file: the build is complete."""
        with refusing(self._path), suppress(FileNotFoundError):
            os.unlink(self._path)

    def _write(self, data: bytes) -> None:
        with refusing(self._path):
            left = memoryview(data)
            while left:
                left = left[os.write(self._file, left) :]

    def _recovered(self, head: bytes) -> int:
        """Where the whole lines of an earlier journal of this build end; 0 where there is none."""
        if not self._path.exists():
            return 0
        end = 0
        with open(self._path, "rb") as file:
            if file.readline(len(head) + 1) != head:
                return 0
            end = len(head)
            for line in file:
                if _entry(line) is None:
                    break
                end += len(line)
        return end


def _entry(line: bytes) -> Entry | None:
    """The entry that a line is, or None where it was cut off."""
    known, tab, row = line.partition(b"\t")
    if not tab or not row.endswith(b"\n"):
        return None
    try:
        task_id, reason = decode(known).value
    except (ValueError, TypeError):
        return None
    return Entry(task_id=task_id, reason=reason, row=row[:-1])
