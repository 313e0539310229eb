from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from averment.evidence.times import HOUR, MICROSECOND, MILLISECOND, MINUTE, SECOND, instant, scaled
from averment.text.jsontext import NonFinite

_UNITS = st.sampled_from([1, MICROSECOND, MILLISECOND, SECOND, MINUTE, HOUR])


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (1.1, SECOND, 1_100_000_000),
        (0.1 + 0.2, SECOND, 300_000_000),
        (1700000000.123456, SECOND, 1_700_000_000_123_456_000),
        ("1700000000123456789", 1, 1_700_000_000_123_456_789),
        ("-1.5", MINUTE, -90_000_000_000),
        ("1e3", MILLISECOND, SECOND),
        ("2.5", 1, 2),
        (3.5, 1, 4),
        (-0.0, SECOND, 0),
        (0, SECOND, 0),
        (2**63 - 1, 1, 2**63 - 1),
        (2**63, 1, None),
        (-(2**63), 1, -(2**63)),
        (9_223_372_037, SECOND, None),
        (10**4000, SECOND, None),
        ("9" * 4000, SECOND, None),
        (1e99, SECOND, None),
        ("1e999999999", SECOND, None),
        (float("nan"), SECOND, None),
        (float("inf"), SECOND, None),
        (NonFinite("NaN"), SECOND, None),
        (True, SECOND, None),
        (None, SECOND, None),
        ("", SECOND, None),
        (" 1", SECOND, None),
        ("1_000", SECOND, None),
        ("0x10", SECOND, None),
        ("١", SECOND, None),
        ([1], SECOND, None),
        ({}, SECOND, None),
    ],
)
def test_numbers_are_scaled_as_they_are_written(value: Any, unit: int, expected: int | None) -> None:
    """In decimal; what is no number, or needs more than 64 bits, is no time."""
    assert scaled(value, unit) == expected


@settings(deadline=None)
@given(st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False), _UNITS)
def test_scaling_is_exact(number: float, unit: int) -> None:
    """The shortest decimal form, times the unit, rounded half to even; as text just the same."""
    exact = round(Fraction(repr(number)) * unit)
    expected = exact if -(2**63) <= exact < 2**63 else None
    assert scaled(number, unit) == expected
    if len(repr(number)) <= 20 and "e" not in repr(number):
        assert scaled(repr(number), unit) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1970-01-01 00:00", 0),
        ("1970-01-01t00:00:00z", 0),
        ("  1970-01-01T00:00:00Z\n", 0),
        ("1970-01-01T01:00:00+01:00", 0),
        ("1970-01-01T01:00:00+0100", 0),
        ("1969-12-31T19:00:00-05", 0),
        ("1970-01-01 00:00:01 +00:00", SECOND),
        ("1970-01-01T00:00:00.123456789Z", 123_456_789),
        ("1970-01-01T00:00:00,5Z", 500_000_000),
        ("1970-01-01T00:00:00.1234567899Z", 123_456_789),
        ("1970-01-01T24:00:00Z", 24 * HOUR),
        ("1970-01-01T24:00:00.5Z", None),
        ("1970-01-01T24:00:01Z", None),
        ("1970-01-01T23:59:60Z", 24 * HOUR),
        ("1970-01-01T23:59:61Z", None),
        ("1970-01-01T00:60:00Z", None),
        ("1970-01-01T00:00:00+24:00", None),
        ("1970-01-01T00:00:00+00:60", None),
        ("2024-02-29T00:00:00Z", 1_709_164_800 * SECOND),
        ("2023-02-29T00:00:00Z", None),
        ("1900-02-29T00:00:00Z", None),
        ("2000-02-29T00:00:00Z", 951_782_400 * SECOND),
        ("2024-13-01T00:00:00Z", None),
        ("2024-00-01T00:00:00Z", None),
        ("2024-04-31T00:00:00Z", None),
        ("2262-04-11T23:47:16.854775807Z", 2**63 - 1),
        ("2262-04-11T23:47:16.854775808Z", None),
        ("1677-09-21T00:12:43.145224192Z", -(2**63)),
        ("9999-12-31T23:59:59Z", None),
        ("0000-01-01T00:00:00Z", None),
        ("2024-01-01", None),
        ("Mon, 01 Jan 2024 00:00:00 GMT", None),
        ("٢٠٢٤-01-01T00:00:00Z", None),
        ("2024-01-01T00:00:00Z" + " " * 100, None),
        (1704067200, None),
        (None, None),
    ],
)
def test_dates_are_read_by_the_rules_of_rfc_3339(text: Any, expected: int | None) -> None:
    """With fractions to the nanosecond, leap seconds and midnights of both ends of a day."""
    assert instant(text) == expected


@settings(deadline=None)
@given(
    st.datetimes(min_value=datetime(1678, 1, 2), max_value=datetime(2262, 1, 1)),  # noqa: DTZ001
    st.integers(-23 * 60 - 59, 23 * 60 + 59),
)
def test_every_date_is_what_the_standard_library_says(moment: datetime, offset: int) -> None:
    """To the microsecond, at which that ends."""
    moment = moment.replace(tzinfo=timezone(timedelta(minutes=offset)))
    since = moment - datetime(1970, 1, 1, tzinfo=UTC)
    expected = (since.days * 86_400 + since.seconds) * SECOND + since.microseconds * MICROSECOND
    assert instant(moment.isoformat()) == expected


@given(st.text(max_size=70))
def test_no_text_breaks_it(text: str) -> None:
    """Whatever it is, there is an answer."""
    for value in (text, f"2024-01-01T{text}"):
        assert instant(value) is None or isinstance(instant(value), int)
