from __future__ import annotations

import pytest

from averment.report.html.names import Names, slug


@pytest.mark.parametrize("text", ["refund-is-real", "a", "A.b_c-9", "x" * 80])
def test_plain_names_are_their_own_links(text: str) -> None:
    """What may stand in a link stays readable."""
    assert slug(text) == text


@pytest.mark.parametrize(
    "text", ["two words", "two  words", "x" * 81, "ünï", "</script>", "#", "\ud800", "", "名前"]
)
def test_other_names_are_told_apart_by_a_digest(text: str) -> None:
    """Whatever a name holds, its link holds letters, digits and hyphens, and is no other name's."""
    others = [slug(f"{text}{more}") for more in ("", "!", "?")]
    assert len(set(others)) == 3
    assert all(other.replace("-", "").isalnum() and other.isascii() and len(other) < 60 for other in others)
    assert slug(text) == slug(text)


def test_a_name_is_given_once() -> None:
    """What is taken gets a number, also when that name is taken."""
    names = Names()
    assert [names.free(name) for name in ("a", "a-2", "a", "a")] == ["a", "a-2", "a-3", "a-4"]
