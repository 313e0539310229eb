"""OpenTelemetry's semantic conventions for GenAI, in all three generations of messages.

Since 1.37 messages are attributes, of the span or of its event `gen_ai.client.inference.operation.details`; from 1.28
to 1.36 each is an event or a log record; before, and in OpenLLMetry's (Traceloop's) spans, they are attributes
`gen_ai.prompt.N.…` and `gen_ai.completion.N.…`. Versions are not looked at, only which keys are there.
"""

from __future__ import annotations

from typing import Any

from averment.evidence.readers.calls import parsed
from averment.evidence.readers.spans.conventions.messages import Item, Messages, list_of
from averment.evidence.readers.spans.record import Event, SpanRecord, first_of, text_of

__all__ = ["HOW", "kind", "messages", "tool"]

HOW = (
    "Set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true (SPAN_AND_EVENT from semantic conventions 1.37 on; "
    "TRACELOOP_TRACE_CONTENT=true for OpenLLMetry) in the agent's process."
)

_KINDS = {
    **dict.fromkeys(("chat", "text_completion", "generate_content", "completion"), "llm"),
    **dict.fromkeys(("execute_tool", "tool_call"), "tool_call"),
    **dict.fromkeys(("invoke_agent", "invoke_workflow"), "agent"),
    **dict.fromkeys(("agent_handoff", "handoff"), "handoff"),
    **dict.fromkeys(("retrieval", "search"), "retriever"),
    **dict.fromkeys(("create_agent", "embeddings"), "other"),
}
_TRACELOOP_KINDS = {"tool": "tool_call", "agent": "agent", "workflow": "other", "task": "other"}
_MERGED = "(merged tools)"
"""What Google's ADK calls the span around tools that ran at once."""


def kind(record: SpanRecord) -> str | None:
    """What the span is, where these conventions say so."""
    attrs = record.attrs
    if text_of(attrs.get("gen_ai.tool.name")) == _MERGED:
        return "other"
    operation = attrs.get("gen_ai.operation.name")
    if type(operation) is str and operation in _KINDS:
        return _KINDS[operation]
    if "gen_ai.handoff.to_agent" in attrs:
        return "handoff"
    traceloop = attrs.get("traceloop.span.kind")
    if type(traceloop) is str and traceloop in _TRACELOOP_KINDS:
        return _TRACELOOP_KINDS[traceloop]
    if attrs.get("llm.request.type") in ("chat", "completion"):
        return "llm"
    if "gen_ai.prompt.0.role" in attrs or "gen_ai.prompt" in attrs or "gen_ai.completion.0.role" in attrs:
        return "llm"
    for event in record.events:
        if event.name in _SAID or event.name == _DETAILS:
            return "llm"
    return None


_DETAILS = "gen_ai.client.inference.operation.details"
_SAID = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
    "gen_ai.choice": "assistant",
}


def messages(record: SpanRecord, reader: Messages) -> tuple[list[Item] | None, list[Item] | None]:
    """What the model was given and what it gave back; None for what is not shown."""
    given, gave = _attributes(record.attrs, record.loc, reader)
    if given is None and gave is None:
        for event in record.events:
            if event.name == _DETAILS:
                body = event.body if type(event.body) is dict else {}
                given, gave = _attributes({**body, **event.attrs}, record.loc, reader)
    if given is None and gave is None:
        given, gave = _events(record, reader)
    if given is None:
        given = _indexed(record, "gen_ai.prompt", "user", reader)
    if gave is None:
        gave = _indexed(record, "gen_ai.completion", "assistant", reader)
    return given, gave


def _attributes(
    attrs: dict[str, Any], loc: str, reader: Messages
) -> tuple[list[Item] | None, list[Item] | None]:
    given: list[Item] | None = None
    system = reader.decoded(attrs.get("gen_ai.system_instructions"), f"{loc}.attributes")
    if system:
        parts = system if type(system) is list else [system]
        given = reader.items([{"role": "system", "parts": parts}], loc)
    for key, role in (("gen_ai.input.messages", "user"), ("gen_ai.output.messages", "assistant")):
        listed = list_of(reader.decoded(attrs.get(key), f"{loc}.attributes"))
        if listed is None:
            if text := text_of(attrs.get(key)):
                _, problem = parsed(text, loc, reader.draft)
                if problem == "json_truncated":
                    reader.draft.note("messages_cut", loc, "an attribute of messages ends in the middle")
                else:
                    reader.draft.note("messages_unreadable", loc, "an attribute of messages holds none")
            continue
        items = reader.items(listed, loc, role)
        if role == "assistant":
            return given, items
        given = [*(given or ()), *items]
    return given, None


def _events(record: SpanRecord, reader: Messages) -> tuple[list[Item] | None, list[Item] | None]:
    """Messages that are events each; a tool's execution has its arguments and result in the same events."""
    given: list[Item] = []
    gave: list[Item] = []
    seen = False
    for event in record.events:
        role = _SAID.get(event.name)
        if role is not None:
            message = _message_of(event, record.loc, reader)
            content = message.get("content", message.get("parts", message.get("tool_calls")))
            if content is None and type(message.get("message")) is not dict:
                continue  # content is not captured
            seen = True
            if event.name == "gen_ai.choice" and message.get("index") not in (None, 0, "0"):
                reader.draft.drop("another choice of a model than the first", record.loc)
                continue
            items = reader.items([message], record.loc, role)
            (gave if event.name == "gen_ai.choice" else given).extend(items)
    return (given, gave) if seen else (None, None)


def _message_of(event: Event, loc: str, reader: Messages) -> dict[str, Any]:
    """The message that an event is: its body, or its attributes with structured parts as JSON text."""
    body = event.body if type(event.body) is dict else {}
    message = {**event.attrs, **body}
    for key in ("content", "tool_calls", "message"):
        if key in message:
            message[key] = _parts(message[key], loc, reader)
    if "message" in message and type(message["message"]) is not dict:
        message["content"] = message.pop("message")
    if type(body.get("content")) is str:
        message["content"] = body["content"]
    return message


def _parts(value: Any, loc: str, reader: Messages) -> Any:
    """A list of parts or an object that an attribute can hold as text only."""
    found = reader.decoded(value, loc)
    is_parts = type(found) is list and bool(found) and all(type(part) is dict for part in found)
    return found if is_parts or (type(found) is dict and found.keys() & {"content", "tool_calls"}) else value


def _indexed(record: SpanRecord, prefix: str, role: str, reader: Messages) -> list[Item] | None:
    listed = reader.numbered(record, prefix)
    if listed is None:
        whole = reader.decoded(record.attrs.get(prefix), record.loc)
        listed = list_of(whole)
        if listed is None and whole not in (None, "", {}):
            listed = [{"role": role, "content": whole}]
        if listed is None:
            return None
    found = []
    for message in listed:
        if type(message) is dict and type(message.get("content")) is str:
            found.append({**message, "content": _parts(message["content"], record.loc, reader)})
        elif type(message) is dict:
            found.append(message)
    return reader.items(found, record.loc, role)


def tool(record: SpanRecord, reader: Messages) -> dict[str, Any]:
    """The call that a span executes, as far as these conventions show it."""
    attrs = record.attrs
    found = {
        "name": attrs.get("gen_ai.tool.name")
        or attrs.get("mcp.tool.name")
        or attrs.get("traceloop.entity.name"),
        "own": attrs.get("gen_ai.tool.call.id"),
        "arguments": first_of(attrs, _ARGUMENTS),
        "result": first_of(attrs, _RESULTS),
    }
    if not found["name"] and record.name.startswith(("execute_tool ", "tools/call ")):
        found["name"] = record.name.split(" ", 1)[1]
    if found["arguments"] is None and "traceloop.entity.input" in attrs:
        found["arguments"], found["doubtful"] = _entity_input(
            reader.decoded(attrs["traceloop.entity.input"], record.loc)
        )
    if found["result"] is None and "traceloop.entity.output" in attrs:
        found["result"] = _entity_output(reader.decoded(attrs["traceloop.entity.output"], record.loc))
    for event in record.events:
        # Strands: a tool is told its arguments in a message, and gives back a choice.
        message = event.attrs
        if event.name == "gen_ai.tool.message" and found["arguments"] is None:
            found["arguments"] = message.get("content")
            found["own"] = found["own"] or message.get("id")
        elif event.name == "gen_ai.choice" and found["result"] is None:
            found["result"] = _texts_of(reader.decoded(message.get("message"), record.loc))
    return {key: value for key, value in found.items() if value is not None}


_ARGUMENTS = ("gen_ai.tool.call.arguments", "gen_ai.tool.arguments", "gen_ai.tool.args", "gen_ai.tool.input")
_RESULTS = ("gen_ai.tool.call.result", "gen_ai.tool.result", "gen_ai.tool.output")


def _entity_input(value: Any) -> tuple[Any, bool]:
    """The arguments in what OpenLLMetry calls an entity's input, and whether they may be something else."""
    if type(value) is dict:
        if type(value.get("inputs")) is dict:
            return value["inputs"], False
        if value.keys() == {"args", "kwargs"} and not value["args"]:
            return value["kwargs"], False
    return value, True


def _entity_output(value: Any) -> Any:
    if type(value) is dict and value.keys() in ({"output"}, {"output", "kwargs"}):
        value = value["output"]
    if type(value) is dict and type(value.get("kwargs")) is dict and value.get("type") == "constructor":
        value = value["kwargs"].get("content", value)
    return value


def _texts_of(value: Any) -> Any:
    """The text of a list of text blocks; any other value as it is."""
    if (
        type(value) is list
        and value
        and all(type(each) is dict and each.keys() == {"text"} for each in value)
    ):
        return "\n".join(str(each["text"]) for each in value)
    return value
