"""Many patterns, many texts: which can't match, found out in one pass over each text.

A gate names the patterns that may match a text. It can only name too many: whatever it names is verified by the
pattern's own engine, so a gate changes the time, never an answer. Two gates exist:

- google-re2's `Set`, when it is installed, runs one automaton for all patterns. Its expressions are built from our
  tree of the pattern, never from the pattern's text, which means other things to RE2: tests of a place match
  everywhere, back-references match anything, and a set of characters is written out as bytes of UTF-8. By
  induction over the tree, whatever the pattern matches, its expression matches.
- without it, a literal that every match contains is looked for with `in`.

Building a gate takes longer than searching the few texts of one conversation, so a set searches plainly until it
has done so much that a gate would have paid. That is a count, not a clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import Any

from averment.text.patterns.alphabet import ASCII, Alphabet, fold, is_caseless
from averment.text.patterns.pattern import Pattern
from averment.text.patterns.tree import (
    Atomic,
    Chars,
    Choice,
    Condition,
    Node,
    Reference,
    Repeat,
    read,
    sequence_of,
)
from averment.text.patterns.tree import Sequence as Parts

__all__ = ["PatternSet"]

_SEARCHES_BEFORE_GATE = 4_000
"""Searches, of one pattern in one text, that cost about as much as building a gate."""

_RE2_MEMORY = 64 << 20
"""Bytes that RE2 may use for its automaton. When they don't suffice it names no pattern, not even the sentinel."""

_COUNT_LIMIT = 8
"""Repetition counts above this are not written out in RE2's expressions."""

_BEYOND_ASCII = r"[\xc2-\xf4][\x80-\xbf]{1,3}"


class PatternSet:
    """All patterns of a document, searched together."""

    __slots__ = ("_gate", "_patterns", "_searches")

    def __init__(self, patterns: Sequence[Pattern], *, _gate: type[_Gate] | None = None) -> None:
        self._patterns = tuple(patterns)
        self._searches = 0
        self._gate = None if _gate is None else _gate(self._patterns)

    def hits(self, texts: Sequence[str]) -> list[list[int]]:
        """Per pattern, in the order given, the ascending indexes of the texts that it matches."""
        if self._gate is None:
            self._searches += len(self._patterns) * len(texts)
            if self._searches <= _SEARCHES_BEFORE_GATE:
                return [
                    [n for n, text in enumerate(texts) if test(text)]
                    for test in (p.test for p in self._patterns)
                ]
            self._gate = _best_gate(self._patterns)
        found: list[list[int]] = [[] for _ in self._patterns]
        for number, text in enumerate(texts):
            for candidate in self._gate.candidates(text):
                if self._patterns[candidate].test(text):
                    found[candidate].append(number)
        return found


class _Gate:
    """Names the patterns that may match a text."""

    __slots__ = ("_always",)

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._always: list[int] = []
        for number, pattern in enumerate(patterns):
            root = read(pattern.source, ignore_case=pattern.ignore_case).root
            if not root.least or not self._add(number, root):
                self._always.append(number)

    def _add(self, number: int, root: Node) -> bool:
        """Take a pattern in, or say that it can't be gated."""
        raise NotImplementedError

    def candidates(self, text: str) -> Iterable[int]:
        """The numbers of all patterns that may match the text, each once."""
        raise NotImplementedError


def _best_gate(patterns: Sequence[Pattern]) -> _Gate:
    try:
        return Re2Gate(patterns)
    except ImportError:
        return LiteralGate(patterns)


class Re2Gate(_Gate):
    """The gate that needs google-re2; raises ImportError without it."""

    __slots__ = ("_all", "_numbers", "_set")

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        from re2 import Options, Set

        options = Options()
        options.encoding = Options.Encoding.LATIN1
        options.log_errors = False
        options.max_mem = _RE2_MEMORY
        options.never_capture = True
        self._set: Any = Set.SearchSet(options)
        self._all = range(len(patterns))
        self._numbers: list[int] = []
        self._set.Add(b"")  # the sentinel matches every text
        super().__init__(patterns)
        self._set.Compile()

    def _add(self, number: int, root: Node) -> bool:
        from re2 import error

        try:
            self._set.Add(_expression(root).encode("latin-1"))
        except error:
            return False
        self._numbers.append(number)
        return True

    def candidates(self, text: str) -> Iterable[int]:
        named = self._set.Match(text.encode("utf-8", "surrogatepass")) or []
        if 0 not in named:
            return self._all
        return self._always + [self._numbers[place - 1] for place in named if place]


class LiteralGate(_Gate):
    """The gate that needs nothing."""

    __slots__ = ("_numbers",)

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._numbers: dict[str, list[int]] = {}
        super().__init__(patterns)

    def _add(self, number: int, root: Node) -> bool:
        literals = _literals(root)
        for literal in literals:
            self._numbers.setdefault(literal, []).append(number)
        return bool(literals)

    def candidates(self, text: str) -> Iterable[int]:
        folded = fold(text)
        found = dict.fromkeys(self._always)
        for literal, numbers in self._numbers.items():
            if literal in folded:
                found.update(dict.fromkeys(numbers))
        return found


def _expression(node: Node) -> str:
    """An RE2 expression, over the bytes of UTF-8, for a superset of what the node matches."""
    match node:
        case Chars():
            return _chars(node)
        case Parts():
            return "".join(map(_expression, node.parts))
        case Choice():
            return f"(?:{'|'.join(map(_expression, node.options))})"
        case Repeat():
            low = min(node.low, _COUNT_LIMIT)
            high = "" if node.high is None or node.high > _COUNT_LIMIT else node.high
            return f"(?:{_expression(node.body)}){{{low},{high}}}"
        case Atomic():
            return _expression(node.body)
        case Condition():
            return f"(?:{_expression(node.yes)}|{_expression(node.no)})"
        case Reference():
            return r"[\x00-\xff]*"
    return ""


def _chars(chars: Chars) -> str:
    mask = Alphabet((chars,)).mask(chars)
    literal = _literal(chars)
    if literal is not None and literal > "\x7f":
        return "".join(f"\\x{byte:02x}" for byte in literal.encode("utf-8", "surrogatepass"))
    inside = "".join(f"\\x{point:02x}" for point in range(128) if mask >> point & 1)
    options = ([f"[{inside}]"] if inside else []) + ([_BEYOND_ASCII] if mask & ~ASCII else [])
    return f"(?:{'|'.join(options)})"


def _literal(node: Node) -> str | None:
    """The only character that the node matches, after `fold`."""
    if isinstance(node, Chars) and len(node.items) == 1 and not node.negated:
        item = node.items[0]
        if not isinstance(item, str) and item[0] == item[1]:
            char = chr(item[0])
            if char.isascii() or is_caseless(char):
                return char.lower()
    return None


def _literals(node: Node) -> tuple[str, ...]:
    """Folded literals of which every match contains at least one; none when nothing is known."""
    match node:
        case Parts():
            return max(_required(node), key=_worth, default=())
        case Choice():
            options = [_literals(option) for option in node.options]
            return tuple(dict.fromkeys(chain(*options))) if all(options) else ()
        case Repeat() if node.low:
            return _literals(node.body)
        case Atomic():
            return _literals(node.body)
        case Chars():
            return max(_required(sequence_of([node])), key=_worth, default=())
    return ()


def _required(node: Parts) -> Iterator[tuple[str, ...]]:
    """What each part, or run of single characters, requires."""
    for alone, parts in groupby(node.parts, key=lambda part: _literal(part) is not None):
        if alone:
            yield ("".join(filter(None, map(_literal, parts))),)
        else:
            yield from filter(None, map(_literals, (part for part in parts if not isinstance(part, Chars))))


def _worth(literals: tuple[str, ...]) -> tuple[int, int]:
    """Long literals are rare in texts, and few are found faster."""
    return min(map(len, literals)), -len(literals)
