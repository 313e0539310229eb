"""What can become of a verdict from one run to the next, for one assertion of one case.

Either run may have judged the case several times. What it says of the assertion is then one of these; repeats to which the
assertion does not apply are left out:

    holds      every repeat passes
    held       some pass, none fails, some are INCONCLUSIVE
    unknown    all are INCONCLUSIVE
    mixed      some pass and some fail, whatever the others are
    fails      some fail and none passes, whatever the others are
    n/a        it applies to no repeat
    absent     the document does not have it

With one repeat there are only holds, unknown, fails, n/a and absent. From there (rows) to here (columns):

             holds           held               unknown            mixed         fails         n/a                absent
    holds    still_passing   newly_inconclusive newly_inconclusive broken        broken        newly_inapplicable removed
    held     newly_passing   still_inconclusive still_inconclusive broken        broken        newly_inapplicable removed
    unknown  newly_passing   still_inconclusive still_inconclusive newly_failing newly_failing newly_inapplicable removed
    mixed    flaky           flaky              newly_inconclusive flaky         flaky         newly_inapplicable removed
    fails    fixed           newly_inconclusive newly_inconclusive flaky         still_failing newly_inapplicable removed
    n/a      newly_passing   newly_inconclusive newly_inconclusive newly_failing newly_failing still_inapplicable removed
    absent   added           added              added              added         added         added

What the table keeps to:

- One failure is enough to be broken, where none was before; how likely chance alone made it is told beside, and changes nothing.
- A repeat that is INCONCLUSIVE is never guessed, and speaks for nobody: it takes no failure back, so a run that was cut short
  is broken all the same; and nothing is fixed, or passing, while one is open.
- What passes and fails by turns is neither broken by a further failure nor fixed by passing for once.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from functools import lru_cache
from typing import Self

from averment.verdicts.repeats import Counts

__all__ = ["Change", "change"]


class Change(enum.StrEnum):
    """What became of a verdict, the gravest first; `meaning` says it in words."""

    meaning: str

    def __new__(cls, value: str, meaning: str) -> Self:
        """A member whose value is `value`, documented by `meaning`."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member

    BROKEN = "broken", "never failed before, and fails now"
    NEWLY_FAILING = "newly_failing", "had no verdict before, and fails now"
    FLAKY = "flaky", "passes and fails by turns"
    STILL_FAILING = "still_failing", "failed before, and fails now"
    NEWLY_INCONCLUSIVE = "newly_inconclusive", "can no longer be decided, in some repeat at least"
    STILL_INCONCLUSIVE = "still_inconclusive", "could not be decided before, and can't now"
    NEWLY_INAPPLICABLE = "newly_inapplicable", "is not about this conversation any more"
    REMOVED = "removed", "is no longer in the document"
    ADDED = "added", "is new in the document"
    FIXED = "fixed", "never passed before, and passes now"
    NEWLY_PASSING = "newly_passing", "was not decided before, and passes now"
    STILL_PASSING = "still_passing", "passed before, and passes now"
    STILL_INAPPLICABLE = "still_inapplicable", "is not about this conversation, then as now"


_SAME = {
    "holds": Change.STILL_PASSING,
    "held": Change.STILL_INCONCLUSIVE,
    "unknown": Change.STILL_INCONCLUSIVE,
    "mixed": Change.FLAKY,
    "fails": Change.STILL_FAILING,
    "n/a": Change.STILL_INAPPLICABLE,
}
_NOW: Mapping[str, Mapping[str, Change]] = {
    "holds": {
        "held": Change.NEWLY_PASSING,
        "unknown": Change.NEWLY_PASSING,
        "mixed": Change.FLAKY,
        "fails": Change.FIXED,
        "n/a": Change.NEWLY_PASSING,
    },
    "held": {
        "holds": Change.NEWLY_INCONCLUSIVE,
        "unknown": Change.STILL_INCONCLUSIVE,
        "mixed": Change.FLAKY,
        "fails": Change.NEWLY_INCONCLUSIVE,
        "n/a": Change.NEWLY_INCONCLUSIVE,
    },
    "unknown": {
        "holds": Change.NEWLY_INCONCLUSIVE,
        "held": Change.STILL_INCONCLUSIVE,
        "mixed": Change.NEWLY_INCONCLUSIVE,
        "fails": Change.NEWLY_INCONCLUSIVE,
        "n/a": Change.NEWLY_INCONCLUSIVE,
    },
    "mixed": {
        "holds": Change.BROKEN,
        "held": Change.BROKEN,
        "unknown": Change.NEWLY_FAILING,
        "fails": Change.FLAKY,
        "n/a": Change.NEWLY_FAILING,
    },
    "fails": {
        "holds": Change.BROKEN,
        "held": Change.BROKEN,
        "unknown": Change.NEWLY_FAILING,
        "mixed": Change.FLAKY,
        "n/a": Change.NEWLY_FAILING,
    },
}
"""By what it is now, and what it was."""


@lru_cache(maxsize=4096)
def change(old: Counts | None, new: Counts | None) -> Change:
    """What became of an assertion's verdict.

    Args:
        old: what the repeats came to in the old run; None where the assertion was not in the document.
        new: the same for the new run.

    Raises:
        ValueError: it was in neither.
    """
    if new is None:
        if old is None:
            raise ValueError("an assertion that is in neither run can't have changed")
        return Change.REMOVED
    if old is None:
        return Change.ADDED
    was, is_ = _state(old), _state(new)
    if was == is_:
        return _SAME[is_]
    return Change.NEWLY_INAPPLICABLE if is_ == "n/a" else _NOW[is_][was]


def _state(counts: Counts) -> str:
    if counts.failed:
        return "mixed" if counts.passed else "fails"
    if counts.undecided:
        return "held" if counts.passed else "unknown"
    return "holds" if counts.passed else "n/a"
