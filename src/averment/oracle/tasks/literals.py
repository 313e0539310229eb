"""Values written as Python literals: `literal:`, `range:` and the right side of a filter.

The format of oracle packs took its values from Python, so Python's own parser reads them; nothing is evaluated. What it
may be given is bounded, since its time and its stack grow with its input, and it never warns.
"""

from __future__ import annotations

import ast
import re
import warnings
from typing import Any, Final

from averment.text.jsonvalue import is_number
from averment.text.reading import is_readable

__all__ = ["MAX_LITERAL", "LiteralError", "literal_of", "not_json", "offset_of", "parse", "read_literal"]

MAX_LITERAL: Final = 20_000
"""Characters of a literal; longer lists of values belong into fixtures."""

_STRINGS: Final = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"", re.DOTALL)
_TOWER: Final = re.compile(r"(?:[-+~]\s*){100}|(?:not\s+){100}")
"""Operators that nest without brackets; of brackets the parser itself takes no more than 200."""
_PYTHONS_OWN: Final = {
    "tuple": "a tuple",
    "set": "a set",
    "bytes": "bytes",
    "complex": "a complex number",
    "ellipsis": "`...`",
}
_LINE_END: Final = re.compile(r"\r\n|\r|\n")


class LiteralError(ValueError):
    """A text is no literal.

    Attributes:
        message: one sentence without a full stop.
        offset: where in the text, 0-based, in code points; None where the parser does not say.
    """

    def __init__(self, message: str, offset: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


def parse(text: str) -> ast.expr:
    """The syntax tree of a Python expression; offsets in it count from the first character that is no space.

    Raises:
        LiteralError: it isn't one, or it is too long or too deep to be looked at.
    """
    if len(text) > MAX_LITERAL:
        raise LiteralError(f"the text has {len(text)} characters, more than {MAX_LITERAL}")
    if _TOWER.search(_STRINGS.sub("''", text)):
        raise LiteralError("the text nests too deeply")
    body = text.strip()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as an invalid escape: what was written is what is meant
            return ast.parse(body, mode="eval").body
    except SyntaxError as error:
        offset = None
        if error.lineno is not None and error.offset is not None:
            offset = _lines(body)[min(error.lineno, len(_lines(body))) - 1] + max(error.offset - 1, 0)
            offset = min(offset, len(body)) + len(text) - len(text.lstrip())
        raise LiteralError("the text is no Python expression", offset) from None
    except (ValueError, RecursionError, MemoryError, OverflowError):
        raise LiteralError("the text is no Python expression") from None


def offset_of(text: str, node: ast.expr) -> int:
    """Where in `text` the expression starts, 0-based, in code points."""
    lead = len(text) - len(text.lstrip())
    start = _lines(text.strip())[node.lineno - 1]
    line = text.strip()[start:].encode("utf-8", "surrogatepass")
    return lead + start + len(line[: node.col_offset].decode("utf-8", "ignore"))


def literal_of(node: ast.expr) -> Any:
    """The value of a literal: a string, a number, a boolean, None, or a list, tuple, set or dict of such.

    Raises:
        LiteralError: the expression has to be evaluated, and nothing is.
    """
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError, OverflowError):
        raise LiteralError("the value is no literal") from None


def read_literal(text: str) -> Any:
    """The value that a text writes.

    Raises:
        LiteralError: it writes none.
    """
    return literal_of(parse(text))


def not_json(value: Any) -> str | None:
    """What in a value, or in one inside it, JSON has no form for; None where it is a JSON value."""
    if isinstance(value, list):
        return next((fault for item in value if (fault := not_json(item))), None)
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            return "a mapping whose keys are not all strings"
        return next((fault for item in value.values() if (fault := not_json(item))), None)
    if value is None or isinstance(value, str | bool):
        return None
    if isinstance(value, int):
        return None if is_readable(value) else "an integer of too many digits"
    if isinstance(value, float):
        return None if is_number(value) else "an infinite number"
    return _PYTHONS_OWN.get(type(value).__name__, "a value of Python's own")


def _lines(text: str) -> list[int]:
    """Where each line starts."""
    return [0, *(found.end() for found in _LINE_END.finditer(text))]
