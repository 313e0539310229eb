"""Text of evidence as it may be shown on a terminal or written to a log."""

from __future__ import annotations

import json
import re
from functools import lru_cache

from averment.text.pii import redact

__all__ = ["brief", "inert", "inert_json", "printable", "visible"]

_COMMAND = re.compile(r"(?:^|(?<=\r))((?:\s|\x1b\[[\d;]*m)*)(?=::)|(?<=##)(?=\[)", re.MULTILINE)

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


def brief(text: str, limit: int = 160) -> str:
    """Text that an author wrote, such as an id: visible, and cut; redacted it is not."""
    shown = visible(text[: limit + 1])
    return shown if len(shown) <= limit else shown[: limit - 3] + "..."


def inert(text: str) -> str:
    """The text with a backslash in whatever a runner of GitHub Actions would take for a command of the step.

    It reads all that a step prints: `::name::` is a command at the beginning of a line, after white space and colours
    too, and `##[name]` wherever it stands (actions/runner, `ActionCommand`).
    """
    return _COMMAND.sub(lambda found: f"{found[1] or ''}\\", text)


def inert_json(data: bytes) -> bytes:
    """JSON as it may be printed: the same values, with escapes for what a terminal or a runner would obey.

    JSON itself asks for escapes of the first 32 characters only; not of those that turn text around, of terminal
    controls beyond ASCII, nor of what GitHub's runner looks for (`inert`).
    """
    if b"##[" in data:  # nothing but a string of JSON can hold that
        data = data.replace(b"##[", rb"##\u005b")
    if data.isascii() and b"\x7f" not in data:
        return data
    text = data.decode()
    if text.replace("\n", "").isprintable():
        return data
    return "".join(
        char if char.isprintable() or char == "\n" else json.dumps(char)[1:-1] for char in text
    ).encode()


def _escaped(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"
