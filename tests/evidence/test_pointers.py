from __future__ import annotations

from typing import Any

import pytest

from averment.evidence.pointers import ABSENT, Pointer, fault_in


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "whole"),
        ("/foo", ["bar", "baz"]),
        ("/foo/0", "bar"),
        ("/", 0),
        ("/a~1b", 1),
        ("/c%d", 2),
        ("/i\\j", 5),
        ('/k"l', 6),
        ("/ ", 7),
        ("/m~0n", 8),
        ("/~01", 9),
        ("/foo/2", ABSENT),
        ("/foo/-", ABSENT),
        ("/foo/00", ABSENT),
        ("/foo/bar", ABSENT),
        ("/foo/0/x", ABSENT),
        ("/none", ABSENT),
        ("/null", None),
        ("/null/x", ABSENT),
    ],
)
def test_pointers_are_those_of_rfc_6901(text: str, expected: Any) -> None:
    """The examples of its section 5, and what is not there."""
    value = {
        "foo": ["bar", "baz"],
        "": 0,
        "a/b": 1,
        "c%d": 2,
        "i\\j": 5,
        'k"l': 6,
        " ": 7,
        "m~n": 8,
        "~1": 9,
        "null": None,
    }
    assert fault_in(text) is None
    found = Pointer.of(text).find(value)
    assert found == (value if expected == "whole" else expected)
    if found is not ABSENT:
        inner: Any = value
        for step in Pointer.of(text).path(value):
            inner = inner[step]
        assert inner == found
