"""What tests of mapping files share: small mappings, items to read by them, and the samples."""

from __future__ import annotations

import json
from typing import Any

from averment.evidence import Evidence
from averment.evidence.mapping import (
    Mapping,
    mapped,
)
from samples import sample

SAMPLES = {"acme": "acme.json", "rows": "rows.jsonl", "messages": "messages.jsonl"}

TURNS = {"where": {"/is": "turn"}, "role": "/who", "text": "/text"}
CALLS = {"where": {"/is": "call"}, "name": "/tool", "arguments": "/args"}
EVERY_CALL_CHANNEL = ("requests", "executions", "results", "errors")


def mapping(**fields: Any) -> Mapping:
    """A mapping with these fields, of a list of items."""
    return Mapping.of({"version": 1, "name": "m", "lines": "items", **fields})


def read(items: Any, **fields: Any) -> Evidence:
    """The evidence of one conversation of these items, by a mapping with these fields."""
    return Evidence.from_bytes(json.dumps(items).encode(), from_format=mapped(mapping(**fields)))


def turn(who: str = "user", text: Any = "hello", **more: Any) -> dict[str, Any]:
    """An item that is an utterance."""
    return {"is": "turn", "who": who, "text": text, **more}


def call(tool: str = "refund", **more: Any) -> dict[str, Any]:
    """An item that is a call."""
    return {"is": "call", "tool": tool, "args": {"order": "A-17"}, **more}


def loaded(name: str) -> list[Evidence]:
    """The conversations of a sample, by its mapping."""
    form = mapped(Mapping.load(sample(f"mapping/{name}.yaml")))
    return Evidence.load_all(sample(f"mapping/{SAMPLES[name]}"), from_format=form)


def state(evidence: Evidence, channel: str) -> str:
    """The state of a channel."""
    found: str = getattr(evidence.model.coverage, channel).state
    return found


def notes(evidence: Evidence, code: str) -> list[str]:
    """What notes of that code say."""
    return [note.detail for note in evidence.model.notes if note.code == code]
