"""Comparing what was said or referred to with what was recorded: values as text, numbers in one form.

`50`, `50.0` and the text "50.00" are the same number; "050" is not one. Normalizers say what else does not count.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any

__all__ = ["NORMALIZERS", "as_text", "normalized"]

_plain_number = re.compile(r"[+-]?(?:0|[1-9][0-9]{0,40})(?:\.[0-9]{1,40})?").fullmatch
_spaces = re.compile(r"\s+")


def _digits(text: str) -> str:
    return "".join(str(unicodedata.decimal(char)) for char in text if char.isdecimal())


def _email(text: str) -> str:
    return text.strip().strip("<>.,;:").casefold().removeprefix("mailto:")


NORMALIZERS: Mapping[str, Callable[[str], str]] = {
    "digits": _digits,
    "casefold": str.casefold,
    "whitespace": lambda text: _spaces.sub(" ", text).strip(),
    "email": _email,
}
"""What may be left out of account: all but digits, case, amounts of space, the dress of an e-mail address."""


def as_text(value: Any) -> str:
    """A JSON value as text; numbers, and texts that are plain ones, in their shortest decimal form."""
    if isinstance(value, str):
        return _shortest(value) if _plain_number(value) else value
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, int | float):
        from decimal import Decimal

        return _shortest(format(Decimal(repr(value)), "f"))
    from averment.text.jsontext import canonical

    return canonical(value).decode("utf-8", "surrogatepass")


def normalized(value: Any, names: Sequence[str] = ()) -> str:
    """A value as text, with the normalizers applied in the order given."""
    text = as_text(value)
    for name in names:
        text = NORMALIZERS[name](text)
    return text


def _shortest(number: str) -> str:
    number = number.removeprefix("+")
    if "." in number:
        number = number.rstrip("0").rstrip(".")
    return "0" if number == "-0" else number
