from __future__ import annotations

import pytest

from averment.oracle.model.keys import AmbiguousKeyError, primary_key


@pytest.mark.parametrize(
    ("collection", "row", "declared", "key"),
    [
        ("books", {"id": 1, "book_id": 2, "isbn": 3}, "isbn", "isbn"),
        ("books", {"id": 1, "book_id": 2}, None, "book_id"),
        ("glass", {"glas_id": 1, "glass_id": 2}, None, "glas_id"),
        ("staff", {"staff_id": 1, "team_id": 2}, None, "staff_id"),
        ("books", {"id": 1, "shelf_id": 2}, None, "id"),
        ("books", {"title": "x", "shelf_id": 2}, None, "shelf_id"),
    ],
)
def test_the_first_rule_that_fits_names_the_key(
    collection: str, row: dict[str, object], declared: str | None, key: str
) -> None:
    """Declared, then the singular with `_id`, then `id`, then the only field that ends in `_id`."""
    assert primary_key(collection, [row], declared) == key


@pytest.mark.parametrize(
    ("rows", "declared", "said"),
    [
        ([{"a_id": 1, "b_id": 2}], None, "`a_id`, `b_id`"),
        ([{"title": "x"}], None, "no field that ends in `_id`"),
        ([], None, "no first row"),
        (["BK-1"], None, "no first row"),
        ([{"book_id": 1}], "isbn", "`isbn` of `books` is no field"),
    ],
)
def test_a_key_that_nothing_settles_is_refused(rows: list[object], declared: str | None, said: str) -> None:
    """A declared key that the first row lacks is never replaced by a guess."""
    with pytest.raises(AmbiguousKeyError, match=said):
        primary_key("books", rows, declared)
