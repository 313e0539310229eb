"""United States social security numbers.

Nine digits: area (3), group (2), serial (4). The Social Security Administration assigns no area 000, 666 or
900-999, no group 00 and no serial 0000 (SSA POMS RM 10201.035; "SSN Randomization", 25 June 2011, which ended every
narrower rule about areas).

Nine digits alone are an order number as likely as not, so the number must show itself: by a separator behind the
area (white space or a dash; then the second one may be missing), by two dots, or by the words in front of it ("my
social security number is 123456789", `"ssn": 123456789`). `12345-6789` is a ZIP+4 code. Taxpayer numbers (area
9xx) are another detector's.
"""

from __future__ import annotations

import re
from functools import cache

from averment.text.pii._characters import DASH, DOT, SPACE, WORD
from averment.text.pii._ranges import Range

__all__ = ["find"]

_GAP = rf"[{SPACE}{DASH}]{{1,3}}"


@cache
def _candidate() -> re.Pattern[str]:
    # A digit first, and only then the look behind it: the search skips to digits without trying every position.
    # No alternative repeats without a bound, so each start costs a constant. A rejected candidate hides no other one:
    # a start needs a group of 3, 5 or 9 digits, and those inside a candidate have 2, 4 or 6.
    return re.compile(
        rf"\d(?<![{WORD}]\d)\d\d"
        rf"(?:{_GAP}\d\d(?:{_GAP})?|[{DOT}]\d\d[{DOT}]|(?P<unmarked>\d\d(?:{_GAP})?))"
        rf"\d{{4}}(?![{WORD}])"
    )


@cache
def _announcement() -> re.Pattern[str]:
    # "SSN:", "Social Security number is", `social_security_number": "`, `socialSecurityNumber=`, "my social is".
    return re.compile(
        r"(?i)(?<![^\W_])(?:ssn|social(?:[\W_]{0,3}security)?)"
        r"(?:[\W_]{0,4}(?:number|num|no|is|was)){0,3}[\W_]{0,4}\Z"
    )


_ANNOUNCEMENT_LENGTH = 64
"""Longer than any announcement."""


def find(text: str) -> list[Range]:
    """The social security numbers in `text`."""
    return [
        match.span()
        for match in _candidate().finditer(text)
        if _assignable(match.group()) and (match["unmarked"] is None or _announced(text, match.start()))
    ]


def _assignable(number: str) -> bool:
    digits = "".join(filter(str.isdecimal, number))
    area, group, serial = int(digits[:3]), int(digits[3:5]), int(digits[5:])
    return 0 < area < 900 and area != 666 and group > 0 and serial > 0


def _announced(text: str, start: int) -> bool:
    return _announcement().search(text, max(0, start - _ANNOUNCEMENT_LENGTH), start) is not None
