"""Objects of SDKs as JSON values: told by what they can do, so that no SDK is imported.

An object is opened one level at a time, by its fields where it has some. Asking it to write itself would be shorter,
but a list of base messages writes no field that only the messages of a tool have, and the calls would be gone.
"""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

__all__ = ["opened"]

_AS_TEXT = frozenset(
    {
        ("decimal", "Decimal"),
        ("pathlib", "PurePath"),
        ("pydantic.networks", "_BaseUrl"),
        ("pydantic_core._pydantic_core", "Url"),
        ("uuid", "UUID"),
    }
)
"""Types, by module and name, of which the text is what their SDKs write for them in JSON."""

_WRITERS = ("model_dump", "to_dict", "dict")
"""What an object that shows no fields may be asked for."""


def opened(value: Any) -> Any:
    """What an object holds, of which parts may be objects in turn; the object itself where nobody can say.

    Enumerations are their values, dates and times ISO texts, durations seconds, bytes base64, tuples and other
    sequences lists. Sets stay what they are: they have no order, and a list has one.
    """
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (bytes, bytearray)):
        return b2a_base64(value, newline=False).decode()
    kind = type(value)
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        return dict(zip(kind._fields, value, strict=True))
    if isinstance(value, Mapping):
        return dict(value.items())
    if isinstance(value, Sequence):
        return list(value)
    if callable(getattr(kind, "isoformat", None)):
        return value.isoformat()
    if callable(getattr(kind, "total_seconds", None)):
        return value.total_seconds()
    if any((base.__module__, base.__name__) in _AS_TEXT for base in kind.__mro__):
        return str(value)
    return _fields(value, kind)


def _fields(value: Any, kind: type) -> Any:
    if getattr(kind, "__pydantic_root_model__", False):
        return value.root
    fields = getattr(kind, "__pydantic_fields__", None)
    if isinstance(fields, dict):
        held = vars(value)  # not its attributes, of which those that are deprecated warn
        named = {
            getattr(field, "serialization_alias", None) or getattr(field, "alias", None) or name: held[name]
            for name, field in fields.items()
            if name in held and getattr(field, "exclude", None) is not True
        }
        return named | (getattr(value, "__pydantic_extra__", None) or {})
    for key in ("__dataclass_fields__", "__struct_fields__"):
        listed = getattr(kind, key, None)
        if isinstance(listed, (dict, tuple)):
            names = [name for name in listed if not name.startswith("_") and hasattr(value, name)]
            return {name: getattr(value, name) for name in names}
    for name in _WRITERS:
        if callable(getattr(kind, name, None)):
            return getattr(value, name)()
    return value
