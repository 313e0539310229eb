"""`tools.json`: the catalog, OpenAI-style function tools with the pack's own `x-` keys."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from averment.oracle.model.problems import Problems
from averment.oracle.model.shapes import Text
from averment.text.source import Source
from averment.text.structs import describe

__all__ = ["EXAMPLE", "FunctionEntry", "Tool", "ToolEntry", "read_tools"]

EXAMPLE = """\
[
  {
    "type": "function",
    "function": {
      "name": "lend_book",
      "description": "Lend a book to a patron; asks for confirmation first.",
      "parameters": {
        "type": "object",
        "properties": {
          "book_id": {"type": "string"},
          "confirm": {"type": "boolean", "default": false}
        },
        "required": ["book_id"],
        "additionalProperties": false
      }
    },
    "x-mutates": true,
    "x-requires-confirmation": true
  }
]
"""


class FunctionEntry(msgspec.Struct, frozen=True, kw_only=True):
    """What a model is shown of a tool: nothing beside these four reaches it."""

    name: Annotated[Text, Meta(description="The tool's name, unique in the file.")]
    description: Annotated[
        Any, Meta(description="What the tool does, for the model.", extra_json_schema={"type": "string"})
    ] = None
    strict: Annotated[
        Any,
        Meta(description="Whether the model must keep to the schema.", extra_json_schema={"type": "boolean"}),
    ] = None
    parameters: Annotated[
        Any,
        Meta(
            description="The schema of the arguments, an object schema in the subset of JSON Schema of the contract.",
            extra_json_schema={"$ref": "#/$defs/parameters"},
        ),
    ] = None


class ToolEntry(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    rename={"mutates": "x-mutates", "requires_confirmation": "x-requires-confirmation"},
):
    """One entry of the list that the file is: an OpenAI function tool with two keys of the pack's own.

    Loading asks for a unique `function.name` only. Whether the rest is legal, and whether `parameters` is a schema of
    the subset, is what check 3 reports, for every tool at once.
    """

    type: Annotated[Any, Meta(description="Always `function`.", extra_json_schema={"const": "function"})] = (
        "function"
    )
    function: Annotated[FunctionEntry, Meta(description="The tool as a model sees it.")]
    mutates: Annotated[bool, Meta(description="A successful call may change the state.")] = False
    requires_confirmation: Annotated[
        bool, Meta(description="Without the user's word the tool changes nothing and says that it waits.")
    ] = False


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """One tool of the catalog, as declared; whether `parameters` is a legal schema is check 3's question.

    Attributes:
        name: `function.name`.
        description: `function.description`; None also where it is no text.
        strict: `function.strict`; None also where it is no boolean.
        parameters: `function.parameters` as written; `{}` where there is none.
        mutates: `x-mutates`: a successful call may change the state.
        requires_confirmation: `x-requires-confirmation`: without the user's word nothing changes.
        index: its place in the file, from 0.
        declared: the whole entry as written.
    """

    name: str
    description: str | None = None
    strict: bool | None = None
    parameters: Any = None
    mutates: bool = False
    requires_confirmation: bool = False
    index: int = 0
    declared: Any = None


def read_tools(source: Source, problems: Problems) -> list[Tool]:
    """The tools of the catalog; those with mistakes are left out."""
    if not problems.root(source, list, "tools"):
        return []
    tools = []
    first: dict[str, int] = {}
    for index, entry in enumerate(source.value):
        if problems.is_full:
            break
        if not _is_named(source, index, entry, problems):
            continue
        function = entry["function"]
        name = function["name"]
        if name in first:
            problems.error(
                source,
                "duplicate_tool",
                f"the tool `{name}` is declared twice",
                (index, "function", "name"),
                expected="a name of its own for every tool",
                found=f"the same name in entry {first[name]}",
            )
        first.setdefault(name, index)
        read = problems.convert(source, (index,), ToolEntry)
        if read is not None:
            parameters = read.function.parameters
            tools.append(
                Tool(
                    name=name,
                    description=function.get("description")
                    if isinstance(function.get("description"), str)
                    else None,
                    strict=function.get("strict") if isinstance(function.get("strict"), bool) else None,
                    parameters={} if parameters is None else parameters,
                    mutates=read.mutates,
                    requires_confirmation=read.requires_confirmation,
                    index=index,
                    declared=entry,
                )
            )
    return tools


def _is_named(source: Source, index: int, entry: Any, problems: Problems) -> bool:
    """Whether an entry is an object with a function that has a name."""
    if not isinstance(entry, dict):
        found = describe(entry)
        problems.error(source, "tool_not_object", "the tool is no object", (index,), found=found)
        return False
    function = entry.get("function")
    if not isinstance(function, dict):
        found = describe(function) if "function" in entry else "no `function`"
        message = "the tool's `function` is no object"
        problems.error(source, "tool_function_not_object", message, (index, "function"), found=found)
        return False
    name = function.get("name")
    if not isinstance(name, str) or not name.strip():
        found = describe(name) if "name" in function else "no `name`"
        message = "the tool has no name"
        path = (index, "function", "name")
        problems.error(source, "tool_name_not_nonempty_string", message, path, expected="a text", found=found)
        return False
    return True
