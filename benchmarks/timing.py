"""How all benchmarks measure: medians of interleaved rounds.

Every round runs every case once, in the same order, so that a machine that is busy for a while is busy for all of
them; the median forgets its worst moments. Rates of different runs can't be compared, ratios of one run can.
"""

from __future__ import annotations

import gc
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

__all__ = ["Case", "cpu", "medians", "table", "wall"]

Case = Callable[[], float]
"""One run of one thing; the seconds that it took."""


def medians(cases: Mapping[str, Case], rounds: int) -> dict[str, float]:
    """The median seconds of each case, after one round that doesn't count."""
    for case in cases.values():
        case()
    seconds: dict[str, list[float]] = {name: [] for name in cases}
    for _ in range(rounds):
        for name, case in cases.items():
            seconds[name].append(case())
    return {name: statistics.median(taken) for name, taken in seconds.items()}


def cpu(work: Callable[[], object]) -> Case:
    """CPU seconds of a call in this process; garbage of earlier cases is collected before, not on its time."""

    def case() -> float:
        gc.collect()
        start = time.process_time()
        work()
        return time.process_time() - start

    return case


def wall(command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Case:
    """Wall seconds of a whole process, from its start to its end; its output is dropped.

    Verdicts may be yes or no, exit codes 0 and 1; anything else is no measurement.
    """

    def case() -> float:
        start = time.perf_counter()
        code = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            check=False,
        ).returncode
        taken = time.perf_counter() - start
        if code not in {0, 1}:
            raise SystemExit(f"{' '.join(command)} ended with exit code {code}")
        return taken

    return case


def table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table; the first column is text, the others are numbers."""
    widths = [max(len(row[column]) for row in (header, *rows)) for column in range(len(header))]
    print(f"\n{title}")
    for row in (header, ["-" * width for width in widths], *rows):
        first, *rest = (
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        print("  ".join([first, *rest]))
