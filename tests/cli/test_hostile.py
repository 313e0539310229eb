"""Whatever stands in a file: an exit code of 0, 1 or 2, no traceback, nothing leaked."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from averment.assertions import KINDS
from averment.cli.main import main
from averment.text.source import read_source

DOCUMENT = """\
version: 1
assertions:
  - {id: a, kind: phrase, regex: '(?i)refund|x*', role: agent, absent: true}
  - {id: b, kind: pii, detectors: [ssn, card_luhn, email, phone], mode: must_not_leak}
  - {id: c, kind: policy}
  - {id: d, kind: tool_call, name: t, args_subset: {a: {$gt: 1}}, count: {max: 3}}
  - {id: e, kind: tool_call, require_order: [t, u], never_before: {tool: u, until: t}}
  - {id: f, kind: tool_result, name: t, result_exact: {ok: true}}
  - {id: g, kind: outcome, any_of: [{tool_called: t}, {phrase: x, role: agent}, {field_present: a.b}]}
  - {id: h, kind: state, resource: r, filters: {k: 1}, expect: {a.b: {$exists: false}, c: [1]}}
  - {id: i, kind: sequence, steps: [{tool: t, args_subset: {a: 1}}, {span_type: handoff, absent: true}, {phrase: x}], strict: true}
  - {id: j, kind: formula, expr: a and not b or 0.5*c + d >= 1}
  - {id: k, kind: tool_error, name: t, error_matches: 'x|declined'}
  - {id: l, kind: http_result, method: POST, url_matches: '/r', status: [200, 201], response_subset: {ok: true}}
  - {id: m, kind: state_change, resource: r, field: a, from: {$exists: true}, to: 1}
  - {id: n, kind: handoff, to: human, absent: true}
  - {id: o, kind: dtmf, digits: '8675309', absent: true}
  - {id: p, kind: termination, reason: done}
  - {id: q, kind: latency, tool: t, max_ms: 10, stat: p90}
  - {id: r, kind: latency, field: a.b, max: 1}
  - {id: s, kind: latency, measure: response_gap, max_ms: 2000}
  - {id: t, kind: timing_contract, bundle: x}
  - {id: u, kind: entity_accuracy, reference: {a: 1, k: x}, require: any}
  - {id: v, kind: count, phrase: 'x+', count: {max: 2}, per: occurrence}
  - {id: w, kind: order, before: verify, after: balance, guard: true, within: {first: {seconds: 9}}}
  - {id: x, kind: claim, says: 'refund of (?P<n>\\d+)', tool: t, matches: {n: arguments.a}}
  - {id: y, kind: judge_rubric, criterion: kind}
  - {id: z, kind: phrase, regex: hi, applies_if: {labels: {a: {$gt: 1}}}}
"""
SECRETS = ("4111 1111 1111 1111", "123-45-6789", "jane@example.com", "415-555-0123")
KEYED = "90817263"
"""Digits that a caller keys in: no detector knows them, so nothing may print what was keyed."""

_SECRET = st.sampled_from(SECRETS)
_SCALAR = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | _SECRET
_KEY = st.sampled_from(
    [
        *(
            "role",
            "speaker",
            "text",
            "content",
            "message",
            "start",
            "end",
            "type",
            "name",
            "arguments",
            "result",
            "error",
        ),
        *(
            "status",
            "attributes",
            "start_sec",
            "end_sec",
            "time_sec",
            "attempt",
            "latency_ms",
            "r",
            "k",
            "a",
            "before",
        ),
        *(
            "after",
            "transcript",
            "spans",
            "trace",
            "timing",
            "state",
            "metadata",
            "labels",
            "segments",
            "events",
            "ok",
        ),
        *("conversation_id", "call_id", "schema", "_meta", "version", "assertions", "overall_score"),
    ]
)
_VALUE = st.recursive(
    _SCALAR,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEY | _SECRET, inner, max_size=5),
    max_leaves=12,
)
_TURN = st.fixed_dictionaries(
    {}, optional={"role": _VALUE, "text": st.text(max_size=9) | _SECRET, "start": _SCALAR}
)
_SPAN = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["tool_call", "tool_call", "handoff", "http_exchange", "termination"])
        | _SECRET
    },
    optional={
        "name": st.sampled_from(["t", "u"]) | _VALUE,
        "arguments": _VALUE,
        "result": _VALUE,
        "error": _VALUE,
        "status": _VALUE,
        "start_sec": _SCALAR,
        "attributes": _VALUE,
        "span_id": _SCALAR,
        "attempt": _SCALAR,
    },
)
_KEYS = st.fixed_dictionaries(
    {"type": st.just("dtmf")}, optional={"digits": st.sampled_from([KEYED, "8675309", 5])}
)
_ROWS = st.lists(st.dictionaries(st.sampled_from(["k", "a", "c", "a.b"]), _VALUE, max_size=3), max_size=3)
_CONVERSATION = st.fixed_dictionaries(
    {},
    optional={
        "conversation_id": _SCALAR,
        "transcript": st.lists(_TURN, max_size=4) | _VALUE,
        "spans": st.lists(_SPAN | _KEYS, max_size=6) | _VALUE,
        "timing": _VALUE,
        "state": st.fixed_dictionaries({}, optional={"r": _ROWS | _VALUE}) | _VALUE,
        "metadata": st.dictionaries(_KEY, _VALUE, max_size=2) | _VALUE,
    },
)


def run(capture: pytest.CaptureFixture[bytes], *args: str) -> tuple[int, bytes]:
    """Runs the command line in this process; what it said on both streams."""
    with pytest.raises(SystemExit) as done:
        main([*args])
    said = capture.readouterr()
    assert isinstance(done.value.code, int)
    return int(done.value.code), said.out + said.err


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the document."""
    (tmp_path / "d.yaml").write_text(DOCUMENT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


_BOUNDED = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@given(_CONVERSATION | _VALUE, st.sampled_from(["text", "json"]))
@_BOUNDED
def test_no_conversation_breaks_a_run_or_leaks(
    folder: Path, capfdbinary: pytest.CaptureFixture[bytes], conversation: Any, form: str
) -> None:
    """Any JSON value is judged or refused; cards, SSNs, e-mails and phones planted anywhere appear in no output."""
    (folder / "c.json").write_text(json.dumps(conversation), encoding="utf-8")
    code, said = run(capfdbinary, "run", "d.yaml", "c.json", "--format", form)
    assert code in {0, 1, 2}
    assert b"internal_error" not in said
    for secret in SECRETS:
        assert secret.encode() not in said
    assert KEYED.encode() not in said


@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
@_BOUNDED
def test_no_bytes_break_a_run(folder: Path, capfdbinary: pytest.CaptureFixture[bytes], data: bytes) -> None:
    """Any bytes, as a document or as a conversation, are refused or read."""
    (folder / "x").write_bytes(data)
    assert run(capfdbinary, "check", "x")[0] in {0, 2}
    assert run(capfdbinary, "run", "d.yaml", "x")[0] in {0, 1, 2}
    assert run(capfdbinary, "run", "d.yaml", "--trace", "x", "--state", "x", "--timing", "x")[0] in {
        0,
        1,
        2,
    }


@given(st.integers(0, len(DOCUMENT)), st.integers(0, 40), st.text(max_size=6))
@_BOUNDED
def test_no_edit_of_a_document_breaks_a_check(
    folder: Path, capfdbinary: pytest.CaptureFixture[bytes], start: int, length: int, text: str
) -> None:
    """A document with any part replaced is right or has mistakes, each with a place."""
    (folder / "x.yaml").write_text(DOCUMENT[:start] + text + DOCUMENT[start + length :], encoding="utf-8")
    code, said = run(capfdbinary, "check", "x.yaml", "--format", "json")
    report = json.load(io.BytesIO(said))["documents"][0]
    errors = [problem for problem in report["problems"] if problem.get("severity", "error") == "error"]
    assert (code == 0) == report["ok"] == (not errors)
    for problem in report["problems"]:
        assert problem["line"] >= 1
        assert problem["column"] >= 1


def test_the_document_itself_is_right(folder: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """The runs above judge something: their document has no mistake, and every kind is in it."""
    assert (folder / "d.yaml").exists()
    assert run(capfdbinary, "check", "d.yaml")[0] == 0
    kinds = {item["kind"] for item in read_source(DOCUMENT).value["assertions"]}
    assert kinds == set(KINDS) - {"human_rubric"}
