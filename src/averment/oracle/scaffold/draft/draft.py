"""A pack from a list of tools: everything that follows from the list, and stubs for what doesn't."""

from __future__ import annotations

from typing import Any

import msgspec

from averment.errors import Problem, UsageError
from averment.oracle.scaffold.draft.calls import Call, calls
from averment.oracle.scaffold.draft.code import assertions, backend
from averment.oracle.scaffold.draft.lacking import Lack, lacking, section
from averment.oracle.scaffold.draft.tasks import cases, templates
from averment.oracle.scaffold.draft.texts import yaml_text
from averment.oracle.scaffold.given.tools import Given
from averment.oracle.scaffold.identity import Identity
from averment.oracle.scaffold.layers import laid
from averment.text.jsontext import pretty
from averment.text.source import MAX_DOCUMENT_BYTES, read_source

__all__ = ["Draft", "draft"]

_HEADS = {
    "task_templates.yaml": "# Conversations with slots for their values: each becomes as many tasks as its slots have values.\n\n",
    "validation_cases.yaml": "# Direct calls of the oracle, and what must come of them.\n\n",
}


class Draft(msgspec.Struct, frozen=True):
    """A drafted pack: the text of each file by its name, and what it lacks."""

    texts: dict[str, str]
    lacks: list[Lack]


def draft(given: Given, identity: Identity) -> Draft:
    """Drafts a pack.

    Args:
        given: the tools.
        identity: what the pack is called, and of what kind it is.

    Raises:
        UsageError: a file of the pack would be larger than any that is loaded.
        DocumentError: a schema would stand deeper in it than any that is loaded.
    """
    drafted = calls(given.tools)
    lacks = lacking(identity, given, drafted)
    texts = laid("drafted", identity, {"TOOLS_FROM": given.kind})
    texts["tools.json"] = pretty([_entry(call) for call in drafted]).decode()
    texts["fixtures.json"] = "{}\n"
    texts["task_templates.yaml"] = _listed("task_templates.yaml", templates(drafted, identity.language))
    texts["validation_cases.yaml"] = _listed("validation_cases.yaml", cases(drafted))
    texts["assertions.py"] = assertions(texts["assertions.py"], drafted)
    if identity.transport == "python":
        texts["backend.py"] = backend(texts["backend.py"], drafted)
    texts["README.md"] += section(lacks, given)
    too_large = [name for name, text in texts.items() if len(text.encode()) > MAX_DOCUMENT_BYTES]
    if too_large:
        raise UsageError(
            Problem(
                code="tools_too_large",
                message=f"the tools are too large: {', '.join(sorted(too_large))} could not be loaded again",
                expected=f"at most {MAX_DOCUMENT_BYTES // 2**20} MB",
                mend="Keep the tools that the pack is about.",
            )
        )
    read_source(
        texts["tools.json"], name="tools.json"
    )  # schemas stand a level deeper than they may have stood
    return Draft(dict(sorted(texts.items())), lacks)


def _listed(name: str, items: list[dict[str, Any]]) -> str:
    return _HEADS[name] + "\n".join(yaml_text([item]) for item in items)


def _entry(call: Call) -> dict[str, Any]:
    tool = call.tool
    function: dict[str, Any] = {"name": tool.name}
    if tool.description is not None:
        function["description"] = tool.description
    if tool.strict is not None:
        function["strict"] = tool.strict
    entry: dict[str, Any] = {"type": "function", "function": {**function, "parameters": tool.parameters}}
    if tool.mutates or call.waits:
        entry["x-mutates"] = True
    if call.waits or tool.requires_confirmation:
        entry["x-requires-confirmation"] = True
    return entry
