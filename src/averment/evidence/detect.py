"""Which reader fits these bytes, and why: decided by what they hold, never by the name of a file.

A wrong guess here would become a wrong verdict with good grounds. So the readers' rules are strict and must not
overlap: where none fits, or two do, the input is refused with the list of what can be read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from averment.errors import EvidenceError, Problem, nearest
from averment.evidence.draft import Draft, Part, kind_of, refusal
from averment.evidence.readers import conversation, evidence_json, state_sqlite, transcript, voice_trace
from averment.text import jsontext

__all__ = [
    "FORMATS",
    "Decoded",
    "Detected",
    "Format",
    "Odd",
    "decode",
    "detect",
    "matches",
    "refuse_document",
]


class Format(msgspec.Struct, frozen=True):
    """A format that a conversation can come in.

    Attributes:
        name: its name, as `Source.format` has it.
        title: what it is, for people.
        fits: why a decoded value is of this format, or None.
        read: the reader.
        module: where the reader stands.
        whole: whether it holds a whole conversation, so that a list of such values is several conversations.
    """

    name: str
    title: str
    fits: Callable[[Any], str | None]
    read: Callable[[Part, Draft], None]
    module: str
    whole: bool


class Detected(msgspec.Struct, frozen=True):
    """The format of a value, and the reason for thinking so; `several` when the value is a list of conversations."""

    format: Format
    why: str
    several: bool = False


Odd = tuple[int | None, jsontext.Decoded]
"""A text in which something is to be noted, and its line in a JSONL file."""


class Decoded(msgspec.Struct, frozen=True):
    """JSON text as a value, for JSONL as a list.

    Attributes:
        value: the value.
        nesting: an upper bound of how deep it nests.
        odd: texts in which something is to be noted, each with its line in a JSONL file.
        lines: the 1-based line of each item of the list that JSONL is.
    """

    value: Any
    nesting: int
    odd: list[Odd]
    lines: list[int] | None = None


FORMATS = tuple(
    Format(name, module.TITLE, module.fits, module.read, module.__name__, whole)
    for name, module, whole in (
        ("conversation", conversation, True),
        ("evidence", evidence_json, True),
        ("transcript", transcript, False),
        ("voice_trace", voice_trace, False),
    )
)


def decode(data: bytes, name: str | None) -> Decoded:
    """The JSON or JSONL value that bytes hold.

    Raises:
        EvidenceError: naming every line, or the place, that can't be read.
    """
    if data.startswith(state_sqlite.HEADER):
        message = "this is a SQLite database, which can only be a state"
        raise EvidenceError(
            Problem(code="swapped_arguments", message=message, file=name, mend="Pass it as the state.")
        )
    for magic, what in _UNREADABLE.items():
        if data.startswith(magic):
            raise EvidenceError(
                Problem(
                    code="unsupported_format",
                    message=f"this is {what}",
                    file=name,
                    found=what,
                    mend="Unpack it first.",
                )
            )
    if not data.strip():
        raise EvidenceError(
            Problem(
                code="empty_input", message="there is nothing to read", file=name, expected="JSON or JSONL"
            )
        )
    try:
        text = jsontext.decode(data)
        return Decoded(text.value, text.nesting, _odd(None, text))
    except jsontext.JSONProblem as problem:
        lines = _json_lines(data, name)
        if lines is not None:
            return lines
        if re.search(rb"^assertions[ \t]*:", data, re.MULTILINE):
            raise EvidenceError(_document(name)) from None
        raise EvidenceError(_json_problem(problem, name, problem.line)) from None


_CONVERT = "Check the file; what is no JSON in UTF-8 must be converted to a conversation record first."
_UNREADABLE = {b"\x1f\x8b": "gzip-compressed", b"PK\x03\x04": "a zip archive"}


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
        else:
            values.append(text.value)
            lines.append(number)
            odd += _odd(number, text)
            nesting = max(nesting, text.nesting)
    if problems:
        raise refusal(problems)
    return Decoded(values, nesting + 1, odd, lines) if len(values) > 1 else None


def _odd(line: int | None, text: jsontext.Decoded) -> list[Odd]:
    return [(line, text)] if text.duplicates or text.non_finite else []


def _json_problem(problem: jsontext.JSONProblem, name: str | None, line: int | None) -> Problem:
    return Problem(
        code=problem.code,
        message=problem.message,
        file=name,
        line=line,
        column=problem.column,
        expected="JSON or JSONL",
        mend=_CONVERT if problem.code in {"json_syntax", "invalid_encoding"} else None,
    )


_KEYS_TRIED = 20
"""Of an object that nothing fits, as many keys are compared with those of a conversation record."""


def matches(value: Any) -> list[Detected]:
    """Every format that a value fits."""
    found = [Detected(form, why) for form in FORMATS if (why := form.fits(value)) is not None]
    if not found and isinstance(value, list) and value:
        found = [
            Detected(form, f"in its first item {why}", several=True)
            for form in FORMATS
            if form.whole and (why := form.fits(value[0])) is not None
        ]
    return found


def detect(value: Any, name: str | None) -> Detected:
    """The one format that a value fits.

    Raises:
        EvidenceError: no format fits, several do, or the value is an assertion document.
    """
    refuse_document(value, name)
    found = matches(value)
    if len(found) == 1:
        return found[0]
    readable = "; ".join(form.title for form in FORMATS)
    if found:
        names = ", ".join(f"{detected.format.name} ({detected.why})" for detected in found)
        raise EvidenceError(
            Problem(code="ambiguous_format", message=f"this fits more than one format: {names}", file=name)
        )
    if value == []:
        message, mend = (
            "an empty list can be a transcript or a trace",
            "Say which: pass it as the transcript or as the trace.",
        )
        raise EvidenceError(Problem(code="ambiguous_format", message=message, file=name, mend=mend))
    keys = [str(key) for key in value] if isinstance(value, dict) else []
    near = [known for key in keys[:_KEYS_TRIED] if (known := nearest(key, conversation.KEYS))]
    raise EvidenceError(
        Problem(
            code="unsupported_format",
            nearest=near[0] if near else None,
            message="no reader fits this: it is malformed, or in a format that this version doesn't read",
            file=name,
            expected=readable,
            found=kind_of(value),
            mend="Give a conversation record at least one of its keys, or convert the file to one.",
        )
    )


def refuse_document(value: Any, name: str | None) -> None:
    """Tell an assertion document that stands where evidence should.

    Raises:
        EvidenceError: with code `swapped_arguments`.
    """
    if isinstance(value, dict) and "version" in value and "assertions" in value:
        raise EvidenceError(_document(name))


def _document(name: str | None) -> Problem:
    return Problem(
        code="swapped_arguments",
        message="this is an assertion document, not a conversation",
        file=name,
        mend="Give the document first, then the conversation.",
    )
