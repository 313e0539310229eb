"""Whether a text states a value: as a token of its own, and not inside a longer number or word.

What may stand beside the value depends on the character at its edge: beside a digit no digit, beside a letter or an
underscore no letter, digit or underscore, beside anything else whatever there is. So `4` is not stated by `400`, and
`us` not by `status`, but `200000` is by `200000đ`. A number written with groups of three digits is stated as well:
`500.000`, `500,000` and `500 000` state `500000`. Upper and lower case differ.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

__all__ = ["Surface", "names_tool"]

_GROUPED: Final = re.compile(r"(?<!\d)\d{1,3}(?:[.,\u00a0\u202f ]\d{3})+(?!\d)")
_NO_DIGIT: Final = re.compile(r"\D")


class Surface:
    """A text that is searched for several values."""

    def __init__(self, text: str) -> None:
        """Keep the text."""
        self._text = text
        self._numbers: frozenset[str] | None = None

    def states(self, value: str) -> bool:
        """Whether the value stands in the text as one of its own; an empty value never does."""
        if not value:
            return False
        if value in self._text and any(
            _is_apart(self._text, value, place) for place in _places(self._text, value)
        ):
            return True
        return value.isdigit() and value in self._grouped()

    def _grouped(self) -> frozenset[str]:
        """The numbers that are written with groups, without what stands between the groups."""
        if self._numbers is None:
            self._numbers = frozenset(_NO_DIGIT.sub("", found) for found in _GROUPED.findall(self._text))
        return self._numbers


def names_tool(text: str, name: str) -> bool:
    """Whether the name stands in the text as a word; the case of both must have been made the same."""
    return name in text and any(
        not (place and _is_word(text[place - 1]))
        and not (place + len(name) < len(text) and _is_word(text[place + len(name)]))
        for place in _places(text, name)
    )


def _places(text: str, part: str) -> Iterator[int]:
    """Where the part starts, overlaps included."""
    place = text.find(part)
    while place >= 0:
        yield place
        place = text.find(part, place + 1)


def _is_apart(text: str, value: str, place: int) -> bool:
    end = place + len(value)
    return not (place and _joins(value[0], text[place - 1])) and not (
        end < len(text) and _joins(value[-1], text[end])
    )


def _joins(edge: str, beside: str) -> bool:
    """Whether a character beside the edge of a value makes it part of something longer."""
    if edge.isdigit():
        return beside.isdecimal()
    return (edge.isalpha() or edge == "_") and _is_word(beside)


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"
