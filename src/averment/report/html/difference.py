"""Expected against found, with the parts of both that differ."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

import msgspec

from averment.report.html.texts import short

__all__ = ["Difference", "Part", "differences", "parts"]

_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_MOST = 50
_LONGEST = 400
_ALIKE = 0.4
"""From this share of common tokens on, marking parts tells more than marking all."""


class Part(msgspec.Struct, frozen=True):
    """A piece of a value, and whether it differs from the other side."""

    text: str
    differs: bool


class Difference(msgspec.Struct, frozen=True):
    """One place where a value is not as expected."""

    path: str
    expected: Sequence[Part]
    found: Sequence[Part]


def differences(mismatches: object) -> list[Difference] | None:
    """Mismatches of a result, `{path, expected, found}` each, as the page shows them; None when they are no such."""
    if not isinstance(mismatches, Sequence) or isinstance(mismatches, str) or not mismatches:
        return None
    found = []
    for mismatch in mismatches[:_MOST]:
        if not isinstance(mismatch, Mapping) or not {"expected", "found"} <= mismatch.keys():
            return None
        expected, actual = _text(mismatch["expected"]), _text(mismatch["found"])
        found.append(Difference(_text(mismatch.get("path", "")), *parts(expected, actual)))
    return found


def parts(expected: str, found: str) -> tuple[list[Part], list[Part]]:
    """Both texts in pieces; what is alike is marked only where it is a fair share of them."""
    left, right = _TOKEN.findall(expected), _TOKEN.findall(found)
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    words = sum(
        block.size
        for block in matcher.get_matching_blocks()
        if any(map(str.isalnum, left[block.a : block.a + block.size]))
    )
    if not words or matcher.ratio() < _ALIKE:
        return _whole(expected), _whole(found)
    codes = matcher.get_opcodes()
    return (
        list(_joined((tag != "equal", "".join(left[start:end])) for tag, start, end, _, _ in codes)),
        list(_joined((tag != "equal", "".join(right[start:end])) for tag, _, _, start, end in codes)),
    )


def _whole(text: str) -> list[Part]:
    return [Part(text, differs=True)] if text else []


def _joined(pieces: Iterator[tuple[bool, str]]) -> Iterator[Part]:
    for differs, text in pieces:
        if text:
            yield Part(text, differs)


def _text(value: Any) -> str:
    return short(value, _LONGEST)
