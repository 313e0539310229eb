"""The language of a slot's `filter`: which rows of a collection may be drawn.

    filter := comparison ("and" comparison)*
    comparison := FIELD ("==" | "!=" | "<" | "<=" | ">" | ">=" | "in" | "not in") LITERAL

`FIELD` is a field of the row, `LITERAL` a Python literal: `'text'`, `12`, `True`, `None`, `['a', 'b']`. The words and
signs of the language inside quotes are text.

Semantics: values compare as Python's do (`1 == 1.0 == True`). A field that the row lacks makes its comparison false,
whatever the operator, `not in` too. Comparisons are looked at from left to right up to the first that is false, so that
`kind == 'loan' and days > 3` never compares the days of anything else. Values that have no order with one another
(`3 < 'a'`) are a mistake and not false.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from averment.oracle.tasks.literals import LiteralError, literal_of, offset_of, parse

__all__ = ["MAX_FILTER", "Filter", "FilterError", "parse_filter"]

MAX_FILTER: Final = 2_000
"""Characters of a filter."""

_MISSING: Final = object()

_OPERATORS: Final[dict[type[ast.cmpop], tuple[str, Callable[[Any, Any], bool]]]] = {
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
    ast.In: ("in", lambda value, among: value in among),
    ast.NotIn: ("not in", lambda value, among: value not in among),
}

_SHAPE: Final = "Write comparisons joined by `and`, each `field op literal`: `status == 'open' and days > 3`."
_LITERALS: Final = {"true": "True", "false": "False", "null": "None", "none": "None"}


class FilterError(ValueError):
    """A filter is not one, or can't be asked of a row.

    Attributes:
        message: one sentence without a full stop.
        offset: where in the filter, 0-based, in code points; its column is one more.
        mend: the next step.
    """

    def __init__(self, message: str, offset: int = 0, mend: str = _SHAPE) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.mend = mend


class Filter:
    """A filter that has been read.

    Attributes:
        text: as written.
        fields: the fields that it compares, in their order.
    """

    __slots__ = ("_comparisons", "fields", "text")

    def __init__(self, text: str, comparisons: list[_Comparison]) -> None:
        self.text = text
        self._comparisons = comparisons
        self.fields = tuple(comparison.field for comparison in comparisons)

    def matches(self, row: Mapping[str, Any]) -> bool:
        """Whether the row may be drawn.

        Raises:
            FilterError: a value of the row has no order with the literal, or can't be in it.
        """
        return all(comparison.holds(row) for comparison in self._comparisons)


class _Comparison:
    """A field, an operator, a literal; and where it stands."""

    __slots__ = ("_compare", "_literal", "_offset", "_sign", "field")

    def __init__(self, field: str, op: ast.cmpop, literal: Any, offset: int) -> None:
        self.field = field
        self._sign, self._compare = _OPERATORS[type(op)]
        # In a set only what has a hash can be looked up; a list of a row may be in none, and is no mistake.
        self._literal = tuple(literal) if isinstance(literal, set) else literal
        self._offset = offset

    def holds(self, row: Mapping[str, Any]) -> bool:
        value = row.get(self.field, _MISSING)
        if value is _MISSING:
            return False
        try:
            return bool(self._compare(value, self._literal))
        except TypeError:
            raise FilterError(
                f"`{self.field}` is {_kind(value)} in a row, and `{self._sign}` can't compare it "
                f"with {_kind(self._literal)}",
                self._offset,
                "Compare with a value of the field's own type, or exclude such rows by a comparison before this one.",
            ) from None


def parse_filter(text: str) -> Filter:
    """Read a filter; an empty one matches every row.

    Raises:
        FilterError: with the first mistake.
    """
    if len(text) > MAX_FILTER:
        raise FilterError(f"the filter has {len(text)} characters, more than {MAX_FILTER}", MAX_FILTER)
    if not text:
        return Filter(text, [])
    try:
        tree = parse(text)
    except LiteralError as error:
        offset = 0 if error.offset is None else error.offset
        mend = "Write `==` to compare." if text[offset : offset + 1] == "=" else _SHAPE
        raise FilterError("the filter is no expression that can be read", offset, mend) from None
    return Filter(text, list(_comparisons(text, tree)))


def _comparisons(text: str, tree: ast.expr) -> list[_Comparison]:
    """The comparisons of a conjunction, from left to right."""
    found: list[_Comparison] = []
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            pending.extend(reversed(node.values))
        elif isinstance(node, ast.BoolOp):
            mend = (
                "Write `field in ['a', 'b']` where one field may have several values; else use two templates."
            )
            raise FilterError("the filter uses `or`; only `and` is known", offset_of(text, node), mend)
        elif isinstance(node, ast.Compare):
            found.append(_comparison(text, node))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            mend = "Turn the comparison round: `!=`, `not in`, `>=`."
            raise FilterError(
                "the filter uses `not`; only comparisons are known", offset_of(text, node), mend
            )
        else:
            raise FilterError("a part of the filter is no comparison", offset_of(text, node))
    return found


def _comparison(text: str, node: ast.Compare) -> _Comparison:
    left, right, op = node.left, node.comparators[0], node.ops[0]
    at = offset_of(text, node)
    if len(node.ops) > 1:
        mend = "Write two comparisons: `1 < x < 5` is `x > 1 and x < 5`."
        raise FilterError("the filter chains comparisons", at, mend)
    if not isinstance(left, ast.Name):
        mend = "Write the field's name on the left, and the value on the right."
        raise FilterError("a comparison has no field on its left", at, mend)
    if type(op) not in _OPERATORS:
        word = "`is not`" if isinstance(op, ast.IsNot) else "`is`"
        raise FilterError(f"{word} is none of the operators", at, "Write `==` or `!=`.")
    try:
        literal = literal_of(right)
    except LiteralError:
        meant = _LITERALS.get(right.id.lower()) if isinstance(right, ast.Name) else None
        mend = f"Write `{meant}`." if meant else "Write a literal on the right; text stands in quotes."
        raise FilterError("a comparison has no literal on its right", offset_of(text, right), mend) from None
    if isinstance(op, ast.In | ast.NotIn) and not isinstance(literal, list | tuple | set | str):
        mend = "Write a list on the right: `status in ['open', 'late']`."
        raise FilterError(
            f"`{_OPERATORS[type(op)][0]}` looks into {_kind(literal)}", offset_of(text, right), mend
        )
    return _Comparison(left.id, op, literal, at)


def _kind(value: Any) -> str:
    """What kind of value this is, in the words of JSON."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, str):
        return "text"
    if isinstance(value, int | float):
        return "a number"
    return "a mapping" if isinstance(value, dict) else "a list"
