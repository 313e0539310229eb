from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from averment.text.pii import card

VISA = "4111111111111111"


def found(text: str) -> list[str]:
    """What stands at the ranges found."""
    return [text[start:end] for start, end in card.find(text)]


def with_check_digit(payload: str) -> str:
    """The payload and the digit that Luhn's rule asks for, worked out digit by digit from the right."""
    total = 0
    for position, character in enumerate(reversed(payload)):
        digit = int(character) * (2 if position % 2 == 0 else 1)
        total += digit // 10 + digit % 10
    return payload + str(-total % 10)


def number_of(first: str, length: int) -> str:
    """A number with this beginning, this length and a valid check digit."""
    return with_check_digit(first + "8" * (length - 1 - len(first)))


RANGES = [
    ("Visa", ["4", "4026"], {13, 16, 19}),
    ("Mastercard", ["51", "55", "2221", "2300", "2719", "2720"], {16}),
    ("American Express", ["34", "37"], {15}),
    ("Discover", ["6011", "644", "649", "65"], {16, 19}),
    ("Diners Club", ["300", "305", "3095", "36", "38", "39"], {14, 16, 19}),
    ("JCB", ["3528", "3589"], {16, 17, 18, 19}),
    ("UnionPay", ["62", "81"], {16, 17, 18, 19}),
    ("Maestro", ["5018", "5020", "5038", "56", "58", "6304", "6759"], {13, 14, 15, 16, 17, 18, 19}),
    ("Mir", ["2200", "2204"], {16, 17, 18, 19}),
    ("RuPay", ["508", "60", "65", "82"], {16}),
    ("others", ["8600", "9792", "9860"], {16}),
]
ACCEPTED = [
    (first, length) for _, firsts, lengths in RANGES for first in firsts for length in sorted(lengths)
]


@pytest.mark.parametrize(("first", "length"), ACCEPTED)
def test_each_issuer_is_found_at_each_of_its_lengths_and_only_with_its_check_digit(
    first: str, length: int
) -> None:
    """The range and the length alone make no card: one other last digit and it is none."""
    number = number_of(first, length)
    assert found(number) == [number]
    assert found(number[:-1] + str((int(number[-1]) + 1) % 10)) == []


@pytest.mark.parametrize(
    ("first", "length"),
    [
        *[
            (first, length)
            for first in ("4", "51", "34", "6011")
            for length in (12, 14, 17, 18, 20)
            if first + str(length) != "414"
        ],
        ("4", 14),
        ("51", 15),
        ("37", 16),
        ("36", 15),
        ("2720", 19),
        *[(first, 16) for first in ("0", "1", "17", "20", "2199", "2205", "2220", "2721", "306", "31", "33")],
        *[
            (first, 16)
            for first in ("3527", "3590", "590", "61", "66", "643", "68", "69", "7", "80", "83", "8601", "99")
        ],
    ],
)
def test_a_number_outside_the_ranges_or_lengths_is_not_found(first: str, length: int) -> None:
    """A valid check digit alone is one number in ten."""
    assert found(number_of(first, length)) == []


@pytest.mark.parametrize(
    "number",
    [
        "4222222222222",
        "4012888888881881",
        "4000000000000000006",
        "5555555555554444",
        "5105105105105100",
        "2223003122003222",
        "378282246310005",
        "371449635398431",
        "6011111111111117",
        "30569309025904",
        "38520000023237",
        "3530111333300000",
        "6200000000000005",
        "6759649826438453",
    ],
)
def test_published_test_numbers_are_found(number: str) -> None:
    """The numbers that the networks and payment providers publish for testing."""
    assert found(number) == [number]


def test_the_table_is_sorted_and_disjoint() -> None:
    """The look-up by bisection needs ranges that don't meet."""
    for lower, upper in pairwise(card._ISSUERS):
        assert lower.last.ljust(4, "9") < upper.first.ljust(4, "0")
    assert all(issuer.first <= issuer.last for issuer in card._ISSUERS)


@pytest.mark.parametrize("digit", "0123456789")
def test_one_digit_repeated_is_no_card(digit: str) -> None:
    """No issuer's range holds a repeated digit with a valid check digit, sixteen zeros least of all."""
    assert [length for length in range(12, 21) if found(digit * length)] == []


@pytest.mark.parametrize("start", [1_000_000_000, 1_700_000_000, 1_999_999_999])
@pytest.mark.parametrize("unit", [1_000, 1_000_000, 1_000_000_000])
def test_timestamps_are_no_cards(start: int, unit: int) -> None:
    """Milliseconds, microseconds and nanoseconds since 1970 begin with 1, which no issuer in the table does."""
    assert [step for step in range(100) if found(str(start * unit + step))] == []


@pytest.mark.parametrize(
    "separator",
    [
        " ",
        "  ",
        "-",
        " - ",
        ".",
        "\u00a0",
        "\u2009",
        "\u202f",
        "\u3000",
        "\t",
        "\n",
        "\u2010",
        "\u2011",
        "\u2013",
        "\u2014",
        "\u2212",
        "\uff0d",
        "\u00b7",
        "\u200b",
        "\u00ad",
        "\ufeff",
    ],
)
@pytest.mark.parametrize("size", [1, 2, 4, 6])
def test_groups_may_be_of_any_size_with_any_separator(separator: str, size: int) -> None:
    """Spaces, dashes and dots of every kind; fours, pairs, single digits."""
    number = separator.join(VISA[place : place + size] for place in range(0, 16, size))
    assert found(f"it is {number}{separator}please") == [number]


@pytest.mark.parametrize("separator", ["    ", ",", ", ", "/", ":", "x", "_", '","'])
def test_other_characters_keep_groups_apart(separator: str) -> None:
    """Commas, slashes, letters and wide gaps separate numbers."""
    assert found(separator.join(["4111", "1111", "1111", "1111"])) == []


@pytest.mark.parametrize("zero", ["\u0660", "\u06f0", "\u0966", "\uff10", "\U0001d7ce"])
def test_any_decimal_digits_count(zero: str) -> None:
    """Arabic-Indic, Persian, Devanagari, full-width and mathematical digits are digits."""
    number = "".join(chr(ord(zero) + int(digit)) for digit in VISA)
    assert found(f"\u756a\u53f7{number}\u3067\u3059") == [number]


@pytest.mark.parametrize("number", [VISA, "4111 1111 1111 1111", "4111-1111-1111-1111", "3782 822463 10005"])
@pytest.mark.parametrize(
    "neighbour", ["123", "1234", "12/27", "1227", "94107", "12 27 123", "77", "1029384756", "94107-1234"]
)
@pytest.mark.parametrize("separator", [" ", "-", "  ", "\u00a0", ", ", "/"])
def test_numbers_beside_a_card_neither_hide_it_nor_join_it(
    number: str, neighbour: str, separator: str
) -> None:
    """A security code, an expiry, a ZIP or an order number, before or after."""
    assert found(f"{number}{separator}{neighbour}") == [number]
    assert found(f"{neighbour}{separator}{number}") == [number]
    assert found(f"{neighbour}{separator}{number}{separator}{neighbour}") == [number]


def test_overlapping_valid_numbers_are_one_hit_over_both() -> None:
    """When a number and a longer one that begins inside it are both valid, both are covered."""
    visa, maestro = "4539 5780 0000 0007", "5780 0000 0007 94109"
    assert found(visa) == [visa]
    assert found(maestro) == [maestro]
    assert found("4539 5780 0000 0007 94109") == ["4539 5780 0000 0007 94109"]


def test_two_cards_in_a_row_are_two_hits() -> None:
    """Cards that don't overlap are counted apart."""
    assert found(f"{VISA}, 5555555555554444 378282246310005") == [VISA, "5555555555554444", "378282246310005"]


@pytest.mark.parametrize(
    "text",
    [
        '{{"card": "{}"}}',
        '{{"card":{},"cvv":123}}',
        "[12,{},27]",
        "('{}', 1)",
        "card={};",
        "card{}please",
        "#{}.",
        "-{}",
        "$0.50 {}",
        "12.05.2027 {}",
        "123.{}",
        "12.{}.",
    ],
)
def test_a_card_is_found_in_json_and_beside_punctuation(text: str) -> None:
    """Quotes, commas, brackets, letters and amounts bound a number."""
    assert found(text.format(VISA)) == [VISA]


@pytest.mark.parametrize(
    "text",
    [
        f"0.{VISA}",
        f"-0.{VISA}",
        f'{{"score": 0.{VISA}}}',
        "4.111111111111111",
        "-122.4222222222222",
        "0.30000000000000004",
    ],
)
def test_decimal_numbers_are_no_cards(text: str) -> None:
    """A double prints at most 17 significant digits: scores and coordinates are left alone."""
    assert found(text) == []


@pytest.mark.parametrize("text", [f"9{VISA}", f"{VISA}9", VISA * 2, "1" + VISA * 9])
def test_a_card_glued_to_further_digits_is_not_found(text: str) -> None:
    """A number begins and ends where its digit group does."""
    assert found(text) == []


@given(
    st.lists(st.text("0123456789", min_size=1, max_size=7), max_size=12),
    st.sampled_from([" ", "-", "\u2013 "]),
)
@settings(deadline=None)
def test_every_stretch_that_is_a_card_alone_is_covered_in_a_chain(groups: list[str], separator: str) -> None:
    """What is found in a chain is what is found when each stretch of its groups stands alone."""
    text = separator.join(groups)
    expected: set[int] = set()
    place = 0
    for index, group in enumerate(groups):
        for stop in range(index + 1, len(groups) + 1):
            stretch = separator.join(groups[index:stop])
            if found(stretch) == [stretch]:
                expected.update(range(place, place + len(stretch)))
        place += len(group) + len(separator)
    assert {position for start, end in card.find(text) for position in range(start, end)} == expected
