"""The turns and calls that a result rests on, a line each, where the evidence is at hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from averment.report.terminal import call_text
from averment.text.pii import redact
from averment.text.shown import printable
from averment.verdicts.judged import Judged

__all__ = ["excerpt"]

_SHOWN = 3


def excerpt(entry: Judged, result: Mapping[str, Any]) -> Iterator[str]:
    """The first turns and calls of a result's grounds, redacted, made visible and cut."""
    if entry.evidence is None:
        return
    turns = entry.evidence.turns or ()
    wanted = [index for index in result.get("turns", ()) if index < len(turns)]
    for index in wanted[:_SHOWN]:
        turn = turns[index]
        yield f'turn {index}, {printable(turn.role_raw or "nobody", 40)}: "{printable(turn.text)}"'
    if len(wanted) > _SHOWN:
        yield f"... and {len(wanted) - _SHOWN} more turns"
    ids = set(result.get("tool_calls", ()))
    miss = result.get("nearest_miss")
    if isinstance(miss, Mapping):
        ids.add(miss.get("tool_call"))
    calls = [call for call in entry.evidence.calls or () if redact(call.id) in ids]
    for call in calls[:_SHOWN]:
        yield f"call {printable(call.id, 40)}: {call_text(call)}"
    if len(calls) > _SHOWN:
        yield f"... and {len(calls) - _SHOWN} more calls"
