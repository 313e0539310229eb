"""From the fields of an entry to an entry: everything that can be known before anything runs is checked here."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import zip_longest

import msgspec
from msgspec import UNSET

from averment.errors import AvermentError, Problem, nearest
from averment.evidence.load import Reading
from averment.policies import POLICY
from averment.suites.entry import Entry, Production
from averment.suites.fields import DEFAULT_TIMEOUT, EntryFields, entry_mistakes
from averment.suites.kept import Kept, folder_names
from averment.suites.plans import Plans, document_path
from averment.suites.recordings import Recordings
from averment.suites.source import SuiteSource
from averment.suites.tables import Row, read_table
from averment.suites.templates import Template, template
from averment.text.structs import Mistake

__all__ = ["Checking", "default_name"]

_MAX_TOLD = 20
_MAX_BESIDE = 1000
_Path = tuple[str | int, ...]


def default_name(fields: EntryFields) -> str:
    """What an entry without a name is called: its first document's name without folders and extension."""
    if not fields.document_names:
        return ""
    base = os.path.basename(fields.document_names[0]).removeprefix("policy:")
    return base.rpartition(".")[0] or base


class Checking:
    """One entry being checked, with the mistakes found so far.

    Attributes:
        name: the entry's name.
        problems: the mistakes.
        case_names: the names of its cases, those that were not chosen among them.
    """

    def __init__(self, suite: SuiteSource, index: int, fields: EntryFields) -> None:
        self.name = default_name(fields) if fields.name is UNSET else fields.name
        self.problems: list[Problem] = []
        self.case_names: list[str] = []
        self._suite = suite
        self._folder = suite.folder
        self._path: _Path = (*suite.base, "suite", index)
        self._fields = fields
        self._columns: Sequence[str] = ()
        self._table_file: str | None = None

    def entry(
        self, only: Sequence[str], kept: Kept, folder_name: str, reading: Reading | None
    ) -> Entry | None:
        """The entry, with its chosen cases; None where none is chosen, or there are mistakes.

        Args:
            only: patterns of names of entries, of cases, or of both as `entry/case`; none for all.
            kept: where produced files go.
            folder_name: the name of the entry's folder there.
            reading: how conversations are read where the entry does not say.
        """
        fields = self._fields
        for mistake in entry_mistakes(fields):
            self._tell(mistake)
        missing = self._missing_files()
        all_rows = [] if fields.cases in missing else self._rows()
        rows = [row for row in all_rows if self._is_chosen(row, only)]
        if all_rows and not rows:
            return None
        plans = Plans([document_path(name, self._folder) for name in fields.document_names])
        if fields.document_names and rows and missing.isdisjoint(fields.document_names):
            self.problems += plans.check(rows)
        before = len(self.problems)
        globs = self._globs()
        production = self._production()
        files: list[list[str]] = []
        if rows and len(self.problems) == before:
            if production is not None:
                self._check_commands(production, rows)
            else:
                files = self._recordings(globs, rows)
        reading = (None if fields.mapping in missing else self._reading()) or reading
        if self.problems:
            return None
        return Entry(
            self.name,
            rows=rows,
            repeat=1 if fields.repeat is UNSET else fields.repeat,
            production=production,
            recordings=files,
            plans=plans,
            kept=kept,
            folder=self._folder,
            inconclusive_policy=None if fields.inconclusive_policy is UNSET else fields.inconclusive_policy,
            reading=reading,
            folder_name=folder_name,
            case_folders=folder_names(self.case_names),
            is_whole=len(rows) == len(all_rows),
            sources=[os.path.join(self._folder, name) for name, _ in self._named_files()],
        )

    def is_matched(self, pattern: str) -> bool:
        """Whether a pattern of `only` means this entry, or one of its cases."""
        return fnmatchcase(self.name, pattern) or any(
            fnmatchcase(name, pattern) or fnmatchcase(f"{self.name}/{name}", pattern)
            for name in self.case_names
        )

    def _is_chosen(self, row: Row, only: Sequence[str]) -> bool:
        names = [self.name] if row.name is None else [self.name, row.name, f"{self.name}/{row.name}"]
        return not only or any(fnmatchcase(name, pattern) for pattern in only for name in names)

    def _tell(self, mistake: Mistake) -> None:
        self.problems.append(mistake.at(self._suite.source, self._path))

    def _missing_files(self) -> set[object]:
        """The names of files that are not there, after telling them at their places in the suite."""
        missing: set[object] = set()
        for name, path in self._named_files():
            where = os.path.join(self._folder, name)
            if name.startswith(POLICY) or not name or os.path.lexists(where):
                continue
            missing.add(name)
            folder = os.path.dirname(name)
            try:
                beside = sorted(os.listdir(os.path.dirname(where) or os.curdir))[:_MAX_BESIDE]
            except OSError:
                beside = []
            near = nearest(os.path.basename(name), beside)
            self._tell(
                Mistake(
                    "file_not_found",
                    f"there is no file `{name[:200]}`",
                    path,
                    expected="a path relative to the suite file",
                    nearest=None if near is None else os.path.join(folder, near),
                    mend="Write the file, or mend its name.",
                )
            )
        return missing

    def _named_files(self) -> Iterator[tuple[str, _Path]]:
        """The files that the entry names, each with its place."""
        fields = self._fields
        if fields.document is not UNSET:
            yield fields.document, ("document",)
        for index, name in enumerate(() if fields.documents is UNSET else fields.documents):
            yield name, ("documents", index)
        if fields.cases is not UNSET:
            yield fields.cases, ("cases",)
        if fields.mapping is not UNSET:
            yield fields.mapping, ("mapping",)

    def _rows(self) -> Sequence[Row]:
        """Its cases; none where their table has mistakes."""
        if self._fields.cases is UNSET:
            return [Row(None, 0, {}, {})]
        self._table_file = os.path.join(self._folder, self._fields.cases)
        table = read_table(self._table_file, self.problems)
        if table is None:
            return []
        self._columns = table.columns
        self.case_names = [row.name for row in table.rows if row.name is not None]
        return table.rows

    @property
    def _has_columns(self) -> bool:
        """Whether the columns are known, so that placeholders can be checked."""
        return self._fields.cases is UNSET or bool(self._columns)

    def _template(self, text: str, known: Sequence[str], path: _Path, *, is_offset_known: bool) -> Template:
        """The template that a text is, after telling its mistakes; while the columns are unknown, none of placeholders."""
        mend = (
            None
            if self._fields.cases is not UNSET
            else "Give the entry `cases`; for braces write `{{` and `}}`."
        )
        made, mistakes = template(text, known, mend=mend)
        for mistake in mistakes:
            if self._has_columns or mistake.code != "unknown_placeholder":
                offset = mistake.offset if is_offset_known else None
                self._tell(msgspec.structs.replace(mistake, path=path, offset=offset))
        return made

    def _globs(self) -> list[Template]:
        given = self._fields.conversations
        if given is UNSET:
            return []
        known = () if self._fields.cases is UNSET else ("case", *self._columns)
        texts = (
            [(given, ("conversations",))]
            if isinstance(given, str)
            else [(text, ("conversations", index)) for index, text in enumerate(given)]
        )
        return [self._template(text, known, path, is_offset_known=True) for text, path in texts]

    def _recordings(self, globs: Sequence[Template], rows: Sequence[Row]) -> list[list[str]]:
        """The files of each case, after telling globs and cases without any."""
        found = Recordings(globs, self._folder)
        is_empty = [True] * len(globs)
        for row in rows:
            is_empty = [
                so_far and not files for so_far, files in zip(is_empty, found.all(_texts(row)), strict=True)
            ]
        for index in (index for index, empty in enumerate(is_empty) if empty):
            is_listed = not isinstance(self._fields.conversations, str)
            self._tell(
                Mistake(
                    "no_conversations",
                    f"the glob `{globs[index].text[:200]}` matches nothing",
                    ("conversations", index) if is_listed else ("conversations",),
                    expected="recordings, relative to the suite file",
                    mend="Record conversations there, or mend the glob.",
                )
            )
        files = [found.of(_texts(row)) for row in rows]
        if any(files):
            self._check_counts(rows, files)
        return files

    def _check_counts(self, rows: Sequence[Row], files: Sequence[Sequence[str]]) -> None:
        """Tells cases without a recording, and those that have not as many as they are repeated."""
        wanted = self._fields.repeat
        counted = list(zip(rows, files, strict=True))
        self._tell_cases(
            [row for row, found in counted if not found],
            "no_conversations",
            "has no recording",
            "one at least",
        )
        if wanted is not UNSET:
            self._tell_cases(
                [row for row, found in counted if found and len(found) != wanted],
                "repeat_mismatch",
                "has not as many recordings as `repeat` says",
                f"{wanted} for every case",
                found=[str(len(found)) for _, found in counted if found and len(found) != wanted],
            )

    def _tell_cases(
        self, rows: Sequence[Row], code: str, what: str, expected: str, *, found: Sequence[str] = ()
    ) -> None:
        for row, number in zip_longest(rows[:_MAX_TOLD], found[:_MAX_TOLD]):
            if row.name is None:
                message = f"the entry {what}"
                self._tell(Mistake(code, message, ("conversations",), expected=expected, found=number))
            else:
                self.problems.append(
                    Problem(
                        code=code,
                        message=f"the case `{row.name[:60]}` {what}",
                        file=self._table_file,
                        line=row.line,
                        expected=expected,
                        found=number,
                    )
                )
        if len(rows) > _MAX_TOLD:
            message = f"the same holds of {len(rows) - _MAX_TOLD:,} more cases"
            self.problems.append(Problem(code=code, message=message, file=self._table_file))

    def _production(self) -> Production | None:
        given = self._fields.produce
        if given is UNSET:
            return None
        of_cases = () if self._fields.cases is UNSET else ("case", *self._columns)
        known = ("out", "repeat", *of_cases)
        if isinstance(given, str):
            try:
                texts: list[tuple[str, _Path]] = [(word, ("produce",)) for word in shlex.split(given)]
            except ValueError:
                message, mend = (
                    "a quotation mark in the command is not closed",
                    "Write the command as a list.",
                )
                self._tell(Mistake("bad_command", message, ("produce",), mend=mend))
                return None
        else:
            texts = [(word, ("produce", index)) for index, word in enumerate(given)]
        words = [
            self._template(text, known, path, is_offset_known=not isinstance(given, str))
            for text, path in texts
        ]
        if not any("out" in word.names for word in words):
            message = "the command is not told where to write"
            expected = "`{out}` in one of its arguments"
            mend = "Have the command write what was recorded to the file that `{out}` stands for."
            self._tell(Mistake("no_output", message, ("produce",), expected=expected, mend=mend))
        timeout = self._fields.timeout
        return Production(words, DEFAULT_TIMEOUT if timeout is UNSET else timeout)

    def _check_commands(self, production: Production, rows: Sequence[Row]) -> None:
        """Tells arguments that no command can be given, and programs that are not there."""
        programs: dict[str, None] = {}
        wrong = []
        for row in rows:
            texts = {**_texts(row), "out": "", "repeat": ""}
            words = [word.filled(texts) for word in production.words]
            programs[words[0]] = None
            if any("\0" in word for word in (*words, row.name or "")):
                wrong.append(row)
        self._tell_cases(
            wrong, "bad_argument", "has a null character, which no argument can hold", "a text without"
        )
        for program in [*programs][:_MAX_TOLD]:
            if "\0" not in program and not self._is_program(program):
                self._tell(
                    Mistake(
                        "program_not_found",
                        f"there is no program `{program[:60]}`",
                        ("produce",),
                        expected="one on the PATH, or a path relative to the suite file that may be executed",
                        mend=self._program_mend(program),
                    )
                )

    def _program_mend(self, name: str) -> str:
        path = os.path.join(self._folder, name)
        if not os.path.isfile(path):
            return "Install it, or mend its name."
        if os.sep not in name and os.access(path, os.X_OK):
            return f"The file beside the suite is `{os.path.join(os.curdir, name)}`."
        return "The file may not be executed: allow it (`chmod +x`), or name the interpreter first."

    def _is_program(self, name: str) -> bool:
        if os.sep not in name:
            return shutil.which(name) is not None
        path = os.path.join(self._folder, name)
        return os.path.isfile(path) and os.access(path, os.X_OK)

    def _reading(self) -> Reading | None:
        """How its conversations are read, where it says so."""
        from averment.evidence.detect import named
        from averment.evidence.mapping import Mapping as FormatMapping
        from averment.evidence.mapping import mapped

        name, mapping = self._fields.from_format, self._fields.mapping
        try:
            if name is not UNSET:
                return named(name)
            if mapping is not UNSET:
                return mapped(FormatMapping.load(os.path.join(self._folder, mapping)))
        except AvermentError as error:
            for problem in error.problems:
                if problem.file is not None:
                    self.problems.append(problem)
                else:
                    told = {key: getattr(problem, key) for key in ("expected", "found", "nearest", "mend")}
                    self._tell(Mistake(problem.code, problem.message, ("from",), **told))
        return None


def _texts(row: Row) -> Mapping[str, str]:
    """What placeholders of a case stand for."""
    return row.texts if row.name is None else {**row.texts, "case": row.name}
