"""JSON values as such: equality, types, dotted paths, and how one is shown to people.

Values are what parsers build: dict, list (or tuple), str, int, float, bool, None. Nothing here knows what an expected
value is; `assertions.values` does.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Final

from averment.text.pii import redact

__all__ = ["ABSENT", "MAX_SHOWN", "TYPES", "cut", "is_number", "json_equal", "resolve", "show"]

MAX_SHOWN: Final = 200
"""Characters of a value in a text."""


class _Absent:
    __slots__ = ()

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()
"""There is no value here, which is not the same as null."""


def json_equal(a: object, b: object) -> bool:
    """JSON-typed equality of two values of any depth: `1` equals `1.0`, `true` doesn't equal `1`.

    An integer and a float are equal when they are the same number, exactly and at any size.
    """
    pending = [(a, b)]
    while pending:
        a, b = pending.pop()
        if isinstance(a, dict):
            if not isinstance(b, dict) or len(a) != len(b):
                return False
            pending.extend((value, b.get(key, ABSENT)) for key, value in a.items())
        elif isinstance(a, (list, tuple)):
            if not isinstance(b, (list, tuple)) or len(a) != len(b):
                return False
            pending.extend(zip(a, b, strict=True))
        elif isinstance(a, bool) or isinstance(b, bool):
            if a is not b:
                return False
        elif a != b:
            return False
    return True


def is_number(value: object) -> bool:
    """Whether the value is a JSON number; a boolean is none, and neither are NaN and the infinities."""
    return (
        isfinite(value)
        if isinstance(value, float)
        else isinstance(value, int) and not isinstance(value, bool)
    )


def _is_integer(value: object) -> bool:
    return value.is_integer() if isinstance(value, float) else is_number(value)


TYPES: Final[dict[str, Callable[[object], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "integer": _is_integer,
    "number": is_number,
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "array": lambda value: isinstance(value, (list, tuple)),
    "object": lambda value: isinstance(value, dict),
}
"""The types of JSON Schema: an integral float is an integer, every integer is a number."""


def resolve(record: object, dotted: str) -> object:
    """The value at a dotted path through mappings, `ABSENT` when there is none.

    At each mapping a key that equals all the rest of the path comes first: `a.b` is the key `a.b`, else `b` in `a`.
    """
    while isinstance(record, dict):
        if dotted in record:
            return record[dotted]
        key, dot, dotted = dotted.partition(".")
        if not dot:
            break
        record = record.get(key)
    return ABSENT


def show(value: object) -> str:
    """A value as people read it in a reason: JSON with sorted keys, cut off after `MAX_SHOWN` characters.

    What can't be seen (control and format characters, lone surrogates, odd spaces) is escaped. Personal data is
    removed before anything is cut or escaped: half a card number is one that no detector knows.
    """
    parts: list[str] = []
    _write(value, parts, MAX_SHOWN)
    return cut(redact("".join(parts)))


def cut(text: str, limit: int = MAX_SHOWN) -> str:
    """The text, cut off after `limit` characters."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _write(value: object, parts: list[str], room: int) -> int:
    """Write a value while there is room, and return the room left. Every level costs some, so depth is bounded."""
    if isinstance(value, dict):
        text = "{"
        for key in sorted(value, key=str):
            if room < 0:
                return room
            parts.append(f"{text}{_quote(str(key))}: ")
            room = _write(value[key], parts, room - len(parts[-1]))
            text = ", "
        text = "}" if value else "{}"
    elif isinstance(value, (list, tuple)):
        text = "["
        for item in value:
            if room < 0:
                return room
            parts.append(text)
            room = _write(item, parts, room - len(text))
            text = ", "
        text = "]" if value else "[]"
    elif isinstance(value, str):
        text = _quote(value)
    elif value is None or isinstance(value, bool):
        text = "null" if value is None else "true" if value else "false"
    elif isinstance(value, float):
        text = repr(value)
    elif isinstance(value, int):
        # Python refuses to write integers of some thousand digits (CVE-2020-10735).
        text = (
            str(value) if value.bit_length() <= 4 * MAX_SHOWN else f"an integer of {value.bit_length()} bits"
        )
    elif value is ABSENT:
        text = "nothing"
    else:
        text = f"a value of type {type(value).__name__}"
    parts.append(text)
    return room - len(text)


def _quote(text: str) -> str:
    import json

    quoted = json.dumps(redact(text)[: MAX_SHOWN + 1], ensure_ascii=False)
    if quoted.isprintable():
        return quoted
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in quoted)
