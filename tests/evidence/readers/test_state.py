from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from averment.errors import EvidenceError
from averment.evidence import Evidence
from averment.evidence.model import EvidenceModel


def snapshots(model: EvidenceModel) -> list[tuple[str, str, list[dict[str, Any]]]]:
    """Resource, side and rows of every snapshot."""
    return [(snapshot.resource, snapshot.side, list(snapshot.rows)) for snapshot in model.states or ()]


def database(path: Path, *statements: str) -> Path:
    """A SQLite file in which these statements were run."""
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    return path


def test_rows_come_as_list_record_or_sides() -> None:
    """A list, one record, and records before and after are all snapshots."""
    state: dict[str, Any] = {
        "a": [{"k": 1}],
        "b": {"k": 2},
        "c": {"before": {"k": 3}, "after": [{"k": 4}]},
        "d": {"after": []},
        "e": None,
    }
    assert snapshots(Evidence(state=state).model) == [
        ("a", "only", [{"k": 1}]),
        ("b", "only", [{"k": 2}]),
        ("c", "after", [{"k": 4}]),
        ("c", "before", [{"k": 3}]),
        ("d", "after", []),
    ]


def test_rows_that_are_no_records_are_unreadable_and_noted() -> None:
    """What is no record can't be found, and the snapshot says that it holds such rows."""
    model = Evidence(state={"a": "text", "b": [{"k": 1}, 5]}).model
    assert [snapshot.unreadable for snapshot in model.states or ()] == [
        "rows must be a list or an object, not a string",
        "1 of 2 rows are no objects",
    ]
    assert [note.code for note in model.notes] == ["state_unreadable"] * 2
    assert model.coverage.state.state == "present"


def test_the_mock_adapter_is_its_data() -> None:
    """The reference's configuration with its data inside is read; an adapter that reaches out is refused."""
    assert snapshots(Evidence(state={"adapter": "mock", "data": {"a": {"k": 1}}}).model) == [
        ("a", "only", [{"k": 1}])
    ]
    for adapter in ({"adapter": "http"}, {"adapter": "mock", "sqlite_file": "x.db"}):
        with pytest.raises(EvidenceError) as error:
            Evidence(state=adapter)
        assert error.value.problems[0].code == "unsupported_adapter"


@pytest.mark.parametrize("state", ["x", 5, [1]])
def test_a_state_without_resources_is_refused(state: Any) -> None:
    """State is an object of resources; an empty list is an empty state."""
    with pytest.raises(EvidenceError):
        Evidence(state=state)
    assert Evidence(state=[]).model.states == ()


def test_each_table_of_a_database_is_a_resource(tmp_path: Path) -> None:
    """Tables are resources by name, and `__before` and `__after` are sides of one; the file's name doesn't matter."""
    path = database(
        tmp_path / "no extension?#",
        "CREATE TABLE orders (id INTEGER, status TEXT, amount REAL, note)",
        "INSERT INTO orders VALUES (1, 'open', 1.5, NULL)",
        "CREATE TABLE t__before (n)",
        "CREATE TABLE t__after (n)",
        "INSERT INTO t__after VALUES (2)",
        'CREATE TABLE "od""d" (n)',
    )
    model = Evidence.load(state=path).model
    assert snapshots(model) == [
        ('od"d', "only", []),
        ("orders", "only", [{"id": 1, "status": "open", "amount": 1.5, "note": None}]),
        ("t", "after", [{"n": 2}]),
        ("t", "before", []),
    ]
    assert model.sources[0].format == "sqlite"
    assert sorted(tmp_path.iterdir()) == [path]


def test_values_that_are_no_json_are_left_out_and_noted(tmp_path: Path) -> None:
    """Blobs and infinities leave their rows, invalid text keeps its bytes, views are not read; nothing crashes."""
    path = database(
        tmp_path / "s.db",
        "CREATE TABLE t (a, b, c)",
        "INSERT INTO t VALUES (x'00ff', 9e999, CAST(x'ff41' AS TEXT))",
        "CREATE VIEW v AS SELECT * FROM t",
    )
    evidence = Evidence.load(state=path)
    assert snapshots(evidence.model) == [("t", "only", [{"c": "\udcffA"}])]
    assert sorted(note.code for note in evidence.model.notes) == ["table_not_read", "value_not_json"]
    assert Evidence.from_bytes(evidence.to_json()).to_json() == evidence.to_json()


def test_a_database_with_changes_in_a_log_is_refused(tmp_path: Path) -> None:
    """Rows that stand only in a write-ahead log would be missed, so the database is not read."""
    connection = sqlite3.connect(tmp_path / "s.db")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE t (a)")
    connection.commit()
    with pytest.raises(EvidenceError) as error:
        Evidence.load(state=tmp_path / "s.db")
    assert error.value.problems[0].code == "state_not_checkpointed"
    connection.close()
    assert snapshots(Evidence.load(state=tmp_path / "s.db").model) == [("t", "only", [])]


def test_a_damaged_database_is_refused(tmp_path: Path) -> None:
    """A header alone, or a file cut short, is an evidence error."""
    path = database(tmp_path / "s.db", "CREATE TABLE t (a)", "INSERT INTO t VALUES ('secret')")
    whole = path.read_bytes()
    for damaged in (whole[:100], whole[:100] + b"\xff" * (len(whole) - 100)):
        path.write_bytes(damaged)
        with pytest.raises(EvidenceError) as error:
            Evidence.load(state=path)
        assert error.value.problems[0].code == "state_unreadable"


def test_a_database_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many values, and computed columns that never end, are refused without a clock."""
    path = database(tmp_path / "s.db", "CREATE TABLE t (a)", "INSERT INTO t VALUES (1), (2), (3)")
    monkeypatch.setattr("averment.evidence.readers.state_sqlite.MAX_CELLS", 2)
    with pytest.raises(EvidenceError) as error:
        Evidence.load(state=path)
    assert error.value.problems[0].code == "state_too_large"
    monkeypatch.undo()
    monkeypatch.setattr("averment.evidence.readers.state_sqlite._MAX_STEPS", 0)
    monkeypatch.setattr("averment.evidence.readers.state_sqlite._STEP", 1)
    with pytest.raises(EvidenceError) as error:
        Evidence.load(state=path)
    assert error.value.problems[0].code == "state_unreadable"


def test_a_database_is_no_conversation(tmp_path: Path) -> None:
    """A database given as a conversation is told as what it is."""
    path = database(tmp_path / "s.db", "CREATE TABLE t (a)")
    with pytest.raises(EvidenceError) as error:
        Evidence.load(path)
    assert error.value.problems[0].code == "swapped_arguments"
