"""A tool as the model sees it: without the pack's own keys (contract, 1.4)."""

from __future__ import annotations

from typing import Any

__all__ = ["projected"]

_SHOWN = ("name", "description", "parameters", "strict")


def projected(tool: dict[str, Any]) -> dict[str, Any]:
    """The model-facing part of a catalog entry: `type`, and of `function` name, description, parameters and strict.

    Args:
        tool: an entry that `definition_failures` finds nothing wrong with.
    """
    function = tool["function"]
    return {"type": "function", "function": {key: function[key] for key in _SHOWN if key in function}}
