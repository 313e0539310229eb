"""pass@k and pass^k: unbiased by counting every draw, with intervals that guess nothing."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations, product
from math import comb
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import averment
from averment.verdicts.exact import PARTS, interval
from averment.verdicts.judged import Case
from averment.verdicts.repeats import Counts, Repeats, pass_at_k, pass_hat_k

SMALL = [
    (decided, passed, k)
    for decided in range(1, 8)
    for passed in range(decided + 1)
    for k in range(1, decided + 1)
]


@pytest.mark.parametrize(("decided", "passed", "k"), SMALL)
def test_both_are_shares_of_all_draws_of_k_repeats(decided: int, passed: int, k: int) -> None:
    """Every subset of k repeats is counted: those with a pass, and those of passes only."""
    draws = list(combinations([True] * passed + [False] * (decided - passed), k))
    assert pass_at_k(decided, passed, k) == Fraction(sum(map(any, draws)), len(draws))
    assert pass_hat_k(decided, passed, k) == Fraction(sum(map(all, draws)), len(draws))


@pytest.mark.parametrize(
    "chance", [Fraction(0), Fraction(1, 7), Fraction(1, 2), Fraction(9, 10), Fraction(1)]
)
@pytest.mark.parametrize(("decided", "k"), [(1, 1), (5, 1), (5, 3), (5, 5), (9, 4)])
def test_both_are_unbiased(chance: Fraction, decided: int, k: int) -> None:
    """Weighted by how likely each number of passes is, the estimates come to what k fresh repeats do, exactly."""
    at = hat = Fraction()
    for passed in range(decided + 1):
        weight = comb(decided, passed) * chance**passed * (1 - chance) ** (decided - passed)
        at_, hat_ = pass_at_k(decided, passed, k), pass_hat_k(decided, passed, k)
        assert at_ is not None
        assert hat_ is not None
        at, hat = at + weight * at_, hat + weight * hat_
    assert at == 1 - (1 - chance) ** k
    assert hat == chance**k


def test_the_naive_power_is_not_what_is_told() -> None:
    """Of 3 in 4 nobody saw four in a row: pass^4 is 0, where (3/4)^4 would claim 32 %."""
    assert Counts(passed=3, failed=1).pass_hat(4).value == 0.0
    assert Counts(passed=3, failed=1).pass_at(2).value == 1.0
    assert Counts(passed=3, failed=1).pass_hat(2).value == 0.5


def test_no_estimate_is_made_for_more_repeats_than_decided() -> None:
    """It would be a guess; the interval still says what is known."""
    assert pass_at_k(3, 2, 4) is None
    assert pass_hat_k(0, 0, 1) is None
    found = Counts(passed=3).pass_hat(4)
    assert found.value is None
    assert (found.lower, found.upper) == (0.007309, 1.0)


@pytest.mark.parametrize(
    ("decided", "passed", "k"), [(2, 3, 1), (2, -1, 1), (2, 1, 0), (-1, -1, 1), (2, 1, -1)]
)
def test_draws_that_there_cannot_be_are_refused(decided: int, passed: int, k: int) -> None:
    """Neither more passes than repeats, nor draws of none."""
    for estimate in (pass_at_k, pass_hat_k):
        with pytest.raises(ValueError, match="can't have passed"):
            estimate(decided, passed, k)


@settings(deadline=None)
@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 10), st.integers(1, 12))
def test_intervals_go_through_both_formulas_and_are_rounded_outwards(
    passed: int, failed: int, undecided: int, k: int
) -> None:
    """The ends for one repeat, raised to k in fractions, lie within a millionth inside of what is told."""
    counts = Counts(passed=passed, failed=failed, undecided=undecided)
    repeats = passed + failed + undecided
    ends = (interval(repeats, passed)[0], interval(repeats, passed + undecided)[1])
    low, high = (Fraction(round(end * PARTS), PARTS) for end in ends)
    hat, at = counts.pass_hat(k), counts.pass_at(k)
    for told, exact, is_lower in (
        (hat.lower, low**k, True),
        (hat.upper, high**k, False),
        (at.lower, 1 - (1 - low) ** k, True),
        (at.upper, 1 - (1 - high) ** k, False),
    ):
        outwards = (exact - Fraction(round(told * PARTS), PARTS)) * (1 if is_lower else -1)
        assert 0 <= outwards < Fraction(1, PARTS)


def test_undecided_repeats_widen_the_interval_at_both_ends() -> None:
    """As failures below and as passes above; the estimate rests on what was decided."""
    open_, closed = Counts(passed=8, failed=1, undecided=3), Counts(passed=8, failed=1)
    assert open_.pass_at(1).lower == interval(12, 8)[0] < closed.pass_at(1).lower
    assert open_.pass_at(1).upper == interval(12, 11)[1]
    assert open_.pass_at(1).value == closed.pass_at(1).value == 0.888889
    nothing = Counts(undecided=5).pass_hat(1)
    assert (nothing.value, nothing.lower, nothing.upper) == (None, 0.0, 1.0)


def test_the_estimate_lies_in_its_interval_where_one_repeat_is_drawn() -> None:
    """For k = 1 both are the share of passes."""
    for passed, failed in product(range(6), range(6)):
        if passed + failed:
            counts = Counts(passed=passed, failed=failed)
            found = counts.pass_at(1)
            assert found == counts.pass_hat(1)
            assert found.value is not None
            assert found.lower <= found.value <= found.upper


def test_inapplicable_repeats_are_none() -> None:
    """They say nothing of the assertion, and change no number."""
    assert Counts(passed=2, not_applicable=7).pass_hat(2) == Counts(passed=2).pass_hat(2)
    assert Counts(passed=2, not_applicable=7).decided == 2


def results(**statuses: str) -> list[Mapping[str, Any]]:
    """Results by their ids; `n/a` is one that does not apply."""
    return [
        {"id": id_, "status": "INCONCLUSIVE", "code": "not_applicable"}
        if status == "n/a"
        else {"id": id_, "status": status}
        for id_, status in statuses.items()
    ]


def taken(*conversations: tuple[Case, list[Mapping[str, Any]]]) -> Repeats:
    """What the conversations add up to."""
    repeats = Repeats()
    for case, found in conversations:
        repeats.take(case, found)
    return repeats


def test_repeats_are_counted_for_each_assertion_of_each_case() -> None:
    """Nothing is summed over cases, assertions or entries."""
    found = taken(
        (Case(suite="s", name="a", repeat=1, repeats=2), results(x="PASS", y="FAIL")),
        (Case(suite="s", name="a", repeat=2, repeats=2), results(x="INCONCLUSIVE", y="n/a")),
        (Case(suite="s", name="b"), results(x="FAIL", y="PASS")),
        (Case(suite="t", name="a"), results(x="PASS")),
    )
    assert [(each.suite, each.case, each.id, each.counts) for each in found.by_case()] == [
        ("s", "a", "x", Counts(passed=1, undecided=1)),
        ("s", "a", "y", Counts(failed=1, not_applicable=1)),
        ("s", "b", "x", Counts(failed=1)),
        ("s", "b", "y", Counts(passed=1)),
        ("t", "a", "x", Counts(passed=1)),
    ]


@pytest.mark.parametrize(
    ("first", "second", "counts"),
    [
        ("PASS", "PASS", Counts(passed=1)),
        ("PASS", "FAIL", Counts(failed=1)),
        ("INCONCLUSIVE", "FAIL", Counts(failed=1)),
        ("PASS", "INCONCLUSIVE", Counts(undecided=1)),
        ("n/a", "PASS", Counts(passed=1)),
        ("n/a", "INCONCLUSIVE", Counts(undecided=1)),
        ("n/a", "n/a", Counts(not_applicable=1)),
    ],
)
def test_a_repeat_of_several_conversations_is_as_good_as_the_worst(
    first: str, second: str, counts: Counts
) -> None:
    """In either order, and whatever other repeats come between."""
    case, other = Case(suite="s", repeat=1, repeats=2), Case(suite="s", repeat=2, repeats=2)
    for these in ((first, second), (second, first)):
        found = taken((case, results(x=these[0])), (other, results(x="PASS")), (case, results(x=these[1])))
        (each,) = found.by_case()
        expected = Counts(
            passed=counts.passed + 1,
            failed=counts.failed,
            undecided=counts.undecided,
            not_applicable=counts.not_applicable,
        )
        assert each.counts == expected


def test_results_of_a_run_and_stored_ones_count_alike() -> None:
    """A run needs not to write its results in order to count them."""
    document = averment.Document.of(
        {
            "version": 1,
            "assertions": [
                {"id": "a", "kind": "phrase", "regex": "refund"},
                {"id": "b", "kind": "phrase", "regex": "nothing"},
                {"id": "c", "kind": "tool_call", "name": "x"},
                {"id": "d", "kind": "phrase", "regex": "x", "applies_if": {"labels": {"lang": "de"}}},
            ],
        }
    )
    transcript = [{"role": "agent", "text": "refund sent"}]
    envelope = averment.run(document, averment.Evidence(transcript=transcript, labels={"lang": "en"}))
    case = Case(suite="s", name="a")
    made, stored = Repeats(), Repeats()
    made.take(case, envelope.results)
    stored.take(case, envelope.to_dict()["results"])
    counts = [each.counts for each in made.by_case()]
    assert counts == [each.counts for each in stored.by_case()]
    assert counts == [Counts(passed=1), Counts(failed=1), Counts(undecided=1), Counts(not_applicable=1)]


def test_over_cases_each_case_is_told_by_what_its_repeats_came_to() -> None:
    """How many cases always, sometimes and never pass: one broken and one mended case don't cancel out."""
    verdicts = {"a": "PP", "b": "PF", "c": "FF", "d": "PI", "e": "II", "f": "nn", "g": "FI", "h": "FP"}
    words = {"P": "PASS", "F": "FAIL", "I": "INCONCLUSIVE", "n": "n/a"}
    repeats = Repeats()
    for name, letters in verdicts.items():
        for index, letter in enumerate(letters):
            case = Case(suite="s", name=name, repeat=index + 1, repeats=2)
            repeats.take(case, results(x=words[letter]))
    (found,) = repeats.over_cases()
    assert (found.always, found.sometimes, found.never) == (1, 2, 2)
    assert (found.undecided, found.not_applicable) == (2, 1)
    assert dict(found.counts)[Counts(passed=1, failed=1)] == 2


def test_the_mean_over_cases_is_over_all_of_them_or_none() -> None:
    """With a case in which fewer than k decided there is no mean: leaving it out would favour some cases."""
    repeats = Repeats()
    for name, letters in {"a": ("PASS", "PASS"), "b": ("PASS", "FAIL"), "c": ("n/a", "n/a")}.items():
        for index, status in enumerate(letters):
            repeats.take(Case(suite="s", name=name, repeat=index + 1, repeats=2), results(x=status))
    (found,) = repeats.over_cases()
    assert (found.pass_hat(1), found.pass_hat(2), found.pass_hat(3)) == (0.75, 0.5, None)
    assert (found.pass_at(1), found.pass_at(2)) == (0.75, 1.0)
    repeats.take(Case(suite="s", name="d"), results(x="INCONCLUSIVE"))
    (found,) = repeats.over_cases()
    assert found.pass_hat(1) is None


def test_an_assertion_that_applies_to_no_case_has_no_mean() -> None:
    """There is nothing to divide by."""
    (found,) = taken((Case(suite="s"), results(x="n/a"))).over_cases()
    assert found.pass_at(1) is None


def test_numbers_of_repeats_may_be_anything_that_a_file_says() -> None:
    """A stored line can claim any repeat: memory goes with the lines, not with the numbers in them."""
    repeats = taken(
        (Case(suite="s", repeat=10**30), results(x="PASS")), (Case(suite="s", repeat=-5), results(x="FAIL"))
    )
    (each,) = repeats.by_case()
    assert each.counts == Counts(passed=1, failed=1)
    assert each.counts.is_flaky
