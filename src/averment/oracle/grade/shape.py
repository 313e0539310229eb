"""The turns of a run against the turns of gold: which text stands in for which, what was called at once, who agreed.

A run may hold more turns than gold. So turns are aligned in order, as two versions of a text are: a text with a text,
calls with calls of which some are paired, so that the most calls and then the most texts have a counterpart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from averment.oracle.catalog import canonical
from averment.oracle.grade.calls import Call, RunTurn, Shown
from averment.oracle.grade.compare import Pair, Pairing
from averment.oracle.grade.gold import GoldTask, GoldTurn
from averment.oracle.grade.policy import Policy

__all__ = ["Grouping", "aligned", "grouped", "says_confirmed", "unearned"]


class Grouping(msgspec.Struct, frozen=True):
    """How the calls of one group of gold were made: at once and alone, or how else; None where it is not known."""

    group: int
    status: Literal["matched", "group_split", "group_joined"] | None


def aligned(task: GoldTask, run: Shown, pairing: Pairing, policy: Policy) -> dict[int, int]:
    """By the index of a turn of gold the index of its counterpart in the run; turns without one are left out."""
    turn_of = {index: at for at, turn in enumerate(run.turns) for index in turn.calls}
    paired: dict[tuple[int, int], int] = {}
    gold_turn_of = {index: at for at, turn in enumerate(task.turns) for index in turn.calls}
    for pair in pairing.pairs:
        if pair.gold in gold_turn_of and pair.call in turn_of:
            place = gold_turn_of[pair.gold], turn_of[pair.call]
            paired[place] = paired.get(place, 0) + 1
    rows, columns = len(task.turns), len(run.turns)
    weight = rows + 1  # a pair of calls is worth more than all texts together
    last_text = max((at for at, turn in enumerate(task.turns) if not turn.calls), default=-1)

    def worth(row: int, column: int) -> int:
        gold, turn = task.turns[row], run.turns[column]
        if gold.calls:
            return weight * paired.get((row, column), 0)
        if turn.calls or not (turn.text or "").strip():
            return 0
        is_free = policy.text == "structural" or row == last_text
        return 1 if is_free or turn.text == gold.text else 0

    best = [[0] * (columns + 1) for _ in range(rows + 1)]
    for row in reversed(range(rows)):
        for column in reversed(range(columns)):
            here = worth(row, column)
            best[row][column] = max(
                best[row + 1][column],
                best[row][column + 1],
                here + best[row + 1][column + 1] if here else 0,
            )
    found: dict[int, int] = {}
    row = column = 0
    while row < rows and column < columns:
        here = worth(row, column)
        if here and best[row][column] == here + best[row + 1][column + 1]:
            found[row] = column
            row, column = row + 1, column + 1
        elif best[row][column] == best[row][column + 1]:
            column += 1
        else:
            row += 1
    return found


def grouped(task: GoldTask, run: Shown, pairing: Pairing) -> list[Grouping]:
    """How each group of gold was made, of those whose calls were all called; names alone count here.

    Calls of gold that are the same are each other's equals: which of them is paired with which call makes no group.
    """
    call_of = {pair.gold: pair.call for pair in pairing.pairs}
    kind_of = _kinds(task)
    made = {pair.call: kind_of[pair.gold] for pair in pairing.pairs}
    free = [at for at, turn in enumerate(run.turns) if turn.calls and _is_apart(run, at)]
    found = []
    for number, group in enumerate(task.groups):
        if not all(index in call_of for index in group):
            continue
        kinds = sorted(kind_of[index] for index in group)
        # What gold does not have is of no kind, and sorts before all that are.
        match = next(
            (at for at in free if sorted(made.get(call, -1) for call in run.turns[at].calls) == kinds), None
        )
        if match is not None:
            free.remove(match)
            found.append(Grouping(number, "matched"))
        else:
            found.append(Grouping(number, _grouping({call_of[index] for index in group}, run)))
    return found


def _kinds(task: GoldTask) -> list[int]:
    """For each call of gold the index of the first that is the same."""
    first: dict[tuple[str, bytes | None], int] = {}
    return [
        first.setdefault((call.function_name, canonical.key(call.arguments)), index)
        for index, call in enumerate(task.calls)
    ]


def _is_apart(run: Shown, at: int) -> bool:
    """Whether the calls of a turn are known to be all that were made at once."""
    return run.turns[at].apart and all(turn.apart for turn in run.turns[at + 1 : at + 2])


def _grouping(calls: set[int], run: Shown) -> Literal["group_split", "group_joined"] | None:
    """How calls were made that were not made at once and alone; None where that is not known."""
    turns = sorted({turn for index in calls if (turn := run.calls[index].turn) is not None})
    if not turns:
        return None
    first, last = turns[0], turns[-1]
    if any(run.turns[at].apart for at in range(first + 1, last + 1)):
        return "group_split"
    return "group_joined" if first == last and set(run.turns[first].calls) != calls else None


def unearned(
    task: GoldTask, run: Shown, pairing: Pairing, confirmations: Mapping[str, str]
) -> list[tuple[int, bool]]:
    """The calls that say that the user has agreed, and were not earned; True for those of which it is not known.

    Such a call is earned when it is one of gold's, which has it only where the user has just agreed; when the whole
    batch is that of gold; and when the user has answered as many texts since the batch before as in gold, the last of
    them right before this batch.

    Args:
        task: the task.
        run: the run.
        pairing: its calls with those of gold.
        confirmations: by the name of each tool that asks for the user's word the parameter that says it was given.
    """
    by_call = {pair.call: pair for pair in pairing.pairs}
    suspects = []
    for index, call in enumerate(run.calls):
        said = says_confirmed(call, confirmations)
        if said is False:
            continue
        answer = _is_earned(index, call, task, run, by_call)
        if answer is not True:
            suspects.append((index, answer is None or said is None))
    return suspects


def says_confirmed(call: Call, confirmations: Mapping[str, str]) -> bool | None:
    """Whether a call says that the user has agreed: by `true`, or by whatever an oracle may take for it, as `"yes"` or 1."""
    if call.name is None:
        return None if confirmations else False
    parameter = confirmations.get(call.name)
    if parameter is None or call.unfit is not None:
        return False
    if isinstance(call.arguments, dict) and call.hidden is None:
        return bool(call.arguments.get(parameter))
    return None


def _is_earned(
    index: int, call: Call, task: GoldTask, run: Shown, by_call: Mapping[int, Pair]
) -> bool | None:
    pair = by_call.get(index)
    if pair is None or pair.comparison.status == "differs":
        return False
    if call.turn is None:
        return None
    row = next((at for at, turn in enumerate(task.turns) if pair.gold in turn.calls), None)
    if row is None:
        return False
    turn = run.turns[call.turn]
    batch = [by_call.get(each) for each in turn.calls]
    partners = {each.gold for each in batch if each is not None and each.comparison.status != "differs"}
    if not partners <= set(task.turns[row].calls) or None in batch or len(partners) != len(batch):
        return False
    if not turn.heard_user or _answered(run.turns, call.turn) < _answered(task.turns, row):
        return None if run.turns_gap is not None or not turn.apart else False
    is_whole = len(partners) == len(task.turns[row].calls)
    after = run.turns[call.turn + 1 : call.turn + 2]
    if not is_whole:
        return None if any(not each.apart for each in after) else False
    is_known = pair.comparison.status == "equal" and all(
        each is not None and each.comparison.status == "equal" for each in batch
    )
    return True if is_known else None


def _answered(turns: Sequence[RunTurn] | Sequence[GoldTurn], at: int) -> int:
    """How many texts right before a turn the user has answered."""
    count = 0
    while at and not turns[at - 1].calls:
        count += turns[at].heard_user
        at -= 1
    return count
