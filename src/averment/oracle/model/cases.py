"""`validation_cases.yaml`: probes, direct calls of the oracle with what must come of them."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["Case"]


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One probe.

    Attributes:
        id: unique in the file.
        tool: the tool called.
        arguments: the arguments; malformed ones are legal for a negative probe.
        reset_before: false continues the chain of the case before it.
        expect: `result_class`, `error_code`, `state_unchanged`, and fields of the result by name.
        coverage: `negative`: it counts as negative whatever the result looks like.
        notes: for people.
        index: its place in the file, from 0.
    """

    id: str
    tool: str
    arguments: Any = msgspec.field(default_factory=dict)
    reset_before: bool = True
    expect: dict[str, Any] = msgspec.field(default_factory=dict)
    coverage: str | None = None
    notes: Any = None
    index: int = 0
