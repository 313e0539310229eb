"""What an expected value compiles to: a tree of nodes that match, and that say what differs.

Every node has `matches`, `differ` (add what differs to a list: nothing if and only if the value matches) and `words`
(what was expected). They recurse as deep as the expected value, which is bounded, never as deep as the actual one.
Texts are written late: for the nearest of many misses only one is read.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any, Final, TypeAlias

import msgspec

from averment.errors import nearest
from averment.text.jsonvalue import ABSENT, MAX_SHOWN, cut, show
from averment.text.pii import redact

__all__ = [
    "MAX_KEY",
    "MAX_MISMATCHES",
    "NO_KEY",
    "SOMETHING",
    "AllNode",
    "Difference",
    "Leaf",
    "ListNode",
    "MappingNode",
    "Mismatch",
    "Node",
    "Path",
    "any_of",
    "differences",
    "negated",
    "scalar",
    "sized",
]

MAX_MISMATCHES: Final = 50
"""Mismatches listed for one actual value."""
MAX_KEY: Final = 64
"""Characters of a key of the evidence in a mismatch, and the longest key looked at for a misspelling."""
_MAX_KEYS: Final = 50
"""Keys of a mapping looked at for a misspelling."""
_SIZED: Final = (str, list, tuple, dict)

Path: TypeAlias = tuple[str | int, ...]


class Mismatch(msgspec.Struct, frozen=True):
    """One place where an actual value doesn't match: read as "expected 5, found 999"."""

    path: Path
    expected: str
    found: str


class Missing(msgspec.Struct, frozen=True):
    """A key that isn't there, among those that are."""

    key: str
    record: dict[str, object]
    named: dict[str, Node]

    def render(self) -> str:
        """What is said of it."""
        others = (key for key in self.record if key not in self.named and len(key) <= MAX_KEY)
        near = nearest(self.key, islice(others, _MAX_KEYS)) if len(self.key) <= MAX_KEY else None
        return "nothing" if near is None else f"nothing (the nearest key is {show(near)})"


class Difference(msgspec.Struct, frozen=True):
    """A mismatch before its texts are written, which only the nearest miss needs."""

    path: Path
    node: Node
    found: object

    def render(self) -> Mismatch:
        """Write the texts."""
        if isinstance(self.found, Missing):
            found = self.found.render()
        elif isinstance(self.node, Leaf) and self.node.sized and isinstance(self.found, _SIZED):
            found = f"length {len(self.found)}"
        else:
            found = show(self.found)
        return Mismatch(self.path, cut(self.node.words()), found)


class Leaf:
    """A test that a value passes or fails as a whole; `sized` when it looks at nothing but the length."""

    __slots__ = ("matches", "sized", "words")

    def __init__(
        self, matches: Callable[[object], bool], words: Callable[[], str], *, sized: bool = False
    ) -> None:
        self.matches: Final = matches
        self.words: Final = words
        self.sized: Final = sized

    def differ(self, actual: object, path: Path, out: list[Difference]) -> None:
        """Add what differs in the value at the path."""
        if not self.matches(actual):
            out.append(Difference(path, self, actual))


class MappingNode:
    """Named keys with their nodes; `others` are the keys that may be there too, None when any may."""

    __slots__ = ("expected", "nodes", "others")

    def __init__(self, expected: object, nodes: dict[str, Node], others: frozenset[str] | None) -> None:
        self.expected: Final = expected
        self.nodes: Final = nodes
        self.others: Final = others

    def matches(self, actual: object) -> bool:
        """Whether the value matches."""
        if not isinstance(actual, dict):
            return False
        for key, node in self.nodes.items():
            if not node.matches(actual.get(key, ABSENT)):
                return False
        return self.others is None or not self._extra(actual)

    def _extra(self, actual: dict[Any, object]) -> list[Any]:
        others = self.others or ()
        return [key for key in actual if key not in self.nodes and key not in others]

    def differ(self, actual: object, path: Path, out: list[Difference]) -> None:
        """Add what differs in the value at the path."""
        if not isinstance(actual, dict):
            out.append(Difference(path, self, actual))
            return
        for key, node in self.nodes.items():
            if len(out) >= MAX_MISMATCHES:
                return
            if key in actual:
                node.differ(actual[key], (*path, key), out)
            elif not node.matches(ABSENT):
                out.append(Difference((*path, key), node, Missing(key, actual, self.nodes)))
        if self.others is not None:
            extra = sorted(self._extra(actual), key=str)[:MAX_MISMATCHES]
            out.extend(
                Difference((*path, cut(redact(str(key)), MAX_KEY)), NO_KEY, actual[key]) for key in extra
            )

    def words(self) -> str:
        """What was expected."""
        return show(self.expected)


class ListNode:
    """Element by element."""

    __slots__ = ("expected", "length", "nodes")

    def __init__(self, expected: object, nodes: list[Node]) -> None:
        self.expected: Final = expected
        self.nodes: Final = nodes
        self.length: Final = sized(scalar(len(nodes)))

    def matches(self, actual: object) -> bool:
        """Whether the value matches."""
        if not isinstance(actual, (list, tuple)) or len(actual) != len(self.nodes):
            return False
        return all(node.matches(value) for node, value in zip(self.nodes, actual, strict=True))

    def differ(self, actual: object, path: Path, out: list[Difference]) -> None:
        """Add what differs in the value at the path."""
        if not isinstance(actual, (list, tuple)):
            out.append(Difference(path, self, actual))
        elif len(actual) != len(self.nodes):
            out.append(Difference(path, self.length, actual))
        else:
            for index, (node, value) in enumerate(zip(self.nodes, actual, strict=True)):
                if len(out) >= MAX_MISMATCHES:
                    return
                node.differ(value, (*path, index), out)

    def words(self) -> str:
        """What was expected."""
        return show(self.expected)


class AllNode:
    """Every one of several, of the same value."""

    __slots__ = ("nodes",)

    def __init__(self, nodes: list[Node]) -> None:
        self.nodes: Final = nodes

    def matches(self, actual: object) -> bool:
        """Whether the value matches."""
        return all(node.matches(actual) for node in self.nodes)

    def differ(self, actual: object, path: Path, out: list[Difference]) -> None:
        """Add what differs in the value at the path."""
        for node in self.nodes:
            if len(out) < MAX_MISMATCHES:
                node.differ(actual, path, out)

    def words(self) -> str:
        """What was expected."""
        return " and ".join(node.words() for node in self.nodes)


Node: TypeAlias = Leaf | MappingNode | ListNode | AllNode


def differences(node: Node, actual: object) -> list[Difference]:
    """Why an actual value doesn't match, in document order, at most `MAX_MISMATCHES`; empty when it does."""
    out: list[Difference] = []
    node.differ(actual, (), out)
    return out[:MAX_MISMATCHES]


def scalar(value: object) -> Leaf:
    """Equal to a scalar, as `json_equal` has it, which this repeats for speed."""
    if value is None or isinstance(value, bool):
        return Leaf(lambda actual: actual is value, lambda: show(value))
    return Leaf(lambda actual: actual == value and not isinstance(actual, bool), lambda: show(value))


def sized(node: Node) -> Leaf:
    """Of a length that matches."""

    def matches(actual: object) -> bool:
        return isinstance(actual, _SIZED) and node.matches(len(actual))

    return Leaf(matches, lambda: f"length {node.words()}", sized=True)


def negated(node: Node) -> Leaf:
    """There, and not matching."""
    return Leaf(
        lambda actual: actual is not ABSENT and not node.matches(actual),
        lambda: f"anything but {node.words()}",
    )


def any_of(nodes: list[Node]) -> Leaf:
    """At least one of several."""
    return Leaf(
        lambda actual: any(node.matches(actual) for node in nodes),
        lambda: " or ".join(node.words() for node in islice(nodes, MAX_SHOWN)),
    )


SOMETHING: Final = Leaf(lambda actual: actual is not ABSENT, lambda: "any value")
NO_KEY: Final = Leaf(lambda actual: actual is ABSENT, lambda: "no such key")
