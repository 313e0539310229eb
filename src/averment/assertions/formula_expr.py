"""The language of `formula`: other assertions of the document, combined by logic and by weight.

Grammar (tokens in capitals; only spaces and tabs separate them):

    expression := conjunction ("or" conjunction)*
    conjunction := negation ("and" negation)*
    negation := "not" negation | primary
    primary := "(" expression ")" | sum | ID
    sum := term ("+" term)* ">=" NUMBER
    term := NUMBER "*" ID | ID

    NUMBER := [0-9]+ ("." [0-9]+)? | "." [0-9]+
    ID := [A-Za-z_] [A-Za-z0-9_.-]* | "'" ([^'] | "''")+ "'"

An id in single quotes may be anything, a keyword too; a quote within is doubled: `'the caller''s order'`. Keywords
are lower-case. `a-b` is one id: there is no minus.

Semantics: an id is true when that assertion passed. `not`, `and`, `or` are the logical ones, tightest first. A sum
adds the weights of its ids that are true (an id without a weight weighs 1, an id named twice counts twice), holds when
that reaches the number, and binds tighter than all logic: `p and q + r >= 1` is `p and (q + r >= 1)`. Weights are exact
decimals: `0.6*a + 0.3*b + 0.1*c >= 1` holds when all three do.

Parsing takes linear time and evaluation a stack machine, so neither is bounded by the depth of Python's own stack.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

import msgspec

__all__ = ["MAX_DEPTH", "MAX_LENGTH", "MAX_NUMBER", "Formula", "FormulaError", "mentions", "parse", "written"]

MAX_LENGTH: Final = 100_000
"""Characters of an expression."""
MAX_DEPTH: Final = 200
"""Parentheses and `not`s around one id."""
MAX_NUMBER: Final = 100
"""Characters of a number."""

_DIGITS: Final = frozenset("0123456789")
_NAME_START: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_")
_NAME: Final = _NAME_START | _DIGITS | frozenset(".-")

_SPLIT: Final = "Split it: give a part of it an id, as a formula of its own."
_ONE_LINE: Final = "Write the expression on one line, or use `>-`."
_QUOTE: Final = "Put an id with such a character in single quotes: `'my id'`."
_ONLY_GE: Final = "Write `>=`, the only comparison; `not a + b >= 2` says less than 2."
_MENDS: Final = {
    "\n": _ONE_LINE,
    "\r": _ONE_LINE,
    "&": "Write `and`.",
    "\N{LOGICAL AND}": "Write `and`.",
    "|": "Write `or`.",
    "\N{LOGICAL OR}": "Write `or`.",
    "!": "Write `not`.",
    "\N{NOT SIGN}": "Write `not`.",
    "<": _ONLY_GE,
    ">": _ONLY_GE,
    "=": _ONLY_GE,
    "\N{GREATER-THAN OR EQUAL TO}": _ONLY_GE,
    ",": "Write `and` or `or`.",
    "-": "There is no minus, and no negative number; write `not` for a negation.",
    '"': "Write single quotes: `'my id'`.",
}
"""What to write instead of a character that starts no token."""


class FormulaError(ValueError):
    """An expression is not a formula.

    Attributes:
        message: one sentence without a full stop.
        position: 0-based offset into the expression, in code points; its length when something is missing at the end.
        mend: the next step, an imperative sentence, where one is known.
    """

    def __init__(self, message: str, position: int, mend: str | None = None) -> None:
        super().__init__(f"{message} (at offset {position})")
        self.message = message
        self.position = position
        self.mend = mend


class Formula(msgspec.Struct, frozen=True):
    """A parsed expression.

    Attributes:
        references: the ids it names, each once, in the order of their first mention.
        offsets: where each is first mentioned, as offsets into the expression in code points.
        program: its steps in postfix order.
    """

    references: tuple[str, ...]
    offsets: tuple[int, ...]
    program: tuple[_Step, ...]

    def positions(self) -> dict[str, int]:
        """The offset of the first mention of each reference."""
        return dict(zip(self.references, self.offsets, strict=True))

    def evaluate(self, truth: Callable[[str], bool] | Mapping[str, bool]) -> bool:
        """Whether the formula holds, given the truth of every reference."""
        holds = truth.__getitem__ if isinstance(truth, Mapping) else truth
        stack: list[bool] = []
        for step in self.program:
            if isinstance(step, str):
                stack.append(holds(step))
            elif isinstance(step, _Sum):
                stack.append(sum(weight for name, weight in step.terms if holds(name)) >= step.threshold)
            elif step is _Type.NOT:
                stack.append(not stack.pop())
            else:
                right, left = stack.pop(), stack.pop()
                stack.append((left and right) if step is _Type.AND else (left or right))
        return stack.pop()


def parse(expr: str) -> Formula:
    """Parse an expression.

    Raises:
        FormulaError: it is not a formula, or over a limit.
    """
    if len(expr) > MAX_LENGTH:
        raise FormulaError(
            f"the formula is longer than {MAX_LENGTH} characters",
            MAX_LENGTH,
            _SPLIT,
        )
    if not expr.strip(" \t"):
        raise FormulaError("the formula is empty", 0, "Name at least one assertion's id.")
    return _Parser(expr).formula()


def mentions(expr: str) -> Iterator[tuple[int, int, str]]:
    """Every mention of an assertion in an expression: where it starts, where it ends, and the id.

    Raises:
        FormulaError: the expression holds something that is no token.
    """
    for token in _scan(expr):
        if token.type is _Type.ID:
            start = token.position
            yield (
                start,
                _quoted(expr, start)[0] if expr[start] == "'" else start + len(token.text),
                token.text,
            )


def written(name: str) -> str:
    """An id as it stands in an expression: bare where the grammar has it so, else in quotes."""
    if name[:1] in _NAME_START and _NAME.issuperset(name) and name not in _KEYWORDS:
        return name
    quoted = name.replace("'", "''")
    return f"'{quoted}'"


class _Type(enum.Enum):
    """The types of tokens, as error messages name them."""

    LEFT = "`(`"
    RIGHT = "`)`"
    PLUS = "`+`"
    TIMES = "`*`"
    AT_LEAST = "`>=`"
    NUMBER = "a number"
    ID = "an id"
    AND = "`and`"
    OR = "`or`"
    NOT = "`not`"
    END = "the end of the formula"


_SYMBOLS: Final = {"(": _Type.LEFT, ")": _Type.RIGHT, "+": _Type.PLUS, "*": _Type.TIMES}
_KEYWORDS: Final = {"and": _Type.AND, "or": _Type.OR, "not": _Type.NOT}
_TIGHTNESS: Final = {_Type.OR: 1, _Type.AND: 2, _Type.NOT: 3}
_UNEXPECTED: Final = {
    _Type.TIMES: "Write the weight first: `0.5*p`.",
    _Type.PLUS: "Write a sum as weights and ids alone, without parentheses: `0.5*p + q >= 1`.",
    _Type.AT_LEAST: "Write one `>=` after a sum of ids: `0.5*p + q >= 1`.",
}
"""What to do about a token that stands where it can't."""


class _Token(msgspec.Struct, frozen=True):
    type: _Type
    text: str
    """The token as written; of an id in quotes, the id."""
    position: int

    def found(self) -> str:
        named = self.type in {_Type.ID, _Type.NUMBER}
        return f"`{self.text}`" if named else self.type.value


class _Sum(msgspec.Struct, frozen=True):
    """Weights of ids and what they must reach, as integers on one scale."""

    terms: tuple[tuple[str, int], ...]
    threshold: int


_Step: TypeAlias = str | _Sum | _Type


def _scan(text: str) -> Iterator[_Token]:
    """The tokens, one at a time, so that the first mistake in the text is the one reported."""
    start, end = 0, len(text)
    while start < end:
        char = text[start]
        stop = start + 1
        if char in " \t":
            pass
        elif char in _SYMBOLS:
            yield _Token(_SYMBOLS[char], char, start)
        elif text.startswith(">=", start):
            stop = start + 2
            yield _Token(_Type.AT_LEAST, ">=", start)
        elif char in _NAME_START:
            stop = _run(text, start, _NAME)
            name = text[start:stop]
            yield _Token(_KEYWORDS.get(name, _Type.ID), name, start)
        elif char in _DIGITS or (char == "." and text[stop : stop + 1] in _DIGITS):
            stop = _number_end(text, start)
            yield _Token(_Type.NUMBER, text[start:stop], start)
        elif char == "'":
            stop, name = _quoted(text, start)
            yield _Token(_Type.ID, name, start)
        else:
            shown = "a line break" if char in "\r\n" else f"`{char}`" if char.isprintable() else ascii(char)
            raise FormulaError(f"{shown} has no meaning in a formula", start, _MENDS.get(char, _QUOTE))
        start = stop
    yield _Token(_Type.END, "", end)


def _run(text: str, start: int, members: frozenset[str]) -> int:
    """The end of the run of such characters."""
    while start < len(text) and text[start] in members:
        start += 1
    return start


def _number_end(text: str, start: int) -> int:
    stop = _run(text, start, _DIGITS)
    if text[stop : stop + 1] == "." and text[stop + 1 : stop + 2] in _DIGITS:
        stop = _run(text, stop + 1, _DIGITS)
    if stop - start > MAX_NUMBER:
        raise FormulaError(f"a number is longer than {MAX_NUMBER} characters", start)
    after = text[stop : stop + 1]
    if after in _NAME:
        raise FormulaError(
            f"`{after}` follows a number directly",
            stop,
            "Put a space after the number, or single quotes round an id that starts with a digit.",
        )
    return stop


def _quoted(text: str, start: int) -> tuple[int, str]:
    """The end of an id in quotes, and the id."""
    stop = start + 1
    while True:
        stop = text.find("'", stop) + 1
        if not stop:
            raise FormulaError(
                "a single quote is never closed", start, "Close it; a quote within an id is doubled: `''`."
            )
        if text[stop : stop + 1] != "'":
            break
        stop += 1
    name = text[start + 1 : stop - 1].replace("''", "'")
    if not name:
        raise FormulaError("an id in quotes is empty", start)
    return stop, name


class _Parser:
    """Operator precedence (shunting-yard): operands go to the program, operators wait for those that bind tighter."""

    def __init__(self, text: str) -> None:
        self.tokens = _scan(text)
        self.token = self.previous = next(self.tokens)
        self.mentions: dict[str, int] = {}
        self.program: list[_Step] = []
        self.waiting: list[_Token] = []
        self.depth = 0

    def formula(self) -> Formula:
        while True:
            while self.token.type in {_Type.NOT, _Type.LEFT}:
                self.enter()
            self.operand()
            self.release()
            while self.token.type is _Type.RIGHT and self.waiting:
                self.waiting.pop()
                self.depth -= 1
                self.advance()
                self.release()
            if self.token.type not in {_Type.AND, _Type.OR}:
                break
            self.waiting.append(self.advance())
        if self.waiting:
            raise self.error(
                "`and`, `or` or `)`", f"Close the parenthesis at offset {self.waiting[-1].position}."
            )
        if self.token.type is not _Type.END:
            unopened = (
                "Remove this `)`, or write the `(` that it closes."
                if self.token.type is _Type.RIGHT
                else None
            )
            raise self.error("`and`, `or` or the end of the formula", unopened)
        return Formula(tuple(self.mentions), tuple(self.mentions.values()), tuple(self.program))

    def enter(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise FormulaError(
                f"the formula is nested more than {MAX_DEPTH} deep", self.token.position, _SPLIT
            )
        self.waiting.append(self.advance())

    def release(self) -> None:
        """Move operators that bind at least as tightly as the next token to the program, down to the last `(`."""
        tightness = _TIGHTNESS.get(self.token.type, 0)
        while self.waiting and _TIGHTNESS.get(self.waiting[-1].type, -1) >= tightness:
            operator = self.waiting.pop().type
            self.depth -= operator is _Type.NOT
            self.program.append(operator)

    def operand(self) -> None:
        if self.token.type is _Type.NUMBER:
            self.sum([self.term()])
        elif self.token.type is _Type.ID:
            name = self.reference()
            if self.token.type in {_Type.PLUS, _Type.AT_LEAST}:
                self.sum([(name, "1")])
            else:
                self.program.append(name)
        else:
            raise self.error("an id, a number, `not` or `(`")

    def sum(self, terms: list[tuple[str, str]]) -> None:
        while self.token.type is _Type.PLUS:
            self.advance()
            terms.append(self.term())
        self.expect(_Type.AT_LEAST)
        threshold = self.expect(_Type.NUMBER).text
        scale = max(len(number.partition(".")[2]) for number in (threshold, *(weight for _, weight in terms)))
        weights = tuple((name, _scaled(weight, scale)) for name, weight in terms)
        self.program.append(_Sum(weights, _scaled(threshold, scale)))

    def term(self) -> tuple[str, str]:
        weight = "1"
        if self.token.type is _Type.NUMBER:
            weight = self.advance().text
            self.expect(_Type.TIMES)
        return self.reference(), weight

    def reference(self) -> str:
        token = self.expect(_Type.ID)
        self.mentions.setdefault(token.text, token.position)
        return token.text

    def expect(self, kind: _Type) -> _Token:
        if self.token.type is not kind:
            raise self.error(kind.value)
        return self.advance()

    def advance(self) -> _Token:
        self.previous = self.token
        self.token = next(self.tokens, self.token)
        return self.previous

    def error(self, expected: str, mend: str | None = None) -> FormulaError:
        for token in (self.token, self.previous):
            if token.type is _Type.ID and token.text.lower() in _KEYWORDS:
                mend = f"Write `{token.text.lower()}`: keywords are lower-case."
                break
        else:
            mend = mend or _UNEXPECTED.get(self.token.type)
        return FormulaError(f"expected {expected}, found {self.token.found()}", self.token.position, mend)


def _scaled(number: str, scale: int) -> int:
    """The number times ten to the scale, exactly."""
    whole, _, fraction = number.partition(".")
    return int(whole + fraction.ljust(scale, "0"))
