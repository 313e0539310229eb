"""The names of tools: each there, each once."""

from __future__ import annotations

from typing import Any, Final

from averment.oracle.scaffold.given.tools import Given
from averment.oracle.scaffold.subset.changes import Path
from averment.text.source import Source
from averment.text.structs import describe

__all__ = ["MAX_NAME", "Names"]

MAX_NAME: Final = 128
"""The longest name of a tool; MCP's own limit, the longest of all."""


class Names:
    """Takes the names of a file's tools, and tells those that are missing or stand twice."""

    def __init__(self, source: Source, given: Given) -> None:
        self._source = source
        self._given = given
        self._taken: set[str] = set()

    def take(self, tool: Any, path: Path) -> str | None:
        """The name of the tool at a path, or None after telling what is wrong with it."""
        name = tool.get("name") if isinstance(tool, dict) else None
        if not isinstance(name, str) or not name.strip() or len(name) > MAX_NAME or not name.isprintable():
            self._given.problems.append(
                self._source.problem(
                    "invalid_tool_name",
                    "the tool has no usable name",
                    (*path, "name"),
                    expected=f"`name`, of 1 to {MAX_NAME} printable characters",
                    found=describe(name) if name is not None else None,
                )
            )
            return None
        if name in self._taken:
            self._given.problems.append(
                self._source.problem(
                    "duplicate_tool",
                    f"there is another tool `{name}`",
                    (*path, "name"),
                    mend="Give each tool a name of its own, or take one of them out.",
                )
            )
            return None
        self._taken.add(name)
        return name
