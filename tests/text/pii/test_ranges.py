from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from averment.text.pii._ranges import merge

RANGES = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 6)).map(lambda pair: (pair[0], sum(pair))))


def test_ranges_that_overlap_or_touch_become_one() -> None:
    """A gap of one character keeps two ranges apart; none, or less, joins them."""
    assert merge([(5, 7), (0, 2), (2, 4), (8, 9), (6, 8)]) == [(0, 4), (5, 9)]


def test_a_range_inside_another_disappears() -> None:
    """The union never shrinks to the later, shorter range."""
    assert merge([(0, 9), (2, 4)]) == [(0, 9)]


@given(RANGES)
@settings(deadline=None)
def test_the_union_covers_the_same_characters_with_gaps_between_ranges(ranges: list[tuple[int, int]]) -> None:
    """Merging neither adds nor loses a character, and leaves nothing to merge."""
    merged = merge(ranges)
    assert {i for start, end in merged for i in range(start, end)} == {
        i for start, end in ranges for i in range(start, end)
    }
    assert all(end < start for (_, end), (start, _) in pairwise(merged))
