from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import averment

Fixture = Callable[..., Any]

RULES = [
    {"id": "no-slang", "type": "banned", "regex": "slang", "role": "agent"},
    {"id": "no-oath", "type": "banned", "regex": "oath"},
    {"id": "say-bye", "type": "required_disclosure", "regex": "goodbye", "role": "agent"},
]
GOOD = [
    {"role": "caller", "text": "some slang"},
    {"role": "agent", "text": "Goodbye"},
    {"role": "agent", "text": "goodbye then"},
]


@pytest.fixture(autouse=True)
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A policy file in the working folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "house.json"
    path.write_text(json.dumps({"name": "house", "version": 7, "rules": RULES}))
    return path


def policy(**fields: Any) -> dict[str, Any]:
    return {"kind": "policy", "pack_path": "house.json", **fields}


def test_a_policy_passes_with_the_turns_that_disclose(judge: Fixture) -> None:
    """PASS rests on the first turn of each disclosure and names the policy with its digest."""
    result = judge(policy(), transcript=GOOD)
    assert (result["status"], result["turns"]) == ("PASS", [1])
    assert (result["pack"]["name"], result["pack"]["version"]) == ("house", 7)
    assert result["pack"]["sha256"].startswith("sha256:")
    assert "matched_rules" not in result


def test_violations_are_listed_in_the_order_of_the_rules_with_transcript_indexes(judge: Fixture) -> None:
    """Fault 8 of the reference: `turn` was an index into the turns of the role."""
    turns = [
        {"role": "caller", "text": "oath, slang"},
        {"role": "caller", "text": "x"},
        {"role": "agent", "text": "Slang!"},
        {"role": "agent", "text": "slang"},
    ]
    result = judge(policy(), transcript=turns)
    assert (result["status"], result["code"], result["turns"]) == ("FAIL", "policy_violated", [0, 2, 3])
    assert result["matched_rules"] == [
        {"rule": "no-slang", "type": "banned", "turn": 2},
        {"rule": "no-oath", "type": "banned", "turn": 0},
        {"rule": "say-bye", "type": "required_disclosure_missing", "turn": None},
    ]
    assert result["reason"] == (
        "banned and said: no-slang, no-oath (turns 0, 2, 3); required and not said: say-bye"
    )
    assert result["public_reason"] == "rules violated: say-bye, no-slang, no-oath"


def test_rule_ids_choose_rules(judge: Fixture) -> None:
    """Only the named rules are judged; an empty list or null means all."""
    turns = [{"role": "agent", "text": "slang"}]
    assert judge(policy(rule_ids=["no-oath"]), transcript=turns)["status"] == "PASS"
    result = judge(policy(rule_ids=["say-bye", "no-slang"]), transcript=turns)
    assert [violation["rule"] for violation in result["matched_rules"]] == ["no-slang", "say-bye"]
    assert len(judge(policy(rule_ids=[]), transcript=turns)["matched_rules"]) == 2
    assert len(judge(policy(rule_ids=None), transcript=turns)["matched_rules"]) == 2


def test_an_unknown_rule_id_is_refused_with_the_nearest() -> None:
    """Fault 8: a misspelt rule id left no rules, and no rules always hold."""
    document = {"version": 1, "assertions": [{"id": "a", **policy(rule_ids=["say-bye", "no-slnag"])}]}
    with pytest.raises(averment.DocumentError) as caught:
        averment.Document.of(document)
    (problem,) = caught.value.problems
    assert (problem.code, problem.path) == ("unknown_rule", "$.assertions[0].rule_ids[1]")
    assert problem.nearest == "no-slang"


def test_the_bundled_policy_is_the_default(judge: Fixture) -> None:
    """Neither `pack` nor `pack_path` means `default`; so does its name."""
    turns = [{"role": "agent", "text": "This call is recorded for quality. Damn."}]
    for fields in ({}, {"pack": None}, {"pack": "default"}):
        result = judge({"kind": "policy", **fields}, transcript=turns)
        assert (result["pack"]["name"], result["pack"]["version"]) == ("default", 1)
        assert result["matched_rules"] == [{"rule": "no-profanity", "type": "banned", "turn": 0}]


def test_roles_of_rules_go_through_the_alias_table(judge: Fixture) -> None:
    """A rule for the agent is a rule for the assistant."""
    turns = [{"role": "Assistant", "text": "slang and goodbye"}]
    assert judge(policy(), transcript=turns)["turns"] == [0]


def test_absent_is_inconclusive_and_empty_lacks_its_disclosures(judge: Fixture) -> None:
    """Without a transcript nothing is known; in an empty one nothing was disclosed and nothing banned was said."""
    result = judge(policy())
    assert (result["status"], result["code"]) == ("INCONCLUSIVE", "transcript_absent")
    result = judge(policy(), transcript=[])
    assert [violation["rule"] for violation in result["matched_rules"]] == ["say-bye"]
    assert "turns" not in result
    assert judge(policy(rule_ids=["no-slang"]), transcript=[])["status"] == "PASS"


@pytest.mark.parametrize("state", ["truncated", "partial", "redacted"])
def test_an_incomplete_transcript_can_only_prove_what_was_said(
    judge: Fixture, gapped: Fixture, state: str
) -> None:
    """A banned phrase that is there is a FAIL; what is not there proves neither PASS nor FAIL."""
    slang = [{"role": "agent", "text": "slang"}]
    result = judge(policy(rule_ids=["no-slang"]), gapped({"transcript": state}, transcript=slang))
    assert result["status"] == "FAIL"
    for evidence in (GOOD, []):
        result = judge(policy(), gapped({"transcript": state}, transcript=evidence))
        assert (result["status"], result["code"]) == ("INCONCLUSIVE", "channel_truncated")


def test_a_disclosure_is_not_called_missing_where_the_transcript_is_incomplete(
    judge: Fixture, gapped: Fixture
) -> None:
    """A FAIL for what was said lists only what is proved."""
    evidence = gapped({"transcript": "truncated"}, transcript=[{"role": "agent", "text": "slang"}])
    result = judge(policy(), evidence)
    assert [violation["rule"] for violation in result["matched_rules"]] == ["no-slang"]


def test_grounds_are_ascending_whatever_the_order_of_the_rules(judge: Fixture, house: Path) -> None:
    """Turns of several rules are joined in the order of the transcript."""
    for kind in ("banned", "required_disclosure"):
        rules = [{"id": word, "type": kind, "regex": word} for word in ("late", "early")]
        house.write_text(json.dumps({"rules": rules}))
        turns = [{"text": {1: "early", 8: "late"}.get(index, "")} for index in range(9)]
        assert judge(policy(), transcript=turns)["turns"] == [1, 8]


def test_unsafe_rule_ids_stay_out_of_the_public_reason(judge: Fixture, house: Path) -> None:
    """A public reason has safe names only."""
    rules = [{"id": name, "type": "banned", "regex": "slang"} for name in ("safe", "no slang")]
    house.write_text(json.dumps({"rules": rules}))
    result = judge(policy(), transcript=GOOD)
    assert result["public_reason"] == "2 rules violated"
    assert "no slang" in result["reason"]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"pack": "default"}, [("fields_exclude", "pack_path")]),
        ({"pack": "defualt", "pack_path": None}, [("unknown_policy", "pack")]),
        ({"pack_path": "absent.json"}, [("policy_unreadable", "pack_path")]),
        ({"pack_path": "."}, [("policy_unreadable", "pack_path")]),
        ({"pack_path": "a\0b"}, [("policy_unreadable", "pack_path")]),
        ({"pack_path": 5}, [("wrong_type", "pack_path")]),
        ({"rule_ids": "no-slang"}, [("wrong_type", "rule_ids")]),
        ({"rule_ids": ["x", "y"]}, [("unknown_rule", "rule_ids[0]"), ("unknown_rule", "rule_ids[1]")]),
        ({"rules": []}, [("unknown_field", "rules")]),
    ],
)
def test_mistakes_are_told_before_anything_runs(
    problems_of: Fixture, fields: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    """Faults 8 and 21: names, paths and rules of policies were looked up in the middle of a run."""
    assert problems_of(policy(**fields)) == expected


def test_mistakes_in_a_policy_file_are_told_once_whoever_names_it(house: Path) -> None:
    """Two assertions on one broken file give its problems once, with the file's name."""
    house.write_text(json.dumps({"rules": [{"id": "a", "type": "banned", "regex": "("}]}))
    document = {"version": 1, "assertions": [{"id": "x", **policy()}, {"id": "y", **policy()}]}
    with pytest.raises(averment.DocumentError) as caught:
        averment.Document.of(document)
    assert [(problem.code, problem.file) for problem in caught.value.problems] == [
        ("bad_pattern", "house.json")
    ]


def test_the_digest_of_the_document_covers_its_policies(house: Path) -> None:
    """A verdict is bound to the rules it was reached by, wherever they stand."""
    document = {"version": 1, "assertions": [{"id": "x", **policy()}]}
    before = averment.Document.of(document).sha256
    house.write_text(json.dumps({"name": "house", "version": 7, "rules": RULES[:1]}))
    assert averment.Document.of(document).sha256 != before
