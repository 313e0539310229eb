"""Tables of cases: CSV with a header, or JSON Lines of flat objects with the same keys.

A cell of CSV is a number, `true`, `false` or `null` where it is written exactly as JSON writes one without an exponent
(`12`, `-0.5`; not `007`, `+1`, `1e5`), and text otherwise. Text that looks like a number needs JSON Lines. Commands and
globs are given the cell as it is written.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Callable, Iterator, Mapping

import msgspec

from averment.documents.fields import Scalar
from averment.errors import EvidenceError, Problem
from averment.text.jsontext import JSONProblem, NonFinite, canonical, decode
from averment.text.reading import is_whole

__all__ = ["MAX_CELL", "MAX_COLUMNS", "MAX_ROWS", "MAX_TABLE_BYTES", "RESERVED", "Row", "Table", "read_table"]

MAX_ROWS = 100_000
"""Cases in one table."""
MAX_COLUMNS = 1000
"""Columns of one table."""
MAX_CELL = 2**20
"""Characters of one cell."""
MAX_TABLE_BYTES = 64 * 2**20
"""The longest table."""
RESERVED = ("out", "repeat")
"""Placeholders of commands, which no column may be called."""

_MAX_PROBLEMS = 100
_NAME = "case"
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,4000})(?:\.[0-9]{1,4000})?")
_WORDS: Mapping[str, Scalar] = {"true": True, "false": False, "null": None}


class Row(msgspec.Struct, frozen=True):
    """One case.

    Attributes:
        name: its name: what stands in the column `case`, else its number; None for the one case of an entry without a
            table.
        line: the line of the table that it starts on.
        values: its values, with their types, for documents.
        texts: the same as text, as it is written, for commands and globs.
    """

    name: str | None
    line: int
    values: Mapping[str, Scalar]
    texts: Mapping[str, str]


class Table(msgspec.Struct, frozen=True):
    """A checked table: at least one column and one row, and no name twice."""

    file: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


class _Refused(Exception):  # noqa: N818 - it is no error, it carries one
    """A table of which no more can be read."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.problem = problem


class _Raw(msgspec.Struct, frozen=True):
    """A row before it is checked."""

    line: int
    values: dict[str, Scalar]
    texts: dict[str, str]


def read_table(path: str, problems: list[Problem]) -> Table | None:
    """The table in a file, or None after adding each of its mistakes to `problems`."""
    reading = _Reading(path)
    try:
        rows = list(reading.rows(_text(path)))
        if not rows and not reading.problems:
            reading.tell("empty_table", "the table has no cases", expected="at least one row")
    except _Refused as refused:
        reading.problems.append(refused.problem)
    if reading.problems:
        problems += _cut(reading.problems, path)
        return None
    return Table(path, reading.columns, tuple(_named(rows)))


def _cut(problems: list[Problem], path: str) -> list[Problem]:
    if len(problems) <= _MAX_PROBLEMS:
        return problems
    more = f"the table has {len(problems) - _MAX_PROBLEMS:,} more mistakes"
    return [*problems[:_MAX_PROBLEMS], Problem(code="more_mistakes", message=more, file=path)]


def _named(rows: list[_Raw]) -> Iterator[Row]:
    for number, row in enumerate(rows, 1):
        yield Row(row.texts.get(_NAME, str(number)), row.line, row.values, row.texts)


def _text(path: str) -> str:
    from averment.evidence.load import read_input

    try:
        data, _ = read_input(path)
    except EvidenceError as error:
        raise _Refused(error.problems[0]) from None
    if len(data) > MAX_TABLE_BYTES:
        expected = f"at most {MAX_TABLE_BYTES // 2**20} MB"
        raise _Refused(
            Problem(code="table_too_large", message="the table is too large", file=path, expected=expected)
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _Refused(
            Problem(
                code="invalid_encoding",
                message="the table is not UTF-8",
                file=path,
                line=line,
                found=f"the byte 0x{data[error.start]:02X}",
                mend="Save it as UTF-8.",
            )
        ) from None


class _Reading:
    """One table being read, with the mistakes found so far."""

    def __init__(self, path: str) -> None:
        self.problems: list[Problem] = []
        self.columns: tuple[str, ...] = ()
        self._path = path
        self._names: dict[str, int] = {}
        self._count = 0

    def rows(self, text: str) -> Iterator[_Raw]:
        """The rows that are right; those that are not add their mistakes."""
        kinds: dict[str, Callable[[str], Iterator[_Raw]]] = {
            "csv": self._csv,
            "jsonl": self._json_lines,
            "ndjson": self._json_lines,
        }
        read = kinds.get(self._path.rpartition(".")[2].lower())
        if read is None:
            expected = "a table, .csv or .jsonl"
            raise _Refused(
                Problem(
                    code="unknown_table",
                    message="this is no table of cases",
                    file=self._path,
                    expected=expected,
                )
            )
        for row in read(text):
            self._count += 1
            if self._count > MAX_ROWS:
                expected = f"at most {MAX_ROWS:,}"
                raise _Refused(
                    self._problem("too_many_cases", "there are too many cases", row.line, expected)
                )
            if self._is_right(row):
                yield row

    def tell(self, code: str, message: str, line: int | None = None, expected: str | None = None) -> None:
        """Notes a mistake."""
        self.problems.append(self._problem(code, message, line, expected))

    def _problem(
        self, code: str, message: str, line: int | None = None, expected: str | None = None
    ) -> Problem:
        return Problem(code=code, message=message, file=self._path, line=line, expected=expected)

    def _is_right(self, row: _Raw) -> bool:
        before = len(self.problems)
        for column, text in row.texts.items():
            if len(text) > MAX_CELL:
                message = f"the value of `{column[:60]}` is too long"
                self.tell("cell_too_long", message, row.line, f"at most {MAX_CELL:,} characters")
            elif not is_whole(text):
                message = f"the value of `{column[:60]}` holds half of a surrogate pair"
                self.tell("invalid_character", message, row.line, "whole characters")
        name = row.texts.get(_NAME)
        if name == "":
            self.tell(
                "empty_value", "the case has no name", row.line, "a text of its own in the column `case`"
            )
        elif name is not None and name in self._names:
            message = f"the case `{name[:60]}` stands there twice (first on line {self._names[name]})"
            self.tell("duplicate_case", message, row.line, "a name of its own for every case")
        elif name is not None:
            self._names[name] = row.line
        return len(self.problems) == before

    def _declare(self, columns: list[str], line: int) -> None:
        """Takes the header, or the keys of the first object."""
        self.columns = tuple(columns)
        if len(columns) > MAX_COLUMNS:
            expected = f"at most {MAX_COLUMNS:,}"
            raise _Refused(self._problem("too_many_columns", "there are too many columns", line, expected))
        if len(columns) == 1 and (separator := next((s for s in ";\t" if s in columns[0]), None)):
            name = "tabs" if separator == "\t" else "semicolons"
            raise _Refused(
                self._problem("bad_separator", f"the columns are parted by {name}", line, "commas")
            )
        for index, column in enumerate(columns):
            if column in columns[:index]:
                message = f"the column `{column[:60]}` stands there twice"
                self.tell("duplicate_column", message, line, "a name of its own for every column")
            elif not column:
                self.tell("bad_column", f"column {index + 1} has no name", line, "a name for every column")
            elif column != column.strip() or not column.isprintable() or not {"{", "}"}.isdisjoint(column):
                message = f"`{column[:60]}` can't be the name of a column"
                self.tell("bad_column", message, line, "a name without braces, and without spaces around it")
            elif column in RESERVED:
                message = f"a column can't be called `{column}`, which is a placeholder of commands"
                self.tell("bad_column", message, line, f"another name than {' and '.join(RESERVED)}")
        if self.problems:
            raise _Refused(self.problems.pop())

    def _csv(self, text: str) -> Iterator[_Raw]:
        lines = csv.reader(io.StringIO(text, newline=""), strict=True)
        end = 0
        # The limit is the module's, for all who use it: it is put back.
        limit = csv.field_size_limit(MAX_CELL)
        try:
            for cells in lines:
                line, end = end + 1, lines.line_num
                if not cells:
                    continue  # a blank line
                if not self.columns:
                    self._declare(cells, line)
                elif len(cells) != len(self.columns):
                    expected = f"{len(self.columns)}, as in the header"
                    told = "the row has one cell" if len(cells) == 1 else f"the row has {len(cells)} cells"
                    self.tell("ragged_row", told, line, expected)
                else:
                    texts = dict(zip(self.columns, cells, strict=True))
                    yield _Raw(line, {name: _cell(cell) for name, cell in texts.items()}, texts)
        except csv.Error as error:
            raise _Refused(self._problem("csv_syntax", f"this is no CSV: {error}", end + 1)) from None
        finally:
            csv.field_size_limit(limit)
        if not self.columns:
            raise _Refused(self._problem("empty_table", "the table is empty", None, "a header and rows"))

    def _json_lines(self, text: str) -> Iterator[_Raw]:
        for number, line in enumerate(text.split("\n"), 1):
            if not line.strip():
                continue
            row = self._object(line, number)
            if row is not None:
                yield row

    def _object(self, line: str, number: int) -> _Raw | None:
        try:
            decoded = decode(line)
        except JSONProblem as problem:
            self.problems.append(
                Problem(
                    code=problem.code,
                    message=problem.message,
                    file=self._path,
                    line=number,
                    column=problem.column,
                    expected="one object on each line",
                )
            )
            return None
        value = decoded.value
        if not isinstance(value, dict):
            self.tell("wrong_type", "the line is no object", number, "an object of values")
            return None
        for path in decoded.duplicates:
            self.tell("duplicate_column", f"the key `{str(path[-1])[:60]}` stands there twice", number)
        if not self.columns:
            self._declare(list(value), number)
        odd = sorted(value.keys() ^ set(self.columns))
        if odd:
            expected = f"the keys of the first line: {', '.join(self.columns)[:200]}"
            self.tell("ragged_row", f"the line has other keys, `{odd[0][:60]}` among them", number, expected)
        held = [name for name, cell in value.items() if isinstance(cell, dict | list | NonFinite)]
        for name in held:
            expected = "a string, a finite number, true, false or null"
            self.tell("wrong_type", f"the value of `{name[:60]}` is none for a case", number, expected)
        if odd or held or decoded.duplicates:
            return None
        if not value:
            self.tell("empty_table", "the line has no values", number, "an object of values")
            return None
        return _Raw(number, value, {name: _written(cell) for name, cell in value.items()})


def _cell(text: str) -> Scalar:
    """What a cell of CSV is."""
    if text in _WORDS:
        return _WORDS[text]
    if not _NUMBER.fullmatch(text):
        return text
    number = float(text) if "." in text else int(text)
    return text if number in (math.inf, -math.inf) else number


def _written(value: Scalar) -> str:
    """A value of JSON as text."""
    return value if isinstance(value, str) else canonical(value).decode()
