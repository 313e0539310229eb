"""The tools that a catalog publishes, as far as specs need them."""

from __future__ import annotations

from averment.errors import DocumentError, Problem
from averment.oracle.catalog.definitions import REASONS, definition_failures
from averment.text.source import Source
from averment.text.structs import describe

__all__ = ["published_tools"]

_NAMELESS = frozenset({"tool_not_object", "tool_function_not_object", "tool_name_not_nonempty_string"})


def published_tools(source: Source) -> dict[str, object]:
    """The `parameters` of each tool in a `tools.json`, by its name, in the order of the file.

    Whether they are right is for `averment pack check` to tell; a tool without a name is refused here as well.

    Raises:
        DocumentError: the file is no list of tools, or a tool has no name.
    """
    entries = source.value
    if not isinstance(entries, list):
        message = "the catalog is no list of tools"
        found = describe(entries)
        expected = 'a list of `{"type": "function", "function": {...}}`'
        raise DocumentError(source.problem("tools_not_array", message, expected=expected, found=found))
    problems: list[Problem] = []
    tools: dict[str, object] = {}
    for index, entry in enumerate(entries):
        nameless = [failure for failure in definition_failures(entry) if failure.reason in _NAMELESS]
        for failure in nameless:
            mend = failure.mend or REASONS[failure.reason].mend
            path = (index, *failure.path)
            problems.append(source.problem(failure.reason, failure.message, path, mend=mend))
        if not nameless:
            function = entry["function"]
            tools[function["name"]] = function.get("parameters")
    if problems:
        raise DocumentError(problems)
    return tools
