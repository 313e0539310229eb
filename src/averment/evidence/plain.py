"""Python values given in place of files: checked to be JSON values, and copied.

The copy is what makes evidence a record: whatever the caller does to its lists afterwards, the verdict's grounds
stay as they were. Only JSON's own types are accepted (subclasses are turned into them), because a tuple, a set or a
date has more than one reading and a guess would become evidence. Objects of SDKs are opened where the caller says how.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from averment.errors import Problem
from averment.evidence.draft import MAX_PROBLEMS, place_text, refusal
from averment.evidence.model import MAX_DEPTH

__all__ = ["MAX_VALUES", "plain"]

MAX_VALUES = 10_000_000
"""How many values one object may hold; lists that share their parts multiply without any memory."""

_MAX_BITS = 14_284
"""Integers below this many bits have at most 4300 digits, the longest that JSON text is read with."""


def plain(value: Any, opened: Callable[[Any], Any] | None = None) -> tuple[Any, int]:
    """A copy of a JSON value that shares no list or mapping with it, and how deep it nests.

    Args:
        value: the value.
        opened: gives what an object holds that is no JSON value; the object itself where it can't.

    Raises:
        EvidenceError: naming the place and type of everything that is no JSON value, or the limit exceeded.
    """
    copier = _Copier(opened)
    copied = copier.copy(value, ())
    if copier.problems:
        raise refusal(copier.problems)
    return copied, copier.deepest


class _Copier:
    def __init__(self, opened: Callable[[Any], Any] | None) -> None:
        self._opened = opened
        self.problems: list[Problem] = []
        self.deepest = 0
        self._left = MAX_VALUES

    def copy(self, value: Any, path: tuple[str | int, ...], depth: int = 0) -> Any:
        kind = type(value)
        if kind is str or value is None or kind is bool:
            return value
        if isinstance(value, dict):
            self._enter(path, depth, dict.__len__(value))
            return {
                self._key(key, path): item if type(item) is str else self.copy(item, (*path, key), depth + 1)
                for key, item in dict.items(value)
            }
        if isinstance(value, list):
            self._enter(path, depth, list.__len__(value))
            return [
                item if type(item) is str else self.copy(item, (*path, index), depth + 1)
                for index, item in enumerate(list.__iter__(value))
            ]
        return self._scalar(value, path, depth)

    def _enter(self, path: tuple[str | int, ...], depth: int, size: int) -> None:
        """Stop at a limit: what lies beyond it is not looked at."""
        self._left -= size
        self.deepest = max(self.deepest, depth + 1)
        if depth >= MAX_DEPTH:
            message = f"the value nests more than {MAX_DEPTH} levels deep, or holds itself"
            raise refusal(
                [*self.problems, Problem(code="evidence_too_deep", message=message, path=_shown(path))]
            )
        if self._left < 0:
            message = f"the value holds more than {MAX_VALUES:,} values"
            raise refusal(
                [*self.problems, Problem(code="too_many_values", message=message, path=_shown(path))]
            )

    def _key(self, key: Any, path: tuple[str | int, ...]) -> str:
        if type(key) is str:
            return key
        if isinstance(key, str):
            return str.__str__(key)
        self._refuse(path, "not_json", "a key must be a string", type(key).__name__)
        return ""

    def _scalar(self, value: Any, path: tuple[str | int, ...], depth: int) -> Any:
        if isinstance(value, float):
            number = float.__float__(value)
            if number - number == 0:
                return number
            return self._refuse(path, "non_finite", "a number must be finite", "NaN or an infinity")
        if isinstance(value, int):
            whole = int.__int__(value)
            if whole.bit_length() <= _MAX_BITS:
                return whole
            return self._refuse(
                path, "number_too_long", "an integer may have at most 4300 digits", "a longer one"
            )
        if isinstance(value, str):
            return str.__str__(value)
        if self._opened is not None:
            return self._object(value, path, depth, self._opened)
        mend = "Give a list." if isinstance(value, (tuple, set, frozenset)) else None
        return self._refuse(path, "not_json", "this is no JSON value", type(value).__name__, mend)

    def _object(
        self, value: Any, path: tuple[str | int, ...], depth: int, opened: Callable[[Any], Any]
    ) -> Any:
        self._enter(path, depth, 1)  # an object may hold another one without end
        try:
            shown = opened(value)
        except Exception:  # noqa: BLE001 - whatever the object's own code does, it can't be opened
            shown = value
        if shown is not value:
            return self.copy(shown, path, depth + 1)
        mend = "Leave it out, or give it as the JSON values that its SDK writes for it."
        return self._refuse(path, "not_json", "this is no JSON value", type(value).__name__, mend)

    def _refuse(
        self, path: tuple[str | int, ...], code: str, message: str, found: str, mend: str | None = None
    ) -> None:
        self.problems.append(Problem(code=code, message=message, path=_shown(path), found=found, mend=mend))
        if len(self.problems) > MAX_PROBLEMS:
            raise refusal(self.problems)


def _shown(path: tuple[Any, ...]) -> str:
    """The place as text; the long path of a cycle is cut."""
    steps = [step if type(step) is int else str(step) for step in path[:12]]
    return place_text(steps) + ("…" if len(path) > 12 else "")
