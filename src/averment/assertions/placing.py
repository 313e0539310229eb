"""Placing required events among those that happened: the algorithms behind `sequence`.

A requirement answers, for an event, whether it is the one: yes, no, or unknown when the source does not show enough.
Every placing is worked out twice where it matters: once with each unknown counted against it, once in its favour.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice

import msgspec

from averment.evidence.view import Event

__all__ = ["Placing", "Requirement", "in_any_order", "in_order"]


class Requirement(msgspec.Struct, frozen=True):
    """One step: an event that must happen, or with `absent` one that must not happen between its neighbours."""

    test: Callable[[Event], bool | None]
    absent: bool


class Placing(msgspec.Struct, frozen=True):
    """How far the steps could be placed.

    Attributes:
        complete: whether every step has its place, and nothing forbidden happens.
        events: the events at which steps were placed, in order: all of them, or as many as could be.
        missing: the index, among the steps that must happen, of the first that found no place; their number when
            each found one.
    """

    complete: bool
    events: list[Event]
    missing: int


_Thread = tuple["_Thread | None", Event | None]


def in_order(
    steps: Sequence[Requirement],
    events: Sequence[Event],
    *,
    favour: bool,
    intrudes: Callable[[Event], bool] | None = None,
) -> Placing:
    """The steps at ever later events, none that is forbidden in between; linear in events times steps.

    All ways of placing are followed at once: `threads[n]` is the earliest way to have placed the first n events that
    is still alive. An event that is forbidden after n placed events ends that way, not the others.

    Args:
        steps: the steps, in order.
        events: the events, in order.
        favour: how an unknown answer counts: for the placing, or against it.
        intrudes: the events that may not stand between the first and the last step, besides the steps themselves;
            None when any may.
    """
    tests = [step.test for step in steps if not step.absent]
    forbidden: list[list[Callable[[Event], bool | None]]] = [[] for _ in range(len(tests) + 1)]
    placed = 0
    for step in steps:
        if step.absent:
            forbidden[placed].append(step.test)
        else:
            placed += 1
    last = len(tests)
    threads: list[_Thread | None] = [(None, None), *([None] * last)]
    best: _Thread = (None, None)
    reached = 0
    # Where no event can end a way, the one that has come farthest is as good as any.
    ends_ways = intrudes is not None or any(forbidden)
    for event in events:
        # From the last to the first, so that an event that ends a way still advances the one behind it.
        for number in range(reached, -1 if ends_ways else reached - 1, -1):
            thread = threads[number]
            if thread is None:
                continue
            if (intrudes is not None and 0 < number < last and intrudes(event)) or (
                forbidden[number] and any(_holds(test(event), not favour) for test in forbidden[number])
            ):
                threads[number] = None
            if number == last:
                continue
            answer = tests[number](event)
            if answer or (favour and answer is None):
                if threads[number + 1] is None:
                    threads[number + 1] = (thread, event)
                if number == reached:
                    best, reached = (thread, event), number + 1
        if threads[last] is not None and not forbidden[last]:
            break
    complete = threads[last]
    return Placing(complete is not None, _events(complete or best), reached)


def in_any_order(steps: Sequence[Requirement], events: Sequence[Event], *, favour: bool) -> Placing:
    """Each step at an event of its own, in any order; a maximum bipartite matching, so no choice is a wrong one."""
    forbidden = any(_holds(step.test(event), not favour) for step in steps if step.absent for event in events)
    tests = [step.test for step in steps if not step.absent]
    # Of n steps the others take n - 1 events at most, so n that fit are enough to look at.
    fitting = [
        list(islice((i for i, event in enumerate(events) if _holds(test(event), favour)), len(tests)))
        for test in tests
    ]
    taken: dict[int, int] = {}
    placed = [_augment(number, fitting, taken) for number in range(len(tests))]
    missing = len(placed) if all(placed) else placed.index(False)
    return Placing(not forbidden and all(placed), [events[index] for index in sorted(taken)], missing)


def _augment(start: int, fitting: Sequence[Sequence[int]], taken: dict[int, int]) -> bool:
    """Finds an event for one more step, moving others where needed; breadth first, so depth is no matter."""
    came_from: dict[int, int] = {}
    frontier = [start]
    for step in frontier:
        for event in fitting[step]:
            if event in came_from:
                continue
            came_from[event] = step
            if event in taken:
                frontier.append(taken[event])
                continue
            free: int | None = event
            while free is not None:
                mover = came_from[free]
                previous = next((held for held, holder in taken.items() if holder == mover), None)
                if previous is not None:
                    del taken[previous]
                taken[free] = mover
                free = previous
            return True
    return False


def _holds(answer: bool | None, favour: bool) -> bool:
    return favour if answer is None else answer


def _events(thread: _Thread | None) -> list[Event]:
    found: list[Event] = []
    while thread is not None:
        thread, event = thread
        if event is not None:
            found.append(event)
    return found[::-1]
