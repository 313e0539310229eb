from __future__ import annotations

import enum
import json
import math
import subprocess
import sys
from typing import Any

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from averment.errors import DocumentError, Problem
from averment.text import reading, source, yamlread
from averment.text.source import (
    MAX_DOCUMENT_BYTES,
    MAX_DOCUMENT_DEPTH,
    Position,
    Source,
    read_source,
    source_of,
)
from averment.text.yamlscan import PythonParser

characters = st.characters(codec="utf-8", exclude_characters="\x85\u2028\u2029\ufeff")
texts = st.text(characters, max_size=12).filter(lambda text: yamlread._number(text) is None)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda parts: st.lists(parts, max_size=4) | st.dictionaries(texts, parts, max_size=4),
    max_leaves=12,
)


def problems(text: str | bytes) -> tuple[Problem, ...]:
    with pytest.raises(DocumentError) as caught:
        read_source(text)
    return caught.value.problems


def places(text: str | bytes) -> list[tuple[str, int | None, int | None]]:
    return [(problem.code, problem.line, problem.column) for problem in problems(text)]


@pytest.fixture(params=["libyaml", "python"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both parsers of events in turn."""
    name: str = request.param
    if name == "python":
        monkeypatch.setattr(yamlread, "_new_parser", PythonParser)
    return name


@pytest.mark.usefixtures("parser")
class TestYAML:
    @pytest.mark.parametrize(
        ("written", "value"),
        [
            ("", None),
            ("~", None),
            ("null", None),
            ("NULL", None),
            ("true", True),
            ("False", False),
            ("017", 17),
            ("+12", 12),
            ("-0", 0),
            ("0o17", 15),
            ("0x1F", 31),
            (".5", 0.5),
            ("1.", 1.0),
            ("-1.5e-3", -0.0015),
            ("1e3", 1000.0),
            ("9" * 40, int("9" * 40)),
            *((text, text) for text in ("yes", "No", "on", "OFF", "y", "nUll", "tRue")),
            *(
                (text, text)
                for text in ("12:30", "2026-01-01", "1_000", "0b1", "0o8", "1e", ".", "--", "+.nan")
            ),
            *((text, text) for text in ("=", "٣", "0x", "+0x1", "inf", "nan", "NaN", "-Infinity")),
        ],
    )
    def test_plain_scalars_mean_what_the_core_schema_says(self, written: str, value: object) -> None:
        """Plain scalars are null, booleans and numbers by YAML 1.2, and all others are strings."""
        read = read_source(f"key: {written}\n").value["key"]
        assert read == value
        assert type(read) is type(value)

    @pytest.mark.parametrize("written", ["'{}'", '"{}"', "|-\n  {}\n", ">-\n  {}\n"])
    @pytest.mark.parametrize("word", ["null", "true", "12", "1.5", ".nan"])
    def test_scalars_that_are_not_plain_are_strings(self, written: str, word: str) -> None:
        """Quotes and block styles keep a word from meaning anything."""
        assert read_source("key: " + written.format(word)).value == {"key": word}

    @pytest.mark.parametrize(
        ("text", "value"),
        [
            ("---\na: 1\n", {"a": 1}),
            ("%YAML 1.2\n---\na: 1\n...\n", {"a": 1}),
            ("# c\na: 1 # d\n", {"a": 1}),
            ("a:\n- 1\n- 2\n", {"a": [1, 2]}),
            ("a:\r\n  - 1\r\n", {"a": [1]}),
            ("a: {b: [1, 'x'], c: {d: }}\n", {"a": {"b": [1, "x"], "c": {"d": None}}}),
            ("- {a: b}\n- - c\n", [{"a": "b"}, ["c"]]),
            ("a: [x,\n  y]\n", {"a": ["x", "y"]}),
            ("a: |\n  x\n   y\n\nb: >-\n  x\n  y\n\n  z\n", {"a": "x\n y\n", "b": "x y\nz"}),
            (
                "'a b': 1\n\"c\\n\": 2\n12: 3\ntrue: 4\n~: 5\n",
                {"a b": 1, "c\n": 2, "12": 3, "true": 4, "~": 5},
            ),
            ("? a\n: b\n", {"a": "b"}),
            ("a: don't # c\n", {"a": "don't"}),
            ("a:\tb\n", {"a": "b"}),
            ("a: what? [x]\n", {"a": "what? [x]"}),
            ("a: [what?, b]\n", {"a": ["what?", "b"]}),
            ("'<<': 1\n", {"<<": 1}),
            ("just text", "just text"),
        ],
    )
    def test_the_forms_that_people_write_are_read(self, text: str, value: object) -> None:
        """Block and flow collections, block scalars, comments and markers mean what YAML says."""
        assert read_source(text).value == value

    @pytest.mark.parametrize(
        ("text", "place"),
        [
            ("", ("empty_document", 1, 1)),
            (" \n# only\n", ("empty_document", 1, 1)),
            ("---\n", ("empty_document", 1, 1)),
            ("--- # nothing\n...\n", ("empty_document", 1, 1)),
            ("a: 1\n\nb: 2\na: 3\n", ("duplicate_key", 4, 1)),
            ("a: {b: 1, 'b': 2}\n", ("duplicate_key", 1, 11)),
            ("a: &x 1\n", ("anchor_not_allowed", 1, 4)),
            ("a: *x\n", ("alias_not_allowed", 1, 4)),
            ("a: !!str 1\n", ("tag_not_allowed", 1, 4)),
            ("a: ! 1\n", ("tag_not_allowed", 1, 4)),
            ("a: !x [1]\n", ("tag_not_allowed", 1, 4)),
            ("<<: {a: 1}\n", ("merge_key_not_allowed", 1, 1)),
            ("a: 1\n? [b]\n: 2\n", ("complex_key", 2, 3)),
            ("{a: 1}: 2\n", ("complex_key", 1, 1)),
            ("*x : 1\n", ("alias_not_allowed", 1, 1)),
            (": 1\n", ("yaml_syntax", 1, 1)),
            ("[?]", ("yaml_syntax", 1, 3)),
            ("a: 1\n---\nb: 2\n", ("several_documents", 2, 1)),
            ("a: .inf\n", ("number_not_finite", 1, 4)),
            ("a: -.INF\n", ("number_not_finite", 1, 4)),
            ("a: .NaN\n", ("number_not_finite", 1, 4)),
            ("a: 1e400\n", ("number_too_large", 1, 4)),
            (f"a: {'9' * 5000}\n", ("number_too_large", 1, 4)),
            (f"a: 0x{'f' * 4000}\n", ("number_too_large", 1, 4)),
            ("a: b\x07\n", ("invalid_character", 1, 5)),
            ("a: 1\rb: \x85\n", ("invalid_character", 2, 4)),
            ("a: '\u2028'\n", ("invalid_character", 1, 5)),
            ("a: \ud800\n", ("invalid_character", 1, 4)),
            ("a: \ufeff\n", ("invalid_character", 1, 4)),
            ("a: [" * 5000, ("document_too_deep", 1, 129)),
            ("- " * 5000, ("document_too_deep", 1, 129)),
            ("[" * 100_000, ("document_too_deep", 1, 65)),
            ("a:\n\tb: 1\n", ("yaml_syntax", 2, 1)),
            ("a: |\n\tb\n", ("yaml_syntax", 2, 1)),
            ('a: "\\d+"\n', ("yaml_syntax", 1, 5)),
            ('a: "\\x4"\n', ("yaml_syntax", 1, 5)),
            ('a: "x\\ud800"\n', ("yaml_syntax", 1, 6)),
            ('a: "x\\U00110000"\n', ("yaml_syntax", 1, 6)),
            ("a: b: c\n", ("yaml_syntax", 1, 5)),
            ("a\nb: c\n", ("yaml_syntax", 2, 2)),
            ("a:\n  - [b\n  - c\n", ("yaml_syntax", 4, 1)),
            ("a: {b: 1\n", ("yaml_syntax", 2, 1)),
            ("a: {b: 1]\n", ("yaml_syntax", 1, 9)),
            ("a: 'b\n", ("yaml_syntax", 2, 1)),
            ("a: 'b' c\n", ("yaml_syntax", 1, 8)),
            ("a: 'b\n---\n", ("yaml_syntax", 2, 1)),
            ("- a\nb: c\n", ("yaml_syntax", 2, 1)),
            ("a: - b\n", ("yaml_syntax", 1, 4)),
            ("a:\n    b: 1\n  c: 2\n", ("yaml_syntax", 3, 3)),
            ("a: @b\n", ("yaml_syntax", 1, 4)),
            ("a: [b:[c]]\n", ("yaml_syntax", 1, 6)),
            ("a: |x\n", ("yaml_syntax", 1, 5)),
            ("a: & b\n", ("yaml_syntax", 1, 5)),
            ("a: !<x\n", ("yaml_syntax", 1, 7)),
            ("%YAML 2.0\n---\na: 1\n", ("yaml_syntax", 1, 1)),
            ("%WHAT\n---\na: 1\n", ("yaml_syntax", 1, 1)),
            ("a: [b, , c]\n", ("yaml_syntax", 1, 8)),
            ("a: b\n...\nc: d\n", ("yaml_syntax", 3, 1)),
            ("a: [b\n\nc", ("yaml_syntax", 3, 2)),
        ],
    )
    def test_a_mistake_has_its_code_and_exact_place(self, text: str, place: tuple[str, int, int]) -> None:
        """Every kind of mistake is refused where it stands, and says what to do."""
        assert places(text) == [place]
        problem = problems(text)[0]
        assert problem.mend
        assert "this is not YAML" not in problem.message

    def test_all_mistakes_that_are_not_of_syntax_are_reported_at_once(self) -> None:
        """Reading goes on behind a refused part, and the mistakes come in the order of their places."""
        text = "a: *x\nb: &y 1\nc: !t 2\n<<: 3\n? [d]\n: .nan\na: 4\ne: 1e999\n"
        assert places(text) == [
            ("alias_not_allowed", 1, 4),
            ("anchor_not_allowed", 2, 4),
            ("tag_not_allowed", 3, 4),
            ("merge_key_not_allowed", 4, 1),
            ("complex_key", 5, 3),
            ("number_not_finite", 6, 3),
            ("duplicate_key", 7, 1),
            ("number_too_large", 8, 4),
        ]
        assert places("a: *x\na: [\n")[0] == ("alias_not_allowed", 1, 4)

    def test_each_repetition_of_a_key_names_the_first(self) -> None:
        """A key that stands three times is two problems, both with the first place."""
        assert [(problem.line, problem.found) for problem in problems("a: 1\na: 2\nb: 0\na: 3\n")] == [
            (2, "the same key at line 1, column 1"),
            (4, "the same key at line 1, column 1"),
        ]

    def test_each_unprintable_character_is_reported_once(self) -> None:
        """A file of rubbish gives one problem for each different character, in order."""
        assert places("a: \x07\x00\x07\x7f\n") == [
            ("invalid_character", 1, 4),
            ("invalid_character", 1, 5),
            ("invalid_character", 1, 7),
        ]
        assert problems("a: \x07")[0].mend == 'Delete it, or write it in double quotes as "\\x07".'

    def test_a_wrong_escape_says_to_use_single_quotes(self) -> None:
        """The usual mistake with patterns has the usual mend."""
        assert "single quotes" in (problems('regex: "\\d+"')[0].mend or "")

    def test_an_unclosed_bracket_names_where_it_was_opened(self) -> None:
        """The error stands where reading failed, and tells the line where the list starts."""
        assert "line 2, column 6" in problems("a:\n  b: [c,\n  d: e\n")[0].message

    def test_depth_is_counted_in_containers(self) -> None:
        """As many levels as allowed are read, one more is refused."""
        assert read_source("- " * MAX_DOCUMENT_DEPTH + "x").value
        assert places("- " * (MAX_DOCUMENT_DEPTH + 1) + "x") == [
            ("document_too_deep", 1, 2 * MAX_DOCUMENT_DEPTH + 1)
        ]

    @given(
        values,
        st.sampled_from([True, False, None]),
        st.sampled_from([20, 80, 10_000]),
        st.booleans(),
    )
    @settings(max_examples=150, deadline=None)
    def test_dumped_values_are_read_back(
        self, value: Any, flow: bool | None, width: int, unicode: bool
    ) -> None:
        """Whatever PyYAML writes is read as it was."""
        text = yaml.safe_dump(
            value, default_flow_style=flow, width=width, allow_unicode=unicode, sort_keys=False
        )
        read = read_source(text).value if text.strip() else None
        assert read == value
        assert json.dumps(read) == json.dumps(value)

    @given(st.lists(texts, min_size=1), st.sampled_from("'\"|>"))
    @settings(max_examples=100, deadline=None)
    def test_strings_dumped_in_every_style_are_read_back(self, value: list[str], style: str) -> None:
        """Quoted and block styles read back as PyYAML's own loader reads them."""
        text = yaml.safe_dump(value, default_style=style, allow_unicode=True)
        assume("!!" not in text)
        assert read_source(text).value == yaml.safe_load(text)


class TestJSON:
    @given(values)
    @settings(max_examples=200, deadline=None)
    def test_dumped_values_are_read_back(self, value: Any) -> None:
        """What the standard library writes is read as it was, in every layout."""
        for text in (json.dumps([value]), json.dumps([value], indent=2, ensure_ascii=False)):
            assert json.dumps(read_source(text).value) == json.dumps([value])

    def test_json_is_read_without_yaml(self) -> None:
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
    def test_json_is_read(self, text: str, value: object) -> None:
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
    def test_what_only_yaml_accepts_is_read_as_yaml(self, text: str, value: object) -> None:
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
    def test_mistakes_in_json_have_their_place(self, text: str, expected: list[tuple[str, int, int]]) -> None:
        """JSON's own mistakes stay JSON's; of two syntax errors the one that helps is told."""
        assert places(text) == expected


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
        for given_text in (text, "[" + text, '{"a": ' + text):
            try:
                read = read_source(given_text)
            except DocumentError as error:
                for problem in error.problems:
                    assert problem.line is not None
                    assert problem.line >= 1
                    assert problem.column is not None
                    assert problem.column >= 1
            else:
                assert isinstance(read.position(()), Position)

    @given(st.binary(max_size=40))
    @settings(max_examples=100, deadline=None)
    def test_any_bytes_are_read_or_refused_as_a_document(self, data: bytes) -> None:
        """Nothing but DocumentError leaves the reader."""
        try:
            assert isinstance(read_source(data), Source)
        except DocumentError as error:
            assert error.problems

    def test_mistakes_are_bounded(self) -> None:
        """A file that is wrong throughout gives as many problems as people could read."""
        assert len(problems("- *a\n" * 5000)) == reading._MAX_MISTAKES


class Word(str, enum.Enum):
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
