"""The problems of a pack while it is being loaded: all of them, errors and warnings, in the order of their places."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Literal, TypeVar

import msgspec

from averment.errors import PackError, Problem, nearest
from averment.oracle.model.codes import CODES
from averment.oracle.model.shapes import at_path, tidy
from averment.text.source import Source
from averment.text.structs import Mistake, describe

__all__ = ["MAX_PROBLEMS", "Problems", "near", "some"]

MAX_PROBLEMS = 1000
"""How many errors are kept, and how many warnings: more than anybody reads, and a bound for hostile packs."""

S = TypeVar("S", bound=msgspec.Struct)
Path = tuple[str | int, ...]
Severity = Literal["error", "warning"]


class Problems:
    """Collects problems; each gets the mend of its code unless it brings a better one."""

    def __init__(self, *, strict: bool = False) -> None:
        """Start with none.

        Args:
            strict: warnings are errors.
        """
        self._strict = strict
        self._found: list[Problem] = []
        self._left: dict[str, int] = {"error": MAX_PROBLEMS, "warning": MAX_PROBLEMS}

    def __bool__(self) -> bool:
        return any(problem.severity == "error" for problem in self._found)

    @property
    def is_full(self) -> bool:
        """Whether no further error is kept, so that looking for more is idle."""
        return self._left["error"] <= 0

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """The warnings, in the order of their places."""
        return tuple(problem for problem in self._in_order() if problem.severity == "warning")

    def raise_any(self) -> None:
        """Raise everything found, warnings last, if one is an error.

        Raises:
            PackError: with all of it.
        """
        if self:
            raise PackError(sorted(self._in_order(), key=lambda problem: problem.severity))

    def report(self, problem: Problem) -> None:
        """Take a problem that was found elsewhere."""
        changes: dict[str, Any] = {}
        if problem.mend is None and problem.code in CODES:
            changes["mend"] = CODES[problem.code].mend
        if self._strict and problem.severity == "warning":
            changes["severity"] = "error"
        problem = msgspec.structs.replace(problem, **changes) if changes else problem
        self._left[problem.severity] -= 1
        if self._left[problem.severity] >= 0:
            self._found.append(problem)

    def file(self, code: str, message: str, name: str | None = None, **more: Any) -> None:
        """A problem of a file as a whole, by its name inside the pack; `more` as for `Problem`."""
        self.report(Problem(code=code, message=message, file=name, **more))

    def error(self, source: Source, code: str, message: str, path: Path = (), **more: Any) -> None:
        """An error at a place of a document; `more` as for `Source.problem`."""
        self.report(source.problem(code, message, path, **more))

    def warning(self, source: Source, code: str, message: str, path: Path = (), **more: Any) -> None:
        """A warning at a place of a document."""
        self.report(source.problem(code, message, path, severity="warning", **more))

    def mistakes(self, source: Source, base: Path, mistakes: Sequence[Mistake], severity: Severity) -> None:
        """Mistakes of the value at `base`."""
        for mistake in mistakes:
            self.report(msgspec.structs.replace(mistake.at(source, base), severity=severity))

    def root(self, source: Source, kind: type[dict[str, Any] | list[Any]], holds: str) -> bool:
        """Whether the document is a mapping or a list, as it must be.

        Args:
            source: the document.
            kind: `dict` or `list`.
            holds: what it should hold, for the message: `tools`.
        """
        if isinstance(source.value, kind):
            return True
        expected = f"a {'list' if kind is list else 'mapping'} of {holds}"
        self.error(
            source,
            "wrong_root",
            "the file has the wrong type",
            expected=expected,
            found=describe(source.value),
        )
        return False

    def convert(
        self,
        source: Source,
        path: Path,
        cls: type[S],
        *,
        value: object = None,
        renamed: Mapping[str, str] | None = None,
    ) -> S | None:
        """The value at a path as a `cls`, or None after reporting why not.

        Args:
            source: the document.
            path: the place of the value.
            cls: the struct.
            value: what to convert instead of the value there; the paths in it must be the same.
            renamed: own codes for values that are not allowed, by key (see `tidy`).
        """
        tidied = tidy(at_path(source.value, path) if value is None else value, cls, renamed)
        self.mistakes(source, path, tidied.mistakes, "error")
        self.mistakes(source, path, tidied.oddities, "warning")
        return None if tidied.mistakes else tidied.struct

    def label(self, source: Source, path: Path, name: str) -> str | None:
        """A required scalar that is kept as text, `pack_id` or `version`; None after reporting what is wrong with it.

        Args:
            source: the document.
            path: the mapping that holds it.
            name: its key.
        """
        holder = at_path(source.value, path)
        value = holder.get(name)
        expected = "a text or a number"
        if name not in holder:
            self.error(
                source,
                "missing_field",
                f"the field `{name}` is missing",
                path,
                expected=f"`{name}`: {expected}",
            )
        elif isinstance(value, bool) or not isinstance(value, str | int | float):
            more = {"expected": expected, "found": describe(value)}
            self.error(source, "wrong_type", f"`{name}` has the wrong type", (*path, name), **more)
        elif not str(value).strip():
            self.error(
                source, "empty_value", f"`{name}` is blank", (*path, name), expected="a non-empty string"
            )
        else:
            if isinstance(value, float):
                message = f"`{name}` is a number and is read as `{value}`"
                self.warning(source, "unquoted_version", message, (*path, name))
            return str(value)
        return None

    def _in_order(self) -> list[Problem]:
        """By file, in the order in which files were first found at fault, then by place."""
        ranks: dict[str | None, int] = {}
        for problem in self._found:
            ranks.setdefault(problem.file, len(ranks))
        return sorted(self._found, key=lambda each: (ranks[each.file], each.line or 0, each.column or 0))


def near(name: str, known: Collection[str]) -> str | None:
    """The known name closest to one that a pack holds; None also among very many, where looking takes long."""
    return nearest(name, known) if len(known) <= MAX_PROBLEMS else None


def some(names: Collection[str]) -> str:
    """The first names of a pack's own, for a message."""
    shown = [name if len(name) <= 60 else name[:57] + "..." for name in list(names)[:10]]
    return f"one of {', '.join(shown)}" + (", ..." if len(names) > 10 else "")
