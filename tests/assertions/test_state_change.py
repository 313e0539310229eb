from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

Fixture = Callable[..., Any]

STATE = {
    "orders": {
        "before": [{"id": 1, "status": "open", "n": 1, "meta": {"by": "agent"}, "x.y": 1, "note": None}],
        "after": [
            {"id": 0, "status": "new"},
            {"id": 1, "status": "closed", "n": 1.0, "meta": {"by": "bot", "k": 1}, "x.y": 2, "paid": True},
        ],
    },
    "once": [{"id": 1, "status": "closed"}],
    "half": {"after": [{"id": 1, "status": "closed"}]},
    "gone": {"before": [{"id": 1, "status": "open"}], "after": []},
    "broken": {"before": [{"id": 1, "status": "open"}], "after": [5]},
}


def change(field: str = "status", resource: str = "orders", /, **fields: Any) -> dict[str, Any]:
    return {"kind": "state_change", "resource": resource, "field": field, "filters": {"id": 1}, **fields}


@pytest.mark.parametrize(
    ("field", "asked", "before", "after"),
    [
        ("status", {"from": "open", "to": "closed"}, "open", "closed"),
        ("status", {"from": "open"}, "open", "closed"),
        ("status", {"to": "closed"}, "open", "closed"),
        ("status", {"changed": True}, "open", "closed"),
        ("n", {"changed": False}, 1, 1.0),
        ("n", {"from": 1.0, "to": 1, "changed": False}, 1, 1.0),
        ("status", {"from": {"$in": ["open", "held"]}, "to": {"$regex": "^clos"}}, "open", "closed"),
        ("meta.by", {"to": "bot", "changed": True}, "agent", "bot"),
        ("x.y", {"from": 1, "to": {"$gt": 1}}, 1, 2),
        ("meta", {"to": {"by": "bot"}}, {"by": "agent"}, {"by": "bot", "k": 1}),
    ],
)
def test_all_that_is_given_must_hold(
    judge: Fixture, field: str, asked: dict[str, Any], before: Any, after: Any
) -> None:
    """A PASS has the values before and after, and which rows they stand in."""
    result = judge(change(field, **asked), state=STATE)
    assert result["status"] == "PASS"
    assert result["delta"] == {"field": field, "before": before, "after": after}
    assert result["rows"] == {"before": 0, "after": 1}


@pytest.mark.parametrize(
    ("field", "asked", "paths"),
    [
        ("status", {"from": "held"}, ["before.status"]),
        ("status", {"to": "open"}, ["after.status"]),
        ("status", {"from": "held", "to": "open", "changed": True}, ["before.status", "after.status"]),
        ("n", {"from": True}, ["before.n"]),
        ("meta", {"from": {"by": "agent"}, "to": {"by": "agent"}}, ["after.meta.by"]),
        ("status", {"from": {"$exists": False}}, ["before.status"]),
        ("status", {"from": None}, ["before.status"]),
    ],
)
def test_other_values_fail_with_their_places(
    judge: Fixture, field: str, asked: dict[str, Any], paths: list[str]
) -> None:
    """Each mismatch says on which side it is, what was expected and what was found."""
    result = judge(change(field, **asked), state=STATE)
    assert (result["status"], result["code"]) == ("FAIL", "value_mismatch")
    assert [mismatch["path"] for mismatch in result["mismatches"]] == paths
    assert "delta" not in result


def test_a_mismatch_is_told_in_words(judge: Fixture) -> None:
    """The reason shows values; the public reason names the field alone."""
    result = judge(change(to="open"), state=STATE)
    assert result["reason"] == (
        '`status` of `orders` is not as expected: after.status: expected "open", found "closed"'
    )
    assert result["public_reason"] == "the change of orders.status is not as required"
    assert judge(change("a b", to=1), state=STATE)["public_reason"] == "a change is not as required"


def test_unchanged_is_enforced(judge: Fixture) -> None:
    """Fault 4 of the reference: `changed: false` passed whatever happened."""
    result = judge(change(changed=False), state=STATE)
    assert (result["status"], result["code"]) == ("FAIL", "found_but_forbidden")
    assert result["reason"] == '`status` of `orders` must not change, and went from "open" to "closed"'
    result = judge(change("n", changed=True), state=STATE)
    assert (result["status"], result["code"]) == ("FAIL", "not_found")
    assert result["reason"] == "`n` of `orders` must change, and is 1.0 before and after"
    assert judge(change("x.y", **{"from": 1}, changed=False), state=STATE)["code"] == "found_but_forbidden"


@pytest.mark.parametrize(
    ("field", "asked"),
    [
        ("nope", {"to": None}),
        ("nope", {"changed": False}),
        ("meta.nope", {"from": None, "to": None}),
        ("paid", {"to": True}),
        ("note", {"from": None}),
        ("paid", {"from": {"$ne": 1}, "to": True}),
        ("nope", {"from": {"$exists": False}, "to": 1}),
    ],
)
def test_a_missing_field_is_a_mistake_of_the_check(judge: Fixture, field: str, asked: dict[str, Any]) -> None:
    """Fault 4: a field that is missing on a side read as null, so a misspelt check passed."""
    result = judge(change(field, **asked), state=STATE)
    assert (result["status"], result["code"]) == ("FAIL", "field_missing")
    assert "found nothing" in result["reason"]


def test_a_field_may_come_and_go_if_that_is_asked(judge: Fixture) -> None:
    """`$exists: false` expects no field; `delta` then has no value on that side."""
    gone: dict[str, Any] = {"$exists": False}
    came = judge(change("paid", **{"from": gone}, to=True, changed=True), state=STATE)
    assert (came["status"], came["delta"]) == ("PASS", {"field": "paid", "after": True})
    went = judge(change("note", **{"from": None}, to=gone), state=STATE)
    assert went["delta"] == {"field": "note", "before": None}
    neither = change("nope", **{"from": gone}, to=gone)
    assert judge({**neither, "changed": False}, state=STATE)["status"] == "PASS"
    assert judge({**neither, "changed": True}, state=STATE)["code"] == "not_found"


@pytest.mark.parametrize("resource", ["once", "half", "unknown"])
def test_a_resource_without_two_snapshots_is_inconclusive(judge: Fixture, resource: str) -> None:
    """Fault 4: one snapshot answered for both sides, so any `to` passed that held afterwards."""
    for asked in ({"to": "closed"}, {"changed": False}):
        result = judge(change(resource=resource, **asked), state=STATE)
        assert (result["status"], result["code"]) == ("INCONCLUSIVE", "snapshots_absent")
        assert result["evidence_gap"]["channel"] == "state"
        assert result["evidence_gap"]["how"] in result["reason"]


@pytest.mark.parametrize(
    ("resource", "filters", "sides"),
    [
        ("orders", {"id": 9}, "before and after"),
        ("orders", {"id": True}, "before and after"),
        ("orders", {"status": "open"}, "after"),
        ("orders", {"status": "closed"}, "before"),
        ("gone", {"id": 1}, "after"),
    ],
)
def test_no_record_on_a_side_is_inconclusive(
    judge: Fixture, resource: str, filters: dict[str, Any], sides: str
) -> None:
    """There is nothing to compare; filtering by what changes is the usual cause."""
    result = judge(change(resource=resource, filters=filters, changed=True), state=STATE)
    assert (result["status"], result["code"]) == ("INCONCLUSIVE", "nothing_to_compare")
    assert result["reason"] == (
        f"the filters select no record of `{resource}` {sides}; filter by what does not change"
    )


def test_filter_names_collide_with_nothing(judge: Fixture) -> None:
    """Fault of the reference: filters called when, resource or self chose a snapshot or ended in INCONCLUSIVE."""
    key = {"when": "before", "resource": 1, "self": 2, "field": 3, "side": 4}
    state = {"r": {"before": [{**key, "a": 1}], "after": [{**key, "a": 2}]}}
    result = judge(change("a", "r", filters=key, **{"from": 1}, to=2), state=state)
    assert result["status"] == "PASS"


def test_without_filters_the_first_records_are_compared(judge: Fixture) -> None:
    """As in the reference; `rows` says which they were."""
    asked = change(changed=True)
    del asked["filters"]
    assert judge(asked, state=STATE)["rows"] == {"before": 0, "after": 0}


def test_absent_and_unreadable_state_are_inconclusive(judge: Fixture, gapped: Fixture) -> None:
    """A record that can't be read may be the one that is looked for."""
    assert judge(change(changed=True))["code"] == "state_absent"
    assert (
        judge(change(changed=True), gapped({"state": "unreadable"}, state=STATE))["code"]
        == "state_unreadable"
    )
    result = judge(change(resource="broken", changed=True), state=STATE)
    assert (result["status"], result["code"]) == ("INCONCLUSIVE", "state_unreadable")
    assert result["evidence_gap"]["state"] == "unreadable"


def test_a_delta_holds_no_personal_data(judge: Fixture) -> None:
    """Fault of the reference: raw values stood in it; here texts, keys and numbers are redacted at every depth."""
    before = {"card": 4111111111111111, "list": ["a@b.example", {"a@b.example": 4111111111111111.0}], "n": 5}
    state = {"r": {"before": {"f": before}, "after": {"f": [True, None, 1.5]}}}
    result = judge(change("f", "r", filters={}, changed=True), state=state)
    assert result["delta"] == {
        "field": "f",
        "before": {"card": "[REDACTED]", "list": ["[REDACTED]", {"[REDACTED]": "[REDACTED].0"}], "n": 5},
        "after": [True, None, 1.5],
    }
    for asked in ({"to": 1}, {"changed": False}, {"from": {"card": 1}}):
        written = json.dumps(judge(change("f", "r", filters={}, **asked), state=state))
        assert "4111" not in written
        assert "a@b" not in written


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, [("missing_field", "")]),
        ({"resource": "", "to": 1}, [("empty_value", "resource")]),
        ({"field": 5, "to": 1}, [("wrong_type", "field")]),
        ({"changed": "yes"}, [("wrong_type", "changed")]),
        ({"changed": None}, [("wrong_type", "changed")]),
        ({"filters": None, "to": 1}, [("wrong_type", "filters")]),
        ({"from": {"$gte": None}}, [("bad_expected_value", "from.$gte")]),
        ({"to": {"$x": 1}}, [("bad_expected_value", "to.$x")]),
        ({"from_": 1, "to": 1}, [("unknown_field", "from_")]),
    ],
)
def test_mistakes_are_told_with_their_places(
    problems_of: Fixture, fields: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    """Every mistake of a state_change is found before anything runs."""
    assert problems_of({**change(), **fields}) == expected
