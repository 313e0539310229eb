"""The verdict of the kinds that look for a span: found or not, and whether that is what must be."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from averment.assertions.base import Channel, Finding, failed, passed
from averment.assertions.codes import Code
from averment.evidence.view import View

__all__ = ["occurrence", "sorted_out"]

_SHOWN = 5


def sorted_out(
    view: View, spans: Iterable[int], wanted: Mapping[tuple[str, ...], str]
) -> tuple[Sequence[int], Sequence[int]]:
    """The spans whose fields are as wanted, and the others.

    Args:
        view: the conversation.
        spans: indexes of the spans that may be what is looked for.
        wanted: by the names under which a field is looked up (`Span.field`), the text that it must equal.
    """
    matching: list[int] = []
    others: list[int] = []
    for index in spans:
        span = view.spans[index]
        is_wanted = all(span.field(*names) == text for names, text in wanted.items())
        (matching if is_wanted else others).append(index)
    return matching, others


def occurrence(
    view: View,
    found: Sequence[int],
    *,
    absent: bool,
    channel: Channel,
    what: str,
    public: str,
    near: Sequence[int] = (),
    miss: Callable[[], str] | None = None,
    details: Mapping[str, Any] | None = None,
) -> Finding:
    """PASS when something was found, or with `absent` when nothing was.

    Args:
        view: the conversation.
        found: indexes of the spans that are what is looked for.
        absent: nothing may be found.
        channel: the evidence in which it was looked for.
        what: what is looked for, as the subject of a sentence.
        public: the public reason of a FAIL.
        near: indexes of spans that are something like it, the grounds of a FAIL that finds nothing else.
        miss: how they differ, in words.
        details: how they differ, for programs.
    """
    if found:
        if not absent:
            return passed(spans=found)
        ids = ", ".join(view.spans[index].id for index in found[:_SHOWN])
        return failed(
            Code.FOUND_BUT_FORBIDDEN, lambda: f"{what} must not occur, and does: {ids}", public, spans=found
        )
    if absent:
        return passed(absence_of=channel)
    return failed(
        Code.VALUE_MISMATCH if near else Code.NOT_FOUND,
        lambda: f"{what} must occur, and does not" + (f"; {miss()}" if miss and near else ""),
        public,
        spans=near,
        details=details or {},
        absence_of=channel,
    )
