"""Pipecat: transcripts of its transcript processor and turn events, and the messages of its LLM context.

A transcript is a list of `{role, content, timestamp, user_id?}`, where the timestamp is when a turn began, by the
clock. A context is a list of messages in OpenAI's form, alone or under `messages`, and is known by messages
`{llm, message}` that only one provider understands. One without them is recognised as OpenAI's; `--from pipecat` reads
it by Pipecat's words: a tool message whose content is `IN_PROGRESS`, `COMPLETED` or `CANCELLED` is no result. Spans
of Pipecat's turns are OpenTelemetry's.

Known gaps: a transcript shows no tools, and no ends of turns. What is in a provider's own message is not read. A
context has no times, and does not say whether a tool failed.
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from averment.evidence.draft import OF_CALLS, Draft, Part, kind_of
from averment.evidence.readers.texts import text_of
from averment.evidence.readers.voice_call import VoiceCall, items_in, object_in, text_in
from averment.evidence.times import instant

__all__ = ["fits", "read"]

_ITEMS_TRIED = 50
_SPOKEN_KEYS = frozenset({"role", "content", "timestamp", "user_id"})
_SPEAKERS = frozenset({"user", "assistant"})
_STATES = frozenset({"IN_PROGRESS", "COMPLETED", "CANCELLED"})
_MESSAGE_KEYS = frozenset({"role", "content", "timestamp", "user_id", "name", "tool_calls", "tool_call_id"})
_CONTEXT_KEYS = frozenset({"messages", "context", "tools", "tool_choice"})

_WITH_TOOLS = "Save the context's messages, `context.get_messages()`, which have the calls and their results."
_ONE_FORM = "Save the context with messages in its universal form, without messages of one provider."
_SAY_ERROR = "Have the functions say in their results whether they failed, as `ok` or `error` of an object."


def fits(value: Any) -> str | None:
    """Why this looks like Pipecat's, or None."""
    if type(value) is dict:
        holder = object_in(value, "context") or value
        messages = holder.get("messages")
        is_context = type(messages) is list and _is_context(messages[:_ITEMS_TRIED])
        return "its `messages` are those of a Pipecat context" if is_context else None
    if type(value) is not list or not value:
        return None
    tried = value[:_ITEMS_TRIED]
    if all(_is_spoken(item) for item in tried):
        return "its items are `role`, `content` and `timestamp` of a Pipecat transcript"
    return "its messages are those of a Pipecat context" if _is_context(tried) else None


def _is_spoken(item: Any) -> bool:
    if type(item) is not dict or not item.keys() <= _SPOKEN_KEYS:
        return False
    role, timestamp = item.get("role"), item.get("timestamp")
    is_turn = type(role) is str and role in _SPEAKERS and type(item.get("content")) is str
    return is_turn and instant(timestamp) is not None


def _is_context(messages: list[Any]) -> bool:
    return any(_is_own(item) for item in messages)


def _is_own(item: Any) -> bool:
    """Whether a message is one provider's own."""
    return type(item) is dict and type(item.get("llm")) is str and item.keys() == {"llm", "message"}


def _state_of(item: Any) -> str | None:
    """How far a function came, where the message of its result says only that."""
    if type(item) is not dict or item.get("role") != "tool" or "tool_call_id" not in item:
        return None
    content = item.get("content")
    state = content.strip('"') if type(content) is str else None
    return state if state in _STATES else None


def read(part: Part, draft: Draft) -> None:
    """Read one conversation."""
    value = part.value
    if type(value) is list:
        part = Part({"messages": value}, part.source, part.file, part.path, part.line)
    elif type(value) is dict and type(value.get("context")) is dict:
        draft.drop_rest(value, _CONTEXT_KEYS, part.loc())
        part = part.at("context")
    elif type(value) is not dict:
        expected = "a list of messages, or an object with `messages`"
        draft.problems.append(
            part.problem("wrong_type", "this is no conversation", expected=expected, found=kind_of(value))
        )
        return
    draft.drop_rest(part.value, _CONTEXT_KEYS, part.loc())
    _Conversation(part, draft).read()


class _Conversation:
    """One conversation of Pipecat's."""

    def __init__(self, part: Part, draft: Draft) -> None:
        self._part = part
        self._draft = draft
        self._call = VoiceCall(part, draft)
        self._dialogue = self._call.dialogue
        self._own = 0

    def read(self) -> None:
        items = items_in(self._part, "messages", self._draft)
        messages = self._part.value.get("messages")
        self._call.records = len(messages) if type(messages) is list else 0
        is_transcript = bool(items) and all("timestamp" in item for item, _ in items)
        for item, loc in items:
            self._call.read += self._message(item, loc)
        self._call.finish(records_answers=True, platform="Pipecat", how_failures=_SAY_ERROR)
        limit = self._call.limit
        if is_transcript and not self._draft.calls:
            self._draft.calls = None
            limit(OF_CALLS, "absent", "a transcript shows no tools", _WITH_TOOLS)
        if self._own:
            reason = "some messages are one provider's own, and not read"
            limit(("transcript", *OF_CALLS), "partial", reason, _ONE_FORM)

    def _message(self, item: dict[str, Any], loc: str) -> bool:
        if _is_own(item):
            self._own += 1
            self._draft.drop("a provider's own message", loc)
            return False
        self._draft.drop_rest(item, _MESSAGE_KEYS, loc)
        role = item.get("role")
        if role == "tool":
            self._answer(item, loc)
            return True
        if role == "assistant":
            self._dialogue.step()
        text, calls = text_of(item.get("content"), loc, self._draft), item.get("tool_calls")
        if text:
            written = item.get("timestamp")
            start = None if written is None else instant(written)
            if start is None and written is not None:
                self._draft.note("time_unreadable", loc, "`timestamp` is no date and time; it is left out")
            self._dialogue.turn(
                role if type(role) is str else None,
                text,
                loc,
                start_ns=start,
                clock="epoch",
                speaker=text_in(item, "user_id", "name"),
                said=role not in ("system", "developer"),
            )
        if type(calls) is list:
            for number, call in enumerate(calls):
                self._request(call, f"{loc}.tool_calls[{number}]")
        if not text and not calls:
            self._draft.drop("a message without a text", loc)
        return bool(text or calls)

    def _request(self, call: Any, loc: str) -> None:
        if type(call) is not dict:
            self._draft.note(
                "item_not_object", loc, f"this is {kind_of(call)} and no call, so it is not read"
            )
            return
        self._draft.drop_rest(call, {"id", "type", "function"}, loc)
        function = object_in(call, "function")
        self._dialogue.request(function.get("name"), function.get("arguments"), loc, own=call.get("id"))

    def _answer(self, item: dict[str, Any], loc: str) -> None:
        own, state = item.get("tool_call_id"), _state_of(item)
        if state == "IN_PROGRESS":
            self._draft.note("still_running", loc, "the function had not ended, so it has no result", "info")
        elif state == "CANCELLED":
            self._dialogue.answer(UNSET, loc, own=own, status="cancelled")
        elif state == "COMPLETED":
            self._dialogue.answer(UNSET, loc, own=own)
        else:
            content = item.get("content")
            content = text_of(content, loc, self._draft) if type(content) is list else content
            self._dialogue.answer(content, loc, own=own)
