"""What holds for every kind alike: the registry, codes, conditions, severity and stability."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import averment
from averment.assertions import KINDS, kind
from averment.assertions.base import Channel
from averment.assertions.codes import Code
from averment.assertions.phrase import Phrase
from averment.engine import unproduced

Fixture = Callable[..., Any]

# The registry.


@pytest.mark.parametrize("name", list(KINDS))
def test_each_kind_is_the_class_of_its_name_in_the_module_of_its_name(name: str) -> None:
    """A document's `kind` is the struct's tag, its module and its key in the registry."""
    cls = kind(name)
    assert cls.__struct_config__.tag == name
    assert cls is getattr(importlib.import_module(f"averment.assertions.{name}"), KINDS[name])


def test_there_is_no_other_kind() -> None:
    """Names match in their own case; modules that are no kinds are none."""
    for name in ("Phrase", "base", "rubric", ""):
        with pytest.raises(KeyError):
            kind(name)


@pytest.mark.parametrize("name", list(KINDS))
def test_each_kind_documents_its_verdicts_and_fields(name: str) -> None:
    """What PASS, FAIL and INCONCLUSIVE mean stands with the kind, and every field has a description."""
    cls = kind(name)
    for verdict in ("PASS:", "FAIL:", "INCONCLUSIVE:"):
        assert verdict in (cls.__doc__ or "")
    schema = msgspec.json.schema(cls)["$defs"][cls.__name__]
    undescribed = [
        field for field, said in schema["properties"].items() if field != "kind" and "description" not in said
    ]
    assert set(undescribed) <= {"never_before"}


# Codes: each is given by some evaluation, and every evaluation that is not PASS has one.

SAID = [{"role": "agent", "text": "hello"}]
ONE = [{"type": "tool_call", "name": "t", "arguments": {"a": 1}, "result": {"a": 1}}]
TWO = [*ONE, {"type": "tool_call", "name": "u"}]


def phrase(regex: str, **fields: Any) -> dict[str, Any]:
    return {"kind": "phrase", "regex": regex, **fields}


def tool_call(**fields: Any) -> dict[str, Any]:
    return {"kind": "tool_call", **fields}


def sequence(*steps: Mapping[str, Any]) -> dict[str, Any]:
    return {"kind": "sequence", "steps": list(steps)}


def state(**fields: Any) -> dict[str, Any]:
    return {"kind": "state", "resource": "r", "expect": {"a": 1}, **fields}


def state_change() -> dict[str, Any]:
    return {"kind": "state_change", "resource": "r", "field": "a", "changed": True}


def formula(expr: str) -> dict[str, Any]:
    return {"kind": "formula", "expr": expr}


HIDDEN_ARGS = {"args": None, "args_state": "absent"}

EARNED: dict[str, tuple[list[dict[str, Any]], dict[str, Any]]] = {
    "transcript_absent": ([phrase("x")], {}),
    "trace_absent": ([tool_call(name="t")], {}),
    "http_absent": ([sequence({"http": {}})], {"gaps": {"http": "absent"}, "trace": ONE}),
    "handoff_absent": ([{"kind": "handoff"}], {"gaps": {"handoff": "absent"}, "trace": ONE}),
    "dtmf_absent": ([{"kind": "dtmf", "digits": "1"}], {"gaps": {"dtmf": "absent"}, "trace": ONE}),
    "termination_absent": ([{"kind": "termination"}], {"gaps": {"termination": "absent"}, "trace": ONE}),
    "timing_absent": ([{"kind": "outcome", "all_of": [{"field_present": "a"}]}], {}),
    "state_absent": ([state()], {}),
    "snapshots_absent": ([state_change()], {"state": {"r": [{"a": 1}]}}),
    "nothing_to_compare": ([state_change()], {"state": {"r": {"before": [], "after": [{"a": 1}]}}}),
    "state_unreadable": ([state()], {"state": {"r": 5}}),
    "channel_unreadable": ([phrase("x")], {"gaps": {"transcript": "unreadable"}, "transcript": SAID}),
    "channel_truncated": ([phrase("x")], {"gaps": {"transcript": "truncated"}, "transcript": SAID}),
    "speakers_unknown": (
        [phrase("x", role="agent")],
        {"gaps": {"speakers": "partial"}, "transcript": [{"text": "hello"}]},
    ),
    "call_unanswered": (
        [tool_call(name="t")],
        {"gaps": {}, "calls": [{"status": "unanswered"}], "trace": ONE},
    ),
    "arguments_not_recorded": (
        [tool_call(name="t", args={"a": 1})],
        {"gaps": {}, "calls": [HIDDEN_ARGS], "trace": ONE},
    ),
    "arguments_unreadable": (
        [tool_call(name="t", args={"a": 1})],
        {"trace": [{"type": "tool_call", "name": "t", "arguments": "{"}]},
    ),
    "results_not_recorded": (
        [{"kind": "tool_result", "name": "t"}],
        {"gaps": {}, "calls": [{"result": None, "result_state": "absent"}], "trace": ONE},
    ),
    "results_redacted": (
        [{"kind": "tool_result", "name": "t"}],
        {"gaps": {}, "calls": [{"result": None, "result_state": "redacted"}], "trace": ONE},
    ),
    "turn_too_long": (
        [
            {
                "kind": "claim",
                "says": r"(?P<n>\d+) .*sent",
                "tool": "t",
                "matches": {"n": "arguments.n"},
                "timing": "anywhere",
            }
        ],
        {"transcript": [{"role": "agent", "text": "7 sent" + " " * 100_000}], "trace": ONE},
    ),
    "bodies_not_recorded": (
        [{"kind": "http_result", "method": "GET", "url_matches": "/", "status": 200, "response": {"a": 1}}],
        {
            "gaps": {"bodies": "partial"},
            "trace": [{"type": "http_exchange", "method": "GET", "url": "/", "status_code": 200}],
        },
    ),
    "errors_not_recorded": (
        [{"kind": "tool_error", "name": "u"}],
        {"gaps": {"errors": "absent"}, "trace": TWO},
    ),
    "no_clock": ([sequence({"phrase": "hello"}, {"tool": "t"})], {"transcript": SAID, "trace": ONE}),
    "no_measurement": ([{"kind": "latency", "tool": "t", "max_ms": 1}], {"trace": ONE}),
    "reference_inconclusive": ([formula("a1"), phrase("x")], {}),
    "not_applicable": ([{**phrase("x"), "applies_if": {"labels": {"a": 1}}}], {"labels": {"a": 2}}),
    "metadata_absent": ([{**phrase("x"), "applies_if": {"labels": {"a": 1}}}], {"transcript": SAID}),
    "skipped": ([phrase("hello", when="a1"), phrase("x")], {"transcript": SAID}),
    "rubric_lane": ([{"kind": "human_rubric"}], {"transcript": SAID}),
    "timing_lane": ([{"kind": "timing_contract", "bundle": "b"}], {}),
    "internal_error": ([phrase("internal error")], {"transcript": SAID}),
    "not_found": ([phrase("x")], {"transcript": SAID}),
    "found_but_forbidden": ([phrase("hello", absent=True)], {"transcript": SAID}),
    "value_mismatch": ([tool_call(name="t", args={"a": 2})], {"trace": ONE}),
    "field_missing": ([state()], {"state": {"r": [{"b": 1}]}}),
    "record_not_found": ([state()], {"state": {}}),
    "count_out_of_bounds": ([tool_call(name="t", count=2)], {"trace": ONE}),
    "over_limit": ([{"kind": "latency", "field": "a", "max": 1}], {"timing": {"a": 2}}),
    "wrong_order": ([sequence({"tool": "u"}, {"tool": "t"})], {"trace": TWO}),
    "too_early": ([tool_call(never_before={"tool": "t", "until": "u"})], {"trace": TWO}),
    "pii_found": (
        [{"kind": "pii", "detectors": ["email"], "mode": "must_not_leak"}],
        {"transcript": [{"text": "a@b.example"}]},
    ),
    "policy_violated": ([{"kind": "policy", "rule_ids": ["recording-disclosure"]}], {"transcript": SAID}),
    "outcome_not_met": ([{"kind": "outcome", "any_of": [{"tool_called": "x"}]}], {"trace": ONE}),
    "claim_unbacked": ([{"kind": "claim", "says": "hello", "tool": "x"}], {"transcript": SAID, "trace": ONE}),
    "formula_false": ([formula("a1"), phrase("x")], {"transcript": SAID}),
}
"""For each code the smallest document whose first result has it, and the evidence."""


def _raise(*_: Any) -> Any:
    raise KeyError("no such key")


@pytest.fixture
def broken_phrase(monkeypatch: pytest.MonkeyPatch) -> None:
    """A phrase that asks for `internal error` raises when it is checked."""
    whole = Phrase.compile

    def compile_(self: Phrase, resolver: Any) -> Any:
        check = whole(self, resolver)
        return _raise if self.regex == "internal error" else check

    monkeypatch.setattr(Phrase, "compile", compile_)


@pytest.mark.usefixtures("broken_phrase")
@pytest.mark.parametrize("code", list(EARNED))
def test_each_code_is_given_by_an_evaluation(judge: Fixture, gapped: Fixture, code: str) -> None:
    """A code that nothing gives would be a promise to programs that match on it."""
    assertions, evidence = EARNED[code]
    evidence = dict(evidence)
    if "gaps" in evidence:
        made = gapped(evidence.pop("gaps"), evidence.pop("calls", ()), **evidence)
        result = judge(assertions, made)[0]
    else:
        result = judge(assertions, **evidence)[0]
    assert result["code"] == code
    inconclusive = list(EARNED).index(code) <= list(EARNED).index("internal_error")
    assert result["status"] == ("INCONCLUSIVE" if inconclusive else "FAIL")
    assert result["reason"]
    assert result["public_reason"]


def test_every_code_is_in_that_table_and_documented() -> None:
    """The enumeration is closed: lower snake case, one sentence each, no meaning twice."""
    assert [code.value for code in Code if code is not Code.NOT_PRODUCED] == list(EARNED)
    for code in Code:
        assert code.value == code.name.lower()
        assert code.meaning.endswith(".")
    assert len({code.meaning for code in Code}) == len(Code)


def test_what_was_not_produced_is_inconclusive_whatever_is_asserted() -> None:
    """The one code that no evaluation gives: a suite's command failed, and there is nothing to evaluate."""
    document = averment.Document.of(
        {"version": 1, "assertions": [{"id": "a", **phrase("x")}, {"id": "b", **tool_call(name="t")}]}
    )
    envelope = unproduced(averment.compile_plan(document), "the command ended with exit status 1")
    assert [(each.status, each.code, each.reason) for each in envelope.results] == [
        ("INCONCLUSIVE", "not_produced", "the command ended with exit status 1")
    ] * 2


@pytest.mark.usefixtures("broken_phrase")
def test_a_check_that_raises_is_inconclusive_and_the_run_exits_3(envelope_of: Fixture) -> None:
    """Difference 21: a crash is no verdict; the other assertions get theirs, whatever the policy."""
    assertions = [phrase("internal error"), phrase("hello"), phrase("x")]
    for policy in ("report", "fail", "refuse"):
        envelope = envelope_of(assertions, transcript=SAID, document={"inconclusive_policy": policy})
        assert envelope["exit_code"] == 3
        assert [result["status"] for result in envelope["results"]] == ["INCONCLUSIVE", "PASS", "FAIL"]
        assert "KeyError" in envelope["results"][0]["reason"]
        assert "no such key" not in json.dumps(envelope)


# Mistakes in a text.

MISPLACED = [
    ("policy", "pack: default", "pack_path: x"),
    ("tool_call", "name: t, count: 1", "absent: true"),
    ("tool_call", "name: t, args: {}", "args_exact: {}"),
    ("tool_call", "require_order: [t]", "count: 1"),
    ("tool_result", "name: t, result: 1", "result_exact: 1"),
    ("outcome", "any_of: [{tool_called: t", "role: agent}]"),
    ("sequence", "steps: [{tool: t}], unordered: true", "strict: true"),
    ("sequence", "steps: [{tool: t", "role: agent}]"),
    ("phrase", "regex: x", "abscent: true"),
    ("count", "tool: t, count: 1", "per: occurrence"),
    ("latency", "tool: t, max_ms: 1", "where: {a: 1}"),
    ("entity_accuracy", "reference: {a: 1}", "call: first"),
]
"""A kind, fields that are right, and one that says nothing or too much beside them."""


@pytest.mark.parametrize(("name", "right", "wrong"), MISPLACED)
def test_a_field_that_is_out_of_place_is_told_at_its_name(name: str, right: str, wrong: str) -> None:
    """The column is that of the key, not of its value: the key is what is to be removed."""
    start = f"version: 1\nassertions:\n- {{id: a, kind: {name}, {right}, "
    with pytest.raises(averment.DocumentError) as caught:
        averment.Document.parse(f"{start}{wrong}}}\n")
    (problem,) = caught.value.problems
    assert (problem.line, problem.column) == (3, len(start.splitlines()[-1]) + 1)


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("kind: phrase, regex: '", "ab("),
        ("kind: sequence, steps: [{phrase: '", "ab("),
        ("kind: sequence, steps: [{http: {url_matches: '", "ab("),
        ("kind: outcome, all_of: [{phrase: '", "ab("),
        ("kind: count, count: 1, phrase: '", "ab("),
        ("kind: order, before: x, after: '", "ab("),
        ("kind: tool_call, name: t, args: {a: {$regex: '", "ab("),
        ("kind: formula, expr: '", "a1&"),
    ],
)
def test_a_mistake_within_a_text_is_told_at_its_character(before: str, text: str) -> None:
    """Patterns and formulas are told at the character that is wrong, the third of each here."""
    closing = "".join({"[": "]", "{": "}"}[char] for char in reversed(before) if char in "[{")
    start = f"- {{id: a0, {before}"
    document = f"version: 1\nassertions:\n{start}{text}'{closing}}}\n- {{id: a1, kind: phrase, regex: x}}\n"
    with pytest.raises(averment.DocumentError) as caught:
        averment.Document.parse(document)
    (problem,) = caught.value.problems
    assert (problem.line, problem.column) == (3, len(start) + 3)


# `when`.


def test_an_assertion_whose_premise_did_not_pass_is_skipped(judge: Fixture) -> None:
    """A skip is INCONCLUSIVE with `skipped`, and the reason says why, for FAIL and INCONCLUSIVE alike."""
    assertions = [
        phrase("hello", when=["no", "open", "yes"], dimension="policy"),
        {"id": "yes", **phrase("hello")},
        {"id": "no", **phrase("x")},
        {"id": "open", **tool_call(name="t")},
    ]
    result = judge(assertions, transcript=SAID)[0]
    assert (result["status"], result["code"], result["skipped"]) == ("INCONCLUSIVE", "skipped", True)
    assert result["reason"] == "not checked, because of no (FAIL), open (INCONCLUSIVE)"
    assert result["public_reason"] == "the assertion's precondition did not pass, so it was not checked"
    assert result["dimension"] == "policy"
    assert "turns" not in result


def test_skips_cascade_in_whatever_order_assertions_stand(judge: Fixture) -> None:
    """A skipped assertion has not passed, so what waits for it is skipped too; results keep document order."""
    assertions = [
        {"id": "c", **phrase("hello", when="b")},
        {"id": "b", **phrase("hello", when="a")},
        {"id": "a", **phrase("x")},
        {"id": "d", **phrase("hello", when="e")},
        {"id": "e", **phrase("hello")},
    ]
    results = judge(assertions, transcript=SAID)
    assert [(result["id"], result["status"]) for result in results] == [
        ("c", "INCONCLUSIVE"),
        ("b", "INCONCLUSIVE"),
        ("a", "FAIL"),
        ("d", "PASS"),
        ("e", "PASS"),
    ]
    assert results[0]["reason"] == "not checked, because of b (INCONCLUSIVE)"


@pytest.mark.usefixtures("broken_phrase")
def test_a_skipped_check_is_not_run(envelope_of: Fixture) -> None:
    """Neither its evidence nor its defects matter."""
    assertions = [phrase("internal error", when="a1"), tool_call(name="t")]
    envelope = envelope_of(assertions)
    assert (envelope["exit_code"], envelope["results"][0]["code"]) == (0, "skipped")


def test_a_long_chain_of_premises_takes_linear_time(judge: Fixture) -> None:
    """Fault of scale: a reverse chain of four thousand took 45 seconds."""
    chain: list[dict[str, Any]] = [
        {"id": f"n{index}", **phrase("hello", when=f"n{index + 1}")} for index in range(4000)
    ]
    results = judge([*chain, {"id": "n4000", **phrase("hello")}], transcript=SAID)
    assert {result["status"] for result in results} == {"PASS"}


@pytest.mark.parametrize(
    ("when", "code"),
    [
        (None, "wrong_type"),
        ("", "empty_value"),
        ([], "empty_value"),
        ([""], "empty_value"),
        ({}, "wrong_type"),
        ("missing", "unknown_reference"),
        ("a0", "self_reference"),
    ],
)
def test_a_premise_must_be_the_id_of_another_assertion(problems_of: Fixture, when: Any, code: str) -> None:
    """Null and empty premises are mistakes, not the lack of one."""
    assert [found for found, _ in problems_of(phrase("x", when=when))] == [code]


# Severity, and what is carried along.


@pytest.mark.parametrize("severity", ["warning", "note"])
@pytest.mark.parametrize("policy", ["report", "fail", "refuse"])
def test_only_errors_gate(envelope_of: Fixture, severity: str, policy: str) -> None:
    """FAIL and INCONCLUSIVE of lesser severities are counted on their own, under every policy."""
    assertions = [
        phrase("x", severity=severity),
        tool_call(name="t", severity=severity),
        phrase("hello", severity=severity),
        phrase("hello", severity="error"),
    ]
    envelope = envelope_of(assertions, transcript=SAID, document={"inconclusive_policy": policy})
    assert envelope["exit_code"] == 0
    assert envelope["summary"]["warnings"] == {"pass": 1, "fail": 1, "inconclusive": 1}
    assert envelope["summary"]["deterministic"] == {"pass": 1, "fail": 0, "inconclusive": 0}
    assert [result.get("severity") for result in envelope["results"]] == [severity] * 3 + [None]


@pytest.mark.parametrize(("policy", "failing", "open_"), [("report", 1, 0), ("fail", 1, 1), ("refuse", 1, 2)])
def test_errors_gate_by_the_policy(envelope_of: Fixture, policy: str, failing: int, open_: int) -> None:
    """INCONCLUSIVE does nothing, fails or refuses; refusal beats FAIL."""
    document = {"inconclusive_policy": policy}
    assert envelope_of([phrase("x")], transcript=SAID, document=document)["exit_code"] == failing
    assert envelope_of([phrase("x")], document=document)["exit_code"] == open_
    both = envelope_of([phrase("x"), tool_call(name="t")], transcript=SAID, document=document)
    assert both["exit_code"] == max(failing, open_)


def test_what_the_document_says_of_an_assertion_is_carried_to_its_result(judge: Fixture) -> None:
    """Dimension, tags, owner and description stand in the result whatever the verdict."""
    said = {
        "dimension": "policy",
        "tags": ["gdpr", "v2"],
        "owner": "compliance",
        "description": "Say hello.",
    }
    for regex in ("hello", "x"):
        result = judge(phrase(regex, **said), transcript=SAID)
        assert {name: result[name] for name in said} == said


# Stability.

ALONE = [{"id": code, **assertions[0]} for code, (assertions, _) in EARNED.items() if len(assertions) == 1]
"""The checks of that table which read no other."""


def _shuffled(value: Any, draw: Callable[[Any], Any]) -> Any:
    if isinstance(value, dict):
        return {name: _shuffled(value[name], draw) for name in draw(st.permutations(list(value)))}
    if isinstance(value, list):
        return [_shuffled(item, draw) for item in value]
    return value


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_the_order_of_keys_never_matters(data: Any) -> None:
    """Neither in the document nor in the evidence: same verdicts, same grounds, same digests."""
    document = {"version": 1, "assertions": ALONE, "roles": {"agent": ["bot"], "caller": []}}
    evidence = {
        "transcript": [{"role": "agent", "text": "hello", "start": 1}, {"text": "a@b.example", "start": 2}],
        "trace": [
            {"type": "tool_call", "name": "t", "arguments": {"a": 1, "b": {"c": 1, "d": 2}}, "start_sec": 3},
            {"type": "http_exchange", "response": {"a": 1, "b": 2}, "start_sec": 4},
        ],
        "timing": [{"x": 1, "y": 2}],
        "state": {"r": [{"a": 2, "b": 1}], "s": []},
    }

    def judged(document: Any, evidence: Any) -> Any:
        envelope = averment.run(averment.Document.of(document), averment.Evidence(**evidence))
        found = [
            (result.id, result.status, result.code, list(result.turns), list(result.tool_calls))
            for result in envelope.results
        ]
        return found, envelope.exit_code, envelope.document_sha256

    shuffled = judged(_shuffled(document, data.draw), _shuffled(evidence, data.draw))
    assert shuffled == judged(document, evidence)


def test_the_same_inputs_give_the_same_bytes() -> None:
    """Nothing that varies between runs is written."""
    document = {"version": 1, "assertions": ALONE}
    written = {
        averment.run(
            averment.Document.of(document), averment.Evidence(transcript=SAID, trace=TWO, state={})
        ).to_json()
        for _ in range(3)
    }
    assert len(written) == 1


def test_channels_are_those_that_coverage_knows() -> None:
    """A check can only rest on what a reader can declare."""
    from typing import get_args

    from averment.evidence.model import Coverage

    assert set(get_args(Channel)) <= set(Coverage.__struct_fields__)
