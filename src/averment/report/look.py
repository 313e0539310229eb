"""How text looks at a terminal: colours, and lines that end where the terminal does.

What is no terminal gets neither, unless colours are asked for: logs keep their long lines, which programs find things in.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

__all__ = ["PLAIN", "Look", "cells", "fitted"]

_CODES = {"PASS": "32", "FAIL": "31;1", "INCONCLUSIVE": "33", "dim": "2", "bold": "1"}
_WIDEST = 120


class Look(msgspec.Struct, frozen=True):
    """What is asked of text for people.

    Attributes:
        color: whether to use ANSI colours.
        width: the terminal's width in cells; None where there is no terminal.
    """

    color: bool = False
    width: int | None = None

    def paint(self, style: str, text: str) -> str:
        """The text in the colour of a verdict, `dim` or `bold`."""
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.color and text else text

    def lines(self, text: str, *, indent: int = 0, style: str | None = None) -> Iterator[str]:
        """One line of text, as the lines that it fills; those after the first are indented by two more."""
        room = None if self.width is None else max(min(self.width, _WIDEST) - indent, 20)
        for number, line in enumerate([text] if room is None else fitted(text, room)):
            lead = " " * (indent + 2 * bool(number))
            yield lead + (self.paint(style, line) if style else line)


PLAIN = Look()
"""Neither colours nor a width."""


def cells(text: str) -> int:
    """How many cells of a terminal a text takes: wide characters of East Asia and emoji two, combining ones none."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(char) else 1 + (east_asian_width(char) in "WF") for char in text)


def fitted(text: str, room: int) -> Iterator[str]:
    """The text in lines of at most `room` cells, two fewer after the first; words that are longer stay whole."""
    words = iter(text.split(" "))
    line = next(words)
    taken = cells(line)
    for word in words:
        size = cells(word)
        if taken + 1 + size <= room:
            line, taken = f"{line} {word}", taken + 1 + size
            continue
        yield line
        line, taken = word, size + 2
    yield line
