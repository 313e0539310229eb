from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from averment.evidence.readers.python_calls import looks_like_calls, python_calls


def read(text: str) -> list[tuple[str, Any]] | None:
    """The calls of a text, as names and arguments."""
    calls = python_calls(text)
    return None if calls is None else [(call.name, call.arguments) for call in calls]


@pytest.mark.parametrize(
    ("text", "calls"),
    [
        ("[f(a=1)]", [("f", {"a": 1})]),
        ("f(a=1)", [("f", {"a": 1})]),
        ("f(a=1), g.h(b='x')", [("f", {"a": 1}), ("g.h", {"b": "x"})]),
        (" [ f( ) , ]\n", [("f", {})]),
        ("[]", []),
        (
            "f(a=[1, -2.5, (True, None)], b={'k': {'l': []}})",
            [("f", {"a": [1, -2.5, [True, None]], "b": {"k": {"l": []}}})],
        ),
        (r"f(a='\d\u00e9')", [("f", {"a": r"\d" + "é"})]),
    ],
)
def test_literals_are_read(text: str, calls: Any) -> None:
    """Lists, tuples and single calls; tuples become lists, as in JSON."""
    assert read(text) == calls


@pytest.mark.parametrize(
    "arguments",
    [
        *(
            "1",
            "*x",
            "**x",
            "a=x",
            "a=g()",
            "a=1+1",
            "a=1j",
            "a=b'x'",
            "a={1: 2}",
            "a={1, 2}",
            "a=...",
            "a=-x",
        ),
        *("a=f'{x}'", "a=1e999", "a=[x]", "a=lambda: 1", "a=-True", "a=" + "[" * 150 + "]" * 150, "a={**x}"),
    ],
)
def test_other_arguments_are_left_unread(arguments: str) -> None:
    """Nothing is looked up, computed or named by guess."""
    assert read(f"[f({arguments}), g(a=1)]") == [("f", None), ("g", {"a": 1})]


@pytest.mark.parametrize(
    "text", ["", "x", "1", "[1]", "f", "f()()", "f[0]()", "I can (help).", "[f(a=1)", "f(a=1) g()"]
)
def test_other_texts_are_no_calls(text: str) -> None:
    """Prose and broken source are left to the reader."""
    assert read(text) is None


@pytest.mark.parametrize(
    "text",
    [
        *(
            "[" * 30_000 + "]" * 30_000,
            "-" * 60_000 + "f()",
            "f()" + ".a" * 20_000 + "()",
            "f" + "()" * 30_000,
        ),
        *(
            "f(" * 20_000 + ")" * 20_000,
            "1+" * 30_000 + "f()",
            "f(a=" + "9" * 60_000 + ")",
            "f(\0)",
            "f(a='\ud800')",
        ),
        *("not " * 16_000 + "f()", "f(" + "a=1," * 16_000 + ")", "x" * 2**17 + "()"),
    ],
)
def test_hostile_texts_end(text: str) -> None:
    """Deep and long sources are refused or read, and break nothing."""
    found = read(text)
    assert found is None or len(found) == 1


def test_what_looks_like_calls() -> None:
    """A name before an opening bracket, perhaps in a list."""
    assert looks_like_calls(" [hotel.book(nights=")
    assert looks_like_calls("f(")
    assert not looks_like_calls("I can (help)")
    assert not looks_like_calls("[1, 2]")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(JSON)
def test_what_python_writes_is_read_back(value: Any) -> None:
    """Every JSON value, written as Python writes it, comes back."""
    assert read(f"f(a={value!r})") == [("f", {"a": value})]


@given(st.text())
def test_any_text_is_read_or_not(text: str) -> None:
    """No text raises."""
    json.dumps(read(text))
