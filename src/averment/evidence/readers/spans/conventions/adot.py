"""AWS' distribution of OpenTelemetry, which moves messages from attributes to the body of an event.

The body is `{input: {messages}, output: {messages}}`, each message `{role, content}`. For OpenInference's LangChain
instrumentation the content of an output is JSON: generations of a model, or the message in which a tool answers.
"""

from __future__ import annotations

from typing import Any

from averment.evidence.readers.spans.conventions.messages import Item, Messages, list_of
from averment.evidence.readers.spans.record import SpanRecord
from averment.text import jsontext

__all__ = ["kind", "messages", "tool"]


def kind(record: SpanRecord) -> str | None:
    """What the span is, by what its output is."""
    body = _body(record)
    if body is None:
        return None
    content = _content(body, "output")
    if type(content) is str and content.lstrip()[:1] == "{":
        try:
            content = jsontext.decode(content).value
        except jsontext.JSONProblem:
            return None
    if type(content) is dict and "generations" in content:
        return "llm"
    return "tool_call" if _is_answer(content) else None


def messages(record: SpanRecord, reader: Messages) -> tuple[list[Item] | None, list[Item] | None]:
    """What the model was given and what it gave back; None for what is not shown."""
    body = _body(record)
    if body is None:
        return None, None
    return _read(body, "input", "user", record, reader), _read(body, "output", "assistant", record, reader)


def tool(record: SpanRecord, reader: Messages) -> dict[str, Any]:
    """The call that a span executes, from the message in which the tool answers."""
    body = _body(record)
    answer: Any = None if body is None else reader.decoded(_content(body, "output"), record.loc)
    if body is None or not _is_answer(answer):
        return {}
    found = {
        "name": answer.get("name"),
        "own": answer.get("tool_call_id"),
        "arguments": reader.decoded(_content(body, "input"), record.loc),
        "result": answer.get("content"),
    }
    found["doubtful"] = type(found["arguments"]) is not dict or None
    return {key: value for key, value in found.items() if value is not None}


def _body(record: SpanRecord) -> dict[str, Any] | None:
    for event in record.events:
        body = event.body
        if type(body) is dict and (type(body.get("output")) is dict or type(body.get("input")) is dict):
            return body
    return None


def _messages(body: dict[str, Any], key: str) -> list[Any]:
    return list_of(body.get(key)) or []


def _content(body: dict[str, Any], key: str) -> Any:
    listed = _messages(body, key)
    return listed[-1].get("content") if listed and type(listed[-1]) is dict else None


def _is_answer(content: Any) -> bool:
    return type(content) is dict and content.get("type") == "tool" and "content" in content


def _read(
    body: dict[str, Any], key: str, role: str, record: SpanRecord, reader: Messages
) -> list[Item] | None:
    found: list[Any] = []
    for message in _messages(body, key):
        if type(message) is not dict:
            continue
        content = reader.decoded(message.get("content"), record.loc)
        if type(content) is dict and type(content.get("content")) in (str, list):
            content = reader.decoded(content["content"], record.loc)  # Strands writes content in content
        if type(content) is dict and type(content.get("generations")) is list:
            found += _generations(content["generations"])
        elif type(content) in (str, list):
            found.append({**message, "content": content})
        elif content is not None:
            reader.draft.drop("a message in the words of a framework", record.loc)
    return reader.items(found, record.loc, role) if found else None


def _generations(prompts: list[Any]) -> list[Any]:
    """The first generation for each prompt, as a chat message."""
    found = []
    for choices in prompts:
        choice = choices[0] if type(choices) is list and choices else choices
        if type(choice) is dict:
            message = choice.get("message")
            fields = message if type(message) is dict else {}
            inner = fields.get("kwargs") if type(fields.get("kwargs")) is dict else fields
            calls = inner.get("tool_calls") if type(inner) is dict else None
            found.append({"role": "assistant", "content": choice.get("text"), "tool_calls": calls})
    return found
