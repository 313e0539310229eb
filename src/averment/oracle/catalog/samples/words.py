"""A short text in which a pattern is found: the first way through it that needs the least."""

from __future__ import annotations

from typing import Final

from averment.text.patterns import PatternError, compile_pattern
from averment.text.patterns.tree import (
    Atomic,
    Chars,
    Choice,
    Condition,
    Edge,
    Look,
    Node,
    Reference,
    Repeat,
    Sequence,
)

__all__ = ["word_of"]

_MAX_LENGTH: Final = 1_000
_PREFERRED: Final = "aA1-_ ."
"""What to take for a character where there is a choice."""


def word_of(pattern: str, least: int = 0, most: int | None = None) -> str | None:
    """A text that a pattern is found in, at least and at most that long; None where none was found.

    Args:
        pattern: a regular expression.
        least: the shortest length.
        most: the longest; None is any.
    """
    try:
        compiled = compile_pattern(pattern)
    except PatternError:
        return None
    # Where a text must be long, what may be repeated is repeated; where that is no use, anything is put behind it.
    for repeats in (0, 1, least):
        word = _word(compiled.tree.root, min(repeats, _MAX_LENGTH))
        if word is None or len(word) > _MAX_LENGTH:
            continue
        for each in (word, word[:most], word.ljust(least, "a"), word.rjust(least, "a")):
            if least <= len(each) and (most is None or len(each) <= most) and compiled.test(each):
                return each
    return None


def _word(node: Node, repeats: int) -> str | None:
    """A text for a node; None where there is none that could be told without a search."""
    match node:
        case Chars():
            return _character(node)
        case Sequence(parts=parts):
            words = [_word(part, repeats) for part in parts]
            return None if None in words else "".join(word or "" for word in words)
        case Choice(options=options):
            return next((word for each in options if (word := _word(each, repeats)) is not None), None)
        case Repeat(body=body, low=low, high=high):
            word = _word(body, repeats)
            times = max(low, repeats if high is None else min(repeats, high))
            if word is None or len(word) * times > _MAX_LENGTH:
                return "" if low == 0 else None
            return word * times
        case Atomic(body=body):
            return _word(body, repeats)
        case Edge() | Look():
            return ""
        case Reference() | Condition():
            return None
    return None


def _character(node: Chars) -> str | None:
    pattern = compile_pattern(
        ("(?i)" if node.ignore_case else "") + ("(?a)" if node.ascii_only else "") + node.source
    )
    firsts = [chr(item[0]) for item in node.items if not isinstance(item, str)]
    candidates = (
        [*firsts[:1], *_PREFERRED, *firsts, "é", "0"] if not node.negated else [*_PREFERRED, "é", "0", "z"]
    )
    return next((each for each in candidates if pattern.test(each)), None)
