"""From a character of a value back to the character of the text that it came from.

A scalar's value and its text differ by quotes, escapes, folded lines and indentation. Readers keep only where a
scalar starts; when a problem points inside one (a wrong group in a pattern, an unknown name in a formula), text and
value are walked side by side here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["offsets"]

_BLANK = " \t\r\n"
_line_break = re.compile(r"\r\n|\r|\n")
_HEX_ESCAPES = {"x": 4, "u": 6, "U": 10}


def offsets(text: str, start: int, value: str) -> list[int]:
    """Where each character of a scalar stands in the text.

    Args:
        text: the whole text, JSON or YAML.
        start: the index where the scalar starts: its quote, its `|` or `>`, or its first character.
        value: what the scalar was read as.

    Returns:
        One index for each character of `value`, and one more for the place after the last. A space or line end
        that stands for a line break of the text has the index of that break.
    """
    style = text[start : start + 1]
    if style in ("|", ">"):
        return _block(text, start, value)
    if style in ("'", '"'):
        return _flow(text, start + 1, value, style)
    return _flow(text, start, value, "")


def _flow(text: str, index: int, value: str, quote: str) -> list[int]:
    """Plain and quoted scalars: lines are folded, and double quotes hold escapes."""
    at: list[int] = []
    while len(at) < len(value):
        character = text[index]
        if character in _BLANK:
            index = _fold(text, index, at)
        elif character == "\\" and quote == '"':
            index = _unescape(text, index, value[len(at)], at)
        else:
            at.append(index)
            index += 2 if quote == "'" and character == "'" else 1
    at.append(index)
    return at


def _fold(text: str, index: int, at: list[int]) -> int:
    """Blank characters: themselves within a line; one break is a space, further breaks are line ends."""
    end = index
    while text[end : end + 1] and text[end] in _BLANK:
        end += 1
    breaks = [found.start() for found in _line_break.finditer(text, index, end)]
    at.extend(breaks[1:] or breaks or range(index, end))
    return end


def _unescape(text: str, index: int, character: str, at: list[int]) -> int:
    """An escape, which stands for one character, or for none when it hides a line break."""
    letter = text[index + 1]
    if letter in "\r\n":
        end = index + 1
        while text[end : end + 1] and text[end] in _BLANK:
            end += 1
        at.extend([found.start() for found in _line_break.finditer(text, index + 1, end)][1:])
        return end
    at.append(index)
    index += _HEX_ESCAPES.get(letter, 2)
    if character > "\uffff" and letter == "u":  # JSON writes characters beyond the first plane as two escapes
        index += 6
    return index


def _block(text: str, start: int, value: str) -> list[int]:
    """Literal and folded scalars: content stands line by line, after the indentation."""
    if not value or value.isspace():  # which of the spaces are indentation can't be told, nor matters
        return [start] * (len(value) + 1)
    at: list[int] = []
    written = len(value.rstrip("\n"))
    indent = _indent(text, start, value)
    breaks: list[int] = []  # the line breaks since the last content
    for begin, end in _lines(text, start):
        content = begin + indent
        if content < end and len(at) < written:
            _unfold(value, breaks, at)
            at.extend(range(content, min(end, content + written - len(at))))
            breaks = []
        breaks.append(end)
        if len(at) == written and len(breaks) >= len(value) - written:
            break
    at.extend(breaks[: len(value) - written])
    at.append(at[-1] + 1)
    return at


def _unfold(value: str, breaks: list[int], at: list[int]) -> None:
    """Line breaks before a line of content: kept, folded to one fewer, or a space when there is only one."""
    kept = len(at)
    while value.startswith("\n", kept):
        kept += 1
    kept -= len(at)
    if breaks and not kept and at:
        kept = 1
    at.extend(breaks[len(breaks) - kept :])


def _lines(text: str, start: int) -> Iterator[tuple[int, int]]:
    """The lines after the header of a block scalar, without their breaks."""
    begin = None
    for found in _line_break.finditer(text, start):
        if begin is not None:
            yield begin, found.start()
        begin = found.end()
    if begin is not None:
        yield begin, len(text)


def _indent(text: str, start: int, value: str) -> int:
    """The indentation of a block scalar: what its first written line has more of than the value's."""
    written = value.lstrip(" \n")
    before = value[: len(value) - len(written)]
    inside = len(before) - before.rfind("\n") - 1
    lines = (text[begin:end] for begin, end in _lines(text, start))
    line = next(line for line in lines if line.strip(" "))
    return len(line) - len(line.lstrip(" ")) - inside
