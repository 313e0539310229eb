"""From an expected value to nodes that match, and to all of its mistakes; `values` says what each operator means."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import msgspec

from averment.assertions.value_nodes import (
    MAX_KEY,
    NO_KEY,
    SOMETHING,
    AllNode,
    Leaf,
    ListNode,
    MappingNode,
    Node,
    Path,
    any_of,
    negated,
    scalar,
    sized,
)
from averment.errors import nearest as nearest_name
from averment.text.jsonvalue import TYPES, cut, is_number, json_equal, show

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = ["MAX_DEPTH", "MAX_OPERATOR_DEPTH", "Fault", "compile_value"]

MAX_DEPTH: Final = 64
"""Steps from the top of an expected value to its deepest place; a document is no deeper."""
MAX_OPERATOR_DEPTH: Final = 32
"""Operators within operators."""

_COMPARISONS: Final[dict[str, tuple[Callable[[Any, Any], bool], str]]] = {
    "$gt": (operator.gt, "more than"),
    "$gte": (operator.ge, "at least"),
    "$lt": (operator.lt, "less than"),
    "$lte": (operator.le, "at most"),
}
_MAY_BE_ABSENT: Final = frozenset({"$any", "$exact", "$exists", "$in"})
"""Operators whose operand may be about an absent value."""
_ELSEWHERE: Final = {
    "$and": "$all",
    "$elemMatch": "$contains",
    "$eq": "$literal",
    "$nor": "$nin",
    "$or": "$any",
    "$size": "$len",
}
"""What operators of MongoDB's query language are called here."""


class Fault(msgspec.Struct, frozen=True):
    """A mistake in an expected value.

    Attributes:
        path: the place, from the top of the expected value, operators included.
        message: one sentence without a full stop.
        expected: what would have been right.
        found: what stands there.
        nearest: the known name closest to the one found.
        mend: the next step, an imperative sentence.
        offset: 0-based, in code points, into the string at `path`.
    """

    path: Path
    message: str
    expected: str | None = None
    found: str | None = None
    nearest: str | None = None
    mend: str | None = None
    offset: int | None = None


def compile_value(expected: object, *, exact: bool, keyed: bool) -> tuple[Node, list[Fault]]:
    """The nodes of an expected value, and all of its mistakes; see `values.matcher`."""
    compiler = _Compiler()
    root = compiler.value(expected, _Scope((), keyed, exact, frozenset(), 0))
    return root, compiler.faults


class _Scope(msgspec.Struct, frozen=True):
    """Where in an expected value the compiler is.

    Attributes:
        path: the place.
        keyed: the value stands under a key, so it may be absent.
        exact: mappings have no other keys.
        ignore: dotted paths from here that are not looked at.
        operators: how many operators stand above.
    """

    path: Path
    keyed: bool
    exact: bool
    ignore: frozenset[str]
    operators: int

    def under_key(self, key: str) -> _Scope:
        ignore = frozenset(path[len(key) + 1 :] for path in self.ignore if path.startswith(f"{key}."))
        return msgspec.structs.replace(self, path=(*self.path, key), keyed=True, ignore=ignore)

    def at_element(self, index: int, *, keyed: bool = False) -> _Scope:
        return msgspec.structs.replace(self, path=(*self.path, index), keyed=keyed)

    def in_operator(self, name: str) -> _Scope:
        keyed = self.keyed and name in _MAY_BE_ABSENT
        return msgspec.structs.replace(
            self, path=(*self.path, name), keyed=keyed, operators=self.operators + 1
        )


class _Compiler:
    """Checks and compiles in one pass, so that nothing is compiled unchecked; a faulty part becomes `SOMETHING`."""

    def __init__(self) -> None:
        self.faults: list[Fault] = []

    def value(self, expected: object, scope: _Scope) -> Node:
        if self.too_deep(scope):
            return SOMETHING
        if isinstance(expected, dict):
            operators = [key for key in expected if _is_operator(key)]
            if operators and len(operators) == len(expected):
                return self.operators(expected, scope)
            if operators:
                plain = next(key for key in expected if not _is_operator(key))
                self.fault(
                    scope,
                    "operators and plain keys stand in one mapping",
                    expected="only operators, or only plain keys",
                    found=f"`{cut(operators[0])}` beside {show(plain)}",
                    mend="Put operators under the key they are about, and data whose keys start with `$` "
                    "under `$literal`.",
                )
            return self.mapping(expected, scope)
        if isinstance(expected, (list, tuple)):
            return ListNode(
                expected, [self.value(item, scope.at_element(index)) for index, item in enumerate(expected)]
            )
        self.plain(expected, scope)
        return scalar(expected)

    def mapping(self, expected: dict[Any, object], scope: _Scope) -> Node:
        nodes = {}
        for key, item in expected.items():
            if self.is_key(key, scope) and not _is_operator(key):
                node = self.value(item, scope.under_key(key))
                if key not in scope.ignore:
                    nodes[key] = node
        return MappingNode(expected, nodes, scope.ignore if scope.exact else None)

    def operators(self, expected: dict[str, object], scope: _Scope) -> Node:
        nodes = []
        for name, operand in expected.items():
            inner = scope.in_operator(name)
            if name not in _OPERATORS:
                self.fault(
                    inner,
                    f"unknown operator `{cut(name)}`",
                    expected=f"one of {', '.join(_OPERATORS)}",
                    nearest=_ELSEWHERE.get(name) or nearest_name(name[:MAX_KEY], _OPERATORS),
                    mend="Put data whose keys start with `$` under `$literal`.",
                )
            elif inner.operators > MAX_OPERATOR_DEPTH:
                self.fault(inner, f"operators are nested more than {MAX_OPERATOR_DEPTH} deep")
            else:
                if name == "$exact":
                    inner = msgspec.structs.replace(
                        inner, exact=True, ignore=inner.ignore | _paths(expected.get("$ignore"))
                    )
                node = _OPERATORS[name](self, operand, inner)
                if node is not None:
                    nodes.append(node)
        if "$ignore" in expected and "$exact" not in expected:
            self.fault(
                scope.in_operator("$ignore"),
                "`$ignore` stands without `$exact`, where other keys are free already",
                mend="Leave it out, or put what it belongs to beside it under `$exact`.",
            )
        if NO_KEY in nodes and len(nodes) > 1:
            self.fault(
                scope,
                "`$exists: false` stands beside other operators, and no value is both absent and like something",
                mend="Write `$any: [{$exists: false}, ...]` for a value that may be absent.",
            )
        return nodes[0] if len(nodes) == 1 else AllNode(nodes)

    # One method for each operator.

    def ne(self, operand: object, scope: _Scope) -> Node:
        self.plain(operand, scope, operators=False)
        return negated(Leaf(lambda actual: json_equal(actual, operand), lambda: show(operand)))

    def comparison(self, operand: object, scope: _Scope) -> Node:
        compare, words = _COMPARISONS[str(scope.path[-1])]
        if isinstance(operand, str):
            comparable = TYPES["string"]
        elif is_number(operand):
            comparable = is_number
        else:
            return self.wrong(scope, "a number or a string", operand)
        return Leaf(
            lambda actual: comparable(actual) and compare(actual, operand), lambda: f"{words} {show(operand)}"
        )

    def some(self, operand: object, scope: _Scope) -> Node:
        return any_of(self.alternatives(operand, scope))

    def none(self, operand: object, scope: _Scope) -> Node:
        return negated(any_of(self.alternatives(operand, scope)))

    def every(self, operand: object, scope: _Scope) -> Node:
        return AllNode(self.alternatives(operand, scope))

    def negation(self, operand: object, scope: _Scope) -> Node:
        found = len(self.faults)
        node = self.value(operand, scope)
        if node is SOMETHING and len(self.faults) == found:
            self.fault(
                scope,
                "`$not: {$exists: true}` matches nothing: what must differ must be there",
                mend="Write `$exists: false` for a value that must be absent.",
            )
        return negated(node)

    def regex(self, operand: object, scope: _Scope) -> Node:
        from averment.text.patterns import PatternError, compile_pattern

        if not isinstance(operand, str):
            return self.wrong(scope, "a regular expression, as a string", operand)
        try:
            found_in = compile_pattern(operand).test
        except PatternError as error:
            self.fault(scope, error.message, found=show(operand), mend=error.mend, offset=error.position)
            return SOMETHING
        return Leaf(
            lambda actual: isinstance(actual, str) and found_in(actual),
            lambda: f"a string matching {show(operand)}",
        )

    def exists(self, operand: object, scope: _Scope) -> Node:
        if not isinstance(operand, bool):
            return self.wrong(scope, "true or false", operand)
        if operand:
            return SOMETHING
        if not scope.keyed:
            self.fault(
                scope,
                "`$exists: false` stands where no value can be absent",
                expected="a key of a mapping above it, with nothing but `$any` or `$in` between",
                mend="Put it under the key that must not be there.",
            )
        return NO_KEY

    def type(self, operand: object, scope: _Scope) -> Node:
        if not isinstance(operand, str) or operand not in TYPES:
            near = nearest_name(operand[:MAX_KEY], TYPES) if isinstance(operand, str) else None
            return self.wrong(scope, f"one of {', '.join(TYPES)}", operand, nearest=near)
        return Leaf(TYPES[operand], lambda: f"a value of type {operand}")

    def length(self, operand: object, scope: _Scope) -> Node:
        if not is_number(operand) and not (isinstance(operand, dict) and any(map(_is_operator, operand))):
            return self.wrong(scope, "a number, or operators that a number can match", operand)
        return sized(self.value(operand, scope))

    def contains(self, operand: object, scope: _Scope) -> Node:
        node = self.value(operand, scope)
        text = operand if isinstance(operand, str) else None

        def matches(actual: object) -> bool:
            if isinstance(actual, (list, tuple)):
                return any(node.matches(item) for item in actual)
            return text is not None and isinstance(actual, (str, dict)) and text in actual

        return Leaf(matches, lambda: f"something that contains {node.words()}")

    def approx(self, operand: object, scope: _Scope) -> Node:
        shape = "a mapping with `value` and at least one of `abs` and `rel`"
        if not isinstance(operand, dict) or "value" not in operand or len(operand) < 2:
            return self.wrong(scope, shape, operand)
        found = len(self.faults)
        for key, number in operand.items():
            inner = scope.under_key(str(key))
            if key not in ("value", "abs", "rel"):
                near = nearest_name(str(key)[:MAX_KEY], ("value", "abs", "rel"))
                self.fault(inner, f"`$approx` has no {show(key)}", expected=shape, nearest=near)
            elif not is_number(number) or (key != "value" and number < 0):
                self.wrong(inner, "a number" if key == "value" else "a number that is not negative", number)
        if len(self.faults) > found:
            return SOMETHING
        value, by, times = (_exactly(operand.get(key, 0)) for key in ("value", "abs", "rel"))
        margin = max(by, times * abs(value))
        low, high = value - margin, value + margin
        margins = " or ".join(f"{key} {show(operand[key])}" for key in ("abs", "rel") if key in operand)
        return Leaf(
            lambda actual: is_number(actual) and low <= _exactly(actual) <= high,
            lambda: f"{show(operand['value'])} within {margins}",
        )

    def literal(self, operand: object, scope: _Scope) -> Node:
        self.plain(operand, scope)
        return Leaf(lambda actual: json_equal(actual, operand), lambda: f"exactly {show(operand)}")

    def ignore(self, operand: object, scope: _Scope) -> None:
        if not isinstance(operand, (list, tuple)) or not operand:
            self.wrong(scope, "a list of dotted paths", operand)
        else:
            for index, path in enumerate(operand):
                if not isinstance(path, str) or not path:
                    self.wrong(scope.at_element(index), "a dotted path", path)

    # What they share.

    def alternatives(self, operand: object, scope: _Scope) -> list[Node]:
        if not isinstance(operand, (list, tuple)) or not operand:
            self.wrong(scope, "a list of at least one expected value", operand)
            return [SOMETHING]
        return [
            self.value(item, scope.at_element(index, keyed=scope.keyed)) for index, item in enumerate(operand)
        ]

    def plain(self, value: object, scope: _Scope, *, operators: bool = True) -> None:
        """Check that a value is JSON, and unless keys like operators are data, that it has none."""
        if self.too_deep(scope):
            return
        if isinstance(value, dict):
            for key, item in value.items():
                if not operators and _is_operator(key):
                    self.fault(
                        scope.under_key(key),
                        "`$ne` compares with a plain value, and this is an operator",
                        mend="Write `$not` instead of `$ne`.",
                    )
                elif self.is_key(key, scope):
                    self.plain(item, scope.under_key(key), operators=operators)
        elif isinstance(value, (list, tuple)):
            for index, item in enumerate(value):
                self.plain(item, scope.at_element(index), operators=operators)
        elif not (value is None or isinstance(value, (str, bool)) or is_number(value)):
            self.fault(
                scope,
                "this is not a JSON value",
                expected="a string, a finite number, true, false, null, a list or a mapping",
                found=show(value),
            )

    def is_key(self, key: object, scope: _Scope) -> bool:
        if not isinstance(key, str):
            self.fault(
                scope, "a key is not a string", expected="a string", found=show(key), mend="Put it in quotes."
            )
        return isinstance(key, str)

    def too_deep(self, scope: _Scope) -> bool:
        if len(scope.path) > MAX_DEPTH:
            self.fault(scope, f"the expected value is more than {MAX_DEPTH} levels deep")
        return len(scope.path) > MAX_DEPTH

    def wrong(self, scope: _Scope, expected: str, operand: object, nearest: str | None = None) -> Node:
        step = scope.path[-1]
        must = f"`{step}` takes" if isinstance(step, str) else "this must be"
        self.fault(scope, f"{must} {expected}", expected=expected, found=show(operand), nearest=nearest)
        return SOMETHING

    def fault(
        self,
        scope: _Scope,
        message: str,
        *,
        expected: str | None = None,
        found: str | None = None,
        nearest: str | None = None,
        mend: str | None = None,
        offset: int | None = None,
    ) -> None:
        self.faults.append(Fault(scope.path, message, expected, found, nearest, mend, offset))


def _is_operator(key: object) -> bool:
    return isinstance(key, str) and key.startswith("$")


def _paths(ignore: object) -> frozenset[str]:
    return (
        frozenset(path for path in ignore if isinstance(path, str))
        if isinstance(ignore, (list, tuple))
        else frozenset()
    )


def _exactly(number: Any) -> Fraction:
    """The number as written: integral ones as they are, others by their shortest decimal form."""
    from fractions import Fraction

    return Fraction(int(number)) if number == int(number) else Fraction(repr(number))


_OPERATORS: Final[dict[str, Callable[[_Compiler, object, _Scope], Node | None]]] = {
    "$ne": _Compiler.ne,
    "$gt": _Compiler.comparison,
    "$gte": _Compiler.comparison,
    "$lt": _Compiler.comparison,
    "$lte": _Compiler.comparison,
    "$in": _Compiler.some,
    "$nin": _Compiler.none,
    "$regex": _Compiler.regex,
    "$exists": _Compiler.exists,
    "$type": _Compiler.type,
    "$len": _Compiler.length,
    "$contains": _Compiler.contains,
    "$all": _Compiler.every,
    "$any": _Compiler.some,
    "$not": _Compiler.negation,
    "$approx": _Compiler.approx,
    "$exact": _Compiler.value,
    "$ignore": _Compiler.ignore,
    "$literal": _Compiler.literal,
}
