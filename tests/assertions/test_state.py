from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Fixture = Callable[..., Any]

ROWS = [
    {"id": 1, "status": "issued", "amount": 42, "meta": {"by": "agent"}, "x.y": 1, "paid": True},
    {"id": 2, "status": "open", "amount": 0, "meta": None, "tags": ["a", {"b": 1}]},
]
STATE = {
    "refund": ROWS,
    "snap": {"before": [{"status": "open"}], "after": [{"status": "closed"}]},
    "single": {"k": 1},
    "early": {"before": {"k": 1}},
    "empty": [],
}


def state(resource: str = "refund", **fields: Any) -> dict[str, Any]:
    return {"kind": "state", "resource": resource, "expect": {"status": "issued"}, **fields}


@pytest.mark.parametrize(
    "expect",
    [
        {"status": "issued", "amount": 42.0},
        {"meta.by": "agent"},
        {"x.y": 1},
        {"amount": {"$gte": 40, "$lt": 50}},
        {"meta": {"by": {"$regex": "^ag"}}},
        {"note": {"$exists": False}},
        {"meta": {}},
    ],
)
def test_the_first_record_with_the_expected_values_passes(judge: Fixture, expect: dict[str, Any]) -> None:
    """Keys are dotted paths, an exact key first; operators apply to their values."""
    result = judge(state(expect=expect), state=STATE)
    assert result["status"] == "PASS"
    assert "mismatches" not in result


@pytest.mark.parametrize(
    ("filters", "status", "code"),
    [
        ({"id": 2}, "PASS", None),
        ({"id": 2, "amount": 0.0}, "PASS", None),
        ({"id": 1}, "FAIL", "value_mismatch"),
        ({}, "FAIL", "value_mismatch"),
        ({"id": 3}, "FAIL", "record_not_found"),
        ({"id": True}, "FAIL", "record_not_found"),
        ({"nothing": None}, "FAIL", "record_not_found"),
        ({"meta": None}, "PASS", None),
        ({"meta": {"by": "agent"}}, "FAIL", "value_mismatch"),
    ],
)
def test_filters_select_by_json_equality(
    judge: Fixture, filters: dict[str, Any], status: str, code: str | None
) -> None:
    """The first record that has every filter's key with an equal value is the one; a boolean is no number."""
    result = judge(state(filters=filters, expect={"status": "open"}), state=STATE)
    assert (result["status"], result.get("code")) == (status, code)


def test_filter_names_collide_with_nothing(judge: Fixture) -> None:
    """Fault of the reference: filters called resource, self or when ended in INCONCLUSIVE or chose a snapshot."""
    rows = [{"resource": 1, "self": 2, "when": "before", "status": "issued"}]
    filters = {"resource": 1, "self": 2, "when": "before"}
    assert judge(state(filters=filters), state={"refund": rows})["status"] == "PASS"
    assert judge(state("snap", filters={"when": "before"}), state=STATE)["code"] == "record_not_found"


def test_no_record_fails_and_says_what_was_looked_for(judge: Fixture) -> None:
    """The filters stand in the reason as the document has them."""
    result = judge(state(filters={"id": 9, "kind": "a"}), state=STATE)
    assert result["reason"] == '`refund` has no record where id = 9, kind = "a"'
    assert result["public_reason"] == "the record of refund is not as required"
    for resource in ("empty", "unknown", "early"):
        result = judge(state(resource), state=STATE)
        assert (result["status"], result["code"]) == ("FAIL", "record_not_found")
        assert result["reason"] == f"`{resource}` has no record"


def test_values_that_differ_are_listed_by_path_in_order(judge: Fixture) -> None:
    """Each mismatch says what was expected and found; paths go into the record."""
    expect = {"status": "open", "meta.by": "caller", "amount": {"$gt": 50}, "x.y": 1}
    result = judge(state(expect=expect), state=STATE)
    assert (result["status"], result["code"]) == ("FAIL", "value_mismatch")
    assert result["mismatches"] == [
        {"path": "amount", "expected": "more than 50", "found": "42"},
        {"path": "meta.by", "expected": '"caller"', "found": '"agent"'},
        {"path": "status", "expected": '"open"', "found": '"issued"'},
    ]
    assert result["reason"] == (
        "`refund`: amount: expected more than 50, found 42; "
        'meta.by: expected "caller", found "agent"; status: expected "open", found "issued"'
    )


def test_a_path_goes_on_within_an_expected_value(judge: Fixture) -> None:
    """The place of a mismatch is the key and what follows it."""
    expect = {"tags": ["a", {"b": 2}], "meta": {"by": "x"}}
    result = judge(state(filters={"id": 2}, expect=expect), state=STATE)
    assert [mismatch["path"] for mismatch in result["mismatches"]] == ["meta", "tags[1].b"]


def test_a_missing_field_has_a_code_of_its_own(judge: Fixture) -> None:
    """Fault 4: a field that no record has read as null, and a misspelt check passed."""
    result = judge(state(expect={"sttus": "issued"}), state=STATE)
    assert (result["status"], result["code"]) == ("FAIL", "field_missing")
    assert judge(state(expect={"note": None}), state=STATE)["code"] == "field_missing"
    assert judge(state(expect={"meta.by.name": "x"}), state=STATE)["code"] == "field_missing"
    mixed = {"sttus": "issued", "status": "open"}
    assert judge(state(expect=mixed), state=STATE)["code"] == "value_mismatch"
    assert judge(state(expect={"status": {"$exists": False}}), state=STATE)["code"] == "value_mismatch"


def test_null_is_a_value(judge: Fixture) -> None:
    """A field that is null matches null and is not missing."""
    assert judge(state(filters={"id": 2}, expect={"meta": None}), state=STATE)["status"] == "PASS"
    result = judge(state(filters={"id": 2}, expect={"meta": "x"}), state=STATE)
    assert result["code"] == "value_mismatch"


def test_true_never_equals_one_in_a_record(judge: Fixture) -> None:
    """Difference 4 holds for records too."""
    assert judge(state(expect={"paid": 1}), state=STATE)["status"] == "FAIL"
    assert judge(state(expect={"paid": True}), state=STATE)["status"] == "PASS"


def test_the_later_snapshot_is_read(judge: Fixture) -> None:
    """A resource with snapshots is asked for what is so now; one record may stand without a list."""
    assert judge(state("snap", expect={"status": "closed"}), state=STATE)["status"] == "PASS"
    assert judge(state("snap", expect={"status": "open"}), state=STATE)["status"] == "FAIL"
    assert judge(state("single", expect={"k": 1}), state=STATE)["status"] == "PASS"


def test_absent_state_is_inconclusive_and_empty_state_has_no_record(judge: Fixture) -> None:
    """No system of record says nothing; one without records says that there is none."""
    result = judge(state())
    assert (result["status"], result["code"]) == ("INCONCLUSIVE", "state_absent")
    assert result["public_reason"] == "required state-adapter evidence was missing"
    assert judge(state(), state={})["code"] == "record_not_found"


def test_unreadable_state_is_inconclusive(judge: Fixture, gapped: Fixture) -> None:
    """A system of record that could not be read answers nothing."""
    result = judge(state(), gapped({"state": "unreadable"}, state=STATE))
    assert (result["status"], result["code"]) == ("INCONCLUSIVE", "state_unreadable")


def test_rows_that_cannot_be_read_leave_a_missing_record_open(judge: Fixture) -> None:
    """The record may be among them; one that is found decides."""
    rows = {"refund": [5, ROWS[0]], "other": "nonsense"}
    assert judge(state(), state=rows)["status"] == "PASS"
    for asked in (state(filters={"id": 2}), state("other")):
        result = judge(asked, state=rows)
        assert (result["status"], result["code"]) == ("INCONCLUSIVE", "state_unreadable")
        assert result["evidence_gap"]["channel"] == "state"
        assert result["evidence_gap"]["state"] == "unreadable"
        assert result["public_reason"] == "required state-adapter evidence was unreadable"


@pytest.mark.parametrize("gap", ["truncated", "partial", "redacted"])
def test_incomplete_state_proves_the_records_that_it_has(judge: Fixture, gapped: Fixture, gap: str) -> None:
    """That there is no record can't be known."""
    evidence = gapped({"state": gap}, state=STATE)
    assert judge(state(), evidence)["status"] == "PASS"
    assert judge(state(expect={"status": "open"}), evidence)["status"] == "FAIL"
    result = judge(state(filters={"id": 9}), evidence)
    assert (result["status"], result["code"]) == ("INCONCLUSIVE", "channel_truncated")
    assert result["evidence_gap"]["channel"] == "state"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"resource": ""}, [("empty_value", "resource")]),
        ({"resource": 5}, [("wrong_type", "resource")]),
        ({"expect": {}}, [("empty_value", "expect")]),
        ({"expect": ["status"]}, [("wrong_type", "expect")]),
        (
            {"expect": {"a": {"$gte": None}, "b": {"$x": 1}}},
            [("bad_expected_value", "expect.a.$gte"), ("bad_expected_value", "expect.b.$x")],
        ),
        ({"filters": None}, [("wrong_type", "filters")]),
        ({"filters": [1]}, [("wrong_type", "filters")]),
        ({"filter": {}}, [("unknown_field", "filter")]),
    ],
)
def test_mistakes_are_told_with_their_places(
    problems_of: Fixture, fields: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    """Every mistake of a state assertion is found before anything runs."""
    assert problems_of(state(**fields)) == expected


def test_resource_and_expect_are_required(problems_of: Fixture) -> None:
    """Neither has a default."""
    assert problems_of({"kind": "state"}) == [("missing_field", ""), ("missing_field", "")]


def test_an_operator_in_a_filter_is_a_mistake(problems_of: Callable[..., Any]) -> None:
    """Filters select by equality; an operator there would silently select nothing."""
    assertion = {"kind": "state", "resource": "r", "expect": {"a": 1}, "filters": {"n": {"$gt": 1}}}
    assert problems_of(assertion) == [("bad_expected_value", "filters.n")]
