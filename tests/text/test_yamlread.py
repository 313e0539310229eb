from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from averment.errors import DocumentError, Problem
from averment.text import reading, yamlread
from averment.text.source import MAX_DOCUMENT_DEPTH, read_source

pytestmark = pytest.mark.usefixtures("parser")

characters = st.characters(codec="utf-8", exclude_characters="\x85\u2028\u2029\ufeff")
texts = st.text(characters, max_size=12).filter(lambda text: yamlread._number(text) is None)
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda parts: st.lists(parts, max_size=4) | st.dictionaries(texts, parts, max_size=4),
    max_leaves=12,
)


def problems(text: str) -> tuple[Problem, ...]:
    with pytest.raises(DocumentError) as caught:
        read_source(text)
    return caught.value.problems


def places(text: str) -> list[tuple[str, int | None, int | None]]:
    return [(problem.code, problem.line, problem.column) for problem in problems(text)]


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
        *((text, text) for text in ("12:30", "2026-01-01", "1_000", "0b1", "0o8", "1e", ".", "--", "+.nan")),
        *((text, text) for text in ("=", "٣", "0x", "+0x1", "inf", "nan", "NaN", "-Infinity")),
    ],
)
def test_plain_scalars_mean_what_the_core_schema_says(written: str, value: object) -> None:
    """Plain scalars are null, booleans and numbers by YAML 1.2, and all others are strings."""
    read = read_source(f"key: {written}\n").value["key"]
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize("written", ["'{}'", '"{}"', "|-\n  {}\n", ">-\n  {}\n"])
@pytest.mark.parametrize("word", ["null", "true", "12", "1.5", ".nan"])
def test_scalars_that_are_not_plain_are_strings(written: str, word: str) -> None:
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
def test_the_forms_that_people_write_are_read(text: str, value: object) -> None:
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
def test_a_mistake_has_its_code_and_exact_place(text: str, place: tuple[str, int, int]) -> None:
    """Every kind of mistake is refused where it stands, and says what to do."""
    assert places(text) == [place]
    problem = problems(text)[0]
    assert problem.mend
    assert "this is not YAML" not in problem.message


def test_all_mistakes_that_are_not_of_syntax_are_reported_at_once() -> None:
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


def test_each_repetition_of_a_key_names_the_first() -> None:
    """A key that stands three times is two problems, both with the first place."""
    assert [(problem.line, problem.found) for problem in problems("a: 1\na: 2\nb: 0\na: 3\n")] == [
        (2, "the same key at line 1, column 1"),
        (4, "the same key at line 1, column 1"),
    ]


def test_each_unprintable_character_is_reported_once() -> None:
    """A file of rubbish gives one problem for each different character, in order."""
    assert places("a: \x07\x00\x07\x7f\n") == [
        ("invalid_character", 1, 4),
        ("invalid_character", 1, 5),
        ("invalid_character", 1, 7),
    ]
    assert problems("a: \x07")[0].mend == 'Delete it, or write it in double quotes as "\\x07".'


def test_a_wrong_escape_says_to_use_single_quotes() -> None:
    """The usual mistake with patterns has the usual mend."""
    assert "single quotes" in (problems('regex: "\\d+"')[0].mend or "")


def test_an_unclosed_bracket_names_where_it_was_opened() -> None:
    """The error stands where reading failed, and tells the line where the list starts."""
    assert "line 2, column 6" in problems("a:\n  b: [c,\n  d: e\n")[0].message


def test_depth_is_counted_in_containers() -> None:
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
def test_dumped_values_are_read_back(value: Any, flow: bool | None, width: int, unicode: bool) -> None:
    """Whatever PyYAML writes is read as it was."""
    text = yaml.safe_dump(value, default_flow_style=flow, width=width, allow_unicode=unicode, sort_keys=False)
    read = read_source(text).value if text.strip() else None
    assert read == value
    assert json.dumps(read) == json.dumps(value)


@given(st.lists(texts, min_size=1), st.sampled_from("'\"|>"))
@settings(max_examples=100, deadline=None)
def test_strings_dumped_in_every_style_are_read_back(value: list[str], style: str) -> None:
    """Quoted and block styles read back as PyYAML's own loader reads them."""
    text = yaml.safe_dump(value, default_style=style, allow_unicode=True)
    assume("!!" not in text)
    assert read_source(text).value == yaml.safe_load(text)


def test_mistakes_are_bounded() -> None:
    """A file that is wrong throughout gives as many problems as people could read."""
    assert len(problems("- *a\n" * 5000)) == reading._MAX_MISTAKES


def test_integers_that_python_is_configured_not_to_read_are_refused() -> None:
    """A lower bound on digits, set for the whole process, gives a problem and no traceback."""
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        assert places(f"a: {'9' * 641}\n") == [("number_too_large", 1, 4)]
    finally:
        sys.set_int_max_str_digits(before)


def test_yaml_that_was_imported_anew_is_read_all_the_same() -> None:
    """Some runners of tests unload what a test has imported; C extensions come back with the classes they had before."""
    code = (
        "import sys\n"
        "from averment.text.source import read_source\n"
        "read_source('a: [1]')\n"
        "for name in [name for name in sys.modules if name.partition('.')[0] == 'yaml']:\n"
        "    del sys.modules[name]\n"
        "print(read_source('a: [1]').value)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stdout == "{'a': [1]}\n"
