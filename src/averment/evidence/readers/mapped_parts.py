"""Which conversations a file holds, as a mapping says, and where each of them stands."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from averment.errors import EvidenceError
from averment.evidence.draft import Part, kind_of, refusal
from averment.evidence.mapping import Mapping
from averment.evidence.pointers import ABSENT, Pointer

__all__ = ["Group", "below", "conversations"]


def conversations(part: Part, mapping: Mapping) -> list[Part]:
    """The conversations of a file.

    Raises:
        EvidenceError: there are none where the mapping says.
    """
    if mapping.group_by is not UNSET:
        return _grouped(_inside(part, mapping.conversations), mapping.group_by)
    if mapping.lines == "items":
        return [_as_items(_inside(part, mapping.conversations), mapping)]
    if part.lines is not None and mapping.conversations == "":
        return [part.item(index) for index in range(len(part.value))]
    pages = [part] if part.lines is None else [part.item(index) for index in range(len(part.value))]
    found = [_inside(page, mapping.conversations) for page in pages]
    return [
        each
        for inner in found
        for each in (
            [inner.item(index) for index in range(len(inner.value))] if type(inner.value) is list else [inner]
        )
    ]


class Group(msgspec.Struct):
    """The items of one conversation, out of a list that holds those of many; and how many belong to none."""

    id: str
    items: list[Any]
    locs: list[str]
    strays: int = 0


def _inside(part: Part, text: str) -> Part:
    """What the pointer leads to: an object or a list.

    Raises:
        EvidenceError: it leads nowhere, or to something else.
    """
    pointer = Pointer.of(text)
    value = pointer.find(part.value)
    if type(value) not in (dict, list):
        message = f"the mapping's `conversations: {text}` leads nowhere"
        found = "nothing" if value is ABSENT else kind_of(value)
        mend = "Point to the list of conversations, or to the one conversation."
        expected = "a list or an object"
        problem = part.problem("pointer_matches_nothing", message, expected=expected, found=found, mend=mend)
        raise EvidenceError(problem)
    return below(part, pointer)


def below(part: Part, pointer: Pointer) -> Part:
    """The part to which a pointer leads."""
    path = pointer.path(part.value)
    if path and part.lines is not None and type(path[0]) is int:
        part, path = part.item(path[0]), path[1:]
        pointer = msgspec.structs.replace(pointer, steps=pointer.steps[1:])
    return msgspec.structs.replace(part, value=pointer.find(part.value), path=(*part.path, *path))


def _as_items(part: Part, mapping: Mapping) -> Part:
    """The items of a conversation; an object is the only line of its file."""
    if type(part.value) is dict and all(rule.items == "" for _, rule in mapping.every_rule()):
        return msgspec.structs.replace(part, value=[part.value], lines=[part.line or 1])
    return part


def _grouped(part: Part, text: str) -> list[Part]:
    """The conversations of a list of items, by the id that each item has."""
    pointer = Pointer.of(text)
    if type(part.value) is not list:
        part = msgspec.structs.replace(part, value=[part.value], lines=[part.line or 1])
    groups: dict[tuple[type, Any], Group] = {}
    strays = 0
    for item, loc in zip(part.value, part.locs(), strict=True):
        own = pointer.find(item)
        if type(own) not in (str, int):
            strays += 1
            continue
        group = groups.setdefault((type(own), own), Group(str(own), [], []))
        group.items.append(item)
        group.locs.append(loc)
    if strays and not groups:
        message = f"no item has an id at the mapping's `group_by: {text}`"
        raise refusal([part.problem("pointer_matches_nothing", message, expected="a string or a number")])
    for group in list(groups.values())[:1]:
        group.strays = strays
    return [msgspec.structs.replace(part, value=group, lines=None) for group in groups.values()]
