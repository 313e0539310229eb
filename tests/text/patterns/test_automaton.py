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
    assert list(compiled(source).matches(text)) == [match.span() for match in re.finditer(source, text)]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("a*", "aab"),
        ("a*?", "aab"),
        ("(?:|a)*", "aaba"),
        ("|ab|a", "abab"),
        (r"\b|\w", "ab cd"),
        ("(?=a)a?", "aba"),
        ("(?m)^|$", "a\n\nb"),
    ],
)
def test_after_an_empty_match_another_one_begins_there_only_if_it_is_not_empty(
    source: str, text: str
) -> None:
    """As in `re.finditer`: a place can be the empty match once, and the start of a longer one after it."""
    assert list(compiled(source).matches(text)) == [match.span() for match in re.finditer(source, text)]


@pytest.mark.parametrize("source", ["a.*?b|a", "(?:a|aa)+?", "(a+)+$|a", "a(?=.*b)|a"])
def test_all_matches_together_cost_one_reading(source: str) -> None:
    """Each match alone could read to the end of the text, which 100,000 of them would do 100,000 times."""
    assert sum(1 for _ in compiled(source).matches("a" * 100_000)) in {1, 100_000}


def test_forgetting_states_changes_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """With room for a handful of states and characters, the answers stay."""
    monkeypatch.setattr(automaton, "_STATE_LIMIT", 3)
    monkeypatch.setattr(automaton, "_CHARACTER_LIMIT", 2)
    engine = compiled(r"(?:a|b)*a(?:a|b){4}c\b(?=d?)")
    for number in range(50):
        text = "".join("aabbc d"[byte % 7] for byte in hashlib.shake_128(bytes([number])).digest(40))
        found = re.search(r"(?:a|b)*a(?:a|b){4}c\b(?=d?)", text)
        assert engine.search(text) == (found.span() if found else None)
    again = "aabbaaaa " * 20
    assert list(engine.matches(again)) == [
        match.span() for match in re.finditer(r"(?:a|b)*a(?:a|b){4}c\b(?=d?)", again)
    ]


def test_many_states_stay_linear() -> None:
    """A pattern whose states are as many as the text is long answers nevertheless."""
    text = "".join("ab"[byte % 2] for byte in hashlib.shake_128(b"").digest(50_000))
    assert not compiled("(?:a|b)*a(?:a|b){50}c").test(text)


def test_a_pattern_beyond_the_limit_is_not_compiled() -> None:
    """Nested counts multiply, and the limit holds before memory does."""
    with pytest.raises(TooLargeError):
        compiled("(?:a{100}){100}")
