"""What metrics are summed from: of each thing how many hold, of how many, and how many more nobody can tell of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from averment.oracle.grade.calls import Shown
from averment.oracle.grade.gates import Verdict
from averment.oracle.grade.gold import GoldTask
from averment.oracle.grade.path import Compared
from averment.oracle.grade.replayed import Executed

__all__ = ["Count", "all_hold", "count", "counts"]

Truth = bool | None
"""Whether something holds; None where the evidence does not show it."""


class Count(msgspec.Struct, frozen=True):
    """How many hold, of how many, and how many more the evidence does not decide: those are not among the `of`."""

    hits: int = 0
    of: int = 0
    undecided: int = 0


def count(answers: Iterable[Truth]) -> Count:
    """The answers, counted."""
    told = list(answers)
    unknown = sum(answer is None for answer in told)
    return Count(sum(answer is True for answer in told), len(told) - unknown, unknown)


def all_hold(answers: Iterable[Truth]) -> Truth:
    """Whether all hold: one that doesn't decides, then one that nobody can tell of."""
    told = list(answers)
    return False if False in told else None if None in told else True


def counts(
    task: GoldTask,
    run: Shown,
    found: Compared,
    verdicts: Sequence[Verdict],
    executed: Sequence[Executed],
) -> dict[str, Count]:
    """The counts of one run.

    `names` and `calls`: calls of gold of which the tool, or the whole call, was called. `gold_made`: one, whether all
    of them were, whatever else was. `valid`: calls of the run that fit their schemas. `groups`, `texts`, `turns`: of
    gold, with a counterpart. `executed`: calls made again that the oracle answered. `assertions` and
    `assertions_<category>`: those that apply, with what could not be run among the undecided.
    """
    unseen: Truth = False if run.calls_gap is None else None
    of_gold = {pair.gold: pair.comparison for pair in found.pairing.pairs}
    indexes = range(len(task.calls))
    names = [_is_named(of_gold[at].reason) if at in of_gold else unseen for at in indexes]
    calls = [_STATUSES[of_gold[at].status] if at in of_gold else unseen for at in indexes]
    groups = {each.group: None if each.status is None else each.status == "matched" for each in found.groups}
    unsaid: Truth = False if run.turns_gap is None else None
    texts = {at: at in found.turns or unsaid for at, turn in enumerate(task.turns) if not turn.calls}
    turns = [
        texts[at] if at in texts else all_hold(calls[index] for index in turn.calls)
        for at, turn in enumerate(task.turns)
    ]
    return {
        "names": count(names),
        "calls": count(calls),
        "gold_made": count([all_hold(calls)] if calls else []),
        "valid": count(each.valid for each in found.validity),
        "groups": count(groups.get(number, unseen) for number in range(len(task.groups))),
        "texts": count(texts.values()),
        "turns": count(turns),
        "executed": count(call.outcome in {"completed", "business_rejection"} for call in executed),
        "assertions": _held(verdicts),
        **{
            f"assertions_{category}": _held([each for each in verdicts if each.category == category])
            for category in ("state", "path", "final_answer")
        },
    }


_STATUSES: dict[str, Truth] = {"equal": True, "differs": False, "unknown": None}


def _is_named(reason: str) -> Truth:
    return None if reason == "name_not_recorded" else True


def _held(verdicts: Iterable[Verdict]) -> Count:
    """Verdicts on the run; an assertion that broke says nothing of the run."""
    told = {"passed": True, "failed": False, "infrastructure_error": None, "not_run": None}
    return count(told[verdict.status] for verdict in verdicts if verdict.status in told)
