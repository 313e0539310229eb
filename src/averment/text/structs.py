"""From plain located values to typed structs, with every mistake reported.

`msgspec.convert` decides quickly whether a value fits a struct and stops at the first mistake. So it does the
ordinary work, and only when it refuses is the value walked against the same type to name all that is wrong with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, TypeVar

import msgspec

from averment.errors import Problem, nearest
from averment.text.source import Source

__all__ = ["Mistake", "convert", "describe", "fit", "is_marked"]

S = TypeVar("S", bound=msgspec.Struct)
Path = tuple[str | int, ...]


class Mistake(msgspec.Struct, frozen=True):
    """One mistake in a value, before its place in a file is known; `path` is relative to the struct's mapping."""

    code: str
    message: str
    path: Path = ()
    key: bool = False
    offset: int | None = None
    expected: str | None = None
    found: str | None = None
    nearest: str | None = None
    mend: str | None = None

    def under(self, *path: str | int) -> Mistake:
        """The same mistake, seen from further out."""
        return msgspec.structs.replace(self, path=(*path, *self.path))

    def at(self, source: Source, base: Path) -> Problem:
        """The problem that this mistake is in `source`, whose value at `base` was checked."""
        return source.problem(
            self.code,
            self.message,
            (*base, *self.path),
            key=self.key,
            offset=self.offset,
            expected=self.expected,
            found=self.found,
            nearest=self.nearest,
            mend=self.mend,
        )


def convert(source: Source, path: Path, cls: type[S], problems: list[Problem]) -> S | None:
    """The value of `source` at `path` as a `cls`, or None after adding each of its mistakes to `problems`."""
    value: Any = source.value
    for step in path:
        value = value[step]
    converted, mistakes = fit(value, cls)
    problems.extend(mistake.at(source, path) for mistake in mistakes)
    return converted


def fit(value: object, cls: type[S]) -> tuple[S | None, list[Mistake]]:
    """The value as a `cls`, or None and each of its mistakes."""
    try:
        return msgspec.convert(value, cls), []
    except msgspec.ValidationError as error:
        # The walk knows less than msgspec: where it finds nothing, msgspec's own words are better than none.
        return None, list(_mistakes(value, _type_info(cls), ())) or [Mistake("wrong_value", str(error))]


def is_marked(cls: type[msgspec.Struct], path: Path, mark: str) -> bool:
    """Whether the type of the value at `path` in a `cls` carries a mark, `Meta(extra={mark: ...})`."""
    infos = [_type_info(cls)]
    for step in path:
        infos = [inner for info in infos for member in _members(info) for inner in _inside(member, step)]
    return any(mark in (getattr(member, "extra", None) or {}) for info in infos for member in _members(info))


def describe(value: object) -> str:
    """What kind of value this is and, for a scalar, which one; long strings are cut."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "the boolean true" if value else "the boolean false"
    if isinstance(value, int):
        return f"the integer {value}" if abs(value) < 10**40 else "an integer of many digits"
    if isinstance(value, float):
        return f"the number {value!r}"
    if isinstance(value, str):
        return f"the string {_quoted(value)}"
    if isinstance(value, dict):
        return "an empty mapping" if not value else f"a mapping with {_some(value)}"
    if isinstance(value, list):
        return "an empty list" if not value else f"a list of {len(value)}"
    return type(value).__name__


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")


def _some(names: Sequence[str] | dict[str, Any]) -> str:
    shown = [f"`{name if len(name) <= 40 else name[:37] + '...'}`" for name in list(names)[:5]]
    return ", ".join(shown) + (", ..." if len(names) > 5 else "")


@cache
def _type_info(cls: Any) -> Any:
    import msgspec.inspect

    return msgspec.inspect.type_info(cls)


def _members(info: Any) -> Iterator[Any]:
    """A type, what its metadata are about, and the members of a union."""
    from msgspec import inspect as kinds

    yield info
    if isinstance(info, kinds.Metadata):
        yield from _members(info.type)
    elif isinstance(info, kinds.UnionType):
        for member in info.types:
            yield from _members(member)


def _inside(info: Any, step: str | int) -> Iterator[Any]:
    """The types of what stands at a key or index of a value of the type; nothing where it is any value."""
    from msgspec import inspect as kinds

    if isinstance(info, kinds.StructType):
        yield from (field.type for field in info.fields if field.encode_name == step)
    elif isinstance(info, kinds.ListType):
        yield info.item_type
    elif isinstance(info, kinds.DictType):
        yield info.value_type


def _mistakes(value: Any, info: Any, path: Path) -> Iterator[Mistake]:
    """Every way in which `value` does not fit the type that `info` describes."""
    from msgspec import inspect as kinds

    while isinstance(info, kinds.Metadata):
        info = info.type
    if isinstance(info, kinds.AnyType):
        return
    if isinstance(info, kinds.StructType):
        yield from _struct_mistakes(value, info, path)
    elif isinstance(info, kinds.UnionType):
        yield from _union_mistakes(value, info, path)
    elif isinstance(info, kinds.ListType):
        if not isinstance(value, list):
            yield _wrong_type(value, info, path)
            return
        for index, item in enumerate(value):
            yield from _mistakes(item, info.item_type, (*path, index))
        if info.min_length and len(value) < info.min_length:
            yield Mistake(
                "empty_value", "the list is empty", path, expected=f"at least {info.min_length} item"
            )
    elif isinstance(info, kinds.DictType):
        if not isinstance(value, dict):
            yield _wrong_type(value, info, path)
            return
        for name, item in value.items():
            yield from _mistakes(item, info.value_type, (*path, name))
        if info.min_length and len(value) < info.min_length:
            yield Mistake(
                "empty_value", "the mapping is empty", path, expected=f"at least {info.min_length} key"
            )
    elif isinstance(info, kinds.LiteralType):
        if not any(type(value) is type(known) and value == known for known in info.values):
            yield _not_one_of(value, [str(known) for known in info.values], path)
    elif not _scalar_fits(value, info):
        yield _wrong_type(value, info, path)
    elif isinstance(info, kinds.StrType) and info.min_length and len(value) < info.min_length:
        yield Mistake("empty_value", "the string is empty", path, expected="a non-empty string")


def _struct_mistakes(value: Any, info: Any, path: Path) -> Iterator[Mistake]:
    if not isinstance(value, dict):
        yield _wrong_type(value, info, path)
        return
    fields = {field.encode_name: field for field in info.fields}
    known = [*([info.tag_field] if info.tag_field else []), *fields]
    for name, item in value.items():
        if name in fields:
            yield from _mistakes(item, fields[name].type, (*path, name))
        elif name != info.tag_field:
            yield Mistake(
                "unknown_field",
                f"unknown field `{name}`",
                (*path, name),
                key=True,
                expected=f"one of {', '.join(known)}",
                nearest=nearest(name, known),
            )
    for name, field in fields.items():
        if field.required and name not in value:
            yield Mistake(
                "missing_field",
                f"the field `{name}` is missing",
                path,
                expected=f"`{name}`: {_type_name(field.type)}",
            )


def _union_mistakes(value: Any, info: Any, path: Path) -> Iterator[Mistake]:
    """Mistakes against the one member that the value's JSON type selects; members of our unions differ in it."""
    for member in info.types:
        if _same_shape(value, member):
            for mistake in _mistakes(value, member, path):
                is_choice = mistake.code == "not_allowed" and mistake.path == path
                yield msgspec.structs.replace(mistake, expected=_type_name(info)) if is_choice else mistake
            return
    yield _wrong_type(value, info, path)


def _same_shape(value: Any, info: Any) -> bool:
    from msgspec import inspect as kinds

    while isinstance(info, kinds.Metadata):
        info = info.type
    if isinstance(info, kinds.StructType | kinds.DictType):
        return isinstance(value, dict)
    if isinstance(info, kinds.ListType):
        return isinstance(value, list)
    if isinstance(info, kinds.LiteralType):
        return isinstance(value, type(info.values[0]))
    return _scalar_fits(value, info)


def _scalar_fits(value: Any, info: Any) -> bool:
    from msgspec import inspect as kinds

    if isinstance(info, kinds.NoneType):
        return value is None
    if isinstance(info, kinds.BoolType):
        return isinstance(value, bool)
    if isinstance(info, kinds.IntType):
        return isinstance(value, int) and not isinstance(value, bool)
    if isinstance(info, kinds.FloatType):
        return isinstance(value, int | float) and not isinstance(value, bool)
    if isinstance(info, kinds.StrType):
        return isinstance(value, str)
    return isinstance(info, kinds.AnyType)


def _wrong_type(value: Any, info: Any, path: Path) -> Mistake:
    name = path[-1] if path and isinstance(path[-1], str) else None
    subject = f"`{name}` has the wrong type" if name else "the value has the wrong type"
    return Mistake("wrong_type", subject, path, expected=_type_name(info), found=describe(value))


def _not_one_of(value: Any, known: list[str], path: Path) -> Mistake:
    return Mistake(
        "not_allowed",
        f"`{path[-1] if path else 'value'}` is not one of the allowed values",
        path,
        expected=known[0] if len(known) == 1 else f"one of {', '.join(known)}",
        found=describe(value),
        nearest=nearest(value, known) if isinstance(value, str) else None,
    )


def _type_name(info: Any) -> str:
    """What people call the type: the words after "expected"."""
    from msgspec import inspect as kinds

    while isinstance(info, kinds.Metadata):
        info = info.type
    if isinstance(info, kinds.UnionType):
        return " or ".join(dict.fromkeys(_type_name(member) for member in info.types))
    if isinstance(info, kinds.LiteralType):
        values = [str(known) for known in info.values]
        return values[0] if len(values) == 1 else f"one of {', '.join(values)}"
    if isinstance(info, kinds.ListType):
        return "a non-empty list" if info.min_length else "a list"
    if isinstance(info, kinds.StructType):
        names = [field.encode_name for field in info.fields]
        return f"a mapping with {', '.join(names)}"
    if isinstance(info, kinds.DictType):
        return "a non-empty mapping" if info.min_length else "a mapping"
    if isinstance(info, kinds.StrType):
        return "a non-empty string" if info.min_length else "a string"
    names_by_type = {
        kinds.NoneType: "null",
        kinds.BoolType: "true or false",
        kinds.IntType: "an integer",
        kinds.FloatType: "a number",
    }
    return names_by_type.get(type(info), "any value")
