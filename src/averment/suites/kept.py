"""Where produced files are kept: `ENTRY/CASE/REPEAT.json` and its `.log`, under names that no case can break out of.

What stood there of an earlier run is removed first. Only a folder that averment made is ever emptied, and no symbolic
link is followed: neither one that was there before, nor one that a command puts there.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from contextlib import suppress

from averment.errors import Problem, UsageError
from averment.text.jsontext import sha256

__all__ = ["Kept", "folder_names"]

_DEFAULT = (".averment", "produced")
_MARK = ".made-by-averment"
_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,59}")
_OTHER = re.compile(r"[^A-Za-z0-9._-]+")


def folder_names(names: Sequence[str]) -> dict[str, str]:
    """A folder's name for each of the names: the name itself where it is a plain one, else one that a digest tells apart.

    Names that differ in case alone are told apart as well, for file systems that don't.
    """
    folded: dict[str, int] = {}
    for name in names:
        folded[name.lower()] = folded.get(name.lower(), 0) + 1
    return {
        name: name
        if _PLAIN.fullmatch(name) and not name.endswith(".") and folded[name.lower()] == 1
        else f"{_OTHER.sub('_', name[:200]).strip('._')[:40] or '_'}~{sha256(name.encode('utf-8', 'surrogatepass'))[7:23]}"
        for name in names
    }


class Kept:
    """The folder that produced files are kept in.

    Attributes:
        root: the folder, as it can be opened from the working folder.
    """

    def __init__(self, folder: str, chosen: str | None = None) -> None:
        """Chooses the folder, and makes none.

        Args:
            folder: the suite's folder, empty for the working folder.
            chosen: the folder to use instead of `.averment/produced` there.
        """
        self.root = os.path.join(folder, *_DEFAULT) if chosen is None else chosen
        self._is_default = chosen is None
        self._folder = folder

    def problems(self) -> list[Problem]:
        """Why the folder can't be used, if it can't."""
        links = [self.root, os.path.dirname(self.root)] if self._is_default else []
        for path in links:
            if os.path.islink(path):
                return [_link(path)]
        if not os.path.lexists(self.root):
            return []
        if not os.path.isdir(self.root):
            message = "produced files can't be kept in what is no folder"
            return [Problem(code="output_unwritable", message=message, file=self.root)]
        if os.path.lexists(os.path.join(self.root, _MARK)) or not os.listdir(self.root):
            return []
        message = "the folder holds files that averment has not made, and would be emptied"
        mend = "Give an empty folder, or one that does not exist yet."
        return [Problem(code="output_exists", message=message, file=self.root, mend=mend)]

    def make(self) -> None:
        """Makes the folder, with what tells that it is ours, and keeps it out of version control.

        Raises:
            UsageError: it can't be made or used.
        """
        problems = self.problems()
        if problems:
            raise UsageError(problems)
        try:
            os.makedirs(self.root, exist_ok=True)
            _write(os.path.join(self.root, _MARK), "")
            if self._is_default:
                _write(os.path.join(os.path.dirname(self.root), ".gitignore"), "*\n")
        except OSError as error:
            raise _unwritable(self.root, error) from None

    def empty(self, part: tuple[str, ...]) -> None:
        """Removes a folder of an earlier run, given by its way from the root.

        Raises:
            UsageError: it can't be removed, or a symbolic link stands there.
        """
        self._no_links(part)
        path = os.path.join(self.root, *part)
        try:
            if os.path.lexists(path):
                _remove(path)
        except OSError as error:
            raise _unwritable(path, error) from None

    def prepare(self, part: tuple[str, ...]) -> None:
        """Makes the folder that the files of `part` stand in, and removes those of an earlier run.

        Args:
            part: the way from the root to a file, without its extension.

        Raises:
            UsageError: it can't be made, or a symbolic link stands in the way.
        """
        self._no_links(part[:-1])
        path = os.path.join(self.root, *part)
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            for extension in (".json", ".log"):
                if os.path.lexists(path + extension):
                    _remove(path + extension)
        except OSError as error:
            raise _unwritable(path, error) from None

    def path(self, part: tuple[str, ...], extension: str) -> str:
        """The file, as it can be opened from the working folder."""
        return os.path.join(self.root, *part) + extension

    def relative(self, path: str) -> str:
        """The same file, as seen from the suite's folder."""
        return os.path.relpath(path, self._folder or os.curdir)

    def _no_links(self, part: Sequence[str]) -> None:
        for depth in range(1, len(part) + 1):
            path = os.path.join(self.root, *part[:depth])
            if os.path.islink(path):
                raise UsageError(_link(path))


def _remove(path: str) -> None:
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)


def _write(path: str, text: str) -> None:
    """Writes a file where there is none; another process may just be doing the same."""
    with suppress(FileExistsError), open(path, "x", encoding="utf-8") as file:
        file.write(text)


def _link(path: str) -> Problem:
    return Problem(
        code="symbolic_link",
        message="produced files are not kept behind a symbolic link",
        file=path,
        mend="Remove the link.",
    )


def _unwritable(path: str, error: OSError) -> UsageError:
    message = f"produced files can't be kept there: {error.strerror}"
    return UsageError(Problem(code="output_unwritable", message=message, file=path))
