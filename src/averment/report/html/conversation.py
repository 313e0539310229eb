"""The conversation as the page shows it: once, in order, without personal data, and bounded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from averment.evidence.model import EvidenceModel, Span, ToolCall, Turn
from averment.report.evidence import timeline as in_order
from averment.report.html.texts import Shown, json_text, short, shown
from averment.report.html.timeline import Moment, Timeline, clock_time, timeline
from averment.text.pii import redact

__all__ = ["Anchors", "Conversation", "Item", "Level", "conversation", "transcript_only"]


class Level(msgspec.Struct, frozen=True):
    """How much of a conversation is shown.

    Attributes:
        text: the most characters of one text.
        spans: the most characters of what a span says beside its name.
        around: only what results rest on, with this many neighbours; None for everything.
    """

    text: int
    spans: int
    around: int | None = None


class Item(msgspec.Struct, frozen=True):
    """One turn, call or span.

    Attributes:
        anchor: its id in the page.
        form: `turn`, `call` or `span`.
        lane: its lane of the timeline.
        label: what it is called: `turn 3`, `call c_1`.
        name: the role, the tool, or the span's type.
        time: when it starts, since the conversation does; None where that is not known.
        text: what was said.
        args, result, error: of a call, where there are any.
        notes: what else there is to know, a few words each.
        status: how far a call came, or what a span says of its outcome.
        left_out: how many things before it are not shown.
        mark: its place on the timeline.
    """

    anchor: str
    form: str
    lane: str
    label: str
    name: str
    time: str | None = None
    text: Shown | None = None
    args: Shown | None = None
    result: Shown | None = None
    error: Shown | None = None
    notes: Sequence[str] = ()
    status: str | None = None
    left_out: int = 0
    mark: str | None = None


class Anchors(msgspec.Struct, frozen=True):
    """Where turns, calls and spans stand in the page, by what results call them."""

    turns: Mapping[int, str] = {}
    calls: Mapping[str, Sequence[str]] = {}
    spans: Mapping[str, Sequence[str]] = {}


class Conversation(msgspec.Struct, frozen=True):
    """A conversation on the page.

    Attributes:
        anchor: its id in the page.
        items: what happened, in order.
        anchors: where results find it.
        counts: how many turns, calls and spans there are, in words.
        timeline: the drawing; None where there is nothing to draw.
        is_transcript: whether it is the envelope's redacted transcript, and there is no evidence.
        left_out: how many things at the end are not shown.
    """

    anchor: str
    items: Sequence[Item]
    anchors: Anchors
    counts: str
    timeline: Timeline | None = None
    is_transcript: bool = False
    left_out: int = 0


def conversation(model: EvidenceModel, key: str, level: Level, wanted: Iterable[str] = ()) -> Conversation:
    """The conversation at a level; `wanted` are the anchors that results rest on, for levels that keep no others."""
    named = _Named(model, key)
    things = in_order(model)
    moments = [Moment(named.anchor(thing), named.lane(thing), thing) for thing in things]
    drawing = timeline(model, moments)
    origin = _origin(model, things) if drawing is not None and drawing.by_clock else None
    kept = None if level.around is None else _around(moments, set(wanted), level.around)
    items: list[Item] = []
    skipped = 0
    for index, moment in enumerate(moments):
        if kept is not None and index not in kept:
            skipped += 1
            continue
        item = _item(moment, named.label(moment.thing), level, origin)
        place = None if drawing is None else drawing.places.get(moment.anchor)
        items.append(msgspec.structs.replace(item, left_out=skipped, mark=place))
        skipped = 0
    return Conversation(
        anchor=f"conversation{_dash(key)}",
        items=items,
        anchors=named.anchors,
        counts=_counts(model),
        timeline=drawing,
        left_out=skipped,
    )


def transcript_only(turns: object, key: str, level: Level) -> Conversation | None:
    """The redacted transcript that an envelope carries; None where it carries none."""
    if not isinstance(turns, Sequence) or isinstance(turns, str) or not turns:
        return None
    items = [
        Item(
            anchor=f"t{_dash(key)}-{index}",
            form="turn",
            lane="agent" if turn.get("role") in ("agent", "assistant") else "other",
            label=f"turn {index}",
            name=short(turn.get("role") or "nobody", 60),
            time=_seconds(turn.get("start")),
            text=shown(str(turn.get("text", "")), level.text),
        )
        for index, turn in enumerate(turns)
        if isinstance(turn, Mapping)
    ]
    anchors = Anchors(turns={int(item.label.removeprefix("turn ")): item.anchor for item in items})
    return Conversation(
        anchor=f"conversation{_dash(key)}",
        items=items,
        anchors=anchors,
        counts=_many(len(items), "turn"),
        is_transcript=True,
    )


class _Named:
    """What the turns, calls and spans of a model are called in the page."""

    def __init__(self, model: EvidenceModel, key: str) -> None:
        self._names: dict[int, tuple[str, str]] = {}
        turns: dict[int, str] = {}
        calls: dict[str, list[str]] = {}
        spans: dict[str, list[str]] = {}
        of_span: dict[int, str] = {}
        for index, turn in enumerate(model.turns or ()):
            turns[index] = self._name(turn, f"t{_dash(key)}-{index}", f"turn {index}")
        for index, call in enumerate(model.calls or ()):
            shown_id = redact(call.id)
            anchor = self._name(call, f"c{_dash(key)}-{index}", f"call {short(shown_id, 60)}")
            calls.setdefault(shown_id, []).append(anchor)
            if call.position is not None:
                of_span.setdefault(call.position, anchor)
        for index, span in enumerate(model.spans or ()):
            shown_id = redact(span.id)
            anchor = of_span.get(index) or self._name(
                span, f"s{_dash(key)}-{index}", f"span {short(shown_id, 60)}"
            )
            spans.setdefault(shown_id, []).append(anchor)
        self.anchors = Anchors(turns, calls, spans)

    def _name(self, thing: Turn | ToolCall | Span, anchor: str, label: str) -> str:
        self._names[id(thing)] = anchor, label
        return anchor

    def anchor(self, thing: Turn | ToolCall | Span) -> str:
        return self._names[id(thing)][0]

    def label(self, thing: Turn | ToolCall | Span) -> str:
        return self._names[id(thing)][1]

    @staticmethod
    def lane(thing: Turn | ToolCall | Span) -> str:
        if isinstance(thing, Turn):
            return "agent" if thing.role == "agent" else "other"
        return "call" if isinstance(thing, ToolCall) else "span"


def _item(moment: Moment, label: str, level: Level, origin: int | None) -> Item:
    thing = moment.thing
    time = None if origin is None or thing.start_ns is None else clock_time(thing.start_ns - origin)
    fields: dict[str, Any]
    if isinstance(thing, Turn):
        fields = _turn(thing, level)
    elif isinstance(thing, ToolCall):
        fields = _call(thing, level)
    else:
        fields = _span(thing, level)
    form = {"call": "call", "span": "span"}.get(moment.lane, "turn")
    return Item(
        anchor=moment.anchor,
        form=form,
        lane=moment.lane,
        label=label,
        time=time,
        **fields,
    )


def _turn(turn: Turn, level: Level) -> dict[str, Any]:
    notes = []
    if turn.interrupted:
        notes.append("interrupted")
    if not turn.final:
        notes.append("replaced by a later turn")
    if not turn.said:
        notes.append("not said aloud")
    if turn.speaker is not None:
        notes.append(f"speaker {shown(turn.speaker, 60).text}")
    return {
        "name": shown(turn.role_raw or "nobody", 60).text,
        "text": shown(turn.text, level.text),
        "notes": notes,
    }


def _call(call: ToolCall, level: Level) -> dict[str, Any]:
    notes = []
    if call.requestor != "agent":
        notes.append(f"asked for by the {call.requestor}")
    if call.attempt is not None and call.attempt > 1:
        notes.append(f"attempt {call.attempt}")
    if call.latency_ms is not None:
        notes.append(f"took {json_text(call.latency_ms)} ms")
    if call.args_error is not None:
        notes.append("arguments that can't be read")
        args: Shown | None = shown(call.args_raw or "", level.text)
    else:
        args = _value(call.args, level)
        if call.args_state != "recorded":
            notes.append(f"arguments {call.args_state}")
    if call.result_state != "recorded":
        notes.append(f"result {call.result_state}")
    return {
        "name": shown(call.name or "a tool without a name", 80).text,
        "args": args,
        "result": _value(call.result, level),
        "error": _value(call.error, level),
        "status": call.status,
        "notes": notes,
    }


def _span(span: Span, level: Level) -> dict[str, Any]:
    said = {**span.attrs, **span.fields}
    for name in ("id", "name", "start", "end", "start_sec", "end_sec"):
        said.pop(name, None)
    text = shown(json_text(said), level.spans) if said and level.spans else None
    return {
        "name": shown(span.type, 80).text,
        "text": text,
        "status": None if span.status == "unset" else span.status,
        "notes": [shown(span.name, 80).text] if span.name else [],
    }


def _value(value: Any, level: Level) -> Shown | None:
    return None if value is UNSET else shown(json_text(value), level.text)


def _around(moments: Sequence[Moment], wanted: set[str], neighbours: int) -> set[int]:
    places = [index for index, moment in enumerate(moments) if moment.anchor in wanted]
    return {near for index in places for near in range(index - neighbours, index + neighbours + 1)}


def _origin(model: EvidenceModel, things: Sequence[Turn | ToolCall | Span]) -> int:
    """The time that times are told from: the clock's own zero where that is the start of the conversation."""
    main: Sequence[Turn | ToolCall | Span] = [*(model.turns or ()), *(model.calls or ())] or things
    if all(thing.clock == "call_relative" for thing in main):
        return 0
    return min(thing.start_ns for thing in main if thing.start_ns is not None)


def _counts(model: EvidenceModel) -> str:
    of_call = {call.position for call in model.calls or () if call.position is not None}
    told = [
        _many(len(model.turns or ()), "turn"),
        _many(len(model.calls or ()), "tool call"),
        _many(sum(index not in of_call for index in range(len(model.spans or ()))), "other span"),
    ]
    return ", ".join(told)


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _seconds(value: object) -> str | None:
    is_time = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 10**7
    return clock_time(int(value * 1_000_000_000)) if is_time else None  # type: ignore[operator]


def _dash(key: str) -> str:
    return f"-{key}" if key else ""
