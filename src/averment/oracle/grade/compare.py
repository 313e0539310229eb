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
from averment.oracle.catalog.divergence import first_difference
from averment.oracle.catalog.schema import OutOfStepsError
from averment.oracle.grade.assignment import assigned
from averment.oracle.grade.calls import Call
from averment.oracle.grade.policy import Policy
from averment.oracle.tasks.trace import GoldCall
from averment.text.jsonvalue import show

__all__ = ["MAX_COMPARED", "REASONS", "Comparison", "Pair", "Pairing", "compare_call", "pair_calls"]

MAX_COMPARED = 500
"""How many of a run's calls of one tool are compared; gold expects fewer, so the rest is unexpected anyway."""

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
    return _compared(_of_gold(gold, parameters, policy), _of_run(call, parameters, policy))


class _Expected(msgspec.Struct, frozen=True):
    """A call of gold, made ready to be compared: its arguments with defaults, and which defaults it leaves free."""

    call: GoldCall
    values: Mapping[str, Any]
    keys: Mapping[str, bytes | None]
    free: frozenset[str]
    trouble: str | None


class _Given(msgspec.Struct, frozen=True):
    """A call of a run, made ready to be compared: its arguments with defaults, and what of them is taken out."""

    call: Call
    values: Mapping[str, Any]
    keys: Mapping[str, bytes | None]
    failures: tuple[ArgumentFailure, ...]
    hidden: frozenset[str]
    trouble: str | None


def _of_gold(gold: GoldCall, parameters: object, policy: Policy) -> _Expected:
    values, free, trouble = gold.arguments, frozenset[str](), None
    if policy.arguments == "schema_then_canonical" and parameters is not None:
        try:
            values = with_defaults(parameters, gold.arguments)
            if policy.unstated_defaults == "free":
                free = frozenset(declared_defaults(parameters)) - frozenset(gold.arguments)
        except OutOfStepsError as error:
            trouble = str(error)
    return _Expected(gold, values, _keys(values), free, trouble)


def _of_run(call: Call, parameters: object, policy: Policy) -> _Given:
    values = call.arguments if isinstance(call.arguments, dict) else {}
    hidden = frozenset(
        name for name, value in values.items() if call.hidden is not None and holds_redacted(value)
    )
    failures: tuple[ArgumentFailure, ...] = ()
    trouble = None
    if call.arguments is not UNSET and policy.arguments == "schema_then_canonical" and parameters is not None:
        failures = tuple(
            failure
            for failure in argument_failures(parameters, values)
            if not failure.steps or failure.steps[0] not in hidden
        )
        try:
            values = with_defaults(parameters, values)
        except OutOfStepsError as error:
            trouble = str(error)
    return _Given(call, values, _keys(values), failures, hidden, trouble)


def _keys(values: Mapping[str, Any]) -> dict[str, bytes | None]:
    return {name: canonical.key(value) for name, value in values.items()}


_UNFIT = {"arguments_unreadable": "no text that strict JSON reads", "arguments_not_object": "no object"}


def _compared(expected: _Expected, given: _Given, *, explained: bool = True) -> Comparison:
    """One call with one of gold; the explanation takes longer than all the rest, and few are read."""
    gold, call = expected.call, given.call
    if call.name is None:
        return Comparison(
            status="unknown",
            reason="name_not_recorded",
            explanation=f"which tool {call.id} is a call of is not recorded; gold calls `{gold.function_name}`",
        )
    if call.name != gold.function_name:
        return Comparison(
            status="differs",
            reason="name_differs",
            explanation=f"{call.id} calls `{call.name}`, and gold calls `{gold.function_name}`",
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
    trouble = expected.trouble or given.trouble
    if trouble is not None:
        told = f"{call.id} can't be compared: {trouble}"
        return Comparison(status="unknown", reason="schema_too_large", explanation=told)
    asked, said = expected.keys.keys() - expected.free, given.keys.keys() - expected.free
    shared = (asked & said) - given.hidden
    comparison = Comparison(
        status="differs",
        reason="schema_violated" if given.failures else "arguments_differ",
        missing=tuple(sorted(asked - said)),
        unexpected=tuple(sorted(said - asked)),
        differing=tuple(sorted(name for name in shared if not _same(expected.keys[name], given.keys[name]))),
        failures=given.failures,
    )
    if comparison.failures or comparison.distance:
        if not explained:
            return comparison
        return msgspec.structs.replace(comparison, explanation=_explained(expected, given, comparison))
    # A mark in an argument that gold leaves free hides nothing that was asked for.
    if given.hidden & asked:
        return _unknown(call)
    return Comparison(status="equal", reason="equal", explanation=f"{call.id} is the call that gold has")


def _same(one: bytes | None, other: bytes | None) -> bool:
    return one is not None and one == other


def _unknown(call: Call) -> Comparison:
    reason = call.hidden or "arguments_not_recorded"
    words = reason.replace("_", " ")
    return Comparison(
        status="unknown",
        reason=reason,
        explanation=f"{call.id} calls `{call.name}`: {words}, so nothing is known",
    )


def _explained(expected: _Expected, given: _Given, found: Comparison) -> str:
    wanted, said = expected.values, given.values
    parts = [f"{failure.message} (schema)" for failure in found.failures]
    parts += [f"`{name}` is missing: gold has {show(wanted[name])}" for name in found.missing]
    parts += [f"`{name}` is {show(said[name])}, and gold has no such argument" for name in found.unexpected]
    for name in found.differing:
        inside = (first_difference(wanted[name], said[name]) or "$")[1:]
        place = f", first at `{name}{inside}`" if inside else ""
        parts.append(f"`{name}` is {show(said[name])}, and gold has {show(wanted[name])}{place}")
    more = f"; and {len(parts) - _MAX_TOLD} more" if len(parts) > _MAX_TOLD else ""
    call = given.call
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
    wanted = _by_name([call.function_name for call in gold])
    called = _by_name([call.name for call in calls])
    nameless = called.pop(None, [])
    pairs: list[Pair] = []
    paired_gold: set[int] = set()
    paired_calls: set[int] = set()
    for name, golds in wanted.items():
        tried = called.get(name, [])[:MAX_COMPARED]
        schema = tools.get(name or "")
        expected = [_of_gold(gold[at], schema, policy) for at in golds]
        given = [_of_run(calls[to], schema, policy) for to in tried]
        costs = [[_cost(_compared(each, other, explained=False)) for other in given] for each in expected]
        for row, column in assigned(costs):
            comparison = _compared(expected[row], given[column])
            pairs.append(Pair(gold=golds[row], call=tried[column], comparison=comparison))
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
