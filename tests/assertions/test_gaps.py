from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import averment

Fixture = Callable[..., Any]

EVIDENCE: dict[str, Any] = {
    "transcript": [{"role": "agent", "text": "hello"}],
    "trace": [{"type": "tool_call", "name": "a"}, {"type": "http_exchange"}],
    "timing": [{"a": 1}],
    "state": {"r": [{"a": 1}]},
}

Case = tuple[str, str, str, str, dict[str, Any]]

CHANNELS: list[Case] = [
    ("transcript", "transcript", "transcript", "--transcript FILE", {"kind": "phrase", "regex": "x"}),
    ("executions", "trace", "trace", "--trace FILE", {"kind": "tool_call", "name": "x"}),
    ("http", "HTTP", "http", "http_exchange", {"kind": "sequence", "steps": [{"http": {"method": "x"}}]}),
    ("timing", "timing", "timing", "--timing FILE", {"kind": "outcome", "any_of": [{"field_present": "x"}]}),
    (
        "state",
        "state-adapter",
        "state",
        "--state FILE",
        {"kind": "state", "resource": "r", "filters": {"a": 2}, "expect": {"a": 2}},
    ),
]
"""Channel, what people call it, the start of its code, what the mend names, and a check that finds nothing in it."""

each_check = pytest.mark.parametrize(
    ("channel", "asked"), [(channel, asked) for channel, *_, asked in CHANNELS]
)


@pytest.mark.parametrize("case", CHANNELS)
def test_an_absent_channel_says_what_would_supply_it(judge: Fixture, gapped: Fixture, case: Case) -> None:
    """INCONCLUSIVE names the channel, its state and the mend, and the format of a source that declares the gap."""
    channel, noun, code, mend, asked = case
    # Without any trace that is what is missing, whatever of it is asked about.
    result = judge(asked, gapped({"http": "absent"}, trace=[])) if channel == "http" else judge(asked)
    assert (result["status"], result["code"]) == ("INCONCLUSIVE", f"{code}_absent")
    gap = result["evidence_gap"]
    assert (gap["channel"], gap["state"]) == (channel, "absent")
    assert gap.get("source_format") == ("conversation" if channel == "http" else None)
    assert mend in gap["how"]
    assert result["reason"].endswith(gap["how"])
    assert result["public_reason"] == f"required {noun} evidence was missing"


@pytest.mark.parametrize("case", CHANNELS)
def test_an_unreadable_channel_has_a_code_of_its_own(judge: Fixture, gapped: Fixture, case: Case) -> None:
    """It was supplied, so the mend is another; the reader's words say why."""
    channel, noun, code, _, asked = case
    result = judge(asked, gapped({channel: "unreadable"}, **EVIDENCE))
    expected = "state_unreadable" if code == "state" else "channel_unreadable"
    assert (result["status"], result["code"]) == ("INCONCLUSIVE", expected)
    assert result["evidence_gap"]["source_format"] == "conversation"
    assert result["reason"].startswith(f"the {noun} evidence is unreadable: cut by the test. Mend")


@pytest.mark.parametrize("state", ["truncated", "partial", "redacted"])
@each_check
def test_an_incomplete_channel_never_proves_absence(
    judge: Fixture, gapped: Fixture, state: str, channel: str, asked: dict[str, Any]
) -> None:
    """The FAIL that would stand on whole evidence is INCONCLUSIVE, and says which verdict is withheld."""
    result = judge(asked, gapped({channel: state}, **EVIDENCE))
    assert (result["status"], result["code"]) == ("INCONCLUSIVE", "channel_truncated")
    assert (result["evidence_gap"]["channel"], result["evidence_gap"]["state"]) == (channel, state)
    assert f"is {state} (cut by the test); FAIL would rest on what is not in it" in result["reason"]


@each_check
def test_a_whole_channel_gives_the_verdict(
    judge: Fixture, gapped: Fixture, channel: str, asked: dict[str, Any]
) -> None:
    """Present is not incomplete, and gaps elsewhere do not matter."""
    others = {other: "truncated" for other, *_ in CHANNELS if other != channel}
    assert judge(asked, gapped({}, **EVIDENCE))["status"] == "FAIL"
    assert judge(asked, gapped(others, **EVIDENCE))["status"] == "FAIL"


def test_a_pass_that_rests_on_absence_is_withheld_too(judge: Fixture, gapped: Fixture) -> None:
    """The reason names the verdict that the evidence does not allow."""
    asked = {"kind": "phrase", "regex": "x", "absent": True}
    result = judge(asked, gapped({"transcript": "partial"}, **EVIDENCE))
    assert "; PASS would rest on what is not in it" in result["reason"]


def test_a_withheld_verdict_keeps_the_fields_of_its_kind(judge: Fixture, gapped: Fixture) -> None:
    """What was found so far stays in the result."""
    asked = {"kind": "outcome", "all_of": [{"phrase": "hello"}, {"phrase": "x"}]}
    result = judge(asked, gapped({"transcript": "partial"}, **EVIDENCE))
    assert (result["status"], result["met"], result["of"], result["turns"]) == ("INCONCLUSIVE", 1, 2, [0])


def test_the_mend_is_the_readers_where_it_knows_its_source(judge: Fixture) -> None:
    """Coverage can say what to switch on in the source; the result passes it on."""
    model = json.loads(averment.Evidence(transcript=[], trace=[]).to_json())
    how = "Switch on tool tracing."
    model["coverage"]["executions"] = {"state": "absent", "reason": "it is off", "how": how}
    result = judge(
        {"kind": "tool_call", "name": "x"}, averment.Evidence.from_bytes(json.dumps(model).encode())
    )
    assert result["evidence_gap"]["how"] == how
    assert result["reason"].endswith(f"it is off. {how}")


LABELLED = [{"text": "hello"}, {"role": "agent", "text": "good morning"}]


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"regex": "hello", "role": "agent"}, "INCONCLUSIVE"),
        ({"regex": "bye", "role": "agent", "absent": True}, "INCONCLUSIVE"),
        ({"regex": "morning", "role": "agent"}, "PASS"),
        ({"regex": "bye"}, "FAIL"),
    ],
)
def test_what_a_role_did_not_say_is_unknown_while_a_speaker_is(
    judge: Fixture, gapped: Fixture, fields: dict[str, Any], status: str
) -> None:
    """A turn of nobody known could be anybody's; what is found, or asked of everybody, is decided."""
    result = judge({"kind": "phrase", **fields}, gapped({"speakers": "partial"}, transcript=LABELLED))
    assert result["status"] == status
    if status == "INCONCLUSIVE":
        assert (result["code"], result["evidence_gap"]["channel"]) == ("speakers_unknown", "speakers")


# A call that was asked for and never answered may have been executed all the same.

ASKED = [
    {"type": "tool_call", "name": "refund", "arguments": {"amount": 42}},
    {"type": "tool_call", "name": "look_up", "arguments": {}},
]


@pytest.mark.parametrize(
    ("asked", "status"),
    [
        ({"kind": "tool_call", "name": "refund"}, "INCONCLUSIVE"),
        ({"kind": "tool_call", "name": "refund", "absent": True}, "INCONCLUSIVE"),
        ({"kind": "tool_call", "name": "refund", "reading": "requested"}, "PASS"),
        ({"kind": "tool_call", "name": "look_up"}, "PASS"),
        ({"kind": "tool_call", "name": "other"}, "FAIL"),
        ({"kind": "tool_call", "name": "other", "absent": True}, "PASS"),
        ({"kind": "tool_call", "never_before": {"tool": "refund", "until": "look_up"}}, "INCONCLUSIVE"),
        ({"kind": "tool_call", "never_before": {"tool": "look_up", "until": "refund"}}, "INCONCLUSIVE"),
        ({"kind": "tool_call", "never_before": {"tool": "look_up", "until": "other"}}, "FAIL"),
        ({"kind": "tool_call", "require_order": ["look_up", "refund"]}, "INCONCLUSIVE"),
        ({"kind": "count", "tool": "refund", "count": 0}, "INCONCLUSIVE"),
        ({"kind": "sequence", "steps": [{"tool": "refund"}]}, "INCONCLUSIVE"),
        ({"kind": "outcome", "any_of": [{"tool_called": "refund"}]}, "INCONCLUSIVE"),
        ({"kind": "tool_error", "name": "refund", "absent": True}, "INCONCLUSIVE"),
        ({"kind": "tool_result", "name": "refund", "result": 1}, "INCONCLUSIVE"),
        ({"kind": "claim", "says": "hello", "tool": "refund"}, "INCONCLUSIVE"),
    ],
)
def test_an_unanswered_call_leaves_open_what_rests_on_its_tool(
    judge: Fixture, gapped: Fixture, asked: dict[str, Any], status: str
) -> None:
    """Only what rests on that tool's executions is open, and only where executions are what counts."""
    evidence = gapped({}, [{"status": "unanswered"}], trace=ASKED, transcript=EVIDENCE["transcript"])
    result = judge(asked, evidence)
    assert result["status"] == status
    if status == "INCONCLUSIVE":
        assert result["code"] == "call_unanswered"
        assert "never answered" in result["reason"]


# What a source took out of arguments is no value.

MASKED = {"order_id": "A-17", "card": "***", "items": [{"name": "[REDACTED]", "count": 2}]}


@pytest.mark.parametrize(
    ("expected", "status"),
    [
        ({"args_subset": {"order_id": "A-17"}}, "PASS"),
        ({"args_subset": {"order_id": "A-18"}}, "FAIL"),
        ({"args_subset": {"card": "4111"}}, "INCONCLUSIVE"),
        ({"args_subset": {"order_id": "A-18", "card": "4111"}}, "FAIL"),
        ({"args_subset": {"order_id": "A-17", "card": "4111"}}, "INCONCLUSIVE"),
        ({"args_subset": {"card": {"$ne": "4111"}}}, "INCONCLUSIVE"),
        ({"args_subset": {"items": [{"name": "tea", "count": 2}]}}, "INCONCLUSIVE"),
        ({"args_subset": {"other": 1}}, "FAIL"),
    ],
)
def test_a_mark_in_place_of_a_value_decides_nothing(
    judge: Fixture, gapped: Fixture, expected: dict[str, Any], status: str
) -> None:
    """What is left of masked arguments decides; a check that hangs on what was masked stays open."""
    trace = [{"type": "tool_call", "name": "refund", "arguments": MASKED}]
    evidence = gapped({}, [{"args_state": "redacted"}], trace=trace)
    assert judge({"kind": "tool_call", "name": "refund", **expected}, evidence)["status"] == status
