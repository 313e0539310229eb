"""The folder of a build: one build at a time, and files that each appear whole, in one step."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from averment.errors import PackError, Problem, UsageError
from averment.text.jsontext import pretty

__all__ = ["Artifacts", "claimed", "digest_of", "refusing"]


class Artifacts:
    """The files of one build.

    Attributes:
        same: the digest of each file that was written and is the same on every machine, by its path below the folder.
        local: likewise of the others.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.same: dict[str, str] = {}
        self.local: dict[str, str] = {}

    @contextmanager
    def writing(self, name: str, *, local: bool = False) -> Iterator[IO[bytes]]:
        """What writes a file; it stands there when this is left, unless something was raised.

        Raises:
            UsageError: it can't be written.
        """
        target = self._folder / name
        part = _part(target)
        with refusing(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            with open(part, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())  # what the manifest vouches for outlives the machine's power as well
            os.replace(part, target)
            (self.local if local else self.same)[name] = digest_of(target)

    def write(self, name: str, value: Any, *, local: bool = False) -> None:
        """Write a JSON document."""
        with self.writing(name, local=local) as file:
            file.write(pretty(value))

    def remove(self, names: Iterable[str]) -> None:
        """Remove files in this order, where they are there, also those that were begun; and folders that become empty.

        Raises:
            UsageError: one can't be removed.
        """
        for name in names:
            target = self._folder / name
            with refusing(target):
                for path in (target, _part(target)):
                    with suppress(FileNotFoundError, NotADirectoryError):
                        path.unlink()
                folder = target.parent
                while folder != self._folder and folder.is_dir():
                    try:
                        folder.rmdir()
                    except OSError:  # something else is in it
                        break
                    folder = folder.parent


def digest_of(path: Path) -> str:
    """The digest of a file, `sha256:` and 64 digits."""
    with open(path, "rb") as file:
        return f"sha256:{hashlib.file_digest(file, 'sha256').hexdigest()}"


@contextmanager
def refusing(path: Path) -> Iterator[None]:
    """What the system refuses inside is a refusal of the output at `path`.

    Raises:
        UsageError: `output_unwritable`, with the mend.
    """
    try:
        yield
    except (OSError, ValueError) as error:
        if isinstance(error, ValueError) and "null byte" not in str(error):
            raise
        why = getattr(error, "strerror", None) or "not a usable name"
        raise UsageError(
            Problem(
                code="output_unwritable",
                message=f"the output can't be written: {why}",
                file=os.fspath(path),
                expected="a folder that may be written to, on a disk with room",
                mend="Mend that, and give the same command again: it goes on where it was.",
            )
        ) from None


@contextmanager
def claimed(folder: Path) -> Iterator[None]:
    """The folder, made where it is not there, with no other build in it; the claim goes with the process.

    Raises:
        UsageError: it can't be made.
        PackError: another build is at work in it.
    """
    import fcntl

    with refusing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PackError(
                Problem(
                    code="output_in_use",
                    message="another build is at work in this folder",
                    file=os.fspath(folder),
                    mend="Wait for it to end, or give another folder.",
                )
            ) from None
        except OSError:  # a file system without locks: nobody can be kept out
            pass
        yield
        with suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _part(target: Path) -> Path:
    return target.with_name(f".{target.name}.part")
