from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from averment.oracle.checks.template_slot_sources import CHECK
from averment.oracle.findings import Failure
from averment.oracle.model.pack import Pack

Handmade = Callable[..., Pack]


def failures(pack: Pack) -> list[Failure]:
    bench: Any = SimpleNamespace(pack=pack)
    return list(CHECK.run(bench))


def template(source: str, filter_text: str | None = None) -> dict[str, Any]:
    slot = {"source": source, "visible_in_first_turn": True}
    if filter_text is not None:
        slot["filter"] = filter_text
    return {
        "turn_policy": "single_turn",
        "slots": {"book": slot},
        "assistant_milestones": [{"type": "tool_call", "tool": "get_book"}],
    }


def correction(source: str, slot: str = "book") -> dict[str, Any]:
    update = {slot: {"source": source}}
    turn = {"after": "tool_call", "content_template": {"en": "no"}, "slot_updates": update}
    return {**template("fixture:books.book_id"), "user_simulator_turns": [turn]}


def test_the_check_has_its_id_and_every_reason_has_a_mend() -> None:
    """As the report has them."""
    assert (CHECK.id, CHECK.name) == ("2", "template_slot_sources")
    assert len(CHECK.reasons) == 12
    assert all(reason.about.endswith(".") and reason.mend.endswith(".") for reason in CHECK.reasons.values())


@pytest.mark.parametrize(
    ("source", "filter_text", "reason"),
    [
        (" ", None, "missing_source"),
        ("fixture:books", None, "bad_fixture_path"),
        ("fixture:readers.reader_id", None, "unknown_collection"),
        ("fixture:books.book_id", "pages > 1 or pages < 1", "unevaluable_filter"),
        ("fixture:books.book_id", "pages > 'x'", "unevaluable_filter"),
        ("fixture:books.book_id", "pages > 999", "filter_matches_zero"),
        ("fixture:books.title", None, "filter_matches_zero"),
        ("fixture:loans.x", None, "primary_key_ambiguous"),
        ("fixture:pages.x", None, "fixture_row_missing_primary_key"),
        ("enum:get_book", None, "bad_enum_path"),
        ("enum:get_book.book_id", None, "enum_missing"),
        ("literal:[]", None, "invalid_source"),
        ("range:{min: 5, max: 1}", None, "invalid_source"),
        ("absent:readers", None, "invalid_source"),
        ("file:books.csv", None, "unknown_source_kind:file"),
    ],
)
def test_each_reason_has_its_smallest_pack(
    handmade: Handmade, source: str, filter_text: str | None, reason: str
) -> None:
    """One slot earns one reason, which the check's table explains."""
    fixtures = {
        "books": [{"book_id": "B-1", "pages": 1}],
        "loans": [{"x": 1}],
        "pages": [{"page_id": 1, "x": 1}, {"x": 1}],
    }
    (failure,) = failures(handmade([template(source, filter_text)], fixtures=fixtures))
    assert failure.reason == reason
    assert failure.reason.partition(":")[0] in CHECK.reasons
    assert (failure.facts["template_id"], failure.facts["slot"]) == ("t0", "book")
    field = "source" if reason != "unevaluable_filter" and filter_text is None else "filter"
    assert failure.path == f"$[0].slots.book.{field}"


@pytest.mark.parametrize(
    ("slot", "source", "path"),
    [
        ("bok", "fixture:books.book_id", "$[0].user_simulator_turns[0].slot_updates.bok"),
        ("book", "literal:B-2", "$[0].user_simulator_turns[0].slot_updates.book.source"),
    ],
)
def test_a_correction_that_corrects_nothing_is_an_invalid_update(
    handmade: Handmade, slot: str, source: str, path: str
) -> None:
    """Its source is looked up all the same."""
    (failure,) = failures(handmade([correction(source, slot)]))
    assert (failure.reason, failure.path) == ("invalid_slot_update", path)
    assert failure.facts == {"template_id": "t0", "slot": slot, "correction": 0}


def test_the_source_of_a_correction_has_to_have_values_too(handmade: Handmade) -> None:
    """With the index of the turn as a fact."""
    (failure,) = failures(handmade([correction("fixture:book.book_id")]))
    assert failure.reason == "unknown_collection"
    assert failure.mend == "Did you mean `books`?"
    assert failure.facts == {"template_id": "t0", "slot": "book", "correction": 0, "collection": "book"}


def test_a_failure_points_into_the_text_of_the_source(handmade: Handmade) -> None:
    """To the character, in the file as written."""
    text = (
        "- turn_policy: single_turn\n"
        "  assistant_milestones: [{type: decline}]\n"
        "  slots:\n"
        "    a: {source: 'fixture:books.book_id', filter: 'pages > 1 and status = 3', visible_in_first_turn: true}\n"
        '    b: {source: "range:{min: 1, max: top}", visible_in_first_turn: true}\n'
    )
    lines = text.splitlines()
    assert [(failure.line, failure.column) for failure in failures(handmade(text))] == [
        (4, lines[3].index("= 3") + 1),
        (5, lines[4].index("top") + 1),
    ]


def test_sources_that_have_values_pass(handmade: Handmade) -> None:
    """One of every kind."""
    sources = ["books.pages", "enum:get_book.shelf", "literal:x", "range:{min: 1, max: 2}", "absent:books"]
    assert failures(handmade([template(source) for source in sources])) == []


def test_a_source_that_many_templates_share_is_reported_for_each(handmade: Handmade) -> None:
    """It is looked up once, and wrong in every place."""
    found = failures(handmade([template("fixture:book.x"), template("fixture:book.x")]))
    assert [failure.path for failure in found] == ["$[0].slots.book.source", "$[1].slots.book.source"]
