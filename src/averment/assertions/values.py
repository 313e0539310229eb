"""How an expected value is matched against an actual one.

Arguments, results, responses, records, slots and metadata are all matched here, so that a document means the same
thing wherever an expected value stands. Values are JSON values as parsers build them: dict, list (or tuple), str, int,
float, bool, None.

An expected value is one of four things:

    a scalar      matches what is equal to it. Equality is JSON-typed: `1` equals `1.0`, exactly and at any size,
                  `true` never equals `1`, a string never equals a number.
    a list        matches a list of the same length whose elements match one by one.
    a mapping     matches a mapping that has every named key, with a value that matches. Other keys are free, at every
                  level (a deep subset); `{}` matches any mapping.
    operators     a mapping whose keys all start with `$`: every one of them must hold.

The operators, with their operands (E is any expected value, V a plain value, without operators):

    $ne: V              not equal to V. Equality is of the whole value, never a subset; `$not` takes operators.
    $gt $gte $lt $lte   compare with a number or a string: numbers with numbers, strings by code point with strings.
    $in: [E, ...]       matches at least one of them.
    $nin: [E, ...]      matches none of them.
    $regex: text        a string in which the pattern is found (search, case-sensitive).
    $exists: bool       true: any value, null too. false: no value; only under a key, and without other operators.
    $type: name         string, integer, number, boolean, null, array or object. As in JSON Schema, an integral float
                        is an integer and every integer is a number; a boolean is neither.
    $len: E             the length of a string (in code points), list or mapping matches E, a number or operators.
    $contains: E        a list has an element that matches E. When E is a string, also: a string has it as a
                        substring, a mapping as a key.
    $all: [E, ...]      matches every one of them.
    $any: [E, ...]      matches at least one of them.
    $not: E             doesn't match E.
    $approx: {value, abs, rel}   a number at most `abs`, or at most `rel` times the size of `value`, away from
                        `value`: the wider when both are given, and one must be. The arithmetic is exact on the
                        decimals as written: 0.3 with abs 0.1 takes in both 0.2 and 0.4.
    $exact: E           matches E, and no mapping beneath has a key that E doesn't name.
    $ignore: [path, ...]   beside `$exact`: what stands at these dotted paths is not looked at; it may differ, be
                        missing or be extra. A path goes by the keys of mappings, and through every element of a list.
    $literal: V         equal to V, verbatim: for data whose keys start with `$`.

An actual value of a type that an operator has no use for doesn't match; nothing raises. An absent value matches
nothing but `$exists: false`, alone or within `$any` or `$in`: what must differ (`$ne`, `$nin`, `$not`) must be there.
Equal actual values match alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from averment.assertions.value_compiler import MAX_DEPTH, MAX_OPERATOR_DEPTH, Fault, compile_value
from averment.assertions.value_nodes import MAX_MISMATCHES, Difference, Mismatch, Node, differences
from averment.text.jsonvalue import ABSENT, json_equal, resolve, show

__all__ = [
    "ABSENT",
    "MAX_DEPTH",
    "MAX_MISMATCHES",
    "MAX_OPERATOR_DEPTH",
    "Fault",
    "Matcher",
    "Mismatch",
    "Nearest",
    "faults",
    "json_equal",
    "matcher",
    "nearest",
    "resolve",
    "show",
]


class Nearest(msgspec.Struct, frozen=True):
    """The actual value that came closest, by its position, and why it doesn't match."""

    index: int
    mismatches: list[Mismatch]


class Matcher:
    """An expected value, compiled once by `matcher` and used many times."""

    __slots__ = ("negates", "root")

    def __init__(self, root: Node, *, negates: bool = False) -> None:
        self.root: Final = root
        self.negates: Final = negates
        """Whether it can match by what a value is not."""

    def matches(self, actual: object) -> bool:
        """Whether the actual value, or `ABSENT`, matches."""
        return self.root.matches(actual)

    def mismatches(self, actual: object) -> list[Mismatch]:
        """Why the actual value doesn't match: in document order, at most `MAX_MISMATCHES`, empty when it does."""
        return [difference.render() for difference in differences(self.root, actual)]


def faults(expected: object, *, keyed: bool = False) -> list[Fault]:
    """All mistakes in an expected value; empty when it is fine.

    `keyed` is as in `matcher`.
    """
    return compile_value(expected, exact=False, keyed=keyed)[1]


def matcher(expected: object, *, exact: bool = False, keyed: bool = False) -> Matcher:
    """Compile an expected value.

    Args:
        expected: the expected value.
        exact: match as if the whole stood under `$exact`.
        keyed: the value stands under a key of a mapping that the caller resolves, so it may be `$exists: false`.

    Raises:
        ValueError: the expected value has mistakes; `faults` lists them.
    """
    root, found = compile_value(expected, exact=exact, keyed=keyed)
    if found:
        raise ValueError(found[0].message)
    return Matcher(root, negates=_negates(expected))


def _negates(expected: object) -> bool:
    pending = [expected]
    while pending:
        each = pending.pop()
        if isinstance(each, dict):
            if not _NEGATIONS.isdisjoint(each):
                return True
            pending += each.values()
        elif isinstance(each, list):
            pending += each
    return False


_NEGATIONS = frozenset({"$ne", "$nin", "$nor", "$not", "$size", "$len", "$type"})


def nearest(m: Matcher, actuals: Sequence[object]) -> Nearest | None:
    """The nearest miss: the fewest mismatches, the first of equals; None when there are no actual values.

    A value that differs as a whole is further away than one that differs in any number of places within.
    """
    best: list[Difference] = []
    best_index, best_rank = -1, (True, MAX_MISMATCHES + 1)
    for index, actual in enumerate(actuals):
        found = differences(m.root, actual)
        rank = (any(not difference.path for difference in found), len(found))
        if rank < best_rank:
            best, best_index, best_rank = found, index, rank
    if best_index < 0:
        return None
    return Nearest(best_index, [difference.render() for difference in best])
