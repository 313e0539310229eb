"""The oracle: what the tools do.

Results follow from the fixtures, the arguments and `ctx` alone: what time it is says `ctx.clock`, and chance comes from
`ctx.seed`. A refusal is a result with an `error`; whatever is raised means that the oracle is broken.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

LOCATIONS = ("desk", "shelf")

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


def _get_record(arguments: Mapping[str, Any], ctx: Any) -> dict[str, Any]:
    record_id = arguments.get("record_id")
    if not isinstance(record_id, str):
        return _refusal("invalid_argument", field="record_id")
    row = _find(record_id)
    return copy.deepcopy(row) if row else _refusal("not_found", entity="record", id=record_id)


def _update_record(arguments: Mapping[str, Any], ctx: Any) -> dict[str, Any]:
    record_id, location = arguments.get("record_id"), arguments.get("location")
    confirm = arguments.get("confirm", False)
    if not isinstance(record_id, str):
        return _refusal("invalid_argument", field="record_id")
    if location not in LOCATIONS:
        return _refusal("invalid_argument", field="location")
    if not isinstance(confirm, bool):
        return _refusal("invalid_argument", field="confirm")
    row = _find(record_id)
    if row is None:
        return _refusal("not_found", entity="record", id=record_id)
    if not confirm:
        return {"status": "awaiting_confirmation", "record_id": record_id, "location": location}
    row.update(location=location, moves=row["moves"] + 1, moved_at=ctx.clock.isoformat())
    return copy.deepcopy(row)


def _find(record_id: str) -> dict[str, Any] | None:
    return next((row for row in _state.get("records", []) if row["record_id"] == record_id), None)


def _refusal(code: str, **about: Any) -> dict[str, Any]:
    return {"error": {"code": code, **about}}


_TOOLS = {"get_record": _get_record, "update_record": _update_record}
