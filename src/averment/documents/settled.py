"""Assertions whose verdict is settled before any evidence is seen: a check must be able to fail, and to pass.

Everything said here is proved, never guessed: an assertion about which nothing is found may be settled all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain, product
from typing import Any

import msgspec
from msgspec import UNSET

from averment.assertions.base import Assertion, PatternUse, Status
from averment.assertions.bounds import MANY, limits
from averment.assertions.formula_expr import Formula, parse
from averment.policies import PolicyShelf, Rule
from averment.text.patterns import compile_pattern
from averment.text.patterns.extremes import matches_nothing

__all__ = ["Settled", "bounds_of", "chosen_rules", "is_never_decided", "kind_of", "settled", "uses"]

_MAX_REFERENCES = 12
"""The most assertions of a formula whose truth table is worked out: 4096 rows."""

_Path = tuple[str | int, ...]
_SAID_BY_NOBODY = "the pattern matches no text at all"


class Settled(msgspec.Struct, frozen=True):
    """What is settled, and why.

    Attributes:
        status: the verdict that it gets whenever it gets one: PASS or FAIL.
        path: the place within the assertion that settles it.
        why: the reason, a clause.
        mend: the next step, an imperative sentence.
    """

    status: Status
    path: _Path
    why: str
    mend: str


def kind_of(assertion: Assertion) -> str:
    """The name of the assertion's kind."""
    return str(type(assertion).__struct_config__.tag)


def is_never_decided(assertion: Assertion) -> bool:
    """Whether the assertion is INCONCLUSIVE whatever the evidence."""
    return kind_of(assertion) in {"timing_contract", "human_rubric", "judge_rubric"}


def uses(assertion: Any) -> Iterator[PatternUse]:
    """Every regular expression that an assertion searches for in what was said, or in the texts of errors."""
    yield from assertion.patterns()
    source = getattr(assertion, "error_matches", UNSET)
    if source is not UNSET:
        yield PatternUse(("error_matches",), source, ignore_case=True)


def bounds_of(assertion: Any) -> tuple[int, int] | None:
    """How often what the assertion names must happen, at least and at most; None where it counts nothing.

    `absent` means "not once" in every kind that looks for an occurrence (difference 6 of assert-v1.md).
    """
    count = getattr(assertion, "count", UNSET)
    if count is not UNSET:
        return limits(count)
    absent = getattr(assertion, "absent", None)
    if absent is None or (kind_of(assertion) == "tool_call" and assertion.name is UNSET):
        return None
    return (0, 0) if absent else (1, MANY)


def chosen_rules(assertion: Any, shelf: PolicyShelf) -> Sequence[Rule]:
    """The rules that a `policy` holds a transcript to."""
    policy = shelf.policy(assertion.pack, assertion.pack_path)
    return [rule for rule in policy.rules if not assertion.rule_ids or rule.id in assertion.rule_ids]


def settled(assertion: Assertion, dead: Collection[_Path], shelf: PolicyShelf) -> Settled | None:
    """What is settled about an assertion; None when nothing is known to be.

    Args:
        assertion: the assertion.
        dead: the paths of those of its patterns that match nothing.
        shelf: the policies that the document names.
    """
    name = kind_of(assertion)
    if name == "policy":
        return _policy(assertion, shelf)
    if not dead and name not in _WITHOUT_PATTERNS:
        return None
    find = _BY_KIND.get(name)
    return find(assertion, dead) if find else None


def _never_said(status: Status, path: _Path) -> Settled:
    return Settled(status, path, _SAID_BY_NOBODY, "Correct the pattern.")


def _occurrence(assertion: Any, dead: Collection[_Path]) -> Settled:
    """A kind that looks for what its one pattern is found in."""
    return _never_said(Status.PASS if assertion.absent else Status.FAIL, next(iter(dead)))


def _count(assertion: Any, dead: Collection[_Path]) -> Settled | None:
    low, high = limits(assertion.count)
    if dead:
        return _never_said(Status.PASS if low <= 0 <= high else Status.FAIL, ("phrase",))
    return _amount(low, high)


def _amount(low: int, high: int) -> Settled | None:
    if high < 0:
        why = "nothing happens fewer than zero times"
        return Settled(Status.FAIL, ("count",), why, "Set a number from 0 up.")
    if low <= 0 and high == MANY:
        why = "everything happens zero times or more"
        return Settled(Status.PASS, ("count",), why, "Set `min: 1`, or a `max`.")
    return None


def _tool_call(assertion: Any, _: Collection[_Path]) -> Settled | None:
    bounds = bounds_of(assertion)
    amount = None if bounds is None else _amount(*bounds)
    if amount is not None and amount.status is Status.FAIL:
        return amount
    rule = assertion.never_before
    if assertion.require_order is not UNSET or (rule is not UNSET and bounds is not None):
        return None
    if rule is not UNSET and rule.tool == rule.until:
        why = "no call of a tool comes before its first one"
        return Settled(Status.PASS, ("never_before",), why, "Name two tools.")
    return amount


def _order(assertion: Any, dead: Collection[_Path]) -> Settled | None:
    required = {"both": ("before", "after")}.get(assertion.must_occur, (assertion.must_occur,))
    for name in ("before", "after"):
        if (name,) in dead and name in required:
            return _never_said(Status.FAIL, (name,))
    if required != (UNSET,):
        return None  # the other one must be said, which it may fail
    if ("after",) in dead:
        return _never_said(Status.PASS, ("after",))
    return None if assertion.guard else _never_said(Status.PASS, ("before",))


def _claim(assertion: Any, _: Collection[_Path]) -> Settled:
    return _never_said(Status.FAIL if assertion.must_occur else Status.PASS, ("says",))


def _outcome(assertion: Any, dead: Collection[_Path]) -> Settled | None:
    required = [path for path in dead if path[0] == "all_of"]
    if required:
        return _never_said(Status.FAIL, required[0])
    any_of = [path for path in dead if path[0] == "any_of"]
    return _never_said(Status.FAIL, any_of[0]) if len(any_of) == len(assertion.any_of) else None


def _sequence(assertion: Any, dead: Collection[_Path]) -> Settled | None:
    required = [path for path in dead if not assertion.steps[path[1]].absent]
    return _never_said(Status.FAIL, required[0]) if required else None


def _policy(assertion: Any, shelf: PolicyShelf) -> Settled | None:
    rules = chosen_rules(assertion, shelf)
    path = ("pack",) if assertion.pack_path is None else ("pack_path",)
    if not rules:
        return Settled(
            Status.PASS, path, "the policy has no rules", "Add a rule to it, or remove the assertion."
        )
    dead = [matches_nothing(compile_pattern(rule.regex, ignore_case=True)) for rule in rules]
    missing = [rule for rule, is_dead in zip(rules, dead, strict=True) if is_dead and rule.type != "banned"]
    if missing:
        why = f"the pattern of its rule `{missing[0].id}` matches no text at all"
        return Settled(Status.FAIL, path, why, "Correct the pattern.")
    if all(dead):
        why = "the patterns of all its rules match no text at all"
        return Settled(Status.PASS, path, why, "Correct the patterns.")
    return None


def _formula(assertion: Any, _: Collection[_Path]) -> Settled | None:
    formula = parse(assertion.expr)
    if len(formula.references) > _MAX_REFERENCES:
        return None
    rows = _rows(formula)
    always = next(rows)
    if any(row is not always for row in rows):
        return None
    truth = "true" if always else "false"
    why = f"the formula is {truth} whatever the verdicts that it reads"
    mend = "Compare it with what was meant: an `and` for an `or`, a `not`, a number."
    return Settled(Status.PASS if always else Status.FAIL, ("expr",), why, mend)


def _rows(formula: Formula) -> Iterator[bool]:
    """The truth table; its first and last rows, which tell most formulas' rows apart, come first."""
    names = formula.references
    ends = ([False] * len(names), [True] * len(names))
    for row in chain(ends, product((False, True), repeat=len(names))):
        yield formula.evaluate(dict(zip(names, row, strict=True)))


_BY_KIND: dict[str, Callable[[Any, Collection[_Path]], Settled | None]] = {
    "phrase": _occurrence,
    "tool_error": _occurrence,
    "tool_call": _tool_call,
    "count": _count,
    "order": _order,
    "claim": _claim,
    "outcome": _outcome,
    "sequence": _sequence,
    "formula": _formula,
}
_WITHOUT_PATTERNS = frozenset({"tool_call", "count", "formula"})
"""The kinds that may be settled by something other than a pattern that matches nothing."""
