from __future__ import annotations

from typing import Any

import pytest

from averment.report.html.texts import Shown, json_text, short, shown, yaml_text


def test_a_text_is_redacted_before_it_is_cut() -> None:
    """Half a card number is one that no detector knows."""
    assert shown("my card 4111 1111 1111 1111 thanks", 14) == Shown("my card [REDAC", 11)


def test_what_cannot_be_seen_is_escaped_within_the_bound() -> None:
    """Escapes take room, so that hostile text is no longer than other text."""
    assert shown("a\u202eb\nc\x1b", 100) == Shown("a\\u202eb\nc\\u001b", 0)
    found = shown("\u202e" * 1000, 100)
    assert found == Shown("\\u202e" * 16, 984)


def test_a_short_text_is_cut_with_a_sign() -> None:
    """Names and sentences of a document are cut, but not redacted: they are the author's own."""
    assert short("abcdef", 4) == "abc…"
    assert short("abcd", 4) == "abcd"
    assert short("a@example.com") == "a@example.com"
    assert short({"a": 1}) == '{ "a": 1 }'


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"b": 1, "a": [True, None]}, '{ "b": 1, "a": [ true, null ] }'),
        ({}, "{}"),
        ("text", '"text"'),
        ({"card": 4111111111111111}, '{ "card": "[REDACTED]" }'),
        ({"a@example.com": "\t4111 1111 1111 1111"}, '{ "[REDACTED]": "\\t[REDACTED]" }'),
        (float("nan"), '"nan"'),
        (10**400, str(10**400)),
        pytest.param(10**5000, '"an integer of 16610 bits"', id="huge"),
        ({"when": 1_760_000_000}, '{ "when": 1760000000 }'),
    ],
)
def test_values_are_shown_as_json_without_personal_data(value: Any, expected: str) -> None:
    """In the order given, numbers and keys included, whatever their size."""
    assert json_text(value) == expected


def test_long_values_are_indented() -> None:
    """What does not fit into a line has a line for each part."""
    assert json_text({"a": "x" * 90, "b": 1}).split("\n")[2] == '  "b": 1'


def test_what_was_asserted_reads_as_in_the_document() -> None:
    """Patterns stand as they were written; nothing is an alias; personal data is removed."""
    same = {"a": 1}
    fields = {"says": r"refund of (\d+)", "args": same, "again": same, "who": "a@example.com"}
    assert (
        yaml_text(fields, 99).text == "says: refund of (\\d+)\nargs: {a: 1}\nagain: {a: 1}\nwho: '[REDACTED]'"
    )
    assert yaml_text({"pack": "default"}, 99) == Shown("pack: default", 0)


def test_fields_of_a_document_are_cut_before_they_are_written() -> None:
    """What is left out is counted, whether a text is long or there are many."""
    assert yaml_text({"says": "w" * 10**6}, 20) == Shown("says: " + "w" * 14, 10**6 - 14)
    assert yaml_text({"all": ["word"] * 50}, 20).cut > 200
    assert yaml_text({"k" * 10**6: 1}, 20).text == "k" * 20
    card = yaml_text({"says": "my card 4111 1111 1111 1111"}, 20)
    assert card.text == "says: my card [REDAC"
