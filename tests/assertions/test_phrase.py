from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import averment

Fixture = Callable[..., Any]

CALL = [
    {"role": "agent", "text": "Hello, this call is recorded."},
    {"role": "caller", "text": "I want a REFUND"},
    {"role": "agent", "text": "Your refund is issued."},
]


def phrase(regex: str = "refund", **fields: Any) -> dict[str, Any]:
    return {"kind": "phrase", "regex": regex, **fields}


def agent(*texts: str) -> list[dict[str, Any]]:
    return [{"role": "agent", "text": text} for text in texts]


def test_a_phrase_that_is_said_passes_with_every_turn_that_says_it(judge: Fixture) -> None:
    """PASS names its grounds: all turns in which the pattern is found, in any case."""
    result = judge(phrase(), transcript=CALL)
    assert (result["status"], result["turns"]) == ("PASS", [1, 2])
    assert "reason" not in result
    assert "code" not in result


def test_a_phrase_that_is_not_said_fails(judge: Fixture) -> None:
    """FAIL says what had to be said and by whom."""
    result = judge(phrase("goodbye", role="agent"), transcript=CALL)
    assert (result["status"], result["code"]) == ("FAIL", "not_found")
    assert result["reason"] == "/goodbye/ must be said by agent, and is not"
    assert result["public_reason"] == "a required phrase is missing"
    assert "turns" not in result


def test_an_absent_phrase_passes_when_nobody_says_it_and_fails_with_the_turns_that_do(judge: Fixture) -> None:
    """`absent` turns the verdict, and its FAIL names every turn."""
    assert judge(phrase("guarantee", absent=True), transcript=CALL)["status"] == "PASS"
    result = judge(phrase(absent=True), transcript=CALL)
    assert (result["status"], result["code"], result["turns"]) == ("FAIL", "found_but_forbidden", [1, 2])
    assert result["reason"] == "/refund/ must not be said by anybody, and is said in turns 1, 2"
    assert result["public_reason"] == "a forbidden phrase is present"


@pytest.mark.parametrize(
    ("number", "words"),
    [(1, "turn 0"), (2, "turns 0, 1"), (5, "turns 0, 1, 2, 3, 4"), (7, "turns 0, 1, 2, 3, 4 and 2 more")],
)
def test_many_turns_are_told_by_the_first_five_and_a_number(judge: Fixture, number: int, words: str) -> None:
    """A reason stays readable; the grounds hold all turns."""
    result = judge(phrase("no", absent=True), transcript=agent(*["no"] * number))
    assert result["reason"].endswith(f"is said in {words}")
    assert result["turns"] == list(range(number))


@pytest.mark.parametrize(
    ("fields", "status", "turns"),
    [
        ({"position": "first"}, "FAIL", [0]),
        ({"position": "last"}, "PASS", [2]),
        ({"position": "first", "role": "caller"}, "PASS", [1]),
        ({"position": "first", "role": "agent"}, "FAIL", [0]),
        ({"position": "last", "role": "agent"}, "PASS", [2]),
        ({"position": "first", "regex": "recorded"}, "PASS", [0]),
        ({"position": "last", "regex": "recorded"}, "FAIL", [2]),
        ({"position": "first", "absent": True, "regex": "issued"}, "FAIL", [2]),
    ],
)
def test_a_position_is_that_of_the_roles_own_turns(
    judge: Fixture, fields: dict[str, Any], status: str, turns: list[int]
) -> None:
    """`first` and `last` look at one turn of the role, which grounds either verdict; `absent` ignores them."""
    result = judge(phrase(**fields), transcript=CALL)
    assert (result["status"], result["turns"]) == (status, turns)


def test_a_failed_position_is_told(judge: Fixture) -> None:
    """The reason says which turn was looked at."""
    result = judge(phrase(position="first"), transcript=CALL)
    assert result["reason"] == "/refund/ must be said by anybody in the first turn, and is not"


def test_letters_match_in_any_case_unless_case_counts(judge: Fixture) -> None:
    """`case_sensitive` is off by default."""
    assert judge(phrase("REFUND"), transcript=CALL)["turns"] == [1, 2]
    assert judge(phrase("REFUND", case_sensitive=True), transcript=CALL)["turns"] == [1]


def test_an_absent_transcript_is_inconclusive_and_an_empty_one_is_judged(judge: Fixture) -> None:
    """Absent evidence gives no verdict; an empty transcript has no turn that matches."""
    result = judge(phrase())
    assert (result["status"], result["code"]) == ("INCONCLUSIVE", "transcript_absent")
    assert result["public_reason"] == "required transcript evidence was missing"
    assert result["evidence_gap"]["channel"] == "transcript"
    assert result["evidence_gap"]["state"] == "absent"
    assert judge(phrase(), transcript=[])["code"] == "not_found"
    assert judge(phrase(position="last"), transcript=[])["code"] == "not_found"
    assert judge(phrase(absent=True), transcript=[])["status"] == "PASS"
    assert judge(phrase(absent=True))["status"] == "INCONCLUSIVE"


@pytest.mark.parametrize("state", ["truncated", "partial", "redacted"])
def test_incomplete_transcripts_prove_what_they_show_and_never_what_they_lack(
    judge: Fixture, gapped: Fixture, state: str
) -> None:
    """A verdict that rests on a turn stands; one that rests on there being none is INCONCLUSIVE."""
    evidence = gapped({"transcript": state}, transcript=CALL)
    assert judge(phrase(), evidence)["status"] == "PASS"
    assert judge(phrase(absent=True), evidence)["status"] == "FAIL"
    for fields in (
        {"regex": "goodbye"},
        {"regex": "goodbye", "absent": True},
        {"position": "last"},
        {"position": "first"},
    ):
        result = judge(phrase(**fields), evidence)
        assert (result["status"], result["code"]) == ("INCONCLUSIVE", "channel_truncated"), fields
        assert result["evidence_gap"]["state"] == state
        assert result["public_reason"] == "required transcript evidence was incomplete"


def test_an_unreadable_transcript_is_inconclusive(judge: Fixture, gapped: Fixture) -> None:
    """What could not be read answers nothing, and the reader's own words say why."""
    result = judge(phrase(), gapped({"transcript": "unreadable"}, transcript=CALL))
    assert (result["status"], result["code"]) == ("INCONCLUSIVE", "channel_unreadable")
    assert "cut by the test" in result["reason"]


def test_unknown_field_abscent_is_refused_with_nearest_absent() -> None:
    """Fault 7 of the reference: a misspelt field was ignored, and the check passed on what it should forbid."""
    with pytest.raises(averment.DocumentError) as caught:
        averment.Document.of({"version": 1, "assertions": [{"id": "a", **phrase(abscent=True)}]})
    (problem,) = caught.value.problems
    assert (problem.code, problem.nearest) == ("unknown_field", "absent")
    assert problem.path == "$.assertions[0].abscent"


@pytest.mark.parametrize("words", ["text", "content", "message"])
@pytest.mark.parametrize("name", ["role", "speaker"])
def test_text_and_role_are_read_from_every_shape_of_transcript(judge: Fixture, words: str, name: str) -> None:
    """Fault 12: the text of `content` and the role of `speaker` were lost, so that an absent phrase passed."""
    turns = [{name: "assistant", words: "we guarantee it"}]
    assert judge(phrase("guarantee", role="agent", absent=True), transcript=turns)["status"] == "FAIL"
    assert judge(phrase("guarantee", role="agent"), transcript=turns)["status"] == "PASS"


@pytest.mark.parametrize("spoken", ["Agent", "AGENT", "assistant", "Bot", "ai"])
@pytest.mark.parametrize("asked", ["agent", "Assistant", "BOT"])
def test_roles_match_in_any_case_and_through_their_aliases(judge: Fixture, spoken: str, asked: str) -> None:
    """Fault 12 and difference 14: `Agent` and `assistant` are the agent."""
    turns = [{"role": spoken, "text": "yes"}, {"role": "Customer", "text": "yes"}]
    assert judge(phrase("yes", role=asked), transcript=turns)["turns"] == [0]
    assert judge(phrase("yes", role="user"), transcript=turns)["turns"] == [1]


def test_a_documents_own_roles_replace_the_table(judge: Fixture) -> None:
    """`roles:` says which names mean the same; the built-in aliases then mean nothing."""
    turns = [{"role": "Nurse", "text": "yes"}, {"role": "assistant", "text": "yes"}]
    document = {"roles": {"agent": ["nurse"]}}
    assert judge(phrase("yes", role="agent"), document=document, transcript=turns)["turns"] == [0]


def test_a_turn_without_a_role_is_no_turn_of_a_role(judge: Fixture) -> None:
    """It is read when anybody may say it, and by no name."""
    turns = [{"text": "yes"}]
    assert judge(phrase("yes"), transcript=turns)["status"] == "PASS"
    assert judge(phrase("yes", role="agent"), transcript=turns)["status"] == "FAIL"


def test_an_evil_pattern_is_judged_in_linear_time(judge: Fixture) -> None:
    """Fault of safety: `(a+)+$` took exponential time; two hundred letters would take the age of the universe."""
    assert judge(phrase("(a+)+$"), transcript=agent("a" * 200 + "!"))["status"] == "FAIL"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"regex": ""}, [("empty_value", "regex")]),
        ({"regex": None}, [("wrong_type", "regex")]),
        ({"regex": "("}, [("bad_pattern", "regex")]),
        ({"regex": "a\bb"}, [("bad_pattern", "regex")]),
        ({"role": 5}, [("wrong_type", "role")]),
        ({"position": "middle"}, [("not_allowed", "position")]),
        ({"position": None}, [("not_allowed", "position")]),
        ({"absent": 1}, [("wrong_type", "absent")]),
        ({"case_sensitive": "no"}, [("wrong_type", "case_sensitive")]),
        ({"regx": "x", "rol": "x"}, [("unknown_field", "regx"), ("unknown_field", "rol")]),
    ],
)
def test_mistakes_are_told_with_their_places(
    problems_of: Fixture, fields: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    """Every mistake of a phrase is found before anything runs."""
    assert problems_of(phrase(**fields)) == expected


def test_a_phrase_needs_a_pattern(problems_of: Fixture) -> None:
    """There is no default for what must be said."""
    assert problems_of({"kind": "phrase"}) == [("missing_field", "")]


@settings(max_examples=60, deadline=None)
@given(
    said=st.lists(st.sampled_from(["refund", "hello", "REFUND now"]), max_size=5),
    others=st.lists(st.sampled_from(["a", "b c", ""]), max_size=5),
    data=st.data(),
)
def test_unrelated_turns_never_change_a_verdict(said: list[str], others: list[str], data: Any) -> None:
    """Turns that do not match, put anywhere, change neither a PASS nor a FAIL of a phrase."""
    mixed = list(said)
    for text in others:
        mixed.insert(data.draw(st.integers(0, len(mixed))), text)
    document = averment.Document.of(
        {"version": 1, "assertions": [{"id": "a", **phrase()}, {"id": "b", **phrase(absent=True)}]}
    )
    statuses = [
        [
            result.status
            for result in averment.run(document, averment.Evidence(transcript=agent(*texts))).results
        ]
        for texts in (said, mixed)
    ]
    assert statuses[0] == statuses[1]
    assert statuses[0][0] != statuses[0][1]
