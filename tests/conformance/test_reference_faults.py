"""The faults that section 20 of the reference lists, each with the very input that shows it there.

One test per entry of the list, in its order. Of the missing surfaces, reports for other programs, servers and plugins
are not built yet.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import averment
from averment.evidence.write import voice_trace

Judge = Callable[..., Any]


def said(*texts: str) -> list[dict[str, str]]:
    """A transcript in which the agent alone speaks."""
    return [{"role": "agent", "text": text} for text in texts]


def called(*calls: dict[str, Any]) -> list[dict[str, Any]]:
    """A trace of tool calls; of the tool `t` where none is named."""
    return [{"type": "tool_call", "name": "t", **call} for call in calls]


def statuses(results: Any) -> list[str]:
    """Their statuses, in order."""
    return [result["status"] for result in results]


CARDS = {"kind": "pii", "detectors": ["card_luhn"], "mode": "must_not_leak"}
T = {"kind": "tool_call", "name": "t"}


@pytest.mark.parametrize(
    "text",
    [
        "4111 1111 1111 1111 123",
        "4111-1111-1111-1111 12/27",
        "123 4111 1111 1111 1111",
        "4111  1111  1111  1111",
        "4111\u00a01111\u00a01111\u00a01111",
        "4111.1111.1111.1111",
    ],
)
def test_fault_1_a_card_is_found_whatever_stands_beside_or_inside_it(judge: Judge, text: str) -> None:
    """1: a CVV, an expiry or an unusual separator hides no card, from the verdict or from redaction."""
    result = judge(CARDS, transcript=said(text))
    assert result["status"] == "FAIL"
    assert "1111" not in json.dumps(result)


@pytest.mark.parametrize(
    ("detector", "text", "status"),
    [
        ("phone", "(415)555-0123", "FAIL"),
        ("ssn", "123.45.6789", "FAIL"),
        ("ssn", "your order number is 123456789", "PASS"),
        ("card_luhn", "0000 0000 0000 0000", "PASS"),
    ],
)
def test_fault_1_other_data_is_told_from_look_alikes(
    judge: Judge, detector: str, text: str, status: str
) -> None:
    """1: parentheses and dots are separators too; an order number and a row of zeros are nobody's."""
    assertion = {"kind": "pii", "detectors": [detector], "mode": "must_not_leak"}
    assert judge(assertion, transcript=said(text))["status"] == status


def test_fault_2_a_pii_pass_says_what_it_did_not_see_and_shows_nothing(envelope_of: Judge) -> None:
    """2: what is not scanned is listed; every detector redacts; the transcript stands in the envelope once."""
    ssn = {"kind": "pii", "detectors": ["ssn"], "mode": "must_not_leak"}
    envelope = envelope_of(
        [ssn, ssn], transcript=said("jo@example.com"), trace=called({"arguments": {"card": 1}})
    )
    assert statuses(envelope["results"]) == ["PASS", "PASS"]
    assert {"arguments", "results", "http", "dtmf", "state"} < set(envelope["results"][0]["not_scanned"])
    assert json.dumps(envelope).count("[REDACTED]") == 1
    assert "jo@" not in json.dumps(envelope)


def test_fault_3_order_can_require_what_guards(judge: Judge) -> None:
    """3: a balance without any verification is no vacuous PASS where `guard` or `must_occur` asks for one."""
    order = {"kind": "order", "before": "verify", "after": "balance"}
    results = judge(
        [order, {**order, "guard": True}, {**order, "must_occur": "before"}],
        transcript=said("your balance is 5"),
    )
    assert statuses(results) == ["PASS", "FAIL", "FAIL"]
    assert results[0]["vacuous"]


def test_fault_4_a_state_change_is_enforced_and_never_imagined(judge: Judge) -> None:
    """4: `changed: false` holds, a missing field is not null, and one snapshot shows no change."""
    change = {"kind": "state_change", "resource": "tickets", "field": "status"}
    two = {"tickets": {"before": {"status": "open"}, "after": {"status": "closed"}}}
    unchanged, missing = judge(
        [{**change, "changed": False}, {**change, "field": "nope", "to": None}], state=two
    )
    assert unchanged["status"] == "FAIL"
    assert (missing["status"], missing["code"]) == ("FAIL", "field_missing")
    assert (
        judge({**change, "to": "open"}, state={"tickets": [{"status": "open"}]})["status"] == "INCONCLUSIVE"
    )


def test_fault_5_no_call_hides_the_value_of_another(judge: Judge) -> None:
    """5: each call that carries the key must be right, a tool can be named, and 50 is 50.0."""
    calls = called({"name": "issue_refund", "arguments": {"amount": 500}}, {"arguments": {"amount": 50}})
    accuracy = {"kind": "entity_accuracy", "reference": {"amount": 50.0}}
    results = judge([accuracy, {**accuracy, "tool": "t"}, {**accuracy, "tool": "issue_refund"}], trace=calls)
    assert statuses(results) == ["FAIL", "PASS", "FAIL"]


def test_fault_6_latency_reads_every_event(judge: Judge) -> None:
    """6: the greatest value is compared, not the first."""
    result = judge({"kind": "latency", "field": "v", "max": 1}, timing=[{"v": 0.5}, {"v": 9}])
    assert (result["status"], result["measured"]) == ("FAIL", 9)


@pytest.mark.parametrize(
    ("assertion", "problem"),
    [
        ({"kind": "phrase", "regex": "guarantee", "abscent": True}, ("unknown_field", "abscent")),
        ({"kind": "tool_call", "count": 1}, ("field_needs", "count")),
        ({"kind": "sequence", "steps": [{"tool": "t", "args": {}}]}, ("unknown_field", "steps[0].args")),
        (
            {"kind": "order", "before": "a", "after": "b", "positon": "any"},
            ("unknown_field", "positon"),
        ),
    ],
)
def test_fault_7_a_field_that_would_do_nothing_is_a_mistake(
    problems_of: Judge, assertion: dict[str, Any], problem: tuple[str, str]
) -> None:
    """7: unknown fields, and known ones that say nothing where they stand, are told."""
    assert problem in problems_of(assertion)


def test_fault_7_the_fields_that_people_expect_do_what_they_say(judge: Judge) -> None:
    """7: `absent` on calls and results, arguments in steps, case in counts, a role for pii, both lists of outcome."""
    results = judge(
        [
            {**T, "absent": True},
            {"kind": "tool_result", "name": "t", "result_subset": {"ok": True}, "absent": True},
            {"kind": "sequence", "steps": [{"tool": "t", "args_subset": {"a": 2}}]},
            {"kind": "count", "phrase": "HELLO", "count": {"min": 1}, "case_sensitive": True},
            {"kind": "pii", "detectors": ["email"], "mode": "must_not_leak", "role": "caller"},
            {"kind": "outcome", "all_of": [{"tool_called": "t"}], "any_of": [{"tool_called": "other"}]},
        ],
        transcript=said("hello, jo@example.com"),
        trace=called({"arguments": {"a": 1}, "result": {"ok": True}}),
    )
    assert statuses(results) == ["FAIL", "FAIL", "FAIL", "FAIL", "PASS", "FAIL"]


def test_fault_8_rules_exist_and_violations_point_into_the_transcript(
    judge: Judge, problems_of: Judge
) -> None:
    """8: an unknown rule id is a mistake; the turn of a violation counts every turn."""
    assert problems_of({"kind": "policy", "rule_ids": ["no-profanty"]}) == [("unknown_rule", "rule_ids[0]")]
    transcript = [{"role": "user", "text": "Really?"}, *said("This call is recorded for quality. Damn.")]
    (rule,) = judge({"kind": "policy"}, transcript=transcript)["matched_rules"]
    assert (rule["rule"], rule["turn"]) == ("no-profanity", 1)


def test_fault_9_weights_add_up_exactly(judge: Judge) -> None:
    """9: six, three and one tenth are one."""
    results = judge([T, T, T, {"kind": "formula", "expr": "0.6*a0 + 0.3*a1 + 0.1*a2 >= 1"}], trace=called({}))
    assert results[3]["status"] == "PASS"


def test_fault_10_what_is_unknown_stays_unknown_with_its_reason(judge: Judge) -> None:
    """10: kept on purpose, as the contract says: nothing is decided over absent evidence, and a code says which."""
    results = judge(
        [
            T,
            {"kind": "phrase", "regex": "x"},
            {"kind": "formula", "expr": "a0 or a1"},
            {"kind": "outcome", "all_of": [{"tool_called": "other"}, {"phrase": "x"}]},
        ],
        trace=called({}),
    )
    assert [result.get("code") for result in results] == [
        None,
        "transcript_absent",
        "reference_inconclusive",
        "transcript_absent",
    ]


@pytest.mark.parametrize(
    ("expected", "status"),
    [
        ({"a": 1}, "FAIL"),
        ({"a": True}, "PASS"),
        ({"opts": {"full": True}}, "PASS"),
        ({"opts": {"n": {"$gt": 0, "$not": 2}}}, "PASS"),
        ({"s": {"$regex": "^A-", "$len": 4}}, "PASS"),
        ({"s": {"$any": ["B-17", {"$contains": "18"}]}}, "FAIL"),
    ],
)
def test_fault_11_subsets_are_typed_deep_and_have_operators(
    judge: Judge, expected: dict[str, Any], status: str
) -> None:
    """11: true is not 1, what is inside is a subset too, and values can be compared in other ways."""
    trace = called({"arguments": {"a": True, "opts": {"full": True, "n": 1}, "s": "A-17"}})
    assert judge({**T, "args_subset": expected}, trace=trace)["status"] == status


@pytest.mark.parametrize(
    "turn",
    [
        {"role": "assistant", "content": "we guarantee"},
        {"role": "Agent", "content": [{"type": "text", "text": "we guarantee"}]},
        {"speaker": "BOT", "message": "we guarantee"},
    ],
)
def test_fault_12_every_spelling_of_a_turn_is_heard(judge: Judge, turn: dict[str, Any]) -> None:
    """12: text and role are found under their other names, in any case, through the aliases."""
    phrase = {"kind": "phrase", "regex": "guarantee", "role": "agent"}
    assert statuses(judge([phrase, {**phrase, "absent": True}], transcript=[turn])) == ["PASS", "FAIL"]


@pytest.mark.parametrize(
    "fields",
    [
        {"error": {"message": "card declined"}},
        {"error": True, "error_message": "card declined"},
        {"status": "ERROR", "message": "card declined"},
        {"status_code": 500, "error_message": "card declined"},
        {"result": {"isError": True, "content": [{"type": "text", "text": "card declined"}]}},
    ],
)
def test_fault_13_an_error_is_one_however_it_is_written(judge: Judge, fields: dict[str, Any]) -> None:
    """13: objects, flags beside a message, a status in any case, HTTP codes and MCP are errors with a text."""
    error = {"kind": "tool_error", "name": "t"}
    results = judge([error, {**error, "error_matches": "declined"}], trace=called(fields))
    assert statuses(results) == ["PASS", "PASS"]


def test_fault_13_a_timeout_is_an_error_and_results_may_be_of_any_type(judge: Judge) -> None:
    """13: a `tool_timeout` span counts; a list, a number and JSON in a string can be expected."""
    timeout = [*called({}), {"type": "tool_timeout", "name": "t"}]
    assert judge({"kind": "tool_error", "name": "t"}, trace=timeout)["status"] == "PASS"
    for result, expected in (([1, 2], [1, 2]), (5, {"$gte": 5}), ('{"a": 1}', {"a": 1})):
        assertion = {"kind": "tool_result", "name": "t", "result": expected}
        assert judge(assertion, trace=called({"result": result}))["status"] == "PASS"


def test_fault_14_occurrences_are_counted_and_order_goes_by_time(judge: Judge) -> None:
    """14: three times in one turn is three; a trace that is not sorted is taken in the order of its times."""
    trace = called(
        {"name": "b", "start_sec": 2, "end_sec": 3},
        {"name": "a", "start_sec": 0, "end_sec": 1},
    )
    results = judge(
        [
            {"kind": "count", "phrase": "sorry", "per": "occurrence", "count": 3},
            {"kind": "sequence", "steps": [{"tool": "a"}, {"tool": "b"}]},
            {"kind": "tool_call", "require_order": ["a", "b"]},
            {"kind": "tool_call", "require_order": ["b", "a"]},
        ],
        transcript=said("sorry, sorry, sorry"),
        trace=trace,
    )
    assert statuses(results) == ["PASS", "PASS", "PASS", "FAIL"]


# OpenTelemetry as it is exported: 64-bit integers are strings, values are wrapped, names are those of today.

REFUND_SPAN = {
    "traceId": "5b8efff798038103d269b633813fc60c",
    "spanId": "eee19b7ec3c1b174",
    "parentSpanId": "eee19b7ec3c1b173",
    "name": "execute_tool issue_refund",
    "startTimeUnixNano": "1700000000000000000",
    "endTimeUnixNano": "1700000000900000000",
    "attributes": [
        {"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}},
        {"key": "gen_ai.tool.name", "value": {"stringValue": "issue_refund"}},
        {"key": "gen_ai.tool.call.id", "value": {"stringValue": "call-1"}},
        {"key": "gen_ai.tool.call.arguments", "value": {"stringValue": '{"amount": 42}'}},
        {
            "key": "gen_ai.tool.call.result",
            "value": {
                "kvlistValue": {
                    "values": [{"key": "ids", "value": {"arrayValue": {"values": [{"intValue": "7"}]}}}]
                }
            },
        },
    ],
}
HTTP_SPAN = {
    "traceId": "5b8efff798038103d269b633813fc60c",
    "spanId": "eee19b7ec3c1b175",
    "parentSpanId": "eee19b7ec3c1b174",
    "name": "POST",
    "startTimeUnixNano": "1700000000100000000",
    "endTimeUnixNano": "1700000000200000000",
    "attributes": [
        {"key": "http.request.method", "value": {"stringValue": "POST"}},
        {"key": "url.full", "value": {"stringValue": "https://api.example/refunds"}},
        {"key": "http.response.status_code", "value": {"intValue": "201"}},
    ],
}


def exported(*spans: dict[str, Any]) -> averment.Evidence:
    """The evidence of an OTLP/JSON export."""
    export = {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}
    return averment.Evidence.from_bytes(json.dumps(export).encode())


REFUND = {"kind": "tool_call", "name": "issue_refund"}


def test_fault_15_a_tool_span_of_the_genai_conventions_is_a_call(judge: Judge) -> None:
    """15: the tool is named by its attribute, whatever the span is called."""
    assert judge(REFUND, exported(REFUND_SPAN))["status"] == "PASS"


def test_fault_16_integers_that_are_strings_are_integers(judge: Judge) -> None:
    """16: 900 ms are over a limit of 500, and a 201 is a 201."""
    evidence = exported(REFUND_SPAN, HTTP_SPAN)
    slow = {"kind": "latency", "tool": "issue_refund", "max_ms": 500}
    answered = {"kind": "http_result", "method": "POST", "url_matches": "/refunds", "status": 201}
    assert statuses(judge([slow, {**slow, "max_ms": 900}, answered], evidence)) == ["FAIL", "PASS", "PASS"]


def test_fault_17_arguments_values_and_errors_are_read_as_they_are_exported(judge: Judge) -> None:
    """17: JSON text is parsed, wrapped values are unwrapped, a status of ERROR fails, ids and parents stay."""
    evidence = exported(REFUND_SPAN, HTTP_SPAN)
    result = {"kind": "tool_result", "name": "issue_refund", "result": {"ids": [7]}}
    assert statuses(judge([{**REFUND, "args": {"amount": 42}}, result], evidence)) == ["PASS", "PASS"]
    unreadable = json.loads(json.dumps(REFUND_SPAN).replace('"{\\"amount\\": 42}"', '"amount=42"'))
    assert judge({**REFUND, "args": {"amount": 42}}, exported(unreadable))["code"] == "arguments_unreadable"
    failed = {**REFUND_SPAN, "status": {"code": 2, "message": "over the limit"}}
    error = {"kind": "tool_error", "name": "issue_refund", "error_matches": "limit"}
    assert judge(error, exported(failed))["status"] == "PASS"
    spans = evidence.model.spans or ()
    assert [span.id for span in spans] == ["eee19b7ec3c1b174", "eee19b7ec3c1b175"]
    assert "eee19b7ec3c1b174" in json.dumps(spans[1].fields)


def test_fault_18_a_trace_is_written_with_all_that_its_spans_say(judge: Judge) -> None:
    """18: what is exported is read back as the same calls, exchanges and handoffs."""
    trace = [
        {"type": "tool_call", "name": "t", "arguments": {"a": [1]}, "result": {"b": 2}, "start_sec": 1},
        {"type": "http_exchange", "method": "GET", "url": "/x", "status_code": 200, "response": {"c": 3}},
        {"type": "handoff", "to": "billing", "reason": "asked"},
    ]
    data, lost = voice_trace(averment.Evidence(trace=trace).model)
    again = averment.Evidence.from_bytes(data)
    wanted = [
        {**T, "args_exact": {"a": [1]}},
        {"kind": "tool_result", "name": "t", "result_exact": {"b": 2}},
        {
            "kind": "http_result",
            "method": "GET",
            "url_matches": "/x",
            "status": 200,
            "response_exact": {"c": 3},
        },
        {"kind": "handoff", "to": "billing"},
    ]
    assert statuses(judge(wanted, again)) == ["PASS"] * 4
    assert lost == ["coverage and notes"]


@pytest.mark.parametrize("arguments", ["no JSON", [1], 5])
def test_crash_arguments_that_are_no_mapping(judge: Judge, arguments: Any) -> None:
    """Arguments of another type match no mapping; those that can't be read leave the verdict open."""
    result = judge({**T, "args_subset": {"a": 1}}, trace=called({"arguments": arguments}))
    assert result["status"] == ("INCONCLUSIVE" if isinstance(arguments, str) else "FAIL")


@pytest.mark.parametrize(
    ("assertion", "problem"),
    [
        ({**T, "count": {"min": "2"}}, ("wrong_type", "count.min")),
        ({"kind": "formula", "expr": "not " * 3000 + "a"}, ("bad_formula", "expr")),
        ({"kind": "formula", "expr": "(" * 3000 + "a" + ")" * 3000}, ("bad_formula", "expr")),
        ({"kind": "policy", "pack": "defalt"}, ("unknown_policy", "pack")),
    ],
)
def test_crash_documents_are_refused_before_anything_runs(
    problems_of: Judge, assertion: dict[str, Any], problem: tuple[str, str]
) -> None:
    """Bounds that are texts, formulas without end and policies that don't exist are mistakes with a path."""
    assert problem in problems_of(assertion)


def test_crash_a_policy_rule_with_a_number_for_a_pattern(problems_of: Judge, tmp_path: Path) -> None:
    """A policy file is checked as a document is."""
    policy = tmp_path / "p.json"
    policy.write_text('{"rules": [{"id": "r", "type": "banned", "regex": 5}]}', encoding="utf-8")
    ((code, path),) = problems_of({"kind": "policy", "pack_path": str(policy)})
    assert (code, path) == ("wrong_type", "$.rules[0].regex")


@pytest.mark.parametrize(
    "parts",
    [
        {"transcript": [{"role": "agent", "text": 5}]},
        {"transcript": ["hi"]},
        {"trace": [5]},
    ],
)
def test_crash_turns_and_spans_of_other_types(parts: dict[str, Any]) -> None:
    """They are errors that name the item."""
    with pytest.raises(averment.EvidenceError) as caught:
        averment.Evidence(**parts)
    assert "[0]" in str(caught.value)


@pytest.mark.parametrize("line", ["5", "[1]", '{"_meta": true, "schema": "other"}'])
def test_crash_lines_of_a_trace_that_are_no_objects(tmp_path: Path, line: str) -> None:
    """A trace file with a wrong line is refused by name, wherever that line stands."""
    meta = '{"_meta": true, "schema": "hotato.voice_trace.v1"}'
    for number, lines in enumerate(([line, '{"type": "a"}'], [meta, line])):
        file = tmp_path / f"{number}.jsonl"
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        with pytest.raises(averment.EvidenceError, match=file.name):
            averment.Evidence.load(trace=file)


def test_crash_attributes_that_are_a_list(judge: Judge) -> None:
    """They hold no fields, and the call counts."""
    assert judge(T, trace=called({"attributes": [1]}))["status"] == "PASS"


@pytest.mark.parametrize(
    "text",
    [
        "version: 1\nassertions:\n- id: a\n  kind: phrase\n  regex: x\n",
        "---\nversion: 1\nassertions:\n  - {id: a, kind: phrase, regex: x}\n",
        "\ufeffversion: 1\nassertions: [\n  {id: a, kind: phrase,\n   regex: x},\n]\n",
        "version: 1\nassertions:\n  - 'id': a\n    \"kind\": phrase\n    regex: |-\n      x\n",
        "version: 1\r\nassertions:\r\n- id: a\r\n  kind: phrase\r\n  regex: x # y\r\n",
    ],
)
def test_yaml_every_usual_style_is_the_same_document(text: str) -> None:
    """Zero-indented sequences, `---`, flow items over lines, quoted keys, block scalars, a BOM, a last comma."""
    expected = averment.Document.of(
        {"version": 1, "assertions": [{"id": "a", "kind": "phrase", "regex": "x"}]}
    )
    assert averment.Document.parse(text).sha256 == expected.sha256


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ('{order: "1001"}', {"order": "1001"}),
        ("{order: 1001}", {"order": 1001}),
        ("{a: no, b: 'no', c: ~}", {"a": "no", "b": "no", "c": None}),
        (r'{a: "\\d+"}', {"a": r"\d+"}),
        ("{a: don't} # c", {"a": "don't"}),
        ("{a: [ssn,]}", {"a": ["ssn"]}),
    ],
)
def test_yaml_values_are_what_was_written(value: str, expected: Any) -> None:
    """Quotes make strings, escapes are escapes, apostrophes are letters, comments end lines."""
    text = f"version: 1\nassertions:\n  - id: a\n    kind: tool_call\n    name: t\n    args: {value}\n"
    document = averment.Document.parse(text)
    for arguments, code in ((expected, 0), ({**expected, "a": 1, "order": None}, 1)):
        evidence = averment.Evidence(trace=called({"arguments": arguments}))
        assert averment.run(document, evidence).exit_code == code


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("regex: x\n    regex: y", "duplicate_key"),
        ("regex: .nan", "number_not_finite"),
        ("regex: -.inf", "number_not_finite"),
        ('regex: "\\d"', "yaml_syntax"),
    ],
)
def test_yaml_what_is_never_meant_is_a_mistake_at_its_line(line: str, code: str) -> None:
    """Duplicate keys, numbers that are none, escapes that don't exist."""
    with pytest.raises(averment.DocumentError) as caught:
        averment.Document.parse(f"version: 1\nassertions:\n  - id: a\n    kind: phrase\n    {line}\n")
    problem = caught.value.problems[0]
    assert problem.code == code
    assert problem.line in {5, 6}


@pytest.mark.parametrize("text", ["a" * 24 + "!", "a" * 100_000 + "!"])
def test_safety_no_pattern_hangs_a_run(judge: Judge, text: str) -> None:
    """`(a+)+$` takes linear time."""
    start = time.process_time()
    assert judge({"kind": "phrase", "regex": "(a+)+$"}, transcript=said(text))["status"] == "FAIL"
    assert time.process_time() - start < 5


def test_safety_no_reason_prints_digits_or_personal_data(judge: Judge) -> None:
    """Keyed digits, arguments and records that are somebody's stand in no result."""
    ssn = "078-05-1120"
    results = judge(
        [
            {"kind": "dtmf", "digits": "99"},
            {**T, "args_subset": {"to": "x"}},
            {"kind": "state_change", "resource": "r", "field": "f", "to": "x"},
            {"kind": "state_change", "resource": "r", "field": "f", "changed": True},
        ],
        trace=[{"type": "dtmf", "digits": "4242"}, *called({"arguments": {"to": ssn}})],
        state={"r": {"before": {"f": "open"}, "after": {"f": ssn}}},
    )
    assert statuses(results) == ["FAIL", "FAIL", "FAIL", "PASS"]
    assert "4242" not in json.dumps(results)
    assert ssn not in json.dumps(results)


def test_safety_a_policy_file_is_found_beside_its_document_and_bound_by_the_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The verdict doesn't depend on the working folder, and the digest changes with the file."""
    document = tmp_path / "d.yaml"
    document.write_text(
        "version: 1\nassertions: [{id: a, kind: policy, pack_path: p.json}]\n", encoding="utf-8"
    )
    digests = []
    for word, code in (("damn", 1), ("heck", 0)):
        rules = [{"id": "r", "type": "banned", "regex": word}]
        (tmp_path / "p.json").write_text(json.dumps({"rules": rules}), encoding="utf-8")
        for folder in (tmp_path, Path("/")):
            monkeypatch.chdir(folder)
            envelope = averment.run(
                averment.Document.load(document), averment.Evidence(transcript=said("damn"))
            )
            assert envelope.exit_code == code
            digests.append(envelope.document_sha256)
    assert digests[0] == digests[1] != digests[2] == digests[3]


def test_scale_a_reverse_chain_of_conditions_takes_linear_time(envelope_of: Judge) -> None:
    """Four thousand links, each waiting for the next, are judged in seconds at the very most."""
    links = 4000
    chain = [{**T, "when": f"a{index + 1}"} for index in range(links)]
    start = time.process_time()
    envelope = envelope_of([*chain, T], trace=called({}))
    assert time.process_time() - start < 10
    assert envelope["summary"]["deterministic"]["pass"] == links + 1


def test_missing_surfaces_a_result_can_be_traced_and_verified_again(envelope_of: Judge) -> None:
    """Grounds on PASS, digests of both inputs, the engine, codes, and whose assertion it is."""
    envelope = envelope_of(
        [
            {"kind": "phrase", "regex": "hello", "tags": ["smoke"], "owner": "ops"},
            {"kind": "phrase", "regex": "bye", "severity": "warning"},
            {"kind": "handoff"},
        ],
        transcript=said("hello"),
    )
    passed, warned, unknown = envelope["results"]
    assert (passed["turns"], passed["tags"], passed["owner"]) == ([0], ["smoke"], "ops")
    assert (warned["code"], envelope["summary"]["warnings"]["fail"]) == ("not_found", 1)
    assert unknown["code"] == "trace_absent"
    assert envelope["document"]["sha256"].startswith("sha256:")
    assert envelope["evidence_sha256"].startswith("sha256:")
    assert envelope["engine"]["name"] == "averment"
