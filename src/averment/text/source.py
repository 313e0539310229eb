"""Document text to plain values, and back from every value to its place in the text.

Assertion documents and policies come through here: YAML 1.2 or JSON, from files and standard input, or Python
objects. What comes out is plain (dict, list, str, int, float, bool, None); a mistake found later, anywhere, can still
name its line and column, to the character inside a string.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

from averment.errors import DocumentError, Problem, path_text
from averment.text.reading import (
    MAX_DOCUMENT_DEPTH,
    MAX_NUMBER_DIGITS,
    NotTextError,
    Position,
    Reading,
    decode_text,
    is_readable,
    is_whole,
)

__all__ = [
    "MAX_DOCUMENT_BYTES",
    "MAX_DOCUMENT_DEPTH",
    "Position",
    "Source",
    "read_source",
    "source_of",
]

MAX_DOCUMENT_BYTES = 10 * 2**20
"""The longest document, in bytes of UTF-8."""

_MAX_VALUES = MAX_DOCUMENT_BYTES // 2  # each takes two characters of JSON at least

_Path = tuple[str | int, ...]


class Source:
    """A document's value and where each part of it stands.

    Attributes:
        value: dict, list, str, int, float, bool or None, and nothing else at any depth.
        name: the file's name as the user gave it, or None.
    """

    __slots__ = ("_reading", "name", "value")

    def __init__(self, value: Any, name: str | None, reading: Reading | None = None) -> None:
        self.value = value
        self.name = name
        self._reading = reading

    def position(self, path: Sequence[str | int]) -> Position | None:
        """Where the value at `path` starts, or its longest existing prefix; None without a text."""
        return self._reading.place(self._find(self._reading, path)[2]) if self._reading else None

    def key_position(self, path: Sequence[str | int]) -> Position | None:
        """Where the key that `path` ends in starts; for an item of a list, the item."""
        return self._reading.place(self._find(self._reading, path)[1]) if self._reading else None

    def position_in(self, path: Sequence[str | int], offset: int) -> Position | None:
        """Where character `offset` of the string at `path` stands; `len` of the string is the place after it."""
        if self._reading is None:
            return None
        value, _, start = self._find(self._reading, path)
        if not isinstance(value, str):
            return self._reading.place(start)
        from averment.text.offsets import offsets  # only mistakes inside a string ask for it

        places = offsets(self._reading.text, start, value)
        return self._reading.place(places[max(0, min(offset, len(value)))])

    def problem(
        self,
        code: str,
        message: str,
        path: Sequence[str | int] = (),
        *,
        key: bool = False,
        offset: int | None = None,
        expected: str | None = None,
        found: str | None = None,
        nearest: str | None = None,
        mend: str | None = None,
        severity: Literal["error", "warning"] = "error",
    ) -> Problem:
        """A problem at a place of this document.

        Args:
            code: the problem's stable code.
            message: one sentence without a full stop.
            path: the value that is meant; a missing one is shown at its longest existing prefix.
            key: point at the key instead of its value.
            offset: point at this character of the string at `path`.
            expected: what would have been right.
            found: what stands there.
            nearest: the known name closest to the one found.
            mend: the next step, an imperative sentence.
            severity: `error` or `warning`.
        """
        if offset is not None:
            place = self.position_in(path, offset)
        else:
            place = self.key_position(path) if key else self.position(path)
        return Problem(
            code=code,
            message=message,
            file=self.name,
            line=place.line if place else None,
            column=place.column if place else None,
            path=path_text(path) if path else None,
            expected=expected,
            found=found,
            nearest=nearest,
            mend=mend,
            severity=severity,
        )

    def _find(self, reading: Reading, path: Sequence[str | int]) -> tuple[Any, int, int]:
        """The value at the longest existing prefix of `path`, and where its key and the value start."""
        value, key_start, start = self.value, reading.start, reading.start
        for step in path:
            marks: Any = reading.marks.get(id(value))
            if type(value) is dict and step in value:
                key_start, start = marks[step]
                value = value[step]
            elif type(value) is list and type(step) is int and 0 <= step < len(value):
                key_start = start = marks[step]
                value = value[step]
            else:
                break
        return value, key_start, start


def read_source(text: str | bytes, *, name: str | None = None) -> Source:
    """Read a document from YAML 1.2 or JSON.

    Args:
        text: the document; bytes are UTF-8, or UTF-16 or UTF-32 with a byte order mark.
        name: the file's name as the user gave it, for problems.

    Raises:
        DocumentError: with every mistake that can be found, in the order of their places.
    """
    reading = _read(_decode(text, name))
    if reading.mistakes:
        raise DocumentError(
            Problem(
                code=mistake.code,
                message=mistake.message,
                file=name,
                line=reading.place(mistake.at).line,
                column=reading.place(mistake.at).column,
                expected=mistake.expected,
                found=mistake.found,
                mend=mistake.mend,
            )
            for mistake in sorted(reading.mistakes, key=lambda mistake: mistake.at)
        )
    return Source(reading.value, name, reading)


def source_of(value: object, *, name: str | None = None) -> Source:
    """Take a document from Python objects; it has no positions.

    The value is copied, so that later changes to it don't reach the document. Tuples become lists.

    Args:
        value: mappings with string keys, lists, tuples, strings, finite numbers, booleans and None.
        name: what to call the document in problems.

    Raises:
        DocumentError: with every part that JSON couldn't hold.
    """
    copying = _Copying(name)
    copied = copying.copy(value)
    if copying.problems:
        raise DocumentError(copying.problems)
    return Source(copied, name)


def _decode(text: str | bytes, name: str | None) -> str:
    """The text itself: decoded, without a byte order mark, within the size limit."""
    if len(text) > MAX_DOCUMENT_BYTES or (
        isinstance(text, str)
        and not text.isascii()
        and len(text.encode("utf-8", "surrogatepass")) > MAX_DOCUMENT_BYTES
    ):
        raise DocumentError(
            Problem(
                code="document_too_large",
                message="the document is too large",
                file=name,
                expected=f"at most {MAX_DOCUMENT_BYTES // 2**20} MB",
                mend="Split it into several documents.",
            )
        )
    if isinstance(text, str):
        return text.removeprefix("\ufeff")
    try:
        return decode_text(text)[0]
    except NotTextError as problem:
        raise DocumentError(
            Problem(
                code="invalid_encoding",
                message=problem.message,
                file=name,
                line=problem.place.line,
                column=problem.place.column,
                expected=f"text in {problem.encoding}",
                found=f"the byte 0x{text[problem.offset]:02X}",
                mend="Save the file as UTF-8.",
            )
        ) from None


def _read(text: str) -> Reading:
    """Read JSON when it looks like JSON and is, else YAML, of which JSON with comments and the like is a part."""
    as_json = Reading(text)
    not_json: int | None = 0
    if text.lstrip(" \t\r\n").startswith(("{", "[")):
        from averment.text.jsonread import read_json

        not_json = read_json(as_json)
    if not_json is None:
        return as_json
    from averment.text.yamlread import read_yaml

    as_yaml = Reading(text)
    not_yaml = read_yaml(as_yaml)
    # Where neither reads the text: JSON that came past its first brackets was meant as JSON, unless YAML, which reads
    # past a missing comma, came further by a line.
    if not_yaml is not None and text[:not_json].strip(" \t\r\n{["):
        return as_yaml if as_yaml.place(not_yaml).line > as_json.place(not_json).line else as_json
    return as_yaml


class _Copying:
    """Copies Python objects into plain values and notes every part that is none."""

    def __init__(self, name: str | None) -> None:
        self.problems: list[Problem] = []
        self._name = name
        self._values = 0
        self._around: set[int] = set()  # the containers that are being copied, to find cycles

    def copy(self, value: object, path: _Path = ()) -> Any:
        """The plain value of `value`; None where it has none."""
        self._values += 1
        if self._values >= _MAX_VALUES:
            if self._values == _MAX_VALUES:
                self._refuse(
                    "document_too_large", "the document is too large", path, f"under {_MAX_VALUES} values"
                )
            return None
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            return self._text(value, path)
        if isinstance(value, int):
            if not is_readable(value):
                self._refuse(
                    "number_too_large", "the integer is too large", path, f"{MAX_NUMBER_DIGITS} digits"
                )
            return int.__int__(value)
        if isinstance(value, float):
            if not math.isfinite(value):
                self._refuse(
                    "number_not_finite", "NaN and infinities can't be compared", path, "a finite number"
                )
            return float.__float__(value)
        if isinstance(value, dict | list | tuple):
            return self._container(value, path)
        return self._refuse("not_json_like", "JSON can't hold this value", path, "what JSON can hold", value)

    def _container(self, value: dict[Any, Any] | list[Any] | tuple[Any, ...], path: _Path) -> Any:
        if id(value) in self._around:
            return self._refuse("not_json_like", "the value holds itself", path, "no cycles", value)
        if len(path) == MAX_DOCUMENT_DEPTH:
            levels = f"at most {MAX_DOCUMENT_DEPTH} levels"
            return self._refuse("document_too_deep", "mappings and lists stand too deep", path, levels)
        self._around.add(id(value))
        copied: dict[str, Any] | list[Any]
        if isinstance(value, dict):
            copied = {}
            for key, part in value.items():
                if isinstance(key, str):
                    name = self._text(key, path)
                    copied[name] = self.copy(part, (*path, name))
                else:
                    self._refuse("not_json_like", "a key is not a string", path, "keys that are strings", key)
        else:
            copied = [self.copy(part, (*path, index)) for index, part in enumerate(value)]
        self._around.discard(id(value))
        return copied

    def _text(self, text: str, path: _Path) -> str:
        if not is_whole(text):
            self._refuse(
                "invalid_character", "a string holds half of a surrogate pair", path, "whole characters"
            )
        return str.__str__(text)  # a plain string also of an enumeration's member

    def _refuse(self, code: str, message: str, path: _Path, expected: str, found: object = None) -> None:
        self.problems.append(
            Problem(
                code=code,
                message=message,
                file=self._name,
                path=path_text(path),
                expected=expected,
                found=f"`{type(found).__name__}`" if found is not None else None,
                mend="Pass only mappings with string keys, lists, strings, finite numbers, booleans and None.",
            )
        )
