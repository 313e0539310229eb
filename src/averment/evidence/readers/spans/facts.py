"""What the spans of a conversation say of it as a whole: traces, services, models, agents and tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from averment.evidence.readers.spans.conventions import Reading
from averment.evidence.readers.spans.record import text_of
from averment.evidence.readers.spans.tree import Tree

__all__ = ["facts"]

_MODELS = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "ai.model.id")
_AGENTS = ("gen_ai.agent.name", "agent.name", "agent_name")
_TOKENS = {
    "input_tokens": (
        *("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"),
        *("ai.usage.promptTokens", "ai.usage.inputTokens"),
    ),
    "output_tokens": (
        *("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion"),
        *("ai.usage.completionTokens", "ai.usage.outputTokens"),
    ),
}


def facts(tree: Tree, readings: Sequence[Reading]) -> dict[str, Any]:
    """The metadata of a conversation. Tokens are the sum over model calls, each counted once."""
    named: dict[str, dict[str, None]] = {}
    tokens: dict[str, int] = {}
    for index, record in enumerate(tree.records):
        found = (
            ("models", record.text(_MODELS)),
            ("agents", record.text(_AGENTS)),
            ("trace_ids", record.trace_id),
            ("services", text_of(record.resource.get("service.name"))),
        )
        for name, value in found:
            if value:
                named.setdefault(name, {})[value] = None
        if readings[index].kind == "llm" and tree.same_as[index] is None:
            for name, keys in _TOKENS.items():
                counts = [count for key in keys if type(count := record.attrs.get(key)) is int]
                if counts:
                    tokens[name] = tokens.get(name, 0) + counts[0]
    return {**{name: [*values] for name, values in named.items()}, **tokens}
