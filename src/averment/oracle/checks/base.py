"""What a check is: an id, a name, its reasons, and a function from the bench to failures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import msgspec

from averment.oracle.findings import Failure, Reason

if TYPE_CHECKING:
    from averment.oracle.checks.bench import Bench

__all__ = ["Check", "NotRunError"]


class NotRunError(Exception):
    """The check can't be run; the argument is a sentence that says why. Its row is `skipped`."""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """One check; its module's docstring is its page of the reference.

    Attributes:
        id: `1` to `7`, or a letter and a number.
        name: as the report has it.
        reasons: every code that it can give.
        run: finds the failures; raises `NotRunError` where it can't be run.
    """

    id: str
    name: str
    reasons: Mapping[str, Reason]
    run: Callable[[Bench], Iterable[Failure]]
