from __future__ import annotations

import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from averment.errors import DocumentError
from averment.text.source import Source, read_source

pytest.importorskip(
    "yaml._yaml", reason="PyYAML was built without libyaml, so there is nothing to compare with"
)

parts = st.sampled_from(
    [
        *("a", "b c", "é", "😀", "12", "1e5", "~", "\\", "\\n", "\\x41", "\\ud800", "\\U00110000", "don't", "k: v"),
        *(" ", "  ", "\t", "\n", "\n  ", "\r\n", "\r", "\n\n", "\n- ", "\nk: ", "\n  k: ", "\n    - "),
        *("- ", ": ", ":", "? ", "?", ",", ", ", "[", "]", "{", "}", "'", '"', "''", "#", " #", "&", "*", "!", "<<"),
        *("|", "|-\n  ", "|2", ">\n  ", ">+\n ", "---", "\n---\n", "...", "%", "%YAML 1.2\n---\n", "%YAML 1.3\n", "@", "`"),
    ]
)  # fmt: skip


def answer(text: str) -> object:
    try:
        source = read_source(text)
    except DocumentError:
        return "refused"
    return source.value, places(source, source.value, ())


def places(source: Source, value: object, path: tuple[str | int, ...]) -> list[object]:
    found: list[object] = [source.position(path), source.key_position(path)]
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return found + [place for step, part in steps for place in places(source, part, (*path, step))]


def both(text: str) -> tuple[object, object]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "yaml._yaml", None)
        by_python = answer(text)
    return answer(text), by_python


@given(st.lists(parts, max_size=14).map("".join))
@settings(max_examples=200, deadline=None)
def test_both_parsers_give_the_same_answer(text: str) -> None:
    """Any text is refused by both, or read by both as the same value with the same places."""
    by_libyaml, by_python = both(text)
    assert by_python == by_libyaml


@pytest.mark.parametrize(
    "text",
    [
        "a:\tb\t# c",
        "a: b\tc\n  \td",
        "a: b\n\tc",
        "-\tb",
        "[a?, b? c]",
        "[a:,b]",
        "[a:[b]]",
        "{a:}",
        "{a: \n\n, b}",
        "[?,a]",
        "[ ? ]",
        "{? a}",
        "a: |#c\n  b",
        "a: |\t\n  b",
        "a: >-2\n    b",
        "a: >2-\n    b",
        "a: |0\n  b",
        "a: |--\n  b",
        "a: |\n  \tb",
        "a: |\n \n  b\n\tc",
        '"\\ud83d\\ude00"',
        '"\\\\ud83d \\U0000d800"',
        '"\\\\U00110000 \\U0010FFFF"',
        '"a\\\n  b\\\r\n\n c"',
        "%YAML 1.1\n---\na",
        "%YAML 1.3\n---\na",
        "%TAG ! tag:x\n---\na",
        "%a\n---\na",
        "a\n---b\n...c",
        "a\n...",
        "a: b\n --- c",
    ],
)
def test_both_parsers_agree_where_pyyaml_and_libyaml_differ(text: str) -> None:
    """What the two scanners read in different ways on their own is read in one way here."""
    by_libyaml, by_python = both(text)
    assert by_python == by_libyaml


@pytest.mark.parametrize(
    "text",
    ["[" * 300_000, "a: " + "[" * 300_000, "[\n" * 100_000, "- " * 100_000, "{a: " * 100_000, '["x" ' * 50_000, "a: 'b" + " b" * 100_000 + "'",
     'a: "' + "\\\\b " * 50_000 + '"', "a: " + "b " * 100_000, "? " * 50_000, "'" * 100_001],
)  # fmt: skip
def test_hostile_texts_are_answered_in_time(text: str) -> None:
    """Deep and long texts take neither parser more than a moment, and no stack."""
    begin = time.process_time()
    by_libyaml, by_python = both(text)
    assert by_python == by_libyaml
    assert time.process_time() - begin < 60
