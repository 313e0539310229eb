"""What was said and called in the model calls of a conversation, each of which repeats the history before it.

Of a list that a model was given, only what follows the part said before is new. Lists begin anew in a trace that has
nothing of what the agent said before: there, the same words said again are said again. A text of the history that
nobody said before, with something known behind it, was put there or changed by the application, and is noted.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

import msgspec
from msgspec import UNSET

from averment.evidence.draft import Draft
from averment.evidence.readers.spans.conventions import Execution
from averment.evidence.readers.spans.conventions.messages import Item, fingerprint

__all__ = ["Call", "History", "Said"]


_MOST_ANSWERS = 4
"""So many different answers to one call are kept; two that differ leave its result open."""


class Said(msgspec.Struct):
    """One utterance, and when it was said or first given to a model, where that is known."""

    item: Item
    at: int
    time_ns: int | None


class Call(msgspec.Struct, kw_only=True):
    """One call: what was asked for, what models were told of its result, and its execution.

    Attributes:
        at: where it stands among everything else, by time or position.
        span: the index of the span of its execution.
        ran_at: where that stands among everything else.
        attempt: which attempt it is, where there are several executions of its id.
        repeats: the first of them, for the others.
    """

    name: str | None
    own: str | None
    value: Any = UNSET
    loc: str
    at: int
    answers: list[Item] = []
    execution: Execution | None = None
    span: int | None = None
    ran_at: int | None = None
    attempt: int | None = None
    repeats: Call | None = None


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
        self._draft = draft
        self._threads: dict[int | None, _Thread] = {}
        self._entries: list[Said | Call] = []
        self._runs: list[tuple[list[Said | Call], bool]] = []
        self._by_own: dict[str, list[Call]] = {}
        self._waiting: dict[str | None, dict[int, Call]] = {}
        self._alike: dict[tuple[str | None, str], list[Call]] = {}

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
        local: dict[str, Call] = {}
        before = len(self._entries)
        for index, item in enumerate(items):
            place = places[index]
            if item.kind == "request":
                call = self._request(thread, item, place, at, is_new=is_new)
                if item.own is not None:
                    local[item.own] = call
            elif item.kind == "answer":
                self._answer(item, local, at)
            elif tool is not None:
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

    def _request(self, thread: _Thread, item: Item, place: int | None, at: int, *, is_new: bool) -> Call:
        if place is not None and (known := thread.calls.get(place)) is not None:
            return known
        same = self._by_own.get(item.own, ()) if item.own is not None else ()
        for known in same:
            if not is_new or (not known.answers and fingerprint(known.value) == fingerprint(item.value)):
                return known
        call = Call(name=item.name, own=item.own, value=item.value, loc=item.loc, at=at, answers=[])
        thread.add(item, call)
        self._add(call)
        self._waiting.setdefault(call.name, {})[id(call)] = call
        self._alike.setdefault((call.name, fingerprint(call.value)), []).append(call)
        return call

    def _add(self, call: Call) -> None:
        self._entries.append(call)
        if call.own is not None:
            self._by_own.setdefault(call.own, []).append(call)

    def _answer(self, item: Item, local: dict[str, Call], at: int) -> None:
        call = None
        if item.own is not None:
            known = self._by_own.get(item.own)
            call = local.get(item.own) or (known[-1] if known else None)
        else:
            call = self._named(item)
        if call is None:
            self._draft.note("result_without_call", item.loc, "no request belongs to this answer")
            call = Call(name=item.name, own=item.own, loc=item.loc, at=at, answers=[])
            self._add(call)
            if call.own is None:
                self._alike.setdefault((item.name, "answered"), []).append(call)
        if len(call.answers) < _MOST_ANSWERS and item.key() not in {each.key() for each in call.answers}:
            call.answers.append(item)

    def _named(self, item: Item) -> Call | None:
        """The call that an answer without an id belongs to: the first of its name without one, or with this one."""
        calls = [call for call in self._waiting.get(item.name, {}).values() if call.own is None]
        calls += self._alike.get((item.name, "answered"), [])
        print_ = fingerprint(item.value)
        for call in calls:
            if call.answers and fingerprint(call.answers[-1].value) == print_:
                return call
        return next((call for call in calls if not call.answers), None)

    def execute(self, execution: Execution, at: int, loc: str) -> Call:
        """The call that an execution is of; a new one where no message asks for it."""
        own = execution.own
        known = self._by_own.get(own, []) if own is not None else []
        call = next((each for each in known if each.execution is None), None)
        if call is None and not known:
            call = self._asked(execution)
        if call is None:
            call = Call(name=execution.name, own=own, loc=loc, at=at, answers=[])
            if known:
                call.attempt = len(known) + 1
                known[0].attempt, call.repeats, call.value = 1, known[0], known[0].value
            self._add(call)
        call.name, call.ran_at = call.name or execution.name, at
        self._waiting.get(call.name, {}).pop(id(call), None)
        return call

    def _asked(self, execution: Execution) -> Call | None:
        """The one request that an execution can be of, when they share no id."""

        def is_open(call: Call) -> bool:
            return call.execution is None and (execution.own is None or call.own is None)

        if execution.arguments is not UNSET:
            alike = self._alike.get((execution.name, fingerprint(execution.arguments)), [])
            while alike and alike[0].execution is not None:
                alike.pop(0)
            found = next((call for call in alike if is_open(call)), None)
            if found is not None:
                return found
        waiting = self._waiting.get(execution.name, {})
        if len(waiting) != 1:
            return None
        (only,) = waiting.values()
        unsure = execution.arguments is UNSET or execution.is_doubtful or only.value is UNSET
        return only if unsure and is_open(only) else None
