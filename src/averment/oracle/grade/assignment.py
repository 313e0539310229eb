"""Pairs of two lists such that the sum of the pairs' costs is least: the Hungarian method, in exact integers.

Pairing greedily can be wrong: with arguments that gold leaves free, one call may match two gold calls and another only
one of them, and whoever comes first would decide.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["assigned"]


def assigned(costs: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """The pairs `(row, column)`, in the order of rows: as many as the shorter side has.

    Of the ways that cost the same, the one that gives the first of the shorter side the earliest partner, then the
    second, and so on: ties go by position.

    Args:
        costs: `costs[row][column]`, not negative; rows of one length. Takes time in the square of the shorter side
            times the longer one.
    """
    if not costs or not costs[0]:
        return []
    if len(costs) > len(costs[0]):
        turned = [list(column) for column in zip(*costs, strict=True)]
        return sorted((row, column) for column, row in assigned(turned))
    rows, columns = len(costs), len(costs[0])
    # A digit per row, base `columns`, below the costs: the number is least for the earliest partners.
    places = [columns ** (rows - 1 - row) for row in range(rows)]
    unit = columns**rows
    return _least(
        [[cost * unit + at * places[row] for at, cost in enumerate(line)] for row, line in enumerate(costs)]
    )


def _least(costs: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
    """The pairs, for no more rows than columns: one row after the other is added along a shortest path."""
    rows, columns = len(costs), len(costs[0])
    row_prices, column_prices = [0] * rows, [0] * columns
    holder: list[int | None] = [None] * columns
    for new in range(rows):
        distance: list[int | None] = [None] * columns
        before: list[int | None] = [None] * columns
        done = [False] * columns
        row, reached, column = new, 0, None
        tree: list[tuple[int, int]] = [(new, 0)]
        while True:
            for at in range(columns):
                if not done[at]:
                    length = reached + costs[row][at] - row_prices[row] - column_prices[at]
                    known = distance[at]
                    if known is None or length < known:
                        distance[at], before[at] = length, column
            reached, column = min(
                (length, at) for at, length in enumerate(distance) if length is not None and not done[at]
            )
            done[column] = True
            held = holder[column]
            if held is None:
                break
            row = held
            tree.append((row, reached))
        for member, length in tree:
            row_prices[member] += reached - length
        for at in range(columns):
            length_at = distance[at]
            if done[at] and length_at is not None:
                column_prices[at] -= reached - length_at
        while True:
            previous = before[column]
            if previous is None:
                holder[column] = new
                break
            holder[column] = holder[previous]
            column = previous
    return sorted((row, at) for at, row in enumerate(holder) if row is not None)
