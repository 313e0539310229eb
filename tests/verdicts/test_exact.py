"""Exact statistics: each bound is checked by the tail that defines it, in fractions, with nothing rounded."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from averment.verdicts.exact import PARTS, _lower_end, fails_more, interval, lower_end

AT_EACH_END = Fraction(1, 40)


def at_least(trials: int, passed: int, chance: Fraction) -> Fraction:
    """P(X >= passed) of a binomial, by its definition."""
    return sum(
        (comb(trials, i) * chance**i * (1 - chance) ** (trials - i) for i in range(passed, trials + 1)),
        Fraction(),
    )


@pytest.mark.parametrize(
    ("trials", "passed"),
    [(trials, passed) for trials in range(1, 13) for passed in range(1, trials + 1)]
    + [(40, 1), (40, 20), (40, 39), (97, 96), (150, 75)],
)
def test_the_lower_end_is_the_last_millionth_with_a_tail_of_at_most_one_in_forty(
    trials: int, passed: int
) -> None:
    """At the end such a result is too unlikely to be believed, and one millionth above it is not."""
    end = lower_end(trials, passed)
    assert at_least(trials, passed, Fraction(end, PARTS)) <= AT_EACH_END
    assert at_least(trials, passed, Fraction(end + 1, PARTS)) > AT_EACH_END


@pytest.mark.parametrize(
    ("trials", "passed", "lower", "upper"),
    [
        (10, 0, "0.0000", "0.3085"),
        (10, 9, "0.5550", "0.9975"),
        (20, 10, "0.2720", "0.7280"),
        (100, 50, "0.3983", "0.6017"),
        (30, 1, "0.0008", "0.1722"),
    ],
)
def test_intervals_are_those_of_published_tables(trials: int, passed: int, lower: str, upper: str) -> None:
    """Clopper and Pearson's limits to four digits, as tables and other programs print them."""
    low, high = interval(trials, passed)
    assert (f"{low:.4f}", f"{high:.4f}") == (lower, upper)


@pytest.mark.parametrize("trials", [1, 2, 3, 10, 59, 1000])
def test_with_no_failure_the_lower_end_is_a_root(trials: int) -> None:
    """If all of n passed, p^n = 1/40 at the end: the closed form that everybody can check."""
    end = lower_end(trials, trials)
    assert Fraction(end, PARTS) ** trials <= AT_EACH_END < Fraction(end + 1, PARTS) ** trials
    assert interval(trials, trials)[1] == 1.0


def test_one_trial_meets_the_bound_exactly() -> None:
    """With one pass of one the tail at 0.025 is 1/40 and no less: bounds in fixed point can't tell, fractions do."""
    assert interval(1, 1) == (0.025, 1.0)
    assert interval(1, 0) == (0.0, 0.975)


def test_without_trials_nothing_is_known() -> None:
    """The interval is everything."""
    assert interval(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(("trials", "passed"), [(3, 4), (3, -1), (-1, 0), (-1, -1)])
def test_numbers_that_there_cannot_be_are_refused(trials: int, passed: int) -> None:
    """No interval is made of more passes than trials."""
    with pytest.raises(ValueError, match="can't have passed"):
        interval(trials, passed)


@settings(deadline=None)
@given(st.integers(1, 300), st.data())
def test_intervals_are_symmetric_and_hold_what_was_seen(trials: int, data: st.DataObject) -> None:
    """Passes and failures change places, and the share of passes lies within."""
    passed = data.draw(st.integers(0, trials))
    low, high = interval(trials, passed)
    assert low <= passed / trials <= high
    assert lower_end(trials, trials - passed) == PARTS - round(high * PARTS)


@settings(deadline=None)
@given(st.integers(1, 200), st.data())
def test_more_passes_never_lower_an_end(trials: int, data: st.DataObject) -> None:
    """Both ends rise with the passes; and fall when a failure is added."""
    passed = data.draw(st.integers(0, trials - 1))
    assert lower_end(trials, passed) <= lower_end(trials, passed + 1)
    assert lower_end(trials + 1, passed) <= lower_end(trials, passed)


@pytest.mark.parametrize("passed", [1, 137, 5_000, 9_999, 10_000])
def test_ten_thousand_trials_are_quick_and_exact(passed: int) -> None:
    """The sums in fixed point agree with the tail in integers of 200,000 binary digits, at the two millionths that count."""
    end = lower_end(10_000, passed)

    def tail(part: int) -> bool:
        whole: int = PARTS**10_000
        sum_ = 0
        term: int = comb(10_000, passed) * part**passed * (PARTS - part) ** (10_000 - passed)
        for i in range(passed, 10_000):
            sum_ += term
            term = term * (10_000 - i) * part // ((i + 1) * (PARTS - part))
            if term == 0 or term * 10**30 < whole:
                break
        return 40 * (sum_ + term) <= whole

    assert tail(end)
    assert not tail(end + 1)


@pytest.mark.parametrize("bits", [1, 4, 8])
def test_coarse_sums_change_nothing(monkeypatch: pytest.MonkeyPatch, bits: int) -> None:
    """What they can't tell is compared exactly, so the digits behind the point are a matter of speed alone."""
    wanted = [lower_end(trials, passed) for trials in range(1, 12) for passed in range(trials + 1)]
    monkeypatch.setattr("averment.verdicts.exact._BITS", bits)
    _lower_end.cache_clear()
    found = [lower_end(trials, passed) for trials in range(1, 12) for passed in range(trials + 1)]
    _lower_end.cache_clear()
    assert found == wanted


def dealt(old_passed: int, old_failed: int, new_passed: int, new_failed: int) -> Fraction:
    """Fisher's tail by dealing out all trials in every way."""
    trials = [1] * (old_failed + new_failed) + [0] * (old_passed + new_passed)
    hands = list(combinations(trials, new_passed + new_failed))
    return Fraction(sum(sum(hand) >= new_failed for hand in hands), len(hands))


@settings(deadline=None)
@given(st.integers(0, 4), st.integers(0, 4), st.integers(0, 4), st.integers(0, 4))
def test_fishers_test_is_the_share_of_all_ways_to_deal(
    old_passed: int, old_failed: int, new_passed: int, new_failed: int
) -> None:
    """The chance is the count of deals with as many failures in the new hand; rounded up to a millionth."""
    found = fails_more(old_passed, old_failed, new_passed, new_failed)
    if not old_passed + old_failed or not new_passed + new_failed:
        assert found is None
        return
    assert found is not None
    exact = dealt(old_passed, old_failed, new_passed, new_failed)
    assert 0 <= Fraction(round(found * PARTS), PARTS) - exact < Fraction(1, PARTS)


def test_fishers_test_gives_the_values_that_are_known() -> None:
    """The lady who tastes tea (1/70 for all eight cups, 17/70 for six), and 5 of 5 against 0 of 5 (1/252)."""
    assert fails_more(4, 0, 0, 4) == 0.014286
    assert fails_more(3, 1, 1, 3) == 0.242858
    assert fails_more(5, 0, 0, 5) == 0.003969


def test_a_large_comparison_is_quick() -> None:
    """Twice ten thousand trials are added up by ratios."""
    found = fails_more(9_000, 1_000, 8_900, 1_100)
    assert found is not None
    assert 0.0105 < found < 0.0115
