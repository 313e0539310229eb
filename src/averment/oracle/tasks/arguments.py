"""What the arguments of a call take from slots, told from the template and the catalog alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from averment.oracle.model.templates import Milestone
from averment.oracle.model.tools import Tool
from averment.oracle.tasks.dependencies import is_marker
from averment.oracle.tasks.placeholders import placeholders

__all__ = ["argument_texts", "required_parameters", "slots_read"]

_Path = tuple[str | int, ...]


def required_parameters(tool: Tool) -> list[str]:
    """The parameters that a call needs: an argument that is not given is filled from the slot of its name."""
    required = tool.parameters.get("required") if isinstance(tool.parameters, dict) else None
    return [name for name in required if isinstance(name, str)] if isinstance(required, list) else []


def argument_texts(value: Any, path: _Path = ()) -> Iterator[tuple[_Path, str]]:
    """The strings of an argument tree in which placeholders count, with their paths; markers have none."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict) and not is_marker(value):
        for key, item in value.items():
            yield from argument_texts(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from argument_texts(item, (*path, index))


def slots_read(call: Milestone, tool: Tool | None, slots: Collection[str]) -> set[str]:
    """The slots whose values the arguments of a call are made of."""
    named = {name for _, text in argument_texts(call.args) for _, name in placeholders(text)}
    filled = {name for name in required_parameters(tool) if name not in call.args} if tool else set()
    return {name for name in slots if name in named or name in filled}
