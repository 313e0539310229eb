"""A user's regular expression, and the engine that can answer for it without ever hanging.

The dialect is Python's `re`, and every answer is the one that `re.search` would give. `re` backtracks, so some
patterns take exponential time on some texts, and evidence is hostile. No clock decides, a bound does:

- *tame*: `analysis.py` proves that `re` takes at most quadratic time. For a text of a megabyte that is still far
  too long, so the proof comes with numbers: `re` answers for texts of any length when it takes at most
  `_STEPS_PER_CHARACTER`, as nearly all patterns do, and otherwise for texts that take at most `STEPS`. Longer
  texts go to our own linear engine (`automaton.py`), with the same answer. What that engine can't follow
  (back-references, conditions, atomic groups) is tame only where `re` needs no such help.
- *regular*: nothing is proved, and the pattern is a regular expression in the strict sense: our engine answers.
- refused: nothing is proved, and the pattern is more than that: a PatternError, with the mend.

The bounds overestimate several times, and a step takes some nanoseconds: a search takes a few seconds at the very
worst, and that for a megabyte.
"""

from __future__ import annotations

import functools
import re
from re import _compiler  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, Final

from averment.text.patterns.analysis import STEPS, Bound, closed_form, overall, per_start
from averment.text.patterns.program import PROGRAM_LIMIT, size
from averment.text.patterns.tree import (
    Tree,
    UnknownConstructError,
    parse,
    read,
)

if TYPE_CHECKING:
    from averment.text.patterns.automaton import Automaton

__all__ = ["Pattern", "PatternError", "compile_pattern"]

_SOURCE_LIMIT = 10_000
"""The longest pattern, in characters."""

_NESTING_LIMIT = 50
"""The deepest nesting of parentheses."""

_STEPS_PER_CHARACTER = 1_000
"""What `re` may take per character of a text of any length."""

_ANY_LENGTH = 1 << 62

_LONG_ENOUGH = 1_000
"""Characters of a text; a bound that lets `re` search this much is not bettered before a longer text comes."""
_MEMOISED = 16_384

_TOKENS = r"""(?xs)
    (?: \\[^1-9] | \[\^?\]? (?: \\. | [^\]\\] )* \] )       # what can't begin a construct
    | (?P<reference> \\[1-9] | \(\?P= )
    | (?P<condition> \(\?\( )
    | (?P<atomic> \(\?> | [*+?}]\+ )
    | (?P<look> \(\?<?[=!] )
    | (?P<open> \( )
    | (?P<close> \) )
"""
_NAMES = {
    "reference": "a back-reference",
    "condition": "a condition on a group",
    "atomic": "an atomic group or possessive repeat",
    "look": "look-around",
}
_SYNTAX_MENDS = {
    "nothing to repeat": "Put what is to be repeated before it, or write `\\` before the character to mean itself.",
    "multiple repeat": "Write `\\` before the second one to mean the character itself.",
    "unterminated character set": "Close it with `]`, or write `\\[` for the character itself.",
    "missing ), unterminated subpattern": "Close it with `)`, or write `\\(` for the character itself.",
    "unbalanced parenthesis": "Open it with `(`, or write `\\)` for the character itself.",
    "look-behind requires fixed-width pattern": "Give what is looked for behind one fixed length.",
    "global flags not at the start of the expression": "Move the flags to the very start of the pattern.",
}


class PatternError(ValueError):
    """A pattern is a mistake or can't be searched in bounded time.

    Attributes:
        message: one sentence without a full stop.
        position: where in the pattern, in characters from 0, or None.
        mend: the next step, an imperative sentence, or None.
    """

    def __init__(self, message: str, *, position: int | None = None, mend: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.position = position
        self.mend = mend


class Pattern:
    """A pattern that `compile_pattern` made, the same object for the same source and case while it is remembered.

    Attributes:
        source: the pattern as written.
        ignore_case: whether it was compiled under IGNORECASE.
        tier: "tame" or "regular", see the module.
        groups: the number of each named group.
        tree: what it says, for the other modules of this package.
    """

    __slots__ = (
        "_automaton",
        "_longest",
        "_reconsidered",
        "_searcher",
        "groups",
        "ignore_case",
        "source",
        "tier",
        "tree",
    )

    def __init__(
        self, source: str, ignore_case: bool, tree: Tree, groups: dict[str, int], longest: int | None
    ) -> None:
        """Not for callers: `longest` is the longest text that `re` may search, None for regular patterns."""
        self.source: Final = source
        self.ignore_case: Final = ignore_case
        self.tier: Final = "regular" if longest is None else "tame"
        self.groups: Final = groups
        self.tree: Final = tree
        self._searcher: re.Pattern[str] | None = None
        if (
            "(?<" in source
        ):  # of what `re` refuses, only a look-behind without one length gets past its parser
            self.compiled()
        self._longest = -1 if longest is None else longest
        self._reconsidered = longest is None
        self._automaton: Automaton | None = None

    def __repr__(self) -> str:
        return f"<{self.tier} pattern {self.source!r}{' ignoring case' if self.ignore_case else ''}>"

    def compiled(self) -> re.Pattern[str]:
        """`re`'s own pattern, compiled for the first search: a document that is only checked needs none."""
        if self._searcher is None:
            self._searcher = _compiler.compile(parse(self.source, ignore_case=self.ignore_case))
        return self._searcher

    def search(self, text: str) -> tuple[int, int] | None:
        """The span that `re.search` finds, or None."""
        engine = self.compiled() if len(text) <= self._longest else self._engine(text)
        found = engine.search(text)
        return found.span() if isinstance(found, re.Match) else found

    def test(self, text: str) -> bool:
        """Whether `re.search` finds anything."""
        if len(text) <= self._longest:
            return (self._searcher or self.compiled()).search(text) is not None
        engine = self._engine(text)
        return engine.search(text) is not None if isinstance(engine, re.Pattern) else engine.test(text)

    def occurrences(self, text: str) -> int:
        """How many matches `re.finditer` finds, which try each place twice at most: the bounds of a search hold."""
        engine = self.compiled() if len(text) <= self._longest else self._engine(text)
        matches = engine.finditer(text) if isinstance(engine, re.Pattern) else engine.matches(text)
        return sum(1 for _ in matches)

    @property
    def longest_for_re(self) -> int:
        """The longest text whose groups can be told: those that `re` itself may search."""
        if not self._reconsidered:
            self._longest = max(self._longest, _longest(overall(self.tree)))
            self._reconsidered = True
        return self._longest

    def captures(self, text: str) -> list[dict[str, str | None]] | None:
        """What the named groups hold, for each place where the pattern is found; None for too long a text."""
        if len(text) > self._longest and len(text) > self.longest_for_re:
            return None
        return [found.groupdict() for found in self.compiled().finditer(text)]

    def _engine(self, text: str) -> re.Pattern[str] | Automaton:
        """The engine for a text beyond what the first, cheap proof allows `re`."""
        if len(text) <= self.longest_for_re:
            return self.compiled()
        if self._automaton is None:
            from averment.text.patterns.automaton import Automaton

            self._automaton = Automaton(self.tree.root)
        return self._automaton


@functools.lru_cache(maxsize=_MEMOISED)
def compile_pattern(source: str, *, ignore_case: bool = False) -> Pattern:
    """A pattern ready to be searched for.

    Args:
        source: a pattern in the dialect of Python's `re`, inline flags included.
        ignore_case: as if it began with `(?i)`.

    Raises:
        PatternError: it is a mistake, exceeds a limit, or can't be searched in bounded time.
    """
    _check_size(source)
    try:
        tree, parsed = read(source, ignore_case=ignore_case)
        _check_controls(source, verbose=bool(parsed.state.flags & re.VERBOSE))
        return Pattern(source, ignore_case, tree, dict(parsed.state.groupdict), _longest_for_re(source, tree))
    except re.error as error:
        mend = _SYNTAX_MENDS.get(error.msg)
        raise PatternError(f"the pattern is not valid: {error.msg}", position=error.pos, mend=mend) from None
    except RecursionError:
        raise PatternError("the pattern nests too deeply", mend="Nest less deeply.") from None
    except OverflowError:
        raise PatternError("a repetition count is too large", mend="Repeat fewer times.") from None
    except UnknownConstructError as error:
        message = f"the pattern uses {error}, which can't be searched reliably"
        raise PatternError(message, mend="Write it without that.") from None


def _check_size(source: str) -> None:
    """Hold the limits that keep `re`'s own parser, which is recursive, within bounds."""
    if len(source) > _SOURCE_LIMIT:
        message = f"the pattern has {len(source)} characters, more than {_SOURCE_LIMIT}"
        raise PatternError(message, mend="Split it into several patterns.")
    if source.count("(") > _NESTING_LIMIT:
        depth = 0
        for token in re.finditer(_TOKENS, source):
            if token.lastgroup is not None:
                depth += token[0].count("(") - token[0].count(")")
            if depth > _NESTING_LIMIT:
                message = f"the pattern nests deeper than {_NESTING_LIMIT} parentheses"
                raise PatternError(message, position=token.start(), mend="Nest less deeply.")


def _check_controls(source: str, *, verbose: bool) -> None:
    for position, char in enumerate(source):
        if (char < " " or "\x7f" <= char < "\xa0") and not (verbose and char in "\t\n\v\f\r"):
            if char == "\b":
                mend = "Use single quotes: in double quotes YAML reads `\\b` as a backspace (JSON needs `\\\\b`)."
            else:
                mend = (
                    "Use single quotes and an escape such as `\\t` or `\\n`; only `(?x)` patterns span lines."
                )
            raise PatternError(
                f"the pattern holds a raw control character, U+{ord(char):04X}", position=position, mend=mend
            )


def _longest(bound: Bound | None) -> int:
    """The longest text that `re` may search under this bound; negative when there is none."""
    if bound is None:
        return -1
    return _ANY_LENGTH if bound.per_character() <= _STEPS_PER_CHARACTER else bound.longest(STEPS)


def _longest_for_re(source: str, tree: Tree) -> int | None:
    """The longest text that `re` may search, as far as it takes to place the pattern; None: it is regular."""
    longest = _longest(closed_form(tree))
    if longest == _ANY_LENGTH:
        return longest
    for prove, needed in (
        (per_start, tree.beyond or longest < _LONG_ENOUGH),
        (overall, tree.beyond or longest < 0),
    ):
        if needed:
            longest = max(longest, _longest(prove(tree)))
        if longest == _ANY_LENGTH:
            return longest
    if tree.beyond:
        raise _refusal(source, "reference", "condition", "atomic")
    if longest < 0 and tree.looks:
        raise _refusal(source, "look")
    instructions = sum(size(root) for root in (tree.root, *(look.body for look in tree.looks)))
    if instructions > PROGRAM_LIMIT:
        message = f"the pattern has more than {PROGRAM_LIMIT} parts with its counted repeats written out"
        raise PatternError(message, mend="Use smaller counts, or `*` and `+`.")
    return longest if longest >= 0 else None


def _refusal(source: str, *kinds: str) -> PatternError:
    """The error for a pattern that backtracks without a proven bound and uses one of these constructs."""
    found = next((token for token in re.finditer(_TOKENS, source) if token.lastgroup in kinds), None)
    name = _NAMES[found.lastgroup or kinds[0]] if found else _NAMES[kinds[0]]
    return PatternError(
        f"the pattern can take far too long on some texts, and {name} leaves no faster way to search it",
        position=found.start() if found else None,
        mend="Give its `*` and `+` a small upper bound such as `{1,20}`, repeat nothing that is itself repeated, "
        f"or write it without {name}.",
    )
