"""E-mail addresses, as people write them.

A subset of RFC 5322's dot-atom with room for RFC 6531 (accented, Greek and Cyrillic letters): a local part of
letters, digits, `_ . % + -` and the apostrophe of O'Brien, and a domain whose last label is two letters or more, or
punycode. Dots may stand anywhere but at the start: real mailboxes break that rule of the grammar.

Left out: quoted local parts, the other special characters of an atom (they are more often punctuation around an
address than part of one), address literals (`a@[192.0.2.1]`), local domains (`root@localhost`), scripts without
spaces between words, and "jane at example dot com".
"""

from __future__ import annotations

import re
from functools import cache

from averment.text.pii._characters import LETTER, WORD
from averment.text.pii._ranges import Range

__all__ = ["find"]

_MARK = r".%+'\u2019-"


@cache
def _address() -> re.Pattern[str]:
    # A run of local characters that starts no address is consumed by the second alternative, so nothing is tried
    # inside it. Linear: a run never gives anything back (`*+`), and a domain, read behind its own at sign, stops
    # before the next; giving it back looks at each label once more.
    return re.compile(
        rf"[{_MARK}]*+(?P<address>[{WORD}][{WORD}{_MARK}]*+@"
        rf"[{LETTER}\d.-]+\.(?:(?i:xn--[a-z\d-]*[a-z\d])|[{LETTER}]{{2,}}))(?![{WORD}])"
        rf"|[{WORD}{_MARK}]++"
    )


def find(text: str) -> list[Range]:
    """The e-mail addresses in `text`."""
    if "@" not in text:
        return []
    return [match.span("address") for match in _address().finditer(text) if match["address"]]
