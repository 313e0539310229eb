"""Assertions: what must hold. One module a kind, found by name and imported when a document uses it."""

from __future__ import annotations

import importlib

from averment.assertions.base import Assertion

__all__ = ["KINDS", "kind"]

KINDS = {
    "phrase": "Phrase",
    "pii": "Pii",
    "policy": "Policy",
    "tool_call": "ToolCall",
    "tool_result": "ToolResult",
    "tool_error": "ToolError",
    "http_result": "HttpResult",
    "outcome": "Outcome",
    "state": "State",
    "state_change": "StateChange",
    "handoff": "Handoff",
    "dtmf": "Dtmf",
    "termination": "Termination",
    "latency": "Latency",
    "timing_contract": "TimingContract",
    "entity_accuracy": "EntityAccuracy",
    "sequence": "Sequence",
    "count": "Count",
    "order": "Order",
    "claim": "Claim",
    "formula": "Formula",
    "human_rubric": "HumanRubric",
    "judge_rubric": "JudgeRubric",
}
"""Every kind, in the order of the reference; the kind `x` is the class named here in the module `x`."""


def kind(name: str) -> type[Assertion]:
    """The class of the kind of that name.

    Raises:
        KeyError: there is no such kind.
    """
    module = importlib.import_module(f"averment.assertions.{name}") if name in KINDS else None
    cls: type[Assertion] = getattr(module, KINDS[name])
    return cls
