"""Voice runs of tau2-bench: `ticks`, in each of which the agent and the user may both speak and call tools.

A stretch of ticks in which one of them speaks is an event of `timing`: `{speaker, start_tick, end_tick, gap_ticks,
overlap_ticks, duration_ticks}`, with `end_tick` the first in which they no longer do. `gap_ticks` counts from where the
other side was last heard, and is left out while that speaks on; `overlap_ticks` are those in which both do. Where the
length of a tick is known, each has its twin in `_ms`. Chunks with text make the turns: one for each stretch.

Known gaps: a tick's `timestamp` tells when it was computed, not when it would be heard, so no time is taken from it.
Effects, backchannels and other turn-taking are not read.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from averment.evidence.draft import OF_CALLS, Draft, Part, kind_of
from averment.evidence.readers.dialogue import Dialogue
from averment.evidence.times import SECOND, scaled

__all__ = ["Ticks"]

_Side = Literal["agent", "user"]
_SIDES: tuple[_Side, ...] = ("agent", "user")
_TICK_KEYS = frozenset(
    {"tick_id", "timestamp", "tick_duration_seconds"}
    | {f"{side}_{what}" for side in _SIDES for what in ("chunk", "tool_calls", "tool_results")}
)
_CHUNK_KEYS = frozenset({"role", "content", "contains_speech", "utterance_ids", "is_audio"})
_NO_TEXT = "the ticks say when somebody speaks, and not what"
_HOW_TEXT = "Export the simulation with the `content` of its chunks."
_NO_CALLS = "the ticks have no keys for tool calls"
_HOW_CALLS = "Export the simulation with `agent_tool_calls` and `agent_tool_results` of its ticks."


class _Stretch(msgspec.Struct):
    """Ticks in a row in which one side speaks."""

    start: int
    loc: str
    role: Any
    gap: int | None
    overlap: int = 0
    texts: list[str] = []
    utterances: set[str] = set()


class Ticks:
    """The ticks of one simulation.

    Args:
        part: the list of them.
        draft: what they are written to.
        seconds: how long a tick is, if the run says so.
    """

    def __init__(self, part: Part, draft: Draft, seconds: Any) -> None:
        self._part = part
        self._draft = draft
        self._tick_ns = scaled(seconds, SECOND)
        self._dialogue = Dialogue(draft, part)
        self._open: dict[str, _Stretch] = {}
        self._heard: dict[str, int] = {}
        self._events: list[dict[str, Any]] = []
        self._has_text = False
        self._has_calls = False

    def read(self) -> None:
        """Write turns, calls and timing to the draft."""
        read = 0
        ticks = self._part.value
        for index, (loc, tick) in enumerate(zip(self._part.locs(), ticks, strict=True)):
            if type(tick) is not dict:
                self._draft.note("tick_not_object", loc, f"a tick is {kind_of(tick)}, and is not read")
                continue
            read += 1
            self._read_tick(index, tick, loc)
        for side in _SIDES:
            self._close(side, len(ticks))
        self._dialogue.finish()
        self._draft.timing = sorted(self._events, key=lambda event: event["start_tick"])
        self._draft.cover("timing", len(self._events))
        if not self._has_text:
            self._draft.turns = None
            self._draft.limit("transcript", "absent", _NO_TEXT, _HOW_TEXT)
        if not self._has_calls:
            self._draft.calls = None
            for channel in OF_CALLS:
                self._draft.limit(channel, "absent", _NO_CALLS, _HOW_CALLS)
        self._draft.account(self._part.source, records=len(ticks), read=read)

    def _read_tick(self, index: int, tick: dict[str, Any], loc: str) -> None:
        self._draft.drop_rest(tick, _TICK_KEYS, loc)
        if self._tick_ns is None:
            self._tick_ns = scaled(tick.get("tick_duration_seconds"), SECOND)
        chunks = {side: tick.get(f"{side}_chunk") for side in _SIDES}
        speaking = [side for side, chunk in chunks.items() if self._speaks(chunk)]
        for side in _SIDES:
            if side not in speaking:
                self._close(side, index)
        for side in speaking:
            self._hear(side, index, chunks[side], f"{loc}.{side}_chunk")
        if len(speaking) > 1:
            for stretch in self._open.values():
                stretch.overlap += 1
        for side in _SIDES:
            self._read_calls(side, tick, loc)

    def _speaks(self, chunk: Any) -> bool:
        if type(chunk) is not dict:
            return False
        return chunk.get("contains_speech") is True or self._text(chunk) != ""

    def _text(self, chunk: dict[str, Any]) -> str:
        """A chunk's text; `content` may hold audio instead."""
        text = chunk.get("content")
        return text if type(text) is str and chunk.get("is_audio") is not True else ""

    def _hear(self, side: _Side, index: int, chunk: Any, loc: str) -> None:
        self._draft.drop_rest(chunk, _CHUNK_KEYS, loc)
        stretch = self._open.get(side)
        if stretch is None:
            other = "user" if side == "agent" else "agent"
            heard = None if other in self._open else self._heard.get(other)
            gap = None if heard is None else index - heard
            stretch = self._open[side] = _Stretch(
                index, loc, chunk.get("role"), gap, texts=[], utterances=set()
            )
        text = self._text(chunk)
        if text:
            ids = chunk.get("utterance_ids")
            named = {each for each in ids if type(each) is str} if type(ids) is list else set()
            if stretch.texts and named and stretch.utterances and named.isdisjoint(stretch.utterances):
                stretch.texts.append(" ")
            stretch.texts.append(text)
            stretch.utterances = named

    def _close(self, side: _Side, end: int) -> None:
        stretch = self._open.pop(side, None)
        if stretch is None:
            return
        self._heard[side] = end
        ticks = {"gap": stretch.gap, "overlap": stretch.overlap, "duration": end - stretch.start}
        event: dict[str, Any] = {"speaker": side, "start_tick": stretch.start, "end_tick": end}
        event |= {f"{key}_ticks": count for key, count in ticks.items() if count is not None}
        start_ns = end_ns = None
        if self._tick_ns is not None:
            tick_ns = self._tick_ns
            event |= {
                f"{key}_ms": _milliseconds(count * tick_ns)
                for key, count in ticks.items()
                if count is not None
            }
            start_ns, end_ns = stretch.start * tick_ns, end * tick_ns
        self._events.append(event)
        if stretch.texts:
            self._has_text = True
            role = stretch.role if type(stretch.role) is str else side
            self._dialogue.turn(
                role,
                "".join(stretch.texts),
                stretch.loc,
                role=side,
                start_ns=start_ns,
                end_ns=end_ns,
                clock="call_relative",
            )

    def _read_calls(self, side: _Side, tick: dict[str, Any], loc: str) -> None:
        for key in (f"{side}_tool_calls", f"{side}_tool_results"):
            items = tick.get(key)
            if type(items) is not list:
                continue
            self._has_calls = True
            if items and key.endswith("calls"):
                self._dialogue.step()
            for index, item in enumerate(items):
                place = f"{loc}.{key}[{index}]"
                if type(item) is not dict:
                    self._draft.note("call_not_object", place, f"an item is {kind_of(item)}, and is not read")
                elif key.endswith("calls"):
                    self._dialogue.request(
                        item.get("name"), item.get("arguments"), place, own=item.get("id"), requestor=side
                    )
                else:
                    self._read_result(item, place)

    def _read_result(self, item: dict[str, Any], loc: str) -> None:
        flag, content = item.get("error"), item.get("content")
        failed = flag if type(flag) is bool else None
        self._dialogue.answer(
            content, loc, own=item.get("id"), failed=failed, error=content if flag is True else None
        )


def _milliseconds(ns: int) -> int | float:
    return ns // 1_000_000 if ns % 1_000_000 == 0 else ns / 1_000_000
