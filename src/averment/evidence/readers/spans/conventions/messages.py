"""Messages of model calls in any of the shapes that spans carry them in, as a flat list of what they say.

GenAI parts, chat messages, Gemini contents, Bedrock and Anthropic blocks and the AI SDK's parts differ in names alone;
nothing that one of them means is another's. What is no text, request or answer is counted in a note.
"""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec
from msgspec import UNSET

from averment.evidence.draft import Draft
from averment.evidence.model import Role
from averment.evidence.readers.calls import parsed
from averment.evidence.readers.spans.conventions.numbered import Numbered, spelled
from averment.evidence.readers.spans.record import SpanRecord, first_of
from averment.evidence.readers.transcript import role_of
from averment.text import jsontext

__all__ = ["UNREAD_REQUEST", "Item", "Messages", "fingerprint", "list_of", "may_be_json"]


class Item(msgspec.Struct, kw_only=True, gc=False):
    """One thing in a message: a text, a request for a call, or the answer to one.

    Attributes:
        value: the text, the arguments or the result.
        failed: for an answer, whether the source says that the call failed.
    """

    kind: Literal["text", "request", "answer"]
    role_raw: str | None
    role: Role
    loc: str
    value: Any = UNSET
    own: str | None = None
    name: str | None = None
    failed: bool | None = None
    known_by: tuple[str, ...] | None = None

    def key(self) -> tuple[str, ...]:
        """What it is recognised by where a later call repeats it; found out once."""
        if self.known_by is None:
            if self.kind == "text":
                self.known_by = ("text", self.role, self.value.strip())
            elif self.kind == "request":
                self.known_by = ("request", self.name or "", fingerprint(self.value))
            else:
                self.known_by = ("answer", self.own or "", fingerprint(self.value))
        return self.known_by


_SCALAR = r'["0-9-]|true|false|null|NaN|Infinity'
_STRUCTURE = rf'\{{\s*["}}]|\[\s*(?:[\]\[{{]|{_SCALAR})'
_STRUCTURED = re.compile(rf"\s*(?:{_STRUCTURE})")
_JSON = re.compile(rf"\ufeff?\s*(?:{_SCALAR}|{_STRUCTURE})")


def may_be_json(text: str) -> bool:
    """Whether a text begins as JSON does; what doesn't, such as `[tool result]`, needs no reading to be told."""
    return _JSON.match(text) is not None


def fingerprint(value: Any) -> str:
    """A text that equal JSON values share; JSON text counts as the value that it holds."""
    if type(value) is str:
        text = value.strip()
        if text and _STRUCTURED.match(text) is None:
            return f"s{text}"
        try:
            return jsontext.canonical_known(jsontext.decode(text).value).decode() if text else "{}"
        except jsontext.JSONProblem:
            return f"s{text}"
    if value is UNSET:
        return "UNSET"
    try:
        return jsontext.canonical_known(value).decode()
    except (jsontext.JSONProblem, ValueError, TypeError):
        return repr(value)


def list_of(value: Any) -> list[Any] | None:
    """A list of messages, also one that stands under `messages`; a single message is a list of it."""
    if type(value) is dict and type(value.get("messages")) is list:
        value = value["messages"]
    if type(value) is dict and ("role" in value or "parts" in value):
        return [value]
    return value if type(value) is list else None


class Messages:
    """Reads the messages of a conversation's spans; each model call repeats those before it, and they are read once.

    Attributes:
        draft: where notes go.
    """

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self._items: dict[tuple[str | None, bytes], list[Item]] = {}
        self._numbered = Numbered()

    def decoded(self, value: Any, loc: str) -> Any:
        """What an attribute holds: structured already, or as JSON text; other text as it is."""
        if type(value) is not str or _STRUCTURED.match(value) is None:
            return value
        found, problem = parsed(value, loc, self.draft)
        return value if problem is not None else found

    def numbered(self, record: SpanRecord, prefix: str) -> list[Any] | None:
        """What attributes `prefix.0.role`, `prefix.0.content`, … mean, as a list of objects; None without any."""
        whole = record.attrs.get(prefix)
        return whole if type(whole) is list else self._numbered.under(record.attrs, prefix)

    def items(self, messages: list[Any], loc: str, role: str | None = None) -> list[Item]:
        """What a list of messages says, in order; `role` is that of messages which name none."""
        found: list[Item] = []
        for message in messages:
            text = spelled(message)
            items = None if text is None else self._items.get((role, text))
            if items is None:
                read = _Message(message, loc, self.draft, role)
                items = read.items()
                if text is not None and not read.is_noted:
                    for item in items:
                        item.key()
                    self._items[role, text] = items
            else:
                items = [msgspec.structs.replace(item, loc=loc) for item in items]
            found += items
        return found


_TEXT_TYPES = frozenset({"text", "input_text", "output_text", "refusal"})
_REQUEST_TYPES = frozenset(
    {"tool_call", "tool-call", "tool_use", "function_call", "server_tool_call", "function"}
)
_ANSWER_TYPES = frozenset(
    {"tool_call_response", "tool-result", "tool_result", "function_call_output", "server_tool_call_response"}
)
_CALLS = _REQUEST_TYPES | _ANSWER_TYPES
_THOUGHTS = frozenset({"reasoning", "thinking", "redacted_thinking", "redacted-reasoning"})
_WRAPPED = {
    "toolUse": "tool_use",
    "toolResult": "tool_result",
    "function_call": "function_call",
    "functionCall": "function_call",
    "function_response": "tool_result",
    "functionResponse": "tool_result",
    "tool_call": "tool_call",
    "message_content": None,
}
"""Parts that stand under the name of what they are, in an object of their own."""


UNREAD_REQUEST = "request_as_text"
"""The code of a note on a request for a call that can't be read."""

_OBJECTS = ("ResponseFunctionToolCall(", "ResponseFunctionToolCallItem(")
"""How some instrumentations write a call of the OpenAI SDK: by its `repr`, which nobody said."""


_CONTENT = ("parts", "content", "contents")
_TEXTS = ("text", "content", "refusal")
_REQUEST_NAME = ("name", "toolName", "tool_name")
_REQUEST_ID = ("id", "call_id", "toolCallId", "toolUseId", "tool_call_id")
_ARGUMENTS = ("arguments", "args", "input")
_ANSWERED = ("tool_call_id", "id", "toolCallId")
_ANSWER_NAME = ("name", "toolName")
_ANSWER_ID = ("id", "tool_call_id", "tool_use_id", "toolCallId", "toolUseId", "call_id")
_RESULT = ("response", "result", "output", "content")


class _Message:
    """One message, read part by part."""

    def __init__(self, message: Any, loc: str, draft: Draft, role: str | None) -> None:
        if type(message) is dict and type(message.get("message")) is dict:
            message = message["message"]
        self._message = message if type(message) is dict else {"content": message}
        named = self._message.get("role", self._message.get("type"))
        self._role_raw = named if type(named) is str and named else role
        self._role: Role = role_of(self._role_raw)
        self._loc = loc
        self._draft = draft
        self._texts: list[str] = []
        self._calls: list[Item] = []
        self.is_noted = False
        """Whether there is something in it that has to be told each time that the message is met."""

    def items(self) -> list[Item]:
        """The text, then the requests, then the answers."""
        message = self._message
        if self._role_raw in _CALLS and "role" not in message:
            self._part(message)  # an item of the Responses API, which is a message by itself
            return self._calls
        content = first_of(message, _CONTENT)
        if type(content) is str:
            self._texts.append(content)
        elif type(content) is list:
            for part in content:
                self._part(part)
        elif type(content) is dict and self._role != "tool":
            self._part(content)
        requests = message.get("tool_calls")
        for each in requests if type(requests) is list else ():
            self._part({"type": "tool_call"} | each if type(each) is dict else each)
        if type(message.get("function_call")) is dict:
            self._request(message["function_call"])
        texts = [text for text in self._texts if not text.startswith(_OBJECTS)]
        if len(texts) < len(self._texts):
            detail = "a request for a call is written as the text of a Python object, so it is not read"
            self._draft.note(UNREAD_REQUEST, self._loc, detail)
            self.is_noted = True
        text = "\n".join(texts)
        if self._role == "tool":
            own = first_of(message, _ANSWERED)
            result = content if type(content) is dict else text or UNSET
            if result is not UNSET or not self._calls:
                failed = True if message.get("status") == "error" else None
                answer = self._item("answer", result, _id(own), _id(message.get("name")), failed)
                return [answer, *self._calls]
        elif text:
            return [self._item("text", text), *self._calls]
        return self._calls

    def _item(
        self,
        kind: Literal["text", "request", "answer"],
        value: Any,
        own: str | None = None,
        name: str | None = None,
        failed: bool | None = None,
    ) -> Item:
        return Item(
            kind=kind,
            role_raw=self._role_raw,
            role=self._role,
            loc=self._loc,
            value=value,
            own=own,
            name=name,
            failed=failed,
        )

    def _part(self, part: Any) -> None:
        if type(part) is str:
            self._texts.append(part)
            return
        if type(part) is not dict:
            self._drop("a part of a message that is no object")
            return
        kind = part.get("type")
        if type(kind) is not str:
            kind = None
            for name, meant in () if _WRAPPED.keys().isdisjoint(part) else _WRAPPED.items():
                if type(part.get(name)) is dict:
                    part = part[name]
                    kind = meant or (part["type"] if type(part.get("type")) is str else None)
                    break
        if kind in _REQUEST_TYPES:
            inner = part.get("tool_call", part)
            self._request(inner if type(inner) is dict else part)
        elif kind in _ANSWER_TYPES:
            self._answer(part)
        elif kind in _THOUGHTS or part.get("thought") is True:
            self._drop("a reasoning part")
        elif kind in _TEXT_TYPES or kind is None:
            text = first_of(part, _TEXTS)
            if type(text) is str:
                self._texts.append(text)
            else:
                self._drop("a part of a message that is no text")
        else:
            self._drop("a part of a message that is no text")

    def _request(self, part: dict[str, Any]) -> None:
        function = part.get("function")
        inner = function if type(function) is dict else part
        name, own = first_of(inner, _REQUEST_NAME), first_of(part, _REQUEST_ID)
        arguments = first_of(inner, _ARGUMENTS)
        value = UNSET if arguments is None else arguments
        self._calls.append(self._item("request", value, _id(own), _id(name)))

    def _answer(self, part: dict[str, Any]) -> None:
        name, own = first_of(part, _ANSWER_NAME), first_of(part, _ANSWER_ID)
        result = first_of(part, _RESULT)
        failed = part.get("is_error", part.get("isError"))
        failed = failed if type(failed) is bool else (True if part.get("status") == "error" else None)
        if type(result) is dict and result.keys() == {"type", "value"}:  # the AI SDK's typed results
            failed = str(result["type"]).startswith("error") or failed
            result = result["value"]
        elif type(result) is list and result and all(_only_text(each) for each in result):
            result = "\n".join(each["text"] for each in result)
        value = UNSET if result is None else result
        self._calls.append(self._item("answer", value, _id(own), _id(name), failed))

    def _drop(self, what: str) -> None:
        self.is_noted = True
        self._draft.drop(what, self._loc)


def _only_text(part: Any) -> bool:
    return type(part) is dict and type(part.get("text")) is str and part.keys() <= {"type", "text"}


def _id(value: Any) -> str | None:
    if type(value) is int:
        return str(value)
    return value if type(value) is str and value else None
