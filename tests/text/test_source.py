from __future__ import annotations

import enum
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from averment.errors import DocumentError, Problem
from averment.text import source
from averment.text.source import MAX_DOCUMENT_BYTES, MAX_DOCUMENT_DEPTH, read_source, source_of


def problems(text: str | bytes) -> tuple[Problem, ...]:
    with pytest.raises(DocumentError) as caught:
        read_source(text)
    return caught.value.problems


def places(text: str | bytes) -> list[tuple[str, int | None, int | None]]:
    return [(problem.code, problem.line, problem.column) for problem in problems(text)]


def found(text: str | bytes) -> list[Any]:
    """Where the document starts, or where all of its mistakes are."""
    try:
        return [read_source(text).position(())]
    except DocumentError as error:
        return [(problem.line, problem.column) for problem in error.problems]


class TestBytes:
    @pytest.mark.parametrize(
        "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-be", "utf-16-le", "utf-32-be"]
    )
    def test_marked_encodings_are_decoded(self, encoding: str) -> None:
        """A byte order mark decides the encoding and is no part of the text or its columns."""
        mark = "\ufeff" if encoding.endswith("e") else ""
        read = read_source((mark + "é: [😀]\n").encode(encoding))
        assert read.value == {"é": ["😀"]}
        assert read.position(("é", 0)) == (1, 5)
        assert read_source("\ufeffa: 1").key_position(("a",)) == (1, 1)

    def test_bytes_that_are_not_utf_8_are_told_with_byte_line_and_column(self) -> None:
        """An invalid byte is named by its offset and by where an editor shows it."""
        (problem,) = problems("a: 1\nb: é".encode() + b"\xff")
        assert (problem.code, problem.line, problem.column) == ("invalid_encoding", 2, 5)
        assert "byte 10" in problem.message
        assert problem.found == "the byte 0xFF"
        assert places(b"\xff\xfea\x00\n\x00\x00") == [("invalid_encoding", 2, 1)]

    @pytest.mark.parametrize(
        "text",
        [
            "#" * (MAX_DOCUMENT_BYTES + 1),
            b"#" * (MAX_DOCUMENT_BYTES + 1),
            "é" * (MAX_DOCUMENT_BYTES // 2 + 1),
        ],
    )
    def test_a_document_over_the_limit_is_refused_unread(self, text: str | bytes) -> None:
        """Size is counted in bytes of UTF-8, for text as well."""
        assert [problem.code for problem in problems(text)] == ["document_too_large"]


class TestPositions:
    TEXT = "é: 1\r\nlist:\r\n- x: 'a''b'\r\n  y: [😀, {z: \"q\\tr\"}]\n-\n  - |\n    li\n     ne\n  - >-\n    fo\n    ld\nempty:\n"

    @pytest.mark.parametrize(
        ("path", "value", "key"),
        [
            ((), (1, 1), (1, 1)),
            (("é",), (1, 4), (1, 1)),
            (("list",), (3, 1), (2, 1)),
            (("list", 0), (3, 3), (3, 3)),
            (("list", 0, "x"), (3, 6), (3, 3)),
            (("list", 0, "y", 0), (4, 7), (4, 7)),
            (("list", 0, "y", 1, "z"), (4, 14), (4, 11)),
            (("list", 1, 0), (6, 5), (6, 5)),
            (("list", 1, 1), (9, 5), (9, 5)),
            (("empty",), (12, 1), (12, 1)),
            (("list", 0, "missing", "deeper"), (3, 3), (3, 3)),
            (("list", 7), (3, 1), (2, 1)),
            (("list", "x"), (3, 1), (2, 1)),
            (("é", "x"), (1, 4), (1, 1)),
        ],
    )
    @pytest.mark.usefixtures("parser")
    def test_values_and_keys_are_found(
        self, path: tuple[str | int, ...], value: tuple[int, int], key: tuple[int, int]
    ) -> None:
        """A path leads to the first character of its value and key, or of its longest existing prefix."""
        read = read_source(self.TEXT)
        assert read.position(path) == value
        assert read.key_position(path) == key

    def test_json_has_the_same_positions(self) -> None:
        """Places in JSON are those of the opening quotes and brackets."""
        read = read_source('{"a": [1, "b"],\n  "c": {"d\\n": null}}')
        assert read.position(("a", 1)) == (1, 11)
        assert read.key_position(("c",)) == (2, 3)
        assert read.position(("c", "d\n")) == (2, 16)
        assert read.key_position(("c", "d\n")) == (2, 9)

    @pytest.mark.parametrize(
        ("path", "offset", "place"),
        [
            (("list", 0, "x"), 0, (3, 7)),
            (("list", 0, "x"), 1, (3, 8)),
            (("list", 0, "x"), 2, (3, 10)),
            (("list", 0, "x"), 99, (3, 11)),
            (("list", 0, "y", 1, "z"), 2, (4, 18)),
            (("list", 1, 0), 3, (8, 5)),
            (("list", 1, 1), 2, (10, 7)),
            (("list", 1, 1), 3, (11, 5)),
            (("é",), 5, (1, 4)),
        ],
    )
    @pytest.mark.usefixtures("parser")
    def test_a_character_of_a_string_is_found(
        self, path: tuple[str | int, ...], offset: int, place: tuple[int, int]
    ) -> None:
        """Offsets pass over quotes, escapes, indentation and folded lines."""
        assert read_source(self.TEXT).position_in(path, offset) == place

    def test_a_problem_carries_its_place(self) -> None:
        """A problem has the file, the path and the place of the value, its key or a character of it."""
        read = read_source(self.TEXT, name="doc.yaml")
        problem = read.problem("c", "m", ("list", 0, "x"), expected="e", found="f", nearest="n", mend="M.")
        assert problem == Problem(
            code="c",
            message="m",
            file="doc.yaml",
            line=3,
            column=6,
            path="$.list[0].x",
            expected="e",
            found="f",
            nearest="n",
            mend="M.",
        )
        assert read.problem("c", "m", ("list", 0, "x"), key=True).column == 3
        assert read.problem("c", "m", ("list", 0, "x"), offset=2).column == 10
        assert read.problem("c", "m", severity="warning").severity == "warning"
        assert read.problem("c", "m").path is None
        assert problems(b"a: *x")[0].file is None

    @given(st.text("ab: -\n\t'\"[]{},#&*!|>?%é\\😀\r", max_size=40) | st.text(max_size=30))
    @settings(max_examples=200, deadline=None)
    def test_any_text_is_read_or_refused_as_a_document(self, text: str) -> None:
        """Nothing but DocumentError leaves the reader, and every problem has a place inside the text."""
        for written in (text, "[" + text, '{"a": ' + text):
            for place in found(written):
                assert place is not None
                assert min(place) >= 1

    @given(st.binary(max_size=40))
    @settings(max_examples=100, deadline=None)
    def test_any_bytes_are_read_or_refused_as_a_document(self, data: bytes) -> None:
        """Nothing but DocumentError leaves the reader."""
        assert found(data)


class Word(enum.StrEnum):
    ONE = "one"


class TestObjects:
    def test_plain_values_are_copied(self) -> None:
        """The document doesn't change with the object it was made from; tuples are lists, enumerations texts."""
        value: dict[str, Any] = {"a": [1, (2.5, None)], "b": Word.ONE, "c": True}
        read = source_of(value, name="mine")
        value["a"].append(3)
        assert read.value == {"a": [1, [2.5, None]], "b": "one", "c": True}
        assert type(read.value["b"]) is str
        assert read.name == "mine"

    def test_objects_have_no_positions(self) -> None:
        """Without a text there are no lines, and problems have the path alone."""
        read = source_of({"a": "b"})
        assert read.position(("a",)) is None
        assert read.key_position(("a",)) is None
        assert read.position_in(("a",), 0) is None
        assert read.problem("c", "m", ("a",)) == Problem(code="c", message="m", path="$.a")

    @pytest.mark.parametrize(
        ("value", "code", "path"),
        [
            ({"a": {1: 2}}, "not_json_like", "$.a"),
            ({"a": [b"x"]}, "not_json_like", "$.a[0]"),
            ({"a": {1, 2}}, "not_json_like", "$.a"),
            ({"a": math.nan}, "number_not_finite", "$.a"),
            ([math.inf], "number_not_finite", "$[0]"),
            ([10**4300], "number_too_large", "$[0]"),
            (["\ud800"], "invalid_character", "$[0]"),
            ({"\ud800": 1}, "invalid_character", "$"),
        ],
    )
    def test_what_json_cannot_hold_is_refused_with_its_path(
        self, value: object, code: str, path: str
    ) -> None:
        """Other types, keys, numbers and half characters are named by path."""
        with pytest.raises(DocumentError) as caught:
            source_of(value)
        assert [(problem.code, problem.path) for problem in caught.value.problems] == [(code, path)]

    def test_all_mistakes_are_reported(self) -> None:
        """Copying goes on behind a refused part."""
        with pytest.raises(DocumentError) as caught:
            source_of({"a": object(), "b": [math.nan], 3: 4})
        assert len(caught.value.problems) == 3

    def test_cycles_depth_and_shared_parts_are_bounded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A value inside itself, endless nesting and parts shared again and again are refused in time."""
        cycle: list[Any] = []
        cycle.append({"a": cycle})
        deep: Any = 1
        shared: Any = [1]
        for _ in range(MAX_DOCUMENT_DEPTH + 1):
            deep = [deep]
        for _ in range(40):
            shared = [shared, shared]
        monkeypatch.setattr(source, "_MAX_VALUES", 5000)
        for value, code in (
            (cycle, "not_json_like"),
            (deep, "document_too_deep"),
            (shared, "document_too_large"),
        ):
            with pytest.raises(DocumentError) as caught:
                source_of(value)
            assert [problem.code for problem in caught.value.problems] == [code]
        assert source_of(deep[0]).value == deep[0]
        assert source_of([shared[0][0] is shared[0][1], [1], [1]]).value == [True, [1], [1]]
