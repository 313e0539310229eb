"""Pydantic AI messages: `[{kind: request | response, parts: [{part_kind, …}]}]`, as `all_messages_json()` gives them.

Prompts of the user and texts of the model are turns; texts that follow each other are one, as Pydantic AI has it.
`tool-call` and `builtin-tool-call` are requests, where no arguments at all mean that there are none; `tool-return` and
`builtin-tool-return` are the answers. The `outcome` of a return says how the call went, and a `retry-prompt` for a
tool that it failed. A return that only says that its tool was not executed, because the run had its result already,
is a call that was cancelled; one that a broken run left behind is no answer. Instructions, system prompts and what the
framework tells the model are not said.

Times are those of the parts, else of their message; a call begins when its response was received, where that was
stamped here and not in whole seconds by the provider, and a time in which its approval was awaited is a part of it.
Tools that the provider runs have no times. The roles are those of the kinds of parts, for which there are no names.

Known gaps: returns of versions without `outcome` don't say whether the call went well. Thinking, files, usage and
metadata are not read; a note counts each. Messages of one run alone (`new_messages()`) look like a whole history.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from msgspec import UNSET

from averment.evidence.draft import Draft, Part, kind_of
from averment.evidence.model import ToolCallStatus
from averment.evidence.readers.dialogue import Dialogue
from averment.evidence.readers.messages import Limits, finish, keep, limit_history
from averment.evidence.readers.shortfalls import NOT_TRANSCRIBED, UNKNOWN_TYPE
from averment.evidence.times import instant

__all__ = ["fits", "read"]

_LIMITS = Limits(
    tools="Save all messages, with the parts of tool calls and returns.",
    failures="Tool returns without an `outcome` don't say whether the call failed: save them with a later version.",
    writes_arguments=True,
)
_TRIED = 50
_KINDS = frozenset({"request", "response"})
_MESSAGE_KEYS = frozenset(
    {"kind", "parts", "timestamp", "instructions", "run_id", "conversation_id", "state"}
    | {"model_name", "model_id", "provider_name", "finish_reason"}
)
_PART_KEYS = frozenset(
    {"part_kind", "content", "timestamp", "id", "tool_name", "tool_kind", "args", "tool_call_id", "outcome"}
    | {"retry", "dynamic_ref", "scope", "context_id", "speaker", "transcript", "provider_name"}
    | {"content_file_digests"}
)
_CALLS = frozenset({"tool-call", "builtin-tool-call"})
_RETURNS = frozenset({"tool-return", "builtin-tool-return"})
_TOLD = frozenset({"retry-prompt", "retry-feedback"})
_DROPPED = {
    "thinking": "a reasoning part",
    "file": "a file part",
    "compaction": "a summary of the history",
    **dict.fromkeys(("image-url", "image"), "an image part"),
    "audio-url": "an audio part",
    "video-url": "a video part",
    **dict.fromkeys(("document-url", "uploaded-file", "binary"), "a file part"),
    "cache-point": "a mark of a cache",
}
_OUTCOMES: dict[str, ToolCallStatus] = {
    "success": "ok",
    "failed": "error",
    "retried": "error",
    "denied": "denied",
    "interrupted": "unanswered",
}
_NOT_EXECUTED = frozenset(
    {
        "Tool not executed - a final result was already processed.",
        "Output tool not used - a final result was already processed.",
    }
)
"""What Pydantic AI itself writes as the return of a tool that it skipped, whatever the outcome says."""


class _Time(NamedTuple):
    """When something was recorded, and whether by the clock that tools are timed by."""

    ns: int | None
    is_local: bool = False


def fits(value: Any) -> str | None:
    """Why this looks like messages of Pydantic AI, or None."""
    if isinstance(value, dict):
        return (
            "its `messages` have `parts` with a `part_kind`" if _are_messages(value.get("messages")) else None
        )
    return "its messages have `parts` with a `part_kind`" if _are_messages(value) else None


def _are_messages(value: Any) -> bool:
    if not isinstance(value, list) or not value:
        return False
    tried = value[:_TRIED]
    if not all(isinstance(item, dict) and isinstance(item.get("parts"), list) for item in tried):
        return False
    if not all(isinstance(item.get("kind"), str) and item["kind"] in _KINDS for item in tried):
        return False
    return any(
        isinstance(part, dict) and isinstance(part.get("part_kind"), str)
        for item in tried
        for part in item["parts"][:_TRIED]
    )


def read(part: Part, draft: Draft) -> None:
    """Read one conversation: a list of messages, alone or under `messages`."""
    if isinstance(part.value, dict) and isinstance(part.value.get("messages"), list):
        draft.drop_rest(part.value, {"messages"}, part.loc())
        part = part.at("messages")
    if not isinstance(part.value, list):
        found = kind_of(part.value)
        draft.problems.append(
            part.problem("wrong_type", "messages must be a list", expected="a list of messages", found=found)
        )
        return
    _Messages(part, draft).read()


class _Messages:
    """The messages of one conversation, on the way into a dialogue."""

    def __init__(self, part: Part, draft: Draft) -> None:
        self._part = part
        self._draft = draft
        self._dialogue = Dialogue(draft, part)
        self._instructions: str | None = None
        self._is_compacted = False
        self._last: dict[str, Any] = {}

    def read(self) -> None:
        draft, items = self._draft, self._part.value
        count = sum(self._message(item, loc) for item, loc in zip(items, self._part.locs(), strict=True))
        keep(draft, self._last, ("model_name", "provider_name", "finish_reason"))
        if self._last.get("state") not in (None, "complete"):
            draft.note("stream_cut", self._part.locs()[-1], "the last response was not finished")
        finish(self._dialogue, draft, _LIMITS, shows_tools=True, flags_some=True)
        if self._is_compacted:
            how = "Save the messages of the runs before the history was compacted as well."
            limit_history(draft, "a summary stands for the messages before it", how)
        draft.account(self._part.source, records=len(items), read=count)

    def _message(self, item: Any, loc: str) -> int:
        parts = item.get("parts") if isinstance(item, dict) else None
        if not isinstance(parts, list):
            self._draft.note(
                "message_unreadable", loc, "a message is no object with parts, so it is left out"
            )
            return 0
        self._draft.drop_rest(item, _MESSAGE_KEYS, loc)
        own = item.get("conversation_id")
        if type(own) is str:
            self._draft.conversation_id = own
        time = self._time(item, loc)
        is_response = item.get("kind") == "response"
        if is_response:
            self._last = item
            self._dialogue.step()
        self._instruct(item.get("instructions"), f"{loc}.instructions")
        texts: list[str] = []
        first = loc
        for index, part in enumerate(parts):
            place = f"{loc}.parts[{index}]"
            kind = part.get("part_kind") if isinstance(part, dict) else None
            if is_response and kind == "text" and type(part.get("content")) is str:
                self._draft.drop_rest(part, _PART_KEYS, place)
                first = first if texts else place
                texts.append(part["content"])
                continue
            self._say(texts, time, first)
            if isinstance(kind, str):
                self._one(part, kind, place, time)
            else:
                self._draft.note(UNKNOWN_TYPE, place, "a part has no `part_kind`, so it is left out")
        self._say(texts, time, first)
        return 1

    def _say(self, texts: list[str], time: _Time, loc: str) -> None:
        """One turn of the texts of a response that follow each other."""
        if not texts:
            return
        if any(texts):
            self._turn("assistant", "".join(texts), loc, time)
        texts.clear()

    def _turn(self, role: str, text: str, loc: str, time: _Time) -> None:
        self._dialogue.turn(role, text, loc, said=role != "system", start_ns=time.ns, clock="epoch")

    def _instruct(self, given: Any, loc: str) -> None:
        """Instructions stand in each request; they are read where they change."""
        if type(given) is str and given and given != self._instructions:
            self._instructions = given
            self._turn("system", given, loc, _Time(None))

    def _one(self, part: dict[str, Any], kind: str, loc: str, of_message: _Time) -> None:
        """Read one part; a part without a time has that of its message."""
        draft = self._draft
        draft.drop_rest(part, _PART_KEYS, loc)
        own = self._time(part, loc)
        time = of_message if own.ns is None else own
        if kind in _CALLS:
            args = part.get("args")
            if args is None and "args" in part:
                args = {}
            start = of_message.ns if of_message.is_local and kind == "tool-call" else None
            self._dialogue.request(
                part.get("tool_name"), args, loc, own=part.get("tool_call_id"), start_ns=start, clock="epoch"
            )
        elif kind in _RETURNS:
            self._return(part, loc, own if kind == "tool-return" else _Time(None))
        elif kind == "retry-prompt" and part.get("tool_name") is not None:
            self._answer(part, loc, own, "error")
        elif kind == "user-prompt":
            text = self._text(part.get("content"), f"{loc}.content")
            if text is not None:
                self._turn("user", text, loc, time)
        elif kind == "speech":
            self._speech(part, loc, time)
        elif kind == "system-prompt" or kind in _TOLD:
            text = self._text(part.get("content"), f"{loc}.content")
            if text is not None:
                self._turn("system", text, loc, time)
        elif kind in _DROPPED:
            self._is_compacted = self._is_compacted or kind == "compaction"
            draft.drop(_DROPPED[kind], loc)
        else:
            draft.note(UNKNOWN_TYPE, loc, "a part is of a kind that is not known, so it is left out")

    def _speech(self, part: dict[str, Any], loc: str, time: _Time) -> None:
        text = part.get("transcript")
        if type(text) is not str:
            self._draft.drop("an audio part", loc)
            self._draft.note(NOT_TRANSCRIBED, loc, "the speech has no transcript")
            return
        self._turn("assistant" if part.get("speaker") == "assistant" else "user", text, loc, time)

    def _return(self, part: dict[str, Any], loc: str, time: _Time) -> None:
        content, outcome = part.get("content"), part.get("outcome")
        if type(content) is str and content in _NOT_EXECUTED:
            self._draft.note("not_executed", loc, "the tool was skipped, as the run had its result", "info")
            self._answer(part, loc, time, "cancelled")
            return
        status = _OUTCOMES.get(outcome) if type(outcome) is str else None
        if status == "unanswered":
            self._draft.note("not_executed", loc, "the run was interrupted, so there is no result", "info")
        self._answer(part, loc, time, status or "executed")

    def _answer(self, part: dict[str, Any], loc: str, time: _Time, status: ToolCallStatus) -> None:
        """The answer to a call: its result, or what kept it from having one."""
        content, name = part.get("content"), part.get("tool_name")
        is_result = status in ("ok", "executed")
        self._dialogue.answer(
            content if is_result else UNSET,
            loc,
            own=part.get("tool_call_id"),
            name=name if type(name) is str else None,
            status=status,
            error=content if status in ("error", "denied") else UNSET,
            end_ns=time.ns if status in _RAN else None,
            clock="epoch",
        )

    def _text(self, content: Any, loc: str) -> str | None:
        """The text of a content, its parts joined by line breaks; None where it has none."""
        if type(content) is str:
            return content
        if type(content) is not list:
            self._draft.note("text_not_text", loc, f"the content is {kind_of(content)}, so it is left out")
            return None
        texts = []
        for index, part in enumerate(content):
            kind = part.get("kind") if isinstance(part, dict) else None
            text = part.get("content") if isinstance(part, dict) and kind == "text-content" else part
            if type(text) is str:
                texts.append(text)
            else:
                what = _DROPPED.get(kind) if type(kind) is str else None
                self._draft.drop(what or "a part that is no text", f"{loc}[{index}]")
        return "\n".join(texts) if texts else None

    def _time(self, item: dict[str, Any], loc: str) -> _Time:
        written = item.get("timestamp")
        if written is None:
            return _UNTIMED
        ns = instant(written)
        if ns is None:
            self._draft.note("time_unreadable", loc, "`timestamp` is no date and time; it is left out")
        return _Time(ns, ns is not None and "." in str(written))


_UNTIMED = _Time(None)

_RAN = frozenset({"ok", "executed", "error"})
"""The statuses of calls that took their time."""
