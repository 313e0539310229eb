"""The runs of a backtracking search, counted over every text at once; `analysis.py` says what for."""

from __future__ import annotations

import math

from averment.text.patterns.alphabet import Alphabet
from averment.text.patterns.program import (
    CHAR,
    CHECK,
    MARK,
    PROGRAM_LIMIT,
    SPLIT,
    TEST,
    Program,
    TooLargeError,
)
from averment.text.patterns.tree import Chars, Edge, Look, Node

__all__ = ["Runs"]

_DEPTH = 150
"""The most zero-width moves in a row: it keeps the recursion shallow."""

_BUDGET = 4_000
_BUDGET_PER_INSTRUCTION = 30
"""Steps of one exploration: so many, plus so many for every instruction of the program."""

_GROWTHS = 2
"""How often a count may grow before it is taken to grow for ever."""

_MOST = 1 << 40
"""Counts are cut off here, so that numbers stay small; nothing near it is accepted."""

_ANYTHING = -1
"""What stands before a position where that isn't known or doesn't matter."""

_Guards = frozenset[int]
_Element = int
_Counts = dict[_Element, float]


class Runs:
    """Counts of runs, per *element*: an instruction about to read a character, and the tests it must pass first.

    Attributes:
        first: the elements at the start of the pattern, with their counts.
        entry_work: the work of entering the pattern.
    """

    __slots__ = (
        "_before",
        "_closures",
        "_elements",
        "_follow",
        "_guards",
        "_numbers",
        "_program",
        "_reads",
        "_start",
        "_test_works",
        "_work",
        "entry_work",
        "first",
    )

    def __init__(self, root: Node) -> None:
        self._program = Program(root)
        self._closures: dict[tuple[int, frozenset[int]], tuple[dict[tuple[int, _Guards], int], int]] = {}
        self._numbers: dict[tuple[int, _Guards], _Element] = {}
        self._elements: list[tuple[int, _Guards]] = []
        self._follow: list[_Counts | None] = []
        self._work: list[int] = []
        self._test_works: dict[int, int] = {}
        self._cut_alphabet()
        self.first, self.entry_work = self._enter(self._program.start)

    def explore(self, seeds: _Counts, *, restarting: bool) -> tuple[int, set[_Element]]:
        """Follow the counts through every text.

        Args:
            seeds: the counts to begin with.
            restarting: whether the seeds are added at every position again, as a search does.

        Returns:
            The peak of the work of all elements with finite counts, and the elements with infinite ones.

        Raises:
            TooLargeError: the budget is spent.
        """
        # A key is what stands before a position, and the elements alive there.
        seen: dict[tuple[int, tuple[_Element, ...]], list[float]] = {}
        growths: dict[tuple[int, tuple[_Element, ...]], int] = {}
        pending: list[tuple[int, tuple[_Element, ...]]] = []

        def reach(before: int, vector: _Counts) -> None:
            elements = tuple(sorted(vector))
            guarded = any(self._elements[element][1] for element in elements)
            key = (before if guarded else _ANYTHING, elements)
            counts = [vector[element] for element in elements]
            known = seen.get(key)
            if known is not None:
                if all(new <= old for new, old in zip(counts, known, strict=True)):
                    return
                growths[key] = growths.get(key, 0) + 1
                forever = growths[key] > _GROWTHS
                pairs = zip(counts, known, strict=True)
                counts = [old if new <= old else math.inf if forever else new for new, old in pairs]
            seen[key] = counts
            pending.append(key)

        if restarting:
            for before in sorted({self._start, *self._before}):
                reach(before, seeds)
        else:
            reach(_ANYTHING, seeds)
        budget = _BUDGET + _BUDGET_PER_INSTRUCTION * len(self._program.code)
        while pending:
            before, elements = key = pending.pop()
            vector = dict(zip(elements, seen[key], strict=True))
            # With no element but the seeds' reading it, a letter leads where it leads from the seeds alone.
            fresh = [e for e in elements if vector[e] != seeds.get(e)] if restarting else elements
            letters = 0
            for element in fresh or elements:
                letters |= self._reads[self._elements[element][0]]
            while letters:
                letter = (letters & -letters).bit_length() - 1
                letters &= letters - 1
                budget -= len(elements)
                if budget < 0:
                    raise TooLargeError
                after = self._read(vector, before, letter, seeds if restarting else {})
                if after:
                    reach(self._before[letter], after)
        vectors = [[*zip(elements, counts, strict=True)] for (_, elements), counts in seen.items()]
        infinite = {element for vector in vectors for element, count in vector if count > _MOST}
        work = [
            sum(
                int(count) * self._work_after(element) for element, count in vector if element not in infinite
            )
            for vector in vectors
        ]
        return max(work, default=0), infinite

    def entries(self, infinite: set[_Element]) -> list[_Element]:
        """The elements of `infinite` that are entered from the others or from the start."""
        entered = set(self.first)
        for element in range(len(self._elements)):
            if element not in infinite:
                entered.update(self._after(element))
        return sorted(infinite & entered)

    def _read(self, vector: _Counts, before: int, letter: int, seeds: _Counts) -> _Counts:
        result = dict(seeds)
        for element, count in vector.items():
            address, guards = self._elements[element]
            if self._reads[address] >> letter & 1 and all(self._passes(g, before, letter) for g in guards):
                for target, ways in self._after(element).items():
                    result[target] = result.get(target, 0) + count * ways
        return result

    def _passes(self, test: int, before: int, letter: int) -> bool:
        return any(
            (before == _ANYTHING or left >> before & 1) and right >> letter & 1
            for left, right in self._guards[test]
        )

    def _cut_alphabet(self) -> None:
        """Cut the alphabet into the letters that this program can tell apart, and number them."""
        tests = [*self._program.tests]
        sets = [*self._program.sets]
        bodies = [test.body for test in tests if isinstance(test, Look) and isinstance(test.body, Chars)]
        alphabet = Alphabet([*sets, *bodies])
        reads = [alphabet.mask(chars) for chars in sets]
        guards = [alphabet.around(test) for test in tests]
        letters = [alphabet.everything]
        for mask in {*reads, *(mask for pairs in guards for pair in pairs for mask in pair)}:
            letters = [part for letter in letters for part in (letter & mask, letter & ~mask) if part]
        self._start = len(letters)
        letters.append(alphabet.outside)

        def numbered(mask: int) -> int:
            return sum(1 << number for number, letter in enumerate(letters) if letter & mask)

        by_set = [numbered(mask) for mask in reads]
        self._reads = [by_set[i[1]] if i[0] == CHAR else 0 for i in self._program.code]
        self._guards = [[(numbered(left), numbered(right)) for left, right in pairs] for pairs in guards]
        # Letters that no guard tells apart are one letter when they stand before a position.
        alike: dict[tuple[int, ...], int] = {}
        self._before = [
            alike.setdefault(tuple(left >> letter & 1 for pairs in self._guards for left, _ in pairs), letter)
            for letter in range(self._start)
        ]

    def _enter(self, address: int) -> tuple[_Counts, int]:
        targets, work = self._closure(address, frozenset(), 0)
        return {self._element(key): count for key, count in targets.items()}, work

    def _element(self, key: tuple[int, _Guards]) -> _Element:
        number = self._numbers.setdefault(key, len(self._elements))
        if number == len(self._elements):
            self._elements.append(key)
            self._follow.append(None)
            self._work.append(0)
        return number

    def _after(self, element: _Element) -> _Counts:
        follow = self._follow[element]
        if follow is None:
            follow, work = self._enter(self._program.code[self._elements[element][0]][2])
            self._follow[element] = follow
            self._work[element] = work + 1
        return follow

    def _work_after(self, element: _Element) -> int:
        self._after(element)
        return self._work[element]

    def _closure(
        self, address: int, marks: frozenset[int], depth: int
    ) -> tuple[dict[tuple[int, _Guards], int], int]:
        """Where the zero-width moves from `address` lead, in how many ways each, and how much work they are."""
        key = (address, marks)
        known = self._closures.get(key)
        if known is not None:
            return known
        if depth > _DEPTH or len(self._closures) > 2 * PROGRAM_LIMIT:
            raise TooLargeError
        instruction = self._program.code[address]
        operation = instruction[0]
        guard: _Guards = frozenset()
        work = 1
        ahead: list[tuple[int, frozenset[int]]] = []
        if operation == SPLIT:
            ahead = [(target, marks) for target in instruction[1]]
        elif operation == TEST:
            guard = frozenset((instruction[1],))
            work += self._test_work(instruction[1])
            ahead = [(instruction[2], marks)]
        elif operation == MARK:
            ahead = [(instruction[2], marks | {instruction[1]})]
        elif operation == CHECK:
            _, loop, again, leave = instruction
            ahead = [(leave, marks - {loop}) if loop in marks else (again, marks)]
        targets: dict[tuple[int, _Guards], int] = {(address, guard): 1} if operation == CHAR else {}
        for place in ahead:
            ways, more = self._closure(*place, depth + 1)
            work = min(_MOST, work + more)
            for (target, guards), count in ways.items():
                guarded = (target, guards | guard)
                targets[guarded] = min(_MOST, targets.get(guarded, 0) + count)
        self._closures[key] = targets, work
        return targets, work

    def _test_work(self, test: int) -> int:
        known = self._test_works.get(test)
        if known is None:
            known = self._test_works[test] = _work_of([*self._program.tests][test])
        return known


def _work_of(test: Edge | Look) -> int:
    """The work of one test at one place; look-behind has a fixed width, look-ahead isn't a test in a program."""
    if not isinstance(test, Look) or isinstance(test.body, Chars):
        return 1
    runs = Runs(test.body)
    peak, infinite = runs.explore(runs.first, restarting=False)
    if infinite or test.body.most is None:
        raise TooLargeError
    return runs.entry_work + peak * (test.body.most + 1)
