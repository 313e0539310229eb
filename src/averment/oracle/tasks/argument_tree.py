"""The arguments of a call as a tree, made once for a template and bound for each of its tasks.

A string that is one placeholder and nothing else is the slot's value with its type; placeholders in a longer string are
replaced by the values as text, once, and values are not searched for placeholders again. `{from_result: ...}` is what
an earlier call returned. All else is a constant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import msgspec

from averment.oracle.tasks.dependencies import MARKER, is_marker
from averment.oracle.tasks.placeholders import placeholders, sole_placeholder

__all__ = [
    "Constant",
    "FilledText",
    "FromResult",
    "FromSlot",
    "Items",
    "Leaf",
    "Members",
    "Node",
    "argument_tree",
    "leaves",
]

Path = tuple[str | int, ...]
Results: TypeAlias = "Callable[[FromResult], Any]"
"""Gives the value in the result of an earlier call."""


class Constant(msgspec.Struct, frozen=True):
    """A scalar that stands in the template."""

    value: Any

    def bound(self, _values: Mapping[str, Any], _results: Results) -> Any:
        """The scalar."""
        return self.value


class FromSlot(msgspec.Struct, frozen=True):
    """The value of a slot, with its type."""

    slot: str

    def bound(self, values: Mapping[str, Any], _results: Results) -> Any:
        """The value; a list or an object is the slot's own and must not be changed."""
        return values[self.slot]


class FilledText(msgspec.Struct, frozen=True):
    """A text with values in it.

    Attributes:
        parts: texts and slots, in their order.
    """

    parts: tuple[str | FromSlot, ...]

    def bound(self, values: Mapping[str, Any], _results: Results) -> str:
        """The text with the values of the slots in it."""
        return "".join(part if isinstance(part, str) else str(values[part.slot]) for part in self.parts)


class FromResult(msgspec.Struct, frozen=True):
    """A value in the result of an earlier call.

    Attributes:
        call: the `id` of its milestone.
        steps: keys and indexes that lead to the value, as texts.
        place: where the marker stands, inside the template.
    """

    call: str
    steps: tuple[str, ...]
    place: Path = ()

    def bound(self, _values: Mapping[str, Any], results: Results) -> Any:
        """What the result holds there."""
        return results(self)


class Members(msgspec.Struct, frozen=True):
    """An object."""

    members: dict[str, Node]

    def bound(self, values: Mapping[str, Any], results: Results) -> dict[str, Any]:
        """A new object."""
        return {key: node.bound(values, results) for key, node in self.members.items()}


class Items(msgspec.Struct, frozen=True):
    """A list."""

    items: tuple[Node, ...]

    def bound(self, values: Mapping[str, Any], results: Results) -> list[Any]:
        """A new list."""
        return [node.bound(values, results) for node in self.items]


Leaf: TypeAlias = Constant | FromSlot | FilledText | FromResult
Node: TypeAlias = Leaf | Members | Items


def argument_tree(value: Any, place: Path = ()) -> Node:
    """The tree of an argument, as written at a place inside the template.

    Markers are expected to be well-formed, which planning has made sure of.
    """
    if is_marker(value):
        body = value[MARKER]
        return FromResult(body["call"], tuple(body["path"].split(".")), place)
    if isinstance(value, dict):
        return Members({key: argument_tree(item, (*place, key)) for key, item in value.items()})
    if isinstance(value, list):
        return Items(tuple(argument_tree(item, (*place, index)) for index, item in enumerate(value)))
    return _text(value) if isinstance(value, str) else Constant(value)


def leaves(node: Node, path: Path = ()) -> Iterator[tuple[Path, Node]]:
    """The leaves of a tree with their paths; an object or a list that is empty is one too."""
    if isinstance(node, Members) and node.members:
        for key, member in node.members.items():
            yield from leaves(member, (*path, key))
    elif isinstance(node, Items) and node.items:
        for index, item in enumerate(node.items):
            yield from leaves(item, (*path, index))
    else:
        yield path, node


def _text(text: str) -> Node:
    whole = sole_placeholder(text)
    if whole is not None:
        return FromSlot(whole)
    parts: list[str | FromSlot] = []
    end = 0
    for start, name in placeholders(text):
        parts += [text[end:start], FromSlot(name)]
        end = start + len(name) + 2
    return FilledText((*parts, text[end:])) if parts else Constant(text)
