"""What several spans and messages say of one call: whether it is the same, and what one adds to another."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from averment.evidence.readers.spans.conventions import Execution
from averment.evidence.readers.spans.conventions.messages import fingerprint, may_be_json
from averment.text import jsontext

__all__ = ["agree", "fill", "says_error"]


def fill(outer: Execution, inner: Execution) -> None:
    """Take from a repeat of an execution what the outer span doesn't show."""
    outer.name, outer.own = outer.name or inner.name, outer.own or inner.own
    if outer.arguments is UNSET or (outer.is_doubtful and inner.arguments is not UNSET):
        outer.arguments, outer.arguments_state = inner.arguments, inner.arguments_state
        outer.is_doubtful = inner.is_doubtful
    if outer.result is UNSET:
        outer.result, outer.result_state = inner.result, inner.result_state
    if outer.failed is None:
        outer.failed, outer.error = inner.failed, inner.error


def agree(one: Any, other: Any) -> bool:
    """Whether two results are the same, though one may be text, or stand in an envelope of a protocol or framework."""
    if fingerprint(one) == fingerprint(other):
        return True
    return bool(_unwrapped(one) & _unwrapped(other))


def _unwrapped(value: Any) -> set[str]:
    """The forms that a result may have elsewhere."""
    forms = {fingerprint(value)}
    if type(value) is str:
        if not may_be_json(value):
            return forms
        try:
            value = jsontext.decode(value).value
        except jsontext.JSONProblem:
            return forms
    if type(value) is dict and type(value.get("content")) is list:
        texts = [part.get("text") if type(part) is dict else None for part in value["content"]]
        known = [text for text in texts if type(text) is str]
        if known and len(known) == len(texts):
            forms.add(fingerprint("\n".join(known)))
    elif type(value) is dict and len(value) == 1:
        forms.add(fingerprint(next(iter(value.values()))))
    elif type(value) is list and len(value) == 1:
        forms |= _unwrapped(value[0]) if type(value[0]) is dict else set()
    forms.add(fingerprint(value if type(value) in (dict, list) else str(value)))
    return forms


def says_error(result: Any) -> bool:
    """Whether a result says that the call failed, as MCP's do however the span of the call ended."""
    if type(result) is str and '"isError"' in result:
        try:
            result = jsontext.decode(result).value
        except jsontext.JSONProblem:
            return False
    return type(result) is dict and result.get("isError") is True
