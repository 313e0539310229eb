"""What the rules of lint share: noting a warning at its place in a file of the pack."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

import msgspec

from averment.errors import Problem
from averment.oracle.lint.codes import CODES
from averment.oracle.model.pack import Pack
from averment.text.structs import Mistake

__all__ = ["Found", "Rule", "problem_of"]


class Found(msgspec.Struct, frozen=True):
    """A warning before it has a line: the role of its file, and the mistake with its path in that file."""

    role: str
    mistake: Mistake


Rule: TypeAlias = Callable[[Pack], Iterable[Found]]
"""One rule of lint."""


def problem_of(pack: Pack, found: Found) -> Problem:
    """The warning, with its place and a mend."""
    mistake = found.mistake
    mend = mistake.mend or CODES[mistake.code].mend
    source = pack.sources.get(found.role)
    if source is None:
        return Problem(
            code=mistake.code,
            message=mistake.message,
            file=pack.files.get(found.role, found.role),
            mend=mend,
            severity="warning",
        )
    problem = mistake.at(source, ())
    return msgspec.structs.replace(problem, file=pack.files[found.role], mend=mend, severity="warning")
