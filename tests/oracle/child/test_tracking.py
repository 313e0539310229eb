from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from averment.oracle.child.frozen import FrozenError
from averment.oracle.child.tracking import watched

TASK: dict[str, Any] = {
    "task_id": "t",
    "slots": {"book": "B-1"},
    "slots_initial": {"book": "B-0"},
    "slot_updates": [
        {"entry_index": 0, "values": {}, "aliases": {"second": "x"}},
        {"entry_index": 2, "values": {"book": "B-1"}, "aliases": {}},
    ],
}
UNRESOLVED = {
    "unresolved_slots": ["day"],
    "unresolved_slots_initial": ["day", "hour"],
    "unresolved_slot_updates": [{"update_index": 0, "entry_index": 0, "slots": ["day"]}],
}


def reads(read: Callable[[Any], object], task: dict[str, Any] = TASK) -> list[str]:
    """The paths that are noted when `read` has been at the task."""
    copied, found = watched(task, UNRESOLVED)
    read(copied)
    return sorted(found)


@pytest.mark.parametrize(
    ("read", "noted"),
    [
        (lambda task: task["slots"].get("day"), ["slots.day"]),
        (lambda task: "day" in task["slots"], ["slots.day"]),
        (lambda task: task.get("slots", {}).get("book"), []),
        (lambda task: task["slots"]["book"], []),
        (lambda task: "book" in task["slots"], []),
        (lambda task: task["slots"] or {}, []),
        (lambda task: task["task_id"], []),
        (list, []),
        (lambda task: task["slots_initial"].get("hour"), ["slots_initial.hour"]),
        (lambda task: task["slots_initial"].get("book"), []),
        (lambda task: task["slot_updates"][0]["values"].get("day"), ["slot_updates[0].values.day"]),
        (lambda task: task["slot_updates"][1]["values"].get("day"), []),
        (lambda task: task["slot_updates"][0]["aliases"].get("second"), []),
        (lambda task: task["slot_updates"][0]["aliases"].get("third"), ["slot_updates[0].aliases.third"]),
    ],
)
def test_a_read_of_what_is_not_known_is_noted_and_no_other(
    read: Callable[[Any], object], noted: list[str]
) -> None:
    """A predicate that reads other slots is judged as ever."""
    assert reads(read) == noted


@pytest.mark.parametrize(
    "read",
    [
        len,
        list,
        dict,
        copy.copy,
        copy.deepcopy,
        repr,
        json.dumps,
        reversed,
        lambda slots: slots == {},
        lambda slots: slots != {},
        lambda slots: slots | {},
        lambda slots: {} | slots,
        lambda slots: slots.copy(),
        lambda slots: slots.keys(),
        lambda slots: slots.values(),
        lambda slots: slots.items(),
        lambda slots: {**slots},
        lambda slots: [*slots],
        lambda slots: "{book}".format(**slots),
    ],
)
def test_a_read_of_all_slots_is_a_read_of_each(read: Callable[[Any], object]) -> None:
    """The answer depends on slots that are not there."""
    assert reads(lambda task: read(task["slots"])) == ["slots.day"]


@pytest.mark.parametrize("read", [copy.deepcopy, repr, json.dumps, lambda task: task == {**TASK}])
def test_a_read_of_the_whole_task_is_a_read_of_each(read: Callable[[Any], object]) -> None:
    """A copy of the task is no way round."""
    assert "slots.day" in reads(read)


def test_a_key_error_is_noted_before_it_is_raised() -> None:
    """The predicate may catch it."""
    copied, found = watched(TASK, UNRESOLVED)
    with pytest.raises(KeyError):
        copied["slots"]["day"]
    assert found == {"slots.day"}


def test_the_truth_of_an_empty_mapping_depends_on_what_is_not_known() -> None:
    """`task.get("slots") or {}` is no way round where no slot is known at all."""
    assert reads(lambda task: task["slots"] or {}, {**TASK, "slots": {}}) == ["slots.day"]


def test_the_copy_can_not_be_changed_and_the_task_is_left_alone() -> None:
    """What is watched is frozen, like everything that a predicate is given."""
    copied, _ = watched(TASK, UNRESOLVED)
    with pytest.raises(FrozenError):
        copied["slots"]["book"] = "B-9"
    with pytest.raises(FrozenError):
        copied["slots"] = {}
    assert type(TASK["slots"]) is dict


def test_a_task_without_the_mapping_has_nothing_to_watch() -> None:
    """A slot that is named as unresolved may belong to a task that has no slots."""
    copied, found = watched({"slots": None}, {"unresolved_slots": ["day"]})
    assert copied["slots"] is None
    assert found == set()
