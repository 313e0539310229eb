"""OpenAI Responses: lists of items, requests `{input, instructions, tools}`, responses, streamed events; Codex logs.

A `function_call` is answered by the `function_call_output` of its `call_id`, which is not its `id`. The calls of
tools that the server runs itself (`web_search_call`, `file_search_call`, `mcp_call`, …) hold their own outcome; the
tool is called as its item is, without the `_call`. An MCP call that was refused approval is `denied`.

Where `previous_response_id`, `conversation` or an `item_reference` says that the history is elsewhere, and in a
response alone, the coverage is partial. A stream is read from its last response, else from its finished items.

Known gaps: only Codex logs have times. No flag says that a function call failed. Reasoning, citations, images and
files are not read; a note counts each.
"""

from __future__ import annotations

from typing import Any

import msgspec

from averment.evidence.draft import Draft, Part
from averment.evidence.readers import codex_sessions
from averment.evidence.readers.dialogue import Dialogue
from averment.evidence.readers.messages import (
    Limits,
    bodies,
    finish,
    keep,
    limit_history,
    no_list,
    nothing_in,
)
from averment.evidence.readers.response_items import Items, is_items

__all__ = ["LIMITS", "assembled", "converse", "fits", "prompt", "read", "reply"]

LIMITS = Limits(
    tools="Log the request with its `tools`, and all items of the response.",
    failures="The items can't flag a failed function call: add the trace of the tools.",
    writes_arguments=True,
)

_KEPT = ("model", "tools", "tool_choice", "status", "usage", "created_at", "error", "incomplete_details")
_ENDS = frozenset({"response.completed", "response.failed", "response.incomplete", "response.done"})
_RECORD_KEYS = frozenset(
    {
        *(
            "input",
            "output",
            "instructions",
            "request",
            "response",
            "id",
            "object",
            "metadata",
            "stream",
            "text",
        ),
        *("previous_response_id", "conversation", "include", "store", "parallel_tool_calls", "reasoning"),
        *(
            "temperature",
            "top_p",
            "truncation",
            "background",
            "max_output_tokens",
            "max_tool_calls",
            "billing",
        ),
        *("service_tier", "prompt_cache_key", "safety_identifier", "top_logprobs", "user", "output_text"),
        "completed_at",
    }
)


def fits(value: Any) -> str | None:
    """Why this looks like items of the Responses API, or None."""
    if isinstance(value, dict):
        return _fits_body(value)
    if not isinstance(value, list) or not value:
        return None
    if _is_stream(value):
        return "its items are events of a streamed response"
    if codex_sessions.is_session(value):
        return "its lines are those of a Codex session"
    return "its items are messages and calls in the way of the Responses API" if is_items(value) else None


def _fits_body(value: dict[str, Any]) -> str | None:
    if value.get("object") == "response" and isinstance(value.get("output"), list):
        return "its `object` is a response"
    if "messages" in value or "run_type" in value or "traceId" in value:
        return None
    if is_items(value.get("input")) and ("model" in value or "output" in value or "tools" in value):
        return "its `input` holds items of the Responses API"
    request, response = value.get("request"), value.get("response")
    if isinstance(request, dict) and isinstance(response, dict) and response.get("object") == "response":
        return "its `response` is a response, with a request"
    return None


def _is_stream(value: list[Any]) -> bool:
    return all(
        isinstance(item, dict) and isinstance(item.get("type"), str) and item["type"].startswith("response.")
        for item in value[:5]
    ) and any("response" in item or "item" in item or "output_index" in item for item in value[:5])


def read(part: Part, draft: Draft) -> None:
    """Read one conversation: items, a request, a response or both, the events of a stream, a Codex session."""
    value = part.value
    dialogue = Dialogue(draft, part)
    if isinstance(value, list) and value and _is_stream(value):
        body = msgspec.structs.replace(part, value=assembled(value), lines=None)
        count = reply(body, dialogue, draft)
        _finish(dialogue, draft, shows_tools=True, replied=True)
        _limit(draft, body.value, requested=False)
        draft.account(part.source, records=len(value), read=len(value) if count else 0)
    elif isinstance(value, list) and codex_sessions.is_session(value):
        codex_sessions.read(part, dialogue, draft)
    elif isinstance(value, list):
        items = Items(part, dialogue, draft)
        count = items.read()
        _finish(dialogue, draft, shows_tools=items.shows_tools, replied=False)
        if items.refers:
            _limit_to(draft)
        draft.account(part.source, records=len(value), read=count)
    elif isinstance(value, dict):
        _read_body(part, dialogue, draft)
    else:
        no_list(part, draft, "items of a response")


def _read_body(part: Part, dialogue: Dialogue, draft: Draft) -> None:
    value = part.value
    request, response = bodies(part)
    requested, replied = "input" in request.value, "output" in response.value
    if not requested and not replied:
        nothing_in(part, draft, "`input` or `output`")
        return
    prompt(request if request.value.get("instructions") else response, dialogue, draft)
    records, count, shows_tools, refers = 0, 0, False, False
    if requested:
        given = request.at("input")
        items = Items(given, dialogue, draft)
        count += items.read()
        records += len(given.value) if isinstance(given.value, list) else 1
        shows_tools, refers = items.shows_tools, items.refers
    if replied:
        count += reply(response, dialogue, draft)
        records += len(response.value["output"]) if isinstance(response.value["output"], list) else 1
    for body in (request, response, part):
        keep(draft, body.value, (*_KEPT, "metadata", "id"))
        conversation = body.value.get("conversation")
        own = conversation.get("id") if isinstance(conversation, dict) else conversation
        if type(own) is str:
            draft.conversation_id = own
    draft.drop_rest(value, _RECORD_KEYS | {*_KEPT}, part.loc())
    offers = isinstance(request.value.get("tools"), list) or isinstance(response.value.get("tools"), list)
    _finish(dialogue, draft, shows_tools=shows_tools or offers or replied, replied=replied)
    _limit(draft, request.value, requested=requested)
    _limit(draft, response.value, requested=requested)
    if refers:
        _limit_to(draft)
    draft.account(part.source, records=records, read=count)


def _finish(dialogue: Dialogue, draft: Draft, *, shows_tools: bool, replied: bool) -> None:
    finish(dialogue, draft, LIMITS, shows_tools=shows_tools, is_last_word=not replied, flags_some=True)


def _limit(draft: Draft, body: dict[str, Any], *, requested: bool) -> None:
    """Say what of the history is not in a body."""
    if body.get("previous_response_id") is not None or body.get("conversation") is not None:
        _limit_to(draft)
    elif not requested:
        limit_history(
            draft, "a response holds nothing of what was said before it", "Log the requests as well."
        )


def _limit_to(draft: Draft) -> None:
    reason = "the history is kept on the server, and only referred to"
    limit_history(draft, reason, "Export the items of the earlier responses or of the conversation as well.")


def prompt(request: Part, dialogue: Dialogue, draft: Draft) -> None:
    """Read the `instructions` of a body."""
    given = request.value.get("instructions")
    if type(given) is str and given:
        dialogue.turn("system", given, f"{request.loc()}.instructions", said=False)
    elif type(given) is list:
        Items(request.at("instructions"), dialogue, draft).read()


def converse(messages: Part, dialogue: Dialogue, draft: Draft) -> int:
    """Read a list of items, or the text that stands for one, into a dialogue; how many could be read."""
    return Items(messages, dialogue, draft).read()


def reply(body: Part, dialogue: Dialogue, draft: Draft) -> int:
    """Read the output items of a response body into a dialogue; how many could be read."""
    if not isinstance(body.value.get("output"), list):
        draft.note("message_unreadable", body.loc(), "the response has no list of output items")
        return 0
    if body.value.get("stream") == "cut":
        draft.note("stream_cut", body.loc(), "the stream ends before the response does")
    return Items(body.at("output"), dialogue, draft).read()


def assembled(events: list[Any]) -> dict[str, Any]:
    """A streamed response as a body: the last that the events hold as a whole, else the items that were finished."""
    body: dict[str, Any] = {"object": "response"}
    done: dict[Any, Any] = {}
    texts: dict[Any, list[str]] = {}
    for event in events:
        if not isinstance(event, dict):
            continue
        kind, index = event.get("type"), event.get("output_index")
        index = index if type(index) is int else None
        if isinstance(event.get("response"), dict):
            if isinstance(kind, str) and kind in _ENDS and isinstance(event["response"].get("output"), list):
                return {**event["response"], "object": "response"}
            body |= event["response"]
        elif kind == "response.output_item.done":
            done[index] = event.get("item")
        elif kind == "response.output_text.delta" and isinstance(event.get("delta"), str):
            texts.setdefault(index, []).append(event["delta"])
    for index, found in texts.items():
        if index not in done:
            part = {"type": "output_text", "text": "".join(found)}
            done[index] = {"type": "message", "role": "assistant", "content": [part]}
    return body | {"output": list(done.values()), "stream": "cut"}
