"""How many steps plain `re` can need at most: a proof, or none.

**What is counted.** `re` backtracks: from one place in the text it follows one way through the pattern after the
other. Call a *run* such a way, up to some position of the text: the pattern elements that consumed the characters
so far, and the choices between them. `re` follows no run twice from one starting place (backtracking tries *other*
ways), so

    steps  <=  sum over positions k of the text, over runs alive at k, of the work at k            (1)

where the work of a run is the number of zero-width moves (branches, loop exits, tests) before its next character,
counted with all the ways through them. `re.search` starts once at every position.

**How it is bounded.** A run is determined by the program of `program.py` up to what this module gives away in the
safe direction (`_relaxed`): atomic groups may give back, conditions and tests of more than one character may go
either way, look-ahead is a side branch that reads on and dies, a back-reference is a copy of its group (whatever
it matches is a text of that group, so runs map one to one into runs of the copy), and a counted repeat too large
to be unrolled is an uncounted one (only where its body consumes something, so that iterations can't hide).
Then the number of runs alive at k in each program state is a vector of counts; reading a character multiplies
it by a matrix of natural numbers; the matrices are monotone. `runs.py` follows the vectors through every
possible text. Per set of states it keeps the componentwise maximum of the counts seen, and sets a count to
infinity when it keeps growing. It stops at a fixed point, which covers every text, or when its budget is spent:
then nothing is proved.

**The theorem.** Let E be what exploration finds from one entry, and P its *peak*: the largest total work at a
position, over all texts.

- Entries only at the start of one attempt, P finite: an attempt costs at most P times the positions it reaches;
  a search at most `P * n * min(n, width)`: `per_start`.
- An entry at every position (the search's own loop is part of the automaton), P finite: by (1) the search costs at
  most `P * n`: linear. Where some states' counts are infinite, but every entry into those states has a finite
  peak Q of its own, at most P entries happen per position, each costing `Q * min(n, width)`: quadratic: `overall`.
"""

from __future__ import annotations

import math

import msgspec

from averment.text.patterns.program import (
    PROGRAM_LIMIT,
    TooLargeError,
)
from averment.text.patterns.runs import Runs
from averment.text.patterns.tree import (
    EMPTY,
    NEVER,
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
    Tree,
    choice_of,
    sequence_of,
)

__all__ = ["Bound", "overall", "per_start"]

_UNROLLED = 20
"""Nodes up to which a counted repeat is unrolled."""

_SMALL = 1_000
"""The work up to which a pattern is accepted without exploration: it is that, whatever the text."""


class Bound(msgspec.Struct, frozen=True):
    """`linear * (n + 1) + quadratic * (n + 1) * (min(n, reach) + 1)` steps for a text of n characters.

    `reach` is the most characters that one attempt looks at, None without bound.
    """

    linear: int
    quadratic: int
    reach: int | None

    def longest(self, budget: int) -> int:
        """The longest text, in characters, for which the steps are surely within the budget."""
        linear = budget // (self.linear + self.quadratic * ((self.reach or 0) + 1)) - 1
        square = math.isqrt(budget // (self.linear + self.quadratic)) - 1
        return square if self.reach is None and self.quadratic else max(linear, square)

    def per_character(self) -> float:
        """The most steps per character, for texts of any length."""
        if self.reach is None:
            return math.inf if self.quadratic else self.linear
        return self.linear + self.quadratic * (self.reach + 1)


def per_start(tree: Tree) -> Bound | None:
    """A bound that counts each attempt for itself: cheap, and never linear for patterns of unbounded reach."""
    _, work = _all_ways(tree.root)
    if work <= _SMALL:
        return Bound(1 + int(work), 0, tree.root.most)
    try:
        runs = Runs(relaxed := _relaxed(tree.root, tree))
        peak, infinite = runs.explore(runs.first, restarting=False)
    except TooLargeError:
        return None
    return None if infinite else Bound(runs.entry_work, peak, relaxed.most)


def overall(tree: Tree) -> Bound | None:
    """A bound that counts the attempts at all positions together: it proves linear time where it can."""
    try:
        runs = Runs(relaxed := _relaxed(tree.root, tree))
        peak, infinite = runs.explore(runs.first, restarting=True)
        linear = peak + runs.entry_work
        entry_peak = 0
        for element in runs.entries(infinite):
            one, unbounded = runs.explore({element: 1}, restarting=False)
            if unbounded:
                return None
            entry_peak = max(entry_peak, one)
    except TooLargeError:
        return None
    return Bound(linear, linear * entry_peak, relaxed.most)


def _all_ways(node: Node) -> tuple[float, float]:
    """In how many ways the node matches at most, and the work of going through all of them, in any text."""
    match node:
        case Chars() | Edge():
            return 1, 1
        case Sequence():
            ways, work = 1.0, 0.0
            for more, each in map(_all_ways, node.parts):
                work += ways * each
                ways *= more
            return ways, work
        case Choice():
            options = [*map(_all_ways, node.options)]
            return sum(ways for ways, _ in options), 1 + sum(work for _, work in options)
        case Repeat() if node.high is not None and node.high <= _SMALL:
            more, each = _all_ways(node.body)
            total, ways, work = float(node.low == 0), 1.0, 1.0
            for count in range(1, node.high + 1):
                work += ways * (each + 1)
                ways *= more
                total += ways if count >= node.low else 0
            return total, work
        case Look():
            return 1, 1 + _all_ways(node.body)[1]
        case Atomic():
            return _all_ways(node.body)
        case Reference() if node.most is not None:
            return 1, 1 + node.most
    return math.inf, math.inf


def _relaxed(root: Node, tree: Tree) -> Node:
    """The pattern with at least as many runs that a `Program` can be made of."""
    return _Relaxation(tree).node(root, copied=False, folded=False)


class _Relaxation:
    __slots__ = ("_count", "_tree")

    def __init__(self, tree: Tree) -> None:
        self._tree = tree
        self._count = 0

    def node(self, node: Node, *, copied: bool, folded: bool) -> Node:
        """Relax; a copy for a back-reference drops its tests, and its cases when the reference ignores them."""
        self._count += 1
        if self._count > PROGRAM_LIMIT:
            raise TooLargeError  # references to groups with references double at every step
        match node:
            case Chars():
                return Chars(1, 1, (), True, False, False) if folded and not node.ignore_case else node
            case Sequence():
                return sequence_of([self.node(part, copied=copied, folded=folded) for part in node.parts])
            case Choice():
                return choice_of([self.node(option, copied=copied, folded=folded) for option in node.options])
            case Repeat():
                return _repeat(node, self.node(node.body, copied=copied, folded=folded))
            case Atomic():
                return self.node(node.body, copied=copied, folded=folded)
            case Condition():
                return self.node(choice_of([node.yes, node.no]), copied=copied, folded=folded)
            case Reference():
                body = self._tree.groups[node.group]
                return self.node(body, copied=True, folded=folded or node.ignore_case)
            case Edge() | Look() if copied:
                return EMPTY
            case Look() if not node.behind and not isinstance(node.body, Chars):
                body = self.node(node.body, copied=False, folded=False)
                return choice_of([sequence_of([body, NEVER]), EMPTY])
            case Look():
                return Look(0, 0, self.node(node.body, copied=False, folded=False), node.behind, node.negated)
        return node


def _repeat(node: Repeat, body: Node) -> Repeat:
    low, high = node.low, node.high
    copies = low + 1 if high is None else high
    if copies > 1 and copies * _size(body) > _UNROLLED and body.least:
        low, high = min(low, 1), None
    most = 0 if body.most == 0 else None if node.high is None or body.most is None else body.most * node.high
    return Repeat(body.least * low, most, body, low, high, node.greedy)


def _size(node: Node) -> int:
    match node:
        case Sequence():
            return sum(map(_size, node.parts))
        case Choice():
            return 1 + sum(map(_size, node.options))
        case Repeat():
            return 1 + _size(node.body) * (node.low + 1 if node.high is None else node.high)
    return 1
