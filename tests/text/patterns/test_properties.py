from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Iterator
from re import _parser  # type: ignore[attr-defined]
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from averment.text.patterns import Pattern, PatternError, PatternSet, compile_pattern
from averment.text.patterns.analysis import overall, per_start
from averment.text.patterns.automaton import Automaton
from averment.text.patterns.gate import LiteralGate, Re2Gate
from averment.text.patterns.program import TooLargeError

STEP_LIMIT = 20_000
"""Exhaustive searches beyond this are left out: `re` itself, which the answers are compared with, would hang."""

_CHARACTERS = [
    *"ab",
    *"aabb",
    r"\w",
    r"\W",
    r"\d",
    r"\s",
    r"\S",
    ".",
    "[ab]",
    "[^a]",
    r"[^\W_]",
    "[a-k]",
    r"\n",
]
_TRAPS = [
    *"kKsSiI",
    "ſ",
    "\u212a",
    "İ",
    "ı",
    "é",
    "退",
    "[ſx]",
    "[à-ſ]",
    "(?i:k)",
    "(?-i:s)",
    r"(?a:\w)",
    "(?ai:k)",
    "(?s:.)",
]
_EDGES = ["^", "$", r"\A", r"\Z", r"\b", r"\B", "(?m:^)", "(?m:$)", r"(?a:\b)", ""]
_COUNTS = ["*", "+", "?", "{2}", "{0,2}", "{1,3}", "{2,}", "{,2}", "{0}", "{2,9}", "{0,30}"]


def _extended(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Patterns of what our own engine can follow."""
    fixed = st.lists(st.sampled_from(_CHARACTERS + _TRAPS), min_size=1, max_size=2).map("".join)
    repeated = st.tuples(
        st.sampled_from(["(?:", "("]),
        inner,
        st.just(")"),
        st.sampled_from(_COUNTS),
        st.sampled_from(["", "?"]),
    )
    return st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=1, max_size=3).map(lambda options: f"(?:{'|'.join(options)})"),
        inner.map(lambda option: f"(?:|{option})"),
        repeated.map("".join),
        st.tuples(st.sampled_from(["(?=", "(?!", "("]), inner, st.just(")")).map("".join),
        st.tuples(st.sampled_from(["(?<=", "(?<!"]), fixed, st.just(")")).map("".join),
    )


def _extended_further(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Patterns of everything that `re` knows."""
    return st.one_of(
        _extended(inner),
        inner.map(lambda body: f"(?>{body})"),
        st.tuples(st.just("(?:"), inner, st.just(")"), st.sampled_from(_COUNTS), st.just("+")).map("".join),
        inner.map(lambda body: f"({body})\\1"),
        inner.map(lambda body: f"({body})?(?(1)a|b)"),
    )


_FLAGS = st.sampled_from(["", "", "(?i)", "(?m)", "(?s)", "(?a)", "(?im)"])
_BASES = st.sampled_from(_CHARACTERS * 2 + _TRAPS + _EDGES)
PLAIN_SOURCES = st.tuples(_FLAGS, st.recursive(_BASES, _extended, max_leaves=8)).map("".join)
SOURCES = st.tuples(_FLAGS, st.recursive(_BASES, _extended_further, max_leaves=8)).map("".join)
TEXTS = st.text(st.sampled_from("aaabbbkKsSiIſ\u212aİıé退 \n_1.\x1c\x85\U0001f600\ud800"), max_size=9)
PUMPED = st.builds(
    lambda head, pump, times, tail: head + pump * times + tail, TEXTS, TEXTS, st.integers(2, 6), TEXTS
)


class TooManyStepsError(Exception):
    pass


class Counter:
    """A naive backtracking matcher that goes through *every* way to match, and counts its steps.

    It reads `re`'s own parse and shares nothing with the package, so its count is the most that any backtracking
    search of the text could need.
    """

    def __init__(self, source: str, text: str, limit: float) -> None:
        self.steps = 0
        self._text = text
        self._limit = limit
        self._ones: dict[str, re.Pattern[str]] = {}
        parsed = _parser.parse(source)
        for start in range(len(text) + 1):
            self._step()
            for _ in self._sequence(list(parsed), parsed.state.flags, start, {}):
                pass

    def _step(self) -> None:
        self.steps += 1
        if self.steps > self._limit:
            raise TooManyStepsError

    def _sequence(self, items: list[Any], flags: int, at: int, groups: dict[int, str]) -> Iterator[Any]:
        if not items:
            yield at, groups
            return
        for end, inner in self._item(items[0], flags, at, groups):
            yield from self._sequence(items[1:], flags, end, inner)

    def _item(self, item: Any, flags: int, at: int, groups: dict[int, str]) -> Iterator[Any]:
        op, argument = item
        match op.name:
            case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN":
                self._step()
                if at < len(self._text) and self._one(item, flags).match(self._text[at]):
                    yield at + 1, groups
            case "BRANCH":
                self._step()
                for option in argument[1]:
                    yield from self._sequence(list(option), flags, at, groups)
            case "SUBPATTERN":
                group, added, removed, body = argument
                for end, inner in self._sequence(list(body), (flags | added) & ~removed, at, groups):
                    yield end, inner if group is None else {**inner, group: self._text[at:end]}
            case "MAX_REPEAT" | "MIN_REPEAT":
                yield from self._repeat(argument, flags, at, groups)
            case "POSSESSIVE_REPEAT":
                first = next(self._repeat(argument, flags, at, groups), None)
                yield from [first] if first else []
            case "ATOMIC_GROUP":
                first = next(self._sequence(list(argument), flags, at, groups), None)
                yield from [first] if first else []
            case "ASSERT" | "ASSERT_NOT":
                self._step()
                direction, body = argument
                start = at if direction > 0 else at - body.getwidth()[0]
                found = next(self._sequence(list(body), flags, start, groups), None) if start >= 0 else None
                if (found is not None) == (op.name == "ASSERT"):
                    yield at, found[1] if found else groups
            case "AT":
                self._step()
                if self._edge(argument, flags).match(self._text, at):
                    yield at, groups
            case "GROUPREF":
                content = groups.get(argument)
                for offset, char in enumerate(content or ""):
                    self._step()
                    other = self._text[at + offset : at + offset + 1]
                    if (char.lower() != other.lower()) if flags & re.IGNORECASE else char != other:
                        return
                if content is not None:
                    yield at + len(content), groups
            case "GROUPREF_EXISTS":
                self._step()
                group, yes, no = argument
                yield from self._sequence(list((yes if group in groups else no) or []), flags, at, groups)
            case name:
                assert name == "FAILURE"

    def _repeat(
        self, argument: Any, flags: int, at: int, groups: dict[int, str], *, done: int = 0, last: int = -1
    ) -> Iterator[Any]:
        low, high, body = argument
        if low <= done < high:
            self._step()
        if done < high and (done < low or at != last):
            for end, inner in self._sequence(list(body), flags, at, groups):
                last = at if done >= low else -1
                yield from self._repeat(argument, flags, end, inner, done=done + 1, last=last)
        if done >= low:
            yield at, groups

    def _one(self, item: Any, flags: int) -> re.Pattern[str]:
        key = f"{item}{flags}"
        if key not in self._ones:
            state = _parser.State()
            state.flags = flags
            self._ones[key] = re._compiler.compile(_parser.SubPattern(state, [item]))  # type: ignore[attr-defined]
        return self._ones[key]

    @staticmethod
    def _edge(kind: Any, flags: int) -> re.Pattern[str]:
        sources = {"AT_BEGINNING": "^", "AT_END": "$", "AT_BOUNDARY": r"\b", "AT_NON_BOUNDARY": r"\B"}
        sources |= {"AT_BEGINNING_STRING": r"\A", "AT_END_STRING": r"\Z"}
        return re.compile(sources[kind.name], flags & (re.MULTILINE | re.ASCII))


def compiled(source: str, ignore_case: bool = False) -> Pattern | None:
    """The pattern, if it is one and is accepted."""
    try:
        return compile_pattern(source, ignore_case=ignore_case)
    except PatternError:
        return None


def expected(pattern: Pattern, text: str) -> tuple[int, int] | None:
    """What `re.search` says.

    Raises:
        TooManyStepsError: `re` could take too long to say it.
    """
    Counter(("(?i)" if pattern.ignore_case else "") + pattern.source, text, STEP_LIMIT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        found = re.search(pattern.source, text, re.IGNORECASE if pattern.ignore_case else 0)
    return found.span() if found else None


@settings(deadline=None, max_examples=200)
@given(SOURCES, st.booleans(), st.lists(PUMPED | TEXTS, min_size=1, max_size=6))
def test_a_pattern_answers_what_re_answers(source: str, ignore_case: bool, texts: list[str]) -> None:
    """Span and verdict equal those of `re.search`, whichever engine answers."""
    pattern = compiled(source, ignore_case and not source.startswith("(?"))
    if pattern is None:
        return
    for text in texts:
        with contextlib.suppress(TooManyStepsError):
            span = expected(pattern, text)
            assert pattern.search(text) == span
            assert pattern.test(text) == (span is not None)


@settings(deadline=None, max_examples=200)
@given(PLAIN_SOURCES, st.lists(PUMPED | TEXTS, min_size=1, max_size=6))
def test_our_engine_answers_what_re_answers(source: str, texts: list[str]) -> None:
    """The automaton agrees with `re.search` on the tame patterns too, where `re` usually answers."""
    pattern = compiled(source)
    if pattern is None:
        return
    try:
        automaton = Automaton(pattern.tree.root)
    except TooLargeError:
        return
    for text in texts:
        with contextlib.suppress(TooManyStepsError):
            span = expected(pattern, text)
            assert automaton.search(text) == span
            assert automaton.test(text) == (span is not None)


@settings(deadline=None, max_examples=200)
@given(SOURCES, st.lists(PUMPED | TEXTS, min_size=1, max_size=4))
def test_occurrences_are_those_of_finditer(source: str, texts: list[str]) -> None:
    """Both engines find every match that `re.finditer` finds, empty ones too, in its order."""
    pattern = compiled(source)
    if pattern is None:
        return
    automaton = None
    with contextlib.suppress(TooLargeError, TypeError):  # `re` alone follows back-references
        automaton = Automaton(pattern.tree.root)
    for text in texts:
        with contextlib.suppress(TooManyStepsError):
            Counter(source, text, STEP_LIMIT)
            spans = [found.span() for found in pattern.compiled().finditer(text)]
            assert pattern.occurrences(text) == len(spans)
            if automaton is not None:
                assert list(automaton.matches(text)) == spans


@pytest.mark.parametrize("gate", [LiteralGate, Re2Gate])
@settings(deadline=None, max_examples=100)
@given(
    st.lists(SOURCES, min_size=1, max_size=5), st.booleans(), st.lists(PUMPED | TEXTS, min_size=1, max_size=6)
)
def test_a_gate_changes_no_answer(
    gate: type[LiteralGate | Re2Gate], sources: list[str], ignore_case: bool, texts: list[str]
) -> None:
    """A set of patterns hits what each pattern alone hits, with either gate."""
    if gate is Re2Gate:
        pytest.importorskip("re2")
    patterns = [pattern for source in sources if (pattern := compiled(source, ignore_case))]
    with contextlib.suppress(TooManyStepsError):
        hits = [[n for n, text in enumerate(texts) if expected(pattern, text)] for pattern in patterns]
        assert PatternSet(patterns, _gate=gate).hits(texts) == hits


@settings(deadline=None, max_examples=200)
@given(SOURCES, st.lists(PUMPED, min_size=1, max_size=6))
def test_no_search_takes_more_steps_than_proved(source: str, texts: list[str]) -> None:
    """An exhaustive backtracking search stays within both bounds of the analysis."""
    pattern = compiled(source)
    bounds = [per_start(pattern.tree), overall(pattern.tree)] if pattern else []
    for bound in filter(None, bounds):
        for text in texts:
            n = len(text)
            reach = n if bound.reach is None else min(n, bound.reach)
            limit = bound.linear * (n + 1) + bound.quadratic * (n + 1) * (reach + 1)
            if limit <= STEP_LIMIT:
                assert Counter(source, text, limit).steps <= limit
