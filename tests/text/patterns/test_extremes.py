from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from averment.text.patterns import Pattern, PatternError, compile_pattern
from averment.text.patterns.extremes import matches_everything, matches_nothing

EVERYTHING = [
    "(?:)",
    "|a",
    "a|",
    "x*",
    "x*?",
    "x{0,3}",
    "(x)?",
    "^",
    "$",
    r"\A",
    r"\Z",
    "(?m)^",
    "(?m)$",
    ".*",
    "^.*",
    ".*$",
    "x*$",
    "^x*",
    "(?s)^.*$",
    r"\A[\s\S]*\Z",
    "(?s)^(.*)$",
    "^(?:|a)b*",
    "a|^b*",
    "(?:a|b*)(?:c*|d)",
    "(?=)",
    "(?=x*)",
    "(?=a|b*)",
    "(?:a|$)b*",
    "(?<=)",
    "(?!(?!))",
    r"(?!a\bb)",
    "(?!$a)",
    "x?+",
    "^(?>x?)y?",
    "(?>x?)$",
    "(a)?(?(1)b?|c?)",
]
SOMETHING = [
    "x",
    "x+",
    ".",
    ".+",
    r"[\s\S]",
    "(?s)^.+$",
    "^$",
    "^.*$",
    r"\b",
    r"\B",
    r"\b|\B",
    "^x*$",
    r"(?:\b)*x",
    "(?=x)",
    "(?!x)x*y",
    "(?!$)",
    "^(?>x?)^",
    "(a)?(?(1)b|c?)",
    "(ax*)$",
    r"(ab)(?=a)\1$",
    "a(?:$b|c)",
    "refund",
    r"\brefund\b",
    "^hello",
    "bye$",
    r"a\bb?",
    r"a\b,",
    r"\b,",
    r"\Bb",
    r"a$\n",
    r"(?m)a$\nb",
    "(?<!un)paid",
    "(?=.*a)(?=.*b)c*",
    r"(?=\d{3})\d{3}",
    "(?i)(?=k)\u212a",
    "a(?!)|b",
    r"(?:a\bb)*c",
    r"(a)(?!\1)b",
    "(?>a|ab)c",
    r"[^\W_]",
]
NOTHING = [
    "(?!)",
    "$a",
    "a^",
    "^a^",
    r"a\Ab",
    r"a\bb",
    r"a\B,",
    r"\b\B",
    r"^\b,",
    r"(?m)a^b",
    r"(?m)a$b",
    r"[^\s\S]",
    r"[^\W\w]|$q",
    "(?=a)b",
    "(?!a)a",
    "(?i)(?!A)a",
    "(?=ab)ac",
    r"(?=\d{3})\d\d[a-z]",
    "(?=a*$)b",
    "x(?=y)$",
    "a(?<=b)",
    "a(?<!a)",
    "(?<=a)(?<=b)c",
    "(?!.*)x",
    "(?=a(?=b).)a[^b]",
    "(?=ab)(?=b)",
    r"(?:a\bb)+c",
    "(?>a?)$b",
    r"(a)\1$b",
    "(a)?(?(1)b|c)$d",
]


@pytest.mark.parametrize("source", EVERYTHING)
def test_what_is_found_in_every_text_is_known(source: str) -> None:
    """Patterns that match the empty text somewhere, in whatever text."""
    pattern = compile_pattern(source)
    assert matches_everything(pattern)
    assert not matches_nothing(pattern)


@pytest.mark.parametrize("source", SOMETHING)
def test_what_says_something_is_neither(source: str) -> None:
    """Each is found in some text and not in another."""
    pattern = compile_pattern(source)
    assert not matches_everything(pattern)
    assert not matches_nothing(pattern)


@pytest.mark.parametrize("source", NOTHING)
def test_what_is_found_in_no_text_is_known(source: str) -> None:
    """Patterns that contradict themselves."""
    pattern = compile_pattern(source)
    assert matches_nothing(pattern)
    assert not matches_everything(pattern)


def test_case_is_minded() -> None:
    """A contradiction between cases is none where case makes no difference."""
    assert matches_nothing(compile_pattern("(?=a)A"))
    assert not matches_nothing(compile_pattern("(?=a)A", ignore_case=True))


def test_a_search_that_takes_too_long_proves_nothing() -> None:
    """What can't match is taken to say something where the proof would take too many steps."""
    small, large = (
        f"(?=(?:aa?){{0,{n}}}c)(?=(?:aa?a?){{0,{n}}}d)(?=(?:a?aa){{0,{n}}}d)(?:aa?){{{n}}}$b" for n in (2, 9)
    )
    assert matches_nothing(compile_pattern(small))
    assert not matches_nothing(compile_pattern(large))


_BASES = st.sampled_from(
    [
        *(
            "a",
            "a",
            "b",
            ",",
            "ſ",
            "k",
            "K",
            r"\w",
            r"\W",
            r"\s",
            ".",
            "[ab]",
            "[^a]",
            r"[^\w\s]",
            r"[\s\S]",
            r"\n",
        ),
        *("^", "$", r"\A", r"\Z", r"\b", r"\B", "(?m:^)", "(?m:$)", r"(?a:\b)", "(?s:.)*", ""),
    ]
)
_COUNTS = st.sampled_from(["*", "+", "?", "*?", "{2}", "{0}", "?+", "{1,2}+"])


def _composed(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    several = st.lists(inner, min_size=2, max_size=3)
    return st.one_of(
        several.map("".join),
        several.map(lambda options: f"(?:{'|'.join(options)})"),
        st.tuples(inner, _COUNTS).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
        st.tuples(st.sampled_from(["(?=", "(?!", "(?<=", "(?<!", "(?>"]), inner).map(
            lambda pair: f"{pair[0]}{pair[1]})"
        ),
        inner.map(lambda body: f"({body})?(?(1)a|b)"),
        inner.map(lambda body: f"({body})\\1"),
    )


_SOURCES = st.tuples(
    st.sampled_from(["", "(?i)", "(?m)", "(?s)", "(?a)"]), st.recursive(_BASES, _composed, max_leaves=6)
).map("".join)
_LONGER = st.text(st.sampled_from("aab,ſkKK \n_é"), min_size=4, max_size=9)
_SHORT = ["".join(letters) for length in range(4) for letters in product("ab,\nſ", repeat=length)]


def _compiled(source: str) -> Pattern:
    try:
        return compile_pattern(source)
    except PatternError:
        assume(False)
        raise


@settings(max_examples=200, deadline=None)
@given(_SOURCES, st.lists(_LONGER, max_size=3))
def test_what_is_proved_is_so(source: str, longer: list[str]) -> None:
    """`re` finds the one kind in every text and the other in none."""
    pattern = _compiled(source)
    everything, nothing = matches_everything(pattern), matches_nothing(pattern)
    assert not (everything and nothing)
    for text in [*_SHORT, *longer] if everything or nothing else ():
        assert (re.search(source, text) is not None) is everything
