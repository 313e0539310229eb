"""What pytest tells of a verdict: a line for its summary, an explanation without a traceback, and a place in a file.

Ids, descriptions and evidence may hold anything, terminal control sequences and 1 MB words too: what leaves here is
bounded, and what can't be seen is escaped. It was redacted before.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from averment.errors import AvermentError, Problem
from averment.text.shown import visible

__all__ = ["Told", "near", "node_names", "refused", "represented", "safe"]

_MOST_LINE = 2_000
_MOST_LINES = 500
_MOST_NAME = 300


class Told(Exception):  # noqa: N818 - a verdict is no error
    """Why a test does not pass, or a file can't be collected, in words that need no traceback.

    Args:
        text: the whole explanation.
        summary: one line, for the summary and for reports that others write.
        path: the file that it is about.
        line: the line in it, from 1.
    """

    def __init__(self, text: str, *, summary: str, path: Path, line: int = 1) -> None:
        super().__init__(safe(text))
        self.summary = safe(summary.replace("\n", " "))
        self.path = path
        self.line = line


def refused(problems: Sequence[Problem], path: Path) -> Told:
    """How a refusal is told: all its problems, the first of them in the summary.

    Args:
        problems: what is wrong.
        path: the file that was asked for; a problem may be in another one.
    """
    first = problems[0]
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    place = Path(os.path.abspath(first.file)) if first.file and os.path.exists(first.file) else path
    return Told(
        str(AvermentError(problems)),
        summary=f"{first.severity}[{first.code}]: {first.message}{more}",
        path=place,
        line=first.line or 1,
    )


def represented(told: pytest.ExceptionInfo[BaseException]) -> Any:
    """How pytest shows what is `Told`: its text, for `--tb=line` and editors the place in the file, no traceback."""
    shown = told.getrepr(style="value", chain=False)
    if isinstance(told.value, Told) and shown.reprcrash is not None:
        shown.reprcrash.path = safe(str(told.value.path))
        shown.reprcrash.lineno = told.value.line
        shown.reprcrash.message = told.value.summary
    return shown


def safe(text: str) -> str:
    """The text as it may be shown on a terminal and sent to another process: bounded, all of it visible."""
    lines = text.split("\n")
    shown = [_bounded(visible(line[:_MOST_LINE]), line) for line in lines[:_MOST_LINES]]
    if len(lines) > _MOST_LINES:
        shown.append(f"... and {len(lines) - _MOST_LINES} more lines")
    return "\n".join(shown)


def node_names(texts: Iterable[str]) -> list[str]:
    """Names for the parts of tests' ids, one for each text and no two alike, and each can be given to pytest to select it.

    pytest takes `::` for the end of a name and `[` for the beginning of a parameter, so they are replaced.
    """
    taken: set[str] = set()
    names = []
    for text in texts:
        name = visible(text[:_MOST_NAME]).replace("::", ":").translate(_BRACKETS)
        name = name if len(text) <= _MOST_NAME else f"{name}..."
        names.append(_untaken(name or "(empty)", taken))
        taken.add(names[-1])
    return names


def near(path: Path) -> str:
    """The path as people can open it from the working folder."""
    return os.path.relpath(path)


_BRACKETS = str.maketrans("[]", "()")


def _bounded(shown: str, line: str) -> str:
    return shown if len(line) <= _MOST_LINE else f"{shown}... ({len(line) - _MOST_LINE:,} more characters)"


def _untaken(name: str, taken: set[str]) -> str:
    number = 1
    other = name
    while other in taken:
        number += 1
        other = f"{name}~{number}"
    return other
