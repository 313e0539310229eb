"""JSON Pointers (RFC 6901): checked once, then followed into values."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from averment.text.jsonvalue import ABSENT

__all__ = ["ABSENT", "Pointer", "fault_in"]

_FAULT = re.compile(r"~(?![01])")
_INDEX = re.compile(r"0|[1-9][0-9]{0,17}", re.ASCII)


def fault_in(text: str) -> tuple[str, int] | None:
    """What keeps a text from being a JSON Pointer and at which character, or None when it is one."""
    if text and not text.startswith("/"):
        return "a JSON Pointer begins with `/`", 0
    found = _FAULT.search(text)
    return None if found is None else ("in a JSON Pointer `~` stands only in `~0` and `~1`", found.start())


class Pointer(msgspec.Struct, frozen=True):
    """A pointer to a part of a value: keys, and the indexes that they are where they meet a list."""

    text: str
    steps: tuple[tuple[str, int | None], ...]

    @classmethod
    def of(cls, text: str) -> Pointer:
        """The pointer that a faultless text is."""
        keys = [step.replace("~1", "/").replace("~0", "~") for step in text.split("/")[1:]]
        return cls(text, tuple((key, int(key) if _INDEX.fullmatch(key) else None) for key in keys))

    def find(self, value: Any) -> Any:
        """What it points to in a value, or ABSENT when that isn't there."""
        for key, index in self.steps:
            if type(value) is dict:
                value = value.get(key, ABSENT)
            elif type(value) is list and index is not None and index < len(value):
                value = value[index]
            else:
                return ABSENT
        return value

    def path(self, value: Any) -> tuple[str | int, ...]:
        """The same way as a path of keys and indexes, through a value in which it leads somewhere."""
        path: list[str | int] = []
        for key, index in self.steps:
            step = index if type(value) is list and index is not None else key
            path.append(step)
            value = value[step]
        return tuple(path)
