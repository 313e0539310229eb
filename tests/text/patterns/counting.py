"""A naive backtracking matcher that counts its steps, for holding the analysis to its bounds.

It reads `re`'s parse tree itself, shares nothing with the package, and tries *every* way to match, so that its
count is the most that any backtracking search of the text could need.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from re import _constants, _parser
from typing import Any

Groups = dict[int, tuple[int, int]]


class TooManyStepsError(Exception):
    """The limit was exceeded."""


class Counter:
    """Counts the steps of an exhaustive search for `source` in `text`."""

    def __init__(self, source: str, text: str, limit: float) -> None:
        self.steps = 0
        self._text = text
        self._limit = limit
        self._matchers: dict[str, re.Pattern[str]] = {}
        parsed = _parser.parse(source)
        flags = parsed.state.flags
        for start in range(len(text) + 1):
            self._step()
            for _ in self._sequence(list(parsed), flags, start, {}):
                pass

    def _step(self) -> None:
        self.steps += 1
        if self.steps > self._limit:
            raise TooManyStepsError

    def _sequence(
        self, items: list[Any], flags: int, at: int, groups: Groups
    ) -> Iterator[tuple[int, Groups]]:
        if not items:
            yield at, groups
            return
        for end, inner in self._item(items[0], flags, at, groups):
            yield from self._sequence(items[1:], flags, end, inner)

    def _item(self, item: Any, flags: int, at: int, groups: Groups) -> Iterator[tuple[int, Groups]]:
        op, argument = item
        name = op.name
        if name in {"LITERAL", "NOT_LITERAL", "ANY", "IN", "AT", "ASSERT", "ASSERT_NOT", "GROUPREF_EXISTS"}:
            self._step()
        if name in {"LITERAL", "NOT_LITERAL", "ANY", "IN"}:
            if at < len(self._text) and self._one(item, flags, self._text[at]):
                yield at + 1, groups
        elif name == "BRANCH":
            for option in argument[1]:
                self._step()
                yield from self._sequence(list(option), flags, at, groups)
        elif name == "SUBPATTERN":
            group, added, removed, body = argument
            for end, inner in self._sequence(list(body), (flags | added) & ~removed, at, groups):
                yield end, inner if group is None else {**inner, group: (at, end)}
        elif name in {"MAX_REPEAT", "MIN_REPEAT"}:
            yield from self._repeat(argument, flags, at, groups, 0, None)
        elif name in {"POSSESSIVE_REPEAT", "ATOMIC_GROUP"}:
            body = self._repeat(argument, flags, at, groups, 0, None) if name[0] == "P" else None
            first = next(body or self._sequence(list(argument), flags, at, groups), None)
            if first:
                yield first
        elif name in {"ASSERT", "ASSERT_NOT"}:
            direction, body = argument
            start = at if direction > 0 else at - body.getwidth()[0]
            found = None
            if start >= 0:
                found = next(
                    (
                        w
                        for w in self._sequence(list(body), flags, start, groups)
                        if direction > 0 or w[0] == at
                    ),
                    None,
                )
            if (found is not None) == (name == "ASSERT"):
                yield at, found[1] if found else groups
        elif name == "AT":
            if self._edge(argument, flags, at):
                yield at, groups
        elif name == "GROUPREF":
            if argument in groups:
                begin, end = groups[argument]
                content = self._text[begin:end]
                for offset, char in enumerate(content):
                    self._step()
                    other = self._text[at + offset : at + offset + 1]
                    if (char.lower() != other.lower()) if flags & re.IGNORECASE else char != other:
                        return
                yield at + len(content), groups
        elif name == "GROUPREF_EXISTS":
            group, yes, no = argument
            yield from self._sequence(list((yes if group in groups else no) or []), flags, at, groups)
        else:
            assert name == "FAILURE"

    def _repeat(
        self, argument: Any, flags: int, at: int, groups: Groups, done: int, last: int | None
    ) -> Iterator[tuple[int, Groups]]:
        low, high, body = argument
        if low <= done < high:
            self._step()
        if done >= low:
            yield at, groups
        if done < high and (done < low or at != last):
            for end, inner in self._sequence(list(body), flags, at, groups):
                yield from self._repeat(argument, flags, end, inner, done + 1, at if done >= low else None)

    def _one(self, item: Any, flags: int, char: str) -> bool:
        key = f"{item}{flags}"
        if key not in self._matchers:
            parsed = _parser.SubPattern(_parser.State(), [item])
            parsed.state.flags = flags & ~re.VERBOSE
            self._matchers[key] = re._compiler.compile(parsed)  # type: ignore[attr-defined]
        return self._matchers[key].match(char) is not None

    def _edge(self, kind: Any, flags: int, at: int) -> bool:
        source = {
            _constants.AT_BEGINNING: "^",
            _constants.AT_BEGINNING_STRING: r"\A",
            _constants.AT_BOUNDARY: r"\b",
            _constants.AT_NON_BOUNDARY: r"\B",
            _constants.AT_END: "$",
            _constants.AT_END_STRING: r"\Z",
        }[kind]
        return re.compile(source, flags & (re.MULTILINE | re.ASCII)).match(self._text, at) is not None
