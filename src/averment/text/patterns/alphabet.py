r"""Which characters a set can match, as bit masks small enough to compute with.

Unicode is cut into *atoms*: every ASCII character is one, and the rest falls into a few classes by what `\w`,
`\d` and `\s` say, plus one class per non-ASCII literal of the pattern (all characters that equal it but for
case). A set becomes the mask of the atoms it may meet. The mask never misses an atom that the set meets, and may
hold more: those who use it (the analysis, the gate) err to the safe side then. On ASCII it is exact.
"""

from __future__ import annotations

from collections.abc import Iterable

from averment.text.patterns.tree import Chars, Edge, Look

__all__ = ["ASCII", "Alphabet", "ascii_mask", "case_key", "fold", "is_caseless"]

ASCII = (1 << 128) - 1
"""The mask of all ASCII characters: bit n is the character with code point n."""

_UPPER = sum(1 << c for c in range(65, 91))
_LOWER = _UPPER << 32
_DIGIT = sum(1 << c for c in range(48, 58))
_WORD = _UPPER | _LOWER | _DIGIT | 1 << 95
_CATEGORY = {r"\d": _DIGIT, r"\w": _WORD, r"\s": sum(1 << c for c in (*range(9, 14), *range(28, 32), 32))}
_ASCII_CATEGORY = {**_CATEGORY, r"\s": sum(1 << c for c in (*range(9, 14), 32))}
_PARTNERS = {0x130: "i", 0x131: "i", 0x17F: "s", 0x212A: "k"}
"""The non-ASCII characters that equal an ASCII letter under IGNORECASE."""

_PARTNERED = frozenset(map(ord, "iIkKsS"))

# Atoms beyond ASCII.
_PARTNER, _OTHER_WORD, _OTHER_DIGIT, _OTHER_SPACE, _OTHER = (1 << n for n in range(128, 133))
_FIRST_LITERAL = 133
_BEYOND_ALL = _PARTNER | _OTHER_WORD | _OTHER_DIGIT | _OTHER_SPACE | _OTHER
_BEYOND = {r"\d": _OTHER_DIGIT, r"\w": _OTHER_DIGIT | _OTHER_WORD | _PARTNER, r"\s": _OTHER_SPACE}


def case_key(char: str) -> str:
    """Equal for any two characters that IGNORECASE takes for the same."""
    return _PARTNERS.get(ord(char)) or char.upper().casefold()


def is_caseless(char: str) -> bool:
    """Whether IGNORECASE makes no difference for the character: it equals no other one."""
    return char.lower() == char == char.upper()


def fold(text: str) -> str:
    """The text with each ASCII letter, and each character that equals one under IGNORECASE, in lower case.

    Caseless characters stay; all others may become anything.
    """
    if not text.isascii():
        for point, letter in _PARTNERS.items():
            text = text.replace(chr(point), letter)
    return text.lower()


def ascii_mask(chars: Chars) -> int:
    """Exactly the ASCII characters that the set matches."""
    mask = 0
    partners = 0
    for item in chars.items:
        if isinstance(item, str):
            categories = _ASCII_CATEGORY if chars.ascii_only else _CATEGORY
            mask |= categories[item] if item in categories else ASCII & ~categories[item.lower()]
        else:
            low, high = item
            if low < 128:
                mask |= (1 << min(high, 127) + 1) - (1 << low)
            for point, letter in _PARTNERS.items():
                if low <= point <= high:
                    partners |= 1 << ord(letter)
    if chars.ignore_case:
        if not chars.ascii_only:
            mask |= partners
        mask |= (mask & _UPPER) << 32 | (mask & _LOWER) >> 32
    return ASCII & ~mask if chars.negated else mask


class Alphabet:
    """The atoms of one pattern, fixed by the sets that it holds.

    Attributes:
        everything: the mask of all atoms.
        beyond: the mask of the atoms beyond ASCII.
        outside: one more bit, for what stands before the first and after the last character.
    """

    __slots__ = ("_literals", "beyond", "everything", "outside")

    def __init__(self, sets: Iterable[Chars]) -> None:
        self._literals: dict[str, int] = {}
        for chars in sets:
            for item in chars.items:
                if not isinstance(item, str) and item[0] == item[1] > 127:
                    self._literals.setdefault(
                        case_key(chr(item[0])), 1 << _FIRST_LITERAL + len(self._literals)
                    )
        self.outside = 1 << _FIRST_LITERAL + len(self._literals)
        self.everything = self.outside - 1
        self.beyond = self.everything & ~ASCII

    def mask(self, chars: Chars) -> int:
        """The atoms that the set may meet."""
        inside = ascii_mask(chars)
        return inside | (self._complement(chars) if chars.negated else self._union(chars))

    def around(self, test: Edge | Look) -> list[tuple[int, int]]:
        """Pairs of masks: the test can hold only where, for some pair, its left precedes and its right follows."""
        everything, outside = self.everything, self.outside
        anything = everything | outside
        if isinstance(test, Look):
            if not isinstance(test.body, Chars):
                return [(anything, anything)]
            chars = test.body
            if test.negated:
                chars = Chars(1, 1, chars.items, not chars.negated, chars.ignore_case, chars.ascii_only)
            mask = self.mask(chars) | (outside if test.negated else 0)
            return [(mask, anything)] if test.behind else [(anything, mask)]
        newline = 1 << ord("\n")
        match test.kind:
            case "^" | r"\A":
                return [(outside, anything)]
            case "^m":
                return [(outside | newline, anything)]
            case "$" | "$m":
                return [(anything, newline | outside)]
            case r"\Z":
                return [(anything, outside)]
        word = self.mask(Chars(1, 1, (r"\w",), False, False, test.kind[-1] == "a"))
        other = self.mask(Chars(1, 1, (r"\W",), False, False, test.kind[-1] == "a")) | outside
        return (
            [(word, other), (other, word)] if test.kind.startswith(r"\b") else [(word, word), (other, other)]
        )

    def _union(self, chars: Chars) -> int:
        """Beyond ASCII: everything that some item may meet."""
        mask = 0
        for item in chars.items:
            if isinstance(item, str):
                mask |= self._category(item, chars)
            elif item[0] == item[1] > 127:
                mask |= _PARTNER if item[0] in _PARTNERS else self._literals[case_key(chr(item[0]))]
            elif item[1] > 127:
                mask |= self.beyond
            elif (
                chars.ignore_case
                and not chars.ascii_only
                and any(item[0] <= c <= item[1] for c in _PARTNERED)
            ):
                mask |= _PARTNER
        return mask

    def _complement(self, chars: Chars) -> int:
        """Beyond ASCII: everything but the atoms that a category item surely covers."""
        covered = 0
        if not chars.ascii_only:
            for item in chars.items:
                if isinstance(item, str):
                    covered |= _BEYOND[item] if item in _BEYOND else _BEYOND_ALL & ~_BEYOND[item.lower()]
        return self.beyond & ~covered

    def _category(self, category: str, chars: Chars) -> int:
        if chars.ascii_only:
            return self.beyond if category.isupper() else 0
        kind = category.lower()
        if kind == r"\w":
            # A case class can hold both kinds: the Greek iota equals a combining mark.
            literals = sum(self._literals.values())
        else:
            belongs = str.isdecimal if kind == r"\d" else str.isspace
            literals = sum(bit for key, bit in self._literals.items() if belongs(key) == category.islower())
        if category in _BEYOND:
            return _BEYOND[category] | literals
        return (_BEYOND_ALL & ~_BEYOND[kind]) | literals
