from __future__ import annotations

import re
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from averment.text.patterns.alphabet import Alphabet, ascii_mask, case_key, fold, is_caseless
from averment.text.patterns.tree import Chars, Edge, Look

EVERYTHING = [chr(point) for point in range(sys.maxunicode + 1)]
ITEMS = st.one_of(
    st.sampled_from([r"\d", r"\D", r"\w", r"\W", r"\s", r"\S"]),
    st.sampled_from("aAkKsSiI_ 5\x1c\u212aſİıéÉ退\u0345ιΣς\u2003٣").map(lambda char: (ord(char), ord(char))),
    st.sampled_from([(97, 107), (65, 90), (48, 57), (0xE0, 0x17F), (0, 0x10FFFF), (90, 0x212B)]),
)
SETS = st.builds(
    lambda items, negated, ignore_case, ascii_only: Chars(
        1, 1, tuple(items), negated, ignore_case, ascii_only
    ),
    st.lists(ITEMS, min_size=1, max_size=3),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)
SAMPLE = [
    *map(chr, range(128)),
    *"\x85\xa0éÉſİı\u212a\u2126ω\u0345ιΙ\u1fbeΣσς退٣\u2003\u2028_Ⓐⓐ\U00010400\U00010428",
]


def test_characters_that_ignore_case_share_a_key() -> None:
    """Two characters that `re` takes for the same have one key, and neither is called caseless."""
    text = "".join(char for char in EVERYTHING if char.lower() != char or char.upper() != char)
    for char in "kKsSiI\u212aſİıµμ\u0345ι\u1fbeΣσςÅå\u212bẞßﬅﬆ\U00010400\u01c4\u01c5\u01c6\u1c80в":
        for match in re.findall(f"(?i)\\U{ord(char):08x}", text):
            assert case_key(match) == case_key(char)
            assert match == char or not is_caseless(match)


def test_lower_case_keeps_the_key() -> None:
    """`re` compares by lower case and by a table of exceptions; both lead to one key."""
    for char in EVERYTHING:
        lower = char.lower() if char != "İ" else "i"
        assert case_key(lower) == case_key(char)
        assert lower == char or not (is_caseless(char) or is_caseless(lower))


def test_categories_are_as_the_atoms_assume() -> None:
    """Digits are word characters, white space is none, and their case classes are of one kind."""
    for char in EVERYTHING:
        word = char.isalnum() or char == "_"
        assert word or not char.isdecimal()
        assert not (word and char.isspace())
        if char.isspace() or char.isdecimal():
            assert is_caseless(char)
            assert case_key(char) == char


def test_the_categories_are_those_of_re() -> None:
    r"""`\w`, `\d` and `\s` are what the methods of `str` say, for all of Unicode."""
    text = "".join(EVERYTHING)
    assert re.findall(r"\w", text) == [char for char in EVERYTHING if char.isalnum() or char == "_"]
    assert re.findall(r"\d", text) == [char for char in EVERYTHING if char.isdecimal()]
    assert re.findall(r"\s", text) == [char for char in EVERYTHING if char.isspace()]


def test_only_four_characters_equal_an_ascii_letter() -> None:
    """Folding maps exactly the characters that `re` takes for an ASCII letter onto that letter."""
    text = "".join(EVERYTHING)
    for letter in "abcdefghijklmnopqrstuvwxyz":
        assert {fold(char) for char in re.findall(f"(?i){letter}", text)} == {letter}
    assert fold("STRAẞE K") == "straße k"


@settings(deadline=None, max_examples=200)
@given(SETS)
def test_a_mask_is_exact_on_ascii(chars: Chars) -> None:
    """The ASCII part of a set is what `re` matches."""
    pattern = re.compile(chars.source, chars.flags)
    assert ascii_mask(chars) == sum(1 << n for n in range(128) if pattern.match(chr(n)))


@settings(deadline=None, max_examples=200)
@given(st.lists(SETS, min_size=2, max_size=4))
def test_sets_that_share_a_character_share_an_atom(sets: list[Chars]) -> None:
    """A mask may hold too much, never too little."""
    alphabet = Alphabet(sets)
    masks = [alphabet.mask(chars) for chars in sets]
    for char in SAMPLE:
        shared = alphabet.everything
        for chars, mask in zip(sets, masks, strict=True):
            if re.match(chars.source, char, chars.flags):
                shared &= mask
        assert shared


TESTS = st.one_of(
    st.sampled_from(
        [
            (Edge(0, 0, kind), f"(?{flags}:{source})" if flags else source)
            for kind, source, flags in (
                *((edge, edge, "") for edge in ("^", "$", r"\A", r"\Z", r"\b", r"\B")),
                ("^m", "^", "m"),
                ("$m", "$", "m"),
                (r"\ba", r"\b", "a"),
                (r"\Ba", r"\B", "a"),
            )
        ]
    ),
    st.builds(
        lambda chars, behind, negated: (
            Look(0, 0, chars, behind, negated),
            f"(?{'<' * behind}{'!' if negated else '='}{_group(chars)})",
        ),
        SETS,
        st.booleans(),
        st.booleans(),
    ),
)


def _group(chars: Chars) -> str:
    flags = f"{'i' * chars.ignore_case}{'a' * chars.ascii_only}"
    return f"(?{flags}:{chars.source})"


@settings(deadline=None, max_examples=200)
@given(TESTS, st.text(st.sampled_from(SAMPLE), max_size=3))
def test_what_stands_around_a_test_is_missed_nowhere(test: tuple[Edge | Look, str], text: str) -> None:
    """Where a test holds, one of its pairs has what stands before and after."""
    node, source = test
    only = [Chars(1, 1, ((ord(char), ord(char)),), False, False, False) for char in text]
    alphabet = Alphabet(
        [*only, *([node.body] if isinstance(node, Look) and isinstance(node.body, Chars) else [])]
    )
    masks = [alphabet.outside, *map(alphabet.mask, only), alphabet.outside]
    pattern = re.compile(source)
    for place in range(len(text) + 1):
        if pattern.match(text, place):
            left, right = masks[place : place + 2]
            assert any(left & before and right & after for before, after in alphabet.around(node))


@pytest.mark.parametrize(("text", "folded"), [("ABC", "abc"), ("\u212aſİı", "ksii"), ("退 É", "退 é")])
def test_folding_lowers(text: str, folded: str) -> None:
    """Partners of ASCII letters become the letter, caseless characters stay."""
    assert fold(text) == folded
