r"""Character classes that the detectors share, for use inside the brackets of a pattern.

`\d` is every Unicode decimal digit (full-width, Arabic-Indic, ...): a card number stays one whatever the keyboard.

Classes this wide take about a millisecond to compile, and most conversations hold no personal data: the detectors
compile their patterns when they are first asked.
"""

from __future__ import annotations

__all__ = ["DASH", "DOT", "GAP", "LETTER", "SPACE", "WORD"]

# White space, and the characters that take no room: zero-width spaces and joiners, word joiner, byte order mark.
SPACE = r"\s\u200b-\u200d\u2060\ufeff"

# Hyphen-minus, soft hyphen, the dashes of General Punctuation, minus sign, small and full-width forms.
DASH = r"\-\u00ad\u2010-\u2015\u2212\ufe58\ufe63\uff0d"

# Full stop, middle dot, bullet, one dot leader, full-width full stop.
DOT = r".\u00b7\u2022\u2024\uff0e"

# What stands between two groups of one number: " ", "-", ".", "  ", " - ". Bounded, so that no pattern runs away.
GAP = rf"[{SPACE}{DASH}{DOT}]{{1,3}}"

# Latin (with combining accents), Greek and Cyrillic. Scripts that put no spaces between words are left out:
# there a neighbouring letter says nothing about where a number or an address begins.
LETTER = r"A-Za-z\u00c0-\u024f\u0300-\u036f\u0370-\u052f\u1e00-\u1fff"

# What glues: `ssn123-45-6789` is an identifier and no social security number.
WORD = rf"{LETTER}\d_"
