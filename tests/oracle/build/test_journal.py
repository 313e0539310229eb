from __future__ import annotations

from pathlib import Path

import pytest

from averment.errors import UsageError
from averment.oracle.build.journal import Entry, Journal

SUBJECT = {"run_id": "one"}
ENTRIES = [
    Entry(task_id="a", reason=None, row=b'{"text":"\\t\\n"}'),
    Entry(task_id="b\t\ud800", reason="assertion_failed", row=b"{}"),
    Entry(task_id="c", reason=None, row='{"town":"Łódź"}'.encode()),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A journal with all entries."""
    with Journal(tmp_path / "journal", SUBJECT) as journal:
        for entry in ENTRIES:
            journal.add(entry)
    return tmp_path / "journal"


def read(path: Path, subject: object = None) -> list[Entry]:
    with Journal(path, {"run_id": subject} if subject else SUBJECT) as journal:
        return list(journal.entries())


def test_what_was_added_is_there_again(path: Path) -> None:
    """Ids and rows as they were, whatever is in them."""
    assert read(path) == ENTRIES


def test_a_line_that_was_cut_off_is_no_line(path: Path) -> None:
    """Wherever it was cut: what is whole before it is kept, and what is added comes after that."""
    whole = path.read_bytes()
    ends = [index + 1 for index, byte in enumerate(whole) if byte == ord("\n")]
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        kept = max(sum(end <= cut for end in ends) - 1, 0)
        assert read(path) == ENTRIES[:kept]
        with Journal(path, SUBJECT) as journal:
            for entry in ENTRIES[kept:]:
                journal.add(entry)
        assert path.read_bytes() == whole


@pytest.mark.parametrize("junk", [b"\0\0\0\n", b"[]\t{}\n", b"{}\n", b'["a"]\t{}\n', b"7\t{}\n", b"[\t\n"])
def test_what_is_no_entry_ends_the_journal(path: Path, junk: bytes) -> None:
    """After a loss of power the end may hold anything."""
    path.write_bytes(path.read_bytes() + junk)
    assert read(path) == ENTRIES


def test_a_journal_of_something_else_is_begun_anew(path: Path) -> None:
    """Its first line decides."""
    assert read(path, "two") == []
    assert path.read_bytes() == b'{"run_id":"two"}\n'


@pytest.mark.parametrize("count", [0, 1, 3])
def test_entries_after_the_first_few_can_be_forgotten(path: Path, count: int) -> None:
    """What is added next comes after those that are kept."""
    with Journal(path, SUBJECT) as journal:
        journal.keep(count)
        journal.add(ENTRIES[0])
    assert read(path) == [*ENTRIES[:count], ENTRIES[0]]


def test_it_is_removed_once(path: Path) -> None:
    """And that it is gone already is no mistake."""
    with Journal(path, SUBJECT) as journal:
        journal.remove()
        journal.remove()
    assert not path.exists()


def test_a_journal_that_can_not_be_written_is_told(tmp_path: Path) -> None:
    """With its path."""
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError) as caught:
        Journal(tmp_path / "folder", SUBJECT)
    assert caught.value.problems[0].file == str(tmp_path / "folder")
