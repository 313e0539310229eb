from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from averment.errors import DocumentError
from averment.text.source import MAX_DOCUMENT_DEPTH, read_source

numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | st.text(max_size=12),
    lambda parts: st.lists(parts, max_size=4) | st.dictionaries(st.text(max_size=12), parts, max_size=4),
    max_leaves=12,
)


def places(text: str) -> list[tuple[str, int | None, int | None]]:
    with pytest.raises(DocumentError) as caught:
        read_source(text)
    return [(problem.code, problem.line, problem.column) for problem in caught.value.problems]


@given(values)
@settings(max_examples=200, deadline=None)
def test_dumped_values_are_read_back(value: Any) -> None:
    """What the standard library writes is read as it was, in every layout."""
    for text in (json.dumps([value]), json.dumps([value], indent=2, ensure_ascii=False)):
        assert json.dumps(read_source(text).value) == json.dumps([value])


def test_json_is_read_without_yaml() -> None:
    """A JSON document doesn't pay for importing PyYAML."""
    code = (
        "import sys; from averment.text.source import read_source; read_source('{\"a\": [1, null]}'); "
        "sys.exit('yaml' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": "\\ud83d\\ude00\\u00e9\\n"}', {"a": "😀é\n"}),
        ('[1, -0, 1.5, 1E2, "\x7f\u2028", {}, [ ]]', [1, 0, 1.5, 100.0, "\x7f\u2028", {}, []]),
        ('\n {"a" : 1 , "b":[ 1 ,2 ] } \n', {"a": 1, "b": [1, 2]}),
        ('{"a\\"b": true}', {'a"b': True}),
    ],
)
def test_json_is_read(text: str, value: object) -> None:
    """Escapes, surrogate pairs, numbers and space mean what RFC 8259 says."""
    assert read_source(text).value == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1,}', {"a": 1}),
        ("{'a': 1}", {"a": 1}),
        ('{"a": 1, # c\n "b": [2,]}', {"a": 1, "b": [2]}),
        ("{a: yes}", {"a": "yes"}),
        ("[017]", [17]),
    ],
)
def test_what_only_yaml_accepts_is_read_as_yaml(text: str, value: object) -> None:
    """Trailing commas, comments, single quotes and bare words are YAML, which is fine."""
    assert read_source(text).value == value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a": 1, "a": 2}', [("duplicate_key", 1, 10)]),
        ('{"a": NaN, "b": [-Infinity, 1e400]}', [
            ("number_not_finite", 1, 7),
            ("number_not_finite", 1, 18),
            ("number_too_large", 1, 29),
        ]),
        (f"[{'1' * 5000}]", [("number_too_large", 1, 2)]),
        ('{"a": "\\ud800"}', [("invalid_character", 1, 7)]),
        ('{"\\udc00": 1}', [("invalid_character", 1, 2)]),
        ('{"a":' * 100_000, [("document_too_deep", 1, 321)]),
        ("[" * (MAX_DOCUMENT_DEPTH + 1) + "]" * (MAX_DOCUMENT_DEPTH + 1), [("document_too_deep", 1, 65)]),
        ('{"a": 1 "b": 2}', [("json_syntax", 1, 9)]),
        ('{"a": 1,\n "b": 2\n "c": 3}', [("json_syntax", 3, 2)]),
        ('{"a" 1}', [("json_syntax", 1, 6)]),
        ('["a", 1', [("json_syntax", 1, 8)]),
        ('["a"] x', [("json_syntax", 1, 7)]),
        ('{"a": "x\ty"} z', [("json_syntax", 1, 9)]),
        ('{"a": 1, 2: [}', [("json_syntax", 1, 10)]),
        ("{a: 'x}", [("yaml_syntax", 1, 8)]),
        ("{a: 1\n", [("yaml_syntax", 2, 1)]),
        ('{"a": 1, # c\n "b": [}', [("yaml_syntax", 2, 8)]),
    ],
)  # fmt: skip
def test_mistakes_in_json_have_their_place(text: str, expected: list[tuple[str, int, int]]) -> None:
    """JSON's own mistakes stay JSON's; of two syntax errors the one that helps is told."""
    assert places(text) == expected
