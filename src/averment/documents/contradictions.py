"""Assertions that can't both pass, found through an index: time is linear in their number.

Every assertion is read as demands: how often something must happen, or what a field of a record must be. Two demands
on the same thing contradict each other when no number, or no value, meets both. What is the same thing is told by the
assertion's fields, so only demands that are alike in everything else are compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET

from averment.assertions.base import Assertion
from averment.assertions.bounds import MANY
from averment.documents.settled import bounds_of, kind_of

__all__ = ["Ledger", "fields_text"]

_SAYS_NOTHING_OF = {
    "id": "",
    "when": UNSET,
    "applies_if": UNSET,
    "dimension": None,
    "severity": "error",
    "tags": [],
    "owner": None,
    "description": None,
    "examples": UNSET,
}
"""The fields that every assertion has, with values that make no difference between any two."""

_Thing = str
_Demand = tuple[int, int] | tuple[str, Any]
"""At least and at most so often, or a type and the one value that will do."""
_ARGUMENTS = ("args", "args_subset", "args_exact")


def fields_text(assertion: Assertion, **replaced: Any) -> str:
    """The assertion's fields as a text that is equal only for equal fields; some may be replaced."""
    plain = msgspec.structs.replace(assertion, **replaced)
    return repr(msgspec.to_builtins(plain, order="deterministic"))


class Ledger:
    """The demands of some assertions that apply together.

    Args:
        outer: the demands of assertions that apply whenever these do.
    """

    __slots__ = ("_least", "_most", "_outer", "_values")

    def __init__(self, outer: Ledger | None = None) -> None:
        self._outer = outer
        self._least: dict[_Thing, tuple[int, str]] = {}
        self._most: dict[_Thing, tuple[int, str]] = {}
        self._values: dict[_Thing, tuple[_Demand, str]] = {}

    def add(self, assertion: Assertion) -> str | None:
        """Take in an assertion; returns the id of one, taken in before, that can't pass where this one does."""
        demands = [*_demands(assertion)]
        others = (self.against(thing, demand) for thing, demand in demands)
        other = next((name for name in others if name is not None), None)
        for thing, demand in demands:
            first, second = demand
            if isinstance(first, str):
                self._values.setdefault(thing, (demand, assertion.id))
                continue
            least, most = self._least.get(thing), self._most.get(thing)
            if least is None or first > least[0]:
                self._least[thing] = first, assertion.id
            if most is None or second < most[0]:
                self._most[thing] = second, assertion.id
        return other

    def against(self, thing: _Thing, demand: _Demand) -> str | None:
        """The id of an assertion that asks for the opposite."""
        first, second = demand
        if isinstance(first, str):
            value = self._values.get(thing)
            if value is not None and value[0] != demand:
                return value[1]
        else:
            least, most = self._least.get(thing), self._most.get(thing)
            if least is not None and least[0] > second:
                return least[1]
            if most is not None and most[0] < first:
                return most[1]
        return None if self._outer is None else self._outer.against(thing, demand)


def _demands(assertion: Any) -> Iterator[tuple[_Thing, _Demand]]:
    kind = kind_of(assertion)
    if kind == "tool_call":
        yield from _of_tool_call(assertion)
    elif kind == "state":
        filters = {} if assertion.filters is UNSET else assertion.filters
        where = repr((assertion.resource, sorted(filters.items())))
        for key, expected in assertion.expect.items():
            if expected is None or isinstance(expected, bool | int | float | str):
                number = isinstance(expected, int | float) and not isinstance(expected, bool)
                yield f"{where} {key!r}", ("number" if number else type(expected).__name__, expected)
    elif (bounds := bounds_of(assertion)) is not None:
        free = {"count": 0, "absent": False, "position": "any"}
        given = {name: value for name, value in free.items() if name in type(assertion).__struct_fields__}
        yield fields_text(assertion, **_SAYS_NOTHING_OF, **given), bounds


def _of_tool_call(assertion: Any) -> Iterator[tuple[_Thing, _Demand]]:
    """A call with certain arguments is a call, and so is one at its place in an order."""
    bare = {
        **_SAYS_NOTHING_OF,
        **dict.fromkeys(("count", "require_order", "never_before", *_ARGUMENTS), UNSET),
        "absent": False,
    }
    bounds = bounds_of(assertion)
    if bounds is not None:
        given = {name: getattr(assertion, name) for name in _ARGUMENTS}
        if given["args_subset"] == {}:  # asks for nothing
            given["args_subset"] = UNSET
        yield fields_text(assertion, **{**bare, **given}), bounds
        yield fields_text(assertion, **bare), (bounds[0], MANY)
    if assertion.require_order is not UNSET:
        for name, number in Counter(assertion.require_order).items():
            yield fields_text(assertion, **bare, name=name), (number, MANY)
