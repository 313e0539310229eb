"""Our own engine: the answers of `re.search` in time linear in the text, whatever the text.

It takes over from `re` where backtracking could explode, and follows every node but atomic groups, conditions
and back-references. Two kinds of passes answer everything, each a deterministic automaton that is built as texts
need it. Its states are cached and dropped when they become too many, so that a character costs at most the size of
the pattern:

- forwards, where does some match end? `test` stops at the first place, look-behind asks for all of them; with the
  reversed program and backwards, look-ahead asks where some match begins;
- backwards with the program as it is, which of its instructions lead to an end from here? With that known for every
  place, the way that `re` prefers is walked forwards without ever turning back, so that all matches of a text
  together cost no more than one reading of it.

Looks and edges are tests of a place between two characters. They are answered for all places first, inner looks
before outer ones, and become part of the input. What a single character matches, `re` itself says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, chain, islice
from operator import add, attrgetter, getitem

from averment.text.patterns.program import CHAR, CHECK, FINAL, MARK, SPLIT, TEST, Program
from averment.text.patterns.tree import Chars, Edge, Look, Node, walk

__all__ = ["Automaton"]

_STATE_LIMIT = 4_000
"""The most states that one pass caches."""

_CHARACTER_LIMIT = 1 << 16
"""The most characters whose class is remembered."""

_TEST_SHIFT = 21
"""An input symbol is a character class (there are at most 0x110000 of them) plus one bit per test above that."""

_OUTSIDE = 0
"""The character class of what stands before the first and after the last character."""

_WORD = Chars(1, 1, (r"\w",), False, False, False)
_ASCII_WORD = Chars(1, 1, (r"\w",), False, False, True)
_NEWLINE = Chars(1, 1, ((10, 10),), False, False, False)

_EMPTY_TEXT_HAS_NO_BOUNDARY = re.search(r"\B", "") is not None
"""Whether `\\B` holds in the empty text; Python 3.14 says yes, earlier ones no."""


class Automaton:
    """One pattern, for any number of texts."""

    __slots__ = ("_classes", "_edges", "_forward", "_looks", "_ways")

    def __init__(self, root: Node) -> None:
        """Compile.

        Raises:
            TooLargeError: the pattern needs more than PROGRAM_LIMIT instructions.
        """
        nodes = [*walk(root)]
        tests = dict.fromkeys(node for node in nodes if isinstance(node, Edge | Look))
        bits = {test: 1 << _TEST_SHIFT + number for number, test in enumerate(tests)}
        facts = (_WORD, _ASCII_WORD, _NEWLINE) if tests else ()
        self._classes = _Classes(
            [*dict.fromkeys([*facts, *(node for node in nodes if isinstance(node, Chars))])]
        )
        self._edges = _Edges(
            {test.kind: bit for test, bit in bits.items() if isinstance(test, Edge)}, self._classes
        )
        self._looks = [
            (test, bit, _Pass(Program(test.body, reverse=not test.behind), self._classes, bits))
            for test, bit in bits.items()
            if isinstance(test, Look)
        ]
        program = Program(root)
        self._forward = _Pass(program, self._classes, bits)
        self._ways = _Ways(program, self._classes, bits)

    def test(self, text: str) -> bool:
        """Whether `re.search` finds a match."""
        return any(self._forward.run(_forwards(*self._read(text))))

    def search(self, text: str) -> tuple[int, int] | None:
        """The span of the match that `re.search` finds."""
        return next(self.matches(text), None)

    def matches(self, text: str) -> Iterator[tuple[int, int]]:
        """The spans of the matches that `re.finditer` finds, in linear time for all of them."""
        classes, contexts = self._read(text)
        states = [*self._ways.states(_backwards(classes, contexts))]
        begins = bytes([state.final for state in states[:0:-1]])
        alive = [state.threads for state in states[-2::-1]]
        place, after_empty = 0, False
        while (start := begins.find(1, place)) >= 0:
            end = self._ways.end(start, contexts, alive, empty=not (after_empty and start == place))
            if end is None:  # only the empty match begins here, and it has been found
                place, after_empty = start + 1, False
            else:
                yield start, end
                place, after_empty = end, start == end

    def _read(self, text: str) -> tuple[list[int], list[int]]:
        """The class of each character, and the tests that hold at each place (nothing when there are no tests)."""
        classes = [*map(self._classes.__getitem__, text)]
        if not self._looks and not self._edges.bits:
            return classes, []
        contexts = [
            *map(self._edges.__getitem__, zip([_OUTSIDE, *classes], [*classes, _OUTSIDE], strict=True))
        ]
        if text.endswith("\n"):
            contexts[-2] |= self._edges.bits.get("$", 0)
        for look, bit, seek in self._looks:
            if look.behind:
                held = bytes(seek.run(_forwards(classes, contexts)))
            else:
                held = bytes(seek.run(_backwards(classes, contexts)))[::-1]
            contexts = [
                context if holds == look.negated else context | bit
                for context, holds in zip(contexts, held, strict=True)
            ]
        return classes, contexts


def _forwards(classes: list[int], contexts: list[int]) -> Iterator[int]:
    symbols = chain(classes, (_OUTSIDE,))
    return map(add, contexts, symbols) if contexts else symbols


def _backwards(classes: list[int], contexts: list[int]) -> Iterator[int]:
    symbols = chain(reversed(classes), (_OUTSIDE,))
    return map(add, reversed(contexts), symbols) if contexts else symbols


class _Classes(dict[str, int]):
    """Character -> class: characters that no set of the pattern tells apart share one."""

    __slots__ = ("_by_members", "_sets", "members")

    def __init__(self, sets: list[Chars]) -> None:
        super().__init__()
        self._sets = [(chars, re.compile(chars.source, chars.flags)) for chars in sets]
        self._by_members: dict[frozenset[Chars], int] = {}
        self.members: list[frozenset[Chars]] = [frozenset()]

    def __missing__(self, char: str) -> int:
        inside = frozenset(chars for chars, pattern in self._sets if pattern.match(char))
        number = self._by_members.setdefault(inside, len(self.members))
        if number == len(self.members):
            self.members.append(inside)
        if len(self) >= _CHARACTER_LIMIT:
            self.clear()
        self[char] = number
        return number


class _Edges(dict[tuple[int, int], int]):
    """(class before, class after) -> the bits of the edges that hold there."""

    __slots__ = ("_classes", "bits")

    def __init__(self, bits: dict[str, int], classes: _Classes) -> None:
        super().__init__()
        self.bits = bits
        self._classes = classes

    def __missing__(self, key: tuple[int, int]) -> int:
        self[key] = held = sum(bit for kind, bit in self.bits.items() if self._holds(kind, *key))
        return held

    def _holds(self, kind: str, left: int, right: int) -> bool:
        before, after = self._classes.members[left], self._classes.members[right]
        match kind:
            case "^" | r"\A":
                return left == _OUTSIDE
            case "^m":
                return left == _OUTSIDE or _NEWLINE in before
            case "$" | r"\Z":
                return right == _OUTSIDE
            case "$m":
                return right == _OUTSIDE or _NEWLINE in after
        word = _ASCII_WORD if kind.endswith("a") else _WORD
        boundary = (word in before) != (word in after)
        if kind.startswith(r"\b"):
            return boundary
        return not boundary and (_EMPTY_TEXT_HAS_NO_BOUNDARY or (left, right) != (_OUTSIDE, _OUTSIDE))


class _State(dict[int, "_State"]):
    """Input symbol -> next state; `final` says that a match ends (in `_Ways` begins) before the character just read."""

    __slots__ = ("_grow", "final", "threads")

    def __init__(self, grow: Callable[[int, int], _State], threads: int, final: bool) -> None:
        super().__init__()
        self._grow = grow
        self.threads = threads
        self.final = final

    def __missing__(self, symbol: int) -> _State:
        self[symbol] = state = self._grow(self.threads, symbol)
        return state


class _Pass:
    """Where matches end, whichever they are. Threads are a bit set of the characters' instructions just passed."""

    __slots__ = (
        "_classes",
        "_code",
        "_entries",
        "_follow",
        "_number",
        "_numbered",
        "_reads",
        "_sets",
        "_start",
        "_states",
        "_tests",
        "_width",
    )

    def __init__(self, program: Program, classes: _Classes, bits: dict[Edge | Look, int]) -> None:
        self._code = program.code
        self._start = program.start
        self._sets = [*program.sets]
        self._tests = [bits[test] for test in program.tests]
        self._classes = classes
        self._states: dict[tuple[int, bool], _State] = {}
        # Bit 0 stands for the end of the program, the others for the characters' instructions.
        self._numbered = [n for n, instruction in enumerate(self._code) if instruction[0] == CHAR]
        self._number = {address: 1 << n for n, address in enumerate(self._numbered, 1)}
        self._width = len(self._numbered) // 8 + 1
        self._entries: dict[int, int] = {}
        self._follow: dict[tuple[int, int, int], int] = {}
        self._reads: dict[int, int] = {}

    def _forget(self) -> None:
        self._states.clear()
        self._entries.clear()
        self._follow.clear()

    def _state(self, threads: int, final: bool) -> _State:
        key = (threads, final)
        state = self._states.get(key)
        if state is None:
            if len(self._states) >= _STATE_LIMIT:
                self._forget()
            state = self._states[key] = _State(self._grow, threads, final)
        return state

    def states(self, symbols: Iterable[int]) -> Iterator[_State]:
        """The state before the first symbol and after each."""
        return accumulate(symbols, getitem, initial=self._state(0, False))

    def run(self, symbols: Iterable[int]) -> Iterator[bool]:
        """For each place, whether a match ends there."""
        return map(attrgetter("final"), islice(self.states(symbols), 1, None))

    def _grow(self, threads: int, symbol: int) -> _State:
        context = symbol >> _TEST_SHIFT << _TEST_SHIFT
        ready = self._entries.get(context)
        if ready is None:
            ready = self._entries[context] = self._closure(self._start, context)
        # Eight threads at a time: their followers are looked up together.
        for place, byte in enumerate(threads.to_bytes(self._width, "little")):
            if byte:
                follow = self._follow.get((place, byte, context))
                ready |= self._follow_byte(place, byte, context) if follow is None else follow
        passed = ready & self._reading(symbol - context)
        return self._state(passed, bool(ready & 1))

    def _follow_byte(self, place: int, byte: int, context: int) -> int:
        followers = 0
        for bit in range(8):
            number = 8 * place + bit
            if byte >> bit & 1:
                followers |= self._closure(self._code[self._numbered[number - 1]][2], context)
        self._follow[place, byte, context] = followers
        return followers

    def _reading(self, character: int) -> int:
        """The instructions that pass a character of this class."""
        known = self._reads.get(character)
        if known is None:
            members = self._classes.members[character]
            inside = {number for number, chars in enumerate(self._sets) if chars in members}
            known = sum(bit for address, bit in self._number.items() if self._code[address][1] in inside)
            self._reads[character] = known
        return known

    def _closure(self, address: int, context: int) -> int:
        """The instructions that can come next, without `re`'s rule about empty iterations: it excludes no match."""
        ready = 0
        seen = set()
        pending = [address]
        while pending:
            address = pending.pop()
            if address in seen:
                continue
            seen.add(address)
            instruction = self._code[address]
            operation = instruction[0]
            if operation == CHAR:
                ready |= self._number[address]
            elif operation == SPLIT:
                pending += instruction[1]
            elif operation == TEST:
                if context & self._tests[instruction[1]]:
                    pending.append(instruction[2])
            elif operation == MARK:
                pending.append(instruction[2])
            elif operation == CHECK:
                pending += instruction[2:]
            else:
                ready |= 1
        return ready


class _Ways(_Pass):
    """Which ways lead to a match, and which of them `re` prefers.

    Threads are the instructions that pass the character just read, backwards, and from which an end can be reached.
    """

    __slots__ = ("_after", "_preferred")

    def __init__(self, program: Program, classes: _Classes, bits: dict[Edge | Look, int]) -> None:
        super().__init__(program, classes, bits)
        self._after: dict[tuple[int, int], int] = {}
        self._preferred: dict[tuple[int, int, int, bool], int | None] = {}

    def _forget(self) -> None:
        super()._forget()
        self._after.clear()

    def end(self, start: int, contexts: list[int], alive: list[int], *, empty: bool) -> int | None:
        """Where the match that `re` prefers of those that begin at `start` ends.

        Args:
            start: a place where some match begins.
            contexts: the tests that hold at each place.
            alive: the threads of each place.
            empty: whether it may be the empty match; None is the answer if it may not and is the only one.
        """
        address, place = self._start, start
        while True:
            key = (address, contexts[place] if contexts else 0, alive[place], empty or place > start)
            if key not in self._preferred:
                if len(self._preferred) >= _CHARACTER_LIMIT:
                    self._preferred.clear()
                self._preferred[key] = self._choose(*key)
            chosen = self._preferred[key]
            if chosen is None:
                return None
            if self._code[chosen][0] == FINAL:
                return place
            address, place = self._code[chosen][2], place + 1

    def _grow(self, threads: int, symbol: int) -> _State:
        context = symbol >> _TEST_SHIFT << _TEST_SHIFT
        alive = threads | 1
        reading = self._reading(symbol - context)
        passed = 0
        while reading:
            bit = reading & -reading
            reading -= bit
            address = self._numbered[bit.bit_length() - 2]
            if self._ready(self._code[address][2], context) & alive:
                passed |= bit
        return self._state(passed, bool(self._ready(self._start, context) & alive))

    def _ready(self, address: int, context: int) -> int:
        known = self._after.get((address, context))
        if known is None:
            known = self._after[address, context] = self._closure(address, context)
        return known

    def _choose(self, address: int, context: int, alive: int, may_end: bool) -> int | None:
        """The first instruction, in `re`'s order of preference, that comes next and leads to an end."""
        seen = set()
        pending = [(address, frozenset[int]())]
        while pending:
            thread = pending.pop()
            if thread in seen:
                continue
            seen.add(thread)
            address, marks = thread
            instruction = self._code[address]
            operation = instruction[0]
            if operation == CHAR:
                if alive & self._number[address]:
                    return address
            elif operation == SPLIT:
                pending += [(target, marks) for target in reversed(instruction[1])]
            elif operation == TEST:
                if context & self._tests[instruction[1]]:
                    pending.append((instruction[2], marks))
            elif operation == MARK:
                pending.append((instruction[2], marks | {instruction[1]}))
            elif operation == CHECK:
                _, loop, again, leave = instruction
                pending.append((leave, marks - {loop}) if loop in marks else (again, marks))
            elif may_end:
                return address
        return None
