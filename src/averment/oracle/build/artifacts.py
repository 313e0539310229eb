"""Files of a build: each appears whole, in one step, and the manifest last of all."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from averment.text.jsontext import pretty

__all__ = ["Artifacts"]


class Artifacts:
    """The files of one build.

    Attributes:
        digests: of every file that was written, by its path below the folder, `sha256:` and 64 digits.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.digests: dict[str, str] = {}

    @contextmanager
    def writing(self, name: str, *, counted: bool = True) -> Iterator[IO[bytes]]:
        """What writes a file; it stands there when this is left, unless something was raised."""
        target = self._folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f".{target.name}.part")
        with open(part, "wb") as file:
            yield file
        os.replace(part, target)
        if counted:
            self.digests[name] = _digest(target)

    def write(self, name: str, value: Any, *, counted: bool = True) -> None:
        """Write a JSON document."""
        with self.writing(name, counted=counted) as file:
            file.write(pretty(value))


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"
