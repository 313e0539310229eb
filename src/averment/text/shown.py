"""Text of evidence as it may be shown on a terminal or written to a log."""

from __future__ import annotations

from functools import lru_cache

from averment.text.pii import redact

__all__ = ["printable", "visible"]

_LONG = 10_000


@lru_cache(maxsize=16)
def _redacted(text: str) -> str:
    """A long text without personal data: reports show the beginning of the same one again and again."""
    return redact(text)


def printable(text: str, limit: int = 160) -> str:
    """Text from evidence, fit to be shown: redacted, control and direction characters escaped, then cut."""
    clean = redact(text) if len(text) < _LONG else _redacted(text)
    shown = visible(clean[: 4 * limit])
    return shown if len(shown) <= limit else shown[: limit - 3] + "..."


def visible(text: str, *, keep: str = "") -> str:
    """The text with what can't be seen escaped: control and direction characters, but for those in `keep`.

    It redacts nothing: what stems from evidence is redacted before (`printable` does both).
    """
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char in keep else _escaped(char) for char in text)


def _escaped(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"
