from __future__ import annotations

import warnings

import pytest

from averment.oracle.tasks.literals import MAX_LITERAL, LiteralError, offset_of, parse, read_literal


@pytest.mark.parametrize(
    "text",
    [
        "-" * 15_000 + "1",
        "not " * 4_000 + "1",
        "[" * 9_000 + "]" * 9_000,
        "+".join("1" * 9_000),
        "**".join("1" * 6_000),
        "a" + ".b" * 9_000,
        "lambda: " * 2_000 + "1",
        "(" * 150 + "1" + ")" * 149,
        "1 if 1 else " * 1_500 + "1",
        "'" * 19_999,
        "9" * 10_000,
        "\0",
        "x" * (MAX_LITERAL + 1),
        "",
    ],
)
def test_whatever_is_no_literal_is_refused(text: str) -> None:
    """However long or deep it is, without a word on standard error and without an end of the process."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(LiteralError):
            read_literal(text)


def test_nothing_is_evaluated() -> None:
    """Calls, names, attributes and arithmetic are no literals."""
    for text in ("__import__('os')", "open", "().__class__", "1 + 1", "f'{1}'", "[x for x in ()]"):
        with pytest.raises(LiteralError):
            read_literal(text)


def test_dashes_in_quotes_are_text() -> None:
    """What nests is looked for outside strings only."""
    assert read_literal(f"'{'-' * 500}'") == "-" * 500


def test_an_offset_counts_characters_of_the_text_as_given() -> None:
    """Across lines, leading space and characters of several bytes."""
    text = "  ['ä', '😀',\n  x]"
    tree = parse(text)
    assert text[offset_of(text, tree) :].startswith("[")
    assert text[offset_of(text, tree.elts[2]) :] == "x]"  # type: ignore[attr-defined]
