"""Messages between a worker and its parent: four bytes of length, then JSON."""

from __future__ import annotations

import json
import os
from typing import Any

__all__ = ["MOST_DEPTH", "NotJsonError", "TooLargeError", "encode", "receive", "send"]

MOST_DEPTH = 200
"""How many objects and arrays may stand inside each other, as in evidence; digests are made of no more."""

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
    if _length(value, "$", MOST_DEPTH, most) > most:
        raise _too_large(most)
    try:
        data = _dumps(value).encode()
    except UnicodeEncodeError:
        raise NotJsonError("a text has half of a surrogate pair, which UTF-8 can't express") from None
    except (TypeError, ValueError) as error:
        raise NotJsonError(str(error)) from None
    if len(data) > most:
        raise _too_large(most)
    return data


def _too_large(most: int) -> TooLargeError:
    return TooLargeError(f"it has more than {most} bytes of JSON, and no more are taken")


def _length(value: object, path: str, depth: int, most: int) -> int:
    """About how many characters of JSON it takes, no more than it really does; stops counting above `most`.

    What is far too large is noticed before it is written, and a list inside itself before it is followed for ever. The
    keys of mappings are looked at as well: the encoder would write `1` as `"1"` and not say so.
    """
    if isinstance(value, str):
        return len(value) + 2
    if not isinstance(value, (dict, list, tuple)):
        return 1
    if not depth:
        raise NotJsonError(f"more than {MOST_DEPTH} values stand inside each other")
    length = 2 + len(value)
    if isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise NotJsonError(
                    f"a key at {path} is of type {type(key).__name__}, and JSON has strings only"
                )
            if isinstance(inner, (dict, list, tuple)):
                length += _length(inner, f"{path}.{key}", depth - 1, most)
            elif isinstance(inner, str):
                length += len(inner)
            length += len(key)
            if length > most:
                break
    else:
        for index, inner in enumerate(value):
            if isinstance(inner, (dict, list, tuple)):
                length += _length(inner, f"{path}[{index}]", depth - 1, most)
            elif isinstance(inner, str):
                length += len(inner)
            if length > most:
                break
    return length


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
