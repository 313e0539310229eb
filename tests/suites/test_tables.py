from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from averment.errors import Problem
from averment.suites import tables
from averment.suites.tables import Table, read_table


def _read(tmp_path: Path, text: str | bytes, name: str = "t.csv") -> tuple[Table | None, list[Problem]]:
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    problems: list[Problem] = []
    return read_table(str(path), problems), problems


def _told(tmp_path: Path, text: str | bytes, name: str = "t.csv") -> list[tuple[str, int | None]]:
    table, problems = _read(tmp_path, text, name)
    assert table is None
    return [(problem.code, problem.line) for problem in problems]


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("12", 12),
        ("-0.5", -0.5),
        ("19.90", 19.9),
        ("0", 0),
        ("true", True),
        ("false", False),
        ("null", None),
        ("007", "007"),
        ("+1", "+1"),
        ("1e5", "1e5"),
        (".5", ".5"),
        ("1.", "1."),
        (" 1", " 1"),
        ("True", "True"),
        ("NaN", "NaN"),
        ("", ""),
        ("١٢", "١٢"),
        ("1" * 400 + ".0", "1" * 400 + ".0"),
        ("9" * 5000, "9" * 5000),
        ("A-17", "A-17"),
    ],
)
def test_a_cell_is_what_json_would_read_it_as_or_text(tmp_path: Path, cell: str, value: Any) -> None:
    """Numbers without exponent, true, false and null; whatever else is text, and commands get the cell as written."""
    table, _ = _read(tmp_path, f"x,y\n{cell},z\n")
    assert table is not None
    row = table.rows[0]
    assert row.values["x"] == value
    assert type(row.values["x"]) is type(value)
    assert row.texts["x"] == cell


def test_a_case_is_named_by_its_column_or_its_number(tmp_path: Path) -> None:
    """As written, also where it looks like a number."""
    named, _ = _read(tmp_path, "case,x\n017,a\nb,c\n")
    numbered, _ = _read(tmp_path, "x\na\n\nb\n")
    assert named is not None
    assert numbered is not None
    assert [row.name for row in named.rows] == ["017", "b"]
    assert [(row.name, row.line) for row in numbered.rows] == [("1", 2), ("2", 4)]


def test_csv_is_read_as_spreadsheets_write_it(tmp_path: Path) -> None:
    """A byte order mark, CRLF, quotes and line breaks in cells."""
    table, _ = _read(tmp_path, '\ufeffcase,said\r\na,"one ""two""\r\nthree"\r\nb,x\r\n')
    assert table is not None
    assert table.columns == ("case", "said")
    assert table.rows[0].values["said"] == 'one "two"\r\nthree'
    assert [row.line for row in table.rows] == [2, 4]


def test_every_mistake_of_a_table_is_told_with_its_line(tmp_path: Path) -> None:
    """Ragged rows, names twice, names that are empty."""
    text = 'case,x\na,1\na,2\nb\n"c\nc",1,2\n,4\nd,5\n'
    table, problems = _read(tmp_path, text)
    assert table is None
    assert [(problem.code, problem.line) for problem in problems] == [
        ("duplicate_case", 3),
        ("ragged_row", 4),
        ("ragged_row", 5),
        ("empty_value", 7),
    ]
    assert "first on line 2" in problems[0].message


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", [("empty_table", None)]),
        ("a,b\n", [("empty_table", None)]),
        ("a,a\n1,2\n", [("duplicate_column", 1)]),
        ("a,\n1,2\n", [("bad_column", 1)]),
        ("a, b\n1,2\n", [("bad_column", 1)]),
        ("out,repeat\n1,2\n", [("bad_column", 1), ("bad_column", 1)]),
        ("a{,b\n1,2\n", [("bad_column", 1)]),
        ("a;b\n1;2\n", [("bad_separator", 1)]),
        ("a\tb\n1\t2\n", [("bad_separator", 1)]),
        ('a\n"b\n', [("csv_syntax", 2)]),
        ('a\n"b"c\n', [("csv_syntax", 2)]),
        (b"a\nb\xff\n", [("invalid_encoding", 2)]),
    ],
)
def test_a_table_that_is_none_is_refused(
    tmp_path: Path, text: str, told: list[tuple[str, int | None]]
) -> None:
    """With the line, where there is one."""
    assert _told(tmp_path, text) == told


def test_json_lines_keep_their_types(tmp_path: Path) -> None:
    """Text that looks like a number is text there."""
    table, _ = _read(tmp_path, '{"case": "a", "id": "007"}\n\n{"id": 7, "case": "b"}\n', "t.jsonl")
    assert table is not None
    assert [row.values["id"] for row in table.rows] == ["007", 7]
    assert [row.texts["id"] for row in table.rows] == ["007", "7"]
    assert [row.line for row in table.rows] == [1, 3]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", [("empty_table", None)]),
        ("{}\n", [("empty_table", 1)]),
        ("[1]\n{\n", [("wrong_type", 1), ("json_truncated", 2)]),
        ('{"a": 1}\n{"b": 1}\n', [("ragged_row", 2)]),
        ('{"a": 1, "a": 2}\n', [("duplicate_column", 1)]),
        ('{"a": [1]}\n{"a": NaN}\n', [("wrong_type", 1), ("wrong_type", 2)]),
        ('{"a": "\\ud800"}\n', [("invalid_character", 1)]),
        ('{"case": "a"}\n{"case": "a"}\n', [("duplicate_case", 2)]),
    ],
)
def test_json_lines_that_are_no_table_are_refused(
    tmp_path: Path, text: str, told: list[tuple[str, int | None]]
) -> None:
    """All mistakes at once, each with its line."""
    assert _told(tmp_path, text, "t.jsonl") == told


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    """The name says what it is; a missing file is told as such."""
    assert _told(tmp_path, "a\n1\n", "t.txt") == [("unknown_table", None)]
    problems: list[Problem] = []
    assert read_table(str(tmp_path / "none.csv"), problems) is None
    assert [problem.code for problem in problems] == ["file_not_found"]


def test_a_table_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In rows, in cells and as a whole; the `csv` module's limit, which all share, is put back."""
    limit = csv.field_size_limit()
    monkeypatch.setattr(tables, "MAX_ROWS", 2)
    assert _told(tmp_path, "a\n1\n2\n3\n") == [("too_many_cases", 4)]
    monkeypatch.setattr(tables, "MAX_CELL", 200_000)
    table, _ = _read(tmp_path, f"a\n{'x' * 200_000}\n")
    assert table is not None
    assert _told(tmp_path, f"a\n{'x' * 200_001}\n") == [("csv_syntax", 2)]
    assert _told(tmp_path, f'{{"a": "{"x" * 200_001}"}}\n', "t.jsonl") == [("cell_too_long", 1)]
    monkeypatch.setattr(tables, "MAX_COLUMNS", 2)
    assert _told(tmp_path, "a,b,c\n1,2,3\n") == [("too_many_columns", 1)]
    monkeypatch.setattr(tables, "MAX_TABLE_BYTES", 10)
    assert _told(tmp_path, "a\n" * 10) == [("table_too_large", None)]
    assert csv.field_size_limit() == limit


def test_mistakes_are_bounded(tmp_path: Path) -> None:
    """A hundred are told, and how many more there are."""
    table, problems = _read(tmp_path, "a,b\n" + "1\n" * 250)
    assert table is None
    assert len(problems) == 101
    assert problems[-1].message == "the table has 150 more mistakes"
