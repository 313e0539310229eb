# ruff: noqa: INP001 - a script, not part of a package
"""What the scripts that write reference pages have in common."""

from __future__ import annotations

import inspect
from collections.abc import Iterable

__all__ = ["documentation", "fenced", "table"]


def documentation(thing: object) -> str:
    """The docstring of a module or a class, without its indentation."""
    return inspect.cleandoc(thing.__doc__ or "")


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """The lines of a table; a bar in a cell is escaped."""
    columns = list(head)
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    return [*lines, *(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows)]


def fenced(language: str, text: str) -> list[str]:
    """The lines of a fenced block."""
    return [f"```{language}", text.rstrip("\n"), "```"]
