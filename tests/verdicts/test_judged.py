from __future__ import annotations

import os

import pytest

from averment.verdicts.judged import Case, Judged, Produced, named


@pytest.mark.parametrize(
    ("case", "name"),
    [
        (None, "calls/f.json"),
        (Case(suite="s"), "s: calls/f.json"),
        (Case(suite="s", name="c"), "s: c"),
        (Case(suite="s", name="c", repeat=1, repeats=3), "s: c"),
        (Case(suite="s", name="c", repeat=2, repeats=3), "s: c #2"),
    ],
)
def test_conversations_are_called_by_their_cases(case: Case | None, name: str) -> None:
    """The first repetition bears no number, so that it is the same one when others are added."""
    assert named("calls/f.json", case) == name
    entry = Judged(envelope={}, conversation="calls/f.json", document="d", files=[], case=case)
    assert entry.label == name


def test_what_a_command_made_without_cases_is_called_by_its_entry() -> None:
    """Where its file is kept says nothing, and `--keep` changes it."""
    case = Case(suite="s", repeat=2, repeats=3)
    assert named("kept/2.json", case, is_produced=True) == "s #2"
    assert named("kept/c/2.json", Case(suite="s", name="c"), is_produced=True) == "s: c"
    made = Judged(
        envelope={}, conversation="k", document="d", files=[], case=case, produced=Produced(file="k")
    )
    assert made.label == "s #2"


def test_no_name_has_a_folder_of_this_machine() -> None:
    """An absolute path is shown relative to the working folder, or as the file's name alone."""
    assert named(os.path.join(os.getcwd(), "calls", "f.json"), None) == os.path.join("calls", "f.json")
    assert named("/elsewhere/of/mine/f.json", Case(suite="s")) == "s: f.json"
