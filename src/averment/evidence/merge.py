"""Two records of one conversation, made one: by an explicit key or a declared clock offset, never by a guess.

Which record belongs to which is told by the conversation's id or by the ids of tool calls that both have; a clock
offset, or naming a file as a part of a conversation, declares it. What both have is not taken twice: calls of one id
become one call, and where they say different things a note says so and neither is believed. Times of two sources are
compared only on the epoch clock, or after the offset between them was declared.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from averment.errors import EvidenceError, Problem
from averment.evidence.model import (
    ChannelCoverage,
    Clock,
    Coverage,
    EvidenceModel,
    Note,
    Span,
    ToolCall,
    Turn,
)
from averment.text.jsonvalue import json_equal

__all__ = ["merged", "partner"]

_Timed = TypeVar("_Timed", Turn, ToolCall, Span)
_Placed = TypeVar("_Placed", Turn, ToolCall, Span, Note)

_WHOLE = frozenset({"present", "empty"})
_OF_TURNS = frozenset({"transcript", "speakers"})
_OF_CALLS = frozenset({"requests", "arguments", "executions", "results", "errors", "http", "handoff", "dtmf", "termination"})
_PARTS = {"state": "states"}
_ONLY_GAPS = frozenset({"speakers", "arguments"})
"""Channels of which coverage speaks only where something is missing."""
_PROGRESS = ("requested", "unanswered", "executed", "denied", "cancelled", "timeout", "error", "ok")
"""The statuses of a call, the ones that know more behind the ones that know less."""


def partner(base: EvidenceModel, others: Sequence[EvidenceModel]) -> EvidenceModel | None:
    """The record, of several, of the same conversation: the only one with its id, or with ids of its tool calls."""
    by_id = [
        other
        for other in others
        if base.conversation_id is not None and other.conversation_id == base.conversation_id
    ]
    if len(by_id) == 1:
        return by_id[0]
    own = _own_ids(base)
    by_call = [other for other in by_id or others if own & _own_ids(other)]
    return by_call[0] if len(by_call) == 1 else None


def merged(
    base: EvidenceModel,
    other: EvidenceModel,
    *,
    offset_ns: int | None = None,
    parts: Collection[str] = ("turns", "calls", "spans", "timing", "states", "metadata", "labels"),
) -> EvidenceModel:
    """The two records of one conversation as one.

    Args:
        base: the record that counts where both say something.
        other: the record that fills what the first doesn't have.
        offset_ns: the time of `base` at which the clock of `other` reads zero.
        parts: what is taken of `other`.

    Raises:
        EvidenceError: the clocks can't be related by an offset: `base` has times on several clocks.
    """
    return _Merger(base, other, offset_ns, parts).model()


def _own_ids(model: EvidenceModel) -> set[str]:
    """The ids that a source gave its calls, those that averment numbers apart."""
    return {call.id for call in model.calls or () if not _is_numbered(call.id)}


def _is_numbered(id_: str) -> bool:
    return id_.startswith("c_") and id_[2:].isdecimal()


class _Merger:
    def __init__(
        self,
        base: EvidenceModel,
        other: EvidenceModel,
        offset_ns: int | None,
        parts: Collection[str],
    ) -> None:
        self._base = base
        self._notes: list[Note] = []
        self._parts = parts
        self._loc = f"{other.sources[0].id if other.sources else 'src_0'}#$"
        names = self._names(base, other)
        self._loc = _moved(self._loc, names)
        self._sources = [replace(source, id=names[source.id]) for source in other.sources]
        self._clock = self._common_clock() if offset_ns is not None else None
        self._offset = offset_ns or 0
        self._other = replace(
            other,
            turns=self._taken(other.turns, names),
            calls=self._taken(other.calls, names),
            spans=self._taken(other.spans, names),
            notes=tuple(replace(note, loc=_moved(note.loc, names)) for note in other.notes),
        )

    def model(self) -> EvidenceModel:
        base, other = self._base, self._other
        turns, turns_of_both = self._turns()
        spans = self._spans()
        calls, calls_of_both = self._calls(spans or ())
        if turns_of_both or calls_of_both or (other.turns if calls is base.calls else other.calls):
            turns = turns and tuple([replace(turn, seq=None) for turn in turns])
            calls = calls and tuple([replace(call, seq=None) for call in calls])
        return replace(
            base,
            conversation_id=self._one("conversation_id", base.conversation_id, other.conversation_id),
            turns=turns,
            calls=calls,
            spans=spans,
            timing=self._one("timing", base.timing, other.timing if "timing" in self._parts else None),
            states=self._one("states", base.states, other.states if "states" in self._parts else None),
            metadata=self._objects("metadata"),
            labels=self._objects("labels"),
            coverage=self._coverage(),
            notes=(*base.notes, *other.notes, *self._notes),
            sources=(*base.sources, *self._sources),
        )

    @staticmethod
    def _names(base: EvidenceModel, other: EvidenceModel) -> dict[str, str]:
        """The ids that the sources of `other` get."""
        taken = {source.id for source in base.sources}
        names = {}
        for source in other.sources:
            number = len(taken)
            while f"src_{number}" in taken:
                number += 1
            names[source.id] = f"src_{number}"
            taken.add(names[source.id])
        return names

    def _common_clock(self) -> Clock:
        base = self._base
        things: list[Turn | ToolCall | Span] = [*(base.turns or ()), *(base.calls or ()), *(base.spans or ())]
        clocks: set[Clock] = {thing.clock for thing in things if thing.clock is not None}
        if len(clocks) != 1:
            found = "no times" if not clocks else f"times on {len(clocks)} clocks"
            raise EvidenceError(
                Problem(
                    code="no_common_clock",
                    message="an offset relates two clocks, and the conversation does not have one",
                    expected="times on one clock",
                    found=found,
                    mend="Leave out the clock offset, or give the record with the times first.",
                )
            )
        return clocks.pop()

    def _taken(self, items: tuple[_Timed, ...] | None, names: dict[str, str]) -> tuple[_Timed, ...] | None:
        """Turns, calls or spans of the other record, with their places and times as they are in the whole."""
        return items and tuple([self._timed(_placed(item, names)) for item in items])

    def _timed(self, item: _Timed) -> _Timed:
        if item.clock is None:
            return item
        if self._clock is not None:
            times = {
                name: getattr(item, name) + self._offset
                for name in ("start_ns", "end_ns")
                if getattr(item, name) is not None
            }
            return replace(item, clock=self._clock, **times)
        # Where a second source has its zero is not known, unless that is 1970.
        return item if item.clock == "epoch" else replace(item, clock="monotonic")

    def _turns(self) -> tuple[tuple[Turn, ...] | None, bool]:
        base, other = self._base.turns, self._other.turns
        if "turns" not in self._parts or not other:
            return base, False
        if not base:
            return other, False
        if [(turn.role, turn.text) for turn in base] != [(turn.role, turn.text) for turn in other]:
            self._note(
                "turns_conflict", "both sources have a transcript, and they differ; the first one counts"
            )
        return base, True

    def _spans(self) -> tuple[Span, ...] | None:
        """The spans of both, the other's behind."""
        base, other = self._base.spans, self._other.spans
        if "spans" not in self._parts or other is None:
            return base
        taken = {span.id for span in base or ()}
        moved = []
        for index, span in enumerate(other):
            id_ = span.id
            if id_ in taken or (id_.startswith("s_") and id_[2:].isdecimal()):
                id_ = f"s_{len(base or ()) + index}"
            taken.add(id_)
            moved.append(replace(span, id=id_))
        return (*(base or ()), *moved)

    def _calls(self, spans: Sequence[Span]) -> tuple[tuple[ToolCall, ...] | None, bool]:
        """The calls of both, those of one id as one, and whether both have some."""
        base, other = self._base.calls, self._other.calls
        if "calls" not in self._parts or other is None:
            return base, False
        other = tuple([self._shifted(call, spans) for call in other])
        if not base or not other:
            return base or other, False
        numbered = any(_is_numbered(call.id) for call in (*base, *other))
        if numbered and not _own_ids(self._base) & _own_ids(self._other):
            return self._instead(base, other), True
        known = {call.id: index for index, call in enumerate(base)}
        calls = list(base)
        for call in other:
            if call.id in known and not _is_numbered(call.id):
                calls[known[call.id]] = self._joined(calls[known[call.id]], call)
            else:
                id_ = f"c_{len(calls)}" if _is_numbered(call.id) else call.id
                calls.append(replace(call, id=id_))
        return tuple(calls), True

    def _instead(self, base: tuple[ToolCall, ...], other: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
        """The calls of one source: which of them are the same could only be guessed, and none counts twice."""
        takes_other = self._base.coverage.executions.state not in _WHOLE
        which = "second" if takes_other else "first"
        detail = f"calls without ids can't be joined with those of another source; those of the {which} count"
        self._note("calls_not_joined", detail)
        return other if takes_other else base

    def _shifted(self, call: ToolCall, spans: Sequence[Span]) -> ToolCall:
        """A call of the other record, at the span that is now its own."""
        if call.position is None or "spans" not in self._parts:
            return replace(call, position=None, span_id=None)
        position = call.position + len(self._base.spans or ())
        return replace(call, position=position, span_id=spans[position].id)

    def _joined(self, one: ToolCall, other: ToolCall) -> ToolCall:
        """Two records of one call: what one lacks the other fills, and where they differ neither counts."""
        changes: dict[str, Any] = {}
        for value, raw, state in (
            ("args", "args_raw", "args_state"),
            ("result", "result_raw", "result_state"),
        ):
            ours, theirs = getattr(one, value), getattr(other, value)
            if ours is UNSET and theirs is not UNSET:
                changes |= {name: getattr(other, name) for name in (value, raw, state)}
                changes |= {"args_error": None} if value == "args" else {}
            elif ours is not UNSET and theirs is not UNSET and not json_equal(ours, theirs):
                what = "arguments" if value == "args" else "result"
                self._note(f"{what}_conflict", f"two sources differ on the {what} of a call; neither counts")
                changes |= {value: UNSET, raw: None, state: "conflicting"}
        if {one.status, other.status} == {"error", "ok"}:
            self._note("status_conflict", "two sources differ on whether a call failed; it counts as failed")
            changes["status"] = "error"
        elif _PROGRESS.index(other.status) > _PROGRESS.index(one.status):
            changes["status"] = other.status
        for name in ("name", "span_id", "position", "attempt", "start_ns", "end_ns", "clock", "latency_ms"):
            if getattr(one, name) is None and getattr(other, name) is not None:
                changes[name] = getattr(other, name)
        if one.start_ns is not None or one.end_ns is not None:
            changes = {
                key: each for key, each in changes.items() if key not in ("start_ns", "end_ns", "clock")
            }
        if one.error is UNSET and other.error is not UNSET:
            changes["error"] = other.error
        return replace(one, **changes)

    def _one(self, name: str, ours: Any, theirs: Any) -> Any:
        """A part that can't be added up: the first source's, else the second's."""
        if ours is not None and theirs is not None and ours != theirs:
            self._note(
                f"{name}_conflict", f"both sources have `{name}`, and they differ; the first one counts"
            )
        return theirs if ours is None else ours

    def _objects(self, name: str) -> dict[str, Any] | None:
        ours: dict[str, Any] | None = getattr(self._base, name)
        theirs: dict[str, Any] | None = getattr(self._other, name) if name in self._parts else None
        if ours is None or theirs is None:
            return theirs if ours is None else ours
        if any(key in ours and not json_equal(ours[key], value) for key, value in theirs.items()):
            self._note(
                f"{name}_conflict", f"both sources have the same `{name}` with other values; the first counts"
            )
        return {**theirs, **ours}

    def _coverage(self) -> Coverage:
        """Of each channel what the better source shows of it, of those parts that were taken."""
        entries = {}
        for name in Coverage.__struct_fields__:
            ours: ChannelCoverage = getattr(self._base.coverage, name)
            theirs: ChannelCoverage = getattr(self._other.coverage, name)
            part = "turns" if name in _OF_TURNS else "calls" if name in _OF_CALLS else _PARTS.get(name, name)
            if part not in self._parts:
                entries[name] = ours
            elif name in _ONLY_GAPS:
                is_theirs = not getattr(self._base, part)
                entries[name] = theirs if is_theirs or ours.state == "absent" else ours
            else:
                entries[name] = _better(ours, theirs)
        return Coverage(**entries)

    def _note(self, code: str, detail: str) -> None:
        self._notes.append(Note(code=code, severity="warning", loc=self._loc, detail=detail))


def _better(ours: ChannelCoverage, theirs: ChannelCoverage) -> ChannelCoverage:
    if ours.state in ("absent", "unreadable"):
        return ours if theirs.state == "absent" else theirs
    if ours.state == "empty" and theirs.state != "absent":
        return theirs
    if ours.state not in _WHOLE and theirs.state == "present":
        return theirs
    return ours


def _placed(item: _Placed, names: dict[str, str]) -> _Placed:
    loc: str | None = item.loc
    return item if loc is None else replace(item, loc=_moved(loc, names))


def _moved(loc: str, names: dict[str, str]) -> str:
    source, mark, place = loc.partition("#")
    return f"{names.get(source, source)}{mark}{place}"
