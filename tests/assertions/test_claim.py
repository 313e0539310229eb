from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from averment import Evidence

Judge = Callable[..., dict[str, Any]]


def turn(text: str, start: float | None = 9, role: str = "agent") -> dict[str, Any]:
    return {"role": role, "text": text, **({} if start is None else {"start": start, "end": start + 3})}


def call(
    amount: Any = 42, start: float | None = 5, name: str = "issue_refund", **fields: Any
) -> dict[str, Any]:
    times = {} if start is None else {"start_sec": start, "end_sec": start + 1}
    return {"type": "tool_call", "name": name, "arguments": {"amount": amount}, **times, **fields}


def claim(**fields: Any) -> dict[str, Any]:
    return {
        "id": "c",
        "kind": "claim",
        "says": r"refund of (?P<amount>\S+) dollars",
        "tool": "issue_refund",
        **fields,
    }


SAID = turn("Your refund of 42 dollars is on its way.")
BOUND = {"matches": {"amount": "arguments.amount"}}


def test_a_claim_with_a_successful_call_before_it_passes_and_shows_both(judge: Judge) -> None:
    """The turn that says it and the call that did it are the grounds."""
    result = judge(claim(), transcript=[turn("Hi", 1), SAID], trace=[call()])
    assert (result["status"], result["turns"], result["tool_calls"]) == ("PASS", [1], ["c_0"])
    assert "vacuous" not in result


def test_a_claim_without_a_call_fails_and_says_what_was_called_instead(judge: Judge) -> None:
    """Words are not deeds: an agent that says it refunded and never did is caught."""
    result = judge(claim(), transcript=[SAID], trace=[call(name="lookup_order")])
    assert (result["status"], result["code"], result["turns"]) == ("FAIL", "claim_unbacked", [0])
    assert result["unbacked"] == [{"turn": 0}]
    assert "`issue_refund` was never called; tools called: `lookup_order`" in result["reason"]


def test_what_is_never_said_is_vacuously_kept_or_must_occur(judge: Judge) -> None:
    """No claim, nothing to back: PASS with vacuous, or FAIL where it must be said."""
    result = judge(claim(), transcript=[turn("Hello")], trace=[])
    assert (result["status"], result["vacuous"]) == ("PASS", True)
    result = judge(claim(must_occur=True), transcript=[turn("Hello")], trace=[])
    assert (result["status"], result["code"]) == ("FAIL", "not_found")


def test_nothing_said_needs_no_trace(judge: Judge) -> None:
    """A trace is missed only where there is something to back."""
    assert judge(claim(), transcript=[turn("Hello")])["status"] == "PASS"
    result = judge(claim(), transcript=[SAID])
    assert (result["status"], result["code"]) == ("INCONCLUSIVE", "trace_absent")


def test_without_a_transcript_nothing_can_be_said(judge: Judge) -> None:
    """An absent transcript is no silence."""
    assert judge(claim(), trace=[])["code"] == "transcript_absent"


@pytest.mark.parametrize(
    ("amount", "status"), [(42, "PASS"), (42.0, "PASS"), ("42", "PASS"), (24, "FAIL"), (None, "FAIL")]
)
def test_bound_values_compare_as_text_with_numbers_in_one_form(
    judge: Judge, amount: Any, status: str
) -> None:
    """42 dollars are backed by 42, 42.0 and "42", not by 24 or nothing."""
    result = judge(claim(**BOUND), transcript=[SAID], trace=[call(amount)])
    assert result["status"] == status
    if status == "FAIL":
        assert result["unbacked"] == [{"turn": 0, "values": {"amount": "42"}}]


def test_each_turn_that_claims_needs_a_call_of_its_value(judge: Judge) -> None:
    """One call backs one amount; the turn with another amount fails alone."""
    result = judge(
        claim(**BOUND),
        transcript=[SAID, turn("And a refund of 7 dollars, a refund of 42 dollars too.", 20)],
        trace=[call(42)],
    )
    assert result["unbacked"] == [{"turn": 1, "values": {"amount": "7"}}]


def test_a_group_that_took_no_part_binds_nothing(judge: Judge) -> None:
    """What is not said of a value is not compared."""
    says = r"refund(?: of (?P<amount>\d+))? sent"
    for text, status in (
        ("refund sent", "PASS"),
        ("refund of 9 sent", "FAIL"),
        ("refund of 42 sent", "PASS"),
    ):
        assert judge(claim(says=says, **BOUND), transcript=[turn(text)], trace=[call(42)])["status"] == status


def test_normalizers_leave_out_of_account_what_they_say(judge: Judge) -> None:
    """Digits only, on both sides."""
    says = r"number (?P<n>[\d -]+)"
    matches = {"n": {"field": "result.ref.number", "normalize": ["digits"]}}
    trace = [call(result={"ref": {"number": "12-345"}})]
    assert (
        judge(claim(says=says, matches=matches), transcript=[turn("number 1 2345")], trace=trace)["status"]
        == "PASS"
    )
    assert (
        judge(claim(says=says, matches=matches), transcript=[turn("number 1 2346")], trace=trace)["status"]
        == "FAIL"
    )


@pytest.mark.parametrize(
    ("timing", "start", "status"),
    [
        ("before", 5, "PASS"),
        ("before", 9, "PASS"),
        ("before", 10, "FAIL"),
        ("after", 5, "FAIL"),
        ("after", 9, "PASS"),
        ("after", 10, "PASS"),
        ("anywhere", 5, "PASS"),
        ("anywhere", 10, "PASS"),
    ],
)
def test_the_call_begins_on_the_right_side_of_the_turn(
    judge: Judge, timing: str, start: int, status: str
) -> None:
    """By start times on a common clock; a call that begins with the turn is on both sides."""
    assert judge(claim(timing=timing), transcript=[SAID], trace=[call(start=start)])["status"] == status


@pytest.mark.parametrize(
    ("within", "status"),
    [({"seconds": 4}, "PASS"), ({"seconds": 3.9}, "FAIL"), ({"turns": 2}, "PASS"), ({"turns": 1}, "FAIL")],
)
def test_within_bounds_the_distance(judge: Judge, within: dict[str, Any], status: str) -> None:
    """Seconds between the starts, or turns in between."""
    transcript = [turn("a", 4), turn("b", 6), SAID]
    assert judge(claim(within=within), transcript=transcript, trace=[call(start=5)])["status"] == status


def test_without_times_the_side_is_unknowable_unless_anywhere(judge: Judge) -> None:
    """Separate lists without times have no order; a call that does not exist at all still fails."""
    for transcript, trace in (([turn("refund of 42 dollars", None)], [call()]), ([SAID], [call(start=None)])):
        result = judge(claim(), transcript=transcript, trace=trace)
        assert (result["status"], result["code"]) == ("INCONCLUSIVE", "no_clock")
        assert judge(claim(timing="anywhere"), transcript=transcript, trace=trace)["status"] == "PASS"
    assert judge(claim(), transcript=[turn("refund of 42 dollars", None)], trace=[])["status"] == "FAIL"


@pytest.mark.parametrize(
    "fields", [{"error": "declined"}, {"status": "failed"}, {"ok": False}, {"result": {"isError": True}}]
)
def test_a_call_that_failed_backs_nothing_unless_any_will_do(judge: Judge, fields: dict[str, Any]) -> None:
    """Right tool, right arguments, tool failed: not done."""
    result = judge(claim(), transcript=[SAID], trace=[call(**fields)])
    assert result["status"] == "FAIL"
    assert "never succeeded" in result["reason"]
    assert judge(claim(succeeded="any"), transcript=[SAID], trace=[call(**fields)])["status"] == "PASS"


def test_arguments_and_results_are_expected_values(judge: Judge) -> None:
    """Both must match; operators work."""
    fields = {"args": {"amount": {"$gte": 40}}, "result": {"status": "ok"}}
    assert (
        judge(claim(**fields), transcript=[SAID], trace=[call(result={"status": "ok"})])["status"] == "PASS"
    )
    assert (
        judge(claim(**fields), transcript=[SAID], trace=[call(result={"status": "no"})])["status"] == "FAIL"
    )
    assert (
        judge(claim(**fields), transcript=[SAID], trace=[call(1, result={"status": "ok"})])["status"]
        == "FAIL"
    )


def test_unreadable_arguments_leave_it_open(judge: Judge) -> None:
    """A call whose arguments can't be parsed neither backs the claim nor leaves it unbacked."""
    trace = [{**call(), "arguments": "{amount: 42"}]
    for fields in ({"args": {"amount": 42}}, BOUND):
        result = judge(claim(**fields), transcript=[SAID], trace=trace)
        assert (result["status"], result["code"]) == ("INCONCLUSIVE", "arguments_unreadable")
    assert judge(claim(**BOUND), transcript=[SAID], trace=[*trace, call()])["status"] == "PASS"


def test_only_the_role_s_words_count(judge: Judge) -> None:
    """The caller asking for a refund claims nothing; null listens to anybody."""
    asked = turn("I want a refund of 42 dollars", role="caller")
    assert judge(claim(), transcript=[asked], trace=[])["vacuous"] is True
    assert judge(claim(role=None), transcript=[asked], trace=[])["status"] == "FAIL"


def test_an_incomplete_trace_does_not_prove_that_nothing_was_done(
    gapped: Callable[..., Any], judge: Judge
) -> None:
    """A call may be missing from a truncated trace."""
    evidence = gapped({"executions": "truncated"}, transcript=[SAID], trace=[])
    assert judge(claim(), evidence)["code"] == "channel_truncated"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"matches": {"amuont": "arguments.amount"}}, ("unknown_group", "matches.amuont")),
        ({"matches": {"amount": "amount"}}, ("not_allowed", "matches.amount")),
        ({"matches": {"amount": {"field": "x.y"}}}, ("not_allowed", "matches.amount.field")),
        (
            {"matches": {"amount": {"field": "result.y", "normalize": ["phone"]}}},
            ("not_allowed", "matches.amount.normalize[0]"),
        ),
        ({"succeeded": False}, ("not_allowed", "succeeded")),
        ({"within": {"seconds": 1, "turns": 1}}, ("fields_exclude", "within")),
        ({"within": {"turns": 0}}, ("out_of_range", "within")),
        ({"args": {"$gtt": 1}}, ("bad_expected_value", "args.$gtt")),
        ({"timing": "during"}, ("not_allowed", "timing")),
        ({"says": "(", **BOUND}, ("bad_pattern", "says")),
        ({"says": "(?P<amount>(a+)+)$", **BOUND}, ("bad_pattern", "says")),
    ],
)
def test_mistakes_are_told_with_their_places(
    problems_of: Callable[..., Any], fields: dict[str, Any], expected: tuple[str, str]
) -> None:
    """Each mistake has its code and its path."""
    assert problems_of(claim(**fields)) == [expected]


def test_hostile_sizes_stay_linear(judge: Judge) -> None:
    """Ten thousand claims over ten thousand calls are judged without comparing each with each."""
    size = 10_000
    transcript = [turn(f"refund of {number} dollars", number + 1) for number in range(size)]
    trace = [call(number, start=number) for number in range(size)]
    assert judge(claim(**BOUND), transcript=transcript, trace=trace)["status"] == "PASS"


# Without times: the order of messages.

ASKED: dict[str, Any] = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "call_a", "function": {"name": "issue_refund", "arguments": '{"amount": 42}'}}],
}
ANSWERED = {"role": "tool", "tool_call_id": "call_a", "content": '{"ok": true, "state": "paid out"}'}
CLAIMED = {"role": "assistant", "content": "Your refund of 42 dollars is on its way."}
CALLER = {"role": "user", "content": "Where is my money?"}


def chat(*messages: dict[str, Any]) -> Evidence:
    return Evidence.from_bytes(json.dumps(messages).encode(), from_format="openai_chat")


@pytest.mark.parametrize(
    ("messages", "timing", "status"),
    [
        ([CALLER, ASKED, ANSWERED, CLAIMED], "before", "PASS"),
        ([CALLER, CLAIMED, ASKED, ANSWERED], "before", "FAIL"),
        ([CALLER, ASKED, ANSWERED, CLAIMED], "after", "FAIL"),
        ([CALLER, CLAIMED, ASKED, ANSWERED], "after", "PASS"),
        ([CALLER, CLAIMED, ASKED, ANSWERED], "anywhere", "PASS"),
    ],
)
def test_messages_without_times_are_ordered_by_their_places(
    judge: Judge, messages: list[dict[str, Any]], timing: str, status: str
) -> None:
    """A list of chat messages says which came first, though no clock does."""
    result = judge(claim(**BOUND, timing=timing), chat(*messages))
    assert (result["status"], result.get("code")) == (status, None if status == "PASS" else "claim_unbacked")


def test_a_number_of_turns_counts_by_places_and_seconds_need_a_clock(judge: Judge) -> None:
    """Within so many turns is known without times, within seconds is not."""
    evidence = chat(ASKED, ANSWERED, CALLER, CALLER, CLAIMED)
    assert judge(claim(**BOUND, within={"turns": 1}), evidence)["status"] == "FAIL"
    assert judge(claim(**BOUND, within={"turns": 3}), evidence)["status"] == "PASS"
    assert judge(claim(**BOUND, within={"seconds": 9}), evidence)["status"] == "INCONCLUSIVE"


def test_the_message_that_asks_for_a_call_speaks_before_it(judge: Judge) -> None:
    """What is said in one message with the request is said before the call is made."""
    both = {**ASKED, "content": CLAIMED["content"]}
    assert judge(claim(**BOUND), chat(CALLER, both, ANSWERED))["status"] == "FAIL"


def test_merged_sources_have_no_order_of_messages(judge: Judge) -> None:
    """Turns of one source and calls of another: which came first nobody says."""
    words = Evidence(transcript=[turn("Hello", None), turn(CLAIMED["content"], None)], conversation_id="c")
    calls = Evidence(trace=[call(start=None)], conversation_id="c")
    result = judge(claim(**BOUND), words.merged(calls))
    assert (result["status"], result["code"]) == ("INCONCLUSIVE", "no_clock")
    whole = chat(CALLER, ASKED, ANSWERED, CLAIMED)
    assert judge(claim(**BOUND), whole.merged(whole))["status"] == "PASS", "its own order it keeps"


# Without marks of failure: whether a call went well is told by what its tool answered, or not at all.


@pytest.mark.parametrize(
    ("answer", "fields", "status", "code"),
    [
        ("declined: over the limit", {}, "INCONCLUSIVE", "errors_not_recorded"),
        ('{"state": "paid out"}', {}, "INCONCLUSIVE", "errors_not_recorded"),
        ('{"state": "paid out"}', {"result": {"state": "paid out"}}, "PASS", None),
        ("declined: over the limit", {"result": "paid out"}, "FAIL", "claim_unbacked"),
        ("declined: over the limit", {"succeeded": "any"}, "PASS", None),
        ('{"error": "over the limit"}', {}, "FAIL", "claim_unbacked"),
    ],
)
def test_a_call_that_nobody_says_went_well_backs_nothing(
    judge: Judge, answer: str, fields: dict[str, Any], status: str, code: str | None
) -> None:
    """A chat message has no mark for a failed call, so the claim says what success looks like, or stays open."""
    evidence = chat(CALLER, ASKED, {**ANSWERED, "content": answer}, CLAIMED)
    result = judge(claim(**BOUND, **fields), evidence)
    assert (result["status"], result.get("code")) == (status, code)
    if code == "errors_not_recorded":
        assert "`result`" in result["reason"]
        assert result["evidence_gap"]["channel"] == "errors"


def test_a_call_of_other_values_is_no_doubt(judge: Judge) -> None:
    """Whatever became of a refund of 24, it does not back the claim of 42."""
    other = {**ASKED, "tool_calls": [json.loads(json.dumps(ASKED["tool_calls"][0]).replace("42", "24"))]}
    evidence = chat(CALLER, other, {**ANSWERED, "content": "done"}, CLAIMED)
    assert judge(claim(**BOUND), evidence)["status"] == "FAIL"
