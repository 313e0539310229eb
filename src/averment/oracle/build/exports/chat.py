"""Rows as chat completions: one JSON object a line, with `messages` and `tools` as the API of that name has them.

There are two forms. A *conversation* is the whole gold conversation, for training and for looking at it; averment reads it
as evidence. A *prompt* is a request: what stands before the agent's first message, and nothing that tells what is
right. What the user says later is in the conversation; a harness that goes on takes it from there.

Keys that are null in a row are left out, because the API takes null for few of them. `metadata` keeps to the API's limits:
16 texts of at most 512 characters; a longer one is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile
from typing import Any, Final

from averment.text.jsontext import canonical, decode

__all__ = ["MAX_METADATA_TEXT", "chat_line", "prompt_line"]

Row = Mapping[str, Any]

MAX_METADATA_TEXT: Final = 512
"""How many characters the API takes for one text of `metadata`."""

_IDENTITY: Final = ("task_id", "pack_id", "pack_version", "tier", "seed_hex")
_LABELS: Final = ("template_id", "category", "intent", "difficulty", "turn_policy")


def chat_line(row: Row) -> dict[str, Any]:
    """The gold conversation of a row: what is said, the calls, and their results.

    `parallel_tool_calls` is true where a message has several calls, and else not there.
    """
    messages = [_message(message) for message in row["messages"]]
    line = _line(row, messages, (*_IDENTITY, *_LABELS))
    if any(len(message.get("tool_calls", ())) > 1 for message in messages):
        line["parallel_tool_calls"] = True
    return line


def prompt_line(row: Row) -> dict[str, Any]:
    """The request that starts the task of a row: all messages before the agent's first."""
    before = takewhile(lambda message: message["role"] in ("system", "user"), row["messages"])
    return _line(row, [_message(message) for message in before], _IDENTITY)


def _line(row: Row, messages: list[dict[str, Any]], keys: tuple[str, ...]) -> dict[str, Any]:
    line: dict[str, Any] = {"messages": messages}
    tools = decode(row["tools"]).value
    if tools:  # the API refuses an empty list
        line["tools"] = tools
    labels = {key: row[key] for key in keys} | {"language": row["metadata"]["language"]}
    texts = {key: _text(label) for key, label in labels.items() if label is not None}
    line["metadata"] = {key: text for key, text in texts.items() if len(text) <= MAX_METADATA_TEXT}
    return line


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in message.items() if value is not None}


def _text(label: Any) -> str:
    """A label as text: packs may use any JSON value for one."""
    return label if isinstance(label, str) else canonical(label).decode()
