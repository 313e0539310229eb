"""Lists of tools as OpenAI's APIs take them: of chat completions, of responses, and the `tools.json` of packs.

    [{"type": "function", "function": {"name": "...", "parameters": {...}}}]      chat completions, packs
    [{"type": "function", "name": "...", "parameters": {...}}]                    responses

Alone, or as `tools` of a request. Whether a tool changes anything they don't say; packs do, with `x-mutates`.
"""

from __future__ import annotations

from typing import Any

from averment.oracle.scaffold.given.naming import Names
from averment.oracle.scaffold.given.tools import Given, GivenTool
from averment.oracle.scaffold.subset.changes import Change, Path
from averment.oracle.scaffold.subset.narrowing import Narrowing
from averment.oracle.scaffold.subset.parameters import as_object
from averment.text.source import Source
from averment.text.structs import describe

__all__ = ["declared_parameters", "read"]

_FUNCTION = frozenset({"name", "description", "strict", "parameters"})


def read(source: Source) -> Given:
    """The tools of the list."""
    given = Given(kind="an OpenAI list of tools")
    names = Names(source, given)
    root: Path = () if isinstance(source.value, list) else ("tools",)
    for index, entry in enumerate(source.value if not root else source.value["tools"]):
        tool = _tool(source, entry, (*root, index), given, names)
        if tool is not None:
            given.tools.append(tool)
    return given


def _tool(source: Source, entry: Any, path: Path, given: Given, names: Names) -> GivenTool | None:
    if not isinstance(entry, dict) or entry.get("type", "function") != "function":
        given.problems.append(
            source.problem(
                "not_a_function",
                "the entry is no function",
                path,
                expected='`{"type": "function", ...}`',
                found=describe(entry),
                mend="Take it out: what it does is not the pack's to say.",
            )
        )
        return None
    function, place = entry, path
    if "function" in entry:
        function, place = entry["function"], (*path, "function")
    name = names.take(function, place)
    if not isinstance(function, dict):
        return None
    outer = {"type", "x-mutates", "x-requires-confirmation"}
    known = _FUNCTION | outer if function is entry else _FUNCTION
    left = [(*place, key) for key in function if key not in known]
    if function is not entry:
        left += [(*path, key) for key in entry if key not in outer | {"function"}]
    given.changes += [
        Change("note", "a key of a tool that packs don't have was left out", each) for each in left
    ]
    parameters = declared_parameters(source, function, "parameters", place, given)
    mutates, waits = entry.get("x-mutates"), entry.get("x-requires-confirmation")
    description, strict = function.get("description"), function.get("strict")
    if name is None:
        return None
    return GivenTool(
        name=name,
        description=description if isinstance(description, str) else None,
        parameters=parameters,
        strict=strict if isinstance(strict, bool) else None,
        mutates=mutates if isinstance(mutates, bool) else None,
        requires_confirmation=waits is True,
    )


def declared_parameters(source: Source, tool: Any, key: str, path: Path, given: Given) -> dict[str, Any]:
    """The parameters that a tool declares under a key, in the subset; without arguments where it declares none."""
    declared = tool.get(key)
    if declared is None:
        return {"type": "object", "properties": {}}
    narrowing = Narrowing(source, (*path, key))
    schema = narrowing.schema(declared, (*path, key))
    narrowing.settle()
    parameters = as_object(schema, narrowing.shared) if isinstance(declared, dict) else None
    given.problems += narrowing.problems
    if parameters is None:
        given.problems.append(
            source.problem(
                "parameters_not_object",
                "the parameters of a tool are an object",
                (*path, key),
                expected='a schema with `"type": "object"`',
                found=describe(declared),
            )
        )
        return {}
    closed = narrowing.closed(parameters, (*path, key))
    given.changes += narrowing.changes
    return closed
