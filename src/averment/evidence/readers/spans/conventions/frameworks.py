"""What frameworks write in attributes of their own: Google's ADK, the AI SDK, pydantic-ai, Langfuse, MCP clients."""

from __future__ import annotations

from typing import Any

from averment.evidence.readers.spans.conventions.messages import Item, Messages, list_of
from averment.evidence.readers.spans.record import SpanRecord, first_of, text_of

__all__ = ["HOW", "kind", "messages", "tool"]

HOW = {
    "gcp.vertex.agent.": "Set ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true in the agent's process.",
    "ai.": "Set recordInputs and recordOutputs to true in experimental_telemetry.",
    "pydantic_ai.": "Set include_content=True in InstrumentationSettings.",
    "logfire.": "Set include_content=True in InstrumentationSettings.",
}

_ADK = "gcp.vertex.agent."
_LANGFUSE = "langfuse.observation."
_LANGFUSE_KINDS = {
    "generation": "llm",
    "tool": "tool_call",
    **{each: each for each in ("agent", "retriever", "guardrail")},
    **dict.fromkeys(("span", "chain", "event", "embedding", "evaluator"), "other"),
}
_VERCEL_KINDS = (
    "ai.generateText",
    "ai.streamText",
    "ai.generateObject",
    "ai.streamObject",
)


def kind(record: SpanRecord) -> str | None:
    """What the span is, where one of these says so."""
    attrs, name = record.attrs, record.name
    operation = text_of(attrs.get("ai.operationId"))
    if operation == "ai.toolCall":
        return "tool_call"
    if operation.startswith(_VERCEL_KINDS):
        return "llm"
    observed = text_of(attrs.get(f"{_LANGFUSE}type"))
    if observed in _LANGFUSE_KINDS:
        return _LANGFUSE_KINDS[observed]
    method = attrs.get("mcp.method.name")
    if type(method) is str:
        return "tool_call" if method == "tools/call" else "other"
    if f"{_ADK}llm_request" in attrs and name == "call_llm":
        return "llm"
    if name.startswith(("execute_tool ", "running tool: ")) or name == "running tool":
        return None if "(merged tools)" in name else "tool_call"
    if "tool_arguments" in attrs and "gen_ai.tool.name" in attrs:
        return "tool_call"
    if name.startswith(("invoke_agent ", "agent_run ")) or name == "agent run":
        return "agent"
    return None


def messages(record: SpanRecord, reader: Messages) -> tuple[list[Item] | None, list[Item] | None]:
    """What the model was given and what it gave back; None for what is not shown."""
    attrs = record.attrs
    if f"{_ADK}llm_request" in attrs or f"{_ADK}llm_response" in attrs:
        return _adk(record, reader)
    if text_of(attrs.get("ai.operationId")).startswith(_VERCEL_KINDS):
        return _vercel(record, reader)
    if f"{_LANGFUSE}type" in attrs:
        return _langfuse(record, reader)
    return _pydantic(record, reader)


def _langfuse(record: SpanRecord, reader: Messages) -> tuple[list[Item] | None, list[Item] | None]:
    found: list[list[Item] | None] = []
    for key, role in (("input", "user"), ("output", "assistant")):
        value = reader.decoded(record.attrs.get(f"{_LANGFUSE}{key}"), record.loc)
        listed = list_of(value)
        if listed is None and type(value) is str and value.strip():
            listed = [{"role": role, "content": value}]
        found.append(None if listed is None else reader.items(listed, record.loc, role))
    return found[0], found[1]


def _adk(record: SpanRecord, reader: Messages) -> tuple[list[Item] | None, list[Item] | None]:
    request = reader.decoded(record.attrs.get(f"{_ADK}llm_request"), record.loc)
    response = reader.decoded(record.attrs.get(f"{_ADK}llm_response"), record.loc)
    given = gave = None
    if type(request) is dict and type(request.get("contents")) is list:
        config = request.get("config")
        system = config.get("system_instruction") if type(config) is dict else None
        told = [{"role": "system", "content": system}] if system else []
        given = reader.items([*told, *request["contents"]], record.loc, "user")
    if (
        type(response) is dict
        and type(response.get("content")) is dict
        and response.get("partial") is not True
    ):
        gave = reader.items([response["content"]], record.loc, "model")
    return given, gave


def _vercel(record: SpanRecord, reader: Messages) -> tuple[list[Item] | None, list[Item] | None]:
    attrs, loc = record.attrs, record.loc
    given = gave = None
    listed = reader.decoded(attrs.get("ai.prompt.messages"), loc)
    whole = reader.decoded(attrs.get("ai.prompt"), loc)
    if type(listed) is list:
        given = reader.items(listed, loc, "user")
    elif type(whole) is dict:
        told = [{"role": "system", "content": whole["system"]}] if whole.get("system") else []
        prompt = whole.get("prompt")
        said = list_of(whole) or list_of(prompt) or ([{"role": "user", "content": prompt}] if prompt else [])
        given = reader.items([*told, *said], loc, "user")
    for prefix in ("ai.response.", "ai.result."):
        text = attrs.get(f"{prefix}text") or attrs.get(f"{prefix}object")
        calls = reader.decoded(attrs.get(f"{prefix}toolCalls"), loc)
        if gave is None and (type(text) is str or type(calls) is list):
            message = {"role": "assistant", "content": text, "tool_calls": calls}
            gave = reader.items([message], loc)
    return given, gave


def _pydantic(record: SpanRecord, reader: Messages) -> tuple[list[Item] | None, list[Item] | None]:
    """pydantic-ai's lists of messages: of the whole run on its span, or as events in an attribute of a model call's."""
    attrs, loc = record.attrs, record.loc
    for key in ("pydantic_ai.all_messages", "all_messages_events", "events"):
        listed = reader.decoded(attrs.get(key), loc)
        if type(listed) is list and all(type(each) is dict for each in listed):
            choices = [each for each in listed if each.get("event.name") == "gen_ai.choice"]
            given = [each for each in listed if each.get("event.name") != "gen_ai.choice"]
            gave = reader.items(choices, loc, "assistant") if choices else None
            if key == "events" and not choices and not any("role" in each for each in given):
                continue
            return reader.items(given, loc, "user"), gave
    return None, None


def tool(record: SpanRecord, _reader: Messages) -> dict[str, Any]:
    """The call that a span executes, as far as one of these shows it."""
    attrs = record.attrs
    found = {
        "name": attrs.get("ai.toolCall.name"),
        "own": attrs.get("ai.toolCall.id"),
        "arguments": first_of(attrs, _ARGUMENTS),
        "result": first_of(attrs, _RESULTS),
    }
    if found["name"] is None and attrs.get("mcp.method.name") == "tools/call":
        found["name"] = text_of(first_of(attrs, _MCP_NAMES)) or record.name.partition(" ")[2] or None
    if found["name"] is None and record.name.startswith(("execute_tool ", "running tool: ")):
        found["name"] = record.name.split(" ", 1)[1].removeprefix("tool: ")
    if found["name"] is None and attrs.get(f"{_LANGFUSE}type") == "tool":
        found["name"] = record.name or None
    return {key: value for key, value in found.items() if value is not None and value not in _WITHHELD}


_ARGUMENTS = (
    *(
        "ai.toolCall.args",
        "ai.toolCall.input",
        f"{_ADK}tool_call_args",
        "tool_arguments",
    ),
    *(
        "mcp.tool.arguments",
        "mcp.tool.call.arguments",
        "mcp.request.arguments",
        f"{_LANGFUSE}input",
    ),
)
_RESULTS = (
    *(
        "ai.toolCall.result",
        "ai.toolCall.output",
        f"{_ADK}tool_response",
        "tool_response",
    ),
    *("mcp.tool.result", "mcp.tool.call.result", f"{_LANGFUSE}output"),
)
_MCP_NAMES = ("mcp.tool.name", "mcp.request.name")

_WITHHELD = ("N/A", "<not serializable>", "<not specified>")
"""What ADK writes where there is nothing that it can write."""
