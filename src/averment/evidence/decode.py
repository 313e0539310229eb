"""From bytes to values: JSON, JSON Lines, YAML, plain text and protobuf, also inside gzip and zip.

Nothing here looks at the name of a file, and nothing is written anywhere: archives are read in memory, and what they
hold is bounded before it is unpacked.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable
from typing import Any

import msgspec

from averment.errors import EvidenceError, Problem
from averment.evidence.draft import MAX_PROBLEMS
from averment.evidence.readers import state_sqlite
from averment.text import jsontext
from averment.text.reading import NotTextError, decode_text

__all__ = ["Decoded", "Odd", "decode", "document_problem", "unpacked"]

Odd = tuple[int | None, jsontext.Decoded]
"""A text in which something is to be noted, and its line in a JSONL file."""

# Patterns are compiled when they are needed: JSON, which most evidence is, needs none.
_SUBTITLES = (
    rb"(?:\xef\xbb\xbf)?\s{0,64}(?:WEBVTT(?=[ \t\r\n]|\Z)"
    rb"|\d{1,10}[ \t]*\r?\n\d\d:\d\d:\d\d[,.]\d{3}[ \t]*-->"
    rb"|\d:\d\d:\d\d\.\d{3},\d:\d\d:\d\d\.\d{3}[ \t]*\r?\n)"
)
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)  # UTF-32 LE begins as UTF-16 LE does
_EXPECTED = "JSON or JSON Lines, WebVTT, SRT or SBV subtitles, or a YAML cassette"
_MEND = "Check the file at that place, or see `averment evidence formats` for what is read."


class Decoded(msgspec.Struct, frozen=True):
    """JSON text as a value, for JSONL as a list.

    Attributes:
        value: the value; a string for plain text.
        nesting: an upper bound of how deep it nests.
        odd: texts in which something is to be noted, each with its line in a JSONL file.
        lines: the 1-based line of each item of the list that JSONL is.
    """

    value: Any
    nesting: int
    odd: list[Odd]
    lines: list[int] | None = None


def unpacked(data: bytes, name: str | None) -> list[tuple[str | None, bytes]]:
    """The files that bytes hold, with the name to show for each: themselves, or what a gzip or zip file holds.

    Raises:
        EvidenceError: an archive is damaged, encrypted, too large or inside another one.
    """
    if data.startswith(b"\x1f\x8b"):
        from averment.evidence.archives import gunzipped

        return [(name, gunzipped(data, name))]
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        from averment.evidence.archives import unzipped

        return unzipped(data, name)
    return [(name, data)]


def decode(data: bytes, name: str | None) -> Decoded:
    """The JSON, JSONL, YAML or text value that bytes hold.

    Raises:
        EvidenceError: naming every line, or the place, that can't be read.
    """
    if data.startswith(state_sqlite.HEADER):
        message = "this is a SQLite database, which can only be a state"
        raise EvidenceError(
            Problem(code="swapped_arguments", message=message, file=name, mend="Pass it as the state.")
        )
    if not data.strip():
        raise EvidenceError(
            Problem(code="empty_input", message="there is nothing to read", file=name, expected=_EXPECTED)
        )
    try:
        text = jsontext.decode(data)
        return Decoded(text.value, text.nesting, _odd(None, text))
    except jsontext.JSONProblem as problem:
        lined = _by_lines(data)
        if re.match(_SUBTITLES, lined):  # before JSON Lines: the numbers of cues are JSON
            return _text(data, name)
        lines = _json_lines(lined, name)
        if lines is not None:
            return lines
        for is_meant, read in _OTHERS:
            if is_meant(lined):
                return read(data, name)
        if re.search(rb"^assertions[ \t]*:", lined, re.MULTILINE):
            raise EvidenceError(document_problem(name)) from None
        raise EvidenceError(_json_problem(problem, name, problem.line)) from None


def _by_lines(data: bytes) -> bytes:
    """The bytes, in UTF-8 when a mark says that they are UTF-16 or UTF-32, in which a line end is no single byte."""
    if not data.startswith(_WIDE):
        return data
    try:
        return decode_text(data)[0].encode()
    except NotTextError:
        return data


def document_problem(name: str | None) -> Problem:
    """What to say of an assertion document that stands where evidence should."""
    return Problem(
        code="swapped_arguments",
        message="this is an assertion document, not a conversation",
        file=name,
        mend="Give the document first, then the conversation.",
    )


def _text(data: bytes, name: str | None) -> Decoded:
    """Plain text; in another encoding than UTF-8 or one with a byte order mark, its words would be a guess."""
    try:
        text, _, _ = decode_text(data)
    except NotTextError as problem:
        line, column = problem.place
        raise EvidenceError(
            Problem(
                code="invalid_encoding",
                message=problem.message,
                file=name,
                line=line,
                column=column,
                expected="text in UTF-8, or in UTF-16 with a byte order mark",
                mend="Convert it first, as with `iconv -f GB18030 -t UTF-8`.",
            )
        ) from None
    return Decoded(text, 0, [])


def _yaml(data: bytes, name: str | None) -> Decoded:
    from averment.evidence.cassettes import read_yaml

    value, nesting = read_yaml(data, name)
    return Decoded(value, nesting, [])


def _protobuf(data: bytes, name: str | None) -> Decoded:
    from averment.evidence.protobuf import read_protobuf

    value, nesting = read_protobuf(data, name)
    return Decoded(value, nesting, [])


def _looks_like_cassette(data: bytes) -> bool:
    return re.search(rb"^(?:http_)?interactions[ \t]*:", data, re.MULTILINE) is not None


def _looks_like_protobuf(data: bytes) -> bool:
    """Whether this is binary and begins with field 1 of an OTLP message, a length-delimited one."""
    return data[:1] == b"\x0a" and re.search(rb"[\x00-\x08\x0e-\x1f]", data[:512]) is not None


_OTHERS: tuple[tuple[Callable[[bytes], Any], Callable[[bytes, str | None], Decoded]], ...] = (
    (_looks_like_cassette, _yaml),
    (_looks_like_protobuf, _protobuf),
)
"""What else is no JSON, and how it is told."""


def _json_lines(data: bytes, name: str | None) -> Decoded | None:
    """The values of JSON lines, or None when the text isn't JSONL: a first line that is no value by itself."""
    values: list[Any] = []
    lines: list[int] = []
    odd: list[Odd] = []
    problems: list[Problem] = []
    nesting = 0
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line or line.isspace():
            continue
        try:
            text = jsontext.decode(line)
        except jsontext.JSONProblem as problem:
            if not values:
                return None
            problems.append(_json_problem(problem, name, number))
            if len(problems) == MAX_PROBLEMS:
                break
        else:
            values.append(text.value)
            lines.append(number)
            odd += _odd(number, text)
            nesting = max(nesting, text.nesting)
    if not values or (not isinstance(values[0], (dict, list)) and (problems or len(values) == 1)):
        return None  # nothing, or text whose first line happens to be a number
    if len(problems) == MAX_PROBLEMS:
        message = f"nothing behind line {problems[-1].line:,} was read"
        problems.append(Problem(code="more_problems", message=message, file=name))
    if problems:
        raise EvidenceError(problems)
    return Decoded(values, nesting + 1, odd, lines) if len(values) > 1 else None


def _odd(line: int | None, text: jsontext.Decoded) -> list[Odd]:
    return [(line, text)] if text.duplicates or text.non_finite else []


def _json_problem(problem: jsontext.JSONProblem, name: str | None, line: int | None) -> Problem:
    at = ""
    if problem.code == "json_truncated" and problem.offset is not None:
        at = f", after byte {problem.offset:,}"
    return Problem(
        code=problem.code,
        message=problem.message + at,
        file=name,
        line=line,
        column=problem.column,
        expected=_EXPECTED,
        mend=_MEND if problem.code in {"json_syntax", "invalid_encoding"} else None,
    )
