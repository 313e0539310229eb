"""Samples made wrong on purpose: each value replaced by values of other types, in turn."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

from averment.errors import EvidenceError
from averment.evidence import Evidence

__all__ = ["mutants", "survives"]

ODD: tuple[Any, ...] = (
    None,
    [],
    {},
    "x",
    "",
    "{",
    7,
    -1.5,
    10**30,
    True,
    [None, [[]], {"a": {}}],
    {"text": 5},
)


def mutants(value: Any) -> Iterator[Any]:
    """The value with one of its parts replaced, for each part and each odd value, and with each key left out."""
    for path in list(_paths(value)):
        for odd in ODD:
            changed = copy.deepcopy(value)
            _at(changed, path[:-1])[path[-1]] = copy.deepcopy(odd)
            yield changed
        changed = copy.deepcopy(value)
        del _at(changed, path[:-1])[path[-1]]
        yield changed


def survives(value: Any) -> None:
    """Reading the value works or is refused, and what was read can be written and read again."""
    try:
        found = Evidence.all_from_bytes(json.dumps(value).encode())
    except EvidenceError:
        return
    for evidence in found:
        Evidence.from_bytes(evidence.to_json())


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for key, item in items:
        yield (*path, key)
        yield from _paths(item, (*path, key))


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value
