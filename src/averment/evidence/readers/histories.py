"""One conversation from many model calls, each of which repeats what came before it.

What a model call was given and what it gave is recorded as a sequence of turns, requests and answers. The sequences
are united: a thing is new when a sequence has it more often than all before it had. So a history that is sent again
adds nothing, a word that is said twice stays twice, and wrappers that record the same call fold into it.

Executions (spans of tools) are laid upon the requests that they fulfil: by id, or by name and arguments. What an
execution tells counts before what the messages repeat of it.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from msgspec import UNSET

from averment.evidence.draft import Draft, Part
from averment.evidence.readers.dialogue import Dialogue
from averment.evidence.readers.transcript import role_of
from averment.text import jsontext

__all__ = ["Execution", "Histories", "Recorder"]


class _Deed(msgspec.Struct):
    """Something that a sequence holds: a turn, a request or an answer, and how it was told to the dialogue."""

    verb: str
    args: tuple[Any, ...]
    fields: dict[str, Any]
    key: tuple[Any, ...]
    steps: bool
    execution: Execution | None = None


class Execution(msgspec.Struct, kw_only=True):
    """That a tool ran.

    Attributes:
        name: the tool's name.
        arguments: what it was given; None where that is not recorded.
        result: what it answered; UNSET for nothing.
        failed: whether the source says that it failed.
        error: what went wrong.
        own: the id of the call.
        start_ns: when it began, since 1970.
        end_ns: when it ended.
        loc: where it stands.
        is_sure: whether this is surely a tool's; else it counts only where a request belongs to it.
        is_over: whether the source says that it ended.
        shows_result: whether the source has a place for the result and something in it, be it nothing.
    """

    name: str | None
    arguments: Any
    result: Any
    failed: bool | None
    error: Any = UNSET
    own: Any = None
    start_ns: int | None = None
    end_ns: int | None = None
    loc: str
    is_sure: bool = True
    is_over: bool = True
    shows_result: bool = True


class Recorder(Dialogue):
    """A dialogue that writes down what it is told, to be told to another one."""

    def __init__(self, draft: Draft, part: Part) -> None:
        super().__init__(draft, part)
        self.deeds: list[_Deed] = []
        self._steps = False

    def turn(self, role_raw: str | None, text: str, loc: str, **fields: Any) -> None:
        """Write down a turn."""
        role = fields.get("role") or role_of(role_raw)
        self._add("turn", (role_raw, text, loc), fields, (role, text.strip()))

    def step(self) -> None:
        """Write down that a step begins, with what comes next."""
        self._steps = True

    def request(self, name: Any, arguments: Any, loc: str, **fields: Any) -> None:
        """Write down a request."""
        key: tuple[Any, ...] = _id_of(fields) or (str(name), spelled(arguments))
        self._add("request", (name, arguments, loc), fields, key)

    def answer(self, result: Any, loc: str, **fields: Any) -> None:
        """Write down an answer."""
        key: tuple[Any, ...] = _id_of(fields) or (str(fields.get("name")), spelled(result))
        self._add("answer", (result, loc), fields, key)

    def _add(self, verb: str, args: tuple[Any, ...], fields: dict[str, Any], key: tuple[Any, ...]) -> None:
        self.deeds.append(_Deed(verb, args, fields, (verb, *key), self._steps))
        self._steps = False


class Histories:
    """The union of sequences, in the order in which they are added."""

    def __init__(self, draft: Draft, part: Part) -> None:
        self._draft = draft
        self._part = part
        self._seen: Counter[tuple[Any, ...]] = Counter()
        self._chunks: list[tuple[int | None, list[_Deed]]] = []
        self._nameless: dict[tuple[Any, ...], deque[_Deed]] = {}
        self._told: set[tuple[str, str]] = set()
        self.turns = 0
        """How many different turns there are."""
        self.replies = 0
        """How many turns, requests and answers the last sequence told of the model's own."""

    def recorder(self) -> tuple[Recorder, Draft]:
        """What a sequence is read into; its notes are kept apart, because each repetition would repeat them."""
        scratch = Draft()
        return Recorder(scratch, self._part), scratch

    def add(
        self,
        recorder: Recorder,
        scratch: Draft,
        *,
        given: int,
        start_ns: int | None = None,
        end_ns: int | None = None,
        mark: Callable[[int], None] | None = None,
    ) -> None:
        """Unite a sequence with those before it.

        Args:
            recorder: the sequence.
            scratch: the draft that it was read with.
            given: how many of its deeds the model was given; the others it gave, in the time that the call took.
            start_ns: when the call began, since 1970.
            end_ns: when it ended.
            mark: what to tell the place that the call itself has in the order of all that happened.
        """
        counted: Counter[tuple[Any, ...]] = Counter()
        new = []
        for index, deed in enumerate(recorder.deeds):
            if mark is not None and index == given:
                new.append(_Deed("mark", (mark,), {}, (), False))
                mark = None
            counted[deed.key] += 1
            if counted[deed.key] <= self._seen[deed.key] or self._names_one(deed):
                continue
            if deed.verb == "request" and _id_of(deed.fields) is None:
                self._nameless.setdefault(deed.key, deque()).append(deed)
            self._seen[deed.key] = counted[deed.key]
            if deed.verb == "turn":
                self.turns += 1
                if index >= given and start_ns is not None:
                    deed.fields |= {"start_ns": start_ns, "end_ns": end_ns, "clock": "epoch"}
            new.append(deed)
        if mark is not None:
            new.append(_Deed("mark", (mark,), {}, (), False))
        self.replies = len(recorder.deeds) - given
        self._chunks.append((start_ns, new))
        self._keep_notes(scratch)

    def _names_one(self, deed: _Deed) -> bool:
        """Whether this is a request that had no id when it was made: clients give it one in the history."""
        own = _id_of(deed.fields)
        if deed.verb != "request" or own is None or deed.key in self._seen:
            return False
        waiting = self._nameless.get(("request", str(deed.args[0]), spelled(deed.args[1])))
        if not waiting:
            return False
        waiting.popleft().fields["own"] = deed.fields["own"]
        self._seen[deed.key] = 1
        return True

    def _keep_notes(self, scratch: Draft) -> None:
        self._draft.nesting = max(self._draft.nesting, scratch.nesting)
        self._draft.problems += scratch.problems
        scratch.problems = []
        for note in scratch.model().notes:
            if (note.code, note.detail) not in self._told:
                self._told.add((note.code, note.detail))
                self._draft.notes.append(note)

    def tell(self, dialogue: Dialogue, executions: list[Execution]) -> bool:
        """Tell the union to a dialogue, with the executions laid upon it; whether each answered call shows one."""
        loose = self._lay(executions)
        shown = _Shown(deed for _, chunk in self._chunks for deed in chunk if deed.execution is not None)
        chunks: list[tuple[int | None, list[_Deed | Execution]]] = [
            (start, [*chunk]) for start, chunk in self._chunks
        ]
        chunks += [(each.start_ns, [each]) for each in loose]
        if all(start is not None for start, _ in chunks):
            chunks.sort(key=lambda chunk: chunk[0] or 0)
        all_shown = True
        for number, deed in enumerate(deed for _, chunk in chunks for deed in chunk):
            if isinstance(deed, Execution):
                own = deed.own if deed.own not in (None, "") else f"c_{number}"
                dialogue.step()
                dialogue.request(deed.name, deed.arguments, deed.loc, own=own)
                _answer(dialogue, deed, own)
                continue
            if deed.verb == "mark":
                deed.args[0](dialogue.place())
                continue
            if deed.steps:
                dialogue.step()
            own = deed.fields.get("own")
            if deed.verb == "answer":
                if shown.takes(deed):
                    continue
                all_shown = False
                dialogue.answer(*deed.args, **deed.fields)
            elif deed.verb == "request":
                if deed.execution is not None and _id_of(deed.fields) is None:
                    own = f"c_{number}"  # for the pairing alone: it stands for no id
                dialogue.request(*deed.args, **{**deed.fields, "own": own})
                if deed.execution is not None:
                    _answer(dialogue, deed.execution, own)
            else:
                dialogue.turn(*deed.args, **deed.fields)
        return all_shown

    def _lay(self, executions: list[Execution]) -> list[Execution]:
        """Lay executions upon requests; those that fulfil none."""
        by_id: dict[tuple[type, Any], deque[_Deed]] = {}
        by_call: dict[tuple[str, str], deque[_Deed]] = {}
        by_name: dict[str, deque[_Deed]] = {}
        for _, chunk in self._chunks:
            for deed in chunk:
                if deed.verb == "request":
                    name, arguments, _ = deed.args
                    if (own := _id_of(deed.fields)) is not None:
                        by_id.setdefault(own, deque()).append(deed)
                    by_call.setdefault((str(name), spelled(arguments)), deque()).append(deed)
                    by_name.setdefault(str(name), deque()).append(deed)
        loose = []
        for each in executions:
            name = str(each.name)
            queues = [by_call.get((name, spelled(each.arguments)))]
            if each.own not in (None, ""):
                queues.insert(0, by_id.get((type(each.own), each.own)))
            if each.is_sure and each.arguments is None:
                queues.append(by_name.get(name))
            found = next((open_ for queue in queues if (open_ := _next_open(queue)) is not None), None)
            if found is not None:
                found.execution = each
            elif each.is_sure:
                loose.append(each)
        return loose


class _Shown:
    """The calls of which an execution is laid: what messages repeat of their results is not told again."""

    def __init__(self, deeds: Iterable[_Deed]) -> None:
        self._names: dict[tuple[type, Any], str] = {}
        self._left: Counter[str] = Counter()
        for deed in deeds:
            self._left[str(deed.args[0])] += 1
            if (own := _id_of(deed.fields)) is not None:
                self._names[own] = str(deed.args[0])

    def takes(self, answer: _Deed) -> bool:
        """Whether an answer is to such a call: by its id, else by its name, else as any of them."""
        own, name = _id_of(answer.fields), answer.fields.get("name")
        if own is not None:
            found = self._names.get(own)
        elif name is not None:
            found = name if self._left[name] > 0 else None
        else:
            found = next((each for each, count in self._left.items() if count > 0), None)
        if found is not None:
            self._left[found] -= 1
        return found is not None


def _id_of(fields: dict[str, Any]) -> tuple[type, Any] | None:
    """The id that a request or an answer names, with its type; None for what can't be one."""
    own = fields.get("own")
    return (type(own), own) if type(own) in (str, int) and own != "" else None


def _next_open(queue: deque[_Deed] | None) -> _Deed | None:
    while queue:
        deed = queue.popleft()
        if deed.execution is None:
            return deed
    return None


def _answer(dialogue: Dialogue, each: Execution, own: Any) -> None:
    dialogue.answer(
        each.result,
        each.loc,
        own=own,
        failed=each.failed,
        error=each.error,
        status=None if each.is_over else "executed",
        state="recorded" if each.shows_result else "absent",
        start_ns=each.start_ns,
        end_ns=each.end_ns,
        clock="epoch",
    )


def spelled(value: Any) -> str:
    """One spelling for a value, whether it is JSON or text of it; only for comparing."""
    text: str
    if isinstance(value, str):
        try:
            value = jsontext.decode(value).value if value.lstrip()[:1] in ("{", "[") else value
        except jsontext.JSONProblem:
            return str(value)
    if value is UNSET or value is None or value == "":
        return "{}"
    try:
        text = jsontext.canonical(value).decode("utf-8", "replace")
    except jsontext.JSONProblem:
        text = repr(value)
    return text
