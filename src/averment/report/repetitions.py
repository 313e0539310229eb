"""What the repeats of a suite's cases came to, as tables for reports in files: pass@k and pass^k, per assertion and case."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from averment.report.repeated import MOST, open_over, percent, ranged
from averment.verdicts.judged import Judged
from averment.verdicts.repeats import OverCases, Repeated, Repeats

__all__ = ["Repetition", "Rows", "repetitions"]


class Rows(msgspec.Struct, frozen=True):
    """A table.

    Attributes:
        names: how many columns, from the left, are names: untrusted text. All others are numbers.
        head: the columns.
        rows: the cells.
        more: how many rows are left out.
    """

    names: int
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    more: int = 0


class Repetition(msgspec.Struct, frozen=True):
    """One entry of a suite whose cases are repeated.

    Attributes:
        suite: its name.
        times: how often each case is repeated.
        over: its assertions over the cases, those only that did not pass every time; empty where all did.
        cases: the cases in which a repeat failed.
    """

    suite: str
    times: int
    over: Rows
    cases: Rows


def repetitions(entries: Iterable[Judged]) -> list[Repetition]:
    """The entries whose cases are repeated, in the order in which they come."""
    repeats, times = Repeats(), dict[str, int]()
    for entry in entries:
        if entry.case is not None and entry.case.repeats > 1:
            repeats.take(entry.case, entry.results)
            times[entry.case.suite] = entry.case.repeats
    over = open_over(repeats)
    failed = [each for each in repeats.by_case() if each.counts.failed]
    return [
        Repetition(
            suite,
            k,
            _over([each for each in over if each.suite == suite], k),
            _cases([each for each in failed if each.suite == suite], k),
        )
        for suite, k in times.items()
    ]


def _over(over: Sequence[OverCases], k: int) -> Rows:
    head = ("assertion", "always", "sometimes", "never", "undecided", "pass^1", f"pass@{k}", f"pass^{k}")
    rows = [
        [
            each.id,
            *(str(count) for count in (each.always, each.sometimes, each.never, each.undecided)),
            *(percent(mean) for mean in (each.pass_hat(1), each.pass_at(k), each.pass_hat(k))),
        ]
        for each in over[:MOST]
    ]
    return Rows(1, head, rows, len(over) - len(rows))


def _cases(failed: Sequence[Repeated], k: int) -> Rows:
    head = ("case", "assertion", "passed", "undecided", "pass^1", f"pass@{k}", f"pass^{k}")
    rows = []
    for each in failed[:MOST]:
        counts = each.counts
        chances = (counts.pass_hat(1), counts.pass_at(k), counts.pass_hat(k))
        passed = f"{counts.passed} of {counts.decided}"
        name = "-" if each.case is None else each.case
        rows.append([name, each.id, passed, str(counts.undecided), *map(ranged, chances)])
    return Rows(2, head, rows, len(failed) - len(rows))
