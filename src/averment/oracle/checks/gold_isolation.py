"""Check I1: the pack's code ran in processes of its own, and tried nothing outside them.

What a pack's code tried on the network, on other processes and on files that are not its own was refused, and is told
here: a pack that is gold on one machine because something there answered is not gold. That it read the clock, or
randomness, or the environment is no failure by itself; check D1 tells whether it shows.

The contract's own reason, `process_worker_required_for_gold`, can't be earned and is not among these: workers are
processes always, and the run option `worker: thread` is refused before anything runs (`unsupported_worker`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from averment.oracle.checks.base import Check
from averment.oracle.findings import Failure, Reason

if TYPE_CHECKING:
    from averment.oracle.checks.bench import Bench

__all__ = ["CHECK"]

REASONS = {
    "network_attempted": Reason(
        "The pack's code tried to reach the network.", "Put what it needs into the fixtures."
    ),
    "process_attempted": Reason(
        "The pack's code tried to start, signal or replace a process.",
        "Compute the answer in the backend itself.",
    ),
    "outside_read_attempted": Reason(
        "The pack's code tried to read a file that is not the pack's.", "Put the file into the pack."
    ),
    "outside_write_attempted": Reason(
        "The pack's code tried to write outside its scratch folder.", "Keep the state in memory."
    ),
    "python_patched": Reason(
        "The pack's code replaced a part of Python that its results pass through.",
        "Leave `json`, `os`, `builtins` and the like as they are.",
    ),
    "interpreter_watched": Reason(
        "The pack's code tried to trace the interpreter or to search its objects.", "Remove it."
    ),
    "thread_left_running": Reason(
        "A thread or an alarm of the pack's code still ran when its step had answered.",
        "Finish the work before returning.",
    ),
}
_REASON_OF = {
    "network": "network_attempted",
    "process": "process_attempted",
    "read": "outside_read_attempted",
    "write": "outside_write_attempted",
    "patch": "python_patched",
    "hook": "interpreter_watched",
    "running": "thread_left_running",
}


def run(bench: Bench) -> Iterator[Failure]:
    """The failures, in the order of the files and lines."""
    for attempt in sorted(bench.workers.attempts):
        reason = _REASON_OF.get(attempt.kind)
        if reason is not None:
            yield Failure(
                reason=reason,
                message=f"{REASONS[reason].about.rstrip('.')}: {attempt.what}",
                file=attempt.file or None,
                line=attempt.line or None,
                facts={"what": attempt.what},
            )


CHECK = Check(id="I1", name="gold_isolation", reasons=REASONS, run=run)
