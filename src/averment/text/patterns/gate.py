"""Many patterns, many texts: which can't match, found out in one pass over each text.

A gate names the patterns that may match a text. It can only name too many: whatever it names is verified by the
pattern's own engine, so a gate changes the time, never an answer. Two gates exist:

- google-re2's `Set`, when it is installed, runs one automaton for all patterns. Its expressions are built from our
  tree of the pattern, never from the pattern's text, which means other things to RE2: tests of a place match
  everywhere, back-references match anything, and a set of characters is written out as bytes of UTF-8. By
  induction over the tree, whatever the pattern matches, its expression matches.
- without it, and for the first texts, a literal that every match contains is looked for with `in`. That gate costs
  next to nothing to build, the other one pays only after many texts. A count decides, not a clock.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby
from typing import Any

from averment.text.patterns.alphabet import ASCII, Alphabet, fold, is_caseless
from averment.text.patterns.pattern import Pattern
from averment.text.patterns.tree import Atomic, Chars, Choice, Condition, Node, Reference, Repeat
from averment.text.patterns.tree import Sequence as Parts

__all__ = ["LiteralGate", "NoGateError", "PatternSet", "Re2Gate"]

_TEXTS_BEFORE_RE2 = 1_000
"""Texts after which RE2's automaton pays: building it takes as long for each pattern as some hundred searches."""

_PATTERNS_FOR_RE2 = 8
"""Fewer patterns are looked for faster one by one."""

_RE2_MEMORY = 64 << 20
"""Bytes that RE2 may use for its automaton. When they don't suffice it names no pattern, not even the sentinel."""

_COUNT_LIMIT = 8
"""Repetition counts above this are not written out in RE2's expressions."""

_BEYOND_ASCII = r"[\xc2-\xf4][\x80-\xbf]{1,3}"


class PatternSet:
    """All patterns of a document, searched together."""

    __slots__ = ("_gate", "_patterns", "_texts_left")

    def __init__(
        self, patterns: Sequence[Pattern], *, _gate: type[LiteralGate | Re2Gate] | None = None
    ) -> None:
        """Take the patterns; tests choose a gate, all others let the set choose."""
        self._patterns = tuple(patterns)
        self._gate = (_gate or LiteralGate)(self._patterns)
        self._texts_left = _TEXTS_BEFORE_RE2 if _gate is None and len(patterns) >= _PATTERNS_FOR_RE2 else 0

    def hits(self, texts: Sequence[str]) -> list[list[int]]:
        """Per pattern, in the order given, the ascending indexes of the texts that it matches."""
        if self._texts_left > 0:
            self._texts_left -= len(texts)
            if self._texts_left <= 0:
                with contextlib.suppress(NoGateError):
                    self._gate = Re2Gate(self._patterns)
        found: list[list[int]] = [[] for _ in self._patterns]
        candidates = self._gate.candidates
        for number, text in enumerate(texts):
            for candidate in candidates(text):
                if self._patterns[candidate].test(text):
                    found[candidate].append(number)
        return found


class LiteralGate:
    """Looks for a literal that every match contains."""

    __slots__ = ("_always", "_numbers")

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._always: list[int] = []
        self._numbers: dict[str, list[int]] = {}
        for number, pattern in enumerate(patterns):
            literals = _literals(pattern.tree.root)
            for literal in literals:
                self._numbers.setdefault(literal, []).append(number)
            if not literals:
                self._always.append(number)

    def candidates(self, text: str) -> Iterable[int]:
        """The patterns with a literal that stands in the text, and those without one."""
        folded = fold(text)
        found = dict.fromkeys(self._always)
        for literal, numbers in self._numbers.items():
            if literal in folded:
                found.update(dict.fromkeys(numbers))
        return found


class NoGateError(Exception):
    """The gate can't be built: google-re2 isn't installed, or the patterns are too much for it."""


class Re2Gate:
    """Runs one automaton of google-re2 for all patterns."""

    __slots__ = ("_all", "_always", "_match", "_numbers", "_set")

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        try:
            from re2 import Options, Set, error
        except ImportError as problem:
            raise NoGateError from problem
        self._all = range(len(patterns))
        options = Options()
        options.encoding = Options.Encoding.LATIN1
        options.log_errors = False
        options.max_mem = _RE2_MEMORY
        options.never_capture = True
        self._set: Any = Set.SearchSet(options)
        self._set.Add(b"")  # the sentinel: it matches every text
        self._always: list[int] = []
        self._numbers: list[int] = [-1]
        for number, pattern in enumerate(patterns):
            root = pattern.tree.root
            try:
                # What matches the empty text would match everywhere.
                if root.least and self._set.Add(_expression(root).encode()):
                    self._numbers.append(number)
                    continue
            except error:
                pass  # too large for RE2
            self._always.append(number)
        try:
            self._set.Compile()
        except error as problem:
            raise NoGateError from problem
        # The set of re2's own extension, where the wrapper keeps it there: it spares a call for every turn.
        self._match = getattr(self._set, "_set", self._set).Match

    def candidates(self, text: str) -> Iterable[int]:
        """The patterns that RE2 names, and those that it can't take."""
        named = self._match(text.encode("utf-8", "surrogatepass")) or ()
        if 0 not in named:
            return self._all
        if len(named) == 1:
            return self._always
        return self._always + [self._numbers[place] for place in named if place]


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


@functools.lru_cache(maxsize=1024)
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
            literal = _literal(node)
            return () if literal is None else (literal,)
    return ()


def _required(node: Parts) -> Iterator[tuple[str, ...]]:
    """What each part, or run of single characters, requires."""
    for alone, parts in groupby(node.parts, key=lambda part: _literal(part) is not None):
        if alone:
            yield ("".join(filter(None, map(_literal, parts))),)
        else:
            yield from filter(None, map(_literals, parts))


def _worth(literals: tuple[str, ...]) -> tuple[int, int]:
    """Long literals are rare in texts, and few are found faster."""
    return min(map(len, literals)), -len(literals)
