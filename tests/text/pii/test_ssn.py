from __future__ import annotations

import pytest

from averment.text.pii import ssn


def found(text: str) -> list[str]:
    """What stands at the ranges found."""
    return [text[start:end] for start, end in ssn.find(text)]


@pytest.mark.parametrize(
    "number",
    [
        "123-45-6789",
        "123 45 6789",
        "123.45.6789",
        "123-45 6789",
        "123-456789",
        "123\u00a045\u00a06789",
        "123\u201345\u20136789",
        "123\u201145\u20116789",
        "123  45  6789",
        "123 - 45 - 6789",
        "\uff11\uff12\uff13-\uff14\uff15-\uff16\uff17\uff18\uff19",
        "001-01-0001",
        "665-45-6789",
        "667-45-6789",
        "899-99-9999",
    ],
)
@pytest.mark.parametrize(
    "around",
    ["{}", "it is {} ok", "({}).", '{{"ssn": "{}"}}', "[{},1]", "1,{}", "\u756a\u53f7{}\u3067\u3059"],
)
def test_a_separated_number_is_found_exactly(number: str, around: str) -> None:
    """Separators of every kind between the groups; quotes, commas and brackets around them."""
    assert found(around.format(number)) == [number]


@pytest.mark.parametrize("number", ["000-12-3456", "666-12-3456", "900-12-3456", "999-88-7777"])
def test_areas_that_are_never_assigned_are_not_found(number: str) -> None:
    """SSA assigns no area 000, 666 or 900-999."""
    assert found(number) == []


@pytest.mark.parametrize("number", ["123-00-6789", "123-45-0000", "123 00 0000"])
def test_group_00_and_serial_0000_are_not_found(number: str) -> None:
    """SSA assigns no group 00 and no serial 0000."""
    assert found(number) == []


@pytest.mark.parametrize(
    "text",
    [
        "ssn123-45-6789",
        "123-45-6789a",
        "_123-45-6789",
        "\u00e9123-45-6789",
        "9123-45-6789",
        "9123-45-67890",
        "123-45-67890",
    ],
)
def test_a_number_glued_to_letters_or_digits_is_not_found(text: str) -> None:
    """Part of an identifier or of a longer number is no social security number."""
    assert found(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "123456789",
        "order 123456789",
        "12345-6789",
        "ZIP 12345-6789",
        "$100.25 3000 units",
        "123.456789",
        "123,45,6789",
        "123/45/6789",
        "123    45    6789",
        "social media post 123456789",
        "ssn on file; order 123456789",
        "lessn 123456789",
    ],
)
def test_nine_digits_that_do_not_show_themselves_are_not_found(text: str) -> None:
    """Bare digits, ZIP+4 codes, amounts and digits far from the words are no social security numbers."""
    assert found(text) == []


@pytest.mark.parametrize("number", ["123456789", "12345-6789"])
@pytest.mark.parametrize(
    "words",
    [
        "SSN {}",
        "ssn: {}",
        "My social security number is {}.",
        "Social Security No. {}",
        "my social is {}",
        "social-security #{}",
        '{{"ssn": "{}"}}',
        '{{"ssn":{}}}',
        '{{"social_security_number": "{}"}}',
        '{{"socialSecurityNumber": {}}}',
        "customer_ssn={}",
    ],
)
def test_the_words_in_front_make_nine_digits_a_number(words: str, number: str) -> None:
    """Who says what the digits are needs no separator."""
    assert found(words.format(number)) == [number]


def test_announced_digits_still_obey_the_assignment_rules() -> None:
    """Words don't make an unassignable number a social security number."""
    assert found("SSN 666123456, SSN 900123456, SSN 123004567") == []


def test_several_numbers_are_found_from_left_to_right() -> None:
    """A rejected candidate does not hide the next number."""
    assert found("000-12-3456 123-45-6789, 12345-6789 234-56-7890") == ["123-45-6789", "234-56-7890"]
