from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import averment
from averment.assertions.measuring import Sample, Times, exact, number, statistic
from averment.evidence.view import Roles, View
from averment.text.patterns import PatternSet


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (3, Fraction(3)),
        (0.1, Fraction(1, 10)),
        (1e22, Fraction(10**22)),
        (1e-7, Fraction(1, 10**7)),
        (10**400, Fraction(10**400)),
    ],
)
def test_a_number_is_what_it_is_written_as(written: float, value: Fraction) -> None:
    """The shortest decimal form, and back."""
    assert exact(written) == value
    assert number(value) == written


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=40), st.sampled_from(["p50", "p90", "p95", "p99"]))
@settings(max_examples=200, deadline=None)
def test_a_percentile_is_the_smallest_value_that_enough_do_not_exceed(values: list[int], stat: Any) -> None:
    """The definition, by trying every value."""
    percent = int(stat[1:])
    enough = [v for v in values if 100 * sum(other <= v for other in values) >= percent * len(values)]
    found, sample = statistic([Sample(Fraction(value)) for value in values], stat)
    assert found == min(enough)
    assert sample is not None


SPEECH = st.lists(
    st.tuples(st.sampled_from(["agent", "caller", "other"]), st.integers(0, 30), st.integers(0, 9)),
    max_size=12,
)


def _times(speech: list[tuple[str, int, int]]) -> Times:
    transcript = [
        {"role": role, "text": "", "start": start, "end": start + length} for role, start, length in speech
    ]
    view = View(averment.Evidence(transcript=transcript).model, PatternSet(()), (), Roles())
    times = Times.of(view, "agent")
    assert times is not None
    return times


@given(SPEECH)
@settings(max_examples=200, deadline=None)
def test_overlap_and_silence_are_those_of_a_second_by_second_count(
    speech: list[tuple[str, int, int]],
) -> None:
    """Whole seconds can be looked at one by one."""
    times = _times(speech)
    speaking = {
        side: {
            second
            for role, start, length in speech
            if (role == "agent") == side
            for second in range(start, start + length)
        }
        for side in (True, False)
    }
    own = sorted(
        (start, index, length) for index, (role, start, length) in enumerate(speech) if role == "agent"
    )
    assert [sample.value for sample in times.measure("overlap")] == [
        1000 * len(speaking[False] & set(range(start, start + length))) for start, _, length in own
    ]
    moments = sorted({time for _, start, length in speech for time in (start, start + length)})
    heard = speaking[True] | speaking[False]
    quiet = [1000 * (end - start) for start, end in pairwise(moments) if not heard & set(range(start, end))]
    assert [sample.value for sample in times.measure("silence")] == (quiet or ([0] if speech else []))


@given(SPEECH)
@settings(max_examples=200, deadline=None)
def test_response_gaps_are_those_of_their_definition(speech: list[tuple[str, int, int]]) -> None:
    """For each turn of the others, the next turn of the role, if nothing of the others comes in between."""
    gaps = []
    for role, start, _ in sorted(speech, key=lambda turn: turn[1]):
        before = [(s, s + n) for r, s, n in speech if r != "agent" and s <= start]
        if role != "agent" or not before:
            continue
        ended = max(end for _, end in before)
        begun = max(s for s, end in before)
        answered = [s for r, s, _ in speech if r == "agent" and max(ended, begun) <= s < start]
        if ended <= start and not answered:
            gaps.append(1000 * (start - ended))
    found = [sample.value for sample in _times(speech).measure("response_gap")]
    assert sorted(set(found)) == sorted(set(gaps))
