"""Why a task is dropped: the stage that dropped it, and every reason with its mend."""

from __future__ import annotations

from typing import Any

import msgspec

from averment.oracle.findings import Reason
from averment.oracle.replay.twice import REASONS as REPLAYED
from averment.oracle.tasks.dependent import VERDICT as NOT_DERIVED
from averment.oracle.tasks.realizable import REASONS as REALIZED
from averment.oracle.tasks.trace_checks import VERDICT as INVALID

__all__ = ["REASONS", "STAGES", "Drop"]

STAGES = {
    "surface_guard_violation": "render",
    NOT_DERIVED: "expected_trace",
    INVALID: "schema_validation",
    "gold_not_realizable": "schema_validation",
    **dict.fromkeys(REPLAYED, "executable_replay"),
    "gold_call_errs": "executable_replay",
    "trivially_passable": "executable_replay",
}
"""By reason, the stage of the contract (section 7) in which a task is dropped."""

REASONS: dict[str, Reason] = {
    "surface_guard_violation": Reason(
        "What the user says gives away what it must not, or lacks what it must have.",
        "Change the texts or the guards of the template, as the violations say.",
    ),
    NOT_DERIVED: Reason(
        "The gold calls can't be worked out for these values.",
        "Draw the slots from values for which the earlier calls find what the later ones need.",
    ),
    INVALID: Reason(
        "The gold calls are not what the catalog and the template allow.",
        "Correct the calls, the template or the tool's schema, as the failures say.",
    ),
    **REALIZED,
    **REPLAYED,
    "trivially_passable": Reason(
        "An agent that makes no call, silent or declining, or one that calls every tool once, passes all assertions of "
        "the task.",
        "Assert what the right calls bring about, the result or what changed in the state, and which calls there were.",
    ),
}


class Drop(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Why a task is not gold.

    Attributes:
        reason: one of `REASONS`.
        detail: one sentence, or more, without a full stop.
        failures: the particulars, each a mapping with a `reason` or a `guard`.
    """

    reason: str
    detail: str
    failures: tuple[dict[str, Any], ...] = ()

    @property
    def stage(self) -> str:
        """The stage that dropped it."""
        return STAGES[self.reason]
