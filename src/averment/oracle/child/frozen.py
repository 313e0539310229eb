"""JSON values that can't be changed: what a predicate is given as `state`, `trace` and `task`.

Each predicate gets copies of its own, so nothing that one does can be seen by the next. That a copy can't be changed is
for the author: a predicate that sorts the state in place would judge something that the oracle never said.

The containers are subclasses of `dict` and `list`, equal to plain ones and usable wherever those are: `isinstance`,
iteration, `json.dumps`, `sorted`, `dict(x)`, `x | y`, slices. Whatever makes a copy makes a plain one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

__all__ = ["FrozenDict", "FrozenError", "FrozenList", "frozen", "thawed"]

_DICT_MUTATORS = (
    "__delitem__",
    "__init__",
    "__ior__",
    "__setitem__",
    "clear",
    "pop",
    "popitem",
    "setdefault",
    "update",
)
_LIST_MUTATORS = (
    "__delitem__",
    "__iadd__",
    "__imul__",
    "__init__",
    "__setitem__",
    "append",
    "clear",
    "extend",
    "insert",
    "pop",
    "remove",
    "reverse",
    "sort",
)
_ATTEMPTS = {
    "__delitem__": "del x[...]",
    "__iadd__": "x += ...",
    "__imul__": "x *= ...",
    "__init__": "x.__init__(...)",
    "__ior__": "x |= ...",
    "__setitem__": "x[...] = ...",
}


class FrozenError(TypeError):
    """Something was about to change a frozen value."""


class FrozenDict(dict[str, Any]):
    """A JSON object that can't be changed; calling the class makes a plain dict."""

    __slots__ = ()

    def __new__(cls, *args: Any, **named: Any) -> Any:
        """A plain dict, so that code which rebuilds containers by `type(x)(...)` works."""
        return dict(*args, **named)

    def __reduce_ex__(self, _protocol: object) -> tuple[Any, ...]:
        return dict, (dict(self),)

    def __copy__(self) -> dict[str, Any]:
        return dict(self)

    def __deepcopy__(self, _memo: object) -> Any:
        return thawed(self)


class FrozenList(list[Any]):
    """A JSON array that can't be changed; calling the class makes a plain list."""

    __slots__ = ()

    def __new__(cls, *args: Any) -> Any:
        """A plain list, so that code which rebuilds containers by `type(x)(...)` works."""
        return list(*args)

    def __reduce_ex__(self, _protocol: object) -> tuple[Any, ...]:
        return list, (list(self),)

    def __copy__(self) -> list[Any]:
        return list(self)

    def __deepcopy__(self, _memo: object) -> Any:
        return thawed(self)


def _refusing(name: str) -> Callable[..., NoReturn]:
    def refuse(*_args: object, **_named: object) -> NoReturn:
        attempt = _ATTEMPTS.get(name, f"x.{name}(...)")
        raise FrozenError(
            f"`{attempt}` was tried, and what a predicate is given can't be changed; change a copy (`copy.deepcopy(x)`)"
        )

    refuse.__name__ = name
    return refuse


for _name in _DICT_MUTATORS:
    setattr(FrozenDict, _name, _refusing(_name))
for _name in _LIST_MUTATORS:
    setattr(FrozenList, _name, _refusing(_name))


def frozen(value: Any) -> Any:
    """A deep copy of a JSON value that can't be changed; a frozen value is returned as it is.

    What holds for every Python object holds here: `dict.__setitem__(value, ...)` goes round the class. It reaches
    nothing but this copy.

    Args:
        value: dict with strings as keys, list, str, int, float, bool or None, to any depth and without cycles.

    Raises:
        TypeError: it has anything else in it.
    """
    return value if type(value) in (FrozenDict, FrozenList) else _copied(value, FrozenDict, FrozenList)


def thawed(value: Any) -> Any:
    """A plain deep copy of a JSON value, frozen or not.

    Raises:
        TypeError: it has anything else in it.
    """
    return _copied(value, dict, list)


def _copied(value: Any, mapping: type[dict[str, Any]], sequence: type[list[Any]]) -> Any:
    """The copy, made without recursion: evidence may nest as deep as the parser of JSON lets it."""
    top = _shell(value, mapping, sequence)
    waiting = [(value, top)]
    while waiting:
        old, new = waiting.pop()
        if isinstance(old, dict):
            for key, inner in old.items():
                copy = _shell(inner, mapping, sequence)
                dict.__setitem__(new, key, copy)
                if copy is not inner:
                    waiting.append((inner, copy))
        elif isinstance(old, list):
            for inner in old:
                copy = _shell(inner, mapping, sequence)
                list.append(new, copy)
                if copy is not inner:
                    waiting.append((inner, copy))
    return top


def _shell(value: Any, mapping: type[dict[str, Any]], sequence: type[list[Any]]) -> Any:
    """An empty container of the right kind, or the value itself where it has no parts."""
    if isinstance(value, dict):
        return dict.__new__(mapping)
    if isinstance(value, list):
        return list.__new__(sequence)
    if value is None or isinstance(value, (str, int, float)):
        return value
    raise TypeError(f"not a JSON value: {type(value).__name__}")
