from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from averment.text.jsonvalue import ABSENT, MAX_SHOWN, json_equal, resolve, show
from averment.text.pii import MARKER

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=10,
)


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        (True, 1, False),
        (False, 0, False),
        (False, 0.0, False),
        (1, 1.0, True),
        (0.0, -0.0, True),
        ("1", 1, False),
        (None, False, False),
        (None, ABSENT, False),
        (2**53 + 1, float(2**53), False),
        (2**53, float(2**53), True),
        (10**400, 1e308, False),
        (10**23, 1e23, False),
        ({}, {}, True),
        ([], [], True),
        ({}, [], False),
        ({"a": 1, "b": 2}, {"b": 2.0, "a": 1}, True),
        ({"a": None}, {"b": None}, False),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ([1, 2], [2, 1], False),
        ([1, 2], [1, 2, 2], False),
        ([[True]], [[1]], False),
        ([1], (1,), True),
    ],
)
def test_equality_is_json_typed(a: object, b: object, equal: bool) -> None:
    """Types count, spellings of a number and the order of keys don't; it goes both ways."""
    assert json_equal(a, b) is equal
    assert json_equal(b, a) is equal


@settings(deadline=None)
@given(JSON, JSON)
def test_equality_is_that_of_typed_values(a: Any, b: Any) -> None:
    """Equality agrees with Python's own on values whose booleans are marked."""

    def marked(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: marked(item) for key, item in value.items()}
        if isinstance(value, list):
            return [marked(item) for item in value]
        return (value,) if isinstance(value, bool) else value

    assert json_equal(a, b) == (marked(a) == marked(b))
    assert json_equal(a, json.loads(json.dumps(a)))


def _deep(depth: int) -> Any:
    value: Any = 1
    for level in range(depth):
        value = [value] if level % 2 else {"k": value}
    return value


def test_depth_is_no_danger() -> None:
    """Values far deeper than Python's stack are compared and shown."""
    assert json_equal(_deep(50_000), _deep(50_000))
    assert not json_equal(_deep(50_000), _deep(50_001))
    lists: list[Any] = []
    for _ in range(50_000):
        lists = [lists]
    assert len(show(_deep(50_000))) == len(show(lists)) == MAX_SHOWN


@pytest.mark.parametrize(
    ("record", "dotted", "found"),
    [
        ({"a": 1}, "a", 1),
        ({"a": {"b": {"c": 1}}}, "a.b.c", 1),
        ({"a.b": 1, "a": {"b": 2}}, "a.b", 1),
        ({"a": {"b.c": 1}}, "a.b.c", 1),
        ({"a": {"b": None}}, "a.b", None),
        ({"a": {"b": None}}, "a.b.c", ABSENT),
        ({"a": 1}, "b", ABSENT),
        ({"a": 1}, "a.b", ABSENT),
        ({"a": [1]}, "a.0", ABSENT),
        ({"a": {"": 1}}, "a.", 1),
        ({"a": 1}, "a.", ABSENT),
        ({}, "", ABSENT),
        ("text", "a", ABSENT),
    ],
)
def test_a_path_is_an_exact_key_first_then_dotted(record: object, dotted: str, found: object) -> None:
    """The exact key wins, then mappings are walked; nothing there is ABSENT, which null is not."""
    assert resolve(record, dotted) == found


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (1.0, "1.0"),
        (0.1, "0.1"),
        (10**40, "1" + "0" * 40),
        ("größe", '"größe"'),
        ("a\nb\x1b", '"a\\nb\\u001b"'),
        ("a\u202eb\xa0\ud800", '"a\\u202eb\\u00a0\\ud800"'),
        ({"b": [1, {}], "a": []}, '{"a": [], "b": [1, {}]}'),
        (ABSENT, "nothing"),
        (float("nan"), "nan"),
        (b"x", "a value of type bytes"),
    ],
)
def test_values_are_shown_as_json(value: object, text: str) -> None:
    """Sorted keys, readable letters, invisible characters escaped."""
    assert show(value) == text


@settings(deadline=None)
@given(JSON)
def test_a_shown_value_is_bounded_printable_and_json_when_whole(value: Any) -> None:
    """What is shown can be read back, unless it was cut or held personal data."""
    text = show(value)
    assert len(text) <= MAX_SHOWN
    assert text.isprintable()
    assert text.endswith("…") or MARKER in text or json_equal(json.loads(text), value)


def test_an_integer_too_long_to_write_is_described() -> None:
    """Python refuses to write such integers."""
    assert show([10**5000]) == "[an integer of 16610 bits]"


@pytest.mark.parametrize(
    "value",
    ["x" * 10**6, ["x" * 150] * 1000, {"k" * 10**6: 1}, [[[]]] * 10**5],
    ids=["text", "list", "key", "nested"],
)
def test_a_large_value_is_cut(value: object) -> None:
    """A cut text says so."""
    assert len(show(value)) == MAX_SHOWN
    assert show(value).endswith("…")
