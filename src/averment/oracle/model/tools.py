"""`tools.json`: the catalog, OpenAI-style function tools with the pack's own `x-` keys."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["Tool"]


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """One tool of the catalog, as declared; whether `parameters` is a legal schema is check 3's question.

    Attributes:
        name: `function.name`.
        description: `function.description`.
        strict: `function.strict`.
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
