from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from averment.assertions.placing import Placing, Requirement, in_any_order, in_order
from averment.evidence.view import Event

Answer = bool | None
Table = list[tuple[list[Answer], bool]]
"""For each step its answers for the events, and whether it is absent."""


def events(number: int) -> list[Event]:
    return [Event(index, None, None) for index in range(number)]


def requirements(table: Table) -> list[Requirement]:
    def test_of(answers: list[Answer]) -> Callable[[Event], Answer]:
        return lambda event: answers[event.turn or 0]

    return [Requirement(test_of(answers), absent) for answers, absent in table]


def ordered(table: Table, number: int, *, favour: bool, intruders: Sequence[int] = ()) -> Placing:
    return in_order(
        requirements(table), events(number), favour=favour, intrudes=lambda event: event.turn in intruders
    )


def known(table: Table, *, favour: bool) -> list[tuple[list[bool], bool]]:
    """The table with unknown answers decided: for a placing or against it."""
    return [
        ([favour is not absent if answer is None else answer for answer in answers], absent)
        for answers, absent in table
    ]


def ways(table: list[tuple[list[bool], bool]], number: int, size: int) -> list[tuple[int, ...]]:
    """Every way to place the first `size` steps that must happen, with nothing forbidden before the last of them."""
    positive = [index for index, (_, absent) in enumerate(table) if not absent]
    found = []
    for places in combinations(range(number), size):
        fits = all(table[step][0][place] for step, place in zip(positive, places, strict=False))
        behind = dict(zip(positive, places, strict=False))
        for step, (answers, absent) in enumerate(table):
            if not absent:
                continue
            following = next((index for index in positive if index > step), None)
            if following is not None and following not in behind:
                continue
            if following is None and size < len(positive):
                continue
            low = max((place for index, place in behind.items() if index < step), default=-1)
            high = number if following is None else behind[following]
            fits = fits and not any(answers[low + 1 : high])
        if fits:
            found.append(places)
    return found


tables = st.integers(0, 5).flatmap(
    lambda number: st.tuples(
        st.just(number),
        st.lists(
            st.tuples(
                st.lists(st.sampled_from([True, False, None]), min_size=number, max_size=number),
                st.booleans(),
            ),
            min_size=1,
            max_size=4,
        ).filter(lambda table: not all(absent for _, absent in table)),
    )
)


@settings(max_examples=200, deadline=None)
@given(case=tables, favour=st.booleans())
def test_in_order_agrees_with_trying_every_way(case: tuple[int, Table], favour: bool) -> None:
    """There is a placing exactly when one of all ways is one; otherwise the longest prefix is found."""
    number, table = case
    size = sum(not absent for _, absent in table)
    decided = known(table, favour=favour)
    # Before its last step is placed, what must not happen after it can't have ended a way.
    longest = max(n for n in range(size + 1) if n == 0 or ways(_without_tail(decided, n, size), number, n))
    placing = ordered(table, number, favour=favour)
    assert placing.complete is bool(ways(decided, number, size))
    assert placing.missing == longest
    assert len(placing.events) == (size if placing.complete else longest)
    places = tuple(event.turn for event in placing.events)
    assert places in ways(_without_tail(decided, len(places), size), number, len(places)) or not places


def _without_tail(
    table: list[tuple[list[bool], bool]], size: int, whole: int
) -> list[tuple[list[bool], bool]]:
    """The table without the absent steps behind its last step, for prefixes that only have to get there."""
    if size < whole:
        return table
    last = max(index for index, (_, absent) in enumerate(table) if not absent)
    return table[: last + 1]


@settings(max_examples=150, deadline=None)
@given(case=tables, intruders=st.sets(st.integers(0, 4)))
def test_strict_agrees_with_trying_every_way(case: tuple[int, Table], intruders: set[int]) -> None:
    """No intruder stands between the first and the last place, but for the steps themselves."""
    number, table = case
    size = sum(not absent for _, absent in table)
    allowed = [
        places
        for places in ways(known(table, favour=False), number, size)
        if not (set(range(places[0], places[-1])) - set(places)) & intruders
    ]
    assert ordered(table, number, favour=False, intruders=sorted(intruders)).complete is bool(allowed)


@settings(max_examples=200, deadline=None)
@given(case=tables, favour=st.booleans())
def test_in_any_order_agrees_with_trying_every_way(case: tuple[int, Table], favour: bool) -> None:
    """Each step has an event of its own, and nothing that must not happen happens anywhere."""
    number, table = case
    decided = known(table, favour=favour)
    positive = [answers for answers, absent in decided if not absent]

    def possible(size: int) -> bool:
        return any(
            all(answers[place] for answers, place in zip(positive, places, strict=False))
            for places in permutations(range(number), size)
        )

    placing = in_any_order(requirements(table), events(number), favour=favour)
    forbidden = any(any(answers) for answers, absent in decided if absent)
    assert placing.complete is (possible(len(positive)) and not forbidden)
    prefixes = [size for size in range(len(positive) + 1) if possible(size)]
    assert placing.missing == max(prefixes)
    assert len({event.turn for event in placing.events}) == len(placing.events) >= placing.missing


def test_a_step_gives_way_where_another_has_no_choice() -> None:
    """A greedy choice of the first event would leave the second step without one."""
    table: Table = [([True, True, True], False), ([True, True, False], False), ([True, False, False], False)]
    assert in_any_order(requirements(table), events(3), favour=False).complete


@pytest.mark.parametrize("favour", [True, False])
def test_unknown_answers_count_for_or_against_and_absence_the_other_way(favour: bool) -> None:
    """In favour, an unknown event is the required one, and not the forbidden one."""
    required: Table = [([None], False)]
    forbidden: Table = [([None, False], True), ([False, True], False)]
    assert ordered(required, 1, favour=favour).complete is favour
    assert in_any_order(requirements(required), events(1), favour=favour).complete is favour
    assert ordered(forbidden, 2, favour=favour).complete is favour
    assert in_any_order(requirements(forbidden), events(2), favour=favour).complete is favour


def test_a_long_trace_takes_linear_time() -> None:
    """A hundred thousand events and fifty steps, each of which fits everywhere, are placed without trouble."""
    steps = [Requirement(lambda _: True, absent=False)] * 50
    happened = events(100_000)
    assert in_any_order(steps, happened, favour=False).complete
    placing = in_order(steps, happened, favour=False, intrudes=lambda _: True)
    assert [event.turn for event in placing.events] == list(range(50))
