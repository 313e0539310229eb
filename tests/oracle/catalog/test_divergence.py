from __future__ import annotations

from typing import Any

import pytest

from averment.oracle.catalog.divergence import first_difference


@pytest.mark.parametrize(
    ("one", "other", "path"),
    [
        (1, 2, "$"),
        (1, 1.0, "$"),
        (1, True, "$"),
        ({}, [], "$"),
        ({"a": 1}, {"a": 1, "b": None}, "$.b"),
        ({"b": 1, "a": 1}, {"b": 2, "a": 2}, "$.a"),
        ({"a": {"b": [1, {"c": "x"}]}}, {"a": {"b": [1, {"c": "y"}]}}, "$.a.b[1].c"),
        ([1, 2], [1, 2, 3], "$[2]"),
        ([1, 2, 3], [1, 9], "$[1]"),
        ([[], [{"a": []}]], [[], [{"a": {}}]], "$[1][0].a"),
        ({"odd key": 1}, {"odd key": 2}, '$["odd key"]'),
    ],
)
def test_it_is_the_path_of_the_first_value_that_differs(one: Any, other: Any, path: str) -> None:
    """Keys in their order, lists item by item; whichever of the two comes first."""
    assert first_difference(one, other) == first_difference(other, one) == path


@pytest.mark.parametrize("value", [None, 0.1, [], {"a": [{"b": 1}, "x"]}])
def test_nothing_differs_in_the_same_value(value: Any) -> None:
    """The order of keys is no difference."""
    assert first_difference(value, value) is None
    assert first_difference({"a": 1, "b": value}, {"b": value, "a": 1}) is None


def nested(depth: int, value: Any) -> Any:
    """A value inside so many lists."""
    for _ in range(depth):
        value = [value]
    return value


def test_values_too_deep_for_canonical_json_are_compared_all_the_same() -> None:
    """A pack's state may be deeper than what a digest can be made of."""
    assert first_difference(nested(900, 1), nested(900, 1)) is None
    assert first_difference([nested(900, 1), 1], [nested(900, 1), 2]) == "$[1]"
    assert first_difference(nested(900, 1), nested(900, 2)) == f"${'[0]' * 900}"
