from __future__ import annotations

from typing import Any

import pytest

from averment.errors import EvidenceError
from averment.evidence import Evidence


def test_a_misspelt_key_is_an_error_with_the_nearest_name() -> None:
    """A transcript under a wrong name must not become a conversation without one."""
    with pytest.raises(EvidenceError) as error:
        Evidence.from_record({"transcipt": [], "spans": []})
    assert [(problem.code, problem.path, problem.nearest) for problem in error.value.problems] == [
        ("unknown_key", "$.transcipt", "transcript")
    ]


@pytest.mark.parametrize("record", [{"spans": [], "trace": []}, {"conversation_id": "a", "call_id": "a"}])
def test_two_names_of_one_thing_are_an_error(record: dict[str, Any]) -> None:
    """Which of the two would count can't be known."""
    with pytest.raises(EvidenceError) as error:
        Evidence.from_record(record)
    assert [problem.code for problem in error.value.problems] == ["given_twice"]
    assert Evidence.from_record({**dict.fromkeys(record), "trace": []}).model.spans == ()


@pytest.mark.parametrize("key", ["conversation_id", "call_id"])
def test_either_name_of_the_id_is_read(key: str) -> None:
    """`call_id` and `conversation_id` name the conversation alike, and must be text."""
    assert Evidence.from_record({key: "c"}).model.conversation_id == "c"
    with pytest.raises(EvidenceError):
        Evidence.from_record({key: 5})


@pytest.mark.parametrize("record", [[], "x", None, 5])
def test_a_record_is_an_object(record: Any) -> None:
    """Nothing else is a record."""
    with pytest.raises(EvidenceError):
        Evidence.from_record(record)
