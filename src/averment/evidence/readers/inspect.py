"""Inspect logs: `{version, status, eval, plan, samples}` in one `.json`, or in the files of an `.eval` archive.

Each sample is a conversation. Its `messages` have turns, `tool_calls` `{id, function, arguments}` and answers of role
`tool` with an `error` `{type, message}` where the call failed. A call with a `parse_error` has no arguments to show.
Long texts stand apart as `attachment://<hash>` and are put back. Events of type `tool` repeat calls of the messages and
say when they ran; those that the messages don't have are calls of sub-agents, and count too. Scores, limits, errors
and the store are metadata.

Known gaps: messages have no times. State changes, stored as patches, are not applied. Calls of sub-agents stand where
their events do among the calls; which turn they precede is not known better. Handoffs between agents are calls of
tools like others. An archive of a run that broke off has no header, and is not recognised. Where samples have no
messages but only events, what was said is not read: a model's input repeats the history of whatever agent it serves.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec
from msgspec import UNSET

from averment.evidence.draft import Draft, Part, kind_of
from averment.evidence.model import ToolCallStatus
from averment.evidence.readers.dialogue import Dialogue
from averment.evidence.readers.inspect_attachments import Attachments
from averment.evidence.readers.texts import objects_in, text_of
from averment.evidence.times import instant

__all__ = ["HEADERS", "LOG_MEMBERS", "fits", "log_of", "read", "split"]

HEADERS = ("header.json", "_journal/start.json")
"""What an `.eval` archive says of the whole run: at its end, or, of one that broke off, at its beginning."""

LOG_MEMBERS = re.compile(r"header\.json|_journal/start\.json|samples/.+\.json", re.DOTALL)
"""The files of an `.eval` archive that make up the log; the others repeat parts of them."""

_SAMPLE_METADATA = (
    *("id", "epoch", "target", "scores", "error", "limit", "total_time", "working_time", "started_at"),
    *("completed_at", "model_usage", "metadata", "store"),
)
_SAMPLE_KEYS = frozenset(
    {
        *("messages", "events", "attachments", "transcript", "uuid", *_SAMPLE_METADATA),
        *("input", "output", "message_pool"),  # these repeat messages
    }
)
_MESSAGE_KEYS = frozenset({"id", "role", "content", "tool_calls", "tool_call_id", "function", "error"})
_CALL_KEYS = frozenset({"id", "function", "arguments", "parse_error", "type"})
_STATUSES: dict[str, ToolCallStatus] = {"timeout": "timeout", "approval": "denied"}
_HOW_ARGUMENTS = "Look at the `parse_error` of the call: the model wrote no arguments that can be read."
_HOW_MESSAGES = "Give the log itself, of which every sample has `messages` (`inspect log dump`)."


class _Sample(msgspec.Struct, frozen=True):
    """One sample, with what the log says of all of them."""

    value: Any
    header: dict[str, Any]


class _Event(msgspec.Struct, frozen=True):
    """An event of type `tool`."""

    value: dict[str, Any]
    loc: str
    start_ns: int | None
    end_ns: int | None


def fits(value: Any) -> str | None:
    """Why this is an Inspect log, or the events of one sample."""
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("eval"), dict) and "version" in value and isinstance(value.get("status"), str):
        return "it has `version`, `status` and `eval`"
    events = value.get("events")
    if isinstance(events, list) and events and isinstance(events[0], dict):
        first = events[0]
        if isinstance(first.get("event"), str) and "timestamp" in first and "messages" not in value:
            return "its `events` have `event` and `timestamp`"
    return None


def log_of(files: dict[str, bytes]) -> bytes:
    """The log that the files of an archive make up, as the text of the `.json` log that says the same."""
    header = next((files[name] for name in HEADERS if name in files), b"{}").strip()
    names = sorted((name for name in files if name not in HEADERS), key=_natural)
    samples = b",\n".join(files[name].strip() for name in names)
    start = header.removesuffix(b"}").rstrip()
    if HEADERS[0] not in files:  # what it says before it knows how it ends
        start += b',\n"status": "started"'
    return start + (b"" if start.endswith(b"{") else b",") + b'\n"samples": [' + samples + b"]}"


def _natural(name: str) -> list[tuple[int, str]]:
    """A key that sorts `2_epoch_1` before `10_epoch_1`."""
    return [(len(part.lstrip("0")) if part.isdigit() else 0, part) for part in re.split(r"(\d+)", name)]


def split(part: Part) -> list[Part]:
    """The samples of a log."""
    samples = part.value.get("samples") if isinstance(part.value, dict) else None
    if not isinstance(samples, list) or not samples:
        return [part]
    header = {key: value for key, value in part.value.items() if key != "samples"}
    whole = part.at("samples")
    items = [whole.item(index) for index in range(len(samples))]
    return [msgspec.structs.replace(item, value=_Sample(item.value, header)) for item in items]


def read(part: Part, draft: Draft) -> None:
    """Read one sample."""
    header: dict[str, Any] = {}
    if isinstance(part.value, _Sample):
        header = part.value.header
        part = msgspec.structs.replace(part, value=part.value.value)
    sample = part.value
    if not isinstance(sample, dict) or not any(
        type(sample.get(key)) is list for key in ("messages", "events")
    ):
        draft.problems.append(
            part.problem(
                "no_samples",
                "there are no samples with messages here",
                expected="a list `samples`",
                found=kind_of(sample),
                mend="Run with `--log-samples`, and give the whole log, not its header alone.",
            )
        )
        return
    _describe(sample, header, draft)
    draft.drop_rest(sample, _SAMPLE_KEYS, part.loc())
    _Reader(part, draft).read()


def _describe(sample: dict[str, Any], header: dict[str, Any], draft: Draft) -> None:
    uuid, own, epoch = sample.get("uuid"), sample.get("id"), sample.get("epoch")
    if type(uuid) is str and uuid:
        draft.conversation_id = uuid
    elif type(own) in (str, int):
        draft.conversation_id = f"{own}_epoch_{epoch}" if type(epoch) is int else str(own)
    metadata = {key: sample[key] for key in _SAMPLE_METADATA if sample.get(key) not in (None, {})}
    task = header.get("eval")
    for key in ("task", "model"):
        if isinstance(task, dict) and task.get(key) is not None:
            metadata[key] = task[key]
    if header.get("status") is not None:
        metadata["status"] = header["status"]
    draft.metadata = metadata


class _Reader:
    """One sample: its messages in order, with what its events say of their calls."""

    def __init__(self, part: Part, draft: Draft) -> None:
        self._part = part
        self._draft = draft
        self._dialogue = Dialogue(draft, part)
        self._attachments = Attachments(part.value, draft)
        self._events: list[_Event] = []
        self._places: dict[str, list[int]] = {}
        self._others: list[int] = []
        self._next_other = 0

    def read(self) -> None:
        events = self._read_events()
        messages = self._part.value.get("messages")
        items = messages if type(messages) is list else []
        locs = self._part.at("messages").locs() if type(messages) is list else []
        in_messages = {own for message in items for own in _call_ids(message)}
        self._others = [
            index
            for index, event in enumerate(self._events)
            if not _is_in(event.value.get("id"), in_messages)
        ]
        read = 0
        for message, loc in objects_in(items, locs, self._draft):
            self._read_message(message, loc)
            read += 1
        self._read_others(len(self._events))
        self._dialogue.finish(records_answers=True, writes_arguments=True, how_arguments=_HOW_ARGUMENTS)
        if type(messages) is not list:
            self._draft.turns = None
            reason = "the sample has events and no `messages`"
            self._draft.limit("transcript", "absent", reason, _HOW_MESSAGES)
            self._draft.limit("requests", "partial", reason, _HOW_MESSAGES)
        elif self._attachments.missing:
            reason = "texts that stand apart as attachments are missing"
            self._draft.limit("transcript", "partial", reason, "Give the log with its attachments.")
        self._draft.account(self._part.source, records=len(items) + events, read=read + len(self._events))

    def _read_events(self) -> int:
        """Find the events of tools; how many events there are."""
        part = self._part
        for key in ("transcript", "events"):  # logs before 2025 have a `transcript` with `events`
            inner = part.value.get(key)
            if key == "transcript" and type(inner) is dict and "events" in inner:
                part = part.at(key)
        events = part.value.get("events")
        if type(events) is not list:
            if events is not None:
                self._draft.note(
                    "events_not_list", part.loc(), f"`events` is {kind_of(events)}, and is not read"
                )
            return 0
        for loc, event in zip(part.at("events").locs(), events, strict=True):
            if type(event) is not dict or event.get("event") != "tool":
                self._draft.drop("an event that is no call of a tool", loc)
                continue
            start, end = instant(event.get("timestamp")), instant(event.get("completed"))
            if start is not None and end is not None and end < start:
                self._draft.note("ends_before_start", loc, "the event ends before it starts")
                start = end = None
            own = event.get("id")
            if type(own) is str:
                self._places.setdefault(own, []).append(len(self._events))
            self._events.append(_Event(event, loc, start, end))
        return len(events)

    def _read_message(self, message: dict[str, Any], loc: str) -> None:
        self._draft.drop_rest(message, _MESSAGE_KEYS, loc)
        role = message.get("role")
        content = self._attachments.resolved(message.get("content"), loc)
        served = [part for part in content if _is_served(part)] if type(content) is list else []
        if served:
            content = [part for part in content if not _is_served(part)]
        text = text_of(content, loc, self._draft)
        if role == "tool":
            own, name = message.get("tool_call_id"), message.get("function")
            self._answer(text, message.get("error"), loc, own=own, name=name if type(name) is str else None)
            return
        if type(role) is not str:
            self._draft.note("role_not_text", loc, f"the role is {kind_of(role)}, so it is unknown")
            role = None
        if role == "assistant":
            self._dialogue.step()
        if text:
            self._dialogue.turn(role, text, loc, own=message.get("id"), said=role != "system")
        for part in served:
            own = part.get("id")
            self._dialogue.request(part.get("name"), part.get("arguments"), loc, own=own)
            self._answer(part.get("result"), part.get("error"), loc, own=own, name=None)
        calls = message.get("tool_calls")
        if type(calls) is list:
            for index, call in enumerate(calls):
                self._read_call(call, f"{loc}.tool_calls[{index}]")
        elif calls is not None:
            self._draft.note("calls_not_list", loc, f"`tool_calls` is {kind_of(calls)}, and is not read")

    def _read_call(self, call: Any, loc: str) -> None:
        if type(call) is not dict:
            self._draft.note("call_not_object", loc, f"a tool call is {kind_of(call)}, and is not read")
            return
        self._draft.drop_rest(call, _CALL_KEYS, loc)
        own = call.get("id")
        places = self._places.get(own, []) if type(own) is str else []
        event = self._events[places[0]] if len(places) == 1 else None
        if places:
            self._read_others(places[0])
        arguments = self._attachments.resolved(call.get("arguments"), loc)
        if call.get("parse_error") is not None:
            self._draft.note(
                "arguments_unreadable", loc, "the arguments that the model wrote could not be read"
            )
            arguments = None
        self._dialogue.request(
            call.get("function"),
            arguments,
            loc,
            own=own,
            start_ns=None if event is None else event.start_ns,
            end_ns=None if event is None else event.end_ns,
            clock="epoch",
        )

    def _read_others(self, before: int) -> None:
        """Read the events before one of them that are of calls which no message has."""
        while self._next_other < len(self._others) and self._others[self._next_other] < before:
            index = self._others[self._next_other]
            self._next_other += 1
            event = self._events[index]
            value, loc = event.value, event.loc
            own = value.get("id")
            own = own if type(own) is str and own else f"event_{index}"
            times: dict[str, Any] = {"start_ns": event.start_ns, "end_ns": event.end_ns, "clock": "epoch"}
            arguments = self._attachments.resolved(value.get("arguments"), loc)
            self._dialogue.request(value.get("function"), arguments, loc, own=own, **times)
            if value.get("pending") is not True:
                result = self._attachments.resolved(value.get("result"), loc)
                error = value.get("error")
                if error is None and value.get("failed") is True:
                    error = {"type": "unknown"}
                self._answer(result, error, loc, own=own, name=None)

    def _answer(self, result: Any, error: Any, loc: str, *, own: Any, name: str | None) -> None:
        kind = error.get("type") if type(error) is dict else None
        self._dialogue.answer(
            UNSET if error is not None and result == "" else result,
            loc,
            own=own,
            name=name,
            failed=error is not None,
            error=error,
            status=_STATUSES.get(kind) if type(kind) is str else None,
        )


def _call_ids(message: Any) -> list[str]:
    """The ids of the calls that a message asks for or answers."""
    if type(message) is not dict:
        return []
    calls = message.get("tool_calls")
    found = [call.get("id") for call in calls if type(call) is dict] if type(calls) is list else []
    return [own for own in (*found, message.get("tool_call_id")) if type(own) is str]


def _is_served(part: Any) -> bool:
    """Whether a part of a content is a call that the model's vendor made and answered itself."""
    return type(part) is dict and part.get("type") == "tool_use"


def _is_in(own: Any, ids: set[str]) -> bool:
    return type(own) is str and own in ids
