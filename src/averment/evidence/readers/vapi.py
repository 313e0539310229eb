"""Vapi: webhooks `{message: {type, call, artifact, ...}}`, one or a log of them, call objects, and message lists.

The messages are those of `artifact.messages`, else of `messages`: `bot` and `user` speak, `tool_calls` are requests,
`tool_call_result` answers them by `toolCallId`. A turn begins at `secondsFromStart`; how long it lasts is told by
`time` and `endTime`, or by `duration`, which are milliseconds in webhooks and seconds in some exports: which of them
is decided for all messages of a file together. A call runs from its request to its result. `endedReason` is the end
of the call; transfers and changes of the assistant are handoffs, a request for a destination is not.

The webhooks of one call are read as one conversation: the messages of its end-of-call report, or else the latest that
a webhook has, and what only the others tell. Before its end, nothing can be said about what did not happen.

Known gaps: keys that the caller presses are not recorded, nor whether a tool failed, unless its result says so.
`messagesOpenAIFormatted`, `transcript` and `conversation` repeat the messages and are not read.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from averment.evidence.draft import OF_CALLS, Draft, Part, kind_of
from averment.evidence.model import Clock, CoverageState, Role
from averment.evidence.readers.shortfalls import UNKNOWN_TYPE
from averment.evidence.readers.texts import text_of
from averment.evidence.readers.vapi_times import MessageTimes
from averment.evidence.readers.voice_call import VoiceCall, items_in, object_in, text_in

__all__ = ["fits", "read", "split"]

_ITEMS_TRIED = 20
_EVENTS = frozenset(
    {
        *("end-of-call-report", "status-update", "tool-calls", "function-call", "conversation-update"),
        *("transcript", "hang", "transfer-update", "transfer-destination-request", "phone-call-control"),
        *("user-interrupted", "speech-update"),
    }
)
_SPEAKERS = frozenset({"bot", "assistant", "user", "system", "developer"})
_MESSAGE_ROLES = frozenset({"bot", "tool_calls", "tool_call_result"})
_CALL_KEYS = frozenset({"assistantId", "endedReason", "costBreakdown", "orgId", "squadId", "startedAt"})

_FACTS = (
    *("type", "status", "startedAt", "endedAt", "endedReason", "cost", "costBreakdown", "costs", "analysis"),
    *("assistantId", "squadId", "workflowId", "phoneNumberId", "orgId", "name", "metadata", "summary"),
    *("durationMs", "durationSeconds", "durationMinutes", "performanceMetrics", "variableValues"),
    *("structuredOutputs", "scorecards", "recordingUrl", "stereoRecordingUrl", "logUrl"),
)
_EVENT_FACTS = tuple(key for key in _FACTS if key not in ("type", "name"))
_AGAIN = "messagesOpenAIFormatted"
_SAME_AGAIN = frozenset({_AGAIN, "transcript", "conversation"})
_READ = frozenset({"id", "call", "artifact", "messages", "message", "destination", "transfers"})
_KNOWN = frozenset({*_FACTS, *_READ, *_SAME_AGAIN, "assistantActivations"})
_EVENT_KNOWN = _KNOWN | {"toolCallList", "toolCalls", "toolWithToolCallList", "functionCall", "timestamp"}
_TURN_KEYS = frozenset(
    {"role", "message", "content", "time", "endTime", "secondsFromStart", "duration", "assistantName"}
)
_REQUEST_KEYS = _TURN_KEYS | {"toolCalls", "tool_calls"}
_ANSWER_KEYS = _TURN_KEYS | {"toolCallId", "tool_call_id", "name", "result", "error"}
_UTTERANCE_KEYS = frozenset({"type", "role", "transcript", "transcriptType", "call", "timestamp", "artifact"})

_AT_END = "Keep the end-of-call-report webhook, or export the call after its end: GET /call/{id}."
_KEEP = "Let Vapi keep messages: no HIPAA mode, and an `artifactPlan` that has the transcript."
_SAY_ERROR = "Have the tools say in their results whether they failed, as `ok` or `error` of an object."


def fits(value: Any) -> str | None:
    """Why this looks like Vapi's, or None."""
    if type(value) is list:
        tried = value[:_ITEMS_TRIED]
        if tried and all(_is_webhook(item) for item in tried):
            return "its items are webhooks with a `message` of a Vapi type"
        if any(type(item) is dict and "role" in item and "secondsFromStart" in item for item in tried):
            return "its items have `role` and `secondsFromStart`"
        return None
    if type(value) is not dict:
        return None
    if _is_webhook(value):
        return "its `message` is of a Vapi webhook's type"
    artifact = value.get("artifact")
    if type(artifact) is dict and type(artifact.get("messages")) is list:
        return "its `artifact` has `messages`"
    messages = value.get("messages")
    if type(messages) is list and any(_is_message(item) for item in messages[:_ITEMS_TRIED]):
        return "its `messages` are those of a Vapi call"
    if "endedReason" in value and ("assistantId" in value or "orgId" in value):
        return "it has `endedReason`, and keys of a Vapi call"
    return None


def _is_webhook(value: Any) -> bool:
    message = value.get("message") if type(value) is dict else None
    return type(message) is dict and type(message.get("type")) is str and _type_of(message) in _EVENTS


def _type_of(event: dict[str, Any]) -> str:
    """The type of an event, without the condition that `transcript[transcriptType="final"]` has in it."""
    written = event.get("type")
    return written.partition("[")[0] if type(written) is str else ""


def _is_message(item: Any) -> bool:
    if type(item) is not dict or "role" not in item:
        return False
    role = item["role"]
    is_spoken = type(role) is str and role in _MESSAGE_ROLES and "content" not in item
    return "secondsFromStart" in item or is_spoken


def split(part: Part) -> list[Part]:
    """Of a log of webhooks, one part for each call: the list of its webhooks."""
    value = part.value
    if type(value) is not list or not value or not all(_is_webhook(item) for item in value):
        return [part]
    by_call: dict[str | None, list[Part]] = {}
    for index in range(len(value)):
        item = part.item(index)
        by_call.setdefault(text_in(object_in(item.value["message"], "call"), "id"), []).append(item)
    if (
        len(by_call) == 2 and None in by_call
    ):  # some webhooks name no call; there is only one that they can be of
        return [_log(part, [part.item(index) for index in range(len(value))])]
    return [_log(part, items) for items in by_call.values()]


def _log(part: Part, items: list[Part]) -> Part:
    first = items[0]
    return Part(items, part.source, part.file, first.path, first.line)


def read(part: Part, draft: Draft) -> None:
    """Read one call."""
    value = part.value
    if type(value) is list and value and isinstance(value[0], Part):
        _Call(part, draft).read_events([each.at("message") for each in value])
    elif type(value) is dict and type(value.get("message")) is dict:
        draft.drop_rest(value, {"message"}, part.loc())
        _Call(part, draft).read_events([part.at("message")])
    elif type(value) is dict:
        _Call(part, draft).read_call(part)
    elif type(value) is list:
        _Call(part, draft).read_messages(
            Part({"messages": value}, part.source, part.file, part.path, part.line)
        )
    else:
        expected = "an object, or a list of messages"
        draft.problems.append(
            part.problem("wrong_type", "this is no call", expected=expected, found=kind_of(value))
        )


class _Call:
    """One call of Vapi's."""

    def __init__(self, part: Part, draft: Draft) -> None:
        self._part = part
        self._draft = draft
        self._call = VoiceCall(part, draft)
        self._dialogue = self._call.dialogue
        self._requested: set[str] = set()
        self._has_messages = False
        self._is_over = False
        self._is_bare = False
        self._is_ended_by_somebody = False
        self._events = 0

    def read_messages(self, part: Part) -> None:
        """A list of messages alone."""
        self._is_over = self._is_bare = True
        self._messages(part)
        self._finish()

    def read_call(self, part: Part) -> None:
        """A call object."""
        call = part.value
        self._draft.drop_rest(call, _KNOWN, part.loc())
        self._is_over = call.get("status") in ("ended", None) or text_in(call, "endedReason") is not None
        self._messages_of(part)
        self._about(part)
        self._transfers([part], part)
        self._end([call], part.loc())
        self._finish()

    def read_events(self, events: list[Part]) -> None:
        """The webhooks of a call, in the order in which they came."""
        self._events = len(events)
        self._call.records += len(events)
        self._call.read += len(events)
        main = self._main(events)
        if main is not None:
            self._messages_of(main)
        for event in events:
            self._event(event, is_main=event is main)
        for event in reversed(events):
            self._about(event)
        self._transfers(events, main or events[-1])
        values = [each.value for each in reversed(events)]
        self._is_over = any(_type_of(value) == "end-of-call-report" for value in values)
        calls = [object_in(value, "call") for value in values]
        if any(
            "ended" in (value.get("status"), call.get("status")) for value in values for call in calls[:1]
        ):
            self._is_over = True
        self._end([*values, *calls], events[-1].loc())
        self._finish()

    def _main(self, events: list[Part]) -> Part | None:
        """The event whose messages are read: the report, or the latest that has any."""
        having = [event for event in events if self._list_of(event) is not None]
        reports = [event for event in having if _type_of(event.value) == "end-of-call-report"]
        chosen = reports or having
        return chosen[-1] if chosen else None

    @staticmethod
    def _list_of(part: Part) -> Part | None:
        """What holds the list of messages: the artifact, the event or call, or the call of the event."""
        value = part.value
        if type(value.get("artifact")) is dict and type(value["artifact"].get("messages")) is list:
            return part.at("artifact")
        if type(value.get("messages")) is list:
            return part
        call = value.get("call")
        if type(call) is dict:
            if type(object_in(call, "artifact").get("messages")) is list:
                return part.at("call").at("artifact")
            if type(call.get("messages")) is list:
                return part.at("call")
        return None

    def _messages_of(self, part: Part) -> None:
        holder = self._list_of(part)
        if holder is not None:
            self._messages(holder)

    def _messages(self, holder: Part) -> None:
        self._has_messages = True
        items = items_in(holder, "messages", self._draft)
        self._call.records += len(holder.value["messages"])
        times = MessageTimes(items, self._draft)
        for item, loc in items:
            self._call.read += self._message(item, loc, times)

    def _message(self, item: dict[str, Any], loc: str, times: MessageTimes) -> bool:
        role = item.get("role")
        start, end, clock = times.of(item)
        calls = item.get("toolCalls", item.get("tool_calls"))
        if role == "tool_call_result" or (role == "tool" and "content" in item):
            own = item.get("toolCallId", item.get("tool_call_id"))
            result, error, name = (
                item.get("result", item.get("content")),
                item.get("error"),
                text_in(item, "name"),
            )
            self._dialogue.answer(
                result,
                loc,
                own=own,
                name=name,
                error=error,
                state="absent" if result is None and error is None else "recorded",
                end_ns=start,
                clock=clock,
            )
            self._draft.drop_rest(item, _ANSWER_KEYS, loc)
            return True
        if role in ("bot", "assistant", "tool_calls"):
            self._dialogue.step()
        text = text_of(item.get("message", item.get("content")), loc, self._draft)
        role_raw = role if type(role) is str else None
        if text and not (type(calls) is list and role == "tool_calls"):
            self._dialogue.turn(
                role_raw,
                text,
                loc,
                start_ns=start,
                end_ns=end,
                clock=clock,
                speaker=text_in(item, "assistantName"),
                said=role not in ("system", "developer"),
            )
        if type(calls) is list:  # what is said before a call is said first
            for number, call in enumerate(calls):
                self._request(call, f"{loc}.toolCalls[{number}]", start, clock)
            self._draft.drop_rest(item, _REQUEST_KEYS, loc)
            return True
        self._draft.drop_rest(item, _TURN_KEYS, loc)
        if not text:
            self._draft.drop("a message without a text", loc)
        if not text and type(role) is str and role not in _SPEAKERS:
            self._draft.note(UNKNOWN_TYPE, loc, "a message is of a role that is not known, so it is left out")
        return bool(text)

    def _request(
        self,
        call: Any,
        loc: str,
        start: int | None = None,
        clock: Clock | None = None,
        *,
        open_: bool = False,
    ) -> None:
        if type(call) is not dict:
            self._draft.note(
                "item_not_object", loc, f"this is {kind_of(call)} and no call, so it is not read"
            )
            return
        function = call.get("function")
        stated = function if type(function) is dict else call
        arguments = stated.get("arguments", stated.get("parameters"))
        own = call.get("id")
        if type(own) is str:
            self._requested.add(own)
        self._dialogue.request(
            stated.get("name"),
            arguments,
            loc,
            own=own,
            status="requested" if open_ else None,
            start_ns=start,
            clock=clock,
        )

    def _event(self, event: Part, *, is_main: bool) -> None:
        """What an event tells beside the messages that are read."""
        value, loc, kind = event.value, event.loc(), _type_of(event.value)
        self._draft.drop_rest(value, _UTTERANCE_KEYS if kind == "transcript" else _EVENT_KNOWN, loc)
        if not is_main and self._list_of(event) is not None:
            self._draft.drop("a list of messages before the one that is read", loc)
        if kind in ("tool-calls", "function-call"):
            calls = value.get("toolCallList", value.get("toolCalls"))
            calls = (
                calls if type(calls) is list else [value["functionCall"]] if "functionCall" in value else []
            )
            for number, call in enumerate(calls):
                own = call.get("id") if type(call) is dict else None
                if type(own) is not str or own not in self._requested:
                    self._request(call, f"{loc}.toolCallList[{number}]", open_=True)
        elif kind == "transcript":
            self._utterance(value, loc)
        elif kind in ("transfer-destination-request", "phone-call-control"):
            if kind[0] == "t" or value.get("request") == "forward":
                self._call.event(
                    "transfer_requested", loc, to=_target(value.get("destination")), placed=False
                )
        elif kind in ("hang", "user-interrupted"):
            self._call.event(kind.replace("-", "_"), loc, placed=False)

    def _utterance(self, value: dict[str, Any], loc: str) -> None:
        """A transcript event, which matters where no list of messages has what was said."""
        text, role = text_in(value, "transcript"), value.get("role")
        if self._has_messages or text is None:
            self._draft.drop("a transcript beside the messages", loc)
            return
        known: Role | None = None if type(role) is str else "unknown"
        role_raw = role if type(role) is str else None
        self._dialogue.turn(role_raw, text, loc, role=known, final=value.get("transcriptType") != "partial")

    def _about(self, part: Part) -> None:
        """The facts of a call or an event, of its call and of its artifact."""
        value = part.value
        call = object_in(value, "call")
        if self._draft.conversation_id is None:
            self._draft.conversation_id = text_in(call, "id") or text_in(value, "id")
        is_event = value is not self._part.value
        self._call.facts(value, _EVENT_FACTS if is_event else _FACTS)
        self._call.facts(call, _FACTS)
        for each in (value, call):
            artifact = object_in(each, "artifact")
            self._call.facts(artifact, _FACTS)
            if _AGAIN in artifact or _AGAIN in each:
                self._draft.drop(f"`{_AGAIN}`, the messages once more,", part.loc())

    def _transfers(self, parts: list[Part], main: Part) -> None:
        """Handoffs: transfers as they were told, else as the artifact or the call has them, and changed assistants."""
        told = [part for part in parts if _type_of(part.value) == "transfer-update"]
        for part in told:
            to = _target(part.value.get("destination")) or text_in(
                object_in(part.value, "toAssistant"), "name"
            )
            source = {"from": text_in(object_in(part.value, "fromAssistant"), "name")}
            self._call.event("handoff", part.loc(), to=to, placed=False, fields=source)
        for value in (main.value, object_in(main.value, "call")):
            artifact = object_in(value, "artifact")
            names = _activated(artifact.get("assistantActivations"))
            transfers = artifact.get("transfers")
            if not told:
                for before, name in pairwise(names):
                    self._call.event("handoff", main.loc(), to=name, placed=False, fields={"from": before})
                for transfer in transfers if type(transfers) is list else ():
                    self._transfer(transfer, main.loc())
                if not transfers and type(value.get("destination")) is dict:
                    self._call.event("handoff", main.loc(), to=_target(value["destination"]))

    def _transfer(self, transfer: Any, loc: str) -> None:
        if type(transfer) is not dict:
            return
        status = text_in(transfer, "status")
        failed = status is not None and status.casefold() in _NOT_TRANSFERRED
        to = _target(transfer.get("destination"))
        kind = "transfer_failed" if failed else "handoff"
        self._call.event(kind, loc, to=to, status=status, placed=False)

    def _end(self, values: Iterable[dict[str, Any]], loc: str) -> None:
        reason = next((found for value in values if (found := text_in(value, "endedReason"))), None)
        if reason is not None:
            self._is_over = True
            self._is_ended_by_somebody = _ended_by(reason) is not None
            if reason in _FORWARDED and not self._call.happened("handoff"):
                self._call.event("handoff", loc)  # to whom is told by none of the lists
            self._call.event("call_ended", loc, reason=reason, by=_ended_by(reason))

    def _finish(self) -> None:
        calls_seen = bool(self._requested) or self._dialogue.answers > 0
        answers = True if self._has_messages and self._is_over else None
        # A message list alone, or a report without any, is silent about transfers; these are facts of the call.
        shows_handoff = self._call.happened("handoff") or (self._has_messages and not self._is_bare)
        self._call.finish(
            records_answers=answers,
            shows=["handoff"] if shows_handoff else [],
            platform="Vapi",
            how_failures=_SAY_ERROR,
        )
        limit, draft = self._call.limit, self._draft
        if not self._has_messages:
            if not draft.turns:
                draft.turns = None
                limit(("transcript",), "absent", "the webhook or call has no messages", _AT_END)
            else:
                limit(("transcript",), "partial", "only transcript events tell what was said", _AT_END)
            if not calls_seen and not draft.calls:
                draft.calls = None
                channels = ("requests", "results", "errors")
                limit(channels, "absent", "the webhook or call has no messages", _AT_END)
                # What ended the call is in evidence all the same, and `absent` would say that nothing is.
                state: CoverageState = "absent" if draft.spans is None else "partial"
                limit(("executions",), state, "the webhook or call has no messages", _AT_END)
        if self._has_messages and self._call.records == self._events and self._is_ended_by_somebody:
            reason = "a call took place, and its list of messages is empty"
            limit(("transcript", *OF_CALLS, "handoff"), "redacted", reason, _KEEP)
        if not self._is_over:
            reason = "this is what was known before the call ended"
            limit(("transcript", *OF_CALLS, "handoff"), "partial", reason, _AT_END)


_FORWARDED = frozenset({"assistant-forwarded-call"})
_NOT_TRANSFERRED = frozenset({"failed", "cancelled", "canceled", "no-answer", "busy", "error"})


def _target(destination: Any) -> str | None:
    """Whom a destination names: an assistant, a number or a SIP address."""
    if type(destination) is not dict:
        return None
    return text_in(destination, "assistantName", "number", "phoneNumber", "sipUri", "stepName", "extension")


def _activated(activations: Any) -> list[str | None]:
    """The names of the assistants, in the order in which they became active."""
    if type(activations) is not list:
        return []
    return [text_in(each, "assistantName", "assistantId") for each in activations if type(each) is dict]


def _ended_by(reason: str) -> str | None:
    if reason == "customer-ended-call":
        return "caller"
    is_agent = reason.startswith("assistant-ended-call") or reason == "assistant-said-end-call-phrase"
    return "agent" if is_agent else None
