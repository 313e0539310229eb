from __future__ import annotations

import hashlib
import re

import pytest

from averment.text.patterns import automaton
from averment.text.patterns.automaton import Automaton
from averment.text.patterns.program import TooLargeError
from averment.text.patterns.tree import read


def compiled(source: str) -> Automaton:
    """Our engine for the pattern."""
    return Automaton(read(source, ignore_case=False)[0].root)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("(?:|a)*", "aaa"),
        ("(?:|a)*b", "aab"),
        ("(?:a|b*)*?c", "abbac"),
        ("(?:a*?)*?b", "aab"),
        ("(?:(?:a?)*)*", "aab"),
        ("(?:a??){2,5}", "aaa"),
        ("(?:|ab|a){0,3}", "aabab"),
        ("a|ab|abc", "abc"),
        ("(?:a|ab)(?:c|bcd)", "abcd"),
        (r"\B", ""),
        (r"\b", ""),
        ("$", "\n"),
        ("$", "a\n"),
        ("a$\n", "a\n"),
        ("(?m)$.^", "\n\n"),
        ("(?m)^b$", "a\nb\nc"),
        (r"\Aa|b\Z", "ab\n"),
        ("(?!)", "a"),
        ("(?=.*b)a*(?<!a)", "aab"),
        ("(?<=a(?!b))c|(?<!ab)c", "abcac"),
        ("(?=(?!b)a|b(?=c))\\w", "bac"),
    ],
)
def test_the_odd_corners_of_re_are_followed(source: str, text: str) -> None:
    """Empty iterations, preferences, edges at the ends and nested looks answer as `re` does."""
    found = re.search(source, text)
    assert compiled(source).search(text) == (found.span() if found else None)
    assert compiled(source).test(text) == (found is not None)


def test_forgetting_states_changes_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for a handful of states and characters, the answers stay."""
    monkeypatch.setattr(automaton, "_STATE_LIMIT", 3)
    monkeypatch.setattr(automaton, "_CHARACTER_LIMIT", 2)
    engine = compiled(r"(?:a|b)*a(?:a|b){4}c\b(?=d?)")
    for number in range(50):
        text = "".join("aabbc d"[byte % 7] for byte in hashlib.shake_128(bytes([number])).digest(40))
        found = re.search(r"(?:a|b)*a(?:a|b){4}c\b(?=d?)", text)
        assert engine.search(text) == (found.span() if found else None)


def test_many_states_stay_linear() -> None:
    """A pattern whose states are as many as the text is long answers nevertheless."""
    text = "".join("ab"[byte % 2] for byte in hashlib.shake_128(b"").digest(50_000))
    assert not compiled("(?:a|b)*a(?:a|b){50}c").test(text)


def test_a_pattern_beyond_the_limit_is_not_compiled() -> None:
    """Nested counts multiply, and the limit holds before memory does."""
    with pytest.raises(TooLargeError):
        compiled("(?:a{100}){100}")
