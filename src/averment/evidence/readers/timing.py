"""Timing evidence: a list of events, an object with a list `events`, or any other object as it stands.

Nothing is interpreted here: which fields of an event are measurements is for assertions to say. Events have no field
of their own to know them by, so timing is only what was named as timing.
"""

from __future__ import annotations

from averment.evidence.draft import Draft, Part, kind_of

__all__ = ["read"]


def read(part: Part, draft: Draft) -> None:
    """Keep the timing evidence as it is, without the envelope of a list of events."""
    timing = part.value
    if isinstance(timing, dict) and isinstance(timing.get("events"), list):
        timing = timing["events"]
    if not isinstance(timing, (list, dict)):
        draft.problems.append(
            part.problem(
                "wrong_type", "timing must be events", expected="a list or an object", found=kind_of(timing)
            )
        )
        return
    draft.timing = timing
    draft.cover("timing", len(timing))
