from __future__ import annotations

import json
from typing import Any

import pytest

from averment.errors import EvidenceError
from averment.evidence import Evidence

FILE: dict[str, Any] = json.loads(
    Evidence(
        transcript=[{"role": "agent", "text": "hi", "start": 1}],
        trace=[{"type": "tool_call", "name": "x"}, {"type": "tool_call", "name": "x", "attempt": 2}],
    ).to_json()
)


def load(file: dict[str, Any]) -> Evidence:
    """The evidence of a file with this content."""
    return Evidence.from_bytes(json.dumps(file).encode())


def changed(key: str, index: int, **fields: Any) -> dict[str, Any]:
    """The file with other fields in one of its items."""
    items = [{**item, **fields} if place == index else item for place, item in enumerate(FILE[key])]
    return {**FILE, key: items}


def test_a_file_is_read_as_it_was_written() -> None:
    """Reading adds no source and no id of its own."""
    assert json.loads(load(FILE).to_json()) == FILE


@pytest.mark.parametrize(
    ("file", "path"),
    [
        ({**FILE, "turns": 5}, "$.turns"),
        ({**FILE, "extra": 5}, "$"),
        (changed("turns", 0, role="secret"), "$.turns[0].role"),
        (changed("turns", 0, start_ns=10**30), "$.turns[0].start_ns"),
        (changed("turns", 0, text=None), "$.turns[0].text"),
        (changed("turns", 0, text="secret" * 200_000), "$.turns[0].text"),
        (changed("calls", 0, span_id="s_9"), "$.calls[0].span_id"),
        (changed("calls", 0, position=2), "$.calls[0].position"),
        (changed("calls", 0, position=-1), "$.calls[0].position"),
        (changed("calls", 1, retry_of="c_9"), "$.calls[1].retry_of"),
        (changed("calls", 0, latency_ms=10**300), "$.calls[0].latency_ms"),
        (changed("calls", 0, id="c_1"), "$.calls"),
        (changed("spans", 0, id="s_1"), "$.spans"),
    ],
)
def test_a_file_that_was_tampered_with_is_refused_by_place(file: dict[str, Any], path: str) -> None:
    """Wrong types, doubled ids and references to nothing are found before any verdict, and nothing is quoted."""
    with pytest.raises(EvidenceError) as error:
        load(file)
    assert path in [problem.path for problem in error.value.problems]
    assert "secret" not in str(error.value)
