"""Text of evidence as it may be shown on a terminal or written to a log."""

from __future__ import annotations

from averment.text.pii import redact

__all__ = ["printable"]


def printable(text: str, limit: int = 160) -> str:
    """Text from evidence, fit to be shown: redacted, control and direction characters escaped, then cut."""
    shown = "".join(
        char
        if char.isprintable()
        else f"\\u{ord(char):04x}"
        if ord(char) < 0x10000
        else f"\\U{ord(char):08x}"
        for char in redact(text)[: 4 * limit]
    )
    return shown if len(shown) <= limit else shown[: limit - 3] + "..."
