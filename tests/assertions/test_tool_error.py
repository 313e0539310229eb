from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Fixture = Callable[..., Any]


def tool_error(name: Any = "refund", **fields: Any) -> dict[str, Any]:
    return {"kind": "tool_error", "name": name, **fields}


def call(name: str = "refund", **fields: Any) -> dict[str, Any]:
    return {"type": "tool_call", "name": name, **fields}


def timeout(name: str = "refund", **fields: Any) -> dict[str, Any]:
    return {"type": "tool_timeout", "name": name, **fields}


def mcp(*texts: str, **fields: Any) -> dict[str, Any]:
    """A result of the Model Context Protocol."""
    return {"content": [{"type": "text", "text": text} for text in texts], "isError": True, **fields}


TRACE = [
    call(result={"ok": True}),
    call(error="declined: limit"),
    call("lookup", error="down"),
    call(status="ERROR", message="Try later"),
]


@pytest.mark.parametrize(
    ("fields", "is_error"),
    [
        ({"error": "boom"}, True),
        ({"error": {"message": "boom"}}, True),
        ({"error": {}}, True),
        ({"error": []}, True),
        ({"error": True}, True),
        ({"attributes": {"error": "boom"}}, True),
        ({"error": None}, False),
        ({"error": ""}, False),
        ({"error": False}, False),
        ({"error": 0}, False),
        ({"status": "error"}, True),
        ({"status": "ERROR"}, True),
        ({"status": "Failed"}, True),
        ({"status": "timeout"}, True),
        ({"status": "ok"}, False),
        ({"status": 400}, True),
        ({"status_code": 503}, True),
        ({"attributes": {"http.status_code": 500}}, True),
        ({"status_code": 399}, False),
        ({"ok": False}, True),
        ({"ok": 0}, False),
        ({"result": mcp("no")}, True),
        ({"result": {"isError": False}}, False),
        ({"result": {"error": "only said"}}, False),
        ({}, False),
    ],
)
def test_what_an_error_is(judge: Fixture, fields: dict[str, Any], is_error: bool) -> None:
    """Difference 13: error objects, status in any case, HTTP status of 400 and above, and MCP's `isError`."""
    result = judge(tool_error(), trace=[call(**fields)])
    assert result["status"] == ("PASS" if is_error else "FAIL")
    assert result.get("tool_calls") == (["c_0"] if is_error else None)
    assert judge(tool_error(absent=True), trace=[call(**fields)])["status"] == (
        "FAIL" if is_error else "PASS"
    )


def test_a_timeout_of_the_tool_is_an_error(judge: Fixture) -> None:
    """Fault 13: a `tool_timeout` span was none; the grounds are the span, and the call if one is known."""
    result = judge(tool_error(), trace=[call(), timeout()])
    assert (result["status"], result["tool_calls"], result["span_ids"]) == ("PASS", ["c_0"], ["s_0", "s_1"])
    result = judge(tool_error(), trace=[timeout()])
    assert (result["status"], result["span_ids"]) == ("PASS", ["s_0"])
    result = judge(tool_error(absent=True), trace=[call(result={}), timeout()])
    assert (result["code"], result["span_ids"]) == ("found_but_forbidden", ["s_1"])
    assert judge(tool_error(), trace=[call(), timeout("lookup")])["status"] == "FAIL"


@pytest.mark.parametrize(
    "span",
    [
        call(error="over the LIMIT"),
        call(error={"code": 7, "detail": {"reasons": ["x", "over the limit"]}}),
        call(error=True, error_message="over the limit"),
        call(error="declined", message="over the limit"),
        call(ok=False, message={"text": "over the limit"}),
        call(status="error", attributes={"error_message": "over the limit"}),
        call(status="FAILED", error="no", message="x", error_message="over the limit"),
        call(result=mcp("no", "over the limit")),
        call(error="limit of attempts: the limit is over the limit"),
        timeout(message="over the limit"),
        timeout(error={"why": "over the limit"}),
    ],
)
def test_every_text_of_an_error_is_searched(judge: Fixture, span: dict[str, Any]) -> None:
    """Fault 13: only the first text was, and an error object never matched."""
    asked = tool_error(error_matches=r"over the\slimit")
    assert judge(asked, trace=[span])["status"] == "PASS"
    assert judge({**asked, "absent": True}, trace=[span])["status"] == "FAIL"
    other = tool_error(error_matches="overdrawn")
    assert judge(other, trace=[span])["code"] == "value_mismatch"
    assert judge({**other, "absent": True}, trace=[span])["status"] == "PASS"


@pytest.mark.parametrize(
    "span",
    [
        call(error={"over the limit": 1}),
        call(error=5),
        call(error="down", result="over the limit"),
        call(error="down", result={"content": [{"text": "over the limit"}]}),
        call(result={"isError": True, "content": "over the limit"}),
        call(
            result={"isError": True, "content": [{"type": "over the limit", "text": None}, "over the limit"]}
        ),
        call(message="over the limit", result={"ok": True}),
    ],
)
def test_nothing_else_is_a_text_of_an_error(judge: Fixture, span: dict[str, Any]) -> None:
    """Keys, plain results and the messages of calls that went well are none."""
    assert judge(tool_error(error_matches="over the limit"), trace=[span])["status"] == "FAIL"


def test_the_status_is_a_text_too_and_a_timeout_says_so(judge: Fixture) -> None:
    """What ran out of time often says nothing else."""
    assert judge(tool_error(error_matches="^error$"), trace=[call(status="ERROR")])["status"] == "PASS"
    asked = tool_error(error_matches="timeout")
    for trace in ([timeout()], [call(), timeout()], [call(status="timed_out")]):
        assert judge(asked, trace=trace)["status"] == "PASS"
    assert judge(asked, trace=[call(status="error")])["status"] == "FAIL"


def test_a_hostile_error_is_searched_in_bounded_time(judge: Fixture) -> None:
    """Neither depth nor a pattern that backtracks matters."""
    deep: Any = "a" * 5000 + "!"
    for _ in range(150):
        deep = [deep]
    assert judge(tool_error(error_matches="(a+)+$"), trace=[call(error=deep)])["code"] == "value_mismatch"


def test_only_calls_that_qualify_are_the_grounds(judge: Fixture) -> None:
    """Of that tool, with that error."""
    result = judge(tool_error(), trace=TRACE)
    assert (result["tool_calls"], result["span_ids"]) == (["c_1", "c_3"], ["s_1", "s_3"])
    assert judge(tool_error(error_matches="^decl"), trace=TRACE)["tool_calls"] == ["c_1"]


def test_another_error_is_told(judge: Fixture) -> None:
    """The reason says what the errors said instead; the public reason quotes nothing."""
    result = judge(tool_error(error_matches="stolen"), trace=TRACE)
    assert (result["status"], result["code"], result["tool_calls"]) == (
        "FAIL",
        "value_mismatch",
        ["c_1", "c_3"],
    )
    assert result["reason"] == (
        "`refund` must go wrong with an error that matches /stolen/, and "
        'c_1, c_3 went wrong saying "declined: limit", "Try later", "ERROR"'
    )
    assert result["public_reason"] == "errors of refund are not as required"
    late = judge(tool_error(error_matches="x"), trace=[timeout()])
    assert (late["code"], late["span_ids"]) == ("value_mismatch", ["s_0"])
    assert late["reason"].endswith('s_0 went wrong saying "timeout"')
    silent = judge(tool_error(error_matches="x"), trace=[call(ok=False)])
    assert silent["reason"].endswith("c_0 went wrong saying nothing")


def test_calls_that_went_well_and_no_calls_are_told_apart(judge: Fixture) -> None:
    """Both are not found; the reason says which."""
    result = judge(tool_error("lookup"), trace=[call("lookup") for _ in range(5)])
    assert (result["status"], result["code"]) == ("FAIL", "not_found")
    assert result["reason"] == ("`lookup` must go wrong, and none of its calls did: c_0, c_1, c_2 and 2 more")
    result = judge(tool_error("cancel it"), trace=TRACE)
    assert result["reason"].endswith("and it was never called; tools called: `refund`, `lookup`")
    assert result["public_reason"] == "tool errors are not as required"
    assert judge(tool_error(), trace=[])["reason"].endswith("tools called: none")


def test_absent_forbids_such_an_error(judge: Fixture) -> None:
    """Other errors are fine."""
    result = judge(tool_error(error_matches="limit", absent=True), trace=TRACE)
    assert (result["code"], result["tool_calls"]) == ("found_but_forbidden", ["c_1"])
    assert result["reason"] == (
        "`refund` must not go wrong with an error that matches /limit/, and did in c_1"
    )
    result = judge(tool_error(error_matches="stolen", absent=True), trace=TRACE)
    assert result["status"] == "PASS"
    assert "vacuous" not in result


def test_absent_is_vacuous_for_a_tool_that_was_never_called(judge: Fixture) -> None:
    """Fault 13: as in the reference it passes, and the result says that nothing was tried."""
    result = judge(tool_error("cancel", absent=True), trace=TRACE)
    assert (result["status"], result["vacuous"]) == ("PASS", True)
    timed_out = judge(tool_error(error_matches="x", absent=True), trace=[timeout()])
    assert "vacuous" not in timed_out


def test_calls_that_were_not_executed_do_not_go_wrong(judge: Fixture, gapped: Fixture) -> None:
    """A call that was denied, or made by somebody else than the agent, is none of the agent's errors."""
    for fields in ({"status": "denied"}, {"status": "cancelled"}, {"requestor": "user"}):
        evidence = gapped({}, [fields], trace=[call(error="no")])
        assert judge(tool_error(), evidence)["code"] == "not_found"


def test_a_call_without_a_span_has_its_error(judge: Fixture, gapped: Fixture) -> None:
    """Sources of calls alone show errors too."""
    evidence = gapped({}, [{"position": None, "span_id": None}], trace=[call(error={"m": "limit"})])
    result = judge(tool_error(error_matches="limit"), evidence)
    assert (result["status"], result["tool_calls"]) == ("PASS", ["c_0"])


@pytest.mark.parametrize("state", ["absent", "truncated", "partial", "redacted", "unreadable"])
def test_a_source_that_does_not_show_errors_leaves_the_verdict_open(
    judge: Fixture, gapped: Fixture, state: str
) -> None:
    """Calls of which nothing is said may have gone wrong, and errors may have said more; known ones decide."""
    evidence = gapped({"errors": state}, trace=[*TRACE, call()])
    assert judge(tool_error(), evidence)["status"] == "PASS"
    assert judge(tool_error(absent=True), evidence)["status"] == "FAIL"
    for fields in ({}, {"absent": True}):
        result = judge(tool_error(error_matches="stolen", **fields), evidence)
        assert (result["status"], result["code"]) == ("INCONCLUSIVE", "errors_not_recorded")
        assert result["tool_calls"] == ["c_1", "c_3", "c_4"]
        assert (result["evidence_gap"]["channel"], result["evidence_gap"]["state"]) == ("errors", state)
        assert result["public_reason"] == "required error evidence was missing"
        never = judge(tool_error("cancel", **fields), evidence)
        assert never["status"] == ("PASS" if fields else "FAIL")
    went_well = gapped({"errors": state}, trace=[call(ok=True)])
    assert judge(tool_error(), went_well)["code"] == "not_found"
    timed_out = judge(tool_error(error_matches="x"), gapped({"errors": state}, trace=[timeout()]))
    assert (timed_out["code"], timed_out["span_ids"]) == ("errors_not_recorded", ["s_0"])


@pytest.mark.parametrize("state", ["truncated", "partial", "redacted"])
def test_an_incomplete_trace_proves_errors_and_never_their_absence(
    judge: Fixture, gapped: Fixture, state: str
) -> None:
    """The call that went wrong so may be in the missing part."""
    evidence = gapped({"executions": state}, trace=TRACE)
    assert judge(tool_error(), evidence)["status"] == "PASS"
    assert judge(tool_error(absent=True), evidence)["status"] == "FAIL"
    for fields in ({"error_matches": "x"}, {"error_matches": "x", "absent": True}, {"name": "cancel"}):
        result = judge({**tool_error(), **fields}, evidence)
        assert (result["status"], result["code"]) == ("INCONCLUSIVE", "channel_truncated")


def test_an_absent_trace_is_inconclusive(judge: Fixture) -> None:
    """What the agent said of an error is none."""
    said = [{"role": "agent", "text": "the refund failed"}]
    for fields in ({}, {"absent": True}):
        assert judge(tool_error(**fields), transcript=said)["code"] == "trace_absent"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"name": ""}, [("empty_value", "name")]),
        ({"error_matches": ""}, [("empty_value", "error_matches")]),
        ({"error_matches": "["}, [("bad_pattern", "error_matches")]),
        ({"error_matches": "\b"}, [("bad_pattern", "error_matches")]),
        ({"error_matches": None}, [("wrong_type", "error_matches")]),
        ({"absent": 1}, [("wrong_type", "absent")]),
        ({"abscent": True}, [("unknown_field", "abscent")]),
    ],
)
def test_mistakes_are_told_with_their_places(
    problems_of: Fixture, fields: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    """Every mistake of a tool_error is found before anything runs."""
    assert problems_of({**tool_error(), **fields}) == expected
