"""Gold arguments as BFCL's possible answers: for each parameter, the list of values that are accepted.

An empty text in such a list means that the parameter may be left out. An object is written as its keys with lists of
accepted values in their turn, one level deep; what lies deeper is compared as it is.

A default that a tool declares is as good as saying nothing. So a value that gold states and that is the default may
be left out, a value that gold doesn't state may be given if it is the default, and inside objects and lists a value is
accepted with its own defaults left out or filled in.

Where BFCL's checker would refuse gold itself, or take for left out what may not be, a value is not expressible. How its
comparison is looser for every value stands in `docs/packs/exports.md`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any, Final

from averment.oracle.build.exports.bfcl_functions import Function, NotExpressibleError
from averment.oracle.catalog import canonical
from averment.oracle.catalog.defaults import with_defaults
from averment.oracle.catalog.schema import OutOfStepsError
from averment.text.jsonvalue import show

__all__ = ["possible_answer"]

Values = dict[str, list[Any]]
Path = tuple[str | int, ...]

_LEFT_OUT: Final = ""
"""What says in a list of accepted values that the parameter may be left out."""

_TYPES: Final[dict[str, type]] = {
    "string": str,
    "integer": int,
    "float": float,
    "boolean": bool,
    "array": list,
    "dict": dict,
}


def possible_answer(function: Function, arguments: Mapping[str, Any]) -> dict[str, Values]:
    """The calls that are as good as one of gold: `{function: {parameter: accepted values}}`.

    Raises:
        NotExpressibleError: BFCL's checker can't tell them from others.
    """
    undeclared = sorted(arguments.keys() - function.shapes.keys())
    if undeclared:
        raise _refused(function, undeclared[0], "BFCL takes no argument that is not declared")
    try:
        filled = with_defaults(function.parameters, dict(arguments))
        values = {}
        for name in function.shapes:
            if name in filled:
                call = _Call(function, {**arguments, name: arguments.get(name, filled[name])}, filled)
                values[function.names[name]] = call.accepted(name, stated=name in arguments)
    except OutOfStepsError as error:
        raise _refused(function, "", str(error)) from None
    return {function.name: values}


class _Call:
    """A call of gold, as it is and with all defaults."""

    def __init__(self, function: Function, given: dict[str, Any], full: dict[str, Any]) -> None:
        self._function = function
        self._given = given
        self._full = full

    def accepted(self, name: str, *, stated: bool) -> list[Any]:
        """The accepted values of a parameter; `stated` is whether gold gives it at all."""
        shape, given, full = self._function.shapes[name], self._given[name], self._full[name]
        required = name in self._function.required
        optional = not required and (not stated or self._is_default((name,)))
        if full == _LEFT_OUT and not (required or optional):
            raise _refused(
                self._function, name, "an empty text means that it may be left out, and it may not"
            )
        problem = _unheld(shape, full)
        if problem is not None:
            raise _refused(self._function, name, problem)
        kept: Any = full
        if isinstance(full, dict):
            kept = self._entries(shape, given, full, (name,))
        elif isinstance(full, list) and shape["items"]["type"] == "dict":
            items = enumerate(zip(given, full, strict=True))
            kept = [self._entries(shape["items"], *pair, (name, at)) for at, pair in items]
        elif shape["type"] == "float" and isinstance(full, int):
            kept = float(full)
        return [kept, _LEFT_OUT] if optional and full != _LEFT_OUT else [kept]

    def _entries(
        self, shape: dict[str, Any], given: dict[str, Any], full: dict[str, Any], path: Path
    ) -> Values:
        """The accepted values of each key of an object. The checker does not know which of them are required."""
        entries: Values = {}
        for name, value in sorted(full.items()):
            optional = name not in shape.get("required", ()) and (
                name not in given or self._is_default((*path, name))
            )
            if value == _LEFT_OUT and not optional:
                what = f"the key {show(name)} is an empty text, which means that it may be left out, and it may not"
                raise _refused(self._function, str(path[0]), what)
            entries[name] = [value]
            if name in given and not canonical.equal(given[name], value):
                entries[name].append(given[name])
            if optional and value != _LEFT_OUT:
                entries[name].append(_LEFT_OUT)
        return entries

    def _is_default(self, path: Path) -> bool:
        """Whether the call means the same when what stands there is left out."""
        call = deepcopy(self._given)
        place: Any = call
        for step in path[:-1]:
            place = place[step]
        del place[path[-1]]
        return canonical.equal(with_defaults(self._function.parameters, call), self._full)


def _unheld(shape: dict[str, Any], value: Any) -> str | None:
    """Why BFCL's checker would refuse a value that is gold's own; None if it would not.

    It takes a whole number for a `float`, in floating point. In lists, it wants each item to have the type that is
    declared, or that of the first item of gold.
    """
    if shape["type"] == "float" and isinstance(value, int) and not _is_exact(value):
        return "the whole number is not the same in floating point"
    if not isinstance(value, list):
        return None
    kind = _TYPES[shape["items"]["type"]]
    if kind is dict and not all(isinstance(item, dict) for item in value):
        return "an item is no object, and BFCL expects objects"
    types: Iterable[type] = (type(item) for item in value if item != _LEFT_OUT)
    first = next(iter(types), None)
    if any(type(item) not in (kind, first) for item in value):
        return "the items are of several types, and BFCL expects that of the first"
    return None


def _is_exact(value: int) -> bool:
    try:
        return float(value) == value
    except OverflowError:
        return False


def _refused(function: Function, name: str, what: str) -> NotExpressibleError:
    return NotExpressibleError("value_not_expressible", f"`{function.name}({name})`: {what}")
