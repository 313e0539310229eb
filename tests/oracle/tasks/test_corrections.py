from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from averment.oracle.model.pack import Pack
from averment.oracle.tasks.corrections import correction_mistakes

Handmade = Callable[..., Pack]


def corrected(slots: dict[str, Any], updates: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "turn_policy": "correction",
            "assistant_milestones": [{"type": "ask_confirm"}, {"type": "tool_call", "tool": "get_book"}],
            "user_simulator_turns": [
                {"after": "ask_confirm", "content_template": {"en": "no"}, "slot_updates": updates}
            ],
            "slots": slots,
        }
    ]


@pytest.mark.parametrize(
    ("slot", "source", "message", "path"),
    [
        (
            {"source": "literal:1", "visible_in_first_turn": False},
            "literal:2",
            "the correction replaces the slot `book`, which the user has not stated in the first turn",
            (),
        ),
        (
            {"source": "fixture:books.book_id", "visible_in_first_turn": True},
            "literal:B-2",
            "the correction of `book` is drawn from another kind of source than the slot",
            ("source",),
        ),
        (
            None,
            "literal:2",
            "the correction replaces the slot `book`, which the template does not declare",
            (),
        ),
    ],
)
def test_a_correction_replaces_a_stated_value_by_one_of_its_kind(
    handmade: Handmade, slot: dict[str, Any] | None, source: str, message: str, path: tuple[str, ...]
) -> None:
    """Anything else would correct nothing."""
    pack = handmade(corrected({} if slot is None else {"book": slot}, {"book": {"source": source}}))
    ((declared, mistake),) = correction_mistakes(pack.templates[0])
    place = ("user_simulator_turns", 0, "slot_updates", "book")
    assert (declared.path, declared.entry) == (place, 0)
    assert (mistake.code, mistake.message, mistake.path) == ("invalid_slot_update", message, (*place, *path))


@pytest.mark.parametrize("source", ["books.pages", "fixture:books.book_id"])
def test_a_source_without_a_colon_is_of_the_same_kind_as_a_fixture(handmade: Handmade, source: str) -> None:
    """Kinds are compared, not their spelling."""
    slots = {"book": {"source": source, "visible_in_first_turn": True}}
    pack = handmade(corrected(slots, {"book": {"source": "fixture:books.book_id"}}))
    assert list(correction_mistakes(pack.templates[0])) == []
