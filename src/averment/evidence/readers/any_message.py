"""Messages in whatever vendor's shape: what platforms store as the input and the output of a model call.

A platform that records model calls keeps what it was given: chat messages, Anthropic and Gemini contents, Responses
items, LangChain messages plain or as constructors, parts of OpenTelemetry and of the Vercel AI SDK. Their words barely
overlap, so one walk reads them all. What is none of them is not understood, and the caller says so.
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from averment.evidence.draft import Draft, kind_of
from averment.evidence.readers.calls import parsed
from averment.evidence.readers.dialogue import Dialogue
from averment.evidence.readers.messages import part_text, result_of
from averment.evidence.readers.transcript import role_of

__all__ = ["read_any", "unwrapped"]

_LANGCHAIN = {
    "HumanMessage": "human",
    "AIMessage": "ai",
    "AIMessageChunk": "ai",
    "SystemMessage": "system",
    "ToolMessage": "tool",
    "FunctionMessage": "function",
}
_TYPES = frozenset({"human", "ai", "system", "tool", "function", "AIMessageChunk"})
_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use", "tool_call", "tool-call", "function_call"})
_ANSWERS = frozenset(
    {"tool_result", "mcp_tool_result", "tool_call_response", "tool-result", "function_call_output"}
)
_NAMES = ("name", "toolName", "tool_name", "function_name")
_IDS = ("call_id", "toolCallId", "tool_call_id", "tool_use_id", "id")
_ARGUMENTS = ("arguments", "input", "args", "parameters")
_RESULTS = ("result", "output", "response", "content")
_MAX_WRAPS = 3


def unwrapped(value: Any, loc: str, draft: Draft) -> Any:
    """A value that may be JSON text, or text of that: what it means in the end; other text stays as it is."""
    for _ in range(_MAX_WRAPS):
        if type(value) is not str or value.lstrip()[:1] not in ("{", "[", '"'):
            return value
        inner, problem = parsed(value, loc, draft)
        if problem is not None:
            return value
        value = inner
    return value


def read_any(value: Any, loc: str, dialogue: Dialogue, draft: Draft, *, role: str) -> bool:
    """Read what was given to a model, or what it gave.

    Args:
        value: the input or output, unwrapped.
        loc: where it stands.
        dialogue: what it is read into.
        draft: what notes are written to.
        role: whose a message is that names nobody.

    Returns:
        Whether all of it was understood.
    """
    reader = _Messages(dialogue, draft)
    reader.read(value, loc, role)
    return not reader.lost


class _Messages:
    def __init__(self, dialogue: Dialogue, draft: Draft) -> None:
        self._dialogue = dialogue
        self._draft = draft
        self.lost = False
        self._asked: set[str] = set()
        """The names of the tools that were asked for."""

    def read(self, value: Any, loc: str, role: str) -> None:
        if isinstance(value, list):
            if len(value) > 0 and isinstance(value[0], list):  # LangChain batches; one call has one
                self.read(value[0], f"{loc}[0]", role)
                return
            for index, item in enumerate(value):
                if isinstance(item, str):  # a message that was printed, by nobody knows whom
                    self.lost = True
                else:
                    self._item(item, f"{loc}[{index}]", role)
        elif value is not None:
            self._item(value, loc, role)

    def _item(self, item: Any, loc: str, role: str) -> None:
        if isinstance(item, str):
            if item:
                self._turn(role, item, loc)
            return
        if not isinstance(item, dict):
            self.lost = self.lost or item is not None
            return
        if isinstance(item.get("kwargs"), dict) and isinstance(item.get("id"), list):
            name = item["id"][-1] if item["id"] else None
            kind = _LANGCHAIN.get(name) if isinstance(name, str) else None
            if kind is not None:
                self._message({"type": kind, **item["kwargs"], "role": kind}, f"{loc}.kwargs", role)
                return
        if self._is_message(item):
            self._message(item, loc, role)
        elif not self._container(item, loc, role):
            self.lost = True

    @staticmethod
    def _is_message(item: dict[str, Any]) -> bool:
        kind = item.get("type")
        if isinstance(item.get("role"), str) or (
            isinstance(kind, str) and kind in _TYPES | _CALLS | _ANSWERS
        ):
            return True
        return "toolCallId" in item or kind == "reasoning"

    def _container(self, item: dict[str, Any], loc: str, role: str) -> bool:
        """Read what stands in a request or a response; whether this is one."""
        is_given = role == "user"
        for key in ("system", "instructions", "system_instruction"):
            if is_given and item.get(key):
                self._message({"role": "system", "content": item[key]}, f"{loc}.{key}", role)
        config = item.get("config")
        if isinstance(config, dict) and config.get("system_instruction"):
            said = config["system_instruction"]
            self._message({"role": "system", "content": said}, f"{loc}.config.system_instruction", role)
        for key in ("choices", "candidates", "generations"):  # of several, the first is what was used
            first = item[key][0] if isinstance(item.get(key), list) and item[key] else None
            if isinstance(first, list) and first:
                first = first[0]
            if isinstance(first, dict):
                for inner in ("message", "content", "text"):
                    if first.get(inner) is not None:
                        self.read(first[inner], f"{loc}.{key}[0].{inner}", role)
                        return True
        for key in ("messages", "contents", "input", "prompt", "new_message", "output", "message"):
            if item.get(key) is not None:
                self.read(item[key], f"{loc}.{key}", role)
                return True
        if item.get("content") is not None:
            content = item["content"]
            message = content if isinstance(content, dict) else {"content": content}
            self._message(message, f"{loc}.content", None if is_given else role)
            return True
        if isinstance(item.get("parts"), list) or isinstance(item.get("text"), str):
            self._message(item, loc, role)
            return True
        return False

    def _message(self, item: dict[str, Any], loc: str, role: str | None) -> None:
        kind = item.get("type")
        kind = kind if isinstance(kind, str) else ""
        named = item.get("role")
        if not isinstance(named, str):
            named = _LANGCHAIN.get(kind, kind) if kind in _TYPES else role
        if kind in _CALLS or ("toolCallId" in item and "result" not in item):
            self._dialogue.step()
            self._call(item, loc)
            return
        if kind in _ANSWERS:
            self._answer(item, loc)
            return
        if kind == "reasoning":
            self._draft.drop("a reasoning part", loc)
            return
        parts = item.get("parts")
        content = item.get("content", item.get("text")) if not isinstance(parts, list) else parts
        printed = self._printed_calls(content, loc)
        if printed is not None:
            self._dialogue.step()
            for index, call in enumerate(printed):
                self._call(call, f"{loc}.content[{index}]")
            return
        if named in self._asked:  # Langfuse writes the tool's name as the role of a LangChain tool message
            self._tool_message({"name": named, **item}, content, loc)
            return
        if named in ("tool", "function") and ("tool_call_id" in item or not self._has_answers(content)):
            self._tool_message(item, content, loc)
            return
        is_agent = role_of(named) == "agent"
        if is_agent:
            self._dialogue.step()
        key = "parts" if isinstance(parts, list) else "content" if "content" in item else "text"
        self._content(content, named, loc, key, own=item.get("id"))
        calls = item.get("tool_calls")
        legacy = item.get("function_call")
        for index, call in enumerate(calls if isinstance(calls, list) else []):
            if isinstance(call, dict):
                self._call(call, f"{loc}.tool_calls[{index}]")
        invalid = item.get("invalid_tool_calls")
        for index, call in enumerate(invalid if isinstance(invalid, list) else []):
            if isinstance(call, dict):
                self._call(call, f"{loc}.invalid_tool_calls[{index}]")
        if isinstance(legacy, dict):
            self._call(legacy, f"{loc}.function_call")

    def _printed_calls(self, content: Any, loc: str) -> list[dict[str, Any]] | None:
        """The calls of a message whose text is a list of them in OpenAI's words, as Koog writes them."""
        if not isinstance(content, str) or not content.startswith("[{") or '"function"' not in content:
            return None
        calls = unwrapped(content, loc, self._draft)
        is_calls = isinstance(calls, list) and all(
            isinstance(call, dict)
            and call.get("type") == "function"
            and isinstance(call.get("function"), dict)
            for call in calls
        )
        return calls if is_calls else None

    @staticmethod
    def _has_answers(content: Any) -> bool:
        return isinstance(content, list) and any(
            isinstance(part, dict)
            and (part.get("type") in ("tool-result", "tool_call_response") or "function_response" in part)
            for part in content
        )

    def _content(self, content: Any, role: str | None, loc: str, key: str, own: Any) -> None:
        """The texts of a message as one turn, and the calls and answers among its parts."""
        parts = content if isinstance(content, list) else [content]
        texts = []
        others = []
        for index, part in enumerate(parts):
            place = f"{loc}.{key}[{index}]" if isinstance(content, list) else f"{loc}.{key}"
            kind = part.get("type") if isinstance(part, dict) else None
            if isinstance(part, dict) and (inner := self._google(part)) is not None:
                others.append((inner, place))
            elif isinstance(kind, str) and kind in _CALLS | _ANSWERS:
                others.append((part, place))
            elif isinstance(part, dict) and (part.get("thought") is True):
                self._draft.drop("a reasoning part", place)
            elif part is not None and (text := part_text(part, place, self._draft)):
                texts.append(text)
        if texts:
            self._turn(role, "\n".join(texts), loc, own=own)
        for part, place in others:
            if part["type"] in _CALLS:
                self._call(part, place)
            else:
                self._answer(part, place)

    @staticmethod
    def _google(part: dict[str, Any]) -> dict[str, Any] | None:
        """A part of Gemini's that is a call or a response, in the words of the others."""
        for keys, kind in (
            (("function_call", "functionCall"), "function_call"),
            (("function_response", "functionResponse"), "function_call_output"),
        ):
            for key in keys:
                if isinstance(part.get(key), dict):
                    return {**part[key], "type": kind}
        return None

    def _turn(self, role: str | None, text: str, loc: str, own: Any = None) -> None:
        is_said = role_of(role) != "system"
        self._dialogue.turn(role, text, loc, said=is_said, own=own)

    def _call(self, call: dict[str, Any], loc: str) -> None:
        function = call.get("function")
        body = function if isinstance(function, dict) else call
        name = next((body[key] for key in _NAMES if isinstance(body.get(key), str)), None)
        arguments = next((body[key] for key in _ARGUMENTS if body.get(key) is not None), None)
        if arguments is None and "args" in body:
            arguments = {}
        own = next((call[key] for key in _IDS if call.get(key) is not None), None)
        if name is not None:
            self._asked.add(name)
        self._dialogue.request(name, arguments, loc, own=own if isinstance(own, (str, int)) else None)

    def _answer(self, item: dict[str, Any], loc: str) -> None:
        own = next((item[key] for key in _IDS if item.get(key) is not None), None)
        result = next((item[key] for key in _RESULTS if item.get(key) is not None), None)
        name = next((item[key] for key in _NAMES if isinstance(item.get(key), str)), None)
        failed = True if item.get("is_error") is True or item.get("isError") is True else None
        if isinstance(result, dict) and result.keys() == {"type", "value"}:  # Vercel's typed outputs
            failed = True if str(result["type"]).startswith("error") else failed
            result = result["value"]
        self._dialogue.answer(
            result_of(result, loc, self._draft),
            loc,
            own=own if isinstance(own, (str, int)) else None,
            name=name,
            failed=failed,
        )

    def _tool_message(self, item: dict[str, Any], content: Any, loc: str) -> None:
        own, name = item.get("tool_call_id"), item.get("name")
        failed = True if item.get("status") == "error" or item.get("is_error") is True else None
        if content is not None and not isinstance(content, (str, list, dict)):
            self._draft.note("result_not_text", loc, f"the result is {kind_of(content)}", "info")
        self._dialogue.answer(
            UNSET if content is None else result_of(content, loc, self._draft),
            loc,
            own=own if isinstance(own, (str, int)) else None,
            name=name if isinstance(name, str) else None,
            failed=failed,
        )
