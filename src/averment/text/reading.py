"""One text while it is being read: its lines, where its values start, and the mistakes found so far.

The YAML and the JSON reader fill the same record, so that everything after them (positions, problems) is written
once. A place is kept as one integer, an index in code points; lines and columns are made only when asked for.
"""

from __future__ import annotations

import codecs
import math
import re
from bisect import bisect_right
from typing import Any, NamedTuple

import msgspec

__all__ = [
    "MAX_DOCUMENT_DEPTH",
    "MAX_NUMBER_DIGITS",
    "Mistake",
    "NotTextError",
    "Position",
    "Reading",
    "decode_text",
    "is_readable",
    "is_whole",
]

MAX_DOCUMENT_DEPTH = 64
"""How many mappings and lists may stand inside each other."""

MAX_NUMBER_DIGITS = 4300
"""Digits of the longest integer: Python's own default bound, because reading more takes quadratic time."""

_MAX_MISTAKES = 1000

# UTF-32 before UTF-16: its little-endian mark starts with the one of UTF-16.
_ENCODINGS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

# Lines as editors count them. YAML 1.1 also breaks lines at NEL, LS and PS; a column would then name another place.
_line_breaks = re.compile(r"\r\n|\r|\n").finditer


def is_whole(text: str) -> bool:
    """Whether the text is characters throughout: a half of a surrogate pair can't be written anywhere."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            return False
    return True


def is_readable(number: int) -> bool:
    """Whether the integer, written out, is one that may be read."""
    return number.bit_length() <= 64 or abs(number) < 10**MAX_NUMBER_DIGITS


def _quote(text: str) -> str:
    return f"`{text}`" if len(text) < 24 else f"`{text[:20]}…`"


class Position(NamedTuple):
    """A place in a text; both numbers start at 1 and count code points."""

    line: int
    column: int


class Mistake(msgspec.Struct, frozen=True):
    """A problem before it knows its line and column."""

    at: int
    code: str
    message: str
    expected: str | None
    found: str | None
    mend: str | None


class NotTextError(ValueError):
    """Bytes that are not text in their encoding; `offset` counts bytes from 0."""

    def __init__(self, encoding: str, offset: int, place: Position) -> None:
        self.encoding = encoding.upper()
        self.offset = offset
        self.place = place
        self.message = f"byte {offset} is not {self.encoding}"
        super().__init__(self.message)


def decode_text(data: bytes) -> tuple[str, str, int]:
    """Decode UTF-8, or what a byte order mark says; the text, the encoding, and how many bytes the mark takes."""
    mark, encoding = next((row for row in _ENCODINGS if data.startswith(row[0])), (b"", "utf-8"))
    content = data[len(mark) :] if mark else data
    try:
        return content.decode(encoding), encoding, len(mark)
    except UnicodeDecodeError as error:
        before = content[: error.start].decode(encoding)
        place = Reading(before).place(len(before))
        raise NotTextError(encoding, len(mark) + error.start, place) from None


class Reading:
    """A text and what a reader has made of it.

    Attributes:
        text: the text, without a byte order mark.
        value: the value at the top: dict, list, str, int, float, bool or None.
        start: the index where that value starts.
        marks: for each container, by its id: for a list the start of every item, for a mapping the start of
            every key and of its value.
        mistakes: what is wrong, in the order found.
    """

    __slots__ = ("_lines", "marks", "mistakes", "start", "text", "value")

    def __init__(self, text: str) -> None:
        self.text = text
        self.value: Any = None
        self.start = 0
        self.marks: dict[int, list[int] | dict[str, tuple[int, int]]] = {}
        self.mistakes: list[Mistake] = []
        self._lines: list[int] | None = None

    def place(self, index: int) -> Position:
        """The line and column of the character at `index`."""
        if self._lines is None:
            self._lines = [0, *(found.end() for found in _line_breaks(self.text))]
        line = bisect_right(self._lines, index)
        return Position(line, index - self._lines[line - 1] + 1)

    def say(self, index: int) -> str:
        """The place of `index` in words, for a message that names a second place."""
        place = self.place(index)
        return f"line {place.line}, column {place.column}"

    def excerpt(self, index: int) -> str:
        """What stands at `index`, short enough for a message."""
        if index >= len(self.text):
            return "the end of the text"
        rest = self.text[index : index + 40].splitlines()[0]
        if not rest.strip():
            return "a tab" if rest.startswith("\t") else "a space" if rest else "the end of the line"
        return _quote(rest)

    def mistake(
        self,
        index: int,
        code: str,
        message: str,
        *,
        expected: str | None = None,
        found: str | None = None,
        mend: str | None = None,
    ) -> None:
        """Note what is wrong at `index`; beyond a number that people read, nothing more is noted."""
        if len(self.mistakes) < _MAX_MISTAKES:
            self.mistakes.append(Mistake(index, code, message, expected, found, mend))

    def duplicate(self, key: str, first: int, second: int) -> None:
        """Note that a key stands twice in one mapping; `first` and `second` are where."""
        self.mistake(
            second,
            "duplicate_key",
            f"the key `{key}` stands twice in one mapping",
            expected="every key once",
            found=f"the same key at {self.say(first)}",
            mend="Remove or rename one of the two.",
        )

    def too_deep(self, index: int) -> None:
        """Note that containers stand too deep inside each other."""
        self.mistake(
            index,
            "document_too_deep",
            "mappings and lists stand too deep inside each other",
            expected=f"at most {MAX_DOCUMENT_DEPTH} levels",
            mend="Flatten the document.",
        )

    def not_finite(self, index: int, written: str) -> None:
        """Note a NaN or an infinity."""
        self.mistake(
            index,
            "number_not_finite",
            f"`{written}` is not a number that can be compared",
            expected="a finite number",
            found=f"`{written}`",
            mend="Write a finite number, or put the text in quotes.",
        )

    def integer(self, index: int, written: str, base: int = 10) -> int:
        """The integer that is written at `index`, or a mistake and 0."""
        digits = len(written.lstrip("+-"))
        if digits <= MAX_NUMBER_DIGITS:
            try:
                number = int(written, base)
                if is_readable(number):
                    return number
            except ValueError:  # Python can be configured to read fewer digits
                pass
        self._too_large(index, f"{digits} digits", f"at most {MAX_NUMBER_DIGITS} digits")
        return 0

    def real(self, index: int, written: str) -> float:
        """The float that is written at `index`, or a mistake and 0.0."""
        number = float(written)
        if math.isfinite(number):
            return number
        self._too_large(index, _quote(written), "a number below 1.8e308 in size")
        return 0.0

    def _too_large(self, index: int, found: str, expected: str) -> None:
        self.mistake(
            index,
            "number_too_large",
            "the number is too large to be read exactly",
            expected=expected,
            found=found,
            mend="Write a smaller number, or put the digits in quotes.",
        )
