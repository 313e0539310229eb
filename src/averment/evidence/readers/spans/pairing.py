"""Which request, which answers and which execution are of one call.

By id, where there is one; else by name and arguments, where only one can be meant. An answer without an id belongs to
a request of the step before it, in order, as long as there are as many of them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from averment.evidence.draft import Draft
from averment.evidence.readers.spans.conventions import Execution
from averment.evidence.readers.spans.conventions.messages import Item, fingerprint

__all__ = ["Call", "Calls", "Step"]

_MOST_ANSWERS = 4
"""So many different answers to one call are kept; two that differ leave its result open."""


_FEW = 8
"""So many calls of one id are compared; a hostile trace may hold a million."""


class Call(msgspec.Struct, kw_only=True, gc=False):
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


class Calls:
    """The calls of a conversation.

    Args:
        draft: where notes go.
        entries: what was said and called, to which calls that nobody asked for are added.
    """

    def __init__(self, draft: Draft, entries: list[Any]) -> None:
        self.draft = draft
        self._entries = entries
        self.by_own: dict[str, list[Call]] = {}
        self._idle: dict[str, deque[Call]] = {}
        self._alike: dict[tuple[str | None, str, bool], deque[Call]] = {}
        self._waiting: dict[str | None, dict[int, Call]] = {}
        self._open: dict[str | None, dict[int, Call]] = {}
        self._alone: dict[tuple[str | None, str], Call] = {}

    def step(self, at: int) -> Step:
        """A list of messages begins."""
        return Step(self, at)

    def known(self, item: Item, seen: set[int], *, is_new: bool) -> Call | None:
        """The call that a request repeats by its id; ids may be used again, so it must not stand in this list yet."""
        if item.own is None:
            return None
        for call in self.by_own.get(item.own, [])[-_FEW:]:
            if call.name != item.name or id(call) in seen:
                continue
            if not is_new or (not call.answers and fingerprint(call.value) == fingerprint(item.value)):
                return call
        return None

    def request(self, item: Item, at: int) -> Call:
        """A call that was asked for."""
        call = Call(name=item.name, own=item.own, value=item.value, loc=item.loc, at=at, answers=[])
        self._add(call)
        key = (call.name, fingerprint(call.value), call.own is not None)
        self._alike.setdefault(key, deque()).append(call)
        self._waiting.setdefault(call.name, {})[id(call)] = call
        if call.own is None:
            self._open.setdefault(call.name, {})[id(call)] = call
        return call

    def answer(self, call: Call, item: Item) -> None:
        """What a call was answered; histories repeat it."""
        self._open.get(call.name, {}).pop(id(call), None)
        if len(call.answers) < _MOST_ANSWERS and item.key() not in {each.key() for each in call.answers}:
            call.answers.append(item)

    def answer_alone(self, item: Item, at: int) -> None:
        """An answer that no request of its list belongs to: to the only one that is open, else to none."""
        key = (item.name, fingerprint(item.value))
        waiting = self._open.get(item.name, {})
        call = self._alone.get(key) if item.own is None else None
        if call is None and item.own is None and len(waiting) == 1:
            (call,) = waiting.values()
        if call is None:
            self.draft.note("result_without_call", item.loc, "no request belongs to this answer")
            call = Call(name=item.name, own=item.own, loc=item.loc, at=at, answers=[])
            self._add(call)
            self._entries.append(call)
        if item.own is None:
            self._alone[key] = call
        self.answer(call, item)

    def execute(self, execution: Execution, at: int, loc: str) -> Call:
        """The call that an execution is of; a new one where no message asks for it."""
        own = execution.own
        known = self.by_own.get(own, []) if own is not None else []
        idle = self._idle.get(own) if own is not None else None
        call = idle.popleft() if idle else None
        if call is None and not known:
            call = self._asked(execution)
        if call is None:
            call = Call(name=execution.name, own=own, loc=loc, at=at, answers=[])
            if known:
                call.attempt = len(known) + 1
                known[0].attempt, call.repeats, call.value = 1, known[0], known[0].value
            self._add(call, is_idle=False)
            self._entries.append(call)
        self._waiting.get(call.name, {}).pop(id(call), None)
        call.name, call.ran_at, call.execution = call.name or execution.name, at, execution
        return call

    def _add(self, call: Call, *, is_idle: bool = True) -> None:
        if call.own is not None:
            self.by_own.setdefault(call.own, []).append(call)
            if is_idle:
                self._idle.setdefault(call.own, deque()).append(call)

    def _asked(self, execution: Execution) -> Call | None:
        """The one request that an execution can be of, when they share no id."""
        if execution.arguments is not UNSET:
            for has_own in (False, True) if execution.own is None else (False,):
                alike = self._alike.get((execution.name, fingerprint(execution.arguments), has_own))
                while alike:
                    call = alike.popleft()
                    if call.execution is None:
                        return call
        waiting = self._waiting.get(execution.name, {})
        if len(waiting) != 1:
            return None
        (only,) = waiting.values()
        is_unsure = execution.arguments is UNSET or execution.is_doubtful or only.value is UNSET
        return only if is_unsure and (execution.own is None or only.own is None) else None


class Step:
    """One list of messages, in which answers follow the requests that they belong to."""

    def __init__(self, calls: Calls, at: int) -> None:
        self._calls = calls
        self._at = at
        self._local: dict[str, Call] = {}
        self._requests: list[Call] = []
        self._answers: list[Item] = []

    def asked(self, item: Item, call: Call) -> None:
        """A request, and the call that it is."""
        if self._answers:
            self.end()
        if item.own is None:
            self._requests.append(call)
        else:
            self._local[item.own] = call

    def answered(self, item: Item) -> None:
        """An answer."""
        if item.own is None:
            self._answers.append(item)
            return
        known = self._calls.by_own.get(item.own)
        call = self._local.get(item.own) or (known[-1] if known else None)
        if call is None:
            self._calls.answer_alone(item, self._at)
        else:
            self._calls.answer(call, item)

    def end(self) -> None:
        """Pair the answers without an id with the requests before them."""
        requests, self._requests = self._requests, []
        answers, self._answers = self._answers, []
        if not requests:
            for item in answers:
                self._calls.answer_alone(item, self._at)
            return
        for name in dict.fromkeys(item.name for item in answers):
            told = [item for item in answers if item.name == name]
            asked = [call for call in requests if name is None or call.name == name]
            if len(told) < len(asked) and not _alike(asked):
                detail = "which of several calls this answers can't be told"
                self._calls.draft.note("ambiguous_result", told[0].loc, detail)
                continue
            for item, call in zip(told, asked, strict=False):
                self._calls.answer(call, item)
            for item in told[len(asked) :]:
                self._calls.answer_alone(item, self._at)


def _alike(calls: Sequence[Call]) -> bool:
    first = fingerprint(calls[0].value)
    return all(fingerprint(call.value) == first for call in calls)
