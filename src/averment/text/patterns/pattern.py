"""A user's regular expression (interim: everything is searched by `re`; the tiers follow)."""

from __future__ import annotations

import functools
import re

__all__ = ["Pattern", "PatternError", "compile_pattern"]


class PatternError(ValueError):
    """A pattern can't be used."""

    def __init__(self, message: str, *, position: int | None = None, mend: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.position = position
        self.mend = mend


class Pattern:
    """A compiled pattern."""

    __slots__ = ("_re", "groups", "ignore_case", "source", "tier")

    def __init__(self, source: str, ignore_case: bool) -> None:
        self._re = re.compile(source, re.IGNORECASE if ignore_case else 0)
        self.source = source
        self.ignore_case = ignore_case
        self.tier = "tame"
        self.groups = dict(self._re.groupindex)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Pattern):
            return NotImplemented
        return (self.source, self.ignore_case) == (other.source, other.ignore_case)

    def __hash__(self) -> int:
        return hash((self.source, self.ignore_case))

    def search(self, text: str) -> tuple[int, int] | None:
        """The span that `re.search` finds, or None."""
        found = self._re.search(text)
        return found.span() if found else None

    def test(self, text: str) -> bool:
        """Whether `re.search` finds anything."""
        return self._re.search(text) is not None


@functools.lru_cache(maxsize=2048)
def compile_pattern(source: str, *, ignore_case: bool = False) -> Pattern:
    """A pattern, ready to search; raises PatternError."""
    try:
        return Pattern(source, ignore_case)
    except re.error as error:
        raise PatternError(str(error.msg), position=error.pos) from None
