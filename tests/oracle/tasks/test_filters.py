from __future__ import annotations

import warnings
from typing import Any

import pytest

from averment.oracle.tasks.filters import MAX_FILTER, FilterError, parse_filter

ROW: dict[str, Any] = {
    "status": "open",
    "pages": 12,
    "title": "salt and == pepper",
    "tags": ["a"],
    "gone": None,
    "new": True,
    "größe": 1.5,
}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "status == 'open'",
        "status != 'late' and pages > 11",
        "pages >= 12 and pages <= 12 and pages < 13",
        "status in ['open', 'late']",
        "status in ('open',)",
        "status in {'open'}",
        "status in 'reopened'",
        "status not in ['late']",
        "title == 'salt and == pepper'",
        'title in ["x or y", "salt and == pepper"]',
        "gone == None",
        "new == True",
        "new == 1",
        "pages == 12.0",
        "tags == ['a']",
        "tags not in {'b'}",
        "pages > -1",
        "größe < 2",
        "  (status == 'open') and (pages == 12 and new == True)  ",
    ],
)
def test_a_row_that_every_comparison_holds_of_may_be_drawn(text: str) -> None:
    """Comparisons joined by `and` with a literal on the right; words and signs in quotes are text."""
    assert parse_filter(text).matches(ROW)


@pytest.mark.parametrize(
    "text",
    [
        "status == 'late'",
        "status == 'open' and pages > 12",
        "pages not in [12]",
        "status in []",
        "status == 12",
    ],
)
def test_a_row_that_one_comparison_does_not_hold_of_may_not(text: str) -> None:
    """One false comparison is enough; values of different types are unequal and no mistake."""
    assert not parse_filter(text).matches(ROW)


@pytest.mark.parametrize("op", ["==", "!=", "<", "<=", ">", ">="])
def test_a_missing_field_makes_its_comparison_false(op: str) -> None:
    """Whatever the operator."""
    assert not parse_filter(f"absent {op} 1").matches(ROW)


@pytest.mark.parametrize("op", ["in", "not in"])
def test_a_missing_field_is_neither_in_a_list_nor_not_in_it(op: str) -> None:
    """`not in` of what is not there is false too."""
    assert not parse_filter(f"absent {op} [1]").matches(ROW)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("status == 'open' or pages > 1", 1, "the filter uses `or`; only `and` is known"),
        ("status == 'open' and (pages == 1 or pages == 2)", 23, "the filter uses `or`; only `and` is known"),
        ("not status == 'open'", 1, "the filter uses `not`; only comparisons are known"),
        ("1 < pages < 20", 1, "the filter chains comparisons"),
        ("'open' == status", 1, "a comparison has no field on its left"),
        ("book.pages > 1", 1, "a comparison has no field on its left"),
        ("len(title) > 1", 1, "a comparison has no field on its left"),
        ("pages == other", 10, "a comparison has no literal on its right"),
        ("größe == andere", 10, "a comparison has no literal on its right"),
        ("new == true", 8, "a comparison has no literal on its right"),
        ("pages == 1 + 1", 10, "a comparison has no literal on its right"),
        ("pages in 12", 10, "`in` looks into a number"),
        ("pages not in None", 14, "`not in` looks into null"),
        ("pages in {'a': 1}", 10, "`in` looks into a mapping"),
        ("status is 'open'", 1, "`is` is none of the operators"),
        ("gone is not None", 1, "`is not` is none of the operators"),
        ("status", 1, "a part of the filter is no comparison"),
        ("status == 'open' and pages", 22, "a part of the filter is no comparison"),
        ("status = 'open'", 8, "the filter is no expression that can be read"),
        ("   ", 4, "the filter is no expression that can be read"),
        ("status == 'open", 11, "the filter is no expression that can be read"),
    ],
)
def test_what_is_not_in_the_language_is_refused_at_its_column(text: str, column: int, message: str) -> None:
    """Before any row is looked at."""
    with pytest.raises(FilterError) as caught:
        parse_filter(text)
    assert (caught.value.offset + 1, caught.value.message) == (column, message)
    assert caught.value.mend.endswith(".")


@pytest.mark.parametrize(
    ("text", "mend"),
    [
        ("new == true", "Write `True`."),
        ("gone == null", "Write `None`."),
        ("status = 'open'", "Write `==` to compare."),
        ("gone is None", "Write `==` or `!=`."),
    ],
)
def test_a_slip_that_everybody_makes_has_its_own_mend(text: str, mend: str) -> None:
    """The words of JSON, and one equals sign too few."""
    with pytest.raises(FilterError) as caught:
        parse_filter(text)
    assert caught.value.mend == mend


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("pages > 'x'", "`pages` is a number in a row, and `>` can't compare it with text"),
        ("gone < 3", "`gone` is null in a row, and `<` can't compare it with a number"),
        ("pages in 'abc'", "`pages` is a number in a row, and `in` can't compare it with text"),
    ],
)
def test_values_without_an_order_are_a_mistake(text: str, message: str) -> None:
    """A row that can't be asked is not a row that doesn't match."""
    with pytest.raises(FilterError) as caught:
        parse_filter(text).matches(ROW)
    assert caught.value.message == message


def test_comparisons_after_the_first_false_one_are_not_asked() -> None:
    """So that an earlier comparison can keep rows of another type away."""
    assert not parse_filter("status == 'late' and pages > 'x'").matches(ROW)


def test_a_filter_says_which_fields_it_compares() -> None:
    """In their order, each as often as it is compared."""
    assert parse_filter("b == 1 and a == 2 and b != 3").fields == ("b", "a", "b")


@pytest.mark.parametrize(
    "text",
    [
        "x == '" + "a" * MAX_FILTER + "'",
        "x == " + "-" * 1000 + "1",
        "x == " + "[" * 500 + "]" * 500,
        "not " * 400 + "x == 1",
        "x == " + "+".join("1" * 900),
        "x == 1\0",
    ],
)
def test_a_filter_that_is_long_or_deep_is_refused(text: str) -> None:
    """It never takes the parser's stack down."""
    with pytest.raises(FilterError):
        parse_filter(text)


def test_odd_escapes_warn_nobody() -> None:
    """Python's parser warns of them; whoever reads a pack did not write it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert parse_filter(r"title == '\d'").matches({"title": r"\d"})
