"""Deadlines, and the only clock of the package.

No verdict depends on it: where time runs out there is no answer to judge, and the step is reported as such. The clock
is monotonic, so that setting the system's time neither ends a wait nor prolongs it.
"""

from __future__ import annotations

import time

__all__ = ["Deadline", "Stopwatch"]


class Deadline:
    """A point in time, so many seconds from now."""

    __slots__ = ("_end",)

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def remaining(self) -> float:
        """Seconds until then; 0.0 once it has passed."""
        return max(0.0, self._end - time.monotonic())


class Stopwatch:
    """The time since it was made, for people who wait; nothing that is written depends on it."""

    __slots__ = ("_start",)

    def __init__(self) -> None:
        self._start = time.monotonic()

    def seconds(self) -> float:
        """Seconds since then."""
        return time.monotonic() - self._start
