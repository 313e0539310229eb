from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from averment.oracle.grade.assignment import assigned

TABLES = st.tuples(st.integers(1, 4), st.integers(1, 5)).flatmap(
    lambda size: st.lists(
        st.lists(st.integers(0, 3), min_size=size[1], max_size=size[1]), min_size=size[0], max_size=size[0]
    )
)


@given(TABLES)
@settings(max_examples=300, deadline=None)
def test_no_other_pairing_costs_less_and_ties_go_by_position(costs: list[list[int]]) -> None:
    """Against every pairing there is: the least sum, then the earliest partner for the first of the shorter side."""
    rows, columns = len(costs), len(costs[0])
    if rows <= columns:
        best = min(
            permutations(range(columns), rows),
            key=lambda chosen: (sum(costs[row][at] for row, at in enumerate(chosen)), chosen),
        )
        assert assigned(costs) == list(enumerate(best))
    else:
        best = min(
            permutations(range(rows), columns),
            key=lambda chosen: (sum(costs[row][at] for at, row in enumerate(chosen)), chosen),
        )
        assert assigned(costs) == sorted((row, at) for at, row in enumerate(best))


@pytest.mark.parametrize("costs", [[], [[]], [[], []]])
def test_nothing_is_paired_with_nothing(costs: list[list[int]]) -> None:
    """A side without members has no pairs."""
    assert assigned(costs) == []


def test_a_call_that_comes_first_does_not_take_what_another_needs() -> None:
    """Greedily the first row would take the first column, and the second would be left with what costs."""
    assert assigned([[0, 0], [0, 9]]) == [(0, 1), (1, 0)]
