"""Two records of one conversation, made one: by an explicit key or a declared clock offset, never by a guess.

Which record belongs to which is told by the conversation's id or by the ids of tool calls that both have; a clock
offset, or naming a file as a part of a conversation, declares it. What both have is not taken twice: calls of one id
become one call, and where they say different things a note says so and neither is believed. What can't be told from
what the first record has already is left out, with a note. Times of two sources are compared only on the epoch clock,
or after the offset between them was declared.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Literal, TypeVar

from msgspec import UNSET
from msgspec.structs import replace

from averment.errors import EvidenceError, Problem
from averment.evidence.coverage import Chosen, Side, combined
from averment.evidence.model import (
    MAX_SPANS,
    Clock,
    EvidenceModel,
    Note,
    Span,
    ToolCall,
    Turn,
)
from averment.text.jsontext import canonical_known
from averment.text.jsonvalue import json_equal

__all__ = ["Records", "merged"]

_Timed = TypeVar("_Timed", Turn, ToolCall, Span)
_Placed = TypeVar("_Placed", Turn, ToolCall, Span, Note)

_PARTS = ("turns", "calls", "spans", "timing", "states", "metadata", "labels")
_PROGRESS = ("requested", "unanswered", "executed", "denied", "cancelled", "timeout", "error", "ok")
"""The statuses of a call, the ones that know more behind the ones that know less."""
_CONTRADICT = {"ok": {"error", "timeout", "denied", "cancelled"}, "executed": {"denied", "cancelled"}}
_64_BITS = 2**63


class Records:
    """Records of many conversations, to be found by their ids; looking one up takes as long as it has calls."""

    def __init__(self, models: Sequence[EvidenceModel]) -> None:
        self._models = models
        self._by_id: dict[str, list[int]] = {}
        self._by_call: dict[tuple[str | None, str], list[int]] = {}
        for index, model in enumerate(models):
            if model.conversation_id is not None:
                self._by_id.setdefault(model.conversation_id, []).append(index)
            for own in _own_ids(model):
                for of_conversation in {None, model.conversation_id}:
                    found = self._by_call.setdefault((of_conversation, own), [])
                    if len(found) < 2:  # a second one makes it ambiguous, as would a third
                        found.append(index)

    def partner(self, base: EvidenceModel) -> EvidenceModel | None:
        """The record of the same conversation: the only one with its id, else the only one with ids of its calls."""
        by_id = [] if base.conversation_id is None else self._by_id.get(base.conversation_id, [])
        if len(by_id) == 1:
            return self._models[by_id[0]]
        within = base.conversation_id if by_id else None
        found = {index for own in _own_ids(base) for index in self._by_call.get((within, own), ())}
        return self._models[found.pop()] if len(found) == 1 else None


def merged(
    base: EvidenceModel,
    other: EvidenceModel,
    *,
    offset_ns: int | None = None,
    parts: Collection[str] = _PARTS,
) -> EvidenceModel:
    """The two records of one conversation as one.

    Args:
        base: the record that counts where both say something.
        other: the record that fills what the first doesn't have.
        offset_ns: the time of `base` at which the clock of `other` reads zero.
        parts: what is taken of `other`.

    Raises:
        EvidenceError: the clocks can't be related by an offset, or there are too many spans.
    """
    return _Merger(base, other, offset_ns, parts).model()


def _own_ids(model: EvidenceModel) -> set[str]:
    return {call.id for call in model.calls or () if not _is_number(call.id, "c_")}


def _is_number(id_: str, start: str) -> bool:
    """Whether an id only counts, as `c_3` does and the `3` of JSON-RPC: it names nothing outside its source."""
    return id_.removeprefix(start).isdecimal()


class _Merger:
    def __init__(
        self,
        base: EvidenceModel,
        other: EvidenceModel,
        offset_ns: int | None,
        parts: Collection[str],
    ) -> None:
        names = _names(base, other)
        self._base = base
        self._notes: dict[tuple[str, str], list[Any]] = {}
        self._loc = _moved(f"{other.sources[0].id if other.sources else 'src_0'}#$", names)
        self._offset = offset_ns
        clocks = _clocks(other)
        self._clock_of = _offset_clocks(base, clocks) if offset_ns is not None else _own_clocks(base, clocks)
        self._sources = [replace(source, id=names[source.id]) for source in other.sources]
        self._other = replace(
            other,
            turns=self._taken(other.turns if "turns" in parts else None, names),
            calls=self._taken(other.calls if "calls" in parts else None, names),
            spans=self._taken(other.spans if "spans" in parts else None, names),
            timing=other.timing if "timing" in parts else None,
            states=other.states if "states" in parts else None,
            metadata=other.metadata if "metadata" in parts else None,
            labels=other.labels if "labels" in parts else None,
            notes=tuple(replace(note, loc=_moved(note.loc, names)) for note in other.notes),
        )
        self._parts = parts
        self._pairs: dict[int, int] = {}
        """By the index of a call of the other record the index of the one that it is in the first."""
        self._added: list[int] = []
        """Indexes of the other record's calls that the first doesn't have."""
        self._at: dict[int, int] = {}
        """By the index of a span of the other record where it is in the whole."""
        self._left_out: set[str] = set()
        """Types of spans of which some were left out."""

    def model(self) -> EvidenceModel:
        base, other = self._base, self._other
        turns, of_turns = self._turns()
        of_calls = self._choose_calls()
        spans = self._spans()
        calls = self._calls(of_calls, spans or ())
        order = self._order(of_turns if turns else None, of_calls if calls else None)
        if order is None:
            turns = turns and tuple([replace(turn, seq=None) for turn in turns])
            calls = calls and tuple([replace(call, seq=None) for call in calls])
        own = len(base.spans or ())
        spans = spans and tuple(
            [
                span
                if span.seq is None or order == ("ours" if index < own else "theirs")
                else replace(span, seq=None)
                for index, span in enumerate(spans)
            ]
        )
        chosen = Chosen(of_turns, of_calls, self._pairs, self._added, frozenset(self._left_out))
        return replace(
            base,
            conversation_id=self._one("conversation_id", base.conversation_id, other.conversation_id),
            turns=turns,
            calls=calls,
            spans=spans,
            timing=self._one("timing", base.timing, other.timing),
            states=self._one("states", base.states, other.states),
            metadata=self._objects("metadata", base.metadata, other.metadata),
            labels=self._objects("labels", base.labels, other.labels),
            coverage=combined(base, other, self._parts, chosen, calls or ()),
            notes=(*base.notes, *other.notes, *self._told()),
            sources=(*base.sources, *self._sources),
        )

    def _order(self, of_turns: Side | None, of_calls: Side | None) -> Side | None:
        """Whose order of turns and calls is that of the whole; None where they are of both."""
        if of_calls == "both":
            of_calls = None if self._added else "ours"
            of_turns = of_turns or "ours"
            return of_turns if of_turns == of_calls else None
        sides = {of_turns, of_calls} - {None}
        return next(iter(sides or {"ours"})) if len(sides) < 2 else None

    def _taken(self, items: tuple[_Timed, ...] | None, names: dict[str, str]) -> tuple[_Timed, ...] | None:
        """Turns, calls or spans of the other record, with their places and times as they are in the whole."""
        return items and tuple([self._timed(_placed(item, names)) for item in items])

    def _timed(self, item: _Timed) -> _Timed:
        if item.clock is None:
            return item
        clock = self._clock_of[item.clock]
        if clock is None:
            self._note(
                "times_not_related", "nothing relates these times to those of the first source", item.loc
            )
            return replace(item, start_ns=None, end_ns=None, clock=None)
        offset = self._offset or 0
        start, end = (time if time is None else time + offset for time in (item.start_ns, item.end_ns))
        if any(time is not None and not -_64_BITS <= time < _64_BITS for time in (start, end)):
            self._note("time_unreadable", "a time is out of range when the offset is added", item.loc)
            return replace(item, start_ns=None, end_ns=None, clock=None)
        return replace(item, start_ns=start, end_ns=end, clock=clock)

    def _turns(self) -> tuple[tuple[Turn, ...] | None, Side]:
        base, other = self._base.turns, self._other.turns
        if other is None or (not other and base is not None):
            return base, "ours"
        if not base:
            return other, "theirs"
        if [(turn.role, turn.text) for turn in base] != [(turn.role, turn.text) for turn in other]:
            self._note(
                "turns_conflict", "both sources have a transcript, and they differ; the first one counts"
            )
        return base, "ours"

    def _choose_calls(self) -> Side:
        """Decide which calls are the same, and whose are taken."""
        base, other = self._base.calls, self._other.calls
        if other is None or (not other and base is not None):
            return "ours"
        if not base:
            self._added = [*range(len(other))]
            return "theirs"
        at = {call.id: index for index, call in enumerate(base) if not _is_number(call.id, "c_")}
        self._pairs = {index: at[call.id] for index, call in enumerate(other) if call.id in at}
        if not self._pairs:
            # Which of them are the same could only be guessed, and none may count twice.
            is_theirs = _shown(self._other) > _shown(self._base)
            which = "second" if is_theirs else "first"
            detail = f"the two sources have no id of a call in common; the calls of the {which} count"
            self._note("calls_not_joined", detail)
            self._added = [*range(len(other))] if is_theirs else []
            return "theirs" if is_theirs else "ours"
        is_named = len(at) == len(base)
        for index, call in enumerate(other):
            if index in self._pairs:
                continue
            if is_named and not _is_number(call.id, "c_"):
                self._added.append(index)
            else:
                detail = "which call of the first source this is, or whether it is one, can't be told"
                self._note("calls_not_joined", detail, call.loc)
        return "both"

    def _spans(self) -> tuple[Span, ...] | None:
        """The spans of both: not twice those of one id, nor what shows a call or a type that the first shows."""
        base, other = self._base.spans, self._other.spans
        if not other:
            return other if base is None else base
        spans = [*(base or ())]
        at = {span.id: index for index, span in enumerate(spans)}
        types = {span.type for span in spans}
        numbered = {span.type for span in spans if _is_number(span.id, "s_")}
        named = [not _is_number(span.id, "s_") for span in other]
        is_related = any(is_named and span.id in at for is_named, span in zip(named, other, strict=True))
        untaken = self._spans_of_untaken_calls()
        for index, (is_named, span) in enumerate(zip(named, other, strict=True)):
            if is_named and span.id in at:
                self._at[index] = at[span.id]
                if not _are_alike(spans[at[span.id]], span):
                    self._note("span_conflict", "two spans of one id differ; the first counts", span.loc)
            elif index in untaken:
                self._left_out.add(span.type)
            elif span.type in types and not (is_related and is_named and span.type not in numbered):
                self._left_out.add(span.type)
                detail = "both sources show spans of this type, and no ids tell them apart; the first's count"
                self._note("spans_not_joined", detail, span.loc)
            else:
                self._at[index] = len(spans)
                number = len(spans)
                id_ = span.id if is_named else f"s_{number}"
                while id_ in at:
                    number += 1
                    id_ = f"s_{number}"
                at[id_] = len(spans)
                spans.append(span if id_ == span.id else replace(span, id=id_))
        if len(spans) > MAX_SPANS:
            message, limit = "the two records have too many spans together", f"at most {MAX_SPANS:,} spans"
            raise EvidenceError(Problem(code="too_many_spans", message=message, expected=limit))
        return tuple(spans)

    def _spans_of_untaken_calls(self) -> set[int | None]:
        """Indexes of the other record's spans that show calls which the first shows, or which are not taken."""
        base = self._base.calls or ()
        added = set(self._added)
        return {
            call.position
            for index, call in enumerate(self._other.calls or ())
            if index not in added
            and (index not in self._pairs or base[self._pairs[index]].position is not None)
        }

    def _calls(self, side: Side, spans: Sequence[Span]) -> tuple[ToolCall, ...] | None:
        if side == "ours":
            return self._base.calls
        other = [self._shifted(call, spans) for call in self._other.calls or ()]
        calls = [] if side == "theirs" else [*(self._base.calls or ())]
        for theirs, ours in self._pairs.items():
            calls[ours] = self._joined(calls[ours], other[theirs])
        calls += [other[index] for index in self._added]
        ids = {call.id for call in calls}
        return tuple(
            [
                call if call.retry_of is None or call.retry_of in ids else replace(call, retry_of=None)
                for call in calls
            ]
        )

    def _shifted(self, call: ToolCall, spans: Sequence[Span]) -> ToolCall:
        """A call of the other record, at the span that is now its own."""
        at = None if call.position is None else self._at.get(call.position)
        return replace(call, position=at, span_id=None if at is None else spans[at].id)

    def _joined(self, one: ToolCall, other: ToolCall) -> ToolCall:
        """Two records of one call: what one lacks the other fills, and where they differ neither counts."""
        changes = self._payload(one, other, "args") | self._payload(one, other, "result")
        if one.name is not None and other.name is not None and one.name != other.name:
            self._note("name_conflict", "two sources name the tool of a call differently", other.loc)
        statuses = {one.status: other.status, other.status: one.status}
        bad = [status for good, status in statuses.items() if status in _CONTRADICT.get(good, ())]
        if bad:
            detail = "two sources differ on whether a call failed; it counts as failed"
            self._note("status_conflict", detail, other.loc)
            changes["status"] = bad[0]
        elif _PROGRESS.index(other.status) > _PROGRESS.index(one.status):
            changes["status"] = other.status
        for fields in (("name",), ("span_id", "position"), ("attempt",), ("latency_ms",)):
            if all(getattr(one, name) is None for name in fields):
                changes |= {name: getattr(other, name) for name in fields}
        if not _is_timed(one) and _is_timed(other):
            changes |= {name: getattr(other, name) for name in ("start_ns", "end_ns", "clock")}
        if one.error is UNSET:
            changes["error"] = other.error
        return replace(one, **changes)

    def _payload(self, one: ToolCall, other: ToolCall, name: Literal["args", "result"]) -> dict[str, Any]:
        """What changes of the arguments or the result of a call by what another source says of them."""
        fields = [name, f"{name}_raw", f"{name}_state"]
        ours, theirs = getattr(one, name), getattr(other, name)
        states = [getattr(call, fields[-1]) for call in (one, other)]
        what = "arguments" if name == "args" else name
        both_shown = states == ["recorded", "recorded"] and ours is not UNSET and theirs is not UNSET
        if both_shown and not _agree(ours, theirs):
            detail = f"two sources differ on the {what} of a call; neither counts"
            self._note(f"{what}_conflict", detail, other.loc)
        elif "conflicting" not in states:
            is_better = theirs is not UNSET and (
                ours is UNSET or (states[0] != "recorded" and states[1] == "recorded")
            )
            if name == "args":
                fields.append("args_error")
            return {each: getattr(other, each) for each in fields} if is_better else {}
        return dict(zip(fields, (UNSET, None, "conflicting"), strict=True))

    def _one(self, name: str, ours: Any, theirs: Any) -> Any:
        """A part that can't be added up: the first source's, else the second's."""
        if ours is not None and theirs is not None and canonical_known(ours) != canonical_known(theirs):
            self._note(
                f"{name}_conflict", f"both sources have `{name}`, and they differ; the first one counts"
            )
        return theirs if ours is None else ours

    def _objects(
        self, name: str, ours: dict[str, Any] | None, theirs: dict[str, Any] | None
    ) -> dict[str, Any] | None:
        if ours is None or theirs is None:
            return theirs if ours is None else ours
        if any(key in ours and not json_equal(ours[key], value) for key, value in theirs.items()):
            self._note(
                f"{name}_conflict", f"both sources have the same `{name}` with other values; the first counts"
            )
        return {**theirs, **ours}

    def _note(self, code: str, detail: str, loc: str | None = None) -> None:
        """Note something, once for all places in which it is so."""
        self._notes.setdefault((code, detail), [0, loc or self._loc])[0] += 1

    def _told(self) -> list[Note]:
        return [
            Note(
                code=code,
                severity="warning",
                loc=loc,
                detail=detail if count == 1 else f"{detail} (in {count:,} places)",
            )
            for (code, detail), (count, loc) in self._notes.items()
        ]


def _names(base: EvidenceModel, other: EvidenceModel) -> dict[str, str]:
    """The ids that the sources of `other` get."""
    taken = {source.id for source in base.sources}
    names: dict[str, str] = {}
    number = len(taken)
    for source in other.sources:
        while f"src_{number}" in taken:
            number += 1
        names[source.id] = f"src_{number}"
        taken.add(names[source.id])
    return names


def _clocks(model: EvidenceModel) -> set[Clock]:
    """The clocks on which something in a record has a time."""
    kinds: tuple[Iterable[Turn | ToolCall | Span], ...] = (
        model.turns or (),
        model.calls or (),
        model.spans or (),
    )
    return {thing.clock for things in kinds for thing in things if thing.clock is not None}


def _offset_clocks(base: EvidenceModel, clocks: set[Clock]) -> dict[Clock, Clock | None]:
    """The clock that the other record's times are on when an offset is added to them."""
    own = _clocks(base)
    for whose, found in (("the conversation", own), ("the further record", clocks)):
        if len(found) > 1 or (whose == "the conversation" and not found):
            raise EvidenceError(
                Problem(
                    code="no_common_clock",
                    message=f"an offset relates two clocks, and {whose} does not have one",
                    expected="times on one clock",
                    found=f"times on {len(found)} clocks" if found else "no times",
                    mend="Leave out the clock offset, or give the record with the times first.",
                )
            )
    return dict.fromkeys(clocks, own.pop())


def _own_clocks(base: EvidenceModel, clocks: set[Clock]) -> dict[Clock, Clock | None]:
    """The clock that each of the other record's is called where nothing relates them; None where no name is free.

    1970 is the same for all. Where a second source has the zero of another clock is not known, not even that it is
    the start of the same recording.
    """
    own = _clocks(base)
    named: dict[Clock, Clock | None] = {}
    for clock in sorted(clocks, key=("epoch", "monotonic", "call_relative").index):
        free: list[Clock] = [clock, "monotonic"]
        used = own | {given for given in named.values() if given is not None}
        named[clock] = clock if clock == "epoch" else next((each for each in free if each not in used), None)
    return named


def _shown(model: EvidenceModel) -> int:
    """How much a record shows of what was executed."""
    state = model.coverage.executions.state
    return 0 if state in ("absent", "unreadable") else 2 if state in ("present", "empty") else 1


def _is_timed(call: ToolCall) -> bool:
    return call.start_ns is not None or call.end_ns is not None


def _agree(one: Any, other: Any) -> bool:
    """Whether two sources say the same, one of them perhaps in the text of a number."""
    if isinstance(one, str) != isinstance(other, str):
        text, value = (one, other) if isinstance(one, str) else (other, one)
        return type(value) in (int, float, bool) and text.strip().encode() == canonical_known(value)
    return json_equal(one, other)


def _are_alike(one: Span, other: Span) -> bool:
    return (one.type, one.name, one.status) == (other.type, other.name, other.status) and json_equal(
        [one.attrs, one.fields], [other.attrs, other.fields]
    )


def _placed(item: _Placed, names: dict[str, str]) -> _Placed:
    loc: str | None = item.loc
    return item if loc is None else replace(item, loc=_moved(loc, names))


def _moved(loc: str, names: dict[str, str]) -> str:
    source, mark, place = loc.partition("#")
    return f"{names.get(source, source)}{mark}{place}"
