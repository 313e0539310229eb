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

- Without exploration: runs multiply along a sequence and add up over a choice, and a repeat of what matches in
  one way only has a run for each count, so an attempt costs at most A + B * n: `closed_form`, for most patterns.
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

__all__ = ["STEPS", "Bound", "closed_form", "overall", "per_start"]

_UNROLLED = 20
"""Nodes up to which a counted repeat is unrolled."""

STEPS = 200_000_000
"""What `re` may take for one text where the steps grow faster than the text."""


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


def closed_form(tree: Tree) -> Bound | None:
    """A bound worked out from the pattern's shape alone: at once, and finite for most patterns."""
    _, work = _all_ways(tree.root)
    if not math.isfinite(work.at_all):
        return None
    return Bound(1 + int(work.at_all), int(work.per_character), tree.root.most)


def per_start(tree: Tree) -> Bound | None:
    """A bound that counts each attempt for itself: cheap, and never linear for patterns of unbounded reach."""
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


class _Amount(msgspec.Struct, frozen=True):
    """`at_all + per_character * n` for a text of n characters; infinite when it grows faster."""

    at_all: float
    per_character: float = 0

    def plus(self, other: _Amount) -> _Amount:
        """The sum."""
        return _Amount(self.at_all + other.at_all, self.per_character + other.per_character)

    def times(self, other: _Amount) -> _Amount:
        """The product; one of two growing amounts, or with an infinite one, is infinite."""
        if (self.per_character and other.per_character) or not math.isfinite(self.at_all + other.at_all):
            return _INFINITE
        return _Amount(
            self.at_all * other.at_all, self.at_all * other.per_character + self.per_character * other.at_all
        )


_NONE, _ONE, _INFINITE = _Amount(0), _Amount(1), _Amount(math.inf, math.inf)


def _all_ways(node: Node) -> tuple[_Amount, _Amount]:
    """In how many ways the node matches at most, and the work of going through all of them, in any text."""
    match node:
        case Chars() | Edge():
            return _ONE, _ONE
        case Sequence():
            ways, work = _ONE, _NONE
            for part in node.parts:
                if type(part) is Chars:  # most parts are, and leave as many ways as there were
                    work = work.plus(ways)
                    continue
                more, each = _all_ways(part)
                work = work.plus(ways.times(each))
                ways = ways.times(more)
            return ways, work
        case Choice():
            ways, work = _NONE, _ONE
            for option in node.options:
                more, each = _all_ways(option)
                ways, work = ways.plus(more), work.plus(each)
            return ways, work
        case Repeat():
            return _all_ways_of_repeat(node)
        case Look():
            return _ONE, _ONE.plus(_all_ways(node.body)[1])
        case Atomic():
            return _all_ways(node.body)
        case Reference() if node.most is not None:
            return _ONE, _Amount(1 + node.most)
    return _INFINITE, _INFINITE


def _all_ways_of_repeat(node: Repeat) -> tuple[_Amount, _Amount]:
    more, each = _all_ways(node.body)
    if more == _ONE and node.body.least and not each.per_character:
        # One way to match each time: as many ways as there are counts. The last iteration may fail and cost as much.
        if node.high is None:
            return _Amount(1, 1), _Amount(2 + each.at_all, 1 + each.at_all)
        return _Amount(node.high - node.low + 1), _Amount(1 + node.high * (1 + each.at_all))
    if node.high is None or node.high > _UNROLLED:
        return _INFINITE, _INFINITE
    total, ways, work = _Amount(node.low == 0), _ONE, _ONE
    for count in range(1, node.high + 1):
        work = work.plus(ways.times(each.plus(_ONE)))
        ways = ways.times(more)
        total = total.plus(ways) if count >= node.low else total
    return total, work


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
