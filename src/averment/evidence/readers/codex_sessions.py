"""Codex rollouts: JSONL of `{timestamp, type: session_meta | response_item | event_msg | …, payload}`.

A `response_item` holds an item of the Responses API; the events beside it tell the same in other words and are left
out. What the client puts into the conversation under the user's role (the environment, instructions) is not said.

Known gaps: the exit code in a shell command's output is not read as a failure.
"""

from __future__ import annotations

from typing import Any

from averment.evidence.draft import Draft, Part, kind_of
from averment.evidence.readers.dialogue import Dialogue
from averment.evidence.readers.messages import Limits, finish, limit_history
from averment.evidence.readers.response_items import Items
from averment.evidence.readers.shortfalls import UNKNOWN_TYPE
from averment.evidence.times import instant

__all__ = ["is_session", "read"]

_TRIED = 20
_TYPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_INJECTED = ("<environment_context>", "<user_instructions>", "<permissions instructions>", "# AGENTS.md")
_LIMITS = Limits(
    tools="Keep the whole rollout file.",
    failures="Codex doesn't flag a call that failed: look at what it answered.",
    writes_arguments=True,
)


def is_session(value: list[Any]) -> bool:
    """Whether these are the lines of a rollout."""
    tried = value[:_TRIED]
    if not all(
        isinstance(line, dict) and isinstance(line.get("type"), str) and "payload" in line for line in tried
    ):
        return False
    return sum(line["type"] in _TYPES for line in tried) * 2 > len(tried)


def read(part: Part, dialogue: Dialogue, draft: Draft) -> None:
    """Read the lines of one session."""
    lines = part.value
    items = Items(part, dialogue, draft)
    items.expect([line.get("payload") for line in lines if isinstance(line, dict)])
    read_count = 0
    for line, loc in zip(lines, part.locs(), strict=True):
        if type(line) is not dict:
            draft.note("message_unreadable", loc, f"a line is {kind_of(line)}, so it is left out")
            continue
        kind, payload = line.get("type"), line.get("payload")
        if kind == "response_item":
            start = instant(line.get("timestamp"))
            read_count += items.item(
                payload, f"{loc}.payload", start_ns=start, said=not _is_injected(payload)
            )
        elif kind == "session_meta" and type(payload) is dict:
            if draft.conversation_id is None and type(payload.get("id")) is str:
                draft.conversation_id = payload["id"]
            draft.metadata = (draft.metadata or {}) | {"session_meta": payload}
            read_count += 1
        else:
            items.refers = items.refers or kind == "compacted"
            if kind not in _TYPES:
                draft.note(UNKNOWN_TYPE, loc, "a line is of a type that is not known, so it is left out")
            draft.drop("an event beside the items", loc)
    finish(dialogue, draft, _LIMITS, shows_tools=True, flags_some=True)
    if items.refers:
        limit_history(draft, "the history was compacted", "Export the session before it is compacted.")
    draft.account(part.source, records=len(lines), read=read_count)


def _is_injected(payload: Any) -> bool:
    """Whether a message of the user's role is the client's."""
    content = payload.get("content") if isinstance(payload, dict) else None
    first = content[0] if isinstance(content, list) and content else None
    text = first.get("text") if isinstance(first, dict) else None
    return isinstance(text, str) and text.startswith(_INJECTED) and payload.get("role") == "user"
