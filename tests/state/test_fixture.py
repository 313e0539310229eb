from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from averment.evidence.model import StateSnapshot
from averment.state import Fixture, Record

STORE = Fixture(
    [
        StateSnapshot(resource="orders", rows=({"id": 1, "n": 1}, {"id": 2, "n": 1}, {"id": 2, "n": 2})),
        StateSnapshot(resource="snap", side="before", rows=({"id": 1, "status": "open"},)),
        StateSnapshot(resource="snap", side="after", rows=({"id": 1, "status": "closed"},)),
        StateSnapshot(resource="half", side="after", rows=({"id": 1},)),
        StateSnapshot(resource="odd", rows=(), unreadable="rows must be a list"),
        StateSnapshot(
            resource="typed", rows=({"flag": True, "when": "x", "none": None, "deep": {"a": [1.0]}},)
        ),
    ]
)


def fields(found: Record | None) -> Mapping[str, Any] | None:
    return None if found is None else found.fields


def test_a_record_says_which_row_it_is() -> None:
    """The first row that the filters select, by its number."""
    found = STORE.find("snap", {"id": 1})
    assert found is not None
    assert found.row == 0


@pytest.mark.parametrize(
    ("resource", "filters", "row"),
    [
        ("orders", {}, {"id": 1, "n": 1}),
        ("orders", {"id": 2}, {"id": 2, "n": 1}),
        ("orders", {"id": 2, "n": 2}, {"id": 2, "n": 2}),
        ("orders", {"id": 3}, None),
        ("orders", {"missing": None}, None),
        ("nowhere", {}, None),
        ("odd", {}, None),
    ],
)
def test_the_first_row_that_has_every_filter_is_found(
    resource: str, filters: dict[str, Any], row: Any
) -> None:
    """Every filter key must be there and equal; the first such row counts, and no row is None."""
    assert fields(STORE.find(resource, filters)) == row


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({"flag": True}, True),
        ({"flag": 1}, False),
        ({"none": None}, True),
        ({"none": False}, False),
        ({"deep": {"a": [1]}}, True),
        ({"deep": {"a": [True]}}, False),
        ({"deep": {}}, False),
        ({"when": "x"}, True),
    ],
)
def test_filters_are_equal_as_json(filters: dict[str, Any], found: bool) -> None:
    """A boolean equals no number, whole values are compared, and a filter named `when` is a filter like others."""
    assert (STORE.find("typed", filters) is not None) is found


def test_each_side_answers_for_itself() -> None:
    """A resource with snapshots has another row on each side; one without answers for either."""
    assert fields(STORE.find("snap", {"id": 1}, "before")) == {"id": 1, "status": "open"}
    assert fields(STORE.find("snap", {"id": 1})) == {"id": 1, "status": "closed"}
    assert fields(STORE.find("orders", {"id": 1}, "before")) == {"id": 1, "n": 1}
    assert STORE.find("half", {"id": 1}, "before") is None


@pytest.mark.parametrize(
    ("resource", "both"), [("snap", True), ("half", False), ("orders", False), ("nowhere", False)]
)
def test_only_two_snapshots_show_a_change(resource: str, both: bool) -> None:
    """Whether something changed can be asked only where it was recorded before and after."""
    assert STORE.has_snapshots(resource) is both


def test_unreadable_rows_say_so() -> None:
    """Not finding a row proves nothing where rows can't be read."""
    assert STORE.unreadable("odd") == "rows must be a list"
    assert STORE.unreadable("orders") is None
    assert STORE.unreadable("nowhere") is None
