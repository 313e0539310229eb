"""A pattern as a small tree of our own, read from Python's own parse.

The dialect is Python's `re`, so `re`'s parser decides what a pattern says; this module only renames what it
found. That parser is private and grows: a construct that isn't known here is refused with its name, never
guessed at. Flags are resolved while reading, so that the nodes mean the same wherever they stand.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator
from functools import lru_cache
from re import _constants, _parser  # type: ignore[attr-defined]
from typing import Any

import msgspec

__all__ = [
    "EMPTY",
    "NEVER",
    "Atomic",
    "Chars",
    "Choice",
    "Condition",
    "Edge",
    "Look",
    "Node",
    "Reference",
    "Repeat",
    "Sequence",
    "Tree",
    "UnknownConstructError",
    "choice_of",
    "parse",
    "read",
    "sequence_of",
    "walk",
]

_CATEGORIES = {
    _constants.CATEGORY_DIGIT: r"\d",
    _constants.CATEGORY_NOT_DIGIT: r"\D",
    _constants.CATEGORY_SPACE: r"\s",
    _constants.CATEGORY_NOT_SPACE: r"\S",
    _constants.CATEGORY_WORD: r"\w",
    _constants.CATEGORY_NOT_WORD: r"\W",
}
_EDGES = {
    _constants.AT_BEGINNING: "^",
    _constants.AT_BEGINNING_STRING: r"\A",
    _constants.AT_BOUNDARY: r"\b",
    _constants.AT_NON_BOUNDARY: r"\B",
    _constants.AT_END: "$",
    _constants.AT_END_STRING: r"\Z",
}
# Plain integers: every `&` of the enum's members makes an object, in `re`'s own parser too.
_IGNORECASE, _ASCII, _DOTALL, _MULTILINE = map(int, (re.IGNORECASE, re.ASCII, re.DOTALL, re.MULTILINE))
_TYPE_FLAGS = int(re.ASCII | re.LOCALE | re.UNICODE)


class UnknownConstructError(Exception):
    """`re` parsed something that isn't known here, or known not to work; the argument is its name."""


class Node(msgspec.Struct, frozen=True, gc=False):
    """A piece of a pattern; `least` and `most` bound the characters it consumes (`most` None: no bound)."""

    least: int
    most: int | None


class Chars(Node, frozen=True, gc=False):
    r"""One character out of a set: code point ranges (ends included) and categories such as `\d`."""

    items: tuple[tuple[int, int] | str, ...]
    negated: bool
    ignore_case: bool
    ascii_only: bool

    @property
    def source(self) -> str:
        """A pattern for exactly this set, for asking `re` itself."""
        if not self.items:
            return "(?s:.)" if self.negated else "(?!)"
        body = "".join(i if isinstance(i, str) else _range_source(*i) for i in self.items)
        return f"[{'^' if self.negated else ''}{body}]"

    @property
    def flags(self) -> int:
        """The flags under which `source` means this set."""
        return (re.IGNORECASE if self.ignore_case else 0) | (re.ASCII if self.ascii_only else 0)


def _range_source(low: int, high: int) -> str:
    return f"\\U{low:08x}" if low == high else f"\\U{low:08x}-\\U{high:08x}"


class Sequence(Node, frozen=True, gc=False):
    """Parts one after the other; no parts match the empty text."""

    parts: tuple[Node, ...]


class Choice(Node, frozen=True, gc=False):
    """The first option that leads to a match; no options never match."""

    options: tuple[Node, ...]


class Repeat(Node, frozen=True, gc=False):
    """The body `low` to `high` times (None: without bound), as many as possible or, lazily, as few."""

    body: Node
    low: int
    high: int | None
    greedy: bool


class Atomic(Node, frozen=True, gc=False):
    """The body's first way to match, never another: `(?>...)` and the possessive repeats."""

    body: Node


class Look(Node, frozen=True, gc=False):
    """Look-ahead or look-behind: what follows or precedes, without consuming it."""

    body: Node
    behind: bool
    negated: bool


class Reference(Node, frozen=True, gc=False):
    """The text that a group matched, once more."""

    group: int
    ignore_case: bool


class Condition(Node, frozen=True, gc=False):
    """`(?(1)yes|no)`: one of two bodies, by whether a group took part."""

    yes: Node
    no: Node


class Edge(Node, frozen=True, gc=False):
    r"""A test of a place in the text: `^ $ \A \Z \b \B`, with `m` (lines) or `a` (ASCII words) appended."""

    kind: str


class Tree(msgspec.Struct, frozen=True):
    """A whole pattern.

    Attributes:
        root: the pattern.
        groups: the body of each capturing group, by number.
        looks: every look-ahead and look-behind.
        beyond: whether it has what no automaton can follow: a back-reference, a condition or an atomic group.
    """

    root: Node
    groups: dict[int, Node]
    looks: list[Look]
    beyond: bool


EMPTY = Sequence(0, 0, ())
"""Matches the empty text."""

NEVER = Choice(0, 0, ())
"""Matches nothing."""


@lru_cache(
    maxsize=256
)  # a pattern is parsed to be checked, and once more to be compiled if it is ever searched
def parse(source: str, *, ignore_case: bool) -> Any:
    """`re`'s own parse of a pattern, which its compiler takes.

    Raises:
        re.error: `re` can't parse it.
        OverflowError: a repetition count is beyond what `re` can hold.
    """
    flags = _IGNORECASE if ignore_case else 0
    if "[" not in source:
        return _parser.parse(source, flags)
    # `re` warns that sets like `[[a]` may change their meaning one day; verdicts follow the running `re`.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _parser.parse(source, flags)


def read(source: str, *, ignore_case: bool) -> tuple[Tree, Any]:
    """Read a pattern.

    Returns:
        The tree, and what `parse` gives.

    Raises:
        re.error: `re` can't parse it.
        OverflowError: a repetition count is beyond what `re` can hold.
        UnknownConstructError: `re` can, but the result has parts that aren't known here.
    """
    parsed = parse(source, ignore_case=ignore_case)
    reader = _Reader()
    root = reader.sequence(parsed, parsed.state.flags)
    return Tree(root, reader.groups, reader.looks, reader.beyond), parsed


def walk(node: Node) -> Iterator[Node]:
    """The node and all nodes below it, the inner ones first."""
    match node:
        case Sequence():
            below = node.parts
        case Choice():
            below = node.options
        case Repeat() | Look() | Atomic():
            below = (node.body,)
        case Condition():
            below = (node.yes, node.no)
        case _:
            below = ()
    for inner in below:
        yield from walk(inner)
    yield node


class _Reader:
    __slots__ = ("_literals", "beyond", "groups", "looks")

    def __init__(self) -> None:
        self.groups: dict[int, Node] = {}
        self.looks: list[Look] = []
        self.beyond = False
        self._literals: dict[tuple[int, int], Chars] = {}

    def sequence(self, parsed: Iterable[tuple[Any, Any]], flags: int) -> Node:
        parts = [self._node(op, argument, flags) for op, argument in parsed]
        return parts[0] if len(parts) == 1 else sequence_of(parts)

    def _node(self, op: Any, argument: Any, flags: int) -> Node:
        match op.name:
            case "LITERAL":
                key = (argument, flags)
                found = self._literals.get(key)
                if found is None:
                    found = self._literals[key] = _chars(((argument, argument),), False, flags)
                return found
            case "NOT_LITERAL":
                return _chars(((argument, argument),), True, flags)
            case "ANY":
                return _chars(() if flags & _DOTALL else ((10, 10),), True, flags)
            case "IN":
                return _set(argument, flags)
            case "BRANCH":
                return choice_of([self.sequence(option, flags) for option in argument[1]])
            case "SUBPATTERN":
                group, added, removed, body = argument
                if added & _TYPE_FLAGS:
                    flags &= ~_TYPE_FLAGS
                node = self.sequence(body, (flags | added) & ~removed)
                if group is not None:
                    self.groups[group] = node
                return node
            case "MAX_REPEAT" | "MIN_REPEAT":
                return self._repeat(argument, flags, greedy=op.name == "MAX_REPEAT")
            case "POSSESSIVE_REPEAT":
                before = len(self.groups)
                body = self._repeat(argument, flags, greedy=True)
                if len(self.groups) > before:
                    # `re` confuses the spans of such groups and raises SystemError on some texts (3.11 to 3.13).
                    raise UnknownConstructError("a capturing group inside a possessive repeat")
                self.beyond = True
                return Atomic(body.least, body.most, body)
            case "ATOMIC_GROUP":
                body = self.sequence(argument, flags)
                self.beyond = True
                return Atomic(body.least, body.most, body)
            case "ASSERT" | "ASSERT_NOT":
                direction, body = argument
                look = Look(0, 0, self.sequence(body, flags), direction < 0, op.name == "ASSERT_NOT")
                self.looks.append(look)
                return look
            case "AT":
                return _edge(argument, flags)
            case "GROUPREF":
                most = self.groups[argument].most
                self.beyond = True
                return Reference(0, most, argument, bool(flags & _IGNORECASE))
            case "GROUPREF_EXISTS":
                _, yes, no = argument
                either = choice_of([self.sequence(yes, flags), self.sequence(no, flags) if no else EMPTY])
                self.beyond = True
                return Condition(either.least, either.most, *either.options)
            case "FAILURE":
                return NEVER
            case name:
                raise UnknownConstructError(name)

    def _repeat(self, argument: Any, flags: int, *, greedy: bool) -> Node:
        low, high, parsed = argument
        body = self.sequence(parsed, flags)
        top = None if high is _constants.MAXREPEAT else int(high)
        most = 0 if body.most == 0 else None if top is None or body.most is None else body.most * top
        return Repeat(body.least * low, most, body, low, top, greedy)


def _chars(items: tuple[tuple[int, int] | str, ...], negated: bool, flags: int) -> Chars:
    return Chars(1, 1, items, negated, bool(flags & _IGNORECASE), bool(flags & _ASCII))


def _set(parsed: Iterable[tuple[Any, Any]], flags: int) -> Chars:
    items: list[tuple[int, int] | str] = []
    negated = False
    for op, argument in parsed:
        match op.name:
            case "NEGATE":
                negated = True
            case "LITERAL":
                items.append((argument, argument))
            case "RANGE":
                items.append((argument[0], argument[1]))
            case "CATEGORY" if argument in _CATEGORIES:
                items.append(_CATEGORIES[argument])
            case name:
                raise UnknownConstructError(name)
    return _chars(tuple(items), negated, flags)


def _edge(argument: Any, flags: int) -> Edge:
    kind = _EDGES.get(argument)
    if kind is None:
        raise UnknownConstructError(str(argument))
    if kind in "^$" and flags & _MULTILINE:
        kind += "m"
    elif kind in {r"\b", r"\B"} and flags & _ASCII:
        kind += "a"
    return Edge(0, 0, kind)


def sequence_of(parts: list[Node]) -> Sequence:
    """The parts one after the other."""
    most: int | None = 0
    for part in parts:
        most = None if most is None or part.most is None else most + part.most
    return Sequence(sum(part.least for part in parts), most, tuple(parts))


def choice_of(options: list[Node]) -> Choice:
    """One of the options."""
    most: int | None = 0
    for option in options:
        most = None if most is None or option.most is None else max(most, option.most)
    return Choice(min((option.least for option in options), default=0), most, tuple(options))
