"""OpenAI chat messages: `[{role, content, tool_calls}]`, requests `{messages, tools}`, responses `{choices}`.

Also logs of them: JSONL of messages lists, of `{messages}` records with lines of metadata between them, of responses
and of streamed chunks, and `{request, response}` pairs. `tool_calls` (and the older `function_call`) are requests;
messages of the role `tool` (or `function`) are their answers. A refusal is said. A system prompt is not.

Known gaps: chat messages have no times and no flag for failed calls. The `created` of a response is kept as metadata
alone. Of several `choices` the first is read. Log probabilities, annotations and the like are not read; a note counts
each.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET

from averment.evidence.draft import OF_ANSWERS, Draft, Part, kind_of
from averment.evidence.model import ToolCallStatus
from averment.evidence.readers.dialogue import Dialogue
from averment.evidence.readers.messages import (
    Limits,
    bodies,
    finish,
    in_turn,
    keep,
    limit_history,
    no_list,
    nothing_in,
    result_of,
    text_or_none,
)
from averment.evidence.readers.shortfalls import NOT_TRANSCRIBED
from averment.evidence.readers.transcript import role_of

__all__ = ["LIMITS", "assembled", "converse", "fits", "is_chat", "read", "reply", "split"]

LIMITS = Limits(
    tools="Log the request with its `tools`, and the messages with their `tool_calls` and `tool` messages.",
    arguments="Log the `tool_calls` as they are, with `function.arguments`.",
    failures="Chat messages can't flag a failed call: add the trace of the tools, or have them answer with JSON.",
)

_TRIED = 50
_RECORDS_TRIED = 5
_CHUNK = "chat.completion.chunk"
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_BODY = frozenset({"content", "tool_calls", "function_call", "refusal", "audio"})
_OTHER_PARTS = frozenset({"image_url", "input_audio", "file", "refusal"})
_PARTS = _OTHER_PARTS | {"text"}
_FOREIGN = frozenset(
    {
        *(
            "anthropic_version",
            "artifact",
            "assistantId",
            "call_id",
            "chat_history",
            "contents",
            "endedReason",
        ),
        *("eval", "events", "input", "items", "jsonrpc", "pipeline_name", "reward_info", "samples", "scores"),
        *("schema", "schema_version", "simulations", "steps", "suite_name", "system", "termination_reason"),
        *("ticks", "traj", "trajectory", "transcript_object", "transcripts"),
    }
)
"""Keys that a body of chat completions doesn't have, and other things that hold `messages` have."""

_STATES: dict[str, ToolCallStatus] = {
    "IN_PROGRESS": "unanswered",
    "CANCELLED": "cancelled",
    "COMPLETED": "executed",
}
"""What Pipecat writes in the place of a result; a tool could answer so as well, so that nobody can tell."""

_TOOL_KEYS = frozenset({"tool_calls", "tool_call_id", "function_call"})
_MESSAGE_KEYS = frozenset(
    {"role", "content", "tool_calls", "function_call", "refusal", "audio", "name", "tool_call_id", "id"}
    | {"reasoning", "reasoning_content", "is_error", "error"}
)
_RECORD_KEYS = frozenset(
    {"messages", "choices", "tools", "functions", "metadata", "request", "response", "id", "object"}
    | {"conversation_id"}
)
_KEPT = (
    "model",
    "tools",
    "functions",
    "tool_choice",
    "created",
    "usage",
    "service_tier",
    "system_fingerprint",
)
_READ_KEYS = _RECORD_KEYS | {*_KEPT, "index"}


class _Record(msgspec.Struct, frozen=True):
    """One conversation of a log, with what the log says about itself."""

    value: Any
    header: dict[str, Any] | None
    strays: tuple[str, ...]


def fits(value: Any) -> str | None:
    """Why this looks like chat messages, or None; a list of plain texts by roles is a transcript."""
    if isinstance(value, dict):
        return _fits_body(value)
    if not isinstance(value, list) or not value:
        return None
    if _is_chunks(value):
        return "its items are chunks of a chat completion"
    if is_chat(value):
        has_more = _shows_tools(value) or _shows_parts(value)
        return "its messages have a role, and calls of tools or parts that are no text" if has_more else None
    records = [item for item in value[:_RECORDS_TRIED] if not _is_header(item)]
    if records and _is_record(records[0]) and all(_is_like_record(item) for item in records):
        return "its items are lists of chat messages"
    return None


def _fits_body(value: dict[str, Any]) -> str | None:
    if not _FOREIGN.isdisjoint(value):
        return None
    if "messages" in value and (not is_chat(value["messages"]) or _has_foreign_tools(value.get("tools"))):
        return None
    choices = value.get("choices")
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        message = choices[0].get("message")
        if isinstance(message, dict) and (value.get("object") is not None or "role" in message):
            return "it has `choices` with messages"
    if "messages" in value:
        return "it has `messages` with a role and a content"
    request, response = value.get("request"), value.get("response")
    if isinstance(request, dict) and isinstance(response, dict) and "choices" in response:
        return "its `request` has chat messages" if _fits_body(request) is not None else None
    return None


def is_chat(messages: Any) -> bool:
    """Whether this is a list of chat messages, as far as its first items tell; plain texts by roles are such, too."""
    if not isinstance(messages, list) or not messages:
        return False
    tried = [item for item in messages[:_TRIED] if isinstance(item, dict)]
    if len(tried) * 2 <= len(messages[:_TRIED]) or not all(
        isinstance(item.get("role"), str) for item in tried
    ):
        return False
    if any("type" in item or "parts" in item or _BODY.isdisjoint(item) for item in tried):
        return False
    if not all(_is_content(item.get("content")) for item in tried):
        return False
    return any(item["role"] in _ROLES for item in tried)


def _is_content(content: Any) -> bool:
    if not isinstance(content, list):
        return not isinstance(content, dict)
    return all(isinstance(part, str) or _has_type(part, _PARTS) for part in content[:_TRIED])


def _has_type(part: Any, types: frozenset[str]) -> bool:
    return isinstance(part, dict) and isinstance(part.get("type"), str) and part["type"] in types


def _shows_tools(messages: list[Any]) -> bool:
    """Whether a message has what only chat messages have, and a transcript doesn't."""
    return any(isinstance(item, dict) and not item.keys().isdisjoint(_TOOL_KEYS) for item in messages) or any(
        isinstance(item, dict) and item.get("role") in ("tool", "function") for item in messages
    )


def _shows_parts(messages: list[Any]) -> bool:
    contents = [item.get("content") for item in messages[:_TRIED] if isinstance(item, dict)]
    return any(
        isinstance(content, list) and any(_has_type(part, _OTHER_PARTS) for part in content[:_TRIED])
        for content in contents
    )


def _is_header(item: Any) -> bool:
    return isinstance(item, dict) and item.keys() == {"metadata"}


def _is_record(item: Any) -> bool:
    if isinstance(item, list):
        return is_chat(item)
    return isinstance(item, dict) and "messages" in item and _fits_body(item) is not None


def _is_like_record(item: Any) -> bool:
    """Whether this stands among records as one, whatever its roles are."""
    messages = item.get("messages") if isinstance(item, dict) else item
    return isinstance(messages, list) and all(isinstance(each, dict) for each in messages[:_TRIED])


def _is_chunks(value: list[Any]) -> bool:
    """Whether this is one streamed response; a log of several can't be told apart by their messages."""
    if not all(isinstance(item, dict) and item.get("object") == _CHUNK for item in value[:_TRIED]):
        return False
    return (
        len({own for item in value if isinstance(item, dict) and isinstance(own := item.get("id"), str)}) < 2
    )


def _has_foreign_tools(tools: Any) -> bool:
    """Whether tools are described in the way of another vendor."""
    first = tools[0] if isinstance(tools, list) and tools else None
    return isinstance(first, dict) and ("input_schema" in first or "functionDeclarations" in first)


def split(part: Part) -> list[Part]:
    """The conversations of a log; lines that are none of them go to the first, to be noted."""
    value = part.value
    if not isinstance(value, list) or not value or is_chat(value) or _is_chunks(value):
        return [part]
    header = next((item["metadata"] for item in value if _is_header(item)), None)
    header = header if isinstance(header, dict) else None
    found = [index for index, item in enumerate(value) if _is_like_record(item)]
    if not found:
        return [part]
    taken, locs, seen = set(found), part.locs(), False
    strays = []
    for index, item in enumerate(value):
        is_first_header = _is_header(item) and not seen
        seen = seen or is_first_header
        if index not in taken and not is_first_header:
            strays.append(locs[index])
    parts = []
    for index in found:
        item = part.item(index)
        record = _Record(item.value, header, tuple(strays) if index == found[0] else ())
        parts.append(msgspec.structs.replace(item, value=record))
    return parts


def read(part: Part, draft: Draft) -> None:
    """Read one conversation: a list of messages, a body or a pair of bodies, or the chunks of a response."""
    if isinstance(part.value, _Record):
        record, part = part.value, msgspec.structs.replace(part, value=part.value.value)
        for place in record.strays:
            draft.note("line_not_read", place, "this line is no conversation, so it is left out")
        for index, source in enumerate(draft.sources):
            if source.id == part.source and source.header is None and record.header is not None:
                draft.sources[index] = msgspec.structs.replace(source, header=record.header)
    value = part.value
    dialogue = Dialogue(draft, part)
    if isinstance(value, list) and value and _is_chunks(value):
        body = msgspec.structs.replace(part, value=assembled(value), lines=None)
        read_count = reply(body, dialogue, draft)
        _finish(dialogue, draft, shows_tools=True, requested=False, replied=True)
        draft.account(part.source, records=len(value), read=len(value) if read_count else 0)
        return
    if isinstance(value, list):
        read_count = converse(part, dialogue, draft)
        _finish(dialogue, draft, shows_tools=_shows_tools(value), requested=True, replied=False)
        draft.account(part.source, records=len(value), read=read_count)
        return
    if not isinstance(value, dict):
        no_list(part, draft, "chat messages")
        return
    _read_body(part, dialogue, draft)


def _read_body(part: Part, dialogue: Dialogue, draft: Draft) -> None:
    value = part.value
    request, response = bodies(part)
    records = read_count = 0
    shows_tools = any(isinstance(request.value.get(key), list) for key in ("tools", "functions"))
    requested, replied = "messages" in request.value, "choices" in response.value
    if not requested and not replied:
        nothing_in(part, draft, "`messages` or `choices`")
        return
    if requested:
        messages = request.at("messages")
        read_count += converse(messages, dialogue, draft)
        if isinstance(messages.value, list):
            records += len(messages.value)
            shows_tools = shows_tools or _shows_tools(messages.value)
    if replied:
        records += 1
        read_count += reply(response, dialogue, draft)
    for body in (part,) if request is response else (request, response, part):
        keep(draft, body.value, _KEPT)
    if isinstance(value.get("metadata"), dict):
        draft.metadata = (draft.metadata or {}) | value["metadata"]
    keep(draft, value, ("index",))
    if type(value.get("conversation_id")) is str:
        draft.conversation_id = value["conversation_id"]
        keep(draft, value, ("id",))
    elif requested and value.get("object") is None and type(value.get("id")) is str:
        # A record's own; that of a response is one of many in a conversation.
        draft.conversation_id = value["id"]
    elif replied:
        keep(draft, response.value, ("id",))
    draft.drop_rest(value, _READ_KEYS, part.loc())
    _finish(dialogue, draft, shows_tools=shows_tools or not requested, requested=requested, replied=replied)
    draft.account(part.source, records=records, read=read_count)


def _finish(dialogue: Dialogue, draft: Draft, *, shows_tools: bool, requested: bool, replied: bool) -> None:
    finish(dialogue, draft, LIMITS, shows_tools=shows_tools, is_last_word=not replied)
    if any(note.code == "state_for_result" for note in draft.notes):
        reason = "some tools' answers are words that Pipecat writes where there is no result"
        for channel in OF_ANSWERS:
            draft.limit(channel, "partial", reason, "Read a context of Pipecat's with `--from pipecat`.")
    if not requested:
        limit_history(
            draft, "a response holds nothing of what was said before it", "Log the requests as well."
        )


def converse(messages: Part, dialogue: Dialogue, draft: Draft) -> int:
    """Read a list of messages into a dialogue; how many of them could be read."""
    return in_turn(messages, draft, lambda item, loc: _message(item, loc, dialogue, draft))


def reply(body: Part, dialogue: Dialogue, draft: Draft) -> int:
    """Read the message of a response body into a dialogue; 1 when it could be read, else 0."""
    choices, place = body.value.get("choices"), f"{body.loc()}.choices"
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        draft.note("message_unreadable", place, "the response has no choice with a message")
        return 0
    for _ in choices[1:]:
        draft.drop("a further choice", place)
    keep(draft, choices[0], ("finish_reason",))
    if body.value.get("object") == _CHUNK and choices[0].get("finish_reason") is None:
        draft.note("stream_cut", place, "the stream ends before the message does")
    return _message(choices[0].get("message"), f"{place}[0].message", dialogue, draft)


def _message(item: Any, loc: str, dialogue: Dialogue, draft: Draft) -> int:
    if type(item) is not dict:
        draft.note("message_unreadable", loc, f"a message is {kind_of(item)}, so it is left out")
        return 0
    draft.drop_rest(item, _MESSAGE_KEYS, loc)
    role, name = item.get("role"), item.get("name")
    if type(role) is not str:
        if role is not None:
            draft.note("role_not_text", loc, f"the role is {kind_of(role)}, so it is unknown")
        role = None
    name = name if type(name) is str else None
    if role in ("tool", "function"):
        result = result_of(item.get("content"), f"{loc}.content", draft)
        word = result.strip('" ') if type(result) is str else None
        if word in _STATES:
            draft.note("state_for_result", loc, "a word that Pipecat writes where there is no result yet")
            dialogue.answer(
                UNSET, loc, own=item.get("tool_call_id"), name=name, status=_STATES[word], state="absent"
            )
            return 1
        error = item.get("error")
        failed = True if item.get("is_error") is True or error not in (None, False, "") else None
        dialogue.answer(
            result, loc, own=item.get("tool_call_id"), name=name, failed=failed, error=error or None
        )
        return 1
    calls, legacy = item.get("tool_calls"), item.get("function_call")
    if calls or legacy or role_of(role) == "agent":
        dialogue.step()
    for key in ("reasoning", "reasoning_content"):
        if item.get(key):
            draft.drop("a reasoning part", loc)
    text = _said(item, loc, draft)
    if text or not (calls or legacy):
        is_said = role not in ("system", "developer")
        dialogue.turn(role, text, loc, own=item.get("id"), speaker=name, said=is_said)
    if type(legacy) is dict:
        dialogue.request(legacy.get("name"), legacy.get("arguments"), f"{loc}.function_call")
    elif legacy is not None:
        draft.note("calls_unreadable", loc, f"`function_call` is {kind_of(legacy)}")
    if calls is not None and type(calls) is not list:
        draft.note("calls_unreadable", loc, f"`tool_calls` is {kind_of(calls)}")
    elif calls:
        for index, call in enumerate(calls):
            _request(call, f"{loc}.tool_calls[{index}]", dialogue, draft)
    return 1


def _said(item: dict[str, Any], loc: str, draft: Draft) -> str:
    """What a message says: its content, a refusal, or what its audio says."""
    text = text_or_none(item.get("content"), f"{loc}.content", draft)
    refusal, audio = item.get("refusal"), item.get("audio")
    if refusal is None and audio is None:  # nearly every message
        return text or ""
    texts = [each for each in (text, refusal) if type(each) is str and each]
    if audio is not None:
        spoken = audio.get("transcript") if type(audio) is dict else None
        if not texts and type(spoken) is str:
            texts.append(spoken)
        elif not texts:
            draft.note(NOT_TRANSCRIBED, loc, "the audio has no transcript, so what was said is not known")
        draft.drop("an audio part", loc)
    return "\n".join(texts)


def _request(call: Any, loc: str, dialogue: Dialogue, draft: Draft) -> None:
    if type(call) is not dict:
        draft.note("calls_unreadable", loc, f"a call is {kind_of(call)}, so it is left out")
        return
    function, custom = call.get("function"), call.get("custom")
    if type(function) is dict:
        name, arguments = function.get("name"), function.get("arguments")
    elif type(custom) is dict:
        name, arguments = custom.get("name"), custom.get("input")
    else:  # re-exports that have the function's keys in the call itself
        name = function if type(function) is str else call.get("name")
        arguments = call.get("arguments", call.get("args"))
    dialogue.request(name, arguments, loc, own=call.get("id"), parse=type(custom) is not dict)


def assembled(chunks: list[Any]) -> dict[str, Any]:
    """A streamed response as a body: the deltas of its first choice put together."""
    body: dict[str, Any] = {"object": _CHUNK}
    message: dict[str, Any] = {"role": "assistant"}
    texts: dict[str, list[str]] = {"content": [], "refusal": []}
    calls: dict[Any, dict[str, Any]] = {}
    finish_reason = None
    for chunk in chunks:
        if not isinstance(chunk, dict):
            continue
        body |= {key: chunk[key] for key in ("id", *_KEPT) if chunk.get(key) is not None}
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        if not isinstance(choice, dict) or choice.get("index", 0) != 0:
            continue
        finish_reason = choice.get("finish_reason") or finish_reason
        delta = choice.get("delta")
        if not isinstance(delta, dict):
            continue
        for key, found in texts.items():
            if isinstance(delta.get(key), str):
                found.append(delta[key])
        deltas = delta.get("tool_calls")
        for each in deltas if isinstance(deltas, list) else ():
            _add_call(each, calls)
    message |= {key: "".join(found) for key, found in texts.items() if found}
    if calls:
        message["tool_calls"] = [
            call | {"function": {"name": call.pop("name", None), "arguments": "".join(call.pop("texts"))}}
            for call in calls.values()
        ]
    return body | {"choices": [{"message": message, "finish_reason": finish_reason}]}


def _add_call(delta: Any, calls: dict[Any, dict[str, Any]]) -> None:
    if not isinstance(delta, dict):
        return
    index = delta.get("index")
    call = calls.setdefault(index if type(index) is int else len(calls), {"texts": []})
    if delta.get("id"):
        call["id"] = delta["id"]
    function = delta.get("function")
    if isinstance(function, dict):
        if function.get("name"):
            call["name"] = function["name"]
        if isinstance(function.get("arguments"), str):
            call["texts"].append(function["arguments"])
