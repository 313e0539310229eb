from __future__ import annotations

import pytest

from averment.text.pii import phone


def found(text: str) -> list[str]:
    """What stands at the ranges found."""
    return [text[start:end] for start, end in phone.find(text)]


@pytest.mark.parametrize(
    "number",
    [
        "415-555-0123",
        "415.555.0123",
        "415 555 0123",
        "415-555 0123",
        "(415) 555-0123",
        "(415)555-0123",
        "(415)-555-0123",
        "1 415 555 0123",
        "1-415-555-0123",
        "+1 415.555.0123",
        "+1 (415) 555-0123",
        "+1(415)555-0123",
        "+1415-555-0123",
        "123-456-7890",
        "415\u00a0555\u00a00123",
        "415\u2011555\u20110123",
        "415  555  0123",
        "415 - 555 - 0123",
        "\uff14\uff11\uff15-\uff15\uff15\uff15-\uff10\uff11\uff12\uff13",
    ],
)
@pytest.mark.parametrize(
    "around", ["{}", "ring {} now", '{{"phone": "{}"}}', "tel:{}.", "a,{},b", "call{}please"]
)
def test_a_number_is_found_exactly(number: str, around: str) -> None:
    """The area code's parenthesis and the country code belong to the number; what stands around it does not."""
    assert found(around.format(number)) == [number]


@pytest.mark.parametrize(
    "text",
    [
        "4155550123",
        "+14155550123",
        "415-555-01234",
        "9415-555-0123",
        "415-5550123",
        "415555-0123",
        "415)555-0123",
        "415/555/0123",
        "415,555,0123",
        "555-0123",
        "41-555-0123",
        "415    555    0123",
        "+44 20 7946 0958",
    ],
)
def test_what_is_left_out_is_not_found(text: str) -> None:
    """Bare digits, longer numbers, local numbers and other countries are left out."""
    assert found(text) == []


def test_several_numbers_are_found_from_left_to_right() -> None:
    """A number ends where the next begins."""
    assert found("415-555-0123 (212)555-0199 1 800 555 0100") == [
        "415-555-0123",
        "(212)555-0199",
        "1 800 555 0100",
    ]
