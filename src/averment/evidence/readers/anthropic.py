"""Anthropic messages: `[{role, content: [blocks]}]`, requests `{system, messages, tools}`, responses, streams.

`tool_use` blocks (and `server_tool_use`, `mcp_tool_use`) are requests. Their answers are `tool_result` blocks, which
stand in messages of the user and are nothing that a user says, or `…_tool_result` blocks in the agent's own message.
`is_error` flags a call that failed. What an agent says before a call and after it are two turns; blocks of text that
follow each other are one, and where they carry citations they are one sentence, cut up. A `system` prompt is not said.

Also the events of managed-agent sessions: see `anthropic_sessions`.

Known gaps: messages have no times. Images, documents and thinking are not read; a note counts each. The messages of
Bedrock's Converse API, whose blocks have no type, are not recognised.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
from msgspec import UNSET

from averment.evidence.draft import Draft, Part, kind_of
from averment.evidence.readers import anthropic_sessions
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
    part_text,
    result_of,
    text_of,
)
from averment.evidence.readers.transcript import role_of

__all__ = ["LIMITS", "Speaker", "assembled", "blocks", "converse", "fits", "prompt", "read", "reply"]

LIMITS = Limits(
    tools="Log the request with its `tools`, and the messages with all of their content blocks.",
    arguments="Log the messages with the `input` of their `tool_use` blocks.",
    writes_arguments=True,
)

_TRIED = 50
_REQUESTS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_OWN_BLOCKS = _REQUESTS | {"tool_result", "mcp_tool_result", "thinking", "redacted_thinking"}
_OTHERS_BLOCKS = frozenset(
    {"image_url", "input_text", "output_text", "input_audio", "tool_call", "tool-call", "function_call"}
)
"""Types of parts that other vendors' messages have."""
_STREAM = frozenset({"message_start", "content_block_start", "content_block_delta", "message_delta"})
_FOREIGN = frozenset(
    {
        *("artifact", "call_id", "choices", "contents", "events", "pipeline_name", "reward_info", "samples"),
        *("schema_version", "sessionId", "simulations", "suite_name", "termination_reason", "traj", "uuid"),
        "transcript_object",
    }
)
_MESSAGE_KEYS = frozenset({"role", "content", "type", "id", "model", "stop_reason", "stop_sequence", "usage"})
_KEPT = ("model", "tools", "tool_choice", "stop_reason", "stop_sequence", "usage", "anthropic_version")
_RECORD_KEYS = frozenset(
    {"messages", "system", "metadata", "request", "response", "id", "type", "role", "content"}
)


def fits(value: Any) -> str | None:
    """Why this looks like Anthropic messages, or None; without a block of their own they could be anybody's."""
    if isinstance(value, dict):
        return _fits_body(value)
    if not isinstance(value, list) or not value:
        return None
    if _is_stream(value):
        return "its items are events of a streamed message"
    if anthropic_sessions.is_session(value):
        return "its items are events of a managed-agent session"
    if _is_messages(value) and _has_own_blocks(value):
        return "its messages have content blocks of tool use, tool results or thinking"
    return None


def _fits_body(value: dict[str, Any]) -> str | None:
    if not _FOREIGN.isdisjoint(value):
        return None
    if "messages" in value:
        messages = value["messages"]
        if not _is_messages(messages):
            return None
        if "system" in value or "anthropic_version" in value or _has_own_tools(value.get("tools")):
            return "it has `messages`, and a `system` prompt or tools in Anthropic's way"
        return "its `messages` have content blocks of Anthropic" if _has_own_blocks(messages) else None
    if value.get("type") == "message" and value.get("role") == "assistant" and "stop_reason" in value:
        return "it is a message with a `stop_reason`" if _is_message(value) else None
    request, response = value.get("request"), value.get("response")
    if isinstance(request, dict) and isinstance(response, dict) and response.get("type") == "message":
        return "its `request` has messages, its `response` is one" if "messages" in request else None
    return None


def _is_messages(messages: Any) -> bool:
    return isinstance(messages, list) and bool(messages) and all(map(_is_message, messages[:_TRIED]))


def _is_message(item: Any) -> bool:
    if not isinstance(item, dict) or item.get("role") not in ("user", "assistant", "system"):
        return False
    if "tool_calls" in item or "parts" in item or item.get("type", "message") != "message":
        return False
    content = item.get("content")
    return isinstance(content, str) or (isinstance(content, list) and all(map(_is_block, content[:_TRIED])))


def _is_block(block: Any) -> bool:
    """Whether this may be a block; the API has new ones from time to time."""
    return isinstance(block, dict) and _type(block) not in ("", *_OTHERS_BLOCKS)


def _type(block: dict[str, Any]) -> str:
    kind = block.get("type")
    return kind if isinstance(kind, str) else ""


def _is_answer(kind: str) -> bool:
    return kind == "tool_result" or kind.endswith("_tool_result")


def _has_own_blocks(messages: list[Any]) -> bool:
    return any(
        _type(block) in _OWN_BLOCKS or _is_answer(_type(block))
        for item in messages
        if isinstance(item, dict) and isinstance(item.get("content"), list)
        for block in item["content"][:_TRIED]
        if isinstance(block, dict)
    )


def _has_own_tools(tools: Any) -> bool:
    first = tools[0] if isinstance(tools, list) and tools else None
    return isinstance(first, dict) and "input_schema" in first


def _is_stream(value: list[Any]) -> bool:
    return any(
        isinstance(item, dict) and _type(item) in _STREAM and ("message" in item or "index" in item)
        for item in value[:2]
    )


def read(part: Part, draft: Draft) -> None:
    """Read one conversation: messages, a request, a response or both, the events of a stream or of a session."""
    value = part.value
    dialogue = Dialogue(draft, part)
    if isinstance(value, list) and anthropic_sessions.is_session(value):
        anthropic_sessions.read(part, dialogue, draft)
    elif isinstance(value, list) and _is_stream(value):
        body = msgspec.structs.replace(part, value=assembled(value), lines=None)
        count = reply(body, dialogue, draft)
        _finish(dialogue, draft, shows_tools=True, requested=False, replied=True)
        draft.account(part.source, records=len(value), read=len(value) if count else 0)
    elif isinstance(value, list):
        count = converse(part, dialogue, draft)
        _finish(dialogue, draft, shows_tools=_has_own_blocks(value), requested=True, replied=False)
        draft.account(part.source, records=len(value), read=count)
    elif isinstance(value, dict):
        _read_body(part, dialogue, draft)
    else:
        no_list(part, draft, "messages")


def _read_body(part: Part, dialogue: Dialogue, draft: Draft) -> None:
    value = part.value
    request, response = bodies(part)
    requested = "messages" in request.value
    replied = "content" in response.value
    if not requested and not replied:
        nothing_in(part, draft, "`messages`, or the `content` of a response")
        return
    records = read_count = 0
    shows_tools = isinstance(request.value.get("tools"), list)
    prompt(request, dialogue, draft)
    if requested:
        messages = request.at("messages")
        read_count += converse(messages, dialogue, draft)
        if isinstance(messages.value, list):
            records += len(messages.value)
            shows_tools = shows_tools or _has_own_blocks(messages.value)
    if replied:
        records += 1
        read_count += reply(response, dialogue, draft)
    for body in (request, response, part):
        keep(draft, body.value, (*_KEPT, "metadata", "id"))
    draft.drop_rest(value, _RECORD_KEYS | {*_KEPT}, part.loc())
    shows_tools = shows_tools or not requested
    _finish(dialogue, draft, shows_tools=shows_tools, requested=requested, replied=replied)
    draft.account(part.source, records=records, read=read_count)


def _finish(dialogue: Dialogue, draft: Draft, *, shows_tools: bool, requested: bool, replied: bool) -> None:
    finish(dialogue, draft, LIMITS, shows_tools=shows_tools, is_last_word=not replied)
    if not requested:
        limit_history(
            draft, "a response holds nothing of what was said before it", "Log the requests as well."
        )


def prompt(request: Part, dialogue: Dialogue, draft: Draft) -> None:
    """Read the `system` prompt of a request body."""
    system, loc = request.value.get("system"), f"{request.loc()}.system"
    if system:
        dialogue.turn("system", text_of(system, loc, draft), loc, said=False)


def converse(messages: Part, dialogue: Dialogue, draft: Draft) -> int:
    """Read a list of messages into a dialogue; how many of them could be read."""
    return in_turn(messages, draft, lambda item, loc: _message(item, loc, dialogue, draft))


def reply(body: Part, dialogue: Dialogue, draft: Draft) -> int:
    """Read the message that a response body is; 1 when it could be read, else 0."""
    if body.value.get("stream") == "cut":
        draft.note("stream_cut", body.loc(), "the stream ends before the message does")
    return _message(body.value, body.loc(), dialogue, draft, is_body=True)


def _message(item: Any, loc: str, dialogue: Dialogue, draft: Draft, *, is_body: bool = False) -> int:
    if type(item) is not dict or "content" not in item:
        draft.note("message_unreadable", loc, "a message is no object with a content, so it is left out")
        return 0
    if not is_body:
        draft.drop_rest(item, _MESSAGE_KEYS, loc)
    role = item.get("role")
    if type(role) is not str:
        if role is not None:
            draft.note("role_not_text", loc, f"the role is {kind_of(role)}, so it is unknown")
        role = None
    if role_of(role) == "agent":
        dialogue.step()
    speaker = Speaker(role, said=role != "system", own=item.get("id"))
    blocks(item["content"], speaker, loc, dialogue, draft)
    return 1


class Speaker(NamedTuple):
    """Whose message some content is.

    Attributes:
        role: the role as written.
        said: whether its texts are utterances.
        own: the message's id.
        start_ns: when it was written, since 1970.
    """

    role: str | None
    said: bool = True
    own: Any = None
    start_ns: int | None = None


def blocks(content: Any, of: Speaker, loc: str, dialogue: Dialogue, draft: Draft) -> None:
    """Read the content of one message, a text or blocks: what is said, asked for and answered in it, in order."""
    role, start_ns = of.role, of.start_ns
    listed = content if type(content) is list else [content]
    run: list[tuple[str, bool]] = []
    where = loc
    others = turns = 0

    def flush() -> None:
        nonlocal turns
        if not run:
            return
        joint = "" if any(cited for _, cited in run) else "\n"
        text = joint.join(text for text, _ in run)
        own_id = of.own if turns == 0 else None
        dialogue.turn(role, text, where, own=own_id, said=of.said, start_ns=start_ns, clock="epoch")
        turns += 1
        run.clear()

    for index, block in enumerate(listed):
        place = f"{loc}.content[{index}]" if type(content) is list else f"{loc}.content"
        kind = _type(block) if type(block) is dict else ""
        if kind in _REQUESTS or _is_answer(kind):
            flush()
            others += 1
            if kind in _REQUESTS:
                _request(block, place, dialogue, start_ns)
            else:
                _answer(block, place, dialogue, draft)
            where = place
            continue
        text = part_text(block, place, draft) if block is not None else None
        if text:
            where = loc if not others and not turns else (place if not run else where)
            run.append((text, type(block) is dict and bool(block.get("citations"))))
    flush()
    if not turns and not others and role_of(role) != "agent":
        dialogue.turn(role, "", loc, own=of.own, said=of.said)


def _request(block: dict[str, Any], loc: str, dialogue: Dialogue, start_ns: int | None) -> None:
    dialogue.request(
        block.get("name"), block.get("input"), loc, own=block.get("id"), start_ns=start_ns, clock="epoch"
    )


def _answer(block: dict[str, Any], loc: str, dialogue: Dialogue, draft: Draft) -> None:
    content = block.get("content")
    code = content.get("error_code") if type(content) is dict else None
    flag = block.get("is_error")
    failed = True if code is not None else flag if type(flag) is bool else None
    result = result_of(content, f"{loc}.content", draft)
    error = UNSET if not failed else result if code is None else code
    dialogue.answer(result, loc, own=block.get("tool_use_id"), failed=failed, error=error)


def assembled(events: list[Any]) -> dict[str, Any]:
    """A streamed response as a body: the message that its events put together."""
    body: dict[str, Any] = {"type": "message", "role": "assistant"}
    parts: dict[Any, dict[str, Any]] = {}
    texts: dict[Any, dict[str, list[str]]] = {}
    for event in events:
        if not isinstance(event, dict):
            continue
        index, kind = event.get("index"), _type(event)
        index = index if type(index) is int else None
        if kind == "message_start" and isinstance(event.get("message"), dict):
            body |= event["message"]
        elif kind == "content_block_start" and isinstance(event.get("content_block"), dict):
            parts[index] = dict(event["content_block"])
            texts[index] = {}
        elif kind == "content_block_delta" and isinstance(event.get("delta"), dict):
            delta = event["delta"]
            parts.setdefault(index, {"type": "text"})
            for key in ("text", "partial_json", "thinking"):
                if isinstance(delta.get(key), str):
                    texts.setdefault(index, {}).setdefault(key, []).append(delta[key])
            if delta.get("type") == "citations_delta":
                parts[index]["citations"] = True
        elif kind == "message_delta":
            body |= {key: event[key] for key in ("usage",) if isinstance(event.get(key), dict)}
            if isinstance(event.get("delta"), dict):
                body |= event["delta"]
    for index, part in parts.items():
        found = {key: "".join(each) for key, each in texts.get(index, {}).items()}
        if found.get("partial_json"):
            part["input"] = found["partial_json"]
        if "text" in found:
            start = part.get("text")
            part["text"] = (start if isinstance(start, str) else "") + found["text"]
    if not body.get("stop_reason"):
        body["stream"] = "cut"
    return body | {"content": list(parts.values())}
