from __future__ import annotations

from collections.abc import Sequence

import pytest

from averment.report.html.difference import Part, differences, parts


def told(pieces: Sequence[Part]) -> str:
    """The pieces as one text, what differs in brackets."""
    return "".join(f"[{piece.text}]" if piece.differs else piece.text for piece in pieces)


@pytest.mark.parametrize(
    ("expected", "found", "marked", "marked_found"),
    [
        ('"refunded"', '"none"', '["refunded"]', '["none"]'),
        ('"A-3090"', '"A-3091"', '"A-[3090]"', '"A-[3091]"'),
        ("42", "420", "[42]", "[420]"),
        ("at most 100", "420", "[at most 100]", "[420]"),
        ('{"a": 1, "b": 2}', '{"a": 1, "b": 3}', '{"a": 1, "b": [2]}', '{"a": 1, "b": [3]}'),
        (
            '"the order A-1 was sent"',
            '"the order A-1 was not sent"',
            '"the order A-1 was sent"',
            '"the order A-1 was [not ]sent"',
        ),
        ("5", "", "[5]", ""),
        ("", "", "", ""),
    ],
)
def test_what_differs_is_marked(expected: str, found: str, marked: str, marked_found: str) -> None:
    """Whole words and numbers, and all of both where they have next to nothing in common."""
    left, right = parts(expected, found)
    assert (told(left), told(right)) == (marked, marked_found)


def test_nothing_is_lost() -> None:
    """The pieces put together are the values."""
    expected, found = "at least 3 of [1, 2, 3]", "at least 4 of [2, 3, 9]"
    left, right = parts(expected, found)
    assert "".join(piece.text for piece in left) == expected
    assert "".join(piece.text for piece in right) == found


def test_mismatches_of_any_shape_are_read_or_refused() -> None:
    """Stored envelopes may hold other values than texts, and other things than mismatches."""
    found = differences([{"path": "a", "expected": 5, "found": {"b": None}}])
    assert found is not None
    assert (found[0].path, told(found[0].expected), told(found[0].found)) == ("a", "[5]", '[{ "b": null }]')
    for other in (None, [], "text", 3, [{"path": "a"}], [3]):
        assert differences(other) is None
