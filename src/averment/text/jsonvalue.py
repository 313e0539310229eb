"""Equality of JSON values, where a boolean is never a number (difference 4 of assert-v1.md)."""

from __future__ import annotations

from typing import Any

__all__ = ["json_equal"]


def json_equal(a: Any, b: Any) -> bool:
    """Whether two JSON values are equal: `1` equals `1.0`, `true` equals only `true`, objects in any order."""
    if type(a) is bool or type(b) is bool:
        return a is b
    if isinstance(a, dict):
        return (
            isinstance(b, dict)
            and len(a) == len(b)
            and all(k in b and json_equal(v, b[k]) for k, v in a.items())
        )
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(json_equal, a, b))
    return bool(a == b)
