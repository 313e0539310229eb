"""How often an assertion holds when a case is repeated: pass@k and pass^k, unbiased, with exact intervals.

Of n repeats that decided an assertion, c passed. Had k of the n been drawn at random, none of them twice, then

    pass@k = 1 - C(n-c, k) / C(n, k)     is the chance that at least one of them passed,
    pass^k = C(c, k) / C(n, k)           is the chance that all of them passed.

If repeats are independent and each passes with the same chance p, both are unbiased for what k fresh repeats would do:
`1 - (1-p)^k` and `p^k`. With k above n there is no unbiased estimate, and none is given. The usual `(c/n)^k` is biased: where
3 of 4 passed it makes `(3/4)^4`, 32 %, of what was never seen to happen.

The interval is the exact one for p (`verdicts.exact`); both formulas rise with p, so its ends go through them. Repeats that
are INCONCLUSIVE are never guessed: the lower end counts them as failures and the upper one as passes. A repeat to which the
assertion does not apply is none of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from math import comb
from typing import Any

import msgspec

from averment.engine import Result
from averment.verdicts.exact import PARTS, lower_end
from averment.verdicts.judged import Case

__all__ = ["Counts", "Estimate", "OverCases", "Repeated", "Repeats", "pass_at_k", "pass_hat_k", "rank"]


def pass_at_k(decided: int, passed: int, k: int) -> Fraction | None:
    """The unbiased estimate of the chance that at least one of k repeats passes; None where k is above `decided`.

    Args:
        decided: how many repeats decided, n.
        passed: how many of them passed, c.
        k: how many are drawn, from 1.

    Raises:
        ValueError: so many can't have passed, or be drawn.
    """
    all_fail = pass_hat_k(decided, decided - passed, k)
    return None if all_fail is None else 1 - all_fail


def pass_hat_k(decided: int, passed: int, k: int) -> Fraction | None:
    """The unbiased estimate of the chance that all of k repeats pass; arguments, None and errors as for `pass_at_k`."""
    if not 0 <= passed <= decided or k < 1:
        raise ValueError(f"{passed} of {decided} can't have passed, or {k} be drawn")
    return Fraction(comb(passed, k), comb(decided, k)) if k <= decided else None


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """What can be said of a chance.

    Attributes:
        k: of how many repeats.
        value: the unbiased estimate, to the nearest millionth; None where fewer than k repeats decided.
        lower: the lower end of the exact 95 % interval, rounded down to a millionth.
        upper: its upper end, rounded up.
    """

    k: int
    value: float | None
    lower: float
    upper: float


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """What the repeats of a case came to for one assertion.

    Attributes:
        passed: how many are PASS, c.
        failed: how many are FAIL.
        undecided: how many are INCONCLUSIVE.
        not_applicable: how many the assertion was not about; they are no repeats of it.
    """

    passed: int = 0
    failed: int = 0
    undecided: int = 0
    not_applicable: int = 0

    @property
    def decided(self) -> int:
        """How many decided, n."""
        return self.passed + self.failed

    @property
    def is_flaky(self) -> bool:
        """Whether some passed and some failed."""
        return self.passed > 0 and self.failed > 0

    def pass_at(self, k: int) -> Estimate:
        """pass@k: the chance that at least one of k repeats passes.

        Raises:
            ValueError: k is below 1.
        """
        value = pass_at_k(self.decided, self.passed, k)
        low, high = self._ends()
        return _estimate(
            k, value, PARTS - _power(PARTS - low, k, up=True), PARTS - _power(PARTS - high, k, up=False)
        )

    def pass_hat(self, k: int) -> Estimate:
        """pass^k: the chance that all of k repeats pass.

        Raises:
            ValueError: k is below 1.
        """
        value = pass_hat_k(self.decided, self.passed, k)
        low, high = self._ends()
        return _estimate(k, value, _power(low, k, up=False), _power(high, k, up=True))

    def _ends(self) -> tuple[int, int]:
        """The interval for one repeat, in millionths."""
        repeats = self.decided + self.undecided
        return lower_end(repeats, self.passed), PARTS - lower_end(repeats, self.failed)


def _estimate(k: int, value: Fraction | None, lower: int, upper: int) -> Estimate:
    return Estimate(k=k, value=_rounded(value), lower=lower / PARTS, upper=upper / PARTS)


def _rounded(value: Fraction | None) -> float | None:
    return None if value is None else round(value * PARTS) / PARTS


def _power(base: int, k: int, *, up: bool) -> int:
    """`base ** k` of millionths, rounded down or up to one."""
    exact: int = base**k
    scale: int = PARTS ** (k - 1)
    return -(-exact // scale) if up else exact // scale


class Repeated(msgspec.Struct, frozen=True, kw_only=True):
    """One assertion over the repeats of one case.

    Attributes:
        suite: the name of the suite's entry.
        case: the case's name; None where the entry has none.
        id: the assertion's id.
        counts: what the repeats came to.
    """

    suite: str
    case: str | None
    id: str
    counts: Counts


class OverCases(msgspec.Struct, frozen=True, kw_only=True):
    """One assertion over the cases of a suite's entry.

    Attributes:
        suite: the name of the entry.
        id: the assertion's id.
        always: in how many cases all repeats passed.
        sometimes: in how many some passed and some failed.
        never: in how many none passed, and some failed.
        undecided: in how many none failed, and some or all are INCONCLUSIVE.
        not_applicable: in how many it never applied.
        counts: what the repeats of cases came to, each with the number of cases in which they came to that.
    """

    suite: str
    id: str
    always: int
    sometimes: int
    never: int
    undecided: int
    not_applicable: int
    counts: tuple[tuple[Counts, int], ...]

    def pass_at(self, k: int) -> float | None:
        """The mean of pass@k over the cases to which it applies.

        It is unbiased for the chance that at least one of k repeats passes, of a case drawn at random from these. Cases
        in which fewer than k repeats decided have no estimate, and leaving them out would favour some cases over others,
        so there is no mean then. Nor is there an interval: the exact one is for repeats of one case.

        Returns:
            The mean to the nearest millionth; or None.

        Raises:
            ValueError: k is below 1.
        """
        return self._mean(pass_at_k, k)

    def pass_hat(self, k: int) -> float | None:
        """The mean of pass^k, the chance that all of k repeats pass; otherwise as `pass_at`."""
        return self._mean(pass_hat_k, k)

    def _mean(self, estimate: Callable[[int, int, int], Fraction | None], k: int) -> float | None:
        cases, sum_ = 0, Fraction()
        for counts, times in self.counts:
            if not counts.decided and not counts.undecided:
                continue
            value = estimate(counts.decided, counts.passed, k)
            if value is None:
                return None
            cases, sum_ = cases + times, sum_ + times * value
        return _rounded(sum_ / cases) if cases else None


class Repeats:
    """Adds up verdicts conversation by conversation; no envelope is kept.

    Where a command writes several conversations at once, a repeat fails if one of them does, is undecided if one of them is
    and none fails, and else passes. Conversations may come in any order.

    Example:
        >>> repeats = Repeats()
        >>> for outcome in suite.judge():
        ...     repeats.take(outcome.case, outcome.envelope.results)
        >>> for each in repeats.by_case():
        ...     print(each.case, each.id, each.counts.pass_hat(3))
    """

    def __init__(self) -> None:
        # One byte for each assertion of a repeat; the ids are one tuple for all that have the same.
        self._taken: dict[tuple[str, str | None], dict[int, tuple[tuple[str, ...], bytes]]] = {}
        self._ids: dict[tuple[str, ...], tuple[str, ...]] = {}

    def take(self, case: Case, results: Iterable[Result | Mapping[str, Any]]) -> None:
        """One conversation was judged.

        Args:
            case: which case and repeat it is of.
            results: its results, of an envelope or of one that was stored.
        """
        of_case = self._taken.setdefault((case.suite, case.name), {})
        ids, ranks = of_case.get(case.repeat, ((), b""))
        found = dict(zip(ids, ranks, strict=True))
        for result in results:
            if isinstance(result, Result):
                id_, verdict = result.id, rank(result.status, result.code)
            else:
                id_, verdict = result["id"], rank(result["status"], result.get("code"))
            found[id_] = max(verdict, found.get(id_, 0))
        ids = tuple(found)
        of_case[case.repeat] = self._ids.setdefault(ids, ids), bytes(found.values())

    def by_case(self) -> Iterator[Repeated]:
        """Each assertion of each case, in the order in which they came."""
        for (suite, name), of_case in self._taken.items():
            numbers: dict[str, list[int]] = {}
            for ids, ranks in of_case.values():
                for id_, verdict in zip(ids, ranks, strict=True):
                    numbers.setdefault(id_, [0, 0, 0, 0])[verdict] += 1
            for id_, (inapplicable, passed, undecided, failed) in numbers.items():
                counts = Counts(
                    passed=passed, failed=failed, undecided=undecided, not_applicable=inapplicable
                )
                yield Repeated(suite=suite, case=name, id=id_, counts=counts)

    def over_cases(self) -> Iterator[OverCases]:
        """Each assertion over the cases of each entry, in the order in which they came. Nothing is summed over assertions."""
        found: dict[tuple[str, str], Counter[Counts]] = {}
        for each in self.by_case():
            found.setdefault((each.suite, each.id), Counter())[each.counts] += 1
        for (suite, id_), cases in found.items():
            states = Counter[str]()
            for counts, times in cases.items():
                states[_state(counts)] += times
            yield OverCases(
                suite=suite,
                id=id_,
                always=states["always"],
                sometimes=states["sometimes"],
                never=states["never"],
                undecided=states["undecided"],
                not_applicable=states["not_applicable"],
                counts=tuple(cases.items()),
            )


def _state(counts: Counts) -> str:
    if counts.failed:
        return "sometimes" if counts.passed else "never"
    if counts.undecided:
        return "undecided"
    return "always" if counts.passed else "not_applicable"


_RANKS = {"PASS": 1, "INCONCLUSIVE": 2, "FAIL": 3}


def rank(status: str, code: str | None) -> int:
    """How grave a verdict is: 0 where the assertion does not apply, 1 PASS, 2 INCONCLUSIVE, 3 FAIL."""
    return 0 if code == "not_applicable" else _RANKS[status]
