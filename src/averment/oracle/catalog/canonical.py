"""When two JSON values are the same for packs and gold calls: when their canonical JSON is.

So `1`, `1.0`, `"1"` and `true` are four different values, at any depth, and the order of keys says nothing. What JSON
has no form for (NaN, infinities, an object of Python) is the same as nothing, itself included.
"""

from __future__ import annotations

from averment.text.jsontext import JSONProblem, NonFinite, canonical

__all__ = ["equal", "key"]


def key(value: object) -> bytes | None:
    """What two values have in common when they are the same; None for what is no JSON value."""
    if type(value) is NonFinite:
        return None
    try:
        return canonical(value)
    except JSONProblem:
        return None


def equal(a: object, b: object) -> bool:
    """Whether two values are the same."""
    found = key(a)
    return found is not None and found == key(b)
