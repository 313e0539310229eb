from __future__ import annotations

import math

import pytest

from averment.text.patterns.analysis import Bound, overall, per_start
from averment.text.patterns.tree import Tree, read


def tree(source: str) -> Tree:
    """The pattern's tree."""
    return read(source, ignore_case=False)[0]


@pytest.mark.parametrize(
    "source",
    [
        r"foo\s+bar",
        r"\b\w+@",
        r"(?<!\w)\w+@",
        r"(?:^|\s)\w+$",
        r"(?m)^\w+:",
        r"^.*foo",
        r"\$\d+(?:,\d{3})*(?:\.\d\d)?",
        r"\b(\w+)\s+\1\b",
        r"返金\s*成功",
        r"(?i)(?:Straße|STRASSE)\s+\d+",
        r"\B-\w+",
        r"a\Z|b\s*c",
    ],
)
def test_linear_patterns_are_proved_linear(source: str) -> None:
    """One attempt's work does not overlap another's, and the analysis sees it."""
    bound = overall(tree(source))
    assert bound is not None
    assert bound.per_character() < 100


@pytest.mark.parametrize(
    "source",
    [r"\w+@", r"foo.*bar", r"\s+$", r"^.*foo.*bar", r"refund(?!.*denied)", r"(\w+) \1"],
)
def test_quadratic_patterns_are_proved_quadratic(source: str) -> None:
    """Each attempt may read the rest of the text, or one attempt may read it over and over."""
    bound = overall(tree(source))
    assert bound is not None
    assert bound.per_character() == math.inf
    assert bound.longest(200_000_000) > 500


@pytest.mark.parametrize(
    "source",
    [
        r"(a+)+$",
        r"(a|a)*b",
        r"(a|aa)+$",
        r"(x+x+)+y",
        r"(a*)*b",
        r"(?:(?:a?)*)*b",
        r"foo.*bar.*baz",
        r"(?:[a-z]+\s?)+x",
        r"(.*),(.*),(.*)",
        r"(?i)(?:ka|\u212aa)+x",
        r"(?i)(?-i:(b+))*\1*x",
        r"(?!(a+)+b)c",
        r"(?i)(s+)\1x",
        r"(?P<a>x)(?P<b>(?P=a)(?P=a))(?P=b)*(?P=b)*(?P=b)*y",
    ],
)
def test_worse_patterns_have_no_proof(source: str) -> None:
    """What is cubic or exponential is never called tame."""
    assert per_start(tree(source)) is None
    assert overall(tree(source)) is None


def test_large_finite_ambiguity_has_a_useless_bound() -> None:
    """`(a?){30}a{30}` has finitely many ways, but far too many to call it tame."""
    bound = per_start(tree(r"(?:a?){30}a{30}"))
    assert bound is None or bound.longest(200_000_000) < 1


def test_counted_repeats_keep_their_reach() -> None:
    """A repeat that is too large to unroll still bounds how far an attempt looks."""
    bound = per_start(tree(r"refund.{0,300}denied"))
    assert bound is not None
    assert bound.reach == 312


def test_a_bound_knows_the_longest_text() -> None:
    """The steps at the longest text fit the budget, and one character more may not."""
    bound = Bound(3, 2, None)
    longest = bound.longest(1_000_000)
    assert (3 + 2 * (longest + 1)) * (longest + 1) <= 1_000_000
    assert Bound(10, 0, None).longest(1_000) == 99
    assert Bound(1, 1, 9).longest(1_100) == 99
