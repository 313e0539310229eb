"""The journal of a build: what has been made so far, so that a build that was killed goes on where it was.

The first line says what is being built; each further line is one task, in the order of the tasks. A line that was cut
off is no line. A journal of another build (another pack, other options, another version) is begun anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import msgspec

from averment.text.jsontext import canonical

__all__ = ["Entry", "Journal"]


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one task.

    Attributes:
        task_id: the task.
        template_id: its template.
        gold: whether it is gold.
        row: its row in the benchmark, or that among the dropped tasks.
    """

    task_id: str
    template_id: str
    gold: bool
    row: msgspec.Raw


class Journal:
    """A journal, open for adding to it.

    Args:
        path: its file; the folder exists.
        subject: what is being built; canonical JSON of it decides whether an existing journal is of the same build.
    """

    def __init__(self, path: Path, subject: dict[str, Any]) -> None:
        self._path = path
        self._head = canonical(subject) + b"\n"
        self.known = 0
        end = self._recovered()
        self._file = open(path, "r+b" if end else "wb")  # noqa: SIM115 - closed by `close`
        if not end:
            self._file.write(self._head)
        else:
            self._file.truncate(end)
            self._file.seek(end)
        self._file.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, entry: Entry) -> None:
        """Write what came of the next task; it is kept even if this process is killed at once."""
        self._file.write(msgspec.json.encode(entry) + b"\n")
        self._file.flush()

    def entries(self) -> Iterator[Entry]:
        """Every entry, in order."""
        self._file.flush()
        with open(self._path, "rb") as file:
            next(file, None)
            for line in file:
                yield msgspec.json.decode(line, type=Entry)

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _recovered(self) -> int:
        """Where the whole lines of an earlier journal of this build end; 0 where there is none."""
        if not self._path.exists():
            return 0
        end = 0
        with open(self._path, "rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                if not end:
                    if line != self._head:
                        return 0
                elif _entry(line) is None:
                    break
                else:
                    self.known += 1
                end += len(line)
        return end


def _entry(line: bytes) -> Entry | None:
    try:
        return msgspec.json.decode(line, type=Entry)
    except (msgspec.DecodeError, ValueError):
        return None
