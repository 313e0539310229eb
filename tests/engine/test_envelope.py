"""The envelope: its shape, its bytes, its exit code."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import averment
from averment.assertions.base import Status
from averment.engine.envelope import Envelope, Result

DOCUMENT = {
    "version": 1,
    "assertions": [
        {
            "id": "said",
            "kind": "phrase",
            "regex": "refund",
            "role": "agent",
            "tags": ["t"],
            "owner": "o",
            "description": "d",
        },
        {"id": "leak", "kind": "pii", "detectors": ["email"], "mode": "must_not_leak", "dimension": "policy"},
        {"id": "rules", "kind": "policy", "severity": "warning"},
        {
            "id": "done",
            "kind": "tool_call",
            "name": "issue_refund",
            "args_subset": {"amount": {"$gte": 42}},
            "when": "said",
        },
        {"id": "all", "kind": "formula", "expr": "said and done"},
    ],
}
CONVERSATION = {
    "transcript": [
        {"role": "caller", "text": "I am jane@example.com, ünïcode ✓", "start": 0.5, "end": 1},
        {"role": "agent", "text": "Your refund is on its way"},
    ],
    "spans": [
        {
            "type": "tool_call",
            "name": "issue_refund",
            "arguments": {"amount": 41},
            "start_sec": 1,
            "end_sec": 2,
        }
    ],
}


def run(document: Any = DOCUMENT, conversation: Any = CONVERSATION, policy: Any = None) -> averment.Envelope:
    evidence = averment.Evidence.from_record(conversation)
    return averment.run(averment.Document.of(document), evidence, inconclusive_policy=policy)


def test_keys_stand_in_the_order_of_the_format() -> None:
    """Envelope and results have one fixed order of keys, whatever the kind."""
    envelope = json.loads(run().to_json())
    assert list(envelope) == [
        *("schema", "exit_code", "inconclusive_policy", "engine", "document", "evidence_sha256", "results"),
        *("redacted_transcript", "summary"),
    ]
    assert list(envelope["summary"]) == ["deterministic", "not_applicable", "warnings", "judge", "note"]
    said, leak, rules, done, formula = envelope["results"]
    assert list(said) == ["id", "kind", "deterministic", "tags", "owner", "description", "turns", "status"]
    assert list(leak) == [
        *(
            "id",
            "kind",
            "deterministic",
            "dimension",
            "hits",
            "redacted_transcript",
            "turns",
            "status",
            "code",
        ),
        *("reason", "public_reason"),
    ]
    assert list(rules)[:5] == ["id", "kind", "deterministic", "severity", "matched_rules"]
    assert list(done) == [
        *("id", "kind", "deterministic", "nearest_miss", "status", "code", "reason", "public_reason"),
    ]
    assert list(formula)[3:6] == ["refs", "met", "of"]


def test_the_bytes_are_indented_utf8_with_a_final_newline() -> None:
    """Two spaces, non-ASCII as it is, one newline at the end."""
    data = run().to_json()
    assert data.startswith(b'{\n  "schema": "assert.v1",\n')
    assert data.endswith(b"\n}\n")
    assert "ünïcode ✓".encode() in data


def test_the_redacted_transcript_stands_once_and_is_pointed_to() -> None:
    """A pii result points to the one copy; compat repeats the array, as the contract does."""
    envelope = run()
    plain = envelope.to_dict()
    assert plain["results"][1]["redacted_transcript"] == "#/redacted_transcript"
    assert plain["redacted_transcript"] == [
        {"role": "caller", "text": "I am [REDACTED], ünïcode ✓", "start": 0.5, "end": 1},
        {"role": "agent", "text": "Your refund is on its way"},
    ]
    compat = envelope.to_dict(compat=True)
    assert compat["results"][1]["redacted_transcript"] == plain["redacted_transcript"]
    assert "redacted_transcript" not in compat


def test_warnings_are_counted_apart_and_never_gate() -> None:
    """A failing warning changes no exit code and no deterministic count."""
    document = {
        "version": 1,
        "assertions": [{"id": "w", "kind": "phrase", "regex": "nowhere", "severity": "warning"}],
    }
    for policy in ("report", "fail", "refuse"):
        envelope = run(document, policy=policy)
        assert envelope.exit_code == 0
        summary = envelope.to_dict()["summary"]
        assert summary["deterministic"] == {"pass": 0, "fail": 0, "inconclusive": 0}
        assert summary["warnings"] == {"pass": 0, "fail": 1, "inconclusive": 0}


def _result(status: str, severity: str, code: str | None) -> Result:
    return Result(
        id="x", kind="phrase", status=Status(status), common={"id": "x", "severity": severity}, code=code
    )


@given(
    st.lists(
        st.tuples(st.sampled_from(list(Status)), st.sampled_from(["error", "warning", "note"])), min_size=1
    ),
    st.sampled_from(["report", "fail", "refuse"]),
)
def test_the_exit_code_follows_the_policy(statuses: list[tuple[str, str]], policy: str) -> None:
    """report: FAIL is 1; fail: INCONCLUSIVE too; refuse: INCONCLUSIVE is 2 and beats FAIL; only errors gate."""
    envelope = Envelope(
        inconclusive_policy=policy,
        document_name=None,
        document_sha256="",
        evidence_sha256="",
        results=[_result(status, severity, None) for status, severity in statuses],
    )
    gating = [status for status, severity in statuses if severity == "error"]
    expected = 1 if "FAIL" in gating else 0
    if "INCONCLUSIVE" in gating and policy != "report":
        expected = {"fail": 1, "refuse": 2}[policy]
    assert envelope.exit_code == expected


def test_an_internal_error_exits_3_under_every_policy_and_severity() -> None:
    """A crash is never 1: a check that raises is INCONCLUSIVE, told as a defect, and the run exits 3."""
    for policy in ("report", "fail", "refuse"):
        for severity in ("error", "note"):
            envelope = Envelope(
                inconclusive_policy=policy,
                document_name=None,
                document_sha256="",
                evidence_sha256="",
                results=[_result("FAIL", "error", None), _result("INCONCLUSIVE", severity, "internal_error")],
            )
            assert envelope.exit_code == 3


def test_a_check_that_raises_is_an_internal_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other assertions are decided, the broken one names no evidence."""
    from averment.evidence.view import View

    def broken(*_: object) -> None:
        raise ZeroDivisionError("card 4111 1111 1111 1111")

    monkeypatch.setattr(View, "called", broken)
    envelope = run()
    done = envelope.to_dict()["results"][3]
    assert (done["status"], done["code"], envelope.exit_code) == ("INCONCLUSIVE", "internal_error", 3)
    assert b"4111" not in envelope.to_json()
    assert envelope.results[0].status == "PASS"


def test_an_unknown_policy_is_a_usage_error() -> None:
    """The caller's argument is checked as the document's is."""
    with pytest.raises(averment.UsageError, match="report, fail, refuse"):
        run(policy="warn")


def test_the_document_s_policy_holds_unless_one_is_given() -> None:
    """Argument, then document, then report."""
    document = {
        "version": 1,
        "inconclusive_policy": "refuse",
        "assertions": [{"id": "t", "kind": "tool_call", "name": "x"}],
    }
    assert run(document, {"transcript": []}).exit_code == 2
    assert run(document, {"transcript": []}, "report").exit_code == 0


_SCRIPT = """
import sys, averment
envelope = averment.run(averment.Document.load(sys.argv[1]), averment.Evidence.load(sys.argv[2]))
sys.stdout.buffer.write(envelope.to_json())
"""


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "0"},
        {"PYTHONHASHSEED": "1"},
        {"PYTHONHASHSEED": "4242", "TZ": "Asia/Kathmandu"},
        {"PYTHONHASHSEED": "7", "LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"},
        {"PYTHONHASHSEED": "8", "LC_ALL": "C", "PYTHONUTF8": "0"},
        {"PYTHONHASHSEED": "9", "PYTHONOPTIMIZE": "2"},
    ],
    ids=lambda environment: " ".join(f"{name}={value}" for name, value in environment.items()),
)
def test_the_bytes_are_the_same_in_every_environment(tmp_path: Path, environment: dict[str, str]) -> None:
    """Hash seed, time zone, locale, optimisation and working folder leave no trace in the envelope."""
    (tmp_path / "d.json").write_text(json.dumps(DOCUMENT), encoding="utf-8")
    (tmp_path / "c.json").write_text(json.dumps(CONVERSATION), encoding="utf-8")
    document = averment.Document.load(tmp_path / "d.json")
    here = averment.run(document, averment.Evidence.load(tmp_path / "c.json")).to_json()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, str(tmp_path / "d.json"), str(tmp_path / "c.json")],
        capture_output=True,
        check=True,
        cwd=elsewhere,
        env=environment,
    )
    assert done.stdout == here
    assert str(tmp_path).encode() not in here


@given(st.permutations(range(4)), st.permutations(["transcript", "spans"]))
@settings(max_examples=30, deadline=None)
def test_results_do_not_depend_on_the_order_of_assertions_or_keys(order: list[int], keys: list[str]) -> None:
    """Each result is the same wherever it stands in the document, and however the evidence's keys are ordered."""
    items = [DOCUMENT["assertions"][index] for index in order] + [DOCUMENT["assertions"][4]]  # type: ignore[index]
    shuffled = run({"version": 1, "assertions": items}, {key: CONVERSATION[key] for key in keys})
    expected = {result["id"]: result for result in run().to_dict()["results"]}
    found = {result["id"]: result for result in shuffled.to_dict()["results"]}
    assert found == expected
    assert shuffled.evidence_sha256 == run().evidence_sha256


def test_a_call_with_the_wrong_things_is_a_usage_error() -> None:
    """Plain mappings are told what to make of them, not met with an AttributeError."""
    document = averment.Document.of(DOCUMENT)
    evidence = averment.Evidence.from_record(CONVERSATION)
    with pytest.raises(averment.UsageError, match=r"Document\.of"):
        averment.run(DOCUMENT, evidence)  # type: ignore[arg-type]
    for wrong in (CONVERSATION, None):
        with pytest.raises(averment.UsageError, match=r"Evidence\.from_record"):
            averment.run(document, wrong)  # type: ignore[arg-type]
