"""Check T1: what never answers is ended.

The framework's own step that never returns is taken in a worker, with a deadline of half a second; the worker has to be
gone soon after. It asks of the machine that certifies, not of the pack, whether a hanging tool would be noticed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from averment.oracle.checks.base import Check
from averment.oracle.findings import Failure, Reason
from averment.oracle.oracles import OracleError
from averment.oracle.worker.deadline import Deadline

if TYPE_CHECKING:
    from averment.oracle.checks.bench import Bench

__all__ = ["CHECK"]

REASONS = {
    "hung_call_was_not_terminated": Reason(
        "A call that never returns was not ended.",
        "Report it, with the platform: deadlines don't work there.",
    ),
    "timeout_overran_its_budget": Reason(
        "A call that never returns was ended long after its deadline.",
        "Try again on a machine with less to do; if it stays, report it.",
    ),
    "timeout_worker_failed": Reason(
        "The worker failed otherwise than by running out of time.", "Report it, with the message."
    ),
}
_DEADLINE_S = 0.5
_GRACE_S = 30.0
"""What a worker may take to start and to end, on a machine that does much else; what hangs would hang forever."""


def run(bench: Bench) -> Iterator[Failure]:
    """The failure, if there is one."""
    budget = Deadline(bench.options.import_timeout_s + _GRACE_S)
    try:
        bench.workers.hang(_DEADLINE_S)
    except OracleError as error:
        if error.trouble != "timeout":
            yield Failure(
                reason="timeout_worker_failed", message=error.message, facts={"trouble": error.trouble}
            )
            return
    else:
        yield Failure(
            reason="hung_call_was_not_terminated", message="a call that never returns has answered", facts={}
        )
        return
    if budget.remaining() <= 0:
        most = bench.options.import_timeout_s + _GRACE_S
        message = f"a call with a deadline of {_DEADLINE_S:g} s was not ended within {most:g} s"
        yield Failure(reason="timeout_overran_its_budget", message=message, facts={})


CHECK = Check(id="T1", name="timeout_wiring", reasons=REASONS, run=run)
