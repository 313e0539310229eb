"""Text on the page: redacted first, then cut, then with all that can't be seen escaped; never marked up by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import msgspec

from averment.text.jsontext import pretty_known
from averment.text.pii import redact
from averment.text.shown import visible

__all__ = ["KEPT", "Shown", "json_text", "short", "shown", "yaml_text"]

KEPT = "\n\t"
"""What stays as it is though it can't be seen: it lays text out, and hides nothing."""

_ONE_LINE = 88
_IDENTIFYING = 10**8
"""Numbers below have too few digits to be anybody's."""


class Shown(msgspec.Struct, frozen=True):
    """A text as the page shows it.

    Attributes:
        text: what is shown.
        cut: how many characters of it are not.
    """

    text: str
    cut: int = 0


def shown(text: str, limit: int) -> Shown:
    """Text of evidence: without personal data, then at most `limit` characters of it."""
    clean = redact(text)
    kept = clean[:limit]
    if kept.isprintable():
        return Shown(kept, len(clean) - len(kept))
    parts: list[str] = []
    room = limit
    for count, char in enumerate(kept):
        part = visible(char, keep=KEPT)
        room -= len(part)
        if room < 0:
            return Shown("".join(parts), len(clean) - count)
        parts.append(part)
    return Shown("".join(parts), len(clean) - len(kept))


def short(text: object, limit: int = 200) -> str:
    """A name or a sentence, cut where it is beyond what anybody reads."""
    # An escape is longer than what it stands for, so no more is looked at than is shown.
    plain = visible((text if isinstance(text, str) else json_text(text))[: limit + 1], keep=KEPT)
    return plain if len(plain) <= limit else plain[: limit - 1] + "…"


def json_text(value: Any) -> str:
    """A JSON value for people: without personal data, in one line where it is short, else indented."""
    text = redact(pretty_known(_clean(value)).decode("utf-8", "backslashreplace").rstrip("\n"))
    if "\n" in text and len(text) <= 4 * _ONE_LINE:
        line = " ".join(part.strip() for part in text.split("\n"))
        if len(line) <= _ONE_LINE:
            return line
    return text


def yaml_text(fields: Mapping[str, Any], limit: int) -> Shown:
    """Fields of a document as they are written there: in YAML, without personal data, then cut.

    Texts within are cut to `limit` characters before, because writing YAML takes long.
    """
    import yaml

    class Dumper(yaml.SafeDumper):
        def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - each value is written where it stands
            return True

    left: list[int] = []
    clean = _bounded(_clean(dict(fields)), limit, left)
    is_nested = any(isinstance(value, dict | list) for value in clean.values())
    text: str = yaml.dump(
        clean,
        Dumper=Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=100,
        default_flow_style=None if is_nested else False,  # what holds nothing nested would stand in braces
    )
    found = shown(text.rstrip("\n"), limit)
    return Shown(found.text, found.cut + sum(left))


def _bounded(value: Any, limit: int, left: list[int]) -> Any:
    """The value with each text in it cut; how much of each is left out is added to `left`."""
    if isinstance(value, str) and len(value) > limit:
        left.append(len(value) - limit)
        return value[:limit]
    if isinstance(value, dict):
        return {_bounded(name, limit, left): _bounded(item, limit, left) for name, item in value.items()}
    return [_bounded(item, limit, left) for item in value] if isinstance(value, list) else value


def _clean(value: Any) -> Any:
    """The value with each text in it redacted on its own: escaped in JSON, some would be known no more."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {redact(str(name)): _clean(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int) and abs(value) >= _IDENTIFYING and value.bit_length() <= 256:
        written = str(value)
        return value if redact(written) == written else redact(written)
    if isinstance(value, int) and value.bit_length() > 4096:
        return f"an integer of {value.bit_length()} bits"  # Python refuses to write those (CVE-2020-10735)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
