"""JSON text (RFC 8259) to plain values with the place of every value.

The standard library's reader is faster but forgets places, keeps the last of two equal keys and accepts NaN; only
its string scanner, the part written in C, is used.
"""

from __future__ import annotations

import json.decoder
import re
from collections.abc import Callable
from typing import Any, NoReturn

from averment.text.reading import MAX_DOCUMENT_DEPTH, Reading, is_whole

__all__ = ["read_json"]

# C where the interpreter has it; its type is not published.
_scan_string: Callable[[str, int, bool], tuple[str, int]] = json.decoder.scanstring  # type: ignore[attr-defined]
_space = re.compile(r"[ \t\n\r]*").match
# A string without escapes and all that stands around it, the usual case, in one step.
_simple_key = re.compile(r'[ \t\n\r]*"([^"\\\x00-\x1f]*)"[ \t\n\r]*:[ \t\n\r]*').match
_simple_string = re.compile(r'"([^"\\\x00-\x1f]*)"[ \t\n\r]*').match
_number = re.compile(r"(-?(?:0|[1-9][0-9]*))((?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)").match
_word = re.compile(r"true|false|null|-?Infinity|NaN").match
_WORDS = {"true": True, "false": False, "null": None}


class _StoppedError(Exception):
    """Reading stopped, and why is noted; the argument is the index where the text stops being JSON, if it does."""


def read_json(reading: Reading) -> int | None:
    """Read the text of `reading` as JSON into it.

    Returns:
        The index where the text stops being JSON, or None. Mistakes that are not of syntax don't stop it.
    """
    try:
        reading.start = _skip(reading.text, 0)
        reading.value, end = _value(reading, reading.start, 0)
        if end < len(reading.text):
            _stop(reading, end, "something stands after the end of the document", "the end of the text")
    except _StoppedError as stopped:
        index: int | None = stopped.args[0]
        return index
    return None


def _stop(reading: Reading, index: int, message: str, expected: str) -> NoReturn:
    reading.mistake(
        index,
        "json_syntax",
        message,
        expected=expected,
        found=reading.excerpt(index),
        mend="Correct the JSON at this place.",
    )
    raise _StoppedError(index)


def _skip(text: str, index: int) -> int:
    found = _space(text, index)
    return found.end() if found else index


def _value(reading: Reading, index: int, depth: int) -> tuple[Any, int]:
    """The value that starts at `index`, and the index of what follows it after space."""
    text = reading.text
    found = _simple_string(text, index)
    if found:
        return found[1], found.end()
    first = text[index : index + 1]
    if first in ("{", "["):
        if depth == MAX_DOCUMENT_DEPTH:
            reading.too_deep(index)
            raise _StoppedError(None)
        return (
            _object(reading, index + 1, depth + 1) if first == "{" else _array(reading, index + 1, depth + 1)
        )
    if first == '"':
        string, end = _string(reading, index)
        return string, _skip(text, end)
    found = _number(text, index)
    if found:
        number = reading.real(index, found[0]) if found[2] else reading.integer(index, found[1])
        return number, _skip(text, found.end())
    found = _word(text, index)
    if found:
        if found[0] in _WORDS:
            return _WORDS[found[0]], _skip(text, found.end())
        reading.not_finite(index, found[0])
        return 0.0, _skip(text, found.end())
    _stop(reading, index, "a value is missing or not written as JSON", "a JSON value")


def _object(reading: Reading, index: int, depth: int) -> tuple[dict[str, Any], int]:
    text = reading.text
    container: dict[str, Any] = {}
    marks: dict[str, tuple[int, int]] = {}
    reading.marks[id(container)] = marks
    index = _skip(text, index)
    if text.startswith("}", index):
        return container, _skip(text, index + 1)
    while True:
        found = _simple_key(text, index)
        if found:
            key, key_start, start = found[1], found.start(1) - 1, found.end()
        else:
            key_start = _skip(text, index)
            key, start = _key(reading, key_start)
        value, index = _value(reading, start, depth)
        if key in container:
            reading.duplicate(key, marks[key][0], key_start)
        else:
            marks[key] = (key_start, start)
        container[key] = value
        following = text[index : index + 1]
        index += 1
        if following == "}":
            return container, _skip(text, index)
        if following != ",":
            _stop(reading, index - 1, "the object is not continued or closed here", "`,` or `}`")


def _array(reading: Reading, index: int, depth: int) -> tuple[list[Any], int]:
    text = reading.text
    container: list[Any] = []
    marks: list[int] = []
    reading.marks[id(container)] = marks
    index = _skip(text, index)
    if text.startswith("]", index):
        return container, _skip(text, index + 1)
    while True:
        marks.append(index)
        value, index = _value(reading, index, depth)
        container.append(value)
        following = text[index : index + 1]
        index += 1
        if following == "]":
            return container, _skip(text, index)
        if following != ",":
            _stop(reading, index - 1, "the array is not continued or closed here", "`,` or `]`")
        index = _skip(text, index)


def _key(reading: Reading, index: int) -> tuple[str, int]:
    """The key that starts at `index`, and the index of its value."""
    text = reading.text
    if not text.startswith('"', index):
        _stop(reading, index, "a key is missing or not in double quotes", "a key in double quotes")
    key, end = _string(reading, index)
    colon = _skip(text, end)
    if not text.startswith(":", colon):
        _stop(reading, colon, "a key has no value", "`:`")
    return key, _skip(text, colon + 1)


def _string(reading: Reading, index: int) -> tuple[str, int]:
    """The string whose opening quote stands at `index`, and the index after its closing quote."""
    text = reading.text
    try:
        string, end = _scan_string(text, index + 1, True)
    except json.JSONDecodeError as error:
        _stop(reading, error.pos, f"the string is not JSON: {error.msg}", "a JSON string")
    if not is_whole(string):
        reading.mistake(
            index,
            "invalid_character",
            "the string holds half of a surrogate pair, which is no character",
            expected="whole characters",
            mend="Write both halves, or delete the one.",
        )
    return string, end
