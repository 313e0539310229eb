r"""Patterns that say nothing: those found in every text, and those found in none.

Both answers are proofs, and no answer is a guess: where nothing is proved, the pattern is taken to say something.

- *found in every text* is read off the tree: an attempt succeeds at any place, as `x*` does, or at the start or the
  end of every text, as `^`, `x*$` and `(?s)^.*$` do.
- *found in none* is a search for a way through the pattern, over all texts at once. What may stand before and after
  a place are masks of atoms (`alphabet.py`); a test narrows them, a character is read where they still meet, and
  what a look-ahead asks for is read side by side with the pattern. All that is approximated errs towards a way:
  groups that are atomic may give back, conditions may go either way, a back-reference reads anything, and what is
  looked for behind, or forbidden, is only minded where it is one character or always there. So when no way is left,
  there is no match.
"""

from __future__ import annotations

from averment.text.patterns.alphabet import Alphabet
from averment.text.patterns.pattern import Pattern
from averment.text.patterns.program import CHAR, CHECK, MARK, SPLIT, TEST, Program
from averment.text.patterns.tree import (
    Atomic,
    Chars,
    Choice,
    Condition,
    Edge,
    Look,
    Node,
    Reference,
    Repeat,
    Sequence,
    choice_of,
    sequence_of,
    walk,
)

__all__ = ["matches_everything", "matches_nothing"]

_BUDGET = 2_000
"""Steps of one search for a way; when they are spent, nothing is proved."""

_AT_START = frozenset({"^", "^m", r"\A"})
_AT_END = frozenset({"$", "$m", r"\Z"})
_ANYTHING = Chars(1, 1, (), True, False, False)
_OPPOSITES = ({r"\s", r"\S"}, {r"\d", r"\D"}, {r"\w", r"\W"})


def matches_everything(pattern: Pattern) -> bool:
    """Whether the pattern is proved to be found in every text, the empty one too."""
    return _in_every_text(pattern.tree.root)


def matches_nothing(pattern: Pattern) -> bool:
    """Whether the pattern is proved to be found in no text."""
    root = pattern.tree.root
    return not _is_plain(root) and not _is_plain_between_edges(root) and not _can_match(root)


def _in_every_text(node: Node) -> bool:
    if isinstance(node, Choice):
        return any(map(_in_every_text, node.options))
    parts = node.parts if isinstance(node, Sequence) else (node,)
    if all(_is_empty_at(part, _AT_END) for part in parts):
        return True
    for place, part in enumerate(parts):
        if all(map(_always_succeeds, parts[place:])):
            return True
        if _reads_all(part) and all(_is_empty_at(later, _AT_END) for later in parts[place + 1 :]):
            return True
        if not _is_empty_at(part, _AT_START):
            return False
    return True


def _always_succeeds(node: Node) -> bool:
    """Whether an attempt succeeds at every place of every text, whatever was tried before."""
    match node:
        case Sequence():
            return all(map(_always_succeeds, node.parts))
        case Choice():
            return any(map(_always_succeeds, node.options))
        case Repeat():
            return node.low == 0 or _always_succeeds(node.body)
        case Atomic():
            return _always_succeeds(node.body)
        case Condition():
            return _always_succeeds(node.yes) and _always_succeeds(node.no)
        case Look():
            return not _can_match(node.body) if node.negated else _always_succeeds(node.body)
    return False


def _is_empty_at(node: Node, edges: frozenset[str]) -> bool:
    """Whether the node can match the empty text where these edges hold, and leave the place to what follows."""
    match node:
        case Edge():
            return node.kind in edges
        case Sequence():
            return all(_is_empty_at(part, edges) for part in node.parts)
        case Choice():
            return any(_is_empty_at(option, edges) for option in node.options)
        case Repeat():
            return node.low == 0 or _is_empty_at(node.body, edges)
        case Atomic():
            # At the end there is nothing else to match; elsewhere it may read on and not give back.
            return (edges is _AT_END or node.most == 0) and _is_empty_at(node.body, edges)
        case Condition():
            return _is_empty_at(node.yes, edges) and _is_empty_at(node.no, edges)
    return _always_succeeds(node)


def _reads_all(node: Node) -> bool:
    """Whether the node can read from any place to the end of the text."""
    if not isinstance(node, Repeat) or node.low or node.high is not None or not isinstance(node.body, Chars):
        return False
    items = node.body.items
    return not items if node.body.negated else any(opposites <= {*items} for opposites in _OPPOSITES)


def _is_plain(node: Node) -> bool:
    """Whether it is plain to see that some text matches, as for nearly all patterns it is."""
    match node:
        case Chars():
            return bool(node.items) != node.negated or len(node.items) == 1
        case Sequence():
            return all(map(_is_plain, node.parts))
        case Choice():
            return any(map(_is_plain, node.options))
        case Repeat():
            return node.low == 0 or _is_plain(node.body)
    return False


def _is_plain_between_edges(root: Node) -> bool:
    """Whether the only tests are one at either end, to be met by choosing what stands beyond: a short cut for many."""
    if not isinstance(root, Sequence) or root.most == 0:
        return False
    first, last = root.parts[0], root.parts[-1]
    begin = isinstance(first, Edge) and first.kind not in _AT_END
    end = isinstance(last, Edge) and last.kind not in _AT_START
    return all(map(_is_plain, root.parts[begin : len(root.parts) - end]))


def _can_match(root: Node) -> bool:
    """Whether there may be a text in which the node matches somewhere; False is a proof."""
    return _Ways(root).exist()


_Thread = tuple[int, int]
"""The number of a program, and an address in it."""

_Place = tuple[tuple[_Thread, ...], tuple[_Thread, ...], int, int]
"""Threads yet to be followed, threads about to read a character, and what may stand before and after the place."""


class _Ways:
    """Ways through a pattern and, side by side with it, through what its look-aheads ask for."""

    __slots__ = ("_alphabet", "_anything", "_masks", "_numbers", "_programs", "_tests")

    def __init__(self, root: Node) -> None:
        self._alphabet = Alphabet(node for node in walk(root) if isinstance(node, Chars))
        self._anything = self._alphabet.everything | self._alphabet.outside
        self._masks: list[list[int]] = []
        self._tests: list[list[Edge | Look]] = []
        self._programs: list[Program] = []
        self._numbers: dict[Node, int] = {}
        self._number(root)

    def _number(self, root: Node) -> int:
        """The number of the node's program, written when first asked for."""
        number = self._numbers.setdefault(root, len(self._programs))
        if number == len(self._programs):
            program = Program(_widened(root))
            self._programs.append(program)
            self._masks.append([self._alphabet.mask(chars) for chars in program.sets])
            self._tests.append([*program.tests])
        return number

    def exist(self) -> bool:
        """Whether there is a way, or the budget was spent before all were excluded."""
        pending: list[_Place] = [(((0, self._programs[0].start),), (), self._anything, self._anything)]
        seen: set[_Place] = set()
        while pending:
            place = pending.pop()
            if place in seen:
                continue
            seen.add(place)
            if len(seen) > _BUDGET:
                return True
            threads, ready, left, right = place
            if threads:
                pending += self._moves(threads[0], threads[1:], ready, left, right)
                continue
            if not ready:
                return True
            letters = right & self._alphabet.everything
            for number, address in ready:
                letters &= self._masks[number][self._programs[number].code[address][1]]
            if letters:
                following = tuple((n, self._programs[n].code[address][2]) for n, address in ready)
                pending.append((following, (), letters, self._anything))
        return False

    def _moves(
        self, thread: _Thread, others: tuple[_Thread, ...], ready: tuple[_Thread, ...], left: int, right: int
    ) -> list[_Place]:
        """The places to which one thread's next instruction leads; the most promising last."""
        number, address = thread
        instruction = self._programs[number].code[address]
        operation = instruction[0]
        if operation == CHAR:
            return [(others, tuple(sorted({*ready, thread})), left, right)]
        if operation == SPLIT:
            return [(((number, target), *others), ready, left, right) for target in reversed(instruction[1])]
        if operation == TEST:
            onward = ((number, instruction[2]), *others)
            return self._passed(self._tests[number][instruction[1]], onward, ready, left, right)
        if operation == MARK:
            return [(((number, instruction[2]), *others), ready, left, right)]
        if operation == CHECK:
            return [(((number, target), *others), ready, left, right) for target in instruction[2:]]
        return [(others, ready, left, right)]

    def _passed(
        self,
        test: Edge | Look,
        onward: tuple[_Thread, ...],
        ready: tuple[_Thread, ...],
        left: int,
        right: int,
    ) -> list[_Place]:
        """The places beyond a test, for each way in which it may hold."""
        if isinstance(test, Look) and not isinstance(test.body, Chars):
            if test.negated and _always_succeeds(test.body):
                return []
            if not test.negated and not test.behind:
                number = self._number(test.body)
                onward = ((number, self._programs[number].start), *onward)
            return [(onward, ready, left, right)]
        narrowed = [(left & before, right & after) for before, after in self._alphabet.around(test)]
        return [(onward, ready, before, after) for before, after in narrowed if before and after]


def _widened(node: Node) -> Node:
    """The node with at least as many matches, of what a program can follow."""
    match node:
        case Sequence():
            return sequence_of([_widened(part) for part in node.parts])
        case Choice():
            return choice_of([_widened(option) for option in node.options])
        case Repeat():
            body = _widened(node.body)
            return Repeat(node.least, node.most, body, node.low, node.high, node.greedy)
        case Atomic():
            return _widened(node.body)
        case Condition():
            return choice_of([_widened(node.yes), _widened(node.no)])
        case Reference():
            return Repeat(0, None, _ANYTHING, 0, None, True)
    return node
