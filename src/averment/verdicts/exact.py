"""Statistics of small numbers, exact: the interval of Clopper and Pearson, and Fisher's test.

All of it is integer arithmetic. Logarithms and gamma functions differ in their last digits from one C library to the next,
and so would reports. What is rounded is rounded to a millionth, and to the side that claims less.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb

__all__ = ["PARTS", "fails_more", "interval", "lower_end"]

PARTS = 10**6
"""Into how many parts probabilities are told."""

_TAILS = 40
"""One over the chance that is left out at each end: 2.5 %, for an interval of 95 %."""

_BITS = 160
"""Binary digits behind the point of sums; what they can't tell apart is compared exactly."""


def interval(trials: int, passed: int) -> tuple[float, float]:
    """The exact 95 % interval for the chance to pass, rounded outwards to a millionth.

    It is that of Clopper and Pearson (Biometrika 26, 1934): whatever the chance is, the interval has it at least 95 times
    in a hundred.

    Args:
        trials: how many there were; with none the interval is everything, from 0 to 1.
        passed: how many of them passed.

    Raises:
        ValueError: so many can't have passed.
    """
    return lower_end(trials, passed) / PARTS, (PARTS - lower_end(trials, trials - passed)) / PARTS


def lower_end(trials: int, passed: int) -> int:
    """The lower end in millionths: the largest p at which so many passes, or more, have a chance of 2.5 % at most.

    The upper end is one minus the lower end for failures. Arguments and errors are those of `interval`.
    """
    if not 0 <= passed <= trials:
        raise ValueError(f"{passed} of {trials} can't have passed")
    return _lower_end(trials, passed)


@lru_cache(maxsize=4096)
def _lower_end(trials: int, passed: int) -> int:
    if passed == 0:
        return 0
    low, high = 0, PARTS * passed // trials + 1
    ways = comb(trials, passed)
    while high - low > 1:
        middle = (low + high) // 2
        if _is_unlikely(trials, passed, middle, ways):
            low = middle
        else:
            high = middle
    return low


def _is_unlikely(n: int, c: int, part: int, ways: int) -> bool:
    """Whether P(X >= c) <= 1/40, where X is binomial with n and p = part / 10^6, at most c / n.

    The sum of the terms from c on is the first one times a sum of products of ratios, which are below 1 as p is at most
    c / n. Both are kept between two bounds, and compared exactly in the rare case that these can't tell.

    Args:
        n: the trials.
        c: the passes.
        part: p in millionths.
        ways: C(n, c).
    """
    rest = PARTS - part
    low, high = _sums(n, c, part)
    if _is_at_most(_times(n, c, part, ways * high, up=True), _power(PARTS, n, up=False)):
        return True
    if not _is_at_most(_times(n, c, part, ways * low, up=False), _power(PARTS, n, up=True)):
        return False
    exact: int = _TAILS * sum(comb(n, i) * part**i * rest ** (n - i) for i in range(c, n + 1))
    whole: int = PARTS**n
    return exact <= whole


def _sums(n: int, c: int, part: int) -> tuple[int, int]:
    """Bounds for the sum of the terms from c on, in units of the first one, times 2^160."""
    rest = PARTS - part
    low = high = low_sum = high_sum = 1 << _BITS
    for i in range(c, n):
        above, below = (n - i) * part, (i + 1) * rest
        low = low * above // below
        high = -(-high * above // below)
        low_sum += low
        high_sum += high
        if low == 0:  # terms fall, so no later one is above this one's upper bound
            return low_sum, high_sum + high * (n - i - 1)
    return low_sum, high_sum


_Rounded = tuple[int, int]
"""A number of 160 binary digits at most, and by how many places it is to be shifted left."""


def _times(n: int, c: int, part: int, terms: int, *, up: bool) -> _Rounded:
    """40 terms, in units of p^c (1-p)^(n-c) (10^6)^n 2^-160, rounded down or up."""
    of_pass, of_fail = _power(part, c, up=up), _power(PARTS - part, n - c, up=up)
    return _cut(_TAILS * terms * of_pass[0] * of_fail[0], of_pass[1] + of_fail[1] - _BITS, up=up)


def _power(base: int, times: int, *, up: bool) -> _Rounded:
    """`base ** times`, rounded down or up."""
    found, square = (1, 0), (base, 0)
    while times:
        if times & 1:
            found = _cut(found[0] * square[0], found[1] + square[1], up=up)
        square = _cut(square[0] ** 2, square[1] * 2, up=up)
        times >>= 1
    return found


def _cut(number: int, shift: int, *, up: bool) -> _Rounded:
    excess = max(number.bit_length() - _BITS, 0)
    return (-(-number >> excess) if up else number >> excess), shift + excess


def _is_at_most(left: _Rounded, right: _Rounded) -> bool:
    by = left[1] - right[1]
    return left[0] << max(by, 0) <= right[0] << max(-by, 0)


def fails_more(old_passed: int, old_failed: int, new_passed: int, new_failed: int) -> float | None:
    """How likely chance alone puts so many of the failures into the new trials: Fisher's exact test, one-sided.

    If all trials, with their outcomes, were dealt out at random to old and new, that is the chance that new gets as many
    failures as it has, or more. A small one speaks against chance. It is rounded up to a millionth.

    Returns:
        The chance; None where old or new has no trials, of which nothing can be told.
    """
    if not old_passed + old_failed or not new_passed + new_failed:
        return None
    return _fails_more(old_passed, old_failed, new_passed, new_failed) / PARTS


@lru_cache(maxsize=4096)
def _fails_more(old_passed: int, old_failed: int, new_passed: int, new_failed: int) -> int:
    passed, failed = old_passed + new_passed, old_failed + new_failed
    new = new_passed + new_failed
    most = min(failed, new)
    # The ways for the most failures that new can have, and from there down to those that it has.
    ways = sum_ = comb(failed, most) * comb(passed, new - most)
    for i in range(most, new_failed, -1):
        ways = ways * i * (passed - new + i) // ((failed - i + 1) * (new - i + 1))
        sum_ += ways
    return -(-sum_ * PARTS // comb(passed + failed, new))
