"""One call of each tool, as a probe makes it and as a conversation leads to it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

import msgspec

from averment.oracle.catalog.arguments import argument_failures
from averment.oracle.catalog.samples.values import sample_arguments
from averment.oracle.catalog.schema import declared_types
from averment.oracle.scaffold.given.tools import GivenTool

__all__ = ["CONFIRM", "Call", "Slot", "calls"]

CONFIRM: Final = "confirm"
"""The argument with the user's word, as manifests have it where they don't say another."""

_PLACEHOLDER: Final = re.compile(r"\{[A-Za-z_][A-Za-z0-9_]*\}")
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_SOURCE_NAME: Final = re.compile(r"[A-Za-z0-9_-]+")
_WRONG: Final[tuple[Any, ...]] = ("wrong", 0, True, None, [], {})
_MAX_TEXT: Final = 200


class Slot(msgspec.Struct, frozen=True):
    """A value that the user says: its name in the template, the argument that it becomes, where it comes from."""

    name: str
    argument: str
    source: str


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """A call of one tool.

    Attributes:
        tool: the tool.
        name: of what is drafted for it: lower case letters, digits and `_`, different for each tool.
        waits: whether the tool takes the user's word as an argument, and waits for it.
        arguments: those of the probe that succeeds.
        fits: whether the schema allows them.
        refused: those of the probe that is refused.
        is_refused: whether the schema refuses them.
        slots: what the user says of the arguments.
        args: the arguments of the template's call.
    """

    tool: GivenTool
    name: str
    waits: bool
    arguments: dict[str, Any]
    fits: bool
    refused: dict[str, Any]
    is_refused: bool
    slots: list[Slot]
    args: dict[str, Any]


def calls(tools: Iterable[GivenTool]) -> list[Call]:
    """A call of each tool, in their order."""
    taken: set[str] = set()
    return [_call(tool, _name(tool.name, taken)) for tool in tools]


def _call(tool: GivenTool, name: str) -> Call:
    takes_word = declared_types(tool.parameters["properties"].get(CONFIRM, {})) == ("boolean",)
    waits = takes_word and (tool.requires_confirmation or tool.destructive)
    sample = sample_arguments(tool.parameters, {CONFIRM: True} if waits else None)
    refused = next(
        (each for each in _refusable(tool, sample.arguments) if argument_failures(tool.parameters, each)),
        None,
    )
    slots: list[Slot] = []
    args: dict[str, Any] = {}
    names: set[str] = set()
    for argument, value in sample.arguments.items():
        if (argument == CONFIRM and waits) or not _is_said(value):
            args[argument] = value
            continue
        slot = Slot(_slot_name(argument, names), argument, _source(tool, argument, value))
        slots.append(slot)
        args[argument] = f"{{{slot.name}}}"
    return Call(
        tool=tool,
        name=name,
        waits=waits,
        arguments=sample.arguments,
        fits=sample.fits,
        refused={**sample.arguments, "unexpected": True} if refused is None else refused,
        is_refused=refused is not None,
        slots=slots,
        args=args,
    )


def _refusable(tool: GivenTool, arguments: dict[str, Any]) -> Iterable[dict[str, Any]]:
    """Arguments that the tool may refuse: something is missing, of another type, or not declared."""
    for name in tool.parameters.get("required", ()):
        yield {key: value for key, value in arguments.items() if key != name}
    for name in tool.parameters["properties"]:
        yield from ({**arguments, name: wrong} for wrong in _WRONG)
    yield {**arguments, "unexpected": True}


def _is_said(value: Any) -> bool:
    """Whether a user says the value, so that it is a slot; what a template would take for its own has to be one."""
    if isinstance(value, str) and len(value) <= _MAX_TEXT and value.strip() == value and value.isprintable():
        return value != ""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return True
    return _is_read_by_templates(value)


def _is_read_by_templates(value: Any) -> bool:
    if isinstance(value, str):
        return _PLACEHOLDER.search(value) is not None
    if isinstance(value, dict):
        return set(value) == {"from_result"} or any(map(_is_read_by_templates, value.values()))
    return isinstance(value, list) and any(map(_is_read_by_templates, value))


def _source(tool: GivenTool, argument: str, value: Any) -> str:
    schema = tool.parameters["properties"].get(argument, {})
    listed = schema.get("enum")
    if (
        listed
        and not schema.keys() & {"$ref", "allOf", "const", "pattern", "minLength", "maxLength"}
        and all(isinstance(each, str) and _is_said(each) for each in listed)
        and _SOURCE_NAME.fullmatch(tool.name)
        and _SOURCE_NAME.fullmatch(argument)
    ):
        return f"enum:{tool.name}.{argument}"
    return f"literal:[{value!r}]"


def _slot_name(argument: str, taken: set[str]) -> str:
    stem = argument if _NAME.fullmatch(argument) else "_" + re.sub(r"[^A-Za-z0-9]+", "_", argument)
    return _free(stem, taken)


def _name(tool: str, taken: set[str]) -> str:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", tool).lower()
    return _free(re.sub(r"[^a-z0-9]+", "_", spaced).strip("_") or "tool", taken)


def _free(stem: str, taken: set[str]) -> str:
    name, number = stem, 2
    while name in taken:
        name, number = f"{stem}_{number}", number + 1
    taken.add(name)
    return name
