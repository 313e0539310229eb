"""What is wrong with a pattern, as a mistake of the document that holds it."""

from __future__ import annotations

from collections.abc import Iterator

from averment.text.patterns.pattern import PatternError, compile_pattern
from averment.text.structs import Mistake

__all__ = ["pattern_mistakes"]


def pattern_mistakes(
    source: str, path: tuple[str | int, ...], *, ignore_case: bool = False
) -> Iterator[Mistake]:
    """The mistake that the pattern at `path` is, if it can't be searched; placed to the character."""
    try:
        compile_pattern(source, ignore_case=ignore_case)
    except PatternError as error:
        yield Mistake("bad_pattern", error.message, path, offset=error.position, mend=error.mend)
