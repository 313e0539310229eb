from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

Fixture = Callable[..., Any]

PII = ("4111 1111 1111 1111", "123-45-6789", "jane.roe@example.com", "415-555-0123")
PLANTED = f"xyzzy {' / '.join(PII)}"
TRACE: list[dict[str, Any]] = [
    {"type": "tool_call", "name": "t", "span_id": PLANTED, "error": {PLANTED: [PLANTED]}, "message": PLANTED},
    {"type": "tool_timeout", "name": "t", "span_id": f"timeout {PLANTED}", "error_message": PLANTED},
    {"type": "http_exchange", "method": "GET", "url": PLANTED, "status_code": 500, "response": {PLANTED: 1}},
    {"type": "http_exchange", "method": "GET", "url": "/a", "status_code": PLANTED, "response": PLANTED},
    {"type": "handoff", "to": PLANTED, "span_id": f"handoff {PLANTED}"},
    {"type": "hangup", "reason": PLANTED, "by": {PLANTED: 4111111111111111}},
    {"type": "dtmf", "digits": PLANTED},
]
LOOKING: list[dict[str, Any]] = [
    {"kind": "tool_error", "name": "t"},
    {"kind": "tool_error", "name": "t", "error_matches": "nothing"},
    {"kind": "tool_error", "name": "missing"},
    {"kind": "http_result", "method": "GET", "url_matches": "a", "status": 500},
    {"kind": "http_result", "method": "GET", "url_matches": "a", "status": 200, "response": {"a": 1}},
    {"kind": "http_result", "method": "GET", "url_matches": "^/a", "status": 200, "response_exact": {}},
    {"kind": "handoff"},
    {"kind": "handoff", "to": "nobody"},
    {"kind": "termination"},
    {"kind": "termination", "reason": "nothing"},
    {"kind": "dtmf", "digits": "4111"},
    {"kind": "dtmf", "digits": "999"},
]


@pytest.mark.parametrize("absent", [True, False])
def test_no_personal_data_of_spans_leaves(judge: Fixture, absent: bool) -> None:
    """Whatever a kind that looks for spans finds, its grounds and reasons are clean; public ones quote nothing."""
    results = judge([{**asked, "absent": absent} for asked in LOOKING], trace=TRACE)
    assert {result["status"] for result in results} == {"PASS", "FAIL"}
    for result in results:
        written = json.dumps(result)
        assert [secret for secret in (*PII, "4111111111111111") if secret in written] == []
        assert "xyzzy" not in result.get("public_reason", "")


def test_a_reason_names_the_first_few_of_many(judge: Fixture) -> None:
    """All of them are grounds."""
    trace = [{"type": "handoff", "to": f"team {number}"} for number in range(9)]
    result = judge({"kind": "handoff", "absent": True}, trace=trace)
    assert result["reason"].endswith("and does: s_0, s_1, s_2, s_3, s_4")
    assert len(result["span_ids"]) == 9


def test_spans_are_taken_in_the_order_of_time(judge: Fixture) -> None:
    """Difference 15: where all have trusted times, those decide what came first."""
    trace = [{"type": "handoff", "to": "b", "time_sec": 2}, {"type": "handoff", "to": "a", "time_sec": 1}]
    assert judge({"kind": "handoff", "to": "c"}, trace=trace)["reason"].endswith('handed to "a", "b"')
