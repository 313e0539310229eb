"""Recordings: the files that globs match, in an order that is the same everywhere."""

from __future__ import annotations

import glob
import os
from collections.abc import Mapping, Sequence

from averment.suites.templates import Template

__all__ = ["matches", "recordings"]


def recordings(globs: Sequence[Template], values: Mapping[str, str], folder: str) -> list[list[str]]:
    """For each glob the files that it matches, relative to `folder`; one that an earlier glob matches is left out there.

    Args:
        globs: the globs; a value is put in as it is, its `*` and brackets no wildcards.
        values: the values of a case.
        folder: the folder that they are relative to; empty for the working folder.
    """
    seen: set[str] = set()
    found = []
    for each in globs:
        files = matches(each.filled(values, glob.escape), folder)
        found.append([file for file in files if file not in seen])
        seen.update(files)
    return found


def matches(pattern: str, folder: str) -> list[str]:
    """The regular files that a glob matches, sorted by code point."""
    try:
        names = glob.glob(pattern, root_dir=folder or None, recursive=True)
    except ValueError:  # a null in the pattern
        return []
    return sorted({os.path.normpath(name) for name in names if os.path.isfile(os.path.join(folder, name))})
