from __future__ import annotations

import glob

import pytest

from averment.suites.templates import template


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("--case={case}", "--case=A"),
        ("{case}{case}", "AA"),
        ("{{case}}", "{case}"),
        ("{{{case}}}", "{A}"),
        ("plain", "plain"),
        ("", ""),
        ("{evil}", "{case}{{x}}"),
        ("{with space}", "s"),
    ],
)
def test_placeholders_are_filled_in_one_pass(text: str, filled: str) -> None:
    """Doubled braces are braces, and what a value holds is never read again."""
    values = {"case": "A", "evil": "{case}{{x}}", "with space": "s"}
    made, mistakes = template(text, values)
    assert not mistakes
    assert made.filled(values) == filled


def test_a_value_is_escaped_and_the_text_around_it_is_not() -> None:
    """In a glob the wildcards are the author's, and a case's are not."""
    made, _ = template("*/{case}", ["case"])
    assert made.filled({"case": "a*"}, glob.escape) == "*/a[*]"


def test_the_placeholders_of_a_text_are_known() -> None:
    """Each once, in order."""
    made, _ = template("{b} {a} {b}", ["a", "b"])
    assert made.names == ["b", "a"]


def test_every_mistake_is_told_at_its_offset_with_the_nearest_name() -> None:
    """Unknown placeholders, and braces that stand alone."""
    _, mistakes = template("{ordr_id} } {} {", ["order_id", "case"])
    assert [(mistake.code, mistake.offset) for mistake in mistakes] == [
        ("unknown_placeholder", 0),
        ("bad_placeholder", 10),
        ("unknown_placeholder", 12),
        ("bad_placeholder", 15),
    ]
    assert mistakes[0].nearest == "order_id"
    assert mistakes[0].expected == "one of `{case}`, `{order_id}`"
    assert "`}}`" in (mistakes[1].mend or "")
