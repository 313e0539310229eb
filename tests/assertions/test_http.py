from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Fixture = Callable[..., Any]


def exchange(**fields: Any) -> dict[str, Any]:
    return {"type": "http_exchange", **fields}


POST = exchange(
    method="POST", url="https://api.example/Refunds/1", status_code=201, response={"ok": True, "id": 7}
)


def http(**fields: Any) -> dict[str, Any]:
    """HTTP exchanges are matched as steps of a sequence."""
    return {"kind": "sequence", "steps": [{"http": fields}]}


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({}, "PASS"),
        ({"method": "post"}, "PASS"),
        ({"method": " POST "}, "PASS"),
        ({"method": "GET"}, "FAIL"),
        ({"url_matches": r"/Refunds/\d+$"}, "PASS"),
        ({"url_matches": "/refunds/"}, "FAIL"),
        ({"url_matches": "^/Refunds"}, "FAIL"),
        ({"status": 201}, "PASS"),
        ({"status": 200}, "FAIL"),
        ({"status": [200, 201]}, "PASS"),
        ({"status": [200, 204]}, "FAIL"),
        ({"status": [100, 599]}, "FAIL"),
        ({"response_subset": {"ok": True}}, "PASS"),
        ({"response_subset": {"ok": 1}}, "FAIL"),
        ({"response_subset": {"id": {"$gt": 5}}}, "PASS"),
        ({"response_subset": {}}, "PASS"),
        ({"method": "POST", "url_matches": "Refunds", "status": 201, "response_subset": {"id": 7}}, "PASS"),
        ({"method": "POST", "url_matches": "Refunds", "status": 201, "response_subset": {"id": 8}}, "FAIL"),
        ({"method": "POST", "url_matches": "Refunds", "status": 202, "response_subset": {"id": 7}}, "FAIL"),
    ],
)
def test_every_field_that_is_given_must_match(judge: Fixture, fields: dict[str, Any], status: str) -> None:
    """Methods match in any case, addresses in their own, responses as deep subsets."""
    result = judge(http(**fields), trace=[{"type": "dtmf"}, POST])
    assert result["status"] == status
    assert result.get("span_ids") == (["s_1"] if status == "PASS" else None)


@pytest.mark.parametrize(
    "span",
    [
        exchange(
            **{"http.method": "post", "http.url": "/a", "http.status_code": 200.0, "response_body": {"k": 1}}
        ),
        exchange(request_method="POST", route="/a", status_code=200, result={"k": 1}),
        exchange(
            method=None,
            attributes={"method": "POST", "target": "/a", "status_code": 200, "response": {"k": 1}},
        ),
    ],
)
def test_fields_are_found_under_all_their_names(judge: Fixture, span: dict[str, Any]) -> None:
    """The reference's aliases, at the top of a span or among its attributes."""
    fields = {"method": "POST", "url_matches": "^/a$", "status": 200, "response_subset": {"k": 1}}
    assert judge(http(**fields), trace=[span])["status"] == "PASS"


@pytest.mark.parametrize(
    ("fields", "span"),
    [
        ({"method": "POST"}, exchange(method=5)),
        ({"method": "POST"}, exchange()),
        ({"url_matches": "a"}, exchange(url=["a"])),
        ({"status": 200}, exchange(status_code="200")),
        ({"status": 200}, exchange()),
        ({"response_subset": {"k": 1}}, exchange(response="k")),
        ({"response_subset": {"k": {"$exists": False}}}, exchange()),
        ({}, {"type": "http", "method": "POST"}),
        ({}, {"type": "tool_call", "name": "a", "method": "POST"}),
    ],
)
def test_values_of_other_types_and_other_spans_do_not_match(
    judge: Fixture, fields: dict[str, Any], span: dict[str, Any]
) -> None:
    """Nothing raises, and nothing is guessed."""
    assert judge(http(**fields), trace=[span])["code"] == "not_found"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"method": "  "}, [("empty_value", "steps[0].http.method")]),
        ({"method": 5}, [("wrong_type", "steps[0].http.method")]),
        ({"url_matches": "("}, [("bad_pattern", "steps[0].http.url_matches")]),
        ({"status": 99}, [("out_of_range", "steps[0].http.status")]),
        ({"status": 600}, [("out_of_range", "steps[0].http.status")]),
        ({"status": [200, 1000]}, [("out_of_range", "steps[0].http.status[1]")]),
        ({"status": True}, [("wrong_type", "steps[0].http.status")]),
        ({"status": []}, [("empty_value", "steps[0].http.status")]),
        ({"status": ["200"]}, [("wrong_type", "steps[0].http.status[0]")]),
        (
            {"response_subset": {"a": {"$x": 1}}},
            [("bad_expected_value", "steps[0].http.response_subset.a.$x")],
        ),
        ({"verb": "GET"}, [("unknown_field", "steps[0].http.verb")]),
    ],
)
def test_mistakes_are_told_with_their_places(
    problems_of: Fixture, fields: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    """Every mistake of an exchange is found before anything runs."""
    assert problems_of(http(**fields)) == expected
