"""Matching against an independent reference: it reads the expected value anew, by what the documentation says."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from averment.assertions.values import faults, json_equal, matcher

KEYS = st.sampled_from(["a", "b", "ab"])
SCALARS: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, False, 0, 1, 1.0, 2, 0.5, -1, 2**53 + 1, "", "a", "ab", "1"]
)
PLAIN: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


def _operators(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, min_size=1, max_size=3)
    numbers = st.sampled_from([0, 0.1, 0.5, 1, 2])
    operands: dict[str, st.SearchStrategy[Any]] = {
        "$ne": PLAIN,
        "$gt": st.sampled_from([0, 0.5, "a"]),
        "$lte": st.sampled_from([1, 1.5, "a"]),
        "$in": several,
        "$nin": several,
        "$type": st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"]),
        "$len": st.sampled_from([0, 1, 2, {"$gt": 0}, {"$in": [1, 3]}]),
        "$contains": inner,
        "$all": several,
        "$any": several,
        "$not": inner,
        "$approx": st.fixed_dictionaries({"value": numbers, "abs": numbers}, optional={"rel": numbers}),
        "$exact": inner,
        "$literal": PLAIN,
    }
    one = st.sampled_from(sorted(operands)).flatmap(lambda name: st.tuples(st.just(name), operands[name]))
    return st.lists(one, min_size=1, max_size=2).map(dict)


EXPECTED: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(KEYS, inner | st.just({"$exists": False}) | st.just({"$exists": True}), max_size=3),
        _operators(inner),
    ),
    max_leaves=8,
)


def _canonical(value: Any) -> str:
    """Equal values, and only they, have the same text."""
    match value:
        case dict():
            return "{" + ",".join(f"{key!r}:{_canonical(value[key])}" for key in sorted(value)) + "}"
        case list():
            return "[" + ",".join(map(_canonical, value)) + "]"
        case bool() | None | str():
            return repr(value)
        case _:
            return str(Fraction(value))


def _kind(value: Any) -> set[str]:
    match value:
        case bool():
            return {"boolean"}
        case int():
            return {"number", "integer"}
        case float():
            return {"number", "integer"} if value == int(value) else {"number"}
        case str():
            return {"string"}
        case None:
            return {"null"}
        case list():
            return {"array"}
    return {"object"}


def _reference(expected: Any, actual: Any, *, exact: bool = False) -> bool:
    if isinstance(expected, dict) and any(key.startswith("$") for key in expected):
        return all(_holds(name, operand, actual, exact=exact) for name, operand in expected.items())
    if isinstance(expected, dict):
        if not isinstance(actual, dict) or (exact and actual.keys() - expected.keys()):
            return False
        for key, inner in expected.items():
            if inner == {"$exists": False}:
                if key in actual:
                    return False
            elif key not in actual or not _reference(inner, actual[key], exact=exact):
                return False
        return True
    if isinstance(expected, list):
        if not isinstance(actual, list) or len(actual) != len(expected):
            return False
        return all(_reference(expected[i], actual[i], exact=exact) for i in range(len(expected)))
    return _canonical(expected) == _canonical(actual)


def _holds(name: str, operand: Any, actual: Any, *, exact: bool) -> bool:
    kinds = _kind(actual)
    match name:
        case "$ne":
            return _canonical(operand) != _canonical(actual)
        case "$literal":
            return _canonical(operand) == _canonical(actual)
        case "$gt" | "$lte":
            if not kinds & _kind(operand) & {"number", "string"}:
                return False
            return bool(actual > operand) is (name == "$gt")
        case "$in" | "$any":
            return any(_reference(item, actual, exact=exact) for item in operand)
        case "$nin":
            return not any(_reference(item, actual, exact=exact) for item in operand)
        case "$all":
            return all(_reference(item, actual, exact=exact) for item in operand)
        case "$not":
            return not _reference(operand, actual, exact=exact)
        case "$type":
            return operand in kinds
        case "$len":
            return bool(kinds & {"string", "array", "object"}) and _reference(
                operand, len(actual), exact=exact
            )
        case "$contains":
            if "array" in kinds:
                return any(_reference(operand, item, exact=exact) for item in actual)
            return isinstance(operand, str) and bool(kinds & {"string", "object"}) and operand in actual
        case "$approx":
            value, near, rel = (Fraction(str(operand.get(key, 0))) for key in ("value", "abs", "rel"))
            if "number" not in kinds:
                return False
            away = abs(Fraction(str(actual)) - value)
            return away <= near or away <= rel * abs(value)
        case "$exists":
            return bool(operand)
    assert name == "$exact"
    return _reference(operand, actual, exact=True)


@settings(deadline=None, max_examples=200)
@given(EXPECTED, st.lists(PLAIN, min_size=5, max_size=20))
def test_matching_agrees_with_an_independent_reference(expected: Any, actuals: list[Any]) -> None:
    """Any expected value against any actual one, and mismatches are empty if and only if it matches."""
    assert faults(expected) == []
    compiled = matcher(expected)
    for actual in actuals:
        match = _reference(expected, actual)
        assert compiled.matches(actual) is match
        assert (compiled.mismatches(actual) == []) is match
        assert matcher(expected, exact=True).matches(actual) is _reference(expected, actual, exact=True)


def _respelled(value: Any) -> Any:
    """An equal value, written differently: keys the other way round, integers as floats where that is exact."""
    if isinstance(value, dict):
        return {key: _respelled(value[key]) for key in reversed(value)}
    if isinstance(value, list):
        return [_respelled(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and float(value) == value:
        return float(value)
    return value


@settings(deadline=None, max_examples=200)
@given(EXPECTED, PLAIN)
def test_equal_values_match_alike(expected: Any, actual: Any) -> None:
    """The order of keys and the spelling of numbers change no answer, whatever the operators."""
    assert matcher(expected).matches(actual) is matcher(expected).matches(_respelled(actual))


@settings(deadline=None)
@given(PLAIN, PLAIN)
def test_a_literal_matches_what_is_equal_and_nothing_else(a: Any, b: Any) -> None:
    """`$literal` of a value matches it, and `$ne` is the opposite."""
    literal, other = matcher({"$literal": a}), matcher({"$ne": a})
    assert literal.matches(json.loads(json.dumps(a)))
    assert literal.matches(b) is json_equal(a, b) is not other.matches(b)


@settings(deadline=None)
@given(PLAIN)
def test_a_plain_value_matches_itself_exactly(value: Any) -> None:
    """A recorded value can be pasted as an expectation."""
    assert matcher(value, exact=True).matches(value)


@settings(deadline=None)
@given(st.text(max_size=8), PLAIN)
def test_data_with_dollar_keys_can_be_expected_literally(key: str, value: Any) -> None:
    """A key that looks like an operator is data under `$literal`."""
    data = {"$" + key: value, "plain": 1}
    assert faults({"a": data}) != []
    assert matcher({"a": {"$literal": data}}).matches({"a": data})
