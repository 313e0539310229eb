"""OpenInference, the attributes of Arize and Phoenix: `llm.input_messages.N.message.…`, `tool.name`, `input.value`.

A tool's arguments are its `input.value` where that is a JSON object, else `tool.parameters`, which some
instrumentations fill with the schema instead; a value of `__REDACTED__` was hidden by the instrumentation.
"""

from __future__ import annotations

from typing import Any

from averment.evidence.readers.spans.conventions.messages import Item, Messages, list_of
from averment.evidence.readers.spans.record import SpanRecord, first_of, text_of

__all__ = ["HOW", "kind", "messages", "tool"]

HOW = (
    "Don't hide inputs and outputs: unset OPENINFERENCE_HIDE_INPUTS, OPENINFERENCE_HIDE_OUTPUTS and the variables "
    "for messages and texts, or the hide_* fields of TraceConfig."
)

_KINDS = {
    "LLM": "llm",
    "TOOL": "tool_call",
    "AGENT": "agent",
    "RETRIEVER": "retriever",
    "GUARDRAIL": "guardrail",
    **dict.fromkeys(("CHAIN", "EMBEDDING", "RERANKER", "EVALUATOR", "PROMPT"), "other"),
}


def kind(record: SpanRecord) -> str | None:
    """What the span is, where these conventions say so."""
    named = text_of(record.attrs.get("openinference.span.kind")).upper()
    if named == "TOOL" and record.name.startswith("handoff to ") and "tool.name" not in record.attrs:
        return "handoff"  # so the instrumentation of the OpenAI Agents SDK has it
    return _KINDS.get(named)


def messages(record: SpanRecord, reader: Messages) -> tuple[list[Item] | None, list[Item] | None]:
    """What the model was given and what it gave back; None for what is not shown."""
    attrs, span_kind = record.attrs, kind(record)
    if span_kind not in ("llm", "agent"):
        return None, None
    given = _indexed(record, "llm.input_messages", "user", reader)
    gave = _indexed(record, "llm.output_messages", "assistant", reader)
    if given is None:
        given = _value(attrs, "input", "user", record, reader)
    if gave is None:
        gave = _value(attrs, "output", "assistant", record, reader)
    return given, gave


def _indexed(record: SpanRecord, prefix: str, role: str, reader: Messages) -> list[Item] | None:
    listed = reader.numbered(record, prefix)
    return None if listed is None else reader.items(listed, record.loc, role)


def _value(
    attrs: dict[str, Any], prefix: str, role: str, record: SpanRecord, reader: Messages
) -> list[Item] | None:
    """What stands in `input.value` or `output.value`: messages, or for plain text of an agent what was said."""
    value = attrs.get(f"{prefix}.value")
    if type(value) is not str or not value.strip():
        return None
    found = reader.decoded(value, record.loc)
    listed = list_of(found)
    if listed and all(type(each) is dict and "role" in each for each in listed):
        return reader.items(listed, record.loc, role)
    is_plain = found is value and attrs.get(f"{prefix}.mime_type", "text/plain") == "text/plain"
    return reader.items([{"role": role, "content": value}], record.loc) if is_plain else None


_CALL_IDS = ("tool_call.id", "tool.call.id", "tool.id", "tool.call_id")


def tool(record: SpanRecord, reader: Messages) -> dict[str, Any]:
    """The call that a span executes, as far as these conventions show it."""
    attrs = record.attrs
    if "openinference.span.kind" not in attrs:
        return {}
    given = reader.decoded(attrs.get("input.value"), record.loc)
    parameters = attrs.get("tool.parameters")
    doubtful = type(given) is not dict
    if doubtful and type(parameters) in (str, dict) and parameters:
        given = parameters
    result = reader.decoded(attrs.get("output.value"), record.loc)
    if type(result) is dict and result.get("type") == "tool" and "content" in result:
        result = result["content"]  # LangChain's message to the model, with the result in it
    found = {
        "name": attrs.get("tool.name") or record.name or None,
        "own": first_of(attrs, _CALL_IDS),
        "arguments": given,
        "result": result,
        "doubtful": doubtful or None,
    }
    return {key: value for key, value in found.items() if value is not None}
