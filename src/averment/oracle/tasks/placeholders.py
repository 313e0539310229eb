"""Placeholders in texts and arguments: `{slot}`, an ASCII name in braces; all else in braces is text."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["SLOT_NAME", "placeholders", "sole_placeholder"]

SLOT_NAME: Final = "slot_name"
"""In a text of the assistant: the slot that is asked for, by its label or its name."""

_PLACEHOLDER: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")


def placeholders(text: str) -> list[tuple[int, str]]:
    """Where each placeholder starts, and its name; in their order."""
    return [(found.start(), found[1]) for found in _PLACEHOLDER.finditer(text)]


def sole_placeholder(text: str) -> str | None:
    """The name, where the text is one placeholder and nothing else: the slot then keeps its type."""
    found = _PLACEHOLDER.fullmatch(text)
    return found[1] if found else None
