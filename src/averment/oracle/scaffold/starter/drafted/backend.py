"""The oracle: what the tools do.

Results follow from the fixtures, the arguments and `ctx` alone: what time it is says `ctx.clock`, and chance comes from
`ctx.seed`. A refusal is a result with an `error`; whatever is raised means that the oracle is broken.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

_state: dict[str, Any] = {}


def list_tools() -> list[str]:
    """The tools that are implemented here; tools.json declares the same."""
    return list(_TOOLS)


def reset(*, ctx: Any, fixtures: Mapping[str, Any] | None = None) -> None:
    """Start again from the fixtures."""
    _state.clear()
    _state.update(copy.deepcopy(dict(fixtures or {})))


def call_tool(name: str, arguments: Mapping[str, Any], *, ctx: Any) -> dict[str, Any]:
    """Call a tool."""
    tool = _TOOLS.get(name)
    return tool(arguments, ctx) if tool else _refusal("unknown_tool", id=name)


def get_state() -> dict[str, Any]:
    """All that the tools can change; a copy, so that nobody else can."""
    return copy.deepcopy(_state)


def _refusal(code: str, **about: Any) -> dict[str, Any]:
    return {"error": {"code": code, **about}}


# __STUBS__


_TOOLS: dict[str, Callable[[Mapping[str, Any], Any], dict[str, Any]]] = {
    # __TOOLS__
}
