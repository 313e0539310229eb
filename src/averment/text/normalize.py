"""Comparing what was said or referred to with what was recorded: values as text, numbers in one form.

The numbers `50` and `50.0` are the same, and so is the text "50". Among texts "50.00" and "50" differ, unless numbers
that are spelled out are asked to count as such. Normalizers say what else does not count.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

__all__ = ["NORMALIZERS", "Normalizer", "as_text", "normalized"]

Normalizer = Literal["digits", "casefold", "whitespace", "email"]
"""The names of the normalizers, as documents write them."""

_plain_number = re.compile(r"-?(?:0|[1-9][0-9]{0,40})(?:\.[0-9]{1,40})?").fullmatch
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
    """A JSON value as text; numbers in their shortest decimal form, texts as they are."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, int | float):
        from decimal import Decimal

        return _shortest(format(Decimal(repr(value)), "f"))
    from averment.text.jsontext import canonical

    return canonical(value).decode("utf-8", "surrogatepass")


def normalized(value: Any, names: Sequence[str] = (), *, numbers: bool = False) -> str:
    """A value as text, with the normalizers applied in the order given.

    Args:
        value: any JSON value.
        names: the normalizers.
        numbers: whether a text that is a plain number counts as that number: "42.00" is 42.
    """
    text = as_text(value)
    for name in names:
        text = NORMALIZERS[name](text)
    return _shortest(text) if numbers and _plain_number(text) else text


def _shortest(number: str) -> str:
    if "." in number:
        number = number.rstrip("0").rstrip(".")
    return "0" if number == "-0" else number
