"""What can go wrong, as one tree, and the one shape in which a mistake is reported.

    AvermentError (ValueError)     carries every problem found, not the first
    ├── DocumentError              an assertion document, or a policy it names, has mistakes
    ├── EvidenceError              evidence can't be read: unsupported, malformed or over a limit
    ├── PackError                  an oracle pack, or the options to run it with, can't be loaded or made tasks of
    └── UsageError                 the call or command itself makes no sense

A problem says what was expected, what was found, where, and what to do next. Evidence is never quoted in one:
its text can hold anything, so problems about evidence name types and places only.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

__all__ = [
    "AvermentError",
    "DocumentError",
    "EvidenceError",
    "ExitCode",
    "PackError",
    "Problem",
    "UsageError",
    "nearest",
    "path_text",
]

Path = tuple[str | int, ...]


class ExitCode(enum.IntEnum):
    """Exit codes, the same for every command."""

    YES = 0
    """The gate said yes."""
    NO = 1
    """The gate said no, and nothing else."""
    NO_VERDICT = 2
    """Refusal, usage, bad input, nothing to evaluate; an error code stands on standard error."""
    INTERNAL = 3
    """An internal error, whatever else happened."""


class Problem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One mistake, with its place and its mend.

    Attributes:
        code: lower snake case, stable: what programs match on.
        message: one sentence without a full stop.
        file: the file's name as the user gave it, or None for objects and text.
        line: 1-based line, or None where there is no text.
        column: 1-based column in characters (code points), not bytes.
        path: the place inside the document, `$.assertions[3].args.amount`.
        expected: what would have been right.
        found: what stands there.
        nearest: the known name closest to the one found.
        mend: the next step, an imperative sentence.
        severity: a `warning` is reported and never fails a command.
    """

    code: str
    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    path: str | None = None
    expected: str | None = None
    found: str | None = None
    nearest: str | None = None
    mend: str | None = None
    severity: Literal["error", "warning"] = "error"

    def render(self) -> str:
        """The problem for a person: a line that editors can jump to, then what was expected and the mend.

        What can't be seen is escaped: a file may say anything, and must not command the terminal that names it.
        """
        # Names are told in one line, whatever they hold; what is expected and found may have several.
        file = None if self.file is None else _seen(self.file)
        place = ":".join(str(part) for part in (file, self.line, self.column) if part is not None)
        lines = [f"{place + ': ' if place else ''}{self.severity}[{self.code}]: {self.message}"]
        if self.path is not None:
            lines.append(f"    at {_seen(self.path)}")
        if self.expected is not None:
            lines.append(f"    expected {self.expected}")
        if self.found is not None:
            lines.append(f"    found {self.found}")
        if self.nearest is not None:
            lines.append(f"    did you mean `{_seen(self.nearest)}`?")
        if self.mend is not None:
            lines.append(f"    {self.mend}")
        return "\n".join(_seen(line, keep="\n\t") for line in lines)


class AvermentError(ValueError):
    """The base of all refusals; `problems` holds every mistake found, in the order of their places."""

    def __init__(self, problems: Problem | Iterable[Problem]) -> None:
        self.problems: tuple[Problem, ...] = (problems,) if isinstance(problems, Problem) else tuple(problems)
        super().__init__(self.problems)

    def __str__(self) -> str:
        return "\n".join(problem.render() for problem in self.problems)


class DocumentError(AvermentError):
    """An assertion document, or a policy that it names, has mistakes; nothing was evaluated."""


class EvidenceError(AvermentError):
    """Evidence can't be read; nothing was evaluated."""


class PackError(AvermentError):
    """An oracle pack, or a file of run options, can't be loaded, or no tasks can be made of it; none of its code was run."""


class UsageError(AvermentError):
    """The call or the command makes no sense as it stands."""


def _seen(text: str, *, keep: str = "") -> str:
    """The text with all that can't be seen escaped, but for the characters in `keep`."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in keep else ascii(char)[1:-1] for char in text)


def path_text(path: Sequence[str | int]) -> str:
    """A path as people read it: `$.assertions[3]["odd key"]`."""
    parts = ["$"]
    for step in path:
        if isinstance(step, int):
            parts.append(f"[{step}]")
        elif step.isidentifier() or step.startswith("$"):
            parts.append(f".{step}")
        else:
            escaped = step.replace("\\", "\\\\").replace('"', '\\"')
            parts.append(f'["{escaped}"]')
    return "".join(parts)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that `name` most likely misspells, or None when nothing is close."""
    import difflib

    names = sorted(known)
    longer = [other for other in names if len(name) > 2 and other.startswith(f"{name}_")]
    if longer:
        return min(longer, key=len)
    similar_in_length = [other for other in names if abs(len(other) - len(name)) <= 3]
    matches = difflib.get_close_matches(name, similar_in_length, n=1, cutoff=0.6)
    return matches[0] if matches else None
