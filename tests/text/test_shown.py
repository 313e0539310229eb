from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from averment.text.shown import inert_json


@pytest.mark.parametrize("value", [{}, {"a": [1, "é 日本 😀", "# [x] #["]}, "a\nb\tc"])
def test_json_in_which_all_can_be_seen_is_printed_as_it_is(value: Any) -> None:
    """Byte for byte, with the line breaks and the letters that it has."""
    for written in (json.dumps(value), json.dumps(value, indent=2, ensure_ascii=False)):
        assert inert_json(written.encode()) == written.encode()


def test_json_that_would_command_is_printed_with_escapes() -> None:
    """Controls beyond the first 32 characters, what turns text around, and what GitHub's runner looks for."""
    value = {"\x9b1m": "\x7f\u202e\u2028\ufeff\U000e0001", "é": "##[error]x ###[group]"}
    printed = inert_json(json.dumps(value, indent=2, ensure_ascii=False).encode()).decode()
    assert json.loads(printed) == value
    assert printed.splitlines() == [
        "{",
        r'  "\u009b1m": "\u007f\u202e\u2028\ufeff\udb40\udc01",',
        r'  "é": "##\u005berror]x ###\u005bgroup]"',
        "}",
    ]


@given(st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_whatever_is_printed_says_the_same(value: Any) -> None:
    """No value changes, and nothing that can't be seen is left but ends of lines."""
    for indent in (None, 1):
        printed = inert_json(json.dumps(value, indent=indent, ensure_ascii=False).encode()).decode()
        assert json.loads(printed) == value
        assert printed.replace("\n", "").isprintable()
        assert "##[" not in printed
