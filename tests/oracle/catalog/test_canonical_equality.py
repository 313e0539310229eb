from __future__ import annotations

import math
from itertools import combinations

import pytest

from averment.oracle.catalog import canonical
from averment.text.jsontext import NonFinite


def test_values_that_only_look_alike_are_different() -> None:
    """`1`, `1.0`, `"1"` and `true` all differ, at any depth."""
    values = [1, 1.0, "1", True, [1], [1.0], {"x": 1}, {"x": True}, None, 0, False, "", [], {}]
    assert not [(a, b) for a, b in combinations(values, 2) if canonical.equal(a, b)]
    assert all(canonical.equal(value, value) for value in values)


def test_the_order_of_keys_says_nothing() -> None:
    """Objects are the same when their members are."""
    assert canonical.equal({"a": 1, "b": [{}]}, {"b": [{}], "a": 1})


@pytest.mark.parametrize("value", [math.nan, math.inf, NonFinite("NaN"), {1: 2}, {1}, object(), [math.nan]])
def test_what_json_has_no_form_for_is_the_same_as_nothing(value: object) -> None:
    """Not even as itself; and a kept `NaN` is not the text."""
    assert canonical.key(value) is None
    assert not canonical.equal(value, value)
    assert not canonical.equal(value, "NaN")
