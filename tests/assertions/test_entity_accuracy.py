from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Fixture = Callable[..., Any]


def called(name: str = "t", arguments: Any = None, **values: Any) -> dict[str, Any]:
    return {"type": "tool_call", "name": name, "arguments": values if arguments is None else arguments}


def accuracy(reference: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"kind": "entity_accuracy", "reference": reference, **fields}


def test_right_values_pass_with_the_calls_that_carry_them(judge: Fixture) -> None:
    """Different calls may carry different keys."""
    trace = [called(order="A-7"), called(x=1), called("u", amount=42)]
    result = judge(accuracy({"order": "a-7", "amount": 42}), trace=trace)
    assert (result["status"], result["met"], result["of"]) == ("PASS", 2, 2)
    assert (result["tool_calls"], result["span_ids"]) == (["c_0", "c_2"], ["s_0", "s_2"])


def test_fault_5_no_later_call_hides_a_wrong_value(judge: Fixture) -> None:
    """The reference merged all calls, so a log of 50 hid a refund of 500."""
    trace = [called("issue_refund", amount=500), called("log", amount=50)]
    result = judge(accuracy({"amount": 50}), trace=trace)
    assert (result["status"], result["code"], result["met"]) == ("FAIL", "value_mismatch", 0)
    assert result["tool_calls"] == ["c_0"]
    assert result["reason"] == "`amount` must be 50, and is 500 in c_0"
    assert result["public_reason"] == "0 of 1 values are right"


def test_fault_5_numbers_have_one_form_and_the_tool_can_be_named(judge: Fixture) -> None:
    """50 is 50.0, and another tool's amount is another matter."""
    trace = [called("issue_refund", amount=50.0), called("log", amount=1)]
    assert judge(accuracy({"amount": 50}, tool="issue_refund"), trace=trace)["status"] == "PASS"
    assert judge(accuracy({"amount": 50}, tool="log"), trace=trace)["status"] == "FAIL"


@pytest.mark.parametrize(
    ("expected", "actual", "same"),
    [
        (50, 50.0, True),
        (50, "50.00", False),
        ("50", 50, True),
        ("050", 50, False),
        (42.5, "42.50", False),
        (0.1, 0.10000000000000001, True),
        (10**20, 1e20, True),
        (10**20 + 1, 1e20, False),
        ("A-7", "a-7", True),
        ("Jo Doe", " Jo Doe ", False),
        (True, "true", True),
        (True, "TRUE", True),
        (True, 1, False),
        ("", "", True),
        ("", None, False),
        ({"a": 1, "b": [2]}, {"b": [2], "a": 1}, True),
        ({"a": 1}, {"a": 1, "b": 2}, False),
        ([1, 2], [2, 1], False),
        ({"a": "X"}, {"a": "x"}, True),
    ],
)
def test_values_are_compared_as_text(judge: Fixture, expected: Any, actual: Any, same: bool) -> None:
    """Whole values in one form, letters in any case; space counts."""
    result = judge(accuracy({"k": expected}), trace=[called(k=actual)])
    assert result["status"] == ("PASS" if same else "FAIL")


def test_case_counts_when_asked(judge: Fixture) -> None:
    """Not for numbers and booleans, which have none."""
    for expected, actual, same in (("usd", "USD", False), ("usd", "usd", True), (True, "true", True)):
        asked = accuracy({"k": expected}, case_sensitive=True)
        assert judge(asked, trace=[called(k=actual)])["status"] == ("PASS" if same else "FAIL")


@pytest.mark.parametrize(
    ("normalize", "expected", "actual", "same"),
    [
        ("digits", "415 555 0199", "(415) 555-0199", True),
        ("digits", "415 555 0199", 4155550199, True),
        ("digits", "5", "no number", False),
        ("whitespace", "Jo Doe", "  Jo   Doe ", True),
        ("whitespace", "Jo Doe", "JoDoe", False),
        ("email", "jo@example.com", " mailto:Jo@Example.com ", True),
        ("casefold", "Straße", "STRASSE", True),
        (["casefold", "whitespace"], "Straße 1", "STRASSE  1", True),
        ([], "a", "a", True),
    ],
)
def test_normalizers_say_what_does_not_count(
    judge: Fixture, normalize: Any, expected: Any, actual: Any, same: bool
) -> None:
    """By key, on both sides."""
    asked = accuracy({"k": expected}, normalize={"k": normalize}, case_sensitive=True)
    assert judge(asked, trace=[called(k=actual)])["status"] == ("PASS" if same else "FAIL")


def test_reference_values_may_have_operators(judge: Fixture) -> None:
    """Then they are expected values as anywhere else, at any depth."""
    trace = [called(amount=42, to={"zip": "10001", "city": "x"})]
    for reference, same in (
        ({"amount": {"$gte": 42}}, True),
        ({"amount": {"$gt": 42}}, False),
        ({"to": {"zip": {"$regex": "^100"}}}, True),
        ({"cvv": {"$exists": False}}, True),
        ({"amount": {"$exists": False}}, False),
        ({"cvv": {"$exists": True}}, False),
    ):
        result = judge(accuracy(reference), trace=trace)
        assert (result["status"], result["met"]) == (("PASS", 1) if same else ("FAIL", 0))


@pytest.mark.parametrize(
    "trace",
    [[], [called(other=1)], [called(k=None)], [called(arguments=["k"])], [called(arguments="5")]],
)
def test_a_key_that_no_call_carries_is_wrong(judge: Fixture, trace: list[Any]) -> None:
    """Null carries nothing, and neither do arguments without keys."""
    result = judge(accuracy({"k": 1}), trace=trace)
    assert (result["status"], result["code"], result["met"], result["of"]) == ("FAIL", "not_found", 0, 1)
    assert result["reason"] == "`k` must be 1, and no call carries it"
    assert "tool_calls" not in result


def test_any_key_is_enough_when_asked(judge: Fixture) -> None:
    """All must be right by default."""
    trace = [called(a=1, b=3)]
    assert judge(accuracy({"a": 1, "b": 2}), trace=trace)["status"] == "FAIL"
    result = judge(accuracy({"a": 1, "b": 2}, require="any"), trace=trace)
    assert (result["status"], result["met"], result["of"]) == ("PASS", 1, 2)
    assert judge(accuracy({"a": 2, "b": 2}, require="any"), trace=trace)["status"] == "FAIL"


def test_the_reason_names_the_wrong_keys_in_order(judge: Fixture) -> None:
    """Sorted, whatever the order of the document, and not more than five."""
    reference: dict[str, Any] = dict.fromkeys("gfedcba", 1)
    result = judge(accuracy(reference), trace=[called(b=2)])
    assert [part[1] for part in result["reason"].split("; ")] == list("abcde")
    assert result["reason"].split("; ")[1] == "`b` must be 1, and is 2 in c_0"


TWICE = [called(a=1, b=1), called(a=2, b=2), called("u", a=9, b=9)]


@pytest.mark.parametrize(
    ("call", "reference", "status", "met"),
    [
        ("first", {"a": 1, "b": 1}, "PASS", 2),
        ("first", {"a": 2, "b": 2}, "FAIL", 0),
        ("last", {"a": 2, "b": 2}, "PASS", 2),
        ("last", {"a": 1, "b": 2}, "FAIL", 1),
        ("any", {"a": 1, "b": 1}, "PASS", 2),
        ("any", {"a": 2, "b": 2}, "PASS", 2),
        ("any", {"a": 1, "b": 2}, "FAIL", 1),
        ("any", {"a": 2, "b": 9}, "FAIL", 1),
        ("any", {"a": 9}, "FAIL", 0),
    ],
)
def test_one_call_can_be_picked(
    judge: Fixture, call: str, reference: dict[str, Any], status: str, met: int
) -> None:
    """The first, the last, or the one with the most right values; only of the tool that is named."""
    result = judge(accuracy(reference, tool="t", call=call), trace=TWICE)
    assert (result["status"], result["met"]) == (status, met)
    assert judge(accuracy(reference, tool="t"), trace=TWICE)["status"] == "FAIL"


def test_a_tool_that_was_never_called_has_no_values(judge: Fixture) -> None:
    """Whichever call is asked for."""
    for fields in ({}, {"call": "first"}, {"call": "last"}, {"call": "any"}):
        result = judge(accuracy({"a": 1}, tool="x", **fields), trace=TWICE)
        assert (result["status"], result["code"]) == ("FAIL", "not_found")


def test_only_calls_that_count_are_looked_at(judge: Fixture) -> None:
    """As for every kind that looks at calls."""
    trace = [{**called(a=2), "error": "down"}, called(a=1)]
    assert judge(accuracy({"a": 1}), trace=trace)["status"] == "FAIL"
    assert judge(accuracy({"a": 1}, attempts="successful"), trace=trace)["status"] == "PASS"


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"reference": {"a": 1}}, "INCONCLUSIVE"),
        ({"reference": {"a": 2}}, "FAIL"),
        ({"reference": {"a": 2, "b": 1}}, "FAIL"),
        ({"reference": {"a": 2, "b": 1}, "require": "any"}, "INCONCLUSIVE"),
        ({"reference": {"a": 1}, "tool": "t", "call": "last"}, "PASS"),
        ({"reference": {"a": 1}, "tool": "t", "call": "first"}, "INCONCLUSIVE"),
        ({"reference": {"a": 1}, "tool": "t", "call": "any"}, "PASS"),
        ({"reference": {"a": 2}, "tool": "t", "call": "any"}, "INCONCLUSIVE"),
        ({"reference": {"b": 2}, "tool": "t", "call": "last"}, "FAIL"),
    ],
)
def test_arguments_that_are_not_shown_leave_open_what_hangs_on_them(
    judge: Fixture, gapped: Fixture, fields: dict[str, Any], status: str
) -> None:
    """A wrong value stays wrong, and a right one is right unless the hidden call could carry another."""
    evidence = gapped({}, [{"args": None, "args_state": "redacted"}], trace=[called(x=1), called(a=1)])
    result = judge({"kind": "entity_accuracy", **fields}, evidence)
    assert result["status"] == status
    if status == "INCONCLUSIVE":
        assert (result["code"], result["tool_calls"]) == ("arguments_not_recorded", ["c_0"])
        assert result["reason"] == "whether the values are right hangs on the arguments of c_0"


def test_arguments_that_cant_be_parsed_are_unknown(judge: Fixture) -> None:
    """They may hold anything."""
    result = judge(accuracy({"a": 1}), trace=[called(arguments="{"), called(a=1)])
    assert result["code"] == "arguments_unreadable"


@pytest.mark.parametrize("state", ["truncated", "partial", "redacted"])
@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"reference": {"a": 1}}, "INCONCLUSIVE"),
        ({"reference": {"a": 2}}, "FAIL"),
        ({"reference": {"a": 2, "b": 1}}, "FAIL"),
        ({"reference": {"b": 1}}, "INCONCLUSIVE"),
        ({"reference": {"a": 2, "b": 1}, "require": "any"}, "INCONCLUSIVE"),
        ({"reference": {"a": 2}, "require": "any"}, "FAIL"),
        ({"reference": {"a": 1}, "tool": "t", "call": "any"}, "PASS"),
        ({"reference": {"a": 2}, "tool": "t", "call": "any"}, "INCONCLUSIVE"),
        ({"reference": {"a": 1}, "tool": "t", "call": "first"}, "INCONCLUSIVE"),
        ({"reference": {"a": 2}, "tool": "t", "call": "last"}, "INCONCLUSIVE"),
    ],
)
def test_a_part_of_the_trace_proves_wrong_values_only(
    judge: Fixture, gapped: Fixture, state: str, fields: dict[str, Any], status: str
) -> None:
    """What is missing may carry a wrong value, the missing one, or be the first call."""
    evidence = gapped({"executions": state}, trace=[called(a=1)])
    result = judge({"kind": "entity_accuracy", **fields}, evidence)
    assert result["status"] == status
    assert (result.get("code") == "channel_truncated") == (status == "INCONCLUSIVE")


def test_without_a_trace_it_is_inconclusive(judge: Fixture) -> None:
    """What was said proves no argument."""
    assert judge(accuracy({"a": 1}), transcript=[{"text": "a is 1"}])["code"] == "trace_absent"


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"reference": {}}, [("empty_value", "reference")]),
        ({"reference": {"a": {"$gtt": 1}}}, [("bad_expected_value", "reference.a.$gtt")]),
        ({"require": "some"}, [("not_allowed", "require")]),
        ({"call": "first"}, [("field_needs", "call")]),
        ({"tool": "t", "call": "second"}, [("not_allowed", "call")]),
        ({"normalize": {"b": "digits"}}, [("unknown_field", "normalize.b")]),
        ({"normalize": {"a": "phone"}}, [("not_allowed", "normalize.a")]),
        ({"normalize": {"a": ["digits", "money"]}}, [("not_allowed", "normalize.a[1]")]),
        ({"reference": {"a": "x"}, "normalize": {"a": "digits"}}, [("bad_expected_value", "reference.a")]),
        ({"reference": {"a": {"$gt": 1}}, "normalize": {"a": "digits"}}, [("fields_exclude", "normalize.a")]),
    ],
)
def test_mistakes_are_told_with_their_places(
    problems_of: Fixture, fields: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    """Every mistake of an entity_accuracy is found before anything runs."""
    assert problems_of({"kind": "entity_accuracy", "reference": {"a": 1}, **fields}) == expected
