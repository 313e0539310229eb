from __future__ import annotations

from typing import Any

import pytest

from averment.oracle.tasks.literals import MAX_LITERAL
from averment.oracle.tasks.sources import (
    MAX_RANGE,
    AbsentSource,
    EnumSource,
    FixtureSource,
    LiteralSource,
    RangeSource,
    SourceError,
    parse_source,
    source_kind,
)


def refused(source: str, filter_text: str | None = None) -> SourceError:
    with pytest.raises(SourceError) as caught:
        parse_source(source, filter_text)
    return caught.value


@pytest.mark.parametrize("source", ["fixture:books.book_id", "books.book_id", "fixture: books.book_id"])
def test_a_fixture_names_a_collection_and_a_field(source: str) -> None:
    """A source without a colon is one."""
    parsed = parse_source(source)
    assert isinstance(parsed, FixtureSource)
    assert (parsed.collection, parsed.field) == ("books", "book_id")


def test_the_field_of_a_fixture_may_have_dots() -> None:
    """The first dot ends the collection's name."""
    parsed = parse_source("fixture:books.a.b")
    assert isinstance(parsed, FixtureSource)
    assert (parsed.collection, parsed.field) == ("books", "a.b")


def test_a_filter_belongs_to_fixtures() -> None:
    """For other kinds it says nothing, even when it is none."""
    parsed = parse_source("fixture:books.book_id", "pages > 3")
    assert isinstance(parsed, FixtureSource)
    assert parsed.rows.matches({"pages": 4})
    assert parse_source("literal:3", "or or or") == LiteralSource([3])


def test_an_enum_and_an_absent_id_are_names() -> None:
    """They are looked up later."""
    assert parse_source("enum:get_book.shelf") == EnumSource("get_book", "shelf")
    assert parse_source("absent: books ") == AbsentSource("books")


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("[1, 'two', 3.5, True, None]", [1, "two", 3.5, True, None]),
        (" ['a',\n 'b'] ", ["a", "b"]),
        ("[[1], {'a': [2]}]", [[1], {"a": [2]}]),
        ("200000", [200000]),
        ("-5", [-5]),
        ("0.5", [0.5]),
        ("None", [None]),
        ("'quoted'", ["quoted"]),
        ("{'a': 1}", [{"a": 1}]),
        ("plain text, as it stands", ["plain text, as it stands"]),
        ("2026-01-01", ["2026-01-01"]),
        ("09:30", ["09:30"]),
        ("true", ["true"]),
        ("B-1", ["B-1"]),
        ("len(x)", ["len(x)"]),
        ("----------", ["----------"]),
        ("-" * 500, ["-" * 500]),
    ],
)
def test_a_literal_is_a_list_of_values_or_one_value(text: str, values: list[Any]) -> None:
    """One value is a Python literal where it is one, and else the text."""
    parsed = parse_source(f"literal:{text}")
    assert isinstance(parsed, LiteralSource)
    assert [(type(value), value) for value in parsed.values] == [(type(value), value) for value in values]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the literal is empty"),
        ("[]", "the list of values is empty"),
        ("[a, b]", "the list of values is no Python literal"),
        ("[1, 2", "the list of values is no Python literal"),
        ("[1], [2]", "the values are not one list"),
        ("1, 2", "the literal holds a tuple, which JSON has no form for"),
        ("[(1, 2)]", "the literal holds a tuple, which JSON has no form for"),
        ("[1, {2}]", "the literal holds a set, which JSON has no form for"),
        ("b'x'", "the literal holds bytes, which JSON has no form for"),
        ("...", "the literal holds `...`, which JSON has no form for"),
        ("1e999", "the literal holds an infinite number, which JSON has no form for"),
        ("{1: 2}", "the literal holds a mapping whose keys are not all strings, which JSON has no form for"),
        ("0x" + "f" * 5000, "the literal holds an integer of too many digits, which JSON has no form for"),
        ("x" * (MAX_LITERAL + 1), f"the literal has {MAX_LITERAL + 1} characters, more than {MAX_LITERAL}"),
    ],
)
def test_a_literal_that_is_no_json_value_is_refused(text: str, message: str) -> None:
    """What a task could not be written down with can't be bound."""
    mistake = refused(f"literal:{text}").mistake
    assert (mistake.code, mistake.message) == ("invalid_source", message)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("{'min': 1, 'max': 5}", [1, 2, 3, 4, 5]),
        ("{min: 1, max: 5}", [1, 2, 3, 4, 5]),
        ('{"min": 1, max: 6, "step": 2}', [1, 3, 5]),
        ("{min: 5, max: 1, step: -2}", [5, 3, 1]),
        ("{min: 3, max: 3}", [3]),
        ("{min: -1, max: 0}", [-1, 0]),
    ],
)
def test_a_range_counts_from_min_to_max(text: str, values: list[int]) -> None:
    """Both are included; keys may stand in quotes or not."""
    parsed = parse_source(f"range:{text}")
    assert isinstance(parsed, RangeSource)
    assert list(parsed.values) == values


def test_the_largest_range_takes_no_room() -> None:
    """Its values are made as they are asked for."""
    parsed = parse_source(f"range:{{min: 1, max: {MAX_RANGE}}}")
    assert isinstance(parsed, RangeSource)
    assert len(parsed.values) == MAX_RANGE


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the range can't be read"),
        ("1..5", "the range can't be read"),
        ("[1, 5]", "the range is no mapping"),
        ("{min: 1}", "the range has no `max`"),
        ("{max: 1}", "the range has no `min`"),
        ("{min: 1, max: 2, steps: 1}", "a range has `min`, `max` and `step` only"),
        ("{**x}", "a range has `min`, `max` and `step` only"),
        ("{min: 1, max: True}", "`max` of the range is no integer"),
        ("{min: 1.0, max: 2}", "`min` of the range is no integer"),
        ("{min: 1, max: top}", "`max` of the range is no integer"),
        ("{min: 1, max: 5, step: 0}", "the range's `step` is 0"),
        ("{min: 5, max: 1}", "the range's `step` leads away from `max`"),
        ("{min: 1, max: 5, step: -1}", "the range's `step` leads away from `max`"),
        (f"{{min: 0, max: {MAX_RANGE}}}", f"the range has more than {MAX_RANGE} values"),
        ("{min: 0, max: 0x" + "f" * 3000 + "}", f"the range has more than {MAX_RANGE} values"),
        ("{min: 0, max: 0x" + "f" * 4000 + "}", "`max` of the range has too many digits"),
    ],
)
def test_a_range_that_counts_nothing_is_refused(text: str, message: str) -> None:
    """Or that counts too much, or not in integers."""
    mistake = refused(f"range:{text}").mistake
    assert (mistake.code, mistake.message) == ("invalid_source", message)


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("", "missing_source"),
        ("  ", "missing_source"),
        ("fixture:books", "bad_fixture_path"),
        ("books", "bad_fixture_path"),
        ("fixture:.x", "bad_fixture_path"),
        ("fixture:books.", "bad_fixture_path"),
        ("enum:get_book", "bad_enum_path"),
        ("enum:", "bad_enum_path"),
        ("absent: ", "invalid_source"),
        ("fixtures:books.book_id", "unknown_source_kind:fixtures"),
        ("https://example.org", "unknown_source_kind:https"),
        ("k" * 99 + ":x", "unknown_source_kind:" + "k" * 39 + "…"),
    ],
)
def test_a_source_that_names_nothing_has_its_code(source: str, code: str) -> None:
    """The codes are those of check 2."""
    assert refused(source).mistake.code == code


def test_a_kind_that_is_misspelt_has_the_nearest_one() -> None:
    """And a sentence with a colon in it is told apart from one."""
    assert refused("fixtures:books.book_id").mistake.nearest == "fixture"
    assert "literal:" in str(refused("Well: who knows").mistake.mend)


def test_a_filter_that_is_none_is_refused_where_it_goes_wrong() -> None:
    """The path is `filter`, the offset inside it."""
    mistake = refused("fixture:books.book_id", "pages > 1 or pages < 0").mistake
    assert (mistake.code, mistake.path, mistake.offset) == ("unevaluable_filter", ("filter",), 0)


@pytest.mark.parametrize(
    ("source", "offset"),
    [
        ("literal: [1, 2", 9),
        ("literal:['ä', b]", 8),
        ("range:{min: 'ä', max: y}", 12),
        ("range:{min: 1, max: y}", 20),
    ],
)
def test_a_mistake_inside_a_source_has_its_place(source: str, offset: int) -> None:
    """In characters from the start of the source."""
    assert refused(source).mistake.offset == offset


@pytest.mark.parametrize(
    ("source", "kind"),
    [("books.book_id", "fixture"), ("literal:a:b", "literal"), ("nonsense:x", "nonsense"), ("", "fixture")],
)
def test_the_kind_of_a_source_is_the_word_before_the_colon(source: str, kind: str) -> None:
    """Whether that is a kind or not."""
    assert source_kind(source) == kind
