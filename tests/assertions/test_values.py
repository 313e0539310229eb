from __future__ import annotations

import sys
from typing import Any

import pytest

from averment.assertions.values import (
    ABSENT,
    MAX_DEPTH,
    MAX_MISMATCHES,
    MAX_OPERATOR_DEPTH,
    Mismatch,
    faults,
    matcher,
    nearest,
)
from averment.errors import path_text

MATCHES: list[tuple[Any, Any, bool]] = [
    # scalars
    (5, 5.0, True),
    (5, "5", False),
    (True, 1, False),
    (1, True, False),
    (0, False, False),
    (None, None, True),
    (None, ABSENT, False),
    (2**53 + 1, float(2**53), False),
    # lists
    ([], [], True),
    ([], ABSENT, False),
    (["a", "b"], ["b", "a"], False),
    (["a"], ["a", "a"], False),
    ([{"a": 1}], [{"a": 1, "b": 2}], True),
    ([{"$exists": True}, 5], [None, 5], True),
    # mappings
    ({}, {}, True),
    ({}, {"a": 1}, True),
    ({}, [], False),
    ({"a": 1, "b": {"c": 2}}, {"b": {"d": 3, "c": 2}, "a": 1, "e": 0}, True),
    ({"memo": None}, {}, False),
    ({"memo": None}, {"memo": None}, True),
    # $ne
    ({"$ne": 1}, True, True),
    ({"$ne": 1}, 1.0, False),
    ({"$ne": {"a": 1}}, {"a": 1, "b": 2}, True),
    ({"a": {"$ne": 1}}, {}, False),
    # comparisons
    ({"$gt": 5}, 5, False),
    ({"$gte": 5}, 5.0, True),
    ({"$lt": 5}, 4.9, True),
    ({"$lte": 5}, 5.0, True),
    ({"$lte": 5}, 10**400, False),
    ({"$gt": 0}, True, False),
    ({"$gt": 0}, "1", False),
    ({"$gt": "2026-01-01"}, "2026-01-02", True),
    ({"$gt": "a"}, 5, False),
    ({"$gt": 5}, None, False),
    ({"$gte": 5, "$lt": 10}, 9, True),
    ({"$gte": 5, "$lt": 10}, 10, False),
    # $in, $nin
    ({"$in": [1, "x", {"$gt": 10}]}, 11, True),
    ({"$in": [1, "x"]}, True, False),
    ({"$in": [{"a": 1}]}, {"a": 1, "b": 2}, True),
    ({"$nin": [1, "x"]}, True, True),
    ({"$nin": [1, "x"]}, "x", False),
    ({"a": {"$nin": [1]}}, {}, False),
    # $regex
    ({"$regex": "b+"}, "abbc", True),
    ({"$regex": "B"}, "abc", False),
    ({"$regex": "1"}, 1, False),
    # $exists
    ({"a": {"$exists": True}}, {"a": None}, True),
    ({"a": {"$exists": True}}, {}, False),
    ({"a": {"$exists": False}}, {}, True),
    ({"a": {"$exists": False}}, {"a": None}, False),
    ({"a": {"$any": [{"$exists": False}, 5]}}, {}, True),
    ({"a": {"$any": [{"$exists": False}, 5]}}, {"a": 5}, True),
    ({"a": {"$in": [{"$exists": False}, 5]}}, {"a": 6}, False),
    ({"$not": {"a": {"$exists": True}}}, {}, True),
    # $type
    ({"$type": "integer"}, 1, True),
    ({"$type": "integer"}, 1.0, True),
    ({"$type": "integer"}, 1.5, False),
    ({"$type": "integer"}, True, False),
    ({"$type": "integer"}, float("inf"), False),
    ({"$type": "number"}, 1, True),
    ({"$type": "number"}, False, False),
    ({"$type": "boolean"}, False, True),
    ({"$type": "boolean"}, 0, False),
    ({"$type": "null"}, None, True),
    ({"$type": "null"}, ABSENT, False),
    ({"$type": "array"}, [], True),
    ({"$type": "object"}, {}, True),
    ({"$type": "string"}, "", True),
    # $len
    ({"$len": 2}, "é😀", True),
    ({"$len": 2}, [1, 2], True),
    ({"$len": {"$gte": 1}}, {"a": 1}, True),
    ({"$len": 0}, 0, False),
    ({"$len": 0}, None, False),
    # $contains
    ({"$contains": "b"}, "abc", True),
    ({"$contains": "b"}, ["a", "b"], True),
    ({"$contains": "b"}, ["abc"], False),
    ({"$contains": "b"}, {"b": 1}, True),
    ({"$contains": 1}, "1", False),
    ({"$contains": 1}, [True, 1.0], True),
    ({"$contains": 1}, [True], False),
    ({"$contains": {"a": 1}}, [{"a": 1, "b": 2}], True),
    ({"$contains": "b"}, None, False),
    ({"$contains": None}, [None], True),
    # $all, $any, $not
    ({"$all": [{"$contains": "a"}, {"$contains": "b"}]}, ["b", "a"], True),
    ({"$all": [{"$contains": "a"}, {"$contains": "b"}]}, ["b"], False),
    ({"$any": [{"a": 1}, {"b": 1}]}, {"b": 1}, True),
    ({"$any": [1, 2]}, 3, False),
    ({"$not": {"a": 1}}, {"a": 1, "b": 2}, False),
    ({"$not": {"$gt": 5}}, "x", True),
    ({"a": {"$not": {"$gt": 5}}}, {}, False),
    # $approx
    ({"$approx": {"value": 0.3, "abs": 0.1}}, 0.2, True),
    ({"$approx": {"value": 0.3, "abs": 0.1}}, 0.4, True),
    ({"$approx": {"value": 0.3, "abs": 0.1}}, 0.40000000000000002 + 1e-16, False),
    ({"$approx": {"value": -100, "rel": 0.01}}, -101, True),
    ({"$approx": {"value": -100, "rel": 0.01}}, -101.01, False),
    ({"$approx": {"value": 100, "rel": 0.01, "abs": 5}}, 105, True),
    ({"$approx": {"value": 1, "abs": 0}}, True, False),
    ({"$approx": {"value": 1, "abs": 0}}, "1", False),
    ({"$approx": {"value": 1, "abs": 1e308}}, float("inf"), False),
    ({"$approx": {"value": 1, "abs": 1e308}}, float("nan"), False),
    ({"$approx": {"value": 10**30, "abs": 1}}, 10**30 + 1, True),
    ({"$approx": {"value": 10**30, "abs": 1}}, 10**30 + 2, False),
    # $exact, $ignore
    ({"$exact": {"a": {"b": 1}}}, {"a": {"b": 1.0}}, True),
    ({"$exact": {"a": {"b": 1}}}, {"a": {"b": 1, "c": 2}}, False),
    ({"$exact": {"a": [{"b": 1}]}}, {"a": [{"b": 1, "c": 2}]}, False),
    ({"$exact": {"a": {"$any": [{}, 1]}}}, {"a": {"b": 1}}, False),
    ({"$exact": {"a": 1, "b": {"$exists": False}}}, {"a": 1}, True),
    ({"$exact": {}}, {}, True),
    ({"$exact": {"a": 1}, "$ignore": ["id"]}, {"a": 1, "id": 7}, True),
    ({"$exact": {"a": 1, "id": 6}, "$ignore": ["id"]}, {"a": 1, "id": 7}, True),
    ({"$exact": {"a": 1, "id": 6}, "$ignore": ["id"]}, {"a": 1}, True),
    ({"$exact": {"a": 1}, "$ignore": ["id"]}, {"a": 1, "ib": 7}, False),
    ({"$exact": {"a": {"b": 1}}, "$ignore": ["a.id"]}, {"a": {"b": 1, "id": 2}}, True),
    ({"$exact": {"a": {"b": 1}}, "$ignore": ["a.id"]}, {"a": {"b": 1}, "id": 2}, False),
    ({"$exact": [{"b": 1}], "$ignore": ["id"]}, [{"b": 1, "id": 2}], True),
    ({"$exact": {"x.y": {"b": 1}}, "$ignore": ["x.y.id"]}, {"x.y": {"b": 1, "id": 2}}, True),
    ({"$ignore": ["t"], "$exact": {"a": {"$contains": {"b": 1}}}}, {"a": [{"b": 1, "t": 1}]}, False),
    ({"$ignore": ["a.t"], "$exact": {"a": {"$contains": {"b": 1}}}}, {"a": [{"b": 1, "t": 1}]}, True),
    (
        {"$exact": {"a": {"$exact": {"b": 1}, "$ignore": ["x"]}}, "$ignore": ["a.y"]},
        {"a": {"b": 1, "x": 1, "y": 2}},
        True,
    ),
    # $literal
    ({"$literal": {"$ref": 1, "a": 2}}, {"a": 2, "$ref": 1.0}, True),
    ({"$literal": {"a": 1}}, {"a": 1, "b": 2}, False),
    ({"a": {"$literal": None}}, {}, False),
]


def _case(value: Any) -> str:
    return repr(value)[:60]


@pytest.mark.parametrize(("expected", "actual", "match"), MATCHES, ids=_case)
def test_an_expected_value_matches_as_defined(expected: Any, actual: Any, match: bool) -> None:
    """The table of operators, and the law that mismatches are empty if and only if the value matches."""
    assert faults(expected) == []
    compiled = matcher(expected)
    assert compiled.matches(actual) is match
    assert (compiled.mismatches(actual) == []) is match


def test_exact_is_an_outermost_exact() -> None:
    """`exact=True` asks for no other keys at any level."""
    compiled = matcher({"a": {"b": 1}}, exact=True)
    assert compiled.matches({"a": {"b": 1}})
    assert not compiled.matches({"a": {"b": 1, "c": 2}})
    assert not compiled.matches({"a": {"b": 1}, "c": 2})
    assert not matcher({}, exact=True).matches({"a": 1})


def test_a_keyed_value_may_be_absent() -> None:
    """A caller that resolves the key itself may ask for its absence."""
    assert faults({"$exists": False}) != []
    assert matcher({"$exists": False}, keyed=True).matches(ABSENT)


FAULTS: list[tuple[Any, str, str]] = [
    ({"a": {"$gt": 1, "b": 2}}, "$.a", "operators and plain keys stand in one mapping"),
    ({"$gte": None}, "$.$gte", "`$gte` takes a number or a string"),
    ({"$lt": True}, "$.$lt", "`$lt` takes a number or a string"),
    ({"$in": []}, "$.$in", "`$in` takes a list of at least one expected value"),
    ({"$nin": 5}, "$.$nin", "`$nin` takes a list of at least one expected value"),
    ({"$all": {}}, "$.$all", "`$all` takes a list of at least one expected value"),
    ({"$any": [1, {"$gt": []}]}, "$.$any[1].$gt", "`$gt` takes a number or a string"),
    ({"$ne": {"$gt": 5}}, "$.$ne.$gt", "`$ne` compares with a plain value, and this is an operator"),
    ({"$regex": 5}, "$.$regex", "`$regex` takes a regular expression, as a string"),
    ({"$exists": "no"}, "$.$exists", "`$exists` takes true or false"),
    ({"$exists": False}, "$.$exists", "`$exists: false` stands where no value can be absent"),
    ([{"$exists": False}], "$[0].$exists", "`$exists: false` stands where no value can be absent"),
    (
        {"a": {"$all": [{"$exists": False}]}},
        "$.a.$all[0].$exists",
        "`$exists: false` stands where no value can be absent",
    ),
    (
        {"a": {"$not": {"$exists": False}}},
        "$.a.$not.$exists",
        "`$exists: false` stands where no value can be absent",
    ),
    (
        {"a": {"$not": {"$exists": True}}},
        "$.a.$not",
        "`$not: {$exists: true}` matches nothing: what must differ must be there",
    ),
    (
        {"a": {"$exists": False, "$gt": 5}},
        "$.a",
        "`$exists: false` stands beside other operators, and no value is both absent and like something",
    ),
    (
        {"$type": ["string"]},
        "$.$type",
        "`$type` takes one of string, integer, number, boolean, null, array, object",
    ),
    ({"$len": "3"}, "$.$len", "`$len` takes a number, or operators that a number can match"),
    ({"$len": {}}, "$.$len", "`$len` takes a number, or operators that a number can match"),
    (
        {"$approx": 5},
        "$.$approx",
        "`$approx` takes a mapping with `value` and at least one of `abs` and `rel`",
    ),
    (
        {"$approx": {"value": 5}},
        "$.$approx",
        "`$approx` takes a mapping with `value` and at least one of `abs` and `rel`",
    ),
    ({"$approx": {"value": 5, "abs": -1}}, "$.$approx.abs", "`abs` takes a number that is not negative"),
    ({"$approx": {"value": "5", "rel": 1}}, "$.$approx.value", "`value` takes a number"),
    ({"$ignore": ["a"]}, "$.$ignore", "`$ignore` stands without `$exact`, where other keys are free already"),
    ({"$exact": {}, "$ignore": []}, "$.$ignore", "`$ignore` takes a list of dotted paths"),
    ({"$exact": {}, "$ignore": ["a", 5]}, "$.$ignore[1]", "this must be a dotted path"),
    ({"a": {1: 2}}, "$.a", "a key is not a string"),
    ({"$literal": {1: 2}}, "$.$literal", "a key is not a string"),
    ([b"x"], "$[0]", "this is not a JSON value"),
    ({"$literal": [float("nan")]}, "$.$literal[0]", "this is not a JSON value"),
    ({"$not": {"$exact": {"a": {"$gt": {}}}}}, "$.$not.$exact.a.$gt", "`$gt` takes a number or a string"),
]


@pytest.mark.parametrize(("expected", "path", "message"), FAULTS, ids=_case)
def test_a_mistake_in_an_expected_value_is_told_with_its_place(
    expected: Any, path: str, message: str
) -> None:
    """One mistake, one fault, at its place; such a value doesn't compile."""
    found = faults(expected)
    assert [(path_text(fault.path), fault.message) for fault in found] == [(path, message)]
    with pytest.raises(ValueError, match=r"."):
        matcher(expected)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("$regexp", "$regex"),
        ("$eq", "$literal"),
        ("$or", "$any"),
        ("$size", "$len"),
        ("$length", "$len"),
        ("$zzz", None),
    ],
)
def test_an_unknown_operator_gets_the_nearest_name(name: str, near: str | None) -> None:
    """A misspelling, or another language's name, is answered with ours."""
    (fault,) = faults({"a": {name: 5}})
    assert (fault.path, fault.message, fault.nearest) == (("a", name), f"unknown operator `{name}`", near)


def test_all_mistakes_are_found_at_once() -> None:
    """Mistakes below and beside mistakes are found too."""
    found = faults({"a": {"$gt": [], "$lt": {}}, "b": [{"$what": 1}, {"$in": [{"$type": "str"}]}]})
    assert [path_text(fault.path) for fault in found] == [
        "$.a.$gt",
        "$.a.$lt",
        "$.b[0].$what",
        "$.b[1].$in[0].$type",
    ]
    assert found[3].nearest == "string"
    assert [fault.message for fault in faults({"$x": 1, "b": {"$gt": None}})] == [
        "operators and plain keys stand in one mapping",
        "`$gt` takes a number or a string",
    ]


def test_a_mistake_in_a_regular_expression_has_its_offset() -> None:
    """The place is the pattern, the offset is within it."""
    (fault,) = faults({"a": {"$regex": "ab(c"}})
    assert (fault.path, fault.offset) == (("a", "$regex"), 2)


def test_depth_is_bounded() -> None:
    """A value at the bound works and one level more is a fault, far below the depth of Python's stack."""

    def nested(depth: int, wrap: Any, value: Any) -> Any:
        for _ in range(depth):
            value = wrap(value)
        return value

    deepest = nested(MAX_DEPTH, lambda inner: {"k": inner}, 1)
    assert matcher(deepest, exact=True).matches(deepest)
    assert matcher({"$literal": nested(MAX_DEPTH - 1, lambda inner: [inner], 1)}).matches(ABSENT) is False
    for wrap in (lambda inner: {"k": inner}, lambda inner: [inner], lambda inner: {"$literal": [inner]}):
        (fault,) = faults(nested(5_000, wrap, 1))
        assert fault.message == f"the expected value is more than {MAX_DEPTH} levels deep"
    assert matcher(nested(MAX_OPERATOR_DEPTH, lambda inner: {"$not": inner}, 1)).matches(1)
    (fault,) = faults(nested(MAX_OPERATOR_DEPTH + 1, lambda inner: {"$not": inner}, 1))
    assert fault.message == f"operators are nested more than {MAX_OPERATOR_DEPTH} deep"


def test_a_deep_actual_value_is_no_danger() -> None:
    """Actual values deeper than Python's stack are matched and explained."""
    deep: Any = 1
    for _ in range(sys.getrecursionlimit() * 2):
        deep = {"a": [deep]}
    refused: list[Any] = [{"a": [{"a": 5}]}, {"$literal": 5}, {"$contains": "b"}, {"$exact": {}}, {"$len": 5}]
    for expected in refused:
        compiled = matcher(expected)
        assert not compiled.matches(deep)
        assert compiled.mismatches(deep)
    assert matcher({}).matches(deep)


MISMATCHES: list[tuple[Any, Any, list[tuple[str, str, str]]]] = [
    ({"amount": 5}, {"amount": 999}, [("$.amount", "5", "999")]),
    ({"a": {"b": [1, 2]}}, {"a": {"b": [1, "2"]}}, [("$.a.b[1]", "2", '"2"')]),
    ({"a": 1, "b": 2}, {"a": 2}, [("$.a", "1", "2"), ("$.b", "2", "nothing")]),
    ({"amount": 1}, {"amuont": 1}, [("$.amount", "1", 'nothing (the nearest key is "amuont")')]),
    ({"amount": 1, "amounts": 2}, {"amount": 1}, [("$.amounts", "2", "nothing")]),
    ({"a": [1, 2]}, {"a": [1, 2, 3]}, [("$.a", "length 2", "length 3")]),
    ({"a": {"b": 1}}, {"a": "x"}, [("$.a", '{"b": 1}', '"x"')]),
    ([1], "x", [("$", "[1]", '"x"')]),
    (
        {"$exact": {"a": 1}},
        {"a": 1, "c": 3, "b": 2},
        [("$.b", "no such key", "2"), ("$.c", "no such key", "3")],
    ),
    ({"a": {"$exists": False}}, {"a": None}, [("$.a", "no such key", "null")]),
    ({"a": {"$exists": True}}, {}, [("$.a", "any value", "nothing")]),
    ({"$gte": 5, "$lt": 9}, 3, [("$", "at least 5", "3")]),
    ({"a": {"$gte": 5, "$lt": 9}}, {}, [("$.a", "at least 5 and less than 9", "nothing")]),
    ({"$ne": "x"}, "x", [("$", 'anything but "x"', '"x"')]),
    ({"$in": [1, {"$gt": 5}]}, 2, [("$", "1 or more than 5", "2")]),
    ({"$nin": [1, 2]}, 2, [("$", "anything but 1 or 2", "2")]),
    ({"$regex": "a.c"}, "b", [("$", 'a string matching "a.c"', '"b"')]),
    ({"$type": "string"}, 5, [("$", "a value of type string", "5")]),
    ({"$len": {"$gt": 2}}, [1], [("$", "length more than 2", "length 1")]),
    ({"$len": 2}, 5, [("$", "length 2", "5")]),
    ({"$contains": "a"}, "b", [("$", 'something that contains "a"', '"b"')]),
    ({"$approx": {"value": 5, "rel": 0.1}}, 6, [("$", "5 within rel 0.1", "6")]),
    ({"$literal": {"$a": 1}}, 5, [("$", 'exactly {"$a": 1}', "5")]),
    ({"$all": [{"a": 1}, {"b": 1}]}, {}, [("$.a", "1", "nothing"), ("$.b", "1", "nothing")]),
    ({}, ABSENT, [("$", "{}", "nothing")]),
]


@pytest.mark.parametrize(("expected", "actual", "found"), MISMATCHES, ids=_case)
def test_a_mismatch_says_where_what_was_expected_and_what_was_found(
    expected: Any, actual: Any, found: list[tuple[str, str, str]]
) -> None:
    """Fixed wording: the path, the expectation, the value found."""
    mismatches = matcher(expected).mismatches(actual)
    assert [(path_text(mismatch.path), mismatch.expected, mismatch.found) for mismatch in mismatches] == found


def test_mismatches_are_bounded_in_number_and_length() -> None:
    """Large and hostile values give a few short lines."""
    many = {f"k{i}": 1 for i in range(1000)}
    hostile = {"x" * 10**6 + str(i): "y" * 10**6 for i in range(3)}
    for expected, actual in [
        (many, {}),
        ({"$exact": {}}, many),
        ({"$exact": {}}, hostile),
        ({"a" * 10**6: 1}, hostile),
        ({"$any": [many, "z" * 10**6]}, hostile),
        ({"$all": [many, many]}, {}),
        ([1] * 1000, [2] * 1000),
    ]:
        found = matcher(expected).mismatches(actual)
        assert 0 < len(found) <= MAX_MISMATCHES
        assert all(len(mismatch.expected) <= 200 and len(mismatch.found) <= 200 for mismatch in found)
    assert max(len(str(m.path[0])) for m in matcher({"$exact": {}}).mismatches(hostile)) == 64


def test_the_nearest_miss_is_the_first_with_the_fewest_mismatches() -> None:
    """Fewest differences win, ties go to the first, and a value that differs as a whole comes last."""
    compiled = matcher({"amount": 5, "currency": "USD", "to": "A"})
    best = nearest(
        compiled,
        [
            ABSENT,
            {"amount": 999, "currency": "EUR", "to": "A"},
            {"amount": 999, "currency": "USD", "to": "A"},
            {"amount": 998, "currency": "USD", "to": "A"},
        ],
    )
    assert best is not None
    assert best.index == 2
    assert best.mismatches == [Mismatch(("amount",), "5", "999")]
    assert nearest(compiled, []) is None
    only = nearest(compiled, [ABSENT, "x"])
    assert only is not None
    assert only.index == 0
