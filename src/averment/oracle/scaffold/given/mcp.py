"""The answer of an MCP server to `tools/list`, alone or inside its JSON-RPC message.

    {"tools": [{"name": "...", "description": "...", "inputSchema": {...}, "annotations": {"readOnlyHint": true}}]}

Hints are what they are called: a server says of itself what it does. A tool without them may do anything, so whether it
changes something is left to the author.
"""

from __future__ import annotations

from typing import Any

from averment.oracle.scaffold.given.naming import Names
from averment.oracle.scaffold.given.openai import declared_parameters
from averment.oracle.scaffold.given.tools import Given, GivenTool
from averment.oracle.scaffold.subset.changes import Change, Path
from averment.text.source import Source
from averment.text.structs import describe

__all__ = ["read"]

_KNOWN = frozenset({"name", "description", "inputSchema", "annotations"})


def read(source: Source) -> Given:
    """The tools of the answer."""
    given = Given(kind="an MCP `tools/list` answer")
    root: Path = ("result",) if "result" in source.value else ()
    answer = source.value["result"] if root else source.value
    if not isinstance(answer["tools"], list):
        problem = source.problem(
            "not_tools", "`tools` is no list", (*root, "tools"), found=describe(answer["tools"])
        )
        given.problems.append(problem)
        return given
    if answer.get("nextCursor"):
        given.remarks.append(
            "The answer has a next page (`nextCursor`): the server has more tools than these."
        )
    names = Names(source, given)
    for index, tool in enumerate(answer["tools"]):
        path = (*root, "tools", index)
        name = names.take(tool, path)
        if name is None:
            continue
        given.changes += [
            Change("note", "a key of a tool that packs don't have was left out", (*path, key))
            for key in tool
            if key not in _KNOWN
        ]
        mutates, why, destructive = _effects(tool.get("annotations"))
        description = tool.get("description")
        given.tools.append(
            GivenTool(
                name=name,
                description=description if isinstance(description, str) else None,
                parameters=declared_parameters(source, tool, "inputSchema", path, given),
                mutates=mutates,
                guessed=why,
                destructive=destructive,
            )
        )
    return given


def _effects(annotations: Any) -> tuple[bool | None, str | None, bool]:
    """What the hints say: whether the tool changes anything, why that is only likely, whether it destroys."""
    hints = annotations if isinstance(annotations, dict) else {}
    read_only, destructive = hints.get("readOnlyHint"), hints.get("destructiveHint")
    if read_only is True:
        return False, "`readOnlyHint` says so", False
    if destructive is True:
        return True, "`destructiveHint` says so", True
    return (True, "`readOnlyHint` says so", False) if read_only is False else (None, None, False)
