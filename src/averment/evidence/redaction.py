"""Marks that a source puts in place of what it took out: they are no values, and prove nothing about the value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["holds_redacted", "is_redacted", "redacted_at"]

_LONGEST_MARK = 80
_MARKS = frozenset({"redacted", "masked", "scrubbed", "filtered", "hidden", "content redacted", "removed"})


def is_redacted(value: Any) -> bool:
    """Whether a text is nothing but a mark that something was taken out: `[REDACTED]`, `<masked>`, `***`."""
    if type(value) is not str or len(value) > _LONGEST_MARK:
        return False
    text = value.strip()
    word = text.strip("[](){}<>*_ ")
    if word == text:  # nearly every text
        return word == "REDACTED"
    if not word:
        return text.count("*") >= 3 and not text.strip("*[](){}<> ")
    return word.casefold() in _MARKS


def holds_redacted(value: Any) -> bool:
    """Whether such a mark stands anywhere in a JSON value."""
    pending = [value]
    while pending:
        each = pending.pop()
        if type(each) is dict:
            pending += each.values()
        elif type(each) is list:
            pending += each
        elif type(each) is str and is_redacted(each):
            return True
    return False


def redacted_at(value: Any, path: Sequence[str | int]) -> bool:
    """Whether such a mark stands in a JSON value at a path, or in place of a part of it that the path leads through."""
    for step in path:
        if is_redacted(value):
            return True
        try:
            value = value[step]
        except (LookupError, TypeError):
            return False
    return is_redacted(value)
