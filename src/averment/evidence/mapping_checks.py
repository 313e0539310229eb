"""What can be wrong with a mapping whose fields all have the right types."""

from __future__ import annotations

import re
from collections.abc import Iterator
from collections.abc import Mapping as Plain
from typing import TYPE_CHECKING, Any, get_args

from msgspec import UNSET

from averment.errors import nearest
from averment.evidence.model import Role, ToolCallStatus
from averment.evidence.pointers import fault_in
from averment.evidence.readers.transcript import role_of
from averment.text.structs import Mistake, describe

if TYPE_CHECKING:
    from averment.evidence.mapping import Mapping

__all__ = ["MAPPED_BY", "mistakes"]

Path = tuple[str | int, ...]

_TIMES = ("start", "end")
_DURATIONS = ("duration", "latency")

_WORDS: Plain[str, tuple[str, ...]] = {
    "role": tuple(role for role in get_args(Role) if role != "unknown"),
    "status": get_args(ToolCallStatus),
    "requestor": ("agent", "user", "system"),
}
"""The words that a field of the model can have."""
_BOOLEANS = frozenset({"failed", "interrupted", "final"})


def mistakes(mapping: Mapping) -> Iterator[Mistake]:
    """Everything that is wrong with the mapping."""
    if re.fullmatch(r"[A-Za-z0-9._-]{1,60}", mapping.name) is None:
        expected = "1 to 60 letters, digits, `.`, `_` and `-`"
        yield Mistake("wrong_value", "this can't be the name of a format", ("name",), expected=expected)
    for name in ("conversations", "group_by", "timing"):
        yield from _pointer(getattr(mapping, name), (name,))
    yield from _lines(mapping)
    yield from _field(mapping.conversation_id, ("conversation_id",), mapping, has_outer=False)
    for name in ("labels", "metadata"):
        for key, field in getattr(mapping, name).items():
            yield from _field(field, (name, key), mapping, has_outer=False)
    if not any(getattr(mapping, kind) for kind in mapping.kinds) and mapping.timing is UNSET:
        expected = "at least one of `turns`, `calls`, `spans`, `timing`"
        yield Mistake("missing_field", "nothing is mapped", (), expected=expected)
    for path, rule in mapping.every_rule():
        yield from _rule(rule, path, mapping)
    for path, where in mapping.ignored():
        yield from _where(where, path)
        if not where:
            mend = "Name at least one condition."
            yield Mistake("empty_value", "this ignores every item", path, expected="conditions", mend=mend)
    yield from _answers(mapping)
    yield from _shows(mapping)
    if mapping.unit == "iso" and mapping.clock not in (UNSET, "epoch"):
        expected = "epoch"
        yield Mistake("fields_exclude", "ISO times are times of day", ("clock",), expected=expected)


def _lines(mapping: Mapping) -> Iterator[Mistake]:
    if mapping.group_by is not UNSET and mapping.group_by == "":
        expected = "a pointer into the item, such as `/call_id`"
        yield Mistake(
            "empty_value", "items can't be grouped by all they are", ("group_by",), expected=expected
        )


def _rule(rule: Any, path: Path, mapping: Mapping) -> Iterator[Mistake]:
    yield from _pointer(rule.items, (*path, "items"))
    yield from _pointer(rule.each, (*path, "each"))
    yield from _where(rule.where, (*path, "where"))
    for inside, field in rule.mapped_fields():
        yield from _field(field, (*path, *inside), mapping, has_outer=rule.each is not UNSET)


def _pointer(text: Any, path: Path, *, key: bool = False) -> Iterator[Mistake]:
    if text is UNSET:
        return
    fault = fault_in(text)
    if fault is not None:
        message, offset = fault
        near = f"/{text}" if offset == 0 else None
        yield Mistake(
            "wrong_pointer",
            message,
            path,
            key=key,
            offset=None if key else offset,
            expected="a JSON Pointer, such as `/body/text`",
            found=describe(text),
            nearest=near,
            mend="Write a pointer, or `{const: ...}` for a value that is the same for every item.",
        )


def _where(where: Plain[str, Any], path: Path) -> Iterator[Mistake]:
    for pointer, wanted in where.items():
        yield from _pointer(pointer, (*path, pointer), key=True)
        if hasattr(wanted, "exists") and (wanted.exists is UNSET) == (wanted.excluded is UNSET):
            expected = "exactly one of `exists`, `not`"
            yield Mistake("fields_exclude", "a condition says one thing", (*path, pointer), expected=expected)
        if wanted == []:
            expected = "at least 1 value"
            yield Mistake("empty_value", "no value is in an empty list", (*path, pointer), expected=expected)


def _field(field: Any, path: Path, mapping: Mapping, *, has_outer: bool) -> Iterator[Mistake]:
    if field is UNSET:
        return
    if isinstance(field, (str, list)):
        yield from _pointers(field, path)
    else:
        yield from _take(field, path, has_outer=has_outer)
    name = path[-1] if "fields" not in path and path[0] in mapping.kinds else None
    unit = UNSET if isinstance(field, (str, list)) else field.unit
    if name in _TIMES or name in _DURATIONS:
        yield from _time(unit, path, mapping, is_instant=name in _TIMES)
    elif unit is not UNSET:
        expected = f"`unit` only for {', '.join((*_TIMES, *_DURATIONS))}"
        yield Mistake("unknown_field", "this is no time", (*path, "unit"), key=True, expected=expected)


def _pointers(field: str | list[str], path: Path) -> Iterator[Mistake]:
    if isinstance(field, str):
        yield from _pointer(field, path)
    else:
        for index, text in enumerate(field):
            yield from _pointer(text, (*path, index))


def _take(take: Any, path: Path, *, has_outer: bool) -> Iterator[Mistake]:
    given = [name for name in ("pointer", "outer", "const") if getattr(take, name) is not UNSET]
    if len(given) != 1:
        message = f"{len(given)} of three say where this comes from"
        expected = "exactly one of `pointer`, `outer`, `const`"
        yield Mistake("fields_exclude", message, path, expected=expected)
    if take.pointer is not UNSET:
        yield from _pointers(take.pointer, (*path, "pointer"))
    yield from _pointer(take.outer, (*path, "outer"))
    if take.outer is not UNSET and not has_outer:
        mend = "Write `pointer`, or `each` in the rule."
        message = "there is no item around this one without `each`"
        yield Mistake("fields_exclude", message, (*path, "outer"), key=True, mend=mend)
    if take.const is not UNSET:
        for other in ("values", "default"):
            if getattr(take, other) is not UNSET:
                message = f"`{other}` changes nothing beside `const`"
                yield Mistake("fields_exclude", message, (*path, other), key=True, mend="Keep one.")
    if path[0] in ("labels", "metadata") or "fields" in path:
        return
    name = str(path[-1])
    for inside, value in _results(take):
        yield from _word(name, value, (*path, *inside))


def _results(take: Any) -> Iterator[tuple[Path, Any]]:
    """The values that a mapping itself writes."""
    for name in ("const", "default"):
        if (value := getattr(take, name)) is not UNSET:
            yield (name,), value
    if take.values is not UNSET:
        yield from ((("values", word), value) for word, value in take.values.items())


def _word(name: str, value: Any, path: Path) -> Iterator[Mistake]:
    """A word that a field of the model can't have."""
    expected, near = None, None
    if name in _BOOLEANS and type(value) is not bool:
        expected = "true or false"
    elif name in _WORDS and value not in _WORDS[name]:
        known = _WORDS[name]
        if name == "role" and isinstance(value, str) and role_of(value) != "other":
            return
        expected = f"one of {', '.join(known)}"
        near = nearest(value, known) if isinstance(value, str) else None
    elif name == "text" and type(value) is not str:
        expected = "a string"
    if expected is not None:
        message = f"`{name}` can't be this"
        yield Mistake("not_allowed", message, path, expected=expected, found=describe(value), nearest=near)


def _time(unit: Any, path: Path, mapping: Mapping, *, is_instant: bool) -> Iterator[Mistake]:
    name = path[-1]
    own = mapping.unit if unit is UNSET else unit
    if own is UNSET:
        expected = (
            "`unit`: one of s, ms, us, ns, iso, for the whole mapping or in `{pointer: ..., unit: ...}`"
        )
        yield Mistake("missing_field", f"nothing says in which unit `{name}` counts", path, expected=expected)
    elif own == "iso" and not is_instant:
        expected = "`{pointer: ..., unit: ms}` or another unit"
        yield Mistake(
            "missing_field", f"`{name}` is a length of time, and has no unit", path, expected=expected
        )
    elif is_instant and own != "iso" and mapping.clock is UNSET:
        expected = "`clock`: one of epoch, call_relative, monotonic"
        yield Mistake("missing_field", f"nothing says what `{name}` counts from", path, expected=expected)
    elif is_instant and unit == "iso" and mapping.clock not in (UNSET, "epoch"):
        yield Mistake(
            "fields_exclude", "ISO times are times of day", (*path, "unit"), expected="clock: epoch"
        )


def _answers(mapping: Mapping) -> Iterator[Mistake]:
    if mapping.answers and not mapping.calls:
        mend = "Map the calls that they answer under `calls`."
        yield Mistake("missing_field", "answers answer calls, and none are mapped", ("answers",), mend=mend)
        return
    lists = {rule.items for _, rule in mapping.rules("calls")}
    has_ids = all(rule.id is not UNSET for _, rule in mapping.rules("calls"))
    for path, rule in mapping.rules("answers"):
        if (rule.items not in lists or len(lists) > 1) and (rule.id is UNSET or not has_ids):
            message = "answers that stand in another list than their calls find them by ids alone"
            expected = "`id` in the rules for calls and for answers"
            yield Mistake("missing_field", message, path, expected=expected)


MAPPED_BY = {
    "transcript": "`turns`",
    "requests": "`calls`",
    "executions": "`result`, `failed` or `status`, or `answers`",
    "results": "`result`",
    "errors": "`error`, `failed` or `status`",
    "handoff": "spans of type `handoff`",
    "dtmf": "spans of type `dtmf`",
    "http": "spans of type `http_exchange`",
    "termination": "spans of type `call_ended`",
    "timing": "`timing`",
}
"""What a mapping must have for each channel."""


def _shows(mapping: Mapping) -> Iterator[Mistake]:
    if mapping.shows is UNSET:
        return
    maps = mapping.channels()
    for index, channel in enumerate(mapping.shows):
        if channel not in maps:
            message, mend = f"nothing is mapped that would show `{channel}`", "Map it, or leave it out here."
            path = ("shows", index)
            yield Mistake("not_allowed", message, path, expected=MAPPED_BY[channel], mend=mend)
