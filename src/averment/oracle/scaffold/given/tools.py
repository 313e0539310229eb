"""What is read from a list of tools, whatever its format."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from averment.errors import Problem
from averment.oracle.scaffold.subset.changes import Change

__all__ = ["MAX_TOOLS", "Given", "GivenTool"]

MAX_TOOLS: Final = 1_000
"""How many tools a file may have; more than any agent is given."""


class GivenTool(msgspec.Struct, frozen=True, kw_only=True):
    """One tool.

    Attributes:
        name: under which the agent calls it.
        description: what it is for, in the words of its author.
        parameters: their schema, in the subset.
        strict: as given.
        mutates: whether it changes anything; None: the file doesn't say.
        guessed: why `mutates` is only likely.
        destructive: the file says that what it does can't be taken back.
        requires_confirmation: whether it waits for the user's word.
    """

    name: str
    description: str | None = None
    parameters: dict[str, Any] = {}
    strict: bool | None = None
    mutates: bool | None = None
    guessed: str | None = None
    destructive: bool = False
    requires_confirmation: bool = False


class Given(msgspec.Struct, kw_only=True):
    """What a file has.

    Attributes:
        kind: the format, with its article.
        tools: in the order of the file.
        changes: what was changed in their schemas.
        remarks: what else was left out or renamed, one sentence each.
        problems: what makes the file unusable.
    """

    kind: str
    tools: list[GivenTool] = []
    changes: list[Change] = []
    remarks: list[str] = []
    problems: list[Problem] = []
