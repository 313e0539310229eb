"""Messages of model calls in any of the shapes that spans carry them in, as a flat list of what they say.

GenAI parts, chat messages, Gemini contents, Bedrock and Anthropic blocks and the AI SDK's parts differ in names alone;
nothing that one of them means is another's. What is no text, request or answer is counted in a note.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import msgspec
from msgspec import UNSET

from averment.evidence.draft import Draft
from averment.evidence.model import Role
from averment.evidence.readers.calls import parsed
from averment.evidence.readers.transcript import role_of
from averment.text import jsontext

__all__ = ["UNREAD_REQUEST", "Item", "decoded", "fingerprint", "items_of", "list_of", "nested"]


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

    def key(self) -> tuple[str, ...]:
        """What it is recognised by where a later call repeats it."""
        if self.kind == "text":
            return ("text", self.role, self.value.strip())
        if self.kind == "request":
            return ("request", self.name or "", fingerprint(self.value))
        return ("answer", self.own or "", fingerprint(self.value))


def fingerprint(value: Any) -> str:
    """A text that equal JSON values share; JSON text counts as the value that it holds."""
    if type(value) is str:
        text = value.strip()
        if text[:1] not in ("{", "[") and text != "":
            return f"s{text}"
        try:
            value = jsontext.decode(text).value if text else {}
        except jsontext.JSONProblem:
            return f"s{text}"
    try:
        return jsontext.canonical(value).decode()
    except (jsontext.JSONProblem, ValueError, TypeError):
        return repr(value)


def decoded(value: Any, loc: str, draft: Draft) -> Any:
    """What an attribute holds: structured already, or as JSON text; other text as it is."""
    if type(value) is not str or value.lstrip()[:1] not in ("{", "["):
        return value
    found, problem = parsed(value, loc, draft)
    return value if problem is not None else found


_DIGITS = 6


def nested(attrs: dict[str, Any], prefix: str) -> list[Any] | None:
    """What attributes `prefix.0.role`, `prefix.0.content`, … mean, as a list of objects; None without any."""
    whole = attrs.get(prefix)
    if type(whole) is list:
        return whole
    start = f"{prefix}."
    root: dict[str, Any] = {}
    for key, value in attrs.items():
        if not key.startswith(start):
            continue
        path = key[len(start) :].split(".", 15)
        at = root
        for step in path[:-1]:
            inner = at.get(step)
            if type(inner) is not dict:
                inner = at[step] = {}
            at = inner
        if type(at.get(path[-1])) is not dict:
            at[path[-1]] = value
    listed = _listed(root)
    return listed if type(listed) is list and listed else None


def _listed(value: Any) -> Any:
    """Objects whose keys are all numbers, as lists in the order of these."""
    if type(value) is not dict:
        return value
    inner = {key: _listed(each) for key, each in value.items()}
    if inner and all(key.isascii() and key.isdigit() and len(key) <= _DIGITS for key in inner):
        return [inner[key] for key in sorted(inner, key=int)]
    return inner


def list_of(value: Any) -> list[Any] | None:
    """A list of messages, also one that stands under `messages`; a single message is a list of it."""
    if type(value) is dict and type(value.get("messages")) is list:
        value = value["messages"]
    if type(value) is dict and ("role" in value or "parts" in value):
        return [value]
    return value if type(value) is list else None


def items_of(messages: list[Any], loc: str, draft: Draft, role: str | None = None) -> list[Item]:
    """What a list of messages says, in order; `role` is that of messages which name none."""
    found: list[Item] = []
    for message in messages:
        found += _Message(message, loc, draft, role).items()
    return found


_TEXT_TYPES = frozenset({"text", "input_text", "output_text", "refusal"})
_REQUEST_TYPES = frozenset(
    {"tool_call", "tool-call", "tool_use", "function_call", "server_tool_call", "function"}
)
_ANSWER_TYPES = frozenset(
    {"tool_call_response", "tool-result", "tool_result", "function_call_output", "server_tool_call_response"}
)
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

    def items(self) -> Iterator[Item]:
        """The text, then the requests, then the answers."""
        message = self._message
        if "role" not in message and self._role_raw in _REQUEST_TYPES | _ANSWER_TYPES:
            self._part(message)  # an item of the Responses API, which is a message by itself
            yield from self._calls
            return
        content = next(
            (message[key] for key in ("parts", "content", "contents") if message.get(key) is not None), None
        )
        self._content(content)
        requests = message.get("tool_calls")
        for each in requests if type(requests) is list else ():
            self._part({"type": "tool_call"} | each if type(each) is dict else each)
        if type(message.get("function_call")) is dict:
            self._request(message["function_call"])
        texts = [text for text in self._texts if not text.startswith(_OBJECTS)]
        if len(texts) < len(self._texts):
            detail = "a request for a call is written as the text of a Python object, so it is not read"
            self._draft.note(UNREAD_REQUEST, self._loc, detail)
        text = "\n".join(texts)
        if self._role == "tool":
            own = _first(message, "tool_call_id", "id", "toolCallId")
            result = content if type(content) is dict else text or UNSET
            if result is not UNSET or not self._calls:
                name = _id(message.get("name"))
                failed = True if message.get("status") == "error" else None
                yield self._item("answer", value=result, own=_id(own), name=name, failed=failed)
        elif text:
            yield self._item("text", value=text)
        yield from self._calls

    def _item(self, kind: Literal["text", "request", "answer"], **fields: Any) -> Item:
        return Item(kind=kind, role_raw=self._role_raw, role=self._role, loc=self._loc, **fields)

    def _content(self, content: Any) -> None:
        if type(content) is str:
            self._texts.append(content)
        elif type(content) is list:
            for part in content:
                self._part(part)
        elif type(content) is dict and self._role != "tool":
            self._part(content)

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
            for name, meant in _WRAPPED.items():
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
            text = _first(part, "text", "content", "refusal")
            if type(text) is str:
                self._texts.append(text)
            else:
                self._drop("a part of a message that is no text")
        else:
            self._drop("a part of a message that is no text")

    def _request(self, part: dict[str, Any]) -> None:
        function = part.get("function")
        inner = function if type(function) is dict else part
        name = _first(inner, "name", "toolName", "tool_name")
        arguments = _first(inner, "arguments", "args", "input")
        own = _first(part, "id", "call_id", "toolCallId", "toolUseId", "tool_call_id")
        value = UNSET if arguments is None else arguments
        self._calls.append(self._item("request", value=value, own=_id(own), name=_id(name)))

    def _answer(self, part: dict[str, Any]) -> None:
        own = _first(part, "id", "tool_call_id", "tool_use_id", "toolCallId", "toolUseId", "call_id")
        result = _first(part, "response", "result", "output", "content")
        failed = part.get("is_error", part.get("isError"))
        failed = failed if type(failed) is bool else (True if part.get("status") == "error" else None)
        if type(result) is dict and result.keys() == {"type", "value"}:  # the AI SDK's typed results
            failed = str(result["type"]).startswith("error") or failed
            result = result["value"]
        elif type(result) is list and result and all(_only_text(each) for each in result):
            result = "\n".join(each["text"] for each in result)
        value = UNSET if result is None else result
        name = _id(_first(part, "name", "toolName"))
        self._calls.append(self._item("answer", value=value, own=_id(own), name=name, failed=failed))

    def _drop(self, what: str) -> None:
        self._draft.drop(what, self._loc)


def _only_text(part: Any) -> bool:
    return type(part) is dict and type(part.get("text")) is str and part.keys() <= {"type", "text"}


def _first(item: dict[str, Any], *keys: str) -> Any:
    return next((item[key] for key in keys if item.get(key) is not None), None)


def _id(value: Any) -> str | None:
    if type(value) is int:
        return str(value)
    return value if type(value) is str and value else None
