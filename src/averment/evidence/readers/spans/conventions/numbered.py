"""Lists of messages that stand in many attributes: `llm.input_messages.0.message.role`, `gen_ai.prompt.0.content`."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["Numbered", "spelled"]

_LISTS = ("gen_ai.prompt", "gen_ai.completion", "llm.input_messages", "llm.output_messages")
_STARTS = tuple(f"{each}." for each in _LISTS)
_LEVELS = 15
_DIGITS = 6

_encode = msgspec.json.Encoder().encode


def spelled(value: Any) -> bytes | None:
    """What values share that are the same, types and all; None for some rare values."""
    try:
        return _encode(value)
    except (TypeError, ValueError):  # a number that JSON doesn't have; half a character
        return None


class Numbered:
    """The lists of a conversation's spans; an item that a span repeats of those before it is put together once."""

    def __init__(self) -> None:
        self._items: dict[str, str] = {}
        self._known: dict[bytes, Any] = {}
        self._attrs: dict[str, Any] = {}
        self._lists: dict[str, list[Any]] = {}

    def under(self, attrs: dict[str, Any], prefix: str) -> list[Any] | None:
        """The list of these attributes that stands under a name of `_LISTS`; None without any."""
        if attrs is not self._attrs:
            self._attrs, self._lists = attrs, self._read(attrs)
        return self._lists.get(prefix)

    def _read(self, attrs: dict[str, Any]) -> dict[str, list[Any]]:
        items: dict[str, list[Any]] = {}
        for key, value in attrs.items():
            name = self._items.get(key)
            if name is None:
                name = self._items[key] = _item_of(key)
            if name:
                item = items.get(name)
                if item is None:
                    item = items[name] = []
                item += (key, value)
        found = {}
        for prefix, start in zip(_LISTS, _STARTS, strict=True) if items else ():
            numbers = [name[len(start) :] for name in items if name.startswith(start)]
            if numbers and all(map(_is_number, numbers)):
                found[prefix] = [self._item(items[start + number]) for number in sorted(numbers, key=int)]
        return found

    def _item(self, attrs: list[Any]) -> Any:
        text = spelled(attrs)
        found = None if text is None else self._known.get(text)
        if found is None:
            found = _item(attrs)
            if text is not None:
                self._known[text] = found
        return found


def _item_of(key: str) -> str:
    """The start of an attribute's name that names the item of which it is; empty for what is of none."""
    return ".".join(key.split(".", 3)[:3]) if key.startswith(_STARTS) else ""


def _item(attrs: list[Any]) -> Any:
    """What attributes of one item mean, whose names and values stand here by turns."""
    root: dict[str, Any] = {}
    for key, value in zip(attrs[::2], attrs[1::2], strict=True):
        *above, name = key.split(".", 2 + _LEVELS)[2:]
        holder = root
        for step in above:
            inner = holder.get(step)
            if type(inner) is not dict:
                inner = holder[step] = {}
            holder = inner
        if type(holder.get(name)) is not dict:
            holder[name] = value
    (item,) = root.values()
    return _listed(item)


def _listed(value: Any) -> Any:
    """Objects whose keys are all numbers, as lists in the order of these."""
    if type(value) is not dict:
        return value
    inner = {key: _listed(each) for key, each in value.items()}
    if inner and all(map(_is_number, inner)):
        return [inner[key] for key in sorted(inner, key=int)]
    return inner


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdigit() and len(name) <= _DIGITS
