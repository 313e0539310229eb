"""LangChain and LangGraph messages: `[{type: human | ai | tool | system, content, …}]`, and states `{messages}`.

Also the constructor form `{lc, type: "constructor", id, kwargs}`, the stored form `{type, data}`, and DeepEval's
traces of a graph, of which the messages of the final state are read and the times of the tool spans.
Calls are in `tool_calls`, with `args` as a value; the raw copy in `additional_kwargs` counts only where that is
missing, and text that the model wrote for a call and LangChain couldn't parse is in `invalid_tool_calls`. A tool
message answers by its `tool_call_id`; its `status` says whether the call failed.

Known gaps: messages have no times. A tool's `artifact`, usage and response metadata are not read; a note counts
each. Chunks of a streamed message are read as messages, so export the final state instead. Of a state, keys beside
`messages` are kept as metadata.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from averment.evidence.draft import Draft, Part, kind_of
from averment.evidence.model import Role, ToolCallStatus
from averment.evidence.readers.dialogue import Dialogue
from averment.evidence.readers.messages import Limits, finish, in_turn, keep, result_of, text_or_none
from averment.evidence.times import instant

__all__ = ["LIMITS", "converse", "fits", "read"]

LIMITS = Limits(
    tools="Save the whole state of the graph, with its AI and tool messages.",
    failures="Tool messages without a `status` don't say whether the call failed: save them with a later version.",
    arguments="Save the AI messages with their `tool_calls`, and not only what a model wrote for them.",
    writes_arguments=True,
)

_TRIED = 50
_ROLES: dict[str, Role] = {
    **dict.fromkeys(("human", "user"), "user"),
    **dict.fromkeys(("ai", "assistant"), "agent"),
    **dict.fromkeys(("system", "developer"), "system"),
    **dict.fromkeys(("tool", "function"), "tool"),
    "chat": "other",
}
_TYPES = frozenset({"human", "ai", "system", "tool", "function", "chat"})
_SIGNS = frozenset(
    {"additional_kwargs", "response_metadata", "tool_calls", "invalid_tool_calls", "tool_call_id", "example"}
)
_MESSAGE_KEYS = frozenset(
    {"type", "role", "content", "id", "name", "tool_calls", "invalid_tool_calls", "tool_call_id", "status"}
    | {
        "additional_kwargs",
        "response_metadata",
        "usage_metadata",
        "example",
        "artifact",
        "lc",
        "kwargs",
        "data",
    }
)
_SPANS = ("baseSpans", "agentSpans", "llmSpans", "toolSpans", "retrieverSpans")
_TRACE_KEPT = ("name", "tags", "environment", "userId", "status", "startTime", "endTime", "uuid", "metadata")
_TRACE_KEYS = frozenset({*_SPANS, *_TRACE_KEPT, "threadId", "input", "output", "toolsCalled"})


class _Time(NamedTuple):
    start: int | None
    end: int | None


_UNTIMED = _Time(None, None)


def fits(value: Any) -> str | None:
    """Why this looks like LangChain messages, or None."""
    if isinstance(value, list):
        return "its messages have a `type` in LangChain's words" if _is_messages(value) else None
    if not isinstance(value, dict) or "run_type" in value or "observations" in value:
        return None
    if "toolSpans" in value and "llmSpans" in value:
        state = value.get("output")
        if isinstance(state, dict) and _is_messages(state.get("messages")):
            return "it is a trace with a final state of LangChain messages"
        return None
    for state in (value, value.get("values"), value.get("kwargs")):
        if isinstance(state, dict) and _is_messages(state.get("messages")):
            return "its `messages` have a `type` in LangChain's words"
    return None


def _is_messages(value: Any) -> bool:
    if not isinstance(value, list) or not value:
        return False
    tried = value[:_TRIED]
    return all(map(_is_message, tried)) and any(map(_is_sure, tried))


def _is_message(item: Any) -> bool:
    if not isinstance(item, dict):
        return False
    if "lc" in item:
        return _is_constructor(item)
    kind = _kind(item)
    if kind not in _TYPES or "uuid" in item or "sessionId" in item:
        return False
    body = item["data"] if isinstance(item.get("data"), dict) else item
    return "content" in body and isinstance(body["content"], (str, list))


def _is_constructor(item: dict[str, Any]) -> bool:
    names, kwargs = item.get("id"), item.get("kwargs")
    return (
        isinstance(names, list)
        and bool(names)
        and isinstance(names[-1], str)
        and "Message" in names[-1]
        and isinstance(kwargs, dict)
    )


def _is_sure(item: dict[str, Any]) -> bool:
    """Whether a message is LangChain's beyond doubt."""
    return "lc" in item or "data" in item or not _SIGNS.isdisjoint(item) or _kind(item) in ("human", "ai")


def _kind(item: dict[str, Any]) -> str | None:
    """What kind of message an object is: `AIMessageChunk`, `AIMessage` and `ai` are one."""
    kind = item.get("type")
    if isinstance(item.get("kwargs"), dict) and isinstance(item.get("id"), list):
        kind = item["kwargs"].get("type") or (item["id"][-1] if item["id"] else None)
    if not isinstance(kind, str):
        return None
    return kind.removesuffix("Chunk").removesuffix("Message").casefold() if kind[:1].isupper() else kind


def read(part: Part, draft: Draft) -> None:
    """Read one conversation: a list of messages, a state that holds one, or a trace of a graph."""
    value = part.value
    messages: Part | None = part if isinstance(value, list) else None
    times: dict[str, _Time] = {}
    if isinstance(value, dict):
        messages = _messages_of(part, draft)
        times = _times(value.get("toolSpans"))
    if messages is None or not isinstance(messages.value, list):
        draft.problems.append(
            part.problem(
                "wrong_type",
                "LangChain messages must be a list, or stand in a state under `messages`",
                expected="a list of messages",
                found=kind_of(value if messages is None else messages.value),
            )
        )
        return
    dialogue = Dialogue(draft, part)
    count = converse(messages, dialogue, draft, times)
    finish(dialogue, draft, LIMITS, shows_tools=_shows_tools(messages.value), flags_some=True)
    draft.account(part.source, records=len(messages.value), read=count)


def _shows_tools(messages: list[Any]) -> bool:
    """Whether an AI message says which calls it asks for, be it none."""
    bodies = [item.get("kwargs", item.get("data", item)) for item in messages if isinstance(item, dict)]
    return any(
        isinstance(body, dict) and not body.keys().isdisjoint(("tool_calls", "tool_call_id"))
        for body in bodies
    )


def _messages_of(part: Part, draft: Draft) -> Part | None:
    """The list of messages in a state or a trace; what stands beside it is kept or counted."""
    value, loc = part.value, part.loc()
    if "toolSpans" in value:
        for key in _SPANS:
            if value.get(key):
                draft.drop(f"`{key}`, but for the times of tools", loc)
        keep(draft, value, _TRACE_KEPT)
        if type(value.get("threadId")) is str:
            draft.conversation_id = value["threadId"]
        draft.drop_rest(value, _TRACE_KEYS, loc)
        return _messages_of(part.at("output"), draft) if isinstance(value.get("output"), dict) else None
    for key in ("values", "kwargs"):
        if "messages" not in value and isinstance(value.get(key), dict):
            return _messages_of(part.at(key), draft)
    if "messages" not in value:
        return None
    keep(draft, value, [key for key in value if key != "messages"])
    return part.at("messages")


def _times(spans: Any) -> dict[str, _Time]:
    """When the tools ran, by the ids of their calls."""
    times: dict[str, _Time] = {}
    for span in spans if isinstance(spans, list) else ():
        output = span.get("output") if isinstance(span, dict) else None
        own = output.get("tool_call_id") if isinstance(output, dict) else None
        if type(own) is str:
            start, end = instant(span.get("startTime")), instant(span.get("endTime"))
            times[own] = _Time(start, None if end == start else end)  # no time at all is no duration
    return times


def converse(messages: Part, dialogue: Dialogue, draft: Draft, times: dict[str, _Time] | None = None) -> int:
    """Read a list of messages into a dialogue; how many of them could be read."""
    known = times or {}
    return in_turn(messages, draft, lambda item, loc: _message(item, loc, dialogue, draft, known))


def _message(item: Any, loc: str, dialogue: Dialogue, draft: Draft, times: dict[str, _Time]) -> int:
    if type(item) is not dict:
        draft.note("message_unreadable", loc, f"a message is {kind_of(item)}, so it is left out")
        return 0
    kind = _kind(item)
    own = item.get("id")
    for key in ("kwargs", "data"):
        if isinstance(item.get(key), dict):
            item, loc = item[key], f"{loc}.{key}"
            own = item.get("id")
    draft.drop_rest(item, _MESSAGE_KEYS, loc)
    if item.get("artifact") is not None:
        draft.drop("an artifact of a tool", loc)
    role_raw = kind if kind is not None else item.get("role")
    if type(role_raw) is not str:
        draft.note("role_not_text", loc, "the message has no type, so its role is unknown")
        role_raw = None
    if kind == "chat" and type(item.get("role")) is str:
        role_raw = item["role"]
    role = _ROLES.get(role_raw or "", "unknown" if role_raw is None else "other")
    name = item.get("name") if type(item.get("name")) is str else None
    if role == "tool":
        call_id = item.get("tool_call_id")
        time = times.get(call_id, _UNTIMED) if type(call_id) is str else _UNTIMED
        _answer(item, loc, dialogue, draft, time=time)
        return 1
    if role == "agent":
        dialogue.step()
    calls = _calls(item, loc, draft)
    text = text_or_none(_spoken(item.get("content")), f"{loc}.content", draft)
    if text or not (calls or role == "agent"):
        said = role != "system"
        dialogue.turn(role_raw, text or "", loc, role=role, own=own, speaker=name, said=said)
    for call, place in calls:
        if type(call) is not dict:
            draft.note("calls_unreadable", place, f"a call is {kind_of(call)}, so it is left out")
            continue
        function = call.get("function")
        inner = function if type(function) is dict else call
        dialogue.request(
            inner.get("name"), inner.get("args", inner.get("arguments")), place, own=call.get("id")
        )
    return 1


_CALL_PARTS = frozenset({"tool_use", "tool_call", "function_call", "tool_call_chunk", "input_json_delta"})


def _spoken(content: Any) -> Any:
    """The content without the parts that stand for calls, which are told in `tool_calls` once more."""
    if type(content) is not list:
        return content
    return [
        part
        for part in content
        if not (type(part) is dict and type(part.get("type")) is str and part["type"] in _CALL_PARTS)
    ]


def _calls(item: dict[str, Any], loc: str, draft: Draft) -> list[tuple[Any, str]]:
    """The calls of a message, each with its place."""
    found: list[tuple[Any, str]] = []
    for key in ("tool_calls", "invalid_tool_calls"):
        given = item.get(key)
        if type(given) is list:
            found += [(call, f"{loc}.{key}[{index}]") for index, call in enumerate(given)]
        elif given is not None:
            draft.note("calls_unreadable", loc, f"`{key}` is {kind_of(given)}")
    raw = item.get("additional_kwargs")
    if not found and type(raw) is dict:
        given, place = raw.get("tool_calls"), f"{loc}.additional_kwargs"
        if type(given) is list:
            found += [(call, f"{place}.tool_calls[{index}]") for index, call in enumerate(given)]
        elif type(raw.get("function_call")) is dict:
            found.append((raw["function_call"], f"{place}.function_call"))
    return found


def _answer(item: dict[str, Any], loc: str, dialogue: Dialogue, draft: Draft, *, time: _Time) -> None:
    name, status = item.get("name"), item.get("status")
    how: ToolCallStatus = "error" if status == "error" else "ok" if status == "success" else "executed"
    dialogue.answer(
        result_of(item.get("content"), f"{loc}.content", draft),
        loc,
        own=item.get("tool_call_id"),
        name=name if type(name) is str else None,
        status=how,
        start_ns=time.start,
        end_ns=time.end,
        clock="epoch",
    )
