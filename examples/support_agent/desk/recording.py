"""What is recorded of one call: turns, spans and the shop's records before and after, as a conversation record.

Time is made up: a word takes a third of a second. So the same call is the same bytes, wherever it is produced.
"""

from __future__ import annotations

import copy
import json
from typing import Any

WORD_S = 0.35
PAUSE_S = 0.6


class Recording:
    """One call while it goes on."""

    def __init__(self, name: str, labels: dict[str, str], records: dict[str, list[dict[str, Any]]]) -> None:
        self._name = name
        self._labels = labels
        self._records = records
        self._before = copy.deepcopy(records)
        self._turns: list[dict[str, Any]] = []
        self._spans: list[dict[str, Any]] = []
        self._now = 0.0

    def say(self, role: str, text: str) -> None:
        """Somebody speaks."""
        start = self._pass(PAUSE_S)
        end = self._pass(WORD_S * len(text.split()))
        self._turns.append({"role": role, "text": text, "start": start, "end": end})

    def call(self, name: str, arguments: dict[str, Any], *, seconds: float, **outcome: Any) -> None:
        """A tool was called; `outcome` is its `result`, or its `error`, and its `attempt`."""
        start = self._pass(0.1)
        end = self._pass(seconds)
        span = {"type": "tool_call", "name": name, "start_sec": start, "end_sec": end, "arguments": arguments}
        self._spans.append({**span, **outcome})

    def event(self, kind: str, **fields: str) -> None:
        """Something else happened, such as a handoff."""
        self._spans.append({"type": kind, "time_sec": self._pass(0.1), **fields})

    def to_json(self) -> str:
        """The conversation record."""
        states = {name: {"before": self._before[name], "after": rows} for name, rows in self._records.items()}
        record = {
            "conversation_id": self._name,
            "labels": self._labels,
            "transcript": self._turns,
            "spans": self._spans,
            "state": states,
        }
        return json.dumps(record, indent=1) + "\n"

    def _pass(self, seconds: float) -> float:
        self._now = round(self._now + seconds, 3)
        return self._now
