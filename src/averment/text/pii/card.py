"""Payment card numbers: an issuer's range, a length that the issuer uses, and the check digit of Luhn.

The form is that of ISO/IEC 7812-1 (identification cards, numbering system; the check digit is its Annex B), the
ranges are those that the networks publish. Luhn alone accepts one number in ten; with issuer and length, access logs
full of millisecond timestamps (13 digits, `17...`) hold no card, and neither do zeros or any other single digit
repeated.

A number is looked for in a chain of digit groups with at most three separating characters between two groups, and
begins and ends where a group does. Every stretch of the chain is tried, so a security code, an expiry, a ZIP or an
order number beside the card neither hides it nor counts as part of it. Where two stretches overlap and both are
valid, nobody can tell which one is the card: they are one hit, which covers both.

Left out: cards glued to further digits, twelve-digit Maestro, JCB's 1800 and 2131 and UATP's 1 (15 digits, which
collide with toll-free numbers and counters), spoken digits, and cards spread over several turns.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache

import msgspec

from averment.text.pii._characters import GAP
from averment.text.pii._ranges import Range, merge

__all__ = ["find"]


class _Issuer(msgspec.Struct, frozen=True):
    """Numbers that begin with `first` to `last` (as many digits as these have) and have one of these lengths."""

    first: str
    last: str
    lengths: frozenset[int]


def _issuer(first: str, last: str, *lengths: int) -> _Issuer:
    return _Issuer(first, last, frozenset(lengths))


# Sorted and disjoint.
_ISSUERS = (
    _issuer("2200", "2204", 16, 17, 18, 19),  # Mir
    _issuer("2221", "2720", 16),  # Mastercard, 2-series
    _issuer("300", "305", 14, 16, 19),  # Diners Club
    _issuer("3095", "3095", 14, 16, 19),  # Diners Club
    _issuer("34", "34", 15),  # American Express
    _issuer("3528", "3589", 16, 17, 18, 19),  # JCB
    _issuer("36", "36", 14, 16, 19),  # Diners Club
    _issuer("37", "37", 15),  # American Express
    _issuer("38", "39", 14, 16, 19),  # Diners Club
    _issuer("4", "4", 13, 16, 19),  # Visa, Visa Electron, Dankort
    _issuer("50", "50", 13, 14, 15, 16, 17, 18, 19),  # Maestro, Elo, Verve, RuPay
    _issuer("51", "55", 16),  # Mastercard
    _issuer("56", "58", 13, 14, 15, 16, 17, 18, 19),  # Maestro
    _issuer("60", "60", 16, 19),  # Discover (6011), RuPay, Hipercard
    _issuer("62", "62", 16, 17, 18, 19),  # UnionPay, and Discover on its range
    _issuer("63", "63", 13, 14, 15, 16, 17, 18, 19),  # Maestro, InterPayment, InstaPayment, Elo
    _issuer("644", "649", 16, 19),  # Discover
    _issuer("65", "65", 16, 18, 19),  # Discover, RuPay, Elo, Verve, Troy
    _issuer("67", "67", 13, 14, 15, 16, 17, 18, 19),  # Maestro
    _issuer("81", "81", 16, 17, 18, 19),  # UnionPay, RuPay
    _issuer("82", "82", 16),  # RuPay
    _issuer("8600", "8600", 16),  # Uzcard
    _issuer("9792", "9792", 16),  # Troy
    _issuer("9860", "9860", 16),  # Humo
)

_FIRSTS = [issuer.first for issuer in _ISSUERS]
_LONGEST_PREFIX = max(len(issuer.last) for issuer in _ISSUERS)

# A decimal number at the start of a chain: `0.` and nine digits or more, or at most 17 digits in all. That is how a
# double prints, it is shorter than a card behind a security code, and scores and coordinates are everywhere.
_DECIMAL = r"(?<!\.\d)(?:(?<=0)|(?=[\d.]{10,17}(?!\d))\d{0,3})\.\d{9,}+(?!\.?\d)"


@cache
def _numbers() -> re.Pattern[str]:
    # Both are tried at the first digit of a group; a decimal number is consumed and thrown away.
    # Linear: nothing behind a chain makes it give back what it read, and a chain that fails has fewer than 13
    # digits, so trying again at its second group costs a constant.
    return re.compile(rf"\d(?<!\d\d)(?:{_DECIMAL}|(?P<chain>(?:(?:{GAP})?\d){{12,}}))")


_GROUP = re.compile(r"\d+")

_DOUBLED = str.maketrans("0123456789", "0246813579")
"""Luhn's doubling: twice the digit, its own digits summed."""


def find(text: str) -> list[Range]:
    """The card numbers in `text`; one range where valid numbers overlap."""
    return [
        found
        for match in _numbers().finditer(text)
        if match["chain"] is not None
        for found in _find_in_chain(text, match.start(), match.end())
    ]


def _find_in_chain(text: str, start: int, end: int) -> list[Range]:
    """The card numbers among the digit groups of `text[start:end]`, at most seven tries for each group."""
    starts: dict[int, int] = {}  # from the number of digits before a group to the group's place in the text
    ends: dict[int, int] = {}  # and from the number of digits up to its end
    groups = []
    count = 0
    for group in _GROUP.finditer(text, start, end):
        groups.append(group.group())
        starts[count] = group.start()
        count += len(groups[-1])
        ends[count] = group.end()
    digits = "".join(groups)
    if not digits.isascii():
        digits = "".join(str(int(digit)) for digit in digits)
    return merge(
        (place, ends[first + length])
        for first, place in starts.items()
        for length in _lengths(digits[first : first + _LONGEST_PREFIX])
        if first + length in ends and _luhn(digits[first : first + length])
    )


def _lengths(prefix: str) -> frozenset[int]:
    """How many digits a card number with this beginning has: none when no issuer has it."""
    # A prefix below every row picks the last one (index -1), which refuses it.
    issuer = _ISSUERS[bisect_right(_FIRSTS, prefix) - 1]
    return issuer.lengths if issuer.first <= prefix[: len(issuer.last)] <= issuer.last else frozenset()


def _luhn(digits: str) -> bool:
    total = sum(map(int, digits[-1::-2])) + sum(map(int, digits[-2::-2].translate(_DOUBLED)))
    return total % 10 == 0
