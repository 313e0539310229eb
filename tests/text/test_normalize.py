from __future__ import annotations

from typing import Any

import pytest

from averment.text.normalize import NORMALIZERS, Normalizer, as_text, normalized


@pytest.mark.parametrize(
    ("value", "text"),
    [
        *(
            (50, "50"),
            (50.0, "50"),
            (50.5, "50.5"),
            (-0.0, "0"),
            (1e21, "1000000000000000000000"),
            (1e-7, "0.0000001"),
        ),
        *(
            (True, "true"),
            (False, "false"),
            (None, "null"),
            ("050", "050"),
            ("50.00", "50.00"),
            ([1, "a"], '[1,"a"]'),
        ),
    ],
)
def test_numbers_have_one_form_and_texts_their_own(value: Any, text: str) -> None:
    """50 and 50.0 are the same; what is text stays as it is."""
    assert as_text(value) == text


@pytest.mark.parametrize(
    ("text", "number"),
    [("42.00", "42"), ("-7.50", "-7.5"), ("042", "042"), ("+1555", "+1555"), ("1,000", "1,000")],
)
def test_a_spelled_number_counts_as_one_when_asked(text: str, number: str) -> None:
    """Plain decimals only: no leading zeros, signs of phone numbers or thousands separators."""
    assert normalized(text, numbers=True) == number
    assert normalized(text) == text


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("digits", "+1 (415) 555-٠١", "141555501"),
        ("casefold", "Straße", "strasse"),
        ("whitespace", " a \n\u00a0 b ", "a b"),
        ("email", " <Jane@Example.COM>, ", "jane@example.com"),
    ],
)
def test_each_normalizer_leaves_out_what_it_says(name: str, text: str, expected: str) -> None:
    """And applying it again changes nothing."""
    assert normalized(text, [name]) == expected
    assert normalized(expected, [name]) == expected


def test_the_names_that_documents_write_are_those_there_are() -> None:
    """The type and the table agree."""
    assert set(NORMALIZERS) == set(Normalizer.__args__)  # type: ignore[attr-defined]
