from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from averment.oracle.model.pack import Pack
from averment.oracle.tasks.candidates import Candidate, absent_ids, fixture_ref, resolve
from averment.oracle.tasks.sources import SourceError, parse_source

Handmade = Callable[..., Pack]


def candidates(pack: Pack, source: str, filter_text: str | None = None) -> list[Candidate]:
    return list(resolve(parse_source(source, filter_text), pack))


def refused(pack: Pack, source: str, filter_text: str | None = None) -> SourceError:
    with pytest.raises(SourceError) as caught:
        resolve(parse_source(source, filter_text), pack)
    return caught.value


def test_fixtures_come_in_the_order_of_the_file_with_their_rows(handmade: Handmade) -> None:
    """A reference is the collection and the id, as JSON text."""
    assert candidates(handmade(), "fixture:books.pages") == [
        Candidate(120, '["books","B-1"]'),
        Candidate(300, '["books","B-2"]'),
    ]


def test_only_rows_that_have_the_field_and_pass_the_filter_are_drawn(handmade: Handmade) -> None:
    """Rows of other kinds may stand in the same collection."""
    rows = [
        {"book_id": 1, "x": 1},
        {"book_id": 2},
        "a note",
        {"book_id": 3, "x": 2},
        {"book_id": 4, "x": None},
    ]
    pack = handmade(fixtures={"books": rows})
    assert [each.value for each in candidates(pack, "books.x")] == [1, 2, None]
    assert candidates(pack, "books.x", "x == 2") == [Candidate(2, '["books","3"]')]


@pytest.mark.parametrize(
    ("collection", "identifier", "text"),
    [("books", "B-1", '["books","B-1"]'), ("books", 7, '["books","7"]'), ("thẻ", 'a"b', '["thẻ","a\\"b"]')],
)
def test_a_reference_has_the_id_as_a_string(collection: str, identifier: Any, text: str) -> None:
    """Ids are compared as strings, and written without escapes that JSON does not need."""
    assert fixture_ref(collection, identifier) == text
    assert json.loads(text) == [collection, str(identifier)]


def test_enums_literals_ranges_and_absent_ids_have_no_rows(handmade: Handmade) -> None:
    """Each in the order in which it is declared."""
    pack = handmade(manifest={"absent_ids": {"books": ["B-9", "B-0"], "readers": "R-0"}})
    assert candidates(pack, "enum:get_book.shelf") == [Candidate("A"), Candidate("B")]
    assert candidates(pack, "literal:[2, 1]") == [Candidate(2), Candidate(1)]
    assert candidates(pack, "range:{min: 2, max: 4}") == [Candidate(2), Candidate(3), Candidate(4)]
    assert candidates(pack, "absent:books") == [Candidate("B-9"), Candidate("B-0")]
    assert candidates(pack, "absent:readers") == [Candidate("R-0")]
    assert absent_ids(pack, "shelves") == []


def test_the_candidates_of_a_range_are_a_sequence(handmade: Handmade) -> None:
    """They have a length and places, and are made when asked for."""
    found = resolve(parse_source("range:{min: 1, max: 1000000}"), handmade())
    assert (len(found), found[-1], found[3]) == (1_000_000, Candidate(1_000_000), Candidate(4))
    assert list(found[1:3]) == [Candidate(2), Candidate(3)]


def test_reserved_rows_are_not_bound(handmade: Handmade) -> None:
    """They are named by their references; where all are reserved, nothing is left."""
    source = parse_source("fixture:books.book_id")
    assert [each.value for each in resolve(source, handmade(), reserved={'["books","B-1"]'})] == ["B-2"]
    with pytest.raises(SourceError) as caught:
        resolve(source, handmade(), reserved=[fixture_ref("books", "B-1"), fixture_ref("books", "B-2")])
    assert caught.value.mistake.code == "rows_reserved"


@pytest.mark.parametrize(
    ("source", "filter_text", "code", "message"),
    [
        ("fixture:book.pages", None, "unknown_collection", "the fixtures have no collection `book`"),
        (
            "fixture:note.x",
            None,
            "unknown_collection",
            "`note` of the fixtures is the string 'x', and not a list of rows",
        ),
        ("fixture:books.page", None, "filter_matches_zero", "no row of `books` has the field `page`"),
        ("fixture:none.x", None, "filter_matches_zero", "`none` has no rows"),
        ("fixture:books.pages", "pages > 999", "filter_matches_zero", "the filter matches no row of `books`"),
        (
            "fixture:books.pages",
            "page > 1",
            "filter_matches_zero",
            "the filter matches no row of `books`: no row has the field `page`",
        ),
        (
            "fixture:books.pages",
            "status > 1",
            "unevaluable_filter",
            "`status` is text in a row, and `>` can't compare it with a number",
        ),
        (
            "fixture:pairs.x",
            None,
            "primary_key_ambiguous",
            "the primary key of `pairs` can't be told: its first row has `a_id`, `b_id`",
        ),
        (
            "fixture:lost.x",
            None,
            "fixture_row_missing_primary_key",
            "2 rows of `lost` that the slot draws from have no `lost_id`",
        ),
        ("enum:get_books.shelf", None, "enum_missing", "there is no tool `get_books`"),
        ("enum:get_book.shelve", None, "enum_missing", "`get_book` has no parameter `shelve`"),
        ("enum:get_book.book_id", None, "enum_missing", "`book_id` of `get_book` declares no `enum`"),
        ("absent:readers", None, "invalid_source", "the manifest declares no absent id for `readers`"),
    ],
)
def test_a_source_without_candidates_has_its_code(
    handmade: Handmade, source: str, filter_text: str | None, code: str, message: str
) -> None:
    """And says what was looked for and what there is."""
    books = [{"book_id": "B-1", "status": "free", "pages": 1}]
    lost = [{"lost_id": 1, "x": 1}, {"x": 1}, {"lost_id": None, "x": 1}]
    fixtures = {
        "books": books,
        "none": [],
        "note": "x",
        "pairs": [{"a_id": 1, "b_id": 2, "x": 1}],
        "lost": lost,
    }
    mistake = refused(handmade(fixtures=fixtures), source, filter_text).mistake
    assert (mistake.code, mistake.message) == (code, message)


@pytest.mark.parametrize(
    ("source", "filter_text", "nearest"),
    [
        ("fixture:book.pages", None, "books"),
        ("fixture:books.page", None, "pages"),
        ("fixture:books.pages", "statu == 'free'", "status"),
        ("enum:get_books.shelf", None, "get_book"),
        ("enum:get_book.shelv", None, "shelf"),
        ("absent:book", None, "books"),
    ],
)
def test_a_misspelt_name_has_the_nearest_one(
    handmade: Handmade, source: str, filter_text: str | None, nearest: str
) -> None:
    """Among the names of the pack."""
    assert refused(handmade(), source, filter_text).mistake.nearest == nearest


def test_rows_without_a_key_are_listed(handmade: Handmade) -> None:
    """By their index, and no more than twenty."""
    rows = [{"book_id": 1, "x": 1}, *({"x": 1} for _ in range(30))]
    error = refused(handmade(fixtures={"books": rows}), "books.x")
    assert error.facts == {"collection": "books", "primary_key": "book_id", "rows": list(range(1, 21))}


def test_a_declared_key_names_the_rows(handmade: Handmade) -> None:
    """Whatever the fields are called."""
    pack = handmade(fixtures={"books": [{"isbn": 3, "x": 1}]}, manifest={"primary_keys": {"books": "isbn"}})
    assert candidates(pack, "books.x") == [Candidate(1, '["books","3"]')]
