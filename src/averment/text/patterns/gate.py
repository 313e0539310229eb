"""All patterns of a document, searched in one pass over each text (interim)."""

from __future__ import annotations

from collections.abc import Sequence

from averment.text.patterns.pattern import Pattern

__all__ = ["PatternSet"]


class PatternSet:
    """All patterns of a document."""

    __slots__ = ("_patterns",)

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._patterns = tuple(patterns)

    def hits(self, texts: Sequence[str]) -> list[list[int]]:
        """Per pattern, the ascending indexes of the texts that match."""
        return [[i for i, text in enumerate(texts) if pattern.test(text)] for pattern in self._patterns]
