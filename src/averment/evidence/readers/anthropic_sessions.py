"""Events of Anthropic's managed-agent sessions: `{type: "user.message" | "agent.tool_use" | …, processed_at}`.

A list or JSONL of them, or of `[method, event]` lines as a client logs them. Where the log has what the server
streamed, what the client sent is the same once more, and is left out. A call that a user denies is `denied`.

Known gaps: `processed_at` is when the server took an event up: it orders events, and says nothing of how long a tool
took. Thinking and the session's own events are not read; a note counts each.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from averment.evidence.draft import Draft, Part
from averment.evidence.model import ToolCallStatus
from averment.evidence.readers.dialogue import Dialogue
from averment.evidence.readers.messages import Limits, finish, result_of, text_of
from averment.evidence.times import instant

__all__ = ["is_session", "read"]

_TRIED = 20
_SPEAKERS = frozenset({"user", "agent", "session", "span", "system"})
_REQUESTS = frozenset({"agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use"})
_ANSWERS = {
    "agent.tool_result": "tool_use_id",
    "agent.mcp_tool_result": "mcp_tool_use_id",
    "user.custom_tool_result": "custom_tool_use_id",
}
_SAID = frozenset({"user.message", "agent.message"})
_LIMITS = Limits(tools="Log all events of the session.", writes_arguments=True)


def is_session(value: list[Any]) -> bool:
    """Whether a list holds events of a session, or the log of a client that was sent them."""
    events = [event for item in value[:_TRIED] for event in _events(item)]
    kinds = [event.get("type") for event in events]
    named = [kind for kind in kinds if isinstance(kind, str) and "." in kind]
    return (
        bool(named)
        and len(named) * 2 >= len(value[:_TRIED])
        and all(kind.partition(".")[0] in _SPEAKERS for kind in named)
        and any("processed_at" in event for event in events)
    )


def _events(item: Any) -> Iterator[dict[str, Any]]:
    """The events in one line: itself, or what a method was given or sent."""
    if isinstance(item, list) and len(item) == 2 and isinstance(item[0], str) and "events" in item[0]:
        item = item[1]
        if isinstance(item, list) and item and isinstance(item[-1], dict):
            sent = item[-1].get("events")
            yield from (event for event in sent if isinstance(event, dict)) if isinstance(sent, list) else ()
            return
    if isinstance(item, dict) and isinstance(item.get("type"), str):
        yield item


class _Known(NamedTuple):
    """The calls that are denied anywhere in the log, and those that are answered."""

    denied: frozenset[str]
    answered: frozenset[str]


def read(part: Part, dialogue: Dialogue, draft: Draft) -> None:
    """Read the events of one session."""
    items, locs = part.value, part.locs()
    events = [(event, loc) for item, loc in zip(items, locs, strict=True) for event in _events(item)]
    is_streamed = any("processed_at" in event for event, _ in events)
    denied = frozenset(event["tool_use_id"] for event, _ in events if _denies(event))
    answers = [event.get(_ANSWERS[_kind(event)]) for event, _ in events if _kind(event) in _ANSWERS]
    answered = frozenset(own for own in answers if type(own) is str)
    known = _Known(denied, answered)
    read_count = 0
    for item, loc in zip(items, locs, strict=True):
        found = list(_events(item))
        if not found and _is_session_object(item):
            draft.conversation_id = item[1]["id"]
            read_count += 1
        elif not found:
            draft.drop("a line that is no event", loc)
        for event in found:
            if is_streamed and "processed_at" not in event:
                draft.drop("an event as it was sent", loc)
            else:
                read_count += _event(event, loc, dialogue, draft, known)
    finish(dialogue, draft, _LIMITS, shows_tools=True)
    draft.account(part.source, records=max(len(items), read_count), read=read_count)


def _kind(event: dict[str, Any]) -> str:
    """The type of an event, or the empty text: what a client sent may have none."""
    kind = event.get("type")
    return kind if type(kind) is str else ""


def _denies(event: dict[str, Any]) -> bool:
    is_denial = event.get("type") == "user.tool_confirmation" and event.get("result") == "deny"
    return is_denial and type(event.get("tool_use_id")) is str


def _is_session_object(item: Any) -> bool:
    """Whether a line is the session as it was created."""
    session = item[1] if isinstance(item, list) and len(item) == 2 else None
    return (
        isinstance(session, dict) and session.get("type") == "session" and isinstance(session.get("id"), str)
    )


def _event(
    event: dict[str, Any],
    loc: str,
    dialogue: Dialogue,
    draft: Draft,
    known: _Known,
) -> int:
    kind = _kind(event)
    start = instant(event.get("processed_at"))
    if kind in _SAID:
        text = text_of(event.get("content"), f"{loc}.content", draft)
        if kind == "agent.message":
            dialogue.step()
        role = kind.partition(".")[0]
        dialogue.turn(role, text, loc, own=event.get("id"), start_ns=start, clock="epoch")
    elif kind in _REQUESTS:
        name, given = event.get("name"), event.get("input")
        dialogue.request(name, given, loc, own=event.get("id"), start_ns=start, clock="epoch")
    elif kind in _ANSWERS:
        own = event.get(_ANSWERS[kind])
        result = result_of(event.get("content"), f"{loc}.content", draft)
        status: ToolCallStatus | None = "denied" if type(own) is str and own in known.denied else None
        flag = event.get("is_error")
        failed = flag if type(flag) is bool else None
        dialogue.answer(result, loc, own=own, failed=failed, status=status)
    elif _denies(event):
        if event["tool_use_id"] not in known.answered:
            reason = event.get("deny_message")
            dialogue.answer(None, loc, own=event["tool_use_id"], error=reason, status="denied")
    elif kind != "user.tool_confirmation":
        draft.drop("a reasoning part" if kind == "agent.thinking" else "an event of the session itself", loc)
        return 0
    return 1
