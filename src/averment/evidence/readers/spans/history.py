"""What was said and called in the model calls of a conversation, each of which repeats the history before it.

Of a list that a model was given, only what follows the part said before is new. Lists begin anew in a trace that has
nothing of what the agent said before: there, the same words said again are said again. A text of the history that
nobody said before, with something known behind it, was put there or changed by the application, and is noted.
"""

from __future__ import annotations

from bisect import bisect_left

import msgspec

from averment.evidence.draft import Draft
from averment.evidence.readers.spans.conventions.messages import Item
from averment.evidence.readers.spans.pairing import Call, Calls

__all__ = ["History", "Said"]


class Said(msgspec.Struct, gc=False):
    """One utterance, and when it was said or first given to a model, where that is known."""

    item: Item
    at: int
    time_ns: int | None


class _Thread:
    """What was said so far, to the user or inside one tool."""

    def __init__(self) -> None:
        self.places: dict[tuple[str, ...], list[int]] = {}
        self.calls: dict[int, Call] = {}
        self.by_agent: list[int] = []
        self.size = 0
        self.starts: dict[str, int] = {}

    def add(self, item: Item, call: Call | None = None) -> None:
        """The next thing."""
        self.places.setdefault(item.key(), []).append(self.size)
        if call is not None:
            self.calls[self.size] = call
        elif item.role == "agent":
            self.by_agent.append(self.size)
        self.size += 1

    def find(self, item: Item, start: int) -> int | None:
        """Where the thing stands, from a place on."""
        places = self.places.get(item.key(), [])
        index = bisect_left(places, start)
        return places[index] if index < len(places) else None


class History:
    """Everything said and called in a conversation."""

    def __init__(self, draft: Draft) -> None:
        self.unplaced = 0
        """How many texts of the user stand in histories, and at no place that could be told."""
        self.inner = 0
        """How many texts were said inside a tool's execution."""
        self._draft = draft
        self._threads: dict[int | None, _Thread] = {}
        self._entries: list[Said | Call] = []
        self._runs: list[tuple[list[Said | Call], bool]] = []
        self.calls = Calls(draft, self._entries)
        """The calls among it."""

    def in_order(self) -> list[Said | Call]:
        """All of it, in order; what a whole run says stands before or behind the executions that it speaks of."""
        for entries, is_new in self._runs:
            bound: int | None = None
            for entry in reversed(entries) if is_new else entries:
                ran_at = entry.ran_at if isinstance(entry, Call) else None
                if ran_at is not None:
                    bound = ran_at if bound is None else (min if is_new else max)(bound, ran_at)
                if bound is not None:
                    entry.at = (min if is_new else max)(entry.at, bound)
        return sorted(self._entries, key=lambda entry: entry.at)

    def hear(
        self,
        items: list[Item],
        *,
        at: int,
        time_ns: int | None,
        trace: str,
        tool: int | None,
        is_new: bool,
        is_whole: bool = False,
    ) -> None:
        """What one model call was given, or gave back.

        Args:
            items: what the messages say.
            at: where it stands among everything else.
            time_ns: when, where that is known.
            trace: the trace of the model call.
            tool: the tool inside which it stands, if it does.
            is_new: whether the model gave it back.
            is_whole: whether these are the messages of a whole run, of which only the last one's time is known.
        """
        thread = self._threads.setdefault(tool, _Thread())
        begun = thread.starts.setdefault(trace, thread.size)
        places = [None] * len(items) if is_new else self._places(thread, items, begun)
        last = max((index for index, place in enumerate(places) if place is not None), default=-1)
        last_place = places[last] if last >= 0 else None
        following = begun if last_place is None else last_place + 1
        rewritten = len(thread.by_agent) - bisect_left(thread.by_agent, following)
        spoken = [index for index, item in enumerate(items) if item.role == "agent"]
        asked = [index for index, item in enumerate(items) if item.kind == "request"]
        until = asked[-1] if is_whole and asked else -1
        if not is_new:
            until = spoken[-1] if spoken else -1
        before = len(self._entries)
        seen: set[int] = set()
        step = self.calls.step(at)
        for index, item in enumerate(items):
            place = places[index]
            if item.kind == "request":
                step.asked(item, self._request(thread, item, place, at, seen, is_new=is_new))
            elif item.kind == "answer":
                step.answered(item)
            elif tool is not None:
                self.inner += 1
                self._draft.drop("a text that an agent or model said to another", item.loc)
            elif item.role == "system":
                if item.key() not in thread.places:
                    self._say(thread, item, at, time_ns)
            elif place is None and not is_new and (index < last or (item.role == "agent" and rewritten > 0)):
                rewritten -= item.role == "agent" and index > last
                self.unplaced += item.role == "user"
                detail = "a text in a history was not said before, though what follows it was"
                self._draft.note("history_differs", item.loc, detail)
            elif place is None:
                known = time_ns if index > until else None
                self._say(thread, item, at, known)
        step.end()
        if is_whole and asked:
            self._runs.append((self._entries[before:], is_new))

    def _places(self, thread: _Thread, items: list[Item], begun: int) -> list[int | None]:
        """Where each item of a history was said before."""
        mine = [item for item in items if item.role == "agent"]
        at = 0 if any(item.key() in thread.places for item in mine) else begun
        places: list[int | None] = []
        for item in items:
            place = None
            if item.role != "system" and item.kind != "answer":
                place = thread.find(item, at)
            if place is not None:
                at = place + 1
            places.append(place)
        return places

    def _say(self, thread: _Thread, item: Item, at: int, time_ns: int | None) -> None:
        thread.add(item)
        if item.value.strip():
            self._entries.append(Said(item, at, time_ns))

    def _request(
        self, thread: _Thread, item: Item, place: int | None, at: int, seen: set[int], *, is_new: bool
    ) -> Call:
        call = None if place is None else thread.calls.get(place)
        if call is None:
            call = self.calls.known(item, seen, is_new=is_new)
        if call is None:
            call = self.calls.request(item, at)
            self._entries.append(call)
            thread.add(item, call)
        seen.add(id(call))
        return call
