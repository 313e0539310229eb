"""How the spans of a conversation belong together: their order, what stands inside what, which tell of one thing.

A tool's span inside another of the same tool is the same attempt, and so is one of the same call id that runs within
its time. A model's span around another is the same model call, unless an agent or a tool stands between them. An HTTP
server's span under a client's is the same exchange.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from averment.evidence.draft import Draft, own_id
from averment.evidence.readers.spans.conventions import Reading
from averment.evidence.readers.spans.record import SpanRecord

__all__ = ["Tree"]

_CLOSED = frozenset({"tool_call", "guardrail", "retriever"})
"""What is said inside these is not said in the conversation."""


class Tree:
    """The spans of a conversation in trace order; everything is by index in that order.

    Attributes:
        records: the spans: by start where every one has a start, a parent before its children, else as recorded.
        is_timed: whether they are in order of time.
        ids: the id of each in the model.
        parent: the index of each one's parent, if that is there.
        inside: the nearest tool, guardrail or retriever around each.
        same_as: the span that tells of the same thing, and is the one that counts.
        repeats: the other way round: for a tool's span those that repeat it.
        shows_given, shows_gave: whether a span further inside shows what the model was given, and what it gave.
        given_known, gave_known: whether the same is shown by the span itself, around it or inside it.
    """

    def __init__(self, spans: Sequence[SpanRecord], draft: Draft) -> None:
        self.is_timed = all(span.start_ns is not None for span in spans)
        parents, down = _descent(spans, draft)
        order = [*range(len(spans))]
        if self.is_timed:
            depth = [0] * len(spans)
            for index in down:
                up = parents[index]
                depth[index] = 0 if up is None else depth[up] + 1
            order.sort(key=lambda index: (spans[index].start_ns or 0, depth[index], index))
        place = {old: new for new, old in enumerate(order)}
        self.records = [spans[old] for old in order]
        self.parent = [None if (up := parents[old]) is None else place[up] for old in order]
        self._down = [place[old] for old in down]
        taken: set[str] = set()
        self.ids = [
            own_id(record.span_id, f"s_{index}", taken) or f"s_{index}"
            for index, record in enumerate(self.records)
        ]
        size = len(spans)
        self.inside: list[int | None] = [None] * size
        self.same_as: list[int | None] = [None] * size
        self.repeats: dict[int, list[int]] = {}
        self.shows_given = [False] * size
        self.shows_gave = [False] * size
        self.given_known = [False] * size
        self.gave_known = [False] * size
        self._first_tool: dict[int, int] = {}
        self._is_agent: set[int] = set()

    def relate(self, readings: Sequence[Reading]) -> None:
        """Find out what stands inside what, from what the spans are."""
        self._is_agent = {index for index, reading in enumerate(readings) if reading.kind == "agent"}
        self._descend(readings)
        self._ascend(readings)
        self._same_ids(readings)

    def answered_at(self, index: int) -> int:
        """When what a model gave back was complete: at the end of its span, or when its first tool began inside it."""
        record = self.records[index]
        end = record.end_ns if record.end_ns is not None else record.start_ns or 0
        end = max(end, record.start_ns or 0)
        return end if index in self._is_agent else min(end, self._first_tool.get(index, end))

    def _descend(self, readings: Sequence[Reading]) -> None:
        tool_around: list[int | None] = [None] * len(readings)
        during = _During(self.records, readings) if self.is_timed else None
        for index in self._down:
            up, reading = self.parent[index], readings[index]
            around = None if up is None else readings[up].kind
            if up is not None:
                self.inside[index] = up if around in _CLOSED else self.inside[up]
            if reading.kind == "agent" and self.inside[index] is None and during is not None:
                self.inside[index] = during.tool(self.records[index])
            if up is None:
                continue
            if around not in _CLOSED:
                self.given_known[index] = self.given_known[up] or readings[up].given is not None
                self.gave_known[index] = self.gave_known[up] or readings[up].gave is not None
            if around == "tool_call":
                tool_around[index] = up
            elif around not in ("llm", "agent"):
                tool_around[index] = tool_around[up]
            outer = tool_around[index]
            if reading.kind == "tool_call" and outer is not None and _same_tool(readings[outer], reading):
                self._fold(index, outer)
            elif reading.kind == around == "http_exchange" and self._is_same_exchange(up, index):
                self.same_as[index] = up

    def _is_same_exchange(self, client: int, server: int) -> bool:
        kinds = (self.records[client].kind, self.records[server].kind)
        return kinds == ("client", "server")

    def _fold(self, index: int, outer: int) -> None:
        first = self.same_as[outer]
        first = outer if first is None else first
        self.same_as[index] = first
        self.repeats.setdefault(first, []).append(index)

    def _ascend(self, readings: Sequence[Reading]) -> None:
        models: dict[int, tuple[int, int]] = {}  # how many model calls stand inside, and which is the first
        for index in reversed(self._down):
            up, reading = self.parent[index], readings[index]
            inner = models.get(index)
            self.given_known[index] |= self.shows_given[index] or reading.given is not None
            self.gave_known[index] |= self.shows_gave[index] or reading.gave is not None
            if reading.kind == "llm" and inner is not None:
                count, first = inner
                if count == 1:
                    self.same_as[index] = first
                else:
                    reading.kind = "agent"  # several steps, each a model call
                    self._is_agent.add(index)
            if up is None:
                continue
            tool_start = self._first_tool.get(index)
            if reading.kind == "tool_call":
                tool_start = self.records[index].start_ns
            if tool_start is not None:
                self._first_tool[up] = min(tool_start, self._first_tool.get(up, tool_start))
            if reading.kind in _CLOSED:
                continue
            self.shows_given[up] |= self.shows_given[index] or reading.given is not None
            self.shows_gave[up] |= self.shows_gave[index] or reading.gave is not None
            if reading.kind == "llm":
                inner = inner or (1, index)
            elif reading.kind == "agent":
                inner = None
            if inner is not None:
                before = models.get(up)
                models[up] = inner if before is None else (before[0] + inner[0], before[1])

    def _same_ids(self, readings: Sequence[Reading]) -> None:
        """Fold executions that share a call id and of which one runs within the other's time."""
        latest: dict[str, int] = {}
        for index, reading in enumerate(readings):
            own = None if reading.execution is None else reading.execution.own
            if own is None or self.same_as[index] is not None:
                continue
            outer = latest.get(own)
            if outer is not None and _is_within(self.records[index], self.records[outer]):
                self._fold(index, outer)
            else:
                latest[own] = index


class _During:
    """The tools' spans by time. Some instrumentations put the agent that a tool runs beside it, and not inside."""

    def __init__(self, records: Sequence[SpanRecord], readings: Sequence[Reading]) -> None:
        self._by_trace: dict[str, tuple[list[int], list[tuple[int, int]]]] = {}
        for index, (record, reading) in enumerate(zip(records, readings, strict=True)):
            if reading.kind == "tool_call" and record.start_ns is not None and record.end_ns is not None:
                starts, latest = self._by_trace.setdefault(record.trace_id, ([], []))
                starts.append(record.start_ns)
                latest.append(max((record.end_ns, index), latest[-1]) if latest else (record.end_ns, index))

    def tool(self, record: SpanRecord) -> int | None:
        """A tool that ran all the time that a span did."""
        starts, latest = self._by_trace.get(record.trace_id, ([], []))
        if record.start_ns is None or record.end_ns is None:
            return None
        before = bisect_left(starts, record.start_ns)
        if before == 0:
            return None
        end, index = latest[before - 1]
        return index if end >= record.end_ns else None


def _descent(spans: Sequence[SpanRecord], draft: Draft) -> tuple[list[int | None], list[int]]:
    """The parent of each span, and an order in which every parent stands before its children."""
    by_id = {(span.trace_id, span.span_id): index for index, span in enumerate(spans) if span.span_id}
    parents = [by_id.get((span.trace_id, span.parent_id)) if span.parent_id else None for span in spans]
    children: dict[int, list[int]] = {}
    for index, up in enumerate(parents):
        if up is not None:
            children.setdefault(up, []).append(index)
    down = [index for index, up in enumerate(parents) if up is None]
    for index in down:
        down += children.get(index, ())
    if len(down) < len(spans):
        reached = set(down)
        loops = [index for index in range(len(spans)) if index not in reached]
        detail = "spans that are inside each other are taken as if nothing were around them"
        draft.note("parent_loop", spans[loops[0]].loc, detail)
        for index in loops:
            parents[index] = None
        down += loops
    return parents, down


def _same_tool(outer: Reading, inner: Reading) -> bool:
    """Whether two executions are of one call: their ids are the same, or one's name is the other's with a prefix."""
    one, other = outer.execution, inner.execution
    if one is None or other is None:
        return False
    if one.own is not None and other.own is not None:
        return one.own == other.own
    if one.name is None or other.name is None:
        return one.name is other.name
    long, short = (one.name, other.name) if len(one.name) > len(other.name) else (other.name, one.name)
    return long == short or (long.endswith(short) and long[-len(short) - 1] in "._-/:")


def _is_within(inner: SpanRecord, outer: SpanRecord) -> bool:
    times = (outer.start_ns, inner.start_ns, inner.end_ns, outer.end_ns)
    known = [time for time in times if time is not None]
    return len(known) == len(times) and known == sorted(known)
