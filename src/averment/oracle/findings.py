"""What checks report: rows, and in each the failures with their reason, their place and their mend."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

__all__ = ["Failure", "Reason", "Row"]


class Reason(msgspec.Struct, frozen=True):
    """What a reason code means: a sentence, and the next step for the author of a pack."""

    about: str
    mend: str


class Failure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One reason why a check failed.

    Attributes:
        reason: the code, lower snake case, one of its check's `reasons`.
        message: one sentence without a full stop: what was expected, what was found.
        file: the file's name inside the pack.
        line: 1-based line.
        column: 1-based column in code points.
        path: the place inside the file, `$[2].expect.error_code`.
        mend: the next step; that of the reason where it says nothing better.
        facts: what programs read: `template_id`, `case`, `tool`, ...; JSON values. Written beside the reason.
        output: the end of what the pack's code printed during the step in question.
        traceback: where the pack's code raised, with paths inside the pack.
    """

    reason: str
    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    path: str | None = None
    mend: str | None = None
    facts: dict[str, Any] = {}
    output: str | None = None
    traceback: str | None = None


class Row(msgspec.Struct, frozen=True):
    """What one check came to; a skipped row has one failure, `not_run`, that says why."""

    id: str
    name: str
    status: Literal["pass", "fail", "skipped"]
    failures: tuple[Failure, ...] = ()
