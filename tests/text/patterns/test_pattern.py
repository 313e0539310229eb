from __future__ import annotations

import re
import subprocess
import sys

import pytest

from averment.text.patterns import PatternError, compile_pattern

HOSTILE = [
    (r"(a+)+$", "a" * 100_000 + "b"),
    (r"(a|a)*b", "a" * 100_000),
    (r"(a|aa)+$", "a" * 100_000 + "c"),
    (r"(x+x+)+y", "x" * 100_000),
    (r"(?i)(ſ+s+)+k", "sſ" * 50_000),
    (r"foo.*bar.*baz", "foobar" * 16_000),
    (r"(?:\w+\s?)+$", "ab " * 33_000 + "!"),
    (r"(?:a?b?){300}c", "ab" * 10_000),
]
"""Regular patterns, and texts on which backtracking would not end."""

QUADRATIC = [
    (r"\s+$", " " * 100_000 + "x"),
    (r"\w+@", "a" * 100_000),
    (r"foo.*bar", "foo" * 33_000),
    (r"refund(?!.*denied)x", "refund" * 16_000),
    (r"(?<=a )\w+@", "a b" * 33_000),
    (r"^.*foo.*bar", "foo" * 33_000),
    (r"(?:\b\w+\s?)+$", "ab " * 33_000 + "!"),
]
"""Tame patterns that `re` searches in quadratic time, and texts on which it would take too long."""


@pytest.mark.parametrize(
    "source",
    [
        r"foo",
        r"(?i)\bcancel(?:l?ing|led)?\s+(?:my|the)\s+order\b",
        r"\bfoo(?!bar)",
        r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?![\w.])",
        r"(?<!\d)(?:\d[ -]?){13,16}(?!\d)",
        r"^(?=.*[A-Z])(?=.*\d).+$",
        r"\b(\w+)\s+\1\b",
        r"(\w{1,40}) \1",
        r"refund.{0,50}denied",
        r"(?:退款|返金)\s*成功",
        r"\b\w++@",
        r"(?>a|ab)c",
        r"(?:|a)*b",
        "|".join(f"phrase number {n} of many" for n in range(60)),
        "",
        *(source for source, _ in QUADRATIC),
    ],
)
def test_ordinary_patterns_are_tame(source: str) -> None:
    """What people usually write has a proof, look-around and back-references included."""
    assert compile_pattern(source).tier == "tame"


@pytest.mark.parametrize(("source", "text"), HOSTILE)
def test_a_regular_pattern_answers_on_hostile_text(source: str, text: str) -> None:
    """Exponential patterns are recognised and answer anyway, with a verdict for the text and one for its cure."""
    pattern = compile_pattern(source)
    assert pattern.tier == "regular"
    assert pattern.search(text) is None
    assert not pattern.test(text)


@pytest.mark.parametrize(("source", "text"), QUADRATIC)
def test_a_long_text_goes_to_the_linear_engine(source: str, text: str) -> None:
    """Quadratic patterns answer on texts that would keep `re` busy for minutes."""
    assert not compile_pattern(source).test(text)


def test_a_long_text_has_the_span_that_re_finds() -> None:
    """Beyond the length at which the engines change hands, the answers stay."""
    text = "x" * 20_000 + "foo then bar, and another bar " + "y" * 20_000
    for source in (r"foo.*bar", r"foo.*?bar", r"o.*(?=y)", r"(?<=x)f\w+\s"):
        found = re.search(source, text)
        assert found is not None
        assert compile_pattern(source).search(text) == found.span()


@pytest.mark.parametrize(
    ("source", "position", "words"),
    [
        (r"(a+)+(?!b)", 5, "look-around"),
        (r"x(?=a)(a|a)*b", 1, "look-around"),
        (r"(\w+) \1", 6, "a back-reference"),
        (r"(?P<q>a*)(?P=q)b", 9, "a back-reference"),
        (r"(a)?(b+)+(?(1)c|d)", 9, "a condition on a group"),
        (r"(?>a+)b", 0, "an atomic group"),
        (r"[(?=a]\(?\w++@", 11, "possessive"),
        (r"(?:(a)|b)++", None, "a capturing group inside a possessive repeat"),
        ("(", 0, "unterminated subpattern"),
        ("a**", 2, "multiple repeat"),
        ("(?<=a+)b", None, "fixed-width"),
        ("a{99999999999}", None, "repetition count"),
        ("(a{1000}){1000}", None, "more than 2000 parts"),
        ("(" * 51 + ")" * 51, 50, "nests deeper than 50"),
        ("x" * 10_001, None, "10001 characters, more than 10000"),
        ("a\bb", 1, "U+0008"),
        ("a\tb", 1, "U+0009"),
        ("a\x85", 1, "U+0085"),
        ("(?x)a\x1fb", 5, "U+001F"),
    ],
)
def test_a_refusal_says_what_and_where(source: str, position: int | None, words: str) -> None:
    """A pattern that can't be searched is refused with the construct and its place."""
    with pytest.raises(PatternError) as caught:
        compile_pattern(source)
    assert words in caught.value.message
    assert caught.value.position == position
    assert not caught.value.message.endswith(".")


def test_many_groups_side_by_side_are_not_nested() -> None:
    """The limit is on depth, and parentheses that are meant literally don't count."""
    assert compile_pattern("(a)" * 60 + r"\([(]" * 60).tier == "tame"


def test_a_backspace_has_the_mend_for_yaml() -> None:
    r"""The usual way to a backspace is `\b` in double quotes."""
    with pytest.raises(PatternError, match="raw control character") as caught:
        compile_pattern("\bword\b")
    assert caught.value.mend is not None
    assert "single quotes" in caught.value.mend


@pytest.mark.parametrize(
    "source", [r"(\w{1,20}) \1", r"(?P<q>a{1,20})(?P=q)b", r"(?>a{1,20})b", r"\w{1,20}+@"]
)
def test_the_mend_mends(source: str) -> None:
    """Refused patterns are accepted when their repeats are bounded as the error advises."""
    assert compile_pattern(source).tier == "tame"


def test_a_verbose_pattern_may_span_lines() -> None:
    """In verbose patterns white space means nothing, so its control characters are no mistake."""
    assert compile_pattern("(?x) a\n\tb  # a comment").test("ab")


def test_ambiguous_sets_are_accepted_without_a_warning() -> None:
    """`re` warns about some sets; a document's author can't see that, and the meaning is the running `re`'s."""
    assert compile_pattern("[[a]x").test("[x")


def test_patterns_are_equal_by_source_and_case() -> None:
    """A pattern is a value."""
    assert compile_pattern("a") == compile_pattern("a")
    assert len({compile_pattern("a"), compile_pattern("a", ignore_case=True), compile_pattern("a")}) == 2
    assert compile_pattern("a") != "a"  # type: ignore[comparison-overlap]
    assert repr(compile_pattern("a", ignore_case=True)) == "<tame pattern 'a' ignoring case>"


def test_named_groups_are_numbered() -> None:
    """The names of a pattern's groups are known before any search."""
    assert compile_pattern(r"(x)(?P<amount>\d+)").groups == {"amount": 2}


def test_ordinary_patterns_load_no_engine() -> None:
    """Importing and compiling leave the automaton and google-re2 alone."""
    code = (
        "import sys; from averment.text.patterns import compile_pattern, PatternSet; "
        r"PatternSet([compile_pattern(r'\brefund\s+\w+')]).hits(['a refund now']); "
        "print([name for name in ('averment.text.patterns.automaton', 're2', 'inspect_') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
