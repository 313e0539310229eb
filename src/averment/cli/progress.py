"""How far a run is, on standard error, while it goes on; only for somebody who looks at a terminal.

Nothing is drawn into logs, pipes and CI, and nothing for a few conversations of unknown number: what draws (rich) is
imported only when there is much to do. The line is gone at the end, and while anything else is printed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from averment.cli.outputs import is_terminal

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

__all__ = ["MANY", "Steps", "progress"]

MANY = 50
"""From how many conversations on it is shown where nobody knows how many there are; known to be several, it is at once."""


class Steps:
    """What is told of progress.

    Args:
        total: how many steps there are; None where that is not known.
        is_shown: whether anybody looks.
    """

    def __init__(self, total: int | None, *, is_shown: bool) -> None:
        self._total = total
        self._is_shown = is_shown
        self._done = 0
        self._failing = 0
        self._drawn: tuple[Progress, TaskID] | None = None
        if total is not None and total > 1:
            self._draw()

    def advance(self, *, failing: bool = False) -> None:
        """One more step is done.

        Args:
            failing: whether the gate says no for it, or can't say yes.
        """
        self._done += 1
        self._failing += failing
        if self._drawn is None and self._total is None and self._done >= MANY:
            self._draw()
        elif self._drawn is not None:
            bar, task = self._drawn
            bar.start()
            bar.update(task, completed=self._done, failing=self._failing)

    def pause(self) -> None:
        """Takes the line away until the next step: something else is about to be printed."""
        if self._drawn is not None:
            self._drawn[0].stop()

    def _draw(self) -> None:
        if not self._is_shown:
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn
        from rich.text import Text

        class Rate(ProgressColumn):
            """How many conversations are judged in a second."""

            def render(self, task: Task) -> Text:
                speed = task.finished_speed or task.speed or 0
                return Text(f"{speed:,.0f}/s" if speed >= 10 else f"{speed:.1f}/s" if speed else "")

        known = self._total is not None
        bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.completed:,.0f} of {task.total:,.0f}" if known else "{task.completed:,.0f}"),
            TextColumn("conversations"),
            *((BarColumn(bar_width=30),) if known else ()),
            Rate(),
            TextColumn("{task.fields[failing]:,} failing"),
            console=Console(stderr=True),
            transient=True,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        self._drawn = bar, bar.add_task("", total=self._total, completed=self._done, failing=self._failing)
        bar.start()


@contextmanager
def progress(total: int | None = None) -> Iterator[Steps]:
    """Shows progress while the block runs, to whoever looks at a terminal; `averment.cli.verdicts` does it for runs.

    Args:
        total: how many steps there will be; None where that is not known.

    Example:
        >>> with progress(len(cases)) as steps:
        ...     for case in cases:
        ...         steps.advance(failing=not judged(case))
    """
    steps = Steps(total, is_shown=is_terminal(sys.stderr) and not os.environ.get("CI"))
    try:
        yield steps
    finally:
        steps.pause()
