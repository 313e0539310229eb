"""Spans, whatever file they came in: what the carriers (OTLP, flat spans, Jaeger) produce and the conventions read.

Ids become lower hex, whether the source writes hex or base64; times become integer nanoseconds, and zero, which
protobuf has for "not set", is no time.
"""

from __future__ import annotations

import binascii
import re
from typing import Any, Literal

import msgspec

from averment.evidence.draft import Draft, kind_of
from averment.evidence.times import scaled

__all__ = [
    "Event",
    "Notes",
    "SpanRecord",
    "any_value",
    "attributes",
    "count_of",
    "first_of",
    "hex_id",
    "nanos",
    "status_of",
    "text_of",
]

Status = Literal["ok", "error", "unset"]


class Event(msgspec.Struct, gc=False):
    """Something that happened in a span, or a log record of it."""

    name: str
    time_ns: int | None
    attrs: dict[str, Any]
    body: Any = None


class SpanRecord(msgspec.Struct, kw_only=True, gc=False):
    """One span.

    Attributes:
        dropped: how many attributes, events and links the exporter says it dropped.
        is_log: whether it stands for a span of which only log records are there.
        loc: where it stands.
    """

    trace_id: str
    span_id: str
    parent_id: str = ""
    name: str = ""
    kind: str | None = None
    start_ns: int | None = None
    end_ns: int | None = None
    status: Status = "unset"
    message: str | None = None
    attrs: dict[str, Any]
    events: list[Event] = []
    links: int = 0
    resource: dict[str, Any] = {}
    scope: str | None = None
    dropped: int = 0
    is_log: bool = False
    loc: str = ""

    def alike(self, other: SpanRecord) -> bool:
        """Whether both say the same, wherever they stand."""
        return msgspec.structs.replace(other, loc=self.loc) == self

    def text(self, keys: tuple[str, ...]) -> str | None:
        """The first of these attributes that is a text with something in it."""
        for key in keys:
            value = self.attrs.get(key)
            if type(value) is str and value:
                return value
        return None


class Notes:
    """What a carrier has to say of a file before there is a draft to note it in; alike notes become one."""

    def __init__(self) -> None:
        self._counted: dict[tuple[str, str, bool], list[Any]] = {}

    def add(self, code: str, loc: str, detail: str, *, warn: bool = True) -> None:
        """One thing to be noted."""
        self._counted.setdefault((code, detail, warn), [loc, 0])[1] += 1

    def tell(self, draft: Draft) -> None:
        """Write the notes to a draft."""
        for (code, detail, warn), (loc, count) in self._counted.items():
            times = "" if count == 1 else f" ({count} times)"
            draft.note(code, loc, detail + times, "warning" if warn else "info")


def text_of(value: Any) -> str:
    """A value if it is text, else the empty text."""
    return value if type(value) is str else ""


_USUAL_ID = re.compile(r"(?!0+\Z)[0-9a-f]{1,200}")
_HEX = re.compile(r"[0-9a-fA-F]+\Z")
_BASE64_ID = re.compile(r"(?:[A-Za-z0-9+/]{22}==|[A-Za-z0-9+/]{11}=)\Z")
_LONGEST_ID = 200


def hex_id(value: Any, loc: str, notes: Notes) -> str:
    """An id as lower hex: base64 of 8 or 16 bytes is converted, other text kept; empty for none."""
    if type(value) is str and _USUAL_ID.fullmatch(value):
        return value
    if type(value) is int:
        value = f"{value:x}" if value > 0 else ""
    if type(value) is not str or not value or len(value) > _LONGEST_ID:
        return ""
    text = value[2:] if value.startswith(("0x", "0X")) else value
    if _HEX.match(text):
        return "" if not text.strip("0") else text.lower()
    if _BASE64_ID.match(text):
        notes.add("id_converted", loc, "span and trace ids in base64 are written in hex", warn=False)
        return binascii.a2b_base64(text).hex()
    return value


_DIGITS = 20
"""As many hold every time since 1970 in 64 bits."""


def nanos(value: Any, loc: str, notes: Notes, unit: int = 1) -> int | None:
    """A time since 1970 in nanoseconds; None where it is absent, 0 or unreadable."""
    if type(value) is str and len(value) < _DIGITS and value.isascii() and value.isdigit():
        value = int(value)
    if value is None or value == 0 or value in ("", "0"):
        return None
    if type(value) is float and unit == 1:
        notes.add("time_rounded", loc, "a time in nanoseconds is a float, so its last digits are lost")
    time = None if type(value) is bool else scaled(value, unit)
    if time is None or time < 0:
        notes.add("time_unreadable", loc, "a time that is no number since 1970 is left out")
        return None
    return time or None


_STATUSES: dict[str, Status] = {"ok": "ok", "error": "error", "1": "ok", "2": "error"}


def status_of(code: Any) -> Status:
    """A status code as number or name, with or without its prefix."""
    if code is None:
        return "unset"
    name = str(code) if type(code) is int else text_of(code)
    return _STATUSES.get(name.lower().removeprefix("statuscode.").removeprefix("status_code_"), "unset")


def attributes(pairs: Any, loc: str, notes: Notes) -> dict[str, Any]:
    """Attributes as a plain object, from a list of `{key, value}` or an object."""
    if type(pairs) is dict:
        return pairs
    if type(pairs) is not list:
        if pairs is not None:
            notes.add("attributes_not_object", loc, f"attributes are {kind_of(pairs)}, so none is read")
        return {}
    read: dict[str, Any] = {}
    for pair in pairs:
        key = pair.get("key") if type(pair) is dict else None
        if type(key) is not str:
            notes.add("attribute_unreadable", loc, "an attribute without a key is not read")
            continue
        if key in read:
            notes.add("duplicate_key", loc, "an attribute stands twice; the last one counts")
        value = pair.get("value")
        is_text = type(value) is dict and len(value) == 1 and "stringValue" in value
        read[key] = value["stringValue"] if is_text else any_value(value)
    return read


_SCALARS = ("stringValue", "boolValue", "string_value", "bool_value", "bytesValue", "bytes_value")
_INTEGERS = ("intValue", "int_value")
_DOUBLES = ("doubleValue", "double_value")


def any_value(value: Any) -> Any:
    """An OTLP `AnyValue` as the JSON value that it stands for; a value of another shape is taken as it is."""
    if type(value) is not dict or len(value) != 1:
        return None if value == {} else value
    ((key, inner),) = value.items()
    if key in _SCALARS:
        return inner
    if key in _INTEGERS:
        is_text = type(inner) is str and inner.removeprefix("-").isascii() and len(inner) <= 20
        return int(inner) if is_text and inner.removeprefix("-").isdigit() else inner
    if key in _DOUBLES:
        return inner
    if key in ("arrayValue", "array_value"):
        values = inner.get("values") if type(inner) is dict else None
        return [any_value(each) for each in values] if type(values) is list else []
    if key in ("kvlistValue", "kvlist_value"):
        pairs = inner.get("values") if type(inner) is dict else None
        return attributes(pairs if type(pairs) is list else [], "", Notes())
    return value


def first_of(item: dict[str, Any], keys: tuple[str, ...]) -> Any:
    """What stands under the first of these keys that the object has and that is not null."""
    for key in keys:
        value = item.get(key)
        if value is not None:
            return value
    return None


def count_of(value: Any) -> int:
    """A count, as number or text; 0 for anything else."""
    if type(value) is str and value.isascii() and value.isdigit() and len(value) < 12:
        return int(value)
    return value if type(value) is int and value > 0 else 0
