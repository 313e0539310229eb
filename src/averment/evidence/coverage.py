"""What two records of one conversation can show together, by what was taken of each."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

import msgspec

from averment.evidence.model import ABSENT, ChannelCoverage, Coverage, EvidenceModel, ToolCall
from averment.evidence.readers.voice_trace import ENDS

__all__ = ["Chosen", "Side", "combined"]

Side = Literal["ours", "theirs", "both"]
"""Whose turns or calls were taken: the first record's, the second's, or those of both, joined by their ids."""

_NOT_EXECUTED = frozenset({"requested", "unanswered", "denied", "cancelled"})
_OF_SPANS = {"http": {"http_exchange"}, "handoff": {"handoff"}, "dtmf": {"dtmf"}, "termination": ENDS}
_PARTS = {"timing": "timing", "state": "states"}
_UNSHOWN = ChannelCoverage("partial", "the sources do not show the arguments of every call")


class Chosen(msgspec.Struct, frozen=True):
    """What was taken of two records.

    Attributes:
        turns: whose turns.
        calls: whose calls.
        pairs: by the index of a call of the second record the index of the same call in the first.
        added: indexes of the calls of the second record that the first doesn't have.
        left_out: types of spans of the second record of which some were left out.
    """

    turns: Side
    calls: Side
    pairs: Mapping[int, int]
    added: Sequence[int]
    left_out: frozenset[str]


def combined(
    base: EvidenceModel,
    other: EvidenceModel,
    parts: Collection[str],
    chosen: Chosen,
    calls: Sequence[ToolCall],
) -> Coverage:
    """The coverage of a whole made of two records.

    A channel is as whole as the better record shows it only where the whole holds all that this record has of it.

    Args:
        base: the first record.
        other: the second, of which only what was taken is left.
        parts: what was taken of it.
        chosen: whose turns, calls and spans are in the whole.
        calls: the calls of the whole.
    """
    ours, theirs = base.coverage, other.coverage
    entries = {name: getattr(ours, name) for name in Coverage.__struct_fields__}
    if "turns" in parts:
        for name in ("transcript", "speakers"):
            if chosen.turns == "theirs":
                entries[name] = getattr(theirs, name)
            elif base.turns is None:
                entries[name] = _better(getattr(ours, name), getattr(theirs, name))
    if "calls" in parts:
        entries |= _of_calls(base, other, chosen, calls)
    if "spans" in parts:
        for name, types in _OF_SPANS.items():
            if chosen.left_out.isdisjoint(types):
                entries[name] = _better(getattr(ours, name), getattr(theirs, name))
        entries["bodies"] = theirs.bodies if ours.bodies == ABSENT else ours.bodies
    for name, part in _PARTS.items():
        if part in parts and getattr(base, part) is None:
            entries[name] = _better(getattr(ours, name), getattr(theirs, name))
    return Coverage(**entries)


def _of_calls(
    base: EvidenceModel, other: EvidenceModel, chosen: Chosen, calls: Sequence[ToolCall]
) -> dict[str, ChannelCoverage]:
    ours, theirs = base.coverage, other.coverage
    names = ("requests", "executions", "results", "errors", "arguments")
    if chosen.calls == "theirs":
        return {name: getattr(theirs, name) for name in names}
    if chosen.calls == "ours":
        if base.calls is not None:
            return {}
        return {name: _better(getattr(ours, name), getattr(theirs, name)) for name in names}
    is_whole = len(chosen.pairs) + len(chosen.added) == len(other.calls or ())
    entries = {
        name: _better(getattr(ours, name), getattr(theirs, name)) if is_whole else getattr(ours, name)
        for name in ("requests", "executions")
    }
    paired = frozenset(chosen.pairs.values())
    only_ours = [call for index, call in enumerate(base.calls or ()) if index not in paired]
    only_theirs = [(other.calls or ())[index] for index in chosen.added]
    for name in ("results", "errors"):
        entry = _better(getattr(ours, name), getattr(theirs, name))
        if _has_payload(only_ours, theirs):
            entry = _worse(entry, getattr(ours, name))
        if _has_payload(only_theirs, ours):
            entry = _worse(entry, getattr(theirs, name))
        entries[name] = entry
    gaps = [entry for entry in (ours.arguments, theirs.arguments) if _rank(entry) == 1]
    is_gap = any(call.args_state != "recorded" for call in calls)
    entries["arguments"] = (gaps or [_UNSHOWN])[0] if is_gap else ABSENT
    return entries


def _has_payload(calls: Sequence[ToolCall], elsewhere: Coverage) -> bool:
    """Whether calls that only one source has can have had a result: not those that nobody executed."""
    if _rank(elsewhere.executions) < 2:
        return bool(calls)
    return any(call.status not in _NOT_EXECUTED for call in calls)


def _rank(entry: ChannelCoverage) -> int:
    return 0 if entry.state in ("absent", "unreadable") else 2 if entry.state in ("present", "empty") else 1


def _better(ours: ChannelCoverage, theirs: ChannelCoverage) -> ChannelCoverage:
    """What the better of two shows; of two that are as good, the first that has something to say."""
    if _rank(theirs) != _rank(ours):
        return max(ours, theirs, key=_rank)
    return theirs if ours == ABSENT else _fuller(ours, theirs)


def _worse(entry: ChannelCoverage, other: ChannelCoverage) -> ChannelCoverage:
    if _rank(other) == _rank(entry):
        return _fuller(entry, other)
    return min(entry, other, key=_rank)


def _fuller(ours: ChannelCoverage, theirs: ChannelCoverage) -> ChannelCoverage:
    return theirs if ours.state == "empty" and theirs.state == "present" else ours
