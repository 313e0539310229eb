"""Messages between a worker and its parent: four bytes of length, then JSON."""

from __future__ import annotations

import json
import os
from typing import Any

__all__ = ["NotJsonError", "TooLargeError", "encode", "receive", "send"]

_dumps = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_loads = json.loads
_read, _write = os.read, os.write


class NotJsonError(ValueError):
    """The value is not JSON: a type that JSON has not, NaN, a key that is no string."""


class TooLargeError(ValueError):
    """The value is JSON, and more of it than is taken."""


def encode(value: object, most: int) -> bytes:
    """The value as JSON in UTF-8.

    Raises:
        NotJsonError: it is not JSON, said with the place.
        TooLargeError: it has more than `most` bytes.
    """
    try:
        odd = _odd_key(value, "$")
        if odd is not None:
            raise NotJsonError(odd)
        text = _dumps(value)
    except (TypeError, ValueError) as error:
        raise NotJsonError(str(error)) from None
    except RecursionError:
        raise NotJsonError("values stand too deep inside each other") from None
    data = text.encode("utf-8", "surrogatepass")
    if len(data) > most:
        raise TooLargeError(f"{len(data)} bytes, and at most {most} are taken")
    return data


def _odd_key(value: object, path: str) -> str | None:
    """Where a mapping has a key that is no string: the encoder would write `1` as `"1"` and not say so."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str):
                return f"a key at {path} is of type {type(key).__name__}, and JSON has strings only"
            if isinstance(inner, (dict, list, tuple)):
                odd = _odd_key(inner, f"{path}.{key}")
                if odd is not None:
                    return odd
    elif isinstance(value, (list, tuple)):
        for index, inner in enumerate(value):
            if isinstance(inner, (dict, list, tuple)):
                odd = _odd_key(inner, f"{path}[{index}]")
                if odd is not None:
                    return odd
    return None


def receive(descriptor: int) -> Any:
    """The next message; None when the other side has gone."""
    head = _exactly(descriptor, 4)
    if head is None:
        return None
    body = _exactly(descriptor, int.from_bytes(head, "big"))
    return None if body is None else _loads(body)


def _exactly(descriptor: int, size: int) -> bytes | None:
    parts = []
    while size:
        part = _read(descriptor, min(size, 1 << 20))
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def send(descriptor: int, data: bytes) -> None:
    """Write one message."""
    view = memoryview(len(data).to_bytes(4, "big") + data)
    while view:
        view = view[_write(descriptor, view) :]
