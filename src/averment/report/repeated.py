"""What the repeats of a suite's cases came to, for a person at a terminal: pass@k and pass^k, per assertion and case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from averment.report.look import Look
from averment.report.tables import Cell, Column, table
from averment.text.shown import brief
from averment.verdicts.repeats import Estimate, OverCases, Repeated, Repeats

__all__ = ["EXPLAINED", "MOST", "open_over", "percent", "ranged", "repeated"]

MOST = 20
"""Rows of a table."""
EXPLAINED = "pass@k: at least one of k repeats passes; pass^k: all of them do. Estimates are unbiased, ranges are exact at 95 %."
"""What the columns mean."""


def repeated(repeats: Repeats, times: Mapping[str, int], look: Look) -> Iterator[str]:
    """The lines: assertions whose cases do not all pass always, then the cases in which a repeat failed.

    Both chances are shown for one repeat, where they are the same, and for as many as there were of the case.

    Args:
        repeats: what was added up.
        times: how many repeats each entry of the suite asks for.
        look: colours and width.
    """
    over = open_over(repeats)
    if not over:
        told = ", ".join(str(number) for number in sorted(set(times.values())))
        yield f"Repeated {told} times: whatever an assertion is about, it passed in every repeat."
        return
    failed = [each for each in repeats.by_case() if each.counts.failed]
    for suite in dict.fromkeys(each.suite for each in over):
        k = times[suite]
        yield f"{brief(suite, 80)}, repeated {k} times: in how many cases"
        yield from _over_cases([each for each in over if each.suite == suite], k, look)
        yield from _of_cases([each for each in failed if each.suite == suite], k, look)
        yield ""
    yield from look.lines(EXPLAINED, style="dim")


def open_over(repeats: Repeats) -> list[OverCases]:
    """The assertions that did not pass in every repeat to which they apply."""
    return [each for each in repeats.over_cases() if each.sometimes or each.never or each.undecided]


def _over_cases(over: Sequence[OverCases], k: int, look: Look) -> Iterator[str]:
    names = ("always", "sometimes", "never", "undecided", "pass^1", f"pass@{k}", f"pass^{k}")
    rows = []
    for each in over[:MOST]:
        counts = (
            (each.always, "PASS"),
            (each.sometimes, "INCONCLUSIVE"),
            (each.never, "FAIL"),
            (each.undecided, "INCONCLUSIVE"),
        )
        means = (each.pass_hat(1), each.pass_at(k), each.pass_hat(k))
        rows.append(
            [
                Cell(brief(each.id, 80)),
                *(Cell(str(count), style if count else "dim") for count, style in counts),
                *(Cell(percent(mean)) for mean in means),
            ]
        )
    yield from table([Column("assertion"), *(Column(name, is_number=True) for name in names)], rows, look)
    if len(over) > MOST:
        yield f"  and {len(over) - MOST} more assertions"


def _of_cases(failed: Sequence[Repeated], k: int, look: Look) -> Iterator[str]:
    names = ("passed", "pass^1", f"pass@{k}", f"pass^{k}")
    columns = [Column("case"), Column("assertion"), *(Column(name, is_number=True) for name in names)]
    rows = []
    for each in failed[:MOST]:
        counts = each.counts
        undecided = f", {counts.undecided} undecided" if counts.undecided else ""
        chances = (counts.pass_hat(1), counts.pass_at(k), counts.pass_hat(k))
        rows.append(
            [
                Cell("-" if each.case is None else brief(each.case, 80)),
                Cell(brief(each.id, 80)),
                Cell(f"{counts.passed} of {counts.decided}{undecided}", "FAIL"),
                *(Cell(ranged(chance)) for chance in chances),
            ]
        )
    if rows:
        yield ""
        yield from table(columns, rows, look)
    if len(failed) > MOST:
        yield f"  and {len(failed) - MOST} more"


def ranged(chance: Estimate) -> str:
    """An estimate with its interval, in percent."""
    # Ends are rounded outwards, so that what is shown holds what is meant.
    lower, upper = (round(end * 1_000_000) for end in (chance.lower, chance.upper))
    return f"{percent(chance.value)} ({_tenths(lower // 1000)}-{_tenths(-(-upper // 1000))})"


def percent(value: float | None) -> str:
    """A chance in percent, to a tenth; `-` where there is no estimate."""
    return "-" if value is None else f"{_tenths(round(value * 1000))} %"


def _tenths(number: int) -> str:
    return f"{number / 10:.1f}".removesuffix(".0")
