from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from averment.text.pii import DETECTORS, MARKER, Hit, find, redact, suspects

ALL = tuple(DETECTORS)
SIZE = 200_000

FRAGMENTS = st.sampled_from(
    [
        *(
            "4111 1111 1111 1111",
            "4111111111111111",
            "4222222222222",
            "5555-5555-5555-4444",
            "378282246310005",
        ),
        *("123-45-6789", "123456789", "ssn ", "social security number is ", "12345-6789", "123.45.6789"),
        *("a@b.com", "jo@x.org", "a@", "@b.co", ".com", "o'b"),
        *("415-555-0123", "(415)555-0123", "+1 ", "(415) ", "555 0123"),
        *(
            "0.",
            "12.",
            "123",
            "12/27",
            "94107",
            " ",
            "  ",
            "-",
            ".",
            ",",
            "_",
            "x",
            "\u3067",
            "\u00a0",
            "'",
            '"',
        ),
        MARKER,
    ]
)
TEXTS = (
    st.lists(FRAGMENTS, max_size=14).map("".join)
    | st.text("019 .-@(ab_+", max_size=60)
    | st.text(max_size=40)
)


def test_the_detectors_stand_in_their_fixed_order() -> None:
    """Documents and messages list detectors in this order."""
    assert ALL == ("ssn", "card_luhn", "email", "phone")


def test_hits_come_in_the_listed_order_then_from_left_to_right() -> None:
    """The contract's order, with offsets into the text."""
    text = "415-555-0123 a@b.com 212-555-0199"
    assert find(text, ["email", "phone"]) == [Hit("email", 13, 20), Hit("phone", 0, 12), Hit("phone", 21, 33)]


def test_a_detector_named_twice_counts_twice() -> None:
    """Duplicates in the list are kept, as the contract does."""
    assert find("a@b.com", ["email", "ssn", "email"]) == [Hit("email", 0, 7), Hit("email", 0, 7)]


def test_offsets_count_code_points() -> None:
    """Characters outside the basic plane count as one."""
    assert find("\U0001f600 a@b.com", ["email"]) == [Hit("email", 2, 9)]


@pytest.mark.parametrize("text", ["", "clean", "a@b.com"])
def test_an_unknown_detector_is_refused_whatever_the_text(text: str) -> None:
    """A misspelt name never passes for a detector that found nothing."""
    with pytest.raises(KeyError):
        find(text, ["emial"])


@pytest.mark.parametrize(
    "text", ["", "Hello.", "order 77 of 2024", "caf\u00e9 \u0664\u0662", "me @ home", "1234567890123456"]
)
def test_text_without_personal_data_is_returned_as_it_is(text: str) -> None:
    """The very same object: nothing is copied."""
    assert find(text, ALL) == []
    assert redact(text) is text


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("it is 123-45-6789 ok", "it is [REDACTED] ok"),
        ("4111 1111 1111 1111 123", "[REDACTED] 123"),
        ("4111-1111-1111-1111 12/27", "[REDACTED] 12/27"),
        ("123-45-6789 415-555-0123", "[REDACTED] [REDACTED]"),
        ("415-555-0123a@b.com", "[REDACTED]"),
        ("(415)555-0123, jo@x.org.", "[REDACTED], [REDACTED]."),
        ('{"card": "4111111111111111", "cvv": 123}', '{"card": "[REDACTED]", "cvv": 123}'),
        ('{"card":4111111111111111,"cvv":123}', '{"card":[REDACTED],"cvv":123}'),
        ('{"ssn":123456789,"zip":94107}', '{"ssn":[REDACTED],"zip":94107}'),
        ("\u756a\u53f7\uff14\uff11\uff11\uff11" + "\uff11" * 12, "\u756a\u53f7[REDACTED]"),
    ],
)
def test_every_detector_is_redacted(text: str, redacted: str) -> None:
    """All kinds of personal data go, and only they."""
    assert redact(text) == redacted


def test_ranges_that_overlap_or_touch_share_a_marker() -> None:
    """An e-mail address made of a telephone number, and two hits without a character between them."""
    assert redact("415-555-0123@example.com") == MARKER
    assert redact("a@b.com(415)555-0123") == MARKER


def test_an_address_freed_by_a_removed_card_goes_too() -> None:
    """Digits glued to an address hide it until they are gone."""
    assert find("a@b.com4111111111111111", ["email"]) == []
    assert redact("a@b.com4111111111111111") == MARKER * 2


@given(TEXTS)
@settings(max_examples=1000, deadline=None)
def test_nothing_is_found_in_redacted_text_and_redacting_it_changes_nothing(text: str) -> None:
    """What was printed once can be printed again."""
    redacted = redact(text)
    assert find(redacted, ALL) == []
    assert redact(redacted) is redacted
    assert (redacted is text) == (find(text, ALL) == [])


@given(TEXTS)
@settings(max_examples=1000, deadline=None)
def test_everything_outside_the_hits_stays_unless_its_neighbour_freed_it(text: str) -> None:
    """Redaction removes the characters of hits and, in texts where one pass suffices, nothing else."""
    covered = {position for hit in find(text, ALL) for position in range(hit.start, hit.end)}
    pieces: list[str] = []
    for position, character in enumerate(text):
        if position not in covered:
            pieces.append(character)
        elif position - 1 not in covered:
            pieces.append(MARKER)
    once = "".join(pieces)
    assert redact(text) == redact(once)


@given(TEXTS)
@settings(max_examples=300, deadline=None)
def test_each_detector_reports_disjoint_ranges_from_left_to_right(text: str) -> None:
    """Ranges lie inside the text, hold something, and never overlap within one detector."""
    for detect in DETECTORS.values():
        places = [place for found in detect(text) for place in found]
        assert places == sorted(places)
        assert all(start < end for start, end in detect(text))
        assert all(0 <= place <= len(text) for place in places)


@pytest.mark.parametrize(
    "unit",
    [
        *(
            "4",
            "4 ",
            "6 ",
            "4111 1111 1111 1111 ",
            "1   ",
            "1-",
            "\uff14 ",
            "123456789012   -",
            "1.123456789",
            "0.",
        ),
        *("123-45-6789 ", "123456789 ", "ssn no no 123456789 ", "social ", "000-00-0000 "),
        *(
            "a.",
            "@",
            "a@",
            "a@a.",
            ".a",
            "-",
            "'",
            "a@b.com1",
            "a@b.com4111111111111111 ",
            "a@a.xn--",
            "\u0301",
        ),
        *("415 555 0123 ", "1415-555-", "(", "(415)", "+1 ", " ", "\u200b", "1(1"),
    ],
)
@pytest.mark.parametrize(("head", "tail"), [("", ""), ("1a@", "_1@")])
def test_hostile_text_is_scanned_in_linear_time(head: str, unit: str, tail: str) -> None:
    """Repetitions of 200 kB come back at all: anything quadratic here takes hours."""
    text = head + unit * (SIZE // len(unit)) + tail
    assert find(redact(text), ALL) == []


@pytest.mark.parametrize("length", [10, 1_000, SIZE])
def test_a_long_address_is_one_hit(length: int) -> None:
    """The local part has no bound, and is read once."""
    text = "a." * length + "@example.com"
    assert find(text, ["email"]) == [Hit("email", 0, len(text))]


@given(st.lists(st.text("a@.4 9\0\u0664\ud800\U0001f600", max_size=30), max_size=6))
@settings(max_examples=200, deadline=None)
def test_only_suspects_hold_personal_data(texts: list[str]) -> None:
    """What is passed over has no hit, and whether a text is passed over depends on no other text."""
    found = suspects(texts)
    assert found == [index for index, text in enumerate(texts) if suspects([text])]
    assert all(index in found for index, text in enumerate(texts) if find(text, ALL))


def test_most_texts_are_no_suspects() -> None:
    """Nine digits or an at sign in one text make a suspect, digits of several texts don't."""
    texts = [
        "at 10:30",
        "call 555 0123",
        "",
        "a@b",
        "000 000 000",
        "\u0664" * 9,
        "\xe9" * 9,
        "\0" * 9,
        "12345678",
    ]
    assert suspects(texts) == [3, 4, 5]
    assert suspects(texts * 100)[-1] == 99 * len(texts) + 5
