"""What the repeats of a suite's cases came to, for a person at a terminal: pass@k and pass^k, per assertion and case."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from averment.report.look import Look
from averment.report.tables import Cell, Column, table
from averment.text.shown import brief
from averment.verdicts.repeats import Estimate, OverCases, Repeated, Repeats

__all__ = ["repeated"]

_MOST = 20


def repeated(repeats: Repeats, times: Mapping[str, int], look: Look) -> Iterator[str]:
    """The lines: assertions whose cases do not all pass always, then the cases that failed or stayed undecided.

    Both chances are shown for one repeat, where they are the same, and for as many as there were of the case.

    Args:
        repeats: what was added up.
        times: how many repeats each entry of the suite asks for.
        look: colours and width.
    """
    over = [each for each in repeats.over_cases() if each.sometimes or each.never or each.undecided]
    if not over:
        told = ", ".join(str(number) for number in sorted(set(times.values())))
        yield f"Repeated {told} times: whatever an assertion is about, it passed in every repeat."
        return
    yield from look.lines(_EXPLAINED, style="dim")
    yield from _over_cases(over, times, look)
    cases = (each for each in repeats.by_case() if each.counts.failed or each.counts.undecided)
    shown = [each for _, each in zip(range(_MOST), cases, strict=False)]
    left = sum(1 for _ in cases)
    yield from _of_cases(shown, times, look)
    if left:
        yield f"  and {left} more cases"


_EXPLAINED = "pass@k: at least one of k repeats passes; pass^k: all of them do. Estimates are unbiased, ranges are exact at 95 %."


def _over_cases(over: list[OverCases], times: Mapping[str, int], look: Look) -> list[str]:
    names = ("always", "sometimes", "never", "undecided", "pass^1", "pass@k", "pass^k", "k")
    columns = [Column("assertion, by cases"), *(Column(name, is_number=True) for name in names)]
    rows = []
    for each in over[:_MOST]:
        k = times[each.suite]
        counts = (
            (each.always, "PASS"),
            (each.sometimes, "INCONCLUSIVE"),
            (each.never, "FAIL"),
            (each.undecided, "INCONCLUSIVE"),
        )
        rows.append(
            [
                Cell(f"{brief(each.suite, 40)}: {brief(each.id, 80)}"),
                *(Cell(str(count), style if count else "dim") for count, style in counts),
                *(Cell(_percent(value)) for value in (each.pass_hat(1), each.pass_at(k), each.pass_hat(k))),
                Cell(str(k), "dim"),
            ]
        )
    left = len(over) - len(rows)
    return [*table(columns, rows, look), *([f"  and {left} more assertions"] if left else [])]


def _of_cases(cases: list[Repeated], times: Mapping[str, int], look: Look) -> list[str]:
    columns = [Column("case"), Column("assertion"), Column("passed", is_number=True)]
    columns += [Column(name, is_number=True) for name in ("pass^1", "pass@k", "pass^k", "k")]
    rows = []
    for each in cases:
        k, counts = times[each.suite], each.counts
        name = brief(each.suite, 40) + ("" if each.case is None else f": {brief(each.case, 80)}")
        undecided = f", {counts.undecided} undecided" if counts.undecided else ""
        passed = Cell(
            f"{counts.passed} of {counts.decided}{undecided}", "FAIL" if counts.failed else "INCONCLUSIVE"
        )
        chances = (counts.pass_hat(1), counts.pass_at(k), counts.pass_hat(k))
        rows.append(
            [
                Cell(name),
                Cell(brief(each.id, 80)),
                passed,
                *(Cell(_range(chance)) for chance in chances),
                Cell(str(k), "dim"),
            ]
        )
    return table(columns, rows, look)


def _range(chance: Estimate) -> str:
    return f"{_percent(chance.value)} ({_plain(chance.lower)}-{_plain(chance.upper)})"


def _percent(value: float | None) -> str:
    return "none" if value is None else f"{_plain(value)} %"


def _plain(value: float) -> str:
    return f"{value * 100:.1f}".removesuffix(".0")
