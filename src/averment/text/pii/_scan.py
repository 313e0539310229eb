"""The detectors by name, and the two things done with them: tell where personal data stands, and remove it.

`find` answers the question of an assertion and looks for what was asked. `redact` guards what is printed and
removes whatever any detector knows: a document that asks for social security numbers must not print a card.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from averment.text.pii import card, email, phone, ssn
from averment.text.pii._ranges import Detector, merge

__all__ = ["DETECTORS", "MARKER", "Clean", "Hit", "find", "redact", "suspects"]

DETECTORS: Mapping[str, Detector] = MappingProxyType(
    {"ssn": ssn.find, "card_luhn": card.find, "email": email.find, "phone": phone.find}
)
"""Every detector under the name that documents use."""

MARKER = "[REDACTED]"
"""What stands in the place of personal data. No detector finds anything in it, or across it."""

_DIGIT = re.compile(r"\d")
_HARMLESS = bytes(byte for byte in range(128) if byte not in b"@0123456789")
_HARMLESS_BESIDES_NULL = _HARMLESS[1:]
_TEXTS_AT_ONCE = 256
_FEWEST_DIGITS = 9
"""A social security number has nine digits, a telephone number ten, a card at least thirteen."""


class Hit(msgspec.Struct, frozen=True):
    """One occurrence of personal data, without its text.

    Attributes:
        detector: a name in `DETECTORS`.
        start: offset of its first character, in code points.
        end: offset behind its last character.
    """

    detector: str
    start: int
    end: int


class Clean(dict[str, Any]):
    """Values without personal data: counts, and what a document says, redacted once for all where results repeat it."""


def find(text: str, detectors: Sequence[str]) -> list[Hit]:
    """Personal data in `text`: in the order of `detectors`, each from left to right.

    Hits of two detectors may overlap, and a detector that is named twice counts twice (assert.v1, kind `pii`).

    Raises:
        KeyError: a name is not in `DETECTORS`.
    """
    chosen = [(name, DETECTORS[name]) for name in detectors]
    if not suspicious(text):
        return []
    return [Hit(name, start, end) for name, detect in chosen for start, end in detect(text)]


def redact(text: str) -> str:
    """`text` with a marker for whatever any detector finds; the same object when nothing is found.

    Ranges that overlap or touch share one marker. Nothing is found in the result, so redacting twice changes
    nothing.
    """
    # One pass is not enough: a removed number can free the address it was glued to ("a@b.com4111..."). Numbers free
    # no numbers, since none of them touches a digit, and so the passes are few.
    while suspicious(text) and (
        ranges := merge(found for detect in DETECTORS.values() for found in detect(text))
    ):
        pieces: list[str] = []
        kept = 0
        for start, end in ranges:
            pieces += (text[kept:start], MARKER)
            kept = end
        text = "".join((*pieces, text[kept:]))
    return text


def suspects(texts: Sequence[str]) -> list[int]:
    """The indexes of the texts in which a detector may find something, ascending."""
    return [
        start + index
        for start in range(0, len(texts), _TEXTS_AT_ONCE)
        for index in _suspects(texts[start : start + _TEXTS_AT_ONCE])
    ]


def _suspects(texts: Sequence[str]) -> Iterable[int]:
    kept = (
        "\0".join(texts).encode("utf-8", "surrogatepass").translate(None, _HARMLESS_BESIDES_NULL).split(b"\0")
    )
    if len(kept) != len(texts):  # one of them holds a null itself
        kept = [b"@"] * len(texts)
    for index, found in enumerate(kept):
        if found and (len(found) >= _FEWEST_DIGITS or b"@" in found) and suspicious(texts[index]):
            yield index


def suspicious(text: str) -> bool:
    """Whether the text holds what every hit holds, an at sign or nine digits: most text does not."""
    if len(text) < _FEWEST_DIGITS:
        return "@" in text
    # Deleting bytes is the fastest way to find some of them.
    kept = text.encode("utf-8", "surrogatepass").translate(None, _HARMLESS)
    if len(kept) < _FEWEST_DIGITS:
        return b"@" in kept
    return b"@" in kept or text.isascii() or len(_DIGIT.findall(text)) >= _FEWEST_DIGITS
