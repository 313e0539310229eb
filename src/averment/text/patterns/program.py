"""A pattern as a program: the nondeterministic automaton that both the analysis and our own engine walk.

An instruction is a tuple led by its operation:

    (CHAR, set, next)           consume one character of `sets[set]`
    (SPLIT, targets)            try each target, in this order
    (TEST, test, next)          go on where `tests[test]` holds
    (MARK, loop, next)          an optional iteration of the loop begins here
    (CHECK, loop, again, exit)  an iteration ended: one that consumed nothing leaves the loop
    (FINAL,)                    a match ends here

`MARK` and `CHECK` stand only around bodies that can match the empty text. They say what `re` does there: an
empty iteration is allowed once, and then the loop is over (`(?:|a)*` matches the empty text before "aa").
"""

from __future__ import annotations

from typing import Any

from averment.text.patterns.tree import Chars, Choice, Edge, Look, Node, Repeat, Sequence

__all__ = [
    "CHAR",
    "CHECK",
    "FINAL",
    "MARK",
    "PROGRAM_LIMIT",
    "SPLIT",
    "TEST",
    "Program",
    "TooLargeError",
    "size",
]

CHAR, SPLIT, TEST, MARK, CHECK, FINAL = range(6)

PROGRAM_LIMIT = 2_000
"""The most instructions of a program: it bounds our own engine's work per character."""


class TooLargeError(Exception):
    """The program would have more than PROGRAM_LIMIT instructions, or its analysis would take too long."""


def size(root: Node) -> int:
    """How many instructions the program of a node has, without writing them."""
    return 1 + _size(root)


def _size(node: Node) -> int:
    match node:
        case Sequence():
            return sum([_size(part) for part in node.parts])
        case Choice():
            return 1 + sum([_size(option) for option in node.options])
        case Repeat():
            body = _size(node.body)
            iteration = body if node.body.least else body + 2
            optional = 1 + iteration if node.high is None else (node.high - node.low) * (1 + iteration)
            return optional + node.low * body
    return 1


class Program:
    """Instructions for one node, written from its end to its beginning.

    Attributes:
        code: the instructions; addresses are indexes.
        sets: the character sets in use.
        tests: the edges and looks in use.
        start: where execution begins.
    """

    __slots__ = ("_loops", "_reverse", "code", "sets", "start", "tests")

    def __init__(self, root: Node, *, reverse: bool = False) -> None:
        """Compile.

        Args:
            root: what to compile; of the nodes, only those that an automaton can follow.
            reverse: for reading the text from its end to its beginning.

        Raises:
            TooLargeError: it takes more than PROGRAM_LIMIT instructions.
        """
        self.code: list[tuple[Any, ...]] = []
        self.sets: dict[Chars, int] = {}
        self.tests: dict[Edge | Look, int] = {}
        self._loops = 0
        self._reverse = reverse
        self.start = self._emit(root, self._add((FINAL,)))

    def _add(self, instruction: tuple[Any, ...]) -> int:
        if len(self.code) >= PROGRAM_LIMIT:
            raise TooLargeError
        self.code.append(instruction)
        return len(self.code) - 1

    def _emit(self, node: Node, after: int) -> int:
        """Write the node's instructions, to be followed by those at `after`; return where they begin."""
        match node:
            case Chars():
                return self._add((CHAR, self.sets.setdefault(node, len(self.sets)), after))
            case Sequence():
                for part in node.parts if self._reverse else reversed(node.parts):
                    after = self._emit(part, after)
                return after
            case Choice():
                return self._add((SPLIT, tuple([self._emit(option, after) for option in node.options])))
            case Repeat():
                return self._repeat(node, after)
            case Edge() | Look():
                return self._add((TEST, self.tests.setdefault(node, len(self.tests)), after))
        raise TypeError(type(node).__name__)

    def _repeat(self, node: Repeat, after: int) -> int:
        if node.high is None:
            # The loop's head is written before its body, which leads back to it.
            head = self._add((SPLIT, ()))
            self.code[head] = (SPLIT, self._either(node, self._iteration(node.body, head, after), after))
        else:
            head = after
            for _ in range(node.high - node.low):
                into = self._iteration(node.body, head, after)
                head = self._add((SPLIT, self._either(node, into, after)))
        for _ in range(node.low):
            head = self._emit(node.body, head)
        return head

    @staticmethod
    def _either(node: Repeat, into: int, after: int) -> tuple[int, int]:
        return (into, after) if node.greedy else (after, into)

    def _iteration(self, body: Node, again: int, after: int) -> int:
        """One optional iteration, which leads to `again`, or to `after` when it consumed nothing."""
        if body.least:
            return self._emit(body, again)
        loop = self._loops
        self._loops += 1
        return self._add((MARK, loop, self._emit(body, self._add((CHECK, loop, again, after)))))
