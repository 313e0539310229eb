"""OpenTelemetry spans for tests, made by hand: flat ones, and the OTLP/JSON that says the same."""

from __future__ import annotations

import json
from typing import Any

from averment.evidence import Evidence

__all__ = [
    "ASK",
    "CALL",
    "DONE",
    "START",
    "TOLD",
    "answers",
    "asks",
    "chat",
    "flat",
    "message",
    "only",
    "otlp",
    "read",
    "refund",
    "span",
    "tool",
]

START = 1_700_000_000_000_000_000
"""When the first span of every conversation made here starts."""

_TRACE = "0af7651916cd43dd8448eb211c80319c"


def span(
    number: int, name: str, *, within: int | None = None, at: float = 0, took: float = 1, **more: Any
) -> dict[str, Any]:
    """A flat span; `at` and `took` are seconds since the start, `attributes` and whatever else go in as they are."""
    made: dict[str, Any] = {
        "trace_id": _TRACE,
        "span_id": f"{number:016x}",
        "parent_span_id": None if within is None else f"{within:016x}",
        "name": name,
        "start_time": START + int(at * 1e9),
        "end_time": START + int((at + took) * 1e9),
        "attributes": {},
        "status": {"code": "UNSET"},
    }
    return made | more


def message(role: str, *parts: Any) -> dict[str, Any]:
    """A GenAI message; a part that is text is a text part."""
    return {
        "role": role,
        "parts": [{"type": "text", "content": part} if isinstance(part, str) else part for part in parts],
    }


def asks(own: str | None, name: str, arguments: Any) -> dict[str, Any]:
    """The part that requests a call."""
    return {"type": "tool_call", "id": own, "name": name, "arguments": arguments}


def answers(own: str | None, response: Any) -> dict[str, Any]:
    """The part that answers one."""
    return {"type": "tool_call_response", "id": own, "response": response}


def chat(number: int, given: list[Any] | None, gave: list[Any] | None, **more: Any) -> dict[str, Any]:
    """A model call by the conventions since 1.37."""
    attributes: dict[str, Any] = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "small-1"}
    if given is not None:
        attributes["gen_ai.input.messages"] = json.dumps(given)
    if gave is not None:
        attributes["gen_ai.output.messages"] = json.dumps(gave)
    return span(number, "chat small-1", attributes=attributes | more.pop("attributes", {}), **more)


def tool(number: int, name: str, **more: Any) -> dict[str, Any]:
    """The execution of a tool; `own`, `arguments` and `result` become its attributes."""
    keys = {
        "own": "gen_ai.tool.call.id",
        "arguments": "gen_ai.tool.call.arguments",
        "result": "gen_ai.tool.call.result",
    }
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
    attributes |= {key: more.pop(given) for given, key in keys.items() if given in more}
    return span(number, f"execute_tool {name}", attributes=attributes | more.pop("attributes", {}), **more)


def read(*spans: Any, **more: Any) -> list[Evidence]:
    """The conversations that these flat spans are."""
    return Evidence.all_from_bytes(json.dumps(list(spans)).encode(), **more)


def only(*spans: Any) -> Evidence:
    """The one conversation that these flat spans are."""
    (found,) = read(*spans)
    return found


def flat(evidence: Evidence) -> list[tuple[Any, ...]]:
    """What was said and called, in order: `(role, text)` and `(name, args, status)`."""
    model = evidence.model
    turns = [(turn.seq, (turn.role, turn.text)) for turn in model.turns or ()]
    calls = [(call.seq, (call.name, call.args, call.status)) for call in model.calls or ()]
    return [thing for _, thing in sorted([*turns, *calls], key=lambda each: each[0] or 0)]


def otlp(*spans: dict[str, Any], **resource: str) -> dict[str, Any]:
    """The same spans as an OTLP/JSON request."""
    return {
        "resourceSpans": [
            {
                "resource": {"attributes": _pairs(resource)},
                "scopeSpans": [{"scope": {"name": "desk"}, "spans": [_otlp_span(each) for each in spans]}],
            }
        ]
    }


def _otlp_span(each: dict[str, Any]) -> dict[str, Any]:
    return {
        "traceId": each["trace_id"],
        "spanId": each["span_id"],
        "parentSpanId": each["parent_span_id"] or "",
        "name": each["name"],
        "kind": 1,
        "startTimeUnixNano": str(each["start_time"]),
        "endTimeUnixNano": str(each["end_time"]),
        "attributes": _pairs(each["attributes"]),
        "status": {"code": ("UNSET", "OK", "ERROR").index(each["status"]["code"])},
    }


def _pairs(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _any(value)} for key, value in attributes.items()]


def _any(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_any(each) for each in value]}}
    if isinstance(value, dict):
        return {"kvlistValue": {"values": _pairs(value)}}
    return {"stringValue": value}


ASK = message("user", "Refund order 7, please.")
CALL = message("assistant", "One moment.", asks("c1", "refund", {"order": 7}))
TOLD = message("tool", answers("c1", {"refunded": True}))
DONE = message("assistant", "It is refunded.")
"""What is said and done in a conversation about one refund."""


def refund() -> list[dict[str, Any]]:
    """A refund: an agent's run with two model calls and the execution of a tool between them."""
    return [
        span(1, "invoke_agent desk", at=0, took=9, attributes={"gen_ai.operation.name": "invoke_agent"}),
        chat(2, [message("system", "Be kind."), ASK], [CALL], within=1, at=1),
        tool(3, "refund", own="c1", arguments='{"order":7}', result='{"refunded":true}', within=1, at=3),
        chat(4, [message("system", "Be kind."), ASK, CALL, TOLD], [DONE], within=1, at=5),
    ]
