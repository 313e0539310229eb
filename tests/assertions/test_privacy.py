"""Nothing that a detector knows leaves, whatever the verdict, and public reasons quote no evidence at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import averment
from averment.assertions.base import safe

Fixture = Callable[..., Any]

PII = ("4111 1111 1111 1111", "123-45-6789", "jane.roe@example.com", "415-555-0123")
MARK = "xyzzy"


def planted(name: str) -> str:
    return f"{MARK} {name} {' / '.join(PII)}"


def _planted_model() -> dict[str, Any]:
    """An evidence file with personal data in every field that can hold text."""

    def span(index: int, span_type: str) -> dict[str, Any]:
        return {
            "id": planted(f"span {index}"),
            "type": span_type,
            "name": planted("name"),
            "attrs": {planted("key"): planted("value")},
            "fields": {"method": planted("method"), "url": planted("url"), "response": planted("response")},
            "loc": planted("loc"),
        }

    def called(index: int, name: str, **fields: Any) -> dict[str, Any]:
        payload = {"a": planted("argument"), planted("key"): [planted("deep"), {planted("k"): planted("v")}]}
        return {
            "id": planted(f"call {index}"),
            "name": name,
            "args": payload,
            "args_raw": planted("raw"),
            "result": payload,
            "result_raw": planted("raw"),
            "error": planted("error"),
            "status": "ok",
            "span_id": planted(f"span {index}"),
            "position": index,
            **fields,
        }

    unreadable: dict[str, Any] = {"args_error": planted("why")}
    calls = [
        called(0, "t"),
        called(1, planted("tool")),
        called(2, "open", **unreadable),
    ]
    del calls[2]["args"]
    return {
        "schema": "averment.evidence.v1",
        "conversation_id": planted("conversation"),
        "turns": [
            {
                "id": planted(f"turn {index}"),
                "role_raw": role,
                "speaker": planted("speaker"),
                "text": text,
                "loc": planted("loc"),
            }
            for index, (role, text) in enumerate(
                [(planted("role"), planted("text")), ("agent", planted("hello"))]
            )
        ],
        "calls": calls,
        "spans": [span(0, "tool_call"), span(1, planted("type")), span(2, "http_exchange")],
        "timing": [{planted("key"): planted("value")}],
        "states": [
            {"resource": "r", "rows": [{"a": planted("record"), planted("column"): planted("value")}]},
            {"resource": "broken", "rows": [], "unreadable": planted("unreadable")},
        ],
        "metadata": {planted("key"): planted("value")},
        "labels": {planted("key"): planted("value")},
        "coverage": {
            name: {"state": "present", "reason": planted("reason")}
            for name in ("transcript", "executions", "results", "http", "timing", "state")
        },
        "notes": [{"code": "c", "severity": "info", "loc": planted("loc"), "detail": planted("detail")}],
        "sources": [
            {"id": "src_0", "name": planted("file"), "format": planted("format"), "reader": planted("reader")}
        ],
    }


def phrase(regex: str, **fields: Any) -> dict[str, Any]:
    return {"kind": "phrase", "regex": regex, **fields}


def tool_call(**fields: Any) -> dict[str, Any]:
    return {"kind": "tool_call", **fields}


def tool_result(**fields: Any) -> dict[str, Any]:
    return {"kind": "tool_result", **fields}


def sequence(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "sequence", "steps": list(steps)}


def state(**fields: Any) -> dict[str, Any]:
    return {"kind": "state", "resource": "r", "expect": {"a": 1}, **fields}


def formula(expr: str) -> dict[str, Any]:
    return {"kind": "formula", "expr": expr}


NOSY = [
    phrase("nothing"),
    phrase(MARK, absent=True),
    phrase("nothing", position="first"),
    {"kind": "pii", "detectors": ["email"], "mode": "must_not_leak"},
    {"kind": "policy"},
    tool_call(name="missing"),
    tool_call(name="t", absent=True),
    tool_call(name="t", args_subset={"a": "x", "b": 1}),
    tool_call(name="t", args_exact={"a": {"$regex": MARK}}),
    tool_call(name="open", args={"a": 1}),
    tool_call(name="t", require_order=["t", "missing"], never_before={"tool": "t", "until": "missing"}),
    tool_result(name="t", result={"a": [1]}),
    tool_result(name="t", result_exact={}),
    tool_result(name="missing"),
    {"kind": "outcome", "all_of": [{"tool_called": "t"}, {"phrase": "nothing"}, {"field_present": "x"}]},
    state(),
    state(filters={"a": 1}),
    state(expect={"a": {"$len": 1}, "b": 1}),
    state(resource="broken"),
    sequence({"tool": "t"}, {"tool": "missing"}),
    sequence({"phrase": "hello"}, {"tool": "t"}),
    sequence({"tool": "open", "args_subset": {"a": 1}}),
    sequence({"http": {"response_subset": {"a": 1}}}),
    formula("a0 and a1"),
    formula("a9"),
    phrase("nothing", when="a0"),
    {"kind": "entity_accuracy", "reference": {"a": 1, "b": {"$exists": True}}},
    {"kind": "count", "tool": "t", "args_subset": {"a": {"$type": "string"}}, "count": 5},
    {"kind": "count", "phrase": MARK, "per": "occurrence", "count": 0},
    {"kind": "order", "before": "nothing", "after": "hello", "guard": True},
    {"kind": "latency", "tool": "t", "max_ms": 1},
    {"kind": "latency", "measure": "silence", "max_ms": 1},
]
"""Checks of every kind that go wrong in as many ways as there are."""


def _leaks(envelope: Any) -> list[str]:
    text = json.dumps(envelope, ensure_ascii=False)
    return [secret for secret in PII if secret in text]


@pytest.mark.parametrize("state_of_all", ["present", "truncated", "partial", "redacted", "unreadable"])
def test_no_personal_data_of_the_evidence_leaves(envelope_of: Fixture, state_of_all: str) -> None:
    """Difference 23: reasons, misses, ids, gaps and the transcript are clean, whatever the verdict."""
    model = _planted_model()
    for entry in model["coverage"].values():
        entry["state"] = state_of_all
    evidence = averment.Evidence.from_bytes(json.dumps(model).encode())
    assert all(json.dumps(model).count(secret) > 50 for secret in PII)
    envelope = envelope_of(NOSY, evidence)
    assert _leaks(envelope) == []
    assert all(result["status"] != "PASS" for result in envelope["results"])
    for result in envelope["results"]:
        assert MARK not in result["public_reason"]
        assert len(result["public_reason"]) <= 240
        assert "\n" not in result["public_reason"]


def test_no_personal_data_of_plain_evidence_leaves(envelope_of: Fixture) -> None:
    """The contract's own shapes go the same way out."""
    span = {
        "type": "tool_call",
        "name": "t",
        "span_id": planted("id"),
        "arguments": {"a": planted("argument"), planted("key"): 1},
        "result": {"a": planted("result")},
        "error": planted("error"),
        "attributes": {planted("key"): planted("value")},
    }
    envelope = envelope_of(
        NOSY,
        transcript=[{"role": planted("role"), "text": planted("text")}, {"role": "agent", "text": "hello"}],
        trace=[span, {**span, "name": planted("name"), "span_id": None}, {"type": planted("type")}],
        timing=[{planted("key"): planted("value")}],
        state={"r": [{"a": planted("record")}], "broken": planted("rows")},
        metadata={"m": planted("metadata")},
        labels={"l": planted("label")},
        conversation_id=planted("conversation"),
    )
    assert _leaks(envelope) == []


def test_numbers_are_personal_data_too(envelope_of: Fixture) -> None:
    """A card that is a JSON number is shown no more than one that is text."""
    trace = [{"type": "tool_call", "name": "t", "arguments": {"a": 4111111111111111}}]
    rows = {"r": [{"a": 4111111111111111}]}
    checks = [
        tool_call(name="t", args={"a": 1}),
        state(),
        {"kind": "entity_accuracy", "reference": {"a": 1}},
        {"kind": "latency", "field": "a", "max": 1},
    ]
    envelope = envelope_of(checks, trace=trace, state=rows, timing=rows["r"])
    assert "4111" not in json.dumps(envelope)


def test_a_card_is_not_cut_in_half_on_its_way_out(judge: Fixture) -> None:
    """Texts are cut after they are clean: half a card number is one that no detector knows."""
    for length in range(150, 210, 7):
        trace = [{"type": "tool_call", "name": "t", "arguments": {"a": "x" * length + " " + PII[0]}}]
        result = judge(tool_call(name="t", args={"a": 1}), trace=trace)
        assert "4111" not in json.dumps(result)


@pytest.mark.parametrize(
    ("name", "is_safe"),
    [
        ("issue_refund-2.x", True),
        ("two words", False),
        ("né", False),
        ("true", False),
        ("null", False),
        ("", False),
    ],
)
def test_only_safe_names_stand_in_public_reasons(name: str, is_safe: bool) -> None:
    """Section 9 of the reference: ASCII letters, digits and three signs, and no word of YAML."""
    assert safe(name) == (name if is_safe else None)
    assert safe(None) is None


def test_a_number_that_is_somebody_s_is_redacted_wherever_a_result_holds_it(
    envelope_of: Callable[..., Any],
) -> None:
    """A card number kept as a number, or as a key, is no less of one."""
    card = 4111111111111111
    rows = {"before": [{"id": 1, "n": 0}], "after": [{"id": 1, "n": {str(card): card, "small": 7}}]}
    assertion = {"kind": "state_change", "resource": "r", "field": "n", "changed": True}
    envelope = envelope_of([assertion], state={"r": rows})
    assert envelope["results"][0]["delta"]["after"] == {"[REDACTED]": "[REDACTED]", "small": 7}
