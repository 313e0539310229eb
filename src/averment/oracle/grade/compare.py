"""One call of a run against one call of gold, and a set of calls against a set (contract, 9.1 and 9.2).

Two calls are equal when both are of one tool and were given the same. In this order:

1. The names are the same. (What is no call of a function has no object for arguments, so it equals none.)
2. The call was given an object, read once by strict JSON.
3. The object fits the tool's schema as it is: a required argument with a default must be given all the same.
4. On both sides, at every depth, what is left out has the default that its schema declares.
5. Arguments that have a default and that gold never states are left aside, whatever the call says.
6. The rest is the same by canonical equality: `1`, `1.0`, `"1"` and `true` are four values; the order of keys says nothing.

`Policy.arguments` takes 3 to 5 out, `Policy.unstated_defaults` 5. What the evidence does not show makes a comparison
unknown, unless what it shows differs already.

Sets are paired so that the fewest calls differ, then the fewest are unknown, then the fewest arguments differ, then by
position. Only calls of one name are paired; what is left of both sides is put side by side in its order, to say which
tool was called instead of which.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec import UNSET

from averment.evidence.redaction import holds_redacted
from averment.oracle.catalog import canonical
from averment.oracle.catalog.arguments import ArgumentFailure, argument_failures
from averment.oracle.catalog.defaults import declared_defaults, with_defaults
from averment.oracle.catalog.schema import OutOfStepsError
from averment.oracle.checks.divergence import first_difference
from averment.oracle.grade.assignment import assigned
from averment.oracle.grade.calls import Call
from averment.oracle.grade.gold import GoldCall
from averment.oracle.grade.policy import Policy
from averment.text.jsonvalue import show

__all__ = ["MAX_COMPARED", "REASONS", "Comparison", "Pair", "Pairing", "compare_call", "pair_calls"]

MAX_COMPARED = 1_000
"""How many calls of one tool a run's are looked at; gold expects fewer, so the rest is unexpected anyway."""

_MAX_TOLD = 5
"""How many arguments an explanation names."""

REASONS: dict[str, str] = {
    "equal": "The call is the one that gold has.",
    "name_differs": "Another tool was called.",
    "arguments_unreadable": "The arguments are no text that strict JSON reads, and nothing is repaired.",
    "arguments_not_object": "The arguments are JSON, and no object.",
    "schema_violated": "The arguments do not fit the tool's schema, before defaults are filled in.",
    "arguments_differ": "The arguments are not those of gold.",
    "name_not_recorded": "The evidence does not show which tool was called.",
    "arguments_not_recorded": "The evidence does not show the arguments.",
    "arguments_redacted": "Parts of the arguments were taken out, and what is left does not differ.",
    "arguments_truncated": "The arguments were cut.",
    "arguments_conflicting": "The evidence shows two payloads that differ.",
    "schema_too_large": "The tool's schema takes too many steps to follow.",
}
"""What the reason of a comparison means."""


class Comparison(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One call against one call of gold.

    Attributes:
        status: whether they are equal, or differ, or the evidence does not show it.
        reason: one of `REASONS`.
        missing: arguments that gold has and the call has not, sorted.
        unexpected: arguments that the call has and gold has not, sorted.
        differing: arguments that both have, with other values, sorted.
        failures: how the arguments break the tool's schema.
        explanation: one sentence without a full stop, for people.
    """

    status: Literal["equal", "differs", "unknown"]
    reason: str
    missing: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()
    differing: tuple[str, ...] = ()
    failures: tuple[ArgumentFailure, ...] = ()
    explanation: str = ""

    @property
    def distance(self) -> int:
        """How many arguments are not as in gold."""
        return len(self.missing) + len(self.unexpected) + len(self.differing)


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """A call of gold and the call of the run that it is compared with, by their indexes."""

    gold: int
    call: int
    comparison: Comparison


class Pairing(msgspec.Struct, frozen=True, kw_only=True):
    """Two sets of calls, paired.

    Attributes:
        pairs: of one name each, in the order of gold.
        instead: of two names: what was called in place of what, for explanation alone.
        missing: calls of gold without a call of their name.
        unexpected: calls of the run without a call of their name in gold.
    """

    pairs: tuple[Pair, ...] = ()
    instead: tuple[Pair, ...] = ()
    missing: tuple[int, ...] = ()
    unexpected: tuple[int, ...] = ()


def compare_call(gold: GoldCall, call: Call, parameters: object, policy: Policy) -> Comparison:
    """Compare one call with one call of gold.

    Args:
        gold: what is expected.
        call: what was called.
        parameters: the tool's schema of arguments; None where the task has no such tool, and then nothing is asked of it.
        policy: how.
    """
    if call.name is None:
        return Comparison(
            status="unknown",
            reason="name_not_recorded",
            explanation=f"which tool {call.id} is a call of is not recorded; gold calls `{gold.name}`",
        )
    if call.name != gold.name:
        return Comparison(
            status="differs",
            reason="name_differs",
            explanation=f"{call.id} calls `{call.name}`, and gold calls `{gold.name}`",
        )
    if call.unfit is not None:
        return Comparison(
            status="differs",
            reason=call.unfit,
            missing=tuple(sorted(gold.arguments)),
            explanation=f"the arguments of {call.id} are {_UNFIT[call.unfit]}",
        )
    if call.arguments is UNSET:
        return _unknown(call)
    try:
        return _compared(gold, call, parameters, policy)
    except OutOfStepsError as error:
        return Comparison(
            status="unknown", reason="schema_too_large", explanation=f"{call.id} can't be compared: {error}"
        )


_UNFIT = {"arguments_unreadable": "no text that strict JSON reads", "arguments_not_object": "no object"}


def _compared(gold: GoldCall, call: Call, parameters: object, policy: Policy) -> Comparison:
    expected, given = gold.arguments, call.arguments
    hidden = {name for name, value in given.items() if call.hidden is not None and holds_redacted(value)}
    failures: tuple[ArgumentFailure, ...] = ()
    free: frozenset[str] = frozenset()
    if policy.arguments == "schema_then_canonical" and parameters is not None:
        failures = tuple(
            failure
            for failure in argument_failures(parameters, given)
            if not failure.steps or failure.steps[0] not in hidden
        )
        if policy.unstated_defaults == "free":
            free = frozenset(declared_defaults(parameters)) - frozenset(expected)
        expected = with_defaults(parameters, expected)
        given = with_defaults(parameters, given)
    left_out = free | hidden
    expected, given = (
        {name: side[name] for name in side if name not in left_out} for side in (expected, given)
    )
    missing = sorted(expected.keys() - given.keys())
    unexpected = sorted(given.keys() - expected.keys())
    differing = sorted(
        name for name in expected.keys() & given.keys() if not canonical.equal(expected[name], given[name])
    )
    if failures or missing or unexpected or differing:
        return Comparison(
            status="differs",
            reason="schema_violated" if failures else "arguments_differ",
            missing=tuple(missing),
            unexpected=tuple(unexpected),
            differing=tuple(differing),
            failures=failures,
            explanation=_explained(
                call, failures, _differences(expected, given, missing, unexpected, differing)
            ),
        )
    if hidden:
        return _unknown(call)
    return Comparison(status="equal", reason="equal", explanation=f"{call.id} is the call that gold has")


def _unknown(call: Call) -> Comparison:
    reason = call.hidden or "arguments_not_recorded"
    words = reason.replace("_", " ")
    return Comparison(
        status="unknown",
        reason=reason,
        explanation=f"{call.id} calls `{call.name}`: {words}, so nothing is known",
    )


def _differences(
    expected: Mapping[str, Any],
    given: Mapping[str, Any],
    missing: Sequence[str],
    unexpected: Sequence[str],
    differing: Sequence[str],
) -> list[str]:
    told = [f"`{name}` is missing: gold has {show(expected[name])}" for name in missing]
    told += [f"`{name}` is {show(given[name])}, and gold has no such argument" for name in unexpected]
    for name in differing:
        inside = (first_difference(expected[name], given[name]) or "$")[1:]
        place = f", first at `{name}{inside}`" if inside else ""
        told.append(f"`{name}` is {show(given[name])}, and gold has {show(expected[name])}{place}")
    return told


def _explained(call: Call, failures: Sequence[ArgumentFailure], told: Sequence[str]) -> str:
    parts = [f"{failure.message} (schema)" for failure in failures] + list(told)
    more = f"; and {len(parts) - _MAX_TOLD} more" if len(parts) > _MAX_TOLD else ""
    return f"{call.id} calls `{call.name}` with other arguments: {'; '.join(parts[:_MAX_TOLD])}{more}"


def pair_calls(
    gold: Sequence[GoldCall], calls: Sequence[Call], tools: Mapping[str, Any], policy: Policy
) -> Pairing:
    """Pair the calls of a run with those of gold, as sets.

    Args:
        gold: what is expected.
        calls: what was called.
        tools: `parameters` by the name of a tool.
        policy: how one call is compared with another.
    """
    wanted = _by_name([call.name for call in gold])
    called = _by_name([call.name for call in calls])
    nameless = called.pop(None, [])
    pairs: list[Pair] = []
    paired_gold: set[int] = set()
    paired_calls: set[int] = set()
    for name, golds in wanted.items():
        tried = called.get(name, [])[:MAX_COMPARED]
        table = [
            [compare_call(gold[at], calls[to], tools.get(name or ""), policy) for to in tried] for at in golds
        ]
        for row, column in assigned([[_cost(each) for each in line] for line in table]):
            pairs.append(Pair(gold=golds[row], call=tried[column], comparison=table[row][column]))
            paired_gold.add(golds[row])
            paired_calls.add(tried[column])
    missing = [index for index in range(len(gold)) if index not in paired_gold]
    # A call whose tool is not shown may be any of those that are missing.
    for at, to in zip(missing, nameless, strict=False):
        pairs.append(Pair(gold=at, call=to, comparison=compare_call(gold[at], calls[to], None, policy)))
        paired_calls.add(to)
    missing = missing[len(nameless) :]
    unexpected = [index for index in range(len(calls)) if index not in paired_calls]
    instead = [
        Pair(gold=at, call=to, comparison=compare_call(gold[at], calls[to], None, policy))
        for at, to in zip(missing, unexpected, strict=False)
    ]
    return Pairing(
        pairs=tuple(sorted(pairs, key=lambda pair: pair.gold)),
        instead=tuple(instead),
        missing=tuple(missing),
        unexpected=tuple(unexpected),
    )


def _by_name(names: Sequence[str | None]) -> dict[str | None, list[int]]:
    found: dict[str | None, list[int]] = {}
    for index, name in enumerate(names):
        found.setdefault(name, []).append(index)
    return found


_UNIT = 10**6
"""More than the arguments that differ in all pairs together can count."""


def _cost(comparison: Comparison) -> int:
    """What a pair costs: a call that differs more than all that are unknown, and one of those more than arguments."""
    if comparison.status == "equal":
        return 0
    if comparison.status == "unknown":
        return _UNIT
    return _UNIT * _UNIT + min(comparison.distance + len(comparison.failures), 1_000)
