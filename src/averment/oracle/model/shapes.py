"""From the mappings of a pack's files to structs, as the contract reads them.

Beyond what `text.structs` does, three things are told apart here: keys that no struct has (a warning, because the
original ignores them; a mistake where the struct forbids them), keys without a value (read as left out), and texts
that are blank.

A field marked `INTERNAL` is set by its loader and is no key of the file; one of type `Text` may not be blank.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from averment.errors import nearest
from averment.text.structs import Mistake, fit

__all__ = ["INTERNAL", "Text", "Tidied", "at_path", "tidy", "unknown"]

S = TypeVar("S", bound=msgspec.Struct)
Path = tuple[str | int, ...]

INTERNAL = Meta(extra={"internal": True})
"""Marks a field that no key of the file sets."""

Text = Annotated[str, Meta(extra={"text": True}, extra_json_schema={"pattern": r"\S"})]
"""A string that is not blank."""


_MAX_TOLD = 1000  # of one value; more than anybody reads
_BOOLEAN_WORDS = {"yes", "no", "on", "off", "y", "n", "true", "false"}


class Tidied(msgspec.Struct, frozen=True):
    """What came of a value: the struct, or None; the mistakes; and what is odd and no mistake."""

    struct: Any
    mistakes: list[Mistake]
    oddities: list[Mistake]


def tidy(value: object, cls: type[S], renamed: Mapping[str, str] | None = None) -> Tidied:
    """The value as a `cls`, leniently.

    Args:
        value: what the file holds.
        cls: the struct.
        renamed: own codes for mistakes, by the last key of their path: `{"turn_policy": "unknown_turn_policy"}`
            renames `not_allowed`.
    """
    mistakes: list[Mistake] = []
    oddities: list[Mistake] = []
    cleaned = _clean(value, _type_info(cls), (), mistakes, oddities)
    struct, unfit = fit(cleaned, cls)
    for mistake in unfit:
        if (
            mistake.code == "wrong_type"
            and mistake.expected == "true or false"
            and _is_word(value, mistake.path)
        ):
            mistakes.append(msgspec.structs.replace(mistake, code="boolean_word"))
        elif mistake.code == "not_allowed" and mistake.path and mistake.path[-1] in (renamed or {}):
            mistakes.append(msgspec.structs.replace(mistake, code=(renamed or {})[str(mistake.path[-1])]))
        else:
            mistakes.append(mistake)
    return Tidied(struct, mistakes, oddities)


def at_path(value: Any, path: Iterable[str | int]) -> Any:
    """What stands at a path, or None where it leads nowhere."""
    step: Any
    for step in path:
        if isinstance(value, dict) or (
            isinstance(value, list) and isinstance(step, int) and step < len(value)
        ):
            value = value.get(step) if isinstance(value, dict) else value[step]
        else:
            return None
    return value


def _is_word(value: object, path: Path) -> bool:
    found = at_path(value, path)
    return isinstance(found, str) and found.lower() in _BOOLEAN_WORDS


@cache
def _type_info(cls: Any) -> Any:
    import msgspec.inspect

    return msgspec.inspect.type_info(cls)


@cache
def _fields(cls: Any) -> dict[str, Any]:
    """The keys of a struct's file, and the fields they set."""
    return {
        field.encode_name: field for field in _type_info(cls).fields if not _is_marked(field.type, "internal")
    }


def _is_marked(info: Any, mark: str) -> bool:
    return mark in (getattr(info, "extra", None) or {})


def _is_text(info: Any) -> bool:
    """Whether the type is `Text`, or a union with it."""
    inner = [info.type] if hasattr(info, "extra") else getattr(info, "types", ())
    return _is_marked(info, "text") or any(map(_is_text, inner))


def _members(info: Any) -> list[Any]:
    """The type itself, or the members of a union, without their metadata."""
    from msgspec import inspect as kinds

    while isinstance(info, kinds.Metadata):
        info = info.type
    if isinstance(info, kinds.UnionType):
        return [inner for member in info.types for inner in _members(member)]
    return [info]


def _takes_null(info: Any) -> bool:
    from msgspec import inspect as kinds

    return any(isinstance(member, kinds.NoneType | kinds.AnyType) for member in _members(info))


def _clean(value: Any, info: Any, path: Path, mistakes: list[Mistake], oddities: list[Mistake]) -> Any:
    """The value without keys that mean nothing; paths in the copy are paths in the value."""
    from msgspec import inspect as kinds

    if isinstance(value, str):
        if not value.strip() and _is_text(info):
            mistakes.append(
                Mistake("empty_value", f"{_name(path)} is blank", path, expected="a non-empty string")
            )
        return value
    for member in _members(info):
        if isinstance(value, dict) and isinstance(member, kinds.StructType):
            return _clean_struct(value, member, path, mistakes, oddities)
        if isinstance(value, dict) and isinstance(member, kinds.DictType):
            return {
                name: _clean(item, member.value_type, (*path, name), mistakes, oddities)
                for name, item in value.items()
            }
        if isinstance(value, list) and isinstance(member, kinds.ListType):
            return [
                _clean(item, member.item_type, (*path, index), mistakes, oddities)
                for index, item in enumerate(value)
            ]
    return value


def _clean_struct(
    value: dict[str, Any], info: Any, path: Path, mistakes: list[Mistake], oddities: list[Mistake]
) -> dict[str, Any]:
    fields = _fields(info.cls)
    cleaned = {}
    for name, item in value.items():
        field = fields.get(name)
        if field is None:
            code, told = (
                ("unknown_field", mistakes) if info.forbid_unknown_fields else ("unknown_key", oddities)
            )
            if len(told) < _MAX_TOLD:
                told.append(unknown(code, name, fields, path))
        elif item is None and not field.required and not _takes_null(field.type):
            oddities.append(
                Mistake(
                    "null_value", f"`{name}` has no value and is read as left out", (*path, name), key=True
                )
            )
        else:
            cleaned[name] = _clean(item, field.type, (*path, name), mistakes, oddities)
    return cleaned


def unknown(code: str, name: str, known: Iterable[str], path: Path) -> Mistake:
    """The mistake, or the oddity, that a key means nothing."""
    names = list(known)
    return Mistake(
        code,
        f"unknown key `{name if len(name) <= 60 else name[:57] + '...'}`",
        (*path, name),
        key=True,
        expected=f"one of {', '.join(names)}",
        nearest=nearest(name, names),
    )


def _name(path: Path) -> str:
    return f"`{path[-1]}`" if path and isinstance(path[-1], str) else "the text"
