"""From the bytes of a file to the tools in it; the content tells the format."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from averment.errors import Problem, UsageError
from averment.oracle.scaffold.given.tools import MAX_TOOLS, Given
from averment.text.source import Source, read_source
from averment.text.structs import describe

__all__ = ["EXPECTED", "read_tools"]

EXPECTED: Final = (
    "a list of tools as OpenAI's APIs take it, an MCP `tools/list` answer, or OpenAPI 3.0 or 3.1"
)


def read_tools(text: bytes, *, name: str) -> Given:
    """The tools of a file.

    Args:
        text: JSON or YAML.
        name: the file's name as the user gave it.

    Raises:
        DocumentError: it is neither JSON nor YAML.
        UsageError: it is no list of tools, or has mistakes; all of them.
    """
    source = read_source(text, name=name)
    given = _reader(source)(source)
    if given.problems:
        raise UsageError(sorted(given.problems, key=lambda problem: (problem.line or 0, problem.column or 0)))
    if not given.tools:
        raise UsageError(
            Problem(code="no_tools", message="the file has no tools", file=name, expected="at least one")
        )
    if len(given.tools) > MAX_TOOLS:
        raise UsageError(
            Problem(
                code="too_many_tools",
                message="the file has too many tools",
                file=name,
                expected=f"at most {MAX_TOOLS:,}",
                found=f"{len(given.tools):,}",
                mend="Keep those that the pack is about.",
            )
        )
    return given


def _reader(source: Source) -> Callable[[Source], Given]:
    from averment.oracle.scaffold.given import mcp, openai, openapi

    value = source.value
    if isinstance(value, list):
        return openai.read
    if isinstance(value, dict):
        if "openapi" in value or "swagger" in value:
            return openapi.read
        if isinstance(value.get("result"), dict) and "tools" in value["result"]:
            return mcp.read
        if isinstance(value.get("tools"), list):
            listed = [tool for tool in value["tools"] if isinstance(tool, dict)]
            return openai.read if any("type" in tool or "function" in tool for tool in listed) else mcp.read
    raise UsageError(
        source.problem(
            "not_tools", "this is no list of tools that is known", expected=EXPECTED, found=describe(value)
        )
    )
