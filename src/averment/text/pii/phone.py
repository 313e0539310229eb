"""Telephone numbers of the North American Numbering Plan, written with separators.

Three, three and four digits (ITU-T E.164, country code 1), an optional `1` or `+1`, and a
separator before each of the last two groups; parentheses around the area code are one. Codes that the plan does not
assign (`123-456-7890`, area codes begin with 2 to 9) count too: what people make up is as telling as what they own.

Left out: ten digits without a separator (an order number as likely as not), numbers of other countries, extensions.
"""

from __future__ import annotations

import re
from functools import cache

from averment.text.pii._characters import GAP
from averment.text.pii._ranges import Range

__all__ = ["find"]


@cache
def _number() -> re.Pattern[str]:
    # The first digit is the country code or the area code's first; what may stand before it is looked up afterwards,
    # so that the search skips to digits. Every repetition is bounded: each start costs a constant.
    return re.compile(
        rf"\d(?<!\d\d)(?:(?<=1)(?:{GAP})?\(?\d)?\d\d"
        rf"(?:\)?{GAP}|(?<=\(\d{{3}})\))"
        rf"\d{{3}}{GAP}\d{{4}}(?!\d)"
    )


def find(text: str) -> list[Range]:
    """The telephone numbers in `text`, with the `+` or `(` before them."""
    return [
        (match.start() - text.startswith(("+", "("), max(0, match.start() - 1), match.start()), match.end())
        for match in _number().finditer(text)
    ]
