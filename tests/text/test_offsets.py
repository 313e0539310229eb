from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from averment.text.offsets import offsets
from averment.text.source import read_source

words = st.text("abz é😀.,'\"\\:#-", min_size=1, max_size=6).map(lambda word: "x" + word.strip() + "x")
plain_words = st.text("abzé😀", min_size=1, max_size=6).map(lambda word: "x" + word)
breaks = st.sampled_from(["\n", "\r\n", "\r"])


class Writer:
    """Writes a random document and remembers where each scalar starts, and what it should be read as."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.text = draw(st.sampled_from(["", "# é\n", "---\n"]))
        self.starts: dict[tuple[str | int, ...], int] = {}
        self.line_end = draw(breaks)

    def put(self, text: str) -> None:
        self.text += text

    def scalar(self, path: tuple[str | int, ...], indent: int, *, flow: bool) -> None:
        self.starts[path] = len(self.text)
        style = self.draw(st.sampled_from(["plain", "single", "double", *([] if flow else ["|", ">"])]))
        lines = self.draw(st.lists(words, min_size=1, max_size=3))
        margin = self.line_end + " " * (indent + self.draw(st.integers(1, 3)))
        gap = self.draw(st.sampled_from(["", self.line_end, " " + self.line_end + self.line_end]))
        if style == "plain":
            self.put((gap + margin).join(self.draw(st.lists(plain_words, min_size=1, max_size=3))))
        elif style == "single":
            self.put("'" + (gap + margin).join(line.replace("'", "''") for line in lines) + "'")
        elif style == "double":
            escaped = [json.dumps(line, ensure_ascii=False)[1:-1] + "\\x41\\U0001F600\\n" for line in lines]
            joint = self.draw(st.sampled_from([gap + margin, "\\" + margin, " "]))
            self.put('"' + joint.join(escaped) + '"')
        else:
            deeper = self.draw(st.integers(1, 3))
            header = style + self.draw(
                st.sampled_from(["", "-", "+", str(deeper), f"-{deeper}", f"{deeper}+"])
            )
            self.put(header + self.draw(st.sampled_from(["", " # c"])))
            for line in lines:
                extra = (
                    ""
                    if line is lines[0] and not header[-1:].isdigit()
                    else self.draw(st.sampled_from(["", "  "]))
                )
                self.put(gap + self.line_end + " " * (indent + deeper) + extra + line)
            self.put(self.draw(st.sampled_from(["", self.line_end])))

    def node(self, path: tuple[str | int, ...], indent: int) -> None:
        shape = self.draw(st.sampled_from(["scalar", "scalar", "mapping", "list", "flow"]))
        if shape == "scalar" or indent > 6:
            self.scalar(path, indent, flow=False)
        elif shape == "flow":
            self.put("[")
            for index in range(self.draw(st.integers(1, 3))):
                self.put(
                    ""
                    if index == 0
                    else self.draw(st.sampled_from([", ", "," + self.line_end + " " * (indent + 1)]))
                )
                self.scalar((*path, index), indent, flow=True)
            self.put("]")
        else:
            for index in range(self.draw(st.integers(1, 3))):
                self.put(self.line_end + " " * (indent + 2))
                step: str | int = f"é{index}" if shape == "mapping" else index
                self.put(f"{step}: " if shape == "mapping" else "- ")
                self.node((*path, step), indent + 2)


@st.composite
def documents(draw: st.DrawFn) -> tuple[str, dict[tuple[str | int, ...], int]]:
    writer = Writer(draw)
    writer.put("top: ")
    writer.node(("top",), 0)
    writer.put(writer.line_end)
    return writer.text, writer.starts


def place(text: str, index: int) -> tuple[int, int]:
    """Line and column of a character, computed the plain way."""
    before = text[:index].replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if text[index - 1 : index + 1] == "\r\n":
        before = before[:-1]
        return len(before), len(before[-1]) + 2
    return len(before), len(before[-1]) + 1


def stands_for(text: str, index: int, character: str, style: str) -> bool:
    """Whether the character of the text at `index` is what `character` of a value was made from."""
    written = text[index : index + 1]
    if style == '"' and written == "\\":
        return True
    if character == "\n":
        return written in ("\r", "\n")
    if character == " ":
        return written in (" ", "\r", "\n")
    return written == character


@given(documents())
@settings(max_examples=200, deadline=None)
def test_every_scalar_and_every_character_of_it_is_found(
    document: tuple[str, dict[tuple[str | int, ...], int]],
) -> None:
    """Positions lead to where a scalar was written, and offsets to the characters that it was made from."""
    text, starts = document
    source = read_source(text)
    for path, start in starts.items():
        value = source.value
        for step in path:
            value = value[step]
        assert source.position(path) == place(text, start)
        at = offsets(text, start, value)
        assert len(at) == len(value) + 1
        assert at == sorted(set(at))
        assert all(
            stands_for(text, index, character, text[start])
            for index, character in zip(at, value, strict=False)
        )
        assert source.position_in(path, len(value) // 2) == place(text, at[len(value) // 2])


@given(st.lists(st.text(), min_size=1), st.booleans())
@settings(max_examples=100, deadline=None)
def test_every_character_of_a_json_string_is_found(values: list[str], ascii_only: bool) -> None:
    """Escapes of JSON, also the pair of escapes for one character, count as the one they stand for."""
    text = json.dumps(values, ensure_ascii=ascii_only)
    start = 1
    for value in values:
        at = offsets(text, start, value)
        parts = [text[begin:end] for begin, end in pairwise(at)]
        assert [json.loads(f'"{part}"') for part in parts] == list(value)
        start = at[-1] + len('", ')


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("'a''b'", "a'b", [1, 2, 4, 5]),
        ('"\\ta"', "\ta", [1, 3, 4]),
        ('"a\\\n  b"', "ab", [1, 6, 7]),
        ('"a \\\n\n b"', "a \nb", [1, 2, 5, 7, 8]),
        ("a\n\n b", "a\nb", [0, 2, 4, 5]),
        ("|\n  a\n   b\n", "a\n b\n", [4, 5, 8, 9, 10, 11]),
        ("|2\n   a\n", " a\n", [5, 6, 7, 8]),
        (">\n a\n b\n\n\n c\n", "a b\n\nc\n", [3, 4, 6, 8, 9, 11, 12, 13]),
        (">-\n a\n  b\n c\n", "a\n b\nc", [4, 5, 7, 8, 9, 11, 12]),
        ("|+\n a\n\n", "a\n\n", [4, 5, 6, 7]),
        ("|\n\n a\n", "\na\n", [2, 4, 5, 6]),
        ("|2\n    \n", "  \n", [0, 0, 0, 0]),
        (">-\n a\n b", "a b", [4, 5, 7, 8]),
        ("''", "", [1]),
        ("|\n", "", [0]),
    ],
)
def test_folding_escapes_and_indentation_are_undone(text: str, value: str, expected: list[int]) -> None:
    """Each way of writing a scalar maps back, and ends at the place after its last character."""
    assert read_source(text).value == value
    assert offsets(text, 0, value) == expected
