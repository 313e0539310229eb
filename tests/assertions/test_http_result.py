from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Fixture = Callable[..., Any]


def http_result(**fields: Any) -> dict[str, Any]:
    asked = {"method": "POST", "url_matches": "/refunds$", "status": 201, **fields}
    return {"kind": "http_result", **asked}


def exchange(status: Any = 201, response: Any = None, **fields: Any) -> dict[str, Any]:
    answer = {"status_code": status, "response": response}
    return {
        "type": "http_exchange",
        "method": "POST",
        "url": "https://api.example/refunds",
        **answer,
        **fields,
    }


BODY = {"status": "issued", "amount": 42, "meta": {"by": "agent", "k": 1}}
TRACE = [
    exchange(500, {"error": "down"}),
    {"type": "tool_call", "name": "x", "method": "POST", "url": "/refunds", "status_code": 201},
    exchange(201, BODY),
    exchange(200, {}, method="GET"),
]


@pytest.mark.parametrize(
    ("fields", "span_ids"),
    [
        ({}, ["s_2"]),
        ({"method": " post "}, ["s_2"]),
        ({"status": [200, 201]}, ["s_2"]),
        ({"status": [201, 500]}, ["s_0", "s_2"]),
        ({"method": "GET", "status": 200}, ["s_3"]),
        ({"response_subset": {"status": "issued"}}, ["s_2"]),
        ({"response_subset": {"meta": {"by": "agent"}}}, ["s_2"]),
        ({"response_subset": {}}, ["s_2"]),
        ({"response": {"amount": {"$gt": 40}}}, ["s_2"]),
        ({"response": {"$exists": True}}, ["s_2"]),
        ({"response_exact": BODY}, ["s_2"]),
    ],
)
def test_one_exchange_must_have_all_of_it(
    judge: Fixture, fields: dict[str, Any], span_ids: list[str]
) -> None:
    """The grounds are all exchanges that do; spans of other types are none."""
    result = judge(http_result(**fields), trace=TRACE)
    assert (result["status"], result["span_ids"]) == ("PASS", span_ids)
    result = judge(http_result(**fields, absent=True), trace=TRACE)
    assert (result["status"], result["code"], result["span_ids"]) == ("FAIL", "found_but_forbidden", span_ids)


@pytest.mark.parametrize(
    ("field", "expected", "actual", "matches"),
    [
        ("response", "done", "done", True),
        ("response", [1, {"$type": "string"}], [1, "a"], True),
        ("response", [1], [1, 2], False),
        ("response", {"$exists": False}, None, True),
        ("response", {"$exists": False}, {}, False),
        ("response_subset", {"a": 1}, {"a": True}, False),
        ("response_subset", {"a": {"b": 1}}, {"a": {"b": 1, "c": 2}}, True),
        ("response_subset", {"a": None}, {"b": 1}, False),
        ("response_subset", {"a": 1}, None, False),
        ("response_subset", {"a": 1}, [{"a": 1}], False),
        ("response_exact", {"a": 1}, {"a": 1, "b": 2}, False),
        ("response_exact", [{"a": 1}], [{"a": 1, "b": 2}], False),
        ("response_exact", {"a": 1}, {"a": 1.0}, True),
    ],
)
def test_responses_of_every_type_can_match(
    judge: Fixture, field: str, expected: Any, actual: Any, matches: bool
) -> None:
    """Fault 11 of the reference: subsets were shallow, true equalled 1, and scalars and lists never matched."""
    asked = http_result(**{field: expected})
    assert judge(asked, trace=[exchange(201, actual)])["status"] == ("PASS" if matches else "FAIL")
    absent = judge({**asked, "absent": True}, trace=[exchange(201, actual)])
    assert absent["status"] == ("FAIL" if matches else "PASS")


@pytest.mark.parametrize(
    ("status", "matches"), [(201, True), (201.0, True), ("201", False), (True, False), (None, False)]
)
def test_status_codes_are_numbers(judge: Fixture, status: Any, matches: bool) -> None:
    """As in the reference; in a native trace text is no number."""
    assert judge(http_result(), trace=[exchange(status)])["status"] == ("PASS" if matches else "FAIL")


def test_a_request_that_was_answered_otherwise_is_a_near_miss(judge: Fixture) -> None:
    """The nearest answer is the grounds, with what differs in it."""
    trace = [exchange(500, {"error": "down"}), exchange(201, {**BODY, "amount": 7})]
    result = judge(http_result(response={"status": "issued", "amount": 42}), trace=trace)
    assert (result["status"], result["code"], result["span_ids"]) == ("FAIL", "value_mismatch", ["s_1"])
    assert result["mismatches"] == [{"path": "response.amount", "expected": "42", "found": "7"}]
    assert result["reason"] == (
        "a POST to `/refunds$` with that answer must occur, and does not; "
        "the nearest answer differs: response.amount: expected 42, found 7"
    )
    assert result["public_reason"] == "the answer to POST requests is not as required"
    result = judge(http_result(status=[200, 204]), trace=[exchange(500), exchange(None)])
    assert [mismatch["path"] for mismatch in result["mismatches"]] == ["status"]


def test_a_request_that_was_never_made_is_not_found(judge: Fixture) -> None:
    """No other request comes near it."""
    for fields in ({"method": "PUT"}, {"url_matches": "/orders"}, {"url_matches": "/Refunds"}):
        result = judge(http_result(**fields), trace=TRACE)
        assert (result["status"], result["code"]) == ("FAIL", "not_found")
        assert "mismatches" not in result
        assert "span_ids" not in result
    assert judge(http_result(), trace=[])["code"] == "not_found"
    assert judge(http_result(method="ÄÖ"), trace=[])["public_reason"] == "an answer is not as required"


def test_absent_passes_when_no_answer_is_so(judge: Fixture) -> None:
    """Requests that were answered otherwise are fine."""
    assert judge(http_result(status=404, absent=True), trace=TRACE)["status"] == "PASS"
    assert judge(http_result(absent=True), trace=[])["status"] == "PASS"


def test_a_source_without_http_is_inconclusive(judge: Fixture, gapped: Fixture) -> None:
    """Tool calls that are recorded say nothing of HTTP, and neither does a missing trace."""
    for code, evidence in (
        ("trace_absent", gapped({}, transcript=[])),
        ("http_absent", gapped({"http": "absent"}, trace=[])),
    ):
        for fields in ({}, {"absent": True}):
            result = judge(http_result(**fields), evidence)
            assert (result["status"], result["code"]) == ("INCONCLUSIVE", code)


@pytest.mark.parametrize("state", ["truncated", "partial", "redacted"])
def test_incomplete_http_proves_only_what_it_shows(judge: Fixture, gapped: Fixture, state: str) -> None:
    """The exchange that is looked for may be in the missing part."""
    evidence = gapped({"http": state}, trace=TRACE)
    assert judge(http_result(), evidence)["status"] == "PASS"
    assert judge(http_result(absent=True), evidence)["status"] == "FAIL"
    for fields in ({"status": 404}, {"status": 404, "absent": True}, {"method": "PUT"}):
        assert judge(http_result(**fields), evidence)["code"] == "channel_truncated"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"method": " "}, [("empty_value", "method")]),
        ({"method": ""}, [("empty_value", "method")]),
        ({"url_matches": "("}, [("bad_pattern", "url_matches")]),
        ({"url_matches": ""}, [("empty_value", "url_matches")]),
        ({"status": 600}, [("out_of_range", "status")]),
        ({"status": [200, 99]}, [("out_of_range", "status[1]")]),
        ({"status": True}, [("wrong_type", "status")]),
        ({"status": "201"}, [("wrong_type", "status")]),
        ({"status": []}, [("empty_value", "status")]),
        ({"response_subset": None}, [("wrong_type", "response_subset")]),
        ({"response_subset": {}, "response": 1}, [("fields_exclude", "response")]),
        ({"response": 1, "response_exact": 1}, [("fields_exclude", "response_exact")]),
        ({"response_subset": {"a": {"$x": 1}}}, [("bad_expected_value", "response_subset.a.$x")]),
        ({"response_exact": {"$exists": False}}, [("bad_expected_value", "response_exact.$exists")]),
        ({"absent": 1}, [("wrong_type", "absent")]),
        ({"url": "x"}, [("unknown_field", "url")]),
    ],
)
def test_mistakes_are_told_with_their_places(
    problems_of: Fixture, fields: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    """Every mistake of an http_result is found before anything runs."""
    assert problems_of(http_result(**fields)) == expected


def test_method_address_and_status_are_required(problems_of: Fixture) -> None:
    """None of them has a default."""
    assert problems_of({"kind": "http_result"}) == [("missing_field", "")] * 3
