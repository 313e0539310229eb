"""A system of record as a SQLite database: each table is a resource.

Tables `<name>__before` and `<name>__after` are the two snapshots of resource `<name>` (reference, section 12). The file
is opened read-only and immutable: nothing is written beside it, and no other process is waited for. Text that is no
UTF-8 keeps its bytes as surrogate escapes.

Known gaps: views and virtual tables are not read; blobs and infinities are no JSON values and are left out of their
rows. Each is noted. Changes that still stand in a log beside the file would be missed, so such a database is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NoReturn

from averment.errors import EvidenceError, Problem
from averment.evidence.draft import Draft, quoted
from averment.evidence.model import MAX_BYTES, StateSnapshot

if TYPE_CHECKING:
    import sqlite3

__all__ = ["HEADER", "MAX_CELLS", "read"]

HEADER = b"SQLite format 3\x00"
"""The first 16 bytes of every database: https://www.sqlite.org/fileformat.html, section 1.3."""

MAX_CELLS = 10_000_000
"""How many values are read from one database; their texts together are at most `MAX_BYTES` characters."""

_STEP = 10_000
_MAX_STEPS = 100_000
"""SQLite may take a thousand million steps of its virtual machine, far more than reading `MAX_CELLS` needs; a bound on
the work of computed columns that no clock decides."""

_MAX_VALUE_BYTES = 64_000_000


def read(path: str, source: str, draft: Draft) -> None:
    """Read every table of the database at `path`.

    Raises:
        EvidenceError: the database is damaged, over a limit, or has changes in a log beside it.
    """
    import sqlite3
    from pathlib import Path

    for suffix in ("-wal", "-journal"):
        if _has_content(path + suffix):
            message = f"the database has changes in `{suffix}` beside it that are not part of it yet"
            _refuse(
                path,
                "state_not_checkpointed",
                message,
                "Close the program that writes it, or copy it with `VACUUM INTO`.",
            )
    try:
        connection = sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro&immutable=1", uri=True)
        try:
            steps = iter(range(_MAX_STEPS))
            connection.set_progress_handler(lambda: next(steps, None) is None, _STEP)
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE_BYTES)
            connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
            connection.execute("PRAGMA trusted_schema = OFF")
            draft.states = _Database(connection, path, source, draft).snapshots()
        finally:
            connection.close()
    except (sqlite3.Error, UnicodeError) as error:
        # SQLite's own message may quote what it read, so only the kind of the error is told.
        message = f"SQLite can't read this database ({type(error).__name__})"
        _refuse(path, "state_unreadable", message, "Check it with `PRAGMA integrity_check`.")
    draft.cover("state", len(draft.states))


def _has_content(log: str) -> bool:
    """Whether a log holds changes; one that SQLite has done with is empty, or begins with zeros."""
    try:
        with open(log, "rb") as file:
            return any(file.read(8))
    except OSError:
        return False


def _refuse(path: str, code: str, message: str, mend: str) -> NoReturn:
    raise EvidenceError(Problem(code=code, message=message, file=path, mend=mend))


class _Database:
    def __init__(self, connection: sqlite3.Connection, path: str, source: str, draft: Draft) -> None:
        self._connection = connection
        self._path = path
        self._source = source
        self._draft = draft
        self._cells = 0
        self._characters = 0

    def snapshots(self) -> list[StateSnapshot]:
        # Views and virtual tables have no page of their own.
        listing = (
            "SELECT name, rootpage > 0 FROM sqlite_schema WHERE type IN ('table', 'view') AND typeof(name) = 'text'"
            " AND name NOT LIKE 'sqlite~_%' ESCAPE '~' ORDER BY name"
        )
        found = []
        for name, is_stored in self._connection.execute(listing).fetchall():
            if is_stored:
                resource, side = _resource(name)
                found.append(StateSnapshot(resource=resource, side=side, rows=self._rows(name)))
            else:
                detail = f"{quoted(name)} is a view or a virtual table"
                self._draft.note("table_not_read", f"{self._source}#", detail, "info")
        return found

    def _rows(self, table: str) -> tuple[dict[str, Any], ...]:
        identifier = table.replace('"', '""')
        cursor = self._connection.execute(f'SELECT * FROM "{identifier}"')  # noqa: S608 - a table's own name, quoted
        columns = [column[0] for column in cursor.description]
        rows = []
        dropped = 0
        for row in cursor:
            self._count(row)
            record = {column: value for column, value in zip(columns, row, strict=True) if _is_json(value)}
            dropped += len(row) - len(record)
            rows.append(record)
        if dropped:
            detail = f"{dropped} blobs or infinities in {quoted(table)} are left out"
            self._draft.note("value_not_json", f"{self._source}#", detail)
        return tuple(rows)

    def _count(self, row: tuple[Any, ...]) -> None:
        self._cells += len(row)
        self._characters += sum(len(value) for value in row if type(value) is str)
        if self._cells > MAX_CELLS or self._characters > MAX_BYTES:
            message = (
                f"the database holds more than {MAX_CELLS:,} values, or {MAX_BYTES:,} characters of text"
            )
            _refuse(self._path, "state_too_large", message, "Export the records that the assertions ask for.")


def _resource(table: str) -> tuple[str, Literal["before", "after", "only"]]:
    if table.endswith("__before"):
        return table.removesuffix("__before"), "before"
    if table.endswith("__after"):
        return table.removesuffix("__after"), "after"
    return table, "only"


def _is_json(value: Any) -> bool:
    if type(value) is float:
        return value - value == 0
    return type(value) is not bytes
