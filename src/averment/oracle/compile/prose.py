"""Text of specs: characters in it that can't be seen, and the one line that it becomes in a comment."""

from __future__ import annotations

from typing import Final

__all__ = ["MAX_COMMENT", "hidden_character", "one_line"]

MAX_COMMENT: Final = 240
"""Characters of a rationale in the code; the rest stays in the spec."""

_HIDDEN = (
    *((0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5)),
    *((0x180B, 0x180F), (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x2800, 0x2800)),
    *((0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB)),
    *((0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
)
"""Unicode's Default_Ignorable_Code_Point, with marks of direction and annotation and the blank Braille cell: a table,
so that the answer does not depend on the Unicode version of the interpreter."""


def hidden_character(text: str) -> int | None:
    """The index of the first character that can't be seen and is no space, or None."""
    if text.isascii() and text.isprintable():
        return None
    return next((index for index, char in enumerate(text) if _is_hidden(ord(char))), None)


def one_line(text: str) -> str:
    """The text as one line: each run of white space is a space, and no control character or line end is left."""
    folded = " ".join(text.split())
    shown = "".join(f"\\u{ord(char):04x}" if _is_hidden(ord(char)) else char for char in folded)
    return shown if len(shown) <= MAX_COMMENT else f"{shown[: MAX_COMMENT - 3].rstrip()}..."


def _is_hidden(code: int) -> bool:
    if code < 0xA0:
        return (code < 0x20 or code >= 0x7F) and not chr(code).isspace()
    return any(first <= code <= last for first, last in _HIDDEN) or 0xD800 <= code <= 0xDFFF
