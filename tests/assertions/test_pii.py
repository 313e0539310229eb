from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

import averment

Fixture = Callable[..., Any]

CARD = "4111 1111 1111 1111"
SSN = "123-45-6789"
EMAIL = "jane.roe@example.com"
PHONE = "415-555-0123"
ALL = ["ssn", "card_luhn", "email", "phone"]


def pii(*detectors: str, **fields: Any) -> dict[str, Any]:
    return {"kind": "pii", "detectors": list(detectors) or ALL, "mode": "must_not_leak", **fields}


def said(*texts: str, role: str = "agent") -> list[dict[str, Any]]:
    return [{"role": role, "text": text} for text in texts]


def test_a_clean_transcript_passes_and_points_to_the_redacted_copy(envelope_of: Fixture) -> None:
    """PASS carries a pointer, and the envelope one copy of the transcript with its times."""
    turns = [{"role": "agent", "text": "hello", "start": 0, "end": 1.5}, {"text": "hi"}]
    envelope = envelope_of([pii(), pii("ssn")], transcript=turns)
    for result in envelope["results"]:
        assert result["status"] == "PASS"
        assert result["redacted_transcript"] == "#/redacted_transcript"
        assert "hits" not in result
    assert envelope["redacted_transcript"] == [
        {"role": "agent", "text": "hello", "start": 0, "end": 1.5},
        {"role": None, "text": "hi"},
    ]


def test_finds_are_listed_by_turn_then_detector_then_place(judge: Fixture) -> None:
    """Each find names detector, turn and role; a detector that is named twice counts twice."""
    turns = said("hello", f"{EMAIL} or {SSN} or a@b.example", f"{SSN}")
    result = judge(pii("ssn", "email", "ssn"), transcript=turns)
    assert (result["status"], result["code"]) == ("FAIL", "pii_found")
    assert [(hit["detector"], hit["turn"], hit["role"]) for hit in result["hits"]] == [
        *(("ssn", 1, "agent"), ("email", 1, "agent"), ("email", 1, "agent"), ("ssn", 1, "agent")),
        *(("ssn", 2, "agent"), ("ssn", 2, "agent")),
    ]
    assert result["turns"] == [1, 2]
    assert result["reason"] == "found 2 email, 4 ssn in turns 1, 2"
    assert result["public_reason"] == "6 finds of personal data: email, ssn"


def test_only_the_listed_detectors_decide(judge: Fixture) -> None:
    """A card is no find of a check for telephone numbers."""
    assert judge(pii("phone", "ssn"), transcript=said(CARD))["status"] == "PASS"
    assert judge(pii("card_luhn"), transcript=said(CARD))["status"] == "FAIL"


def test_redaction_covers_detectors_that_were_not_listed(envelope_of: Fixture) -> None:
    """Fault 2 of the reference: with detectors [ssn], e-mails and cards stayed in clear, even on PASS."""
    envelope = envelope_of([pii("ssn")], transcript=said(f"{EMAIL}, {CARD}, {PHONE}"))
    assert envelope["results"][0]["status"] == "PASS"
    assert envelope["redacted_transcript"] == [
        {"role": "agent", "text": "[REDACTED], [REDACTED], [REDACTED]"}
    ]


def test_a_card_beside_its_cvv_or_expiry_is_found(envelope_of: Fixture) -> None:
    """Fault 1: a short number right before or after a card hid it."""
    texts = (
        f"{CARD} 123",
        "4111-1111-1111-1111 12/27",
        "12 4111 1111 1111 1111",
        f"cvv 123 {CARD} 12 27",
    )
    for text in texts:
        envelope = envelope_of([pii("card_luhn")], transcript=said(text))
        assert envelope["results"][0]["status"] == "FAIL", text
        assert "1111" not in json.dumps(envelope["redacted_transcript"]), text


@pytest.mark.parametrize(
    ("detector", "text"),
    [
        ("card_luhn", "0000 0000 0000 0000"),
        ("card_luhn", "1700000000000"),
        ("ssn", "order 123456789"),
    ],
)
def test_numbers_that_only_look_alike_are_no_finds(judge: Fixture, detector: str, text: str) -> None:
    """Fault 1 and difference 16: zeros, a time in milliseconds and bare nine digits are not personal data."""
    assert judge(pii(detector), transcript=said(text))["status"] == "PASS"


def test_a_role_limits_what_is_judged_and_not_what_is_redacted(envelope_of: Fixture) -> None:
    """Difference 7: `role` on pii is a real field; the copy is clean whoever speaks."""
    turns = [*said(f"my card is {CARD}", role="caller"), *said("thanks", role="Assistant")]
    envelope = envelope_of([pii(role="agent"), pii(role="customer")], transcript=turns)
    by_agent, by_caller = envelope["results"]
    assert by_agent["status"] == "PASS"
    assert (by_caller["status"], by_caller["hits"]) == (
        "FAIL",
        [{"detector": "card_luhn", "turn": 0, "role": "caller"}],
    )
    assert "4111" not in json.dumps(envelope)


def test_no_copy_is_given_when_no_pii_assertion_asks(envelope_of: Fixture) -> None:
    """A transcript stands in the envelope only where a check is about it."""
    assert "redacted_transcript" not in envelope_of([{"kind": "phrase", "regex": "a"}], transcript=said("a"))


def test_absent_is_inconclusive_without_a_copy_and_empty_passes(envelope_of: Fixture) -> None:
    """Nothing was looked at, or nothing was there."""
    envelope = envelope_of([pii()])
    assert (envelope["results"][0]["status"], envelope["results"][0]["code"]) == (
        "INCONCLUSIVE",
        "transcript_absent",
    )
    assert "redacted_transcript" not in envelope
    envelope = envelope_of([pii()], transcript=[])
    assert (envelope["results"][0]["status"], envelope["redacted_transcript"]) == ("PASS", [])


@pytest.mark.parametrize("state", ["truncated", "partial", "redacted"])
def test_an_incomplete_transcript_can_fail_and_never_pass(
    judge: Fixture, gapped: Fixture, state: str
) -> None:
    """What is missing may hold what was looked for."""
    assert judge(pii(), gapped({"transcript": state}, transcript=said(CARD)))["status"] == "FAIL"
    result = judge(pii(), gapped({"transcript": state}, transcript=said("hello")))
    assert (result["status"], result["code"]) == ("INCONCLUSIVE", "channel_truncated")


def test_compat_puts_the_copy_into_each_result() -> None:
    """The contract's own shape has the array in the result instead of a pointer."""
    document = averment.Document.of({"version": 1, "assertions": [{"id": "p", **pii()}]})
    envelope = averment.run(document, averment.Evidence(transcript=said(f"at {EMAIL}"))).to_dict(compat=True)
    assert envelope["results"][0]["redacted_transcript"] == [{"role": "agent", "text": "at [REDACTED]"}]
    assert "redacted_transcript" not in envelope


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"detectors": []}, [("empty_value", "detectors")]),
        ({"detectors": "ssn"}, [("wrong_type", "detectors")]),
        (
            {"detectors": ["ssn", "iban", 5]},
            [("not_allowed", "detectors[1]"), ("not_allowed", "detectors[2]")],
        ),
        ({"mode": "mask"}, [("not_allowed", "mode")]),
        ({"mode": None}, [("not_allowed", "mode")]),
        ({"role": ["agent"]}, [("wrong_type", "role")]),
        ({"detector": []}, [("unknown_field", "detector")]),
    ],
)
def test_mistakes_are_told_with_their_places(
    problems_of: Fixture, fields: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    """Every mistake of a pii assertion is found before anything runs."""
    assert problems_of(pii(**fields)) == expected


def test_detectors_and_mode_are_required(problems_of: Fixture) -> None:
    """Neither has a default."""
    assert problems_of({"kind": "pii"}) == [("missing_field", ""), ("missing_field", "")]
