from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Fixture = Callable[..., Any]


def order(**fields: Any) -> dict[str, Any]:
    return {"kind": "order", "before": "verify", "after": "balance", **fields}


def said(*texts: str, role: str = "agent") -> list[dict[str, Any]]:
    return [{"role": role, "text": text} for text in texts]


def test_an_earlier_turn_is_before(judge: Fixture) -> None:
    """The first turn of each phrase decides; both are the grounds."""
    result = judge(order(), transcript=said("hello", "I verify you", "Balance: 5", "verify"))
    assert (result["status"], result["turns"]) == ("PASS", [1, 2])
    assert (result["before_turn"], result["after_turn"]) == (1, 2)


@pytest.mark.parametrize(
    "texts", [["balance", "verify"], ["verify your balance"], ["balance", "verify", "balance"]]
)
def test_a_later_turn_or_the_same_is_not_before(judge: Fixture, texts: list[str]) -> None:
    """Only the first occurrences count, and one turn has no order in itself."""
    result = judge(order(), transcript=said(*texts))
    assert (result["status"], result["code"]) == ("FAIL", "wrong_order")
    assert result["after_turn"] == 0
    assert result["before_turn"] == len(texts[:2]) - 1
    assert result["turns"] == sorted({result["before_turn"], 0})
    assert result["public_reason"] == "phrases are not in the required order"
    where = result["before_turn"]
    assert result["reason"] == (
        f"/balance/ is said in turn 0, and /verify/, which must come in an earlier turn, first in turn {where}"
    )


@pytest.mark.parametrize("texts", [[], ["hello"], ["verify"], ["your balance is 5"]])
def test_without_both_phrases_there_is_no_order(judge: Fixture, texts: list[str]) -> None:
    """Kept as in the reference: PASS, and the result says that it is vacuous."""
    result = judge(order(), transcript=said(*texts))
    assert (result["status"], result["vacuous"]) == ("PASS", True)
    assert result.keys().isdisjoint({"before_turn", "after_turn", "turns"})


def test_fault_3_a_guard_that_never_happened_fails(judge: Fixture) -> None:
    """The reference passed "your balance is 5" although nothing had been verified, with no way to require it."""
    result = judge(order(guard=True), transcript=said("your balance is 5"))
    assert (result["status"], result["code"], result["turns"]) == ("FAIL", "wrong_order", [0])
    assert result["after_turn"] == 0
    assert "before_turn" not in result
    assert result["reason"] == (
        "/balance/ is said in turn 0, and /verify/, which must come in an earlier turn, never"
    )


def test_a_guard_is_about_what_it_guards_only(judge: Fixture) -> None:
    """What is never said needs no guard; what is guarded passes with its grounds."""
    for texts in ([], ["hello"], ["verify"]):
        assert judge(order(guard=True), transcript=said(*texts))["vacuous"] is True
    result = judge(order(guard=True), transcript=said("verify", "balance"))
    assert (result["status"], result["turns"]) == ("PASS", [0, 1])
    assert judge(order(guard=True), transcript=said("balance", "verify"))["status"] == "FAIL"
    assert judge(order(guard=True), transcript=said("verify balance"))["status"] == "FAIL"


@pytest.mark.parametrize(
    ("must_occur", "texts", "missing"),
    [
        ("before", ["balance"], "/verify/"),
        ("before", ["verify"], None),
        ("after", ["verify"], "/balance/"),
        ("after", ["balance"], None),
        ("both", ["hello"], "/verify/ and /balance/"),
        ("both", ["verify"], "/balance/"),
        ("both", ["balance"], "/verify/"),
        ("both", ["verify", "balance"], None),
    ],
)
@pytest.mark.parametrize("guard", [True, False])
def test_what_must_occur_is_not_vacuous(
    judge: Fixture, must_occur: str, texts: list[str], missing: str | None, guard: bool
) -> None:
    """A phrase that is never said is a FAIL when it must be, and tells which."""
    result = judge(order(must_occur=must_occur, guard=guard), transcript=said(*texts))
    if missing is None:
        guarded = guard and texts == ["balance"]
        assert result["status"] == ("FAIL" if guarded else "PASS")
        return
    assert (result["status"], result["code"]) == ("FAIL", "not_found")
    assert result["reason"] == f"{missing} must be said by anybody, and is not"
    assert result.get("turns", []) == ([] if texts == ["hello"] else [0])


def test_only_turns_of_the_role_count(judge: Fixture) -> None:
    """Indexes are those of the transcript, whoever speaks in between."""
    transcript = [*said("balance", role="customer"), *said("verify", "balance")]
    result = judge(order(role="agent"), transcript=transcript)
    assert (result["status"], result["before_turn"], result["after_turn"]) == ("PASS", 1, 2)
    assert judge(order(role="caller"), transcript=transcript)["vacuous"] is True
    missing = judge(order(role="caller", must_occur="before"), transcript=transcript)
    assert missing["reason"] == "/verify/ must be said by caller, and is not"


def test_letters_match_in_any_case_unless_asked(judge: Fixture) -> None:
    """As in the reference."""
    transcript = said("Balance", "verify")
    assert judge(order(), transcript=transcript)["status"] == "FAIL"
    assert judge(order(case_sensitive=True), transcript=transcript)["vacuous"] is True


def test_within_looks_at_a_part_of_the_conversation(judge: Fixture) -> None:
    """What lies outside is not said at all, and does not count as the first either."""
    transcript = said("balance", "verify", "balance")
    assert judge(order(within={"last": {"turns": 2}}), transcript=transcript)["status"] == "PASS"
    assert judge(order(within={"first": {"turns": 1}}), transcript=transcript)["vacuous"] is True
    assert judge(order(within={"first": {"seconds": 9}}), transcript=transcript)["code"] == "no_clock"
    timed = [{**turn, "start": 5 * index} for index, turn in enumerate(transcript)]
    assert judge(order(within={"first": {"seconds": 5}}), transcript=timed)["status"] == "FAIL"


@pytest.mark.parametrize("state", ["truncated", "partial", "redacted"])
def test_a_missing_turn_could_be_an_earlier_one(judge: Fixture, gapped: Fixture, state: str) -> None:
    """So neither PASS nor FAIL can be told from a part of the transcript."""
    for texts in (["verify", "balance"], ["balance", "verify"], ["hello"]):
        for fields in ({}, {"guard": True}, {"must_occur": "both"}):
            evidence = gapped({"transcript": state}, transcript=said(*texts))
            assert judge(order(**fields), evidence)["code"] == "channel_truncated"


def test_without_a_transcript_it_is_inconclusive(judge: Fixture) -> None:
    """Nothing was recorded of what was said."""
    assert judge(order(), trace=[])["code"] == "transcript_absent"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"before": ""}, [("empty_value", "before")]),
        ({"after": "("}, [("bad_pattern", "after")]),
        ({"guard": None}, [("wrong_type", "guard")]),
        ({"must_occur": "neither"}, [("not_allowed", "must_occur")]),
        ({"within": {}}, [("fields_exclude", "within")]),
        ({"must_occurr": "both"}, [("unknown_field", "must_occurr")]),
    ],
)
def test_mistakes_are_told_with_their_places(
    problems_of: Fixture, fields: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    """Every mistake of an order is found before anything runs."""
    assert problems_of(order(**fields)) == expected
