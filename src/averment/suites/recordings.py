"""Recordings: the files that globs match, in an order that is the same everywhere."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping, Sequence

from averment.suites.source import without_dots
from averment.suites.templates import Template

__all__ = ["Recordings"]


class Recordings:
    """The globs of an entry; each folder is looked through once for each glob that cases make of them.

    Args:
        globs: the globs.
        folder: the folder that they are relative to; empty for the working folder.
    """

    def __init__(self, globs: Sequence[Template], folder: str) -> None:
        self._globs = globs
        self._folder = folder
        self._found: dict[str, list[str]] = {}

    def all(self, values: Mapping[str, str]) -> list[list[str]]:
        """For each glob the files that it matches, sorted by code point, relative to the folder.

        Args:
            values: the values of a case. One is put in as it is: its `*` and brackets are no wildcards.
        """
        return [self._matches(each.filled(values, glob.escape)) for each in self._globs]

    def of(self, values: Mapping[str, str]) -> list[str]:
        """The files of a case: each once, at the first glob that matches it."""
        return list(dict.fromkeys(file for files in self.all(values) for file in files))

    def _matches(self, pattern: str) -> list[str]:
        if pattern not in self._found:
            try:
                names = glob.glob(pattern, root_dir=self._folder or None, recursive=True)
            except ValueError:  # a null in the pattern
                names = []
            self._found[pattern] = sorted(
                {without_dots(name) for name in names if os.path.isfile(os.path.join(self._folder, name))}
            )
        return self._found[pattern]
