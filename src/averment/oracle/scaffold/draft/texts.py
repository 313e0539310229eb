"""Values as text of Python and of YAML."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from typing import Any, Final

__all__ = ["inline", "quoted", "yaml_text"]

_PLAIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*(?: [A-Za-z0-9_]+)*")
_ODD: Final = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"})
_ESCAPED: Final = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def quoted(text: str) -> str:
    """The text in double quotes; Python and YAML both read it as it was. What can't be seen is escaped."""
    return '"' + "".join(_ESCAPED.get(each) or _shown(each) for each in text) + '"'


def inline(text: str, most: int = 200) -> str:
    """The text as code inside a line of Markdown, cut."""
    seen = "".join(each if each.isprintable() else " " for each in text).replace("`", "'")
    return f"`{seen if len(seen) <= most else seen[: most - 1] + '…'}`"


def yaml_text(value: Any) -> str:
    """The value as YAML: blocks outside, and in one line what holds no mapping or list."""
    return "".join(f"{line}\n" for line in _lines(value))


def _shown(character: str) -> str:
    if character == " " or (character.isprintable() and unicodedata.category(character) not in {"Zs", "Co"}):
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _lines(value: Any) -> Iterator[str]:
    """Lines without indentation of the outermost block."""
    if isinstance(value, dict) and value:
        for key, part in value.items():
            yield from _entry(f"{_scalar(key)}:", part)
    elif isinstance(value, list) and value:
        for part in value:
            first, *rest = _lines(part)
            yield f"- {first}"
            yield from (f"  {line}" for line in rest)
    else:
        yield _flow(value)


def _entry(head: str, part: Any) -> Iterator[str]:
    if _is_flat(part):
        yield f"{head} {_flow(part)}"
    else:
        yield head
        yield from (f"  {line}" for line in _lines(part))


def _is_flat(value: Any) -> bool:
    """Whether a value fits one line."""
    if isinstance(value, dict):
        value = list(value.values())
        if any(isinstance(part, dict | list) for part in value) or len(value) > 4:
            return not value
    return not isinstance(value, list) or not any(isinstance(part, dict | list) and part for part in value)


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_scalar(key)}: {_flow(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_flow, value)) + "]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    is_plain = len(value) <= 80 and _PLAIN.fullmatch(value) and value.lower() not in _ODD
    return value if is_plain else quoted(value)
