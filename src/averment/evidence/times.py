"""Times as sources write them, as integer nanoseconds: numbers in a unit, and ISO 8601 texts.

Numbers are scaled in decimal, so a float means what the source wrote, not its nearest binary fraction. Texts are read
by arithmetic alone: the `datetime` of the standard library ends at microseconds and at the year 9999.
"""

from __future__ import annotations

import re
from functools import lru_cache
from math import isfinite
from typing import Any

__all__ = ["HOUR", "MICROSECOND", "MILLISECOND", "MINUTE", "SECOND", "instant", "scaled"]

MICROSECOND = 1_000
MILLISECOND = 1_000_000
SECOND = 1_000_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE

_LIMIT = 2**63
_NUMBER = re.compile(r"[+-]?\d{1,20}(?:\.\d{0,30})?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_ISO = re.compile(
    r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d)(?::(\d\d)(?:[.,](\d{1,12}))?)?\s?(Z|[+-]\d\d(?::?\d\d)?)?",
    re.ASCII | re.IGNORECASE,
)
_DENSE = 1e15
"""Below so many nanoseconds, two floats next to each other are less than one apart."""
_PLACES = {MICROSECOND: 3, MILLISECOND: 6, SECOND: 9}
"""How many decimal places of a unit a nanosecond has."""
_DAYS_BEFORE_MONTH = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)
_DAYS_BEFORE_1970 = 719_162


def scaled(value: Any, unit: int) -> int | None:
    """A number of units, as nanoseconds; None when it is no finite number, or more than 64 bits hold.

    Args:
        value: an int, a float, or either as text, as protobuf's JSON writes 64-bit integers.
        unit: the nanoseconds of one unit.
    """
    if type(value) is int:
        number = value * unit
        return number if -_LIMIT <= number < _LIMIT else None
    if type(value) is float:
        if -_DENSE < value * unit < _DENSE:
            # Here floats are denser than nanoseconds, so the product is at most one rounding away from the decimal
            # number; when dividing leads back to the same float, it is that number.
            number = round(value * unit)
            if number / unit == value:
                return number
        if not isfinite(value):
            return None
        value = repr(value)
    elif not isinstance(value, str) or _NUMBER.fullmatch(value) is None:
        return None
    whole, _, fraction = value.partition(".")
    places = _PLACES.get(unit, 0) - len(fraction)
    if fraction.isdecimal() and places >= 0:  # the usual case: no exponent, and nothing below the nanosecond
        number = int(whole + fraction) * 10**places
        return number if -_LIMIT <= number < _LIMIT else None
    from decimal import ROUND_HALF_EVEN, Context, Decimal

    exact = Context(prec=80)
    number = int(exact.multiply(Decimal(value), Decimal(unit)).to_integral_value(ROUND_HALF_EVEN))
    return number if -_LIMIT <= number < _LIMIT else None


def instant(text: Any) -> int | None:
    """An ISO 8601 date and time (RFC 3339, or without an offset, which is read as UTC), as nanoseconds since 1970.

    A digit beyond the nanosecond is cut. None for anything else.
    """
    found = _ISO.fullmatch(text.strip()) if isinstance(text, str) and len(text) <= 64 else None
    if found is None:
        return None
    minute, written, decimals, zone = found.groups()
    start, second = _start_of(minute), int(written or 0)
    offset, fraction = _offset(zone), int(decimals.ljust(9, "0")[:9]) if decimals else 0
    if start is None or offset is None or second > 60:
        return None
    if (second or fraction) and minute.endswith("24:00"):
        return None
    number = (start + second - offset) * SECOND + fraction
    return number if -_LIMIT <= number < _LIMIT else None


@lru_cache(maxsize=1024)
def _start_of(minute: str) -> int | None:
    """The seconds from 1970 to a minute, `2026-12-01T10:30`; None where no clock shows it. A file has few minutes."""
    days, hours, minutes = _days(minute[:10]), int(minute[11:13]), int(minute[14:])
    if days is None or minutes > 59 or hours > 24 or (hours == 24 and minutes):
        return None
    return days * 86_400 + hours * 3_600 + minutes * 60


def _days(date: str) -> int | None:
    """The days from 1970 to a date, `2026-12-01`; None for one that no calendar has."""
    year, month, day = int(date[:4]), int(date[5:7]), int(date[8:])
    is_leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    if not (year >= 1 and 1 <= month <= 12 and 1 <= day <= _days_in(month, is_leap=is_leap)):
        return None
    before = year - 1
    days = before * 365 + before // 4 - before // 100 + before // 400 - _DAYS_BEFORE_1970
    return days + _DAYS_BEFORE_MONTH[month - 1] + (is_leap and month > 2) + day - 1


def _days_in(month: int, *, is_leap: bool) -> int:
    if month == 12:
        return 31
    return _DAYS_BEFORE_MONTH[month] - _DAYS_BEFORE_MONTH[month - 1] + (is_leap and month == 2)


@lru_cache(maxsize=64)
def _offset(text: str | None) -> int | None:
    """Seconds east of UTC; None for an offset that no clock has."""
    if text is None or text in "Zz":
        return 0
    digits = text[1:].replace(":", "")
    hours, minutes = int(digits[:2]), int(digits[2:] or 0)
    if hours > 23 or minutes > 59:
        return None
    seconds = hours * 3_600 + minutes * 60
    return -seconds if text[0] == "-" else seconds
