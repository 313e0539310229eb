from __future__ import annotations

import pytest

from averment.report.identity import conversation_key
from averment.verdicts.judged import Case, Judged, Produced


def key(file: str, case: Case | None, *, is_produced: bool) -> tuple[str, ...]:
    produced = Produced(file=file) if is_produced else None
    return conversation_key(
        Judged(envelope={}, conversation=file, document="d", files=[], case=case, produced=produced)
    )


@pytest.mark.parametrize("case", [Case(suite="s", name="c"), Case(suite="s")])
def test_where_a_command_writes_is_no_part_of_an_identity(case: Case) -> None:
    """`--keep` moves what is produced, and it is the same conversation all the same."""
    assert key("kept/1.json", case, is_produced=True) == key("elsewhere/1.json", case, is_produced=True)
    again = Case(suite="s", name=case.name, repeat=2, repeats=2)
    assert key("kept/1.json", again, is_produced=True) != key("kept/1.json", case, is_produced=True)


def test_recordings_without_cases_are_known_by_their_files() -> None:
    """In a suite and outside of one; a case is known by its name wherever its recording is."""
    for case in (None, Case(suite="s")):
        assert key("a.json", case, is_produced=False) != key("b.json", case, is_produced=False)
    named = Case(suite="s", name="c")
    assert key("a.json", named, is_produced=False) == key("b.json", named, is_produced=False)
