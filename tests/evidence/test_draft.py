from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from averment.errors import EvidenceError, Problem
from averment.evidence.draft import MAX_CALL_SECONDS, MAX_PROBLEMS, Draft, nanoseconds


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (1.5, 1_500_000_000),
        (0.1, 100_000_000),
        (-0.25, -250_000_000),
        (7, 7_000_000_000),
        (1234567.123456, 1_234_567_123_456_000),
        (999999999.9, 999_999_999_900_000_000),
        (1e-12, 0),
        (MAX_CALL_SECONDS, 10**18),
        (MAX_CALL_SECONDS + 1, None),
        (1e300, None),
        (float("nan"), None),
        (float("inf"), None),
        (10**400, None),
        (True, None),
        ("1", None),
        (None, None),
    ],
)
def test_seconds_become_exact_nanoseconds(seconds: Any, expected: int | None) -> None:
    """The shortest decimal form counts; what is no number of seconds within a lifetime is None."""
    assert nanoseconds(seconds) == expected


@settings(deadline=None, max_examples=500)
@given(st.floats(-MAX_CALL_SECONDS, MAX_CALL_SECONDS) | st.decimals(-(10**7), 10**7, places=9).map(float))
def test_the_fast_path_agrees_with_decimal_arithmetic(seconds: float) -> None:
    """Whatever way a float takes, the answer is that of its shortest decimal form."""
    exact = Decimal(repr(seconds)).scaleb(9).to_integral_value(ROUND_HALF_EVEN)
    assert nanoseconds(seconds) == int(exact)


def test_a_refusal_names_a_bounded_number_of_problems() -> None:
    """The first problems are named and the rest are counted."""
    draft = Draft()
    draft.problems = [Problem(code="x", message=f"{number}") for number in range(MAX_PROBLEMS + 7)]
    with pytest.raises(EvidenceError) as error:
        draft.model()
    assert len(error.value.problems) == MAX_PROBLEMS + 1
    assert error.value.problems[-1].message == "7 more problems are not shown"
