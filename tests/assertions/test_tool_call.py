from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import averment

Fixture = Callable[..., Any]


def called(name: str = "refund", args: Any = None, **fields: Any) -> dict[str, Any]:
    """A span of a tool call."""
    arguments = {} if args is None else {"arguments": args}
    return {"type": "tool_call", "name": name, **arguments, **fields}


def tool_call(name: Any = "refund", **fields: Any) -> dict[str, Any]:
    return {"kind": "tool_call", **({} if name is None else {"name": name}), **fields}


THREE = [called(args={"id": 1}), called("lookup"), called(args={"id": 2, "opts": {"full": True, "n": 1}})]


# Called or not.


def test_a_call_passes_with_all_calls_as_grounds(judge: Fixture) -> None:
    """PASS names the ids of the calls and of their spans, which count over all spans."""
    result = judge(tool_call(), trace=[{"type": "dtmf"}, *THREE])
    assert (result["status"], result["tool_calls"], result["span_ids"]) == (
        "PASS",
        ["c_0", "c_2"],
        ["s_1", "s_3"],
    )


def test_ids_are_those_of_the_source_where_it_has_some(judge: Fixture) -> None:
    """Difference 15: the position stands in only where there is no id."""
    trace = [called(span_id="b7ad6b71"), called()]
    assert judge(tool_call(), trace=trace)["span_ids"] == ["b7ad6b71", "s_1"]


def test_a_tool_that_was_not_called_fails_and_the_reason_names_those_that_were(judge: Fixture) -> None:
    """The reader sees at once whether the name is misspelt."""
    result = judge(tool_call("refnd"), trace=THREE)
    assert (result["status"], result["code"]) == ("FAIL", "not_found")
    assert result["reason"] == "`refnd` was not called; tools called: `refund`, `lookup`"
    assert result["public_reason"] == "calls of refnd are not as required"
    assert judge(tool_call(), trace=[])["reason"] == "`refund` was not called; tools called: none"


def test_what_was_said_is_no_call(judge: Fixture) -> None:
    """Only the trace answers, whatever stands in the transcript."""
    said = [{"role": "agent", "text": "I have issued the refund"}]
    assert judge(tool_call(), transcript=said, trace=[])["status"] == "FAIL"
    assert judge(tool_call(), transcript=said)["code"] == "trace_absent"


def test_absent_forbids_any_call(judge: Fixture) -> None:
    """Fault 7 of the reference: there was no such field, and it passed when the tool was called."""
    assert judge(tool_call("cancel", absent=True), trace=THREE)["status"] == "PASS"
    result = judge(tool_call(absent=True), trace=THREE)
    assert (result["status"], result["code"], result["tool_calls"]) == (
        "FAIL",
        "found_but_forbidden",
        ["c_0", "c_2"],
    )
    assert result["reason"] == "`refund` was called 2 times, and must not be"


def test_absent_with_arguments_forbids_only_such_calls(judge: Fixture) -> None:
    """Difference 6: no such call with these arguments."""
    assert judge(tool_call(absent=True, args_subset={"id": 3}), trace=THREE)["status"] == "PASS"
    result = judge(tool_call(absent=True, args_subset={"id": 2}), trace=THREE)
    assert (result["status"], result["tool_calls"]) == ("FAIL", ["c_2"])
    assert result["reason"] == "`refund` was called once with these arguments, and must not be"


def test_an_absent_trace_is_inconclusive_and_an_empty_one_is_judged(judge: Fixture) -> None:
    """Nothing recorded gives no verdict; nothing called is a FAIL, or a PASS of what must not be."""
    asked: tuple[dict[str, Any], ...] = ({}, {"absent": True}, {"count": 0})
    for fields in asked:
        result = judge(tool_call(**fields))
        assert (result["status"], result["code"]) == ("INCONCLUSIVE", "trace_absent")
        assert result["public_reason"] == "required trace evidence was missing"
    assert judge(tool_call(), trace=[])["status"] == "FAIL"
    assert judge(tool_call(absent=True), trace=[])["status"] == "PASS"


def test_the_empty_name_is_a_name(judge: Fixture) -> None:
    """As in the reference; it is not the same as none."""
    assert judge(tool_call(""), trace=[called("")])["status"] == "PASS"
    assert judge(tool_call(""), trace=THREE)["code"] == "not_found"


# How often.


@pytest.mark.parametrize(
    ("count", "status", "code"),
    [
        (2, "PASS", None),
        (1, "FAIL", "count_out_of_bounds"),
        (3, "FAIL", "count_out_of_bounds"),
        (0, "FAIL", "found_but_forbidden"),
        (-1, "FAIL", "count_out_of_bounds"),
        ({"min": 2}, "PASS", None),
        ({"min": 3}, "FAIL", "count_out_of_bounds"),
        ({"max": 2}, "PASS", None),
        ({"max": 1}, "FAIL", "count_out_of_bounds"),
        ({"max": 0}, "FAIL", "found_but_forbidden"),
        ({"min": 1, "max": 2}, "PASS", None),
        ({"min": 2, "max": 3}, "PASS", None),
        ({"min": 2, "max": 2}, "PASS", None),
        ({"min": 3, "max": 4}, "FAIL", "count_out_of_bounds"),
        ({"min": 0, "max": 1}, "FAIL", "count_out_of_bounds"),
        ({"min": None, "max": 2}, "PASS", None),
        ({"min": 2, "max": None}, "PASS", None),
    ],
)
def test_counts_are_inclusive_bounds(judge: Fixture, count: Any, status: str, code: str | None) -> None:
    """Two calls are held against every kind of bound; a FAIL still names them."""
    result = judge(tool_call(count=count), trace=THREE)
    assert (result["status"], result.get("code")) == (status, code)
    assert result["tool_calls"] == ["c_0", "c_2"]


@pytest.mark.parametrize(
    ("count", "words"),
    [
        (3, "3 times"),
        (1, "once"),
        ({"min": 3}, "at least 3 times"),
        ({"max": 1}, "at most once"),
        ({"min": 3, "max": 4}, "3 to 4 times"),
    ],
)
def test_a_reason_says_how_often_it_must_be(judge: Fixture, count: Any, words: str) -> None:
    """Found and wanted stand side by side."""
    result = judge(tool_call(count=count), trace=THREE)
    assert result["reason"] == f"`refund` was called 2 times, and must be {words}"


def test_zero_calls_satisfy_only_bounds_that_allow_them(judge: Fixture) -> None:
    """`count: 0` is the reference's way to say that a tool must not be called."""
    assert judge(tool_call("x", count=0), trace=THREE)["status"] == "PASS"
    assert judge(tool_call("x", count={"max": 3}), trace=THREE)["status"] == "PASS"
    assert judge(tool_call("x", count={"min": 0}), trace=THREE)["status"] == "PASS"
    result = judge(tool_call("x", count={"min": 1}), trace=THREE)
    assert (result["status"], result["code"]) == ("FAIL", "count_out_of_bounds")


def test_a_count_counts_calls_with_matching_arguments(judge: Fixture) -> None:
    """Calls with other arguments do not count."""
    assert judge(tool_call(count=1, args_subset={"id": 1}), trace=THREE)["tool_calls"] == ["c_0"]
    assert judge(tool_call(count=0, args_subset={"id": 9}), trace=THREE)["status"] == "PASS"


# With which arguments.


@pytest.mark.parametrize(
    ("expected", "actual", "matches"),
    [
        ({"a": 1}, {"a": 1.0, "b": 2}, True),
        ({"a": 1}, {"a": "1"}, False),
        ({"a": None}, {"a": None}, True),
        ({"a": None}, {}, False),
        ({"opts": {"full": True}}, {"opts": {"full": True, "n": 1}}, True),
        ({"list": [1]}, {"list": [1, 2]}, False),
        ({"amount": {"$gte": 10, "$lt": 20}}, {"amount": 10}, True),
        ({"amount": {"$gte": 10, "$lt": 20}}, {"amount": 20}, False),
        ({"note": {"$exists": False}}, {"a": 1}, True),
        ({"note": {"$exists": False}}, {"note": None}, False),
        ({"a": 1}, [{"a": 1}], False),
        ({"a": 1}, '{"a": 1}', True),
        ({}, [1], True),
    ],
)
def test_a_subset_is_deep_and_has_operators(
    judge: Fixture, expected: dict[str, Any], actual: Any, matches: bool
) -> None:
    """Fault 11: subsets were shallow and had no operators; JSON text is read, and an empty subset asks nothing."""
    result = judge(tool_call(args_subset=expected), trace=[called(args=actual)])
    assert result["status"] == ("PASS" if matches else "FAIL")


def test_true_never_equals_one_in_arguments(judge: Fixture) -> None:
    """Fault 11 and difference 4: `{a: 1}` matched `{a: true}`, and `{a: 0}` matched `{a: false}`."""
    for expected, actual in ((1, True), (True, 1), (0, False), (False, 0.0)):
        for field in ("args_subset", "args", "args_exact"):
            result = judge(tool_call(**{field: {"a": expected}}), trace=[called(args={"a": actual})])
            assert (result["status"], result["code"]) == ("FAIL", "value_mismatch")


def test_exact_arguments_have_no_other_keys_at_any_depth(judge: Fixture) -> None:
    """Difference 5: `args_exact` asks for all there is."""
    trace = [called(args={"a": {"b": 1}, "c": 2})]
    assert judge(tool_call(args_exact={"a": {"b": 1}, "c": 2}), trace=trace)["status"] == "PASS"
    assert judge(tool_call(args_exact={"a": {"b": 1}}), trace=trace)["status"] == "FAIL"
    assert judge(tool_call(args_exact={"a": {}, "c": 2}), trace=trace)["status"] == "FAIL"
    assert judge(tool_call(args={"a": {"b": 1}}), trace=trace)["status"] == "PASS"


def test_arguments_may_be_any_value(judge: Fixture) -> None:
    """Difference 5: a list is matched with `args`; the reference crashed on it."""
    trace = [called(args=["a", 2])]
    assert judge(tool_call(args=["a", {"$gt": 1}]), trace=trace)["status"] == "PASS"
    assert judge(tool_call(args={"$len": 3}), trace=trace)["status"] == "FAIL"
    assert judge(tool_call(args={}), trace=trace)["status"] == "FAIL"


def test_missing_arguments_of_a_native_span_are_empty(judge: Fixture) -> None:
    """In the contract's own shapes a missing field is missing, not unrecorded."""
    assert judge(tool_call(args_exact={}), trace=[called()])["status"] == "PASS"
    assert judge(tool_call(args_subset={"a": 1}), trace=[called()])["code"] == "value_mismatch"


def test_the_nearest_miss_says_which_call_and_where_it_differs(judge: Fixture) -> None:
    """Of several calls the one that differs least is shown, expected before found."""
    trace = [called(args={"id": 9}), called(args={"id": 1, "amount": 999}), called("other", {"id": 1})]
    result = judge(tool_call(args_subset={"id": 1, "amount": 5}), trace=trace)
    assert (result["status"], result["code"]) == ("FAIL", "value_mismatch")
    assert result["nearest_miss"] == {
        "tool_call": "c_1",
        "mismatches": [{"path": "amount", "expected": "5", "found": "999"}],
    }
    assert result["reason"] == (
        "`refund` was called 2 times, never with the expected arguments; "
        "nearest is c_1: amount: expected 5, found 999"
    )
    assert "tool_calls" not in result


def test_the_path_of_a_miss_goes_through_lists_and_mappings(judge: Fixture) -> None:
    """Nested places read as people write them; the value as a whole has the empty path."""
    trace = [called(args={"items": [{"sku": "a"}, {"sku": "b"}]})]
    result = judge(tool_call(args_subset={"items": [{"sku": "a"}, {"sku": "c"}]}), trace=trace)
    assert result["nearest_miss"]["mismatches"][0]["path"] == "items[1].sku"
    result = judge(tool_call(args=[1]), trace=[called(args={})])
    assert result["nearest_miss"]["mismatches"][0]["path"] == ""
    assert "nearest is c_0: the value: expected" in result["reason"]


# In which order.


@pytest.mark.parametrize(
    ("order", "status", "code", "calls"),
    [
        (["refund", "lookup"], "PASS", None, ["c_0", "c_1"]),
        (["refund", "lookup", "refund"], "PASS", None, ["c_0", "c_1", "c_2"]),
        (["refund", "refund"], "PASS", None, ["c_0", "c_2"]),
        (["lookup", "refund", "lookup"], "FAIL", "wrong_order", ["c_1", "c_2"]),
        (["lookup", "lookup"], "FAIL", "wrong_order", ["c_1"]),
        (["cancel", "refund"], "FAIL", "not_found", None),
        (["refund", "cancel"], "FAIL", "not_found", ["c_0"]),
    ],
)
def test_an_order_allows_other_calls_in_between(
    judge: Fixture, order: list[str], status: str, code: str | None, calls: list[str] | None
) -> None:
    """Each tool is called at a later place than the one before; the grounds are those that were found."""
    result = judge(tool_call(None, require_order=order), trace=THREE)
    assert (result["status"], result.get("code"), result.get("tool_calls")) == (status, code, calls)


def test_a_broken_order_says_what_does_not_follow_what(judge: Fixture) -> None:
    """The reason names the first tool that is missing, and the one before it."""
    result = judge(tool_call(None, require_order=["lookup", "cancel"]), trace=THREE)
    assert result["reason"] == "`cancel` was not called after `lookup`"
    assert result["public_reason"] == "tools are not called in the required order"
    result = judge(tool_call(None, require_order=["cancel"]), trace=THREE)
    assert result["reason"] == "`cancel` was not called"


@pytest.mark.parametrize(
    ("tool", "until", "status", "calls"),
    [
        ("lookup", "refund", "PASS", None),
        ("refund", "lookup", "FAIL", ["c_0"]),
        ("refund", "cancel", "FAIL", ["c_0", "c_2"]),
        ("cancel", "refund", "PASS", None),
        ("refund", "refund", "PASS", None),
    ],
)
def test_a_guarded_tool_waits_for_its_guard(
    judge: Fixture, tool: str, until: str, status: str, calls: list[str] | None
) -> None:
    """No call of `tool` before the first of `until`, and none at all without one."""
    result = judge(tool_call(None, never_before={"tool": tool, "until": until}), trace=THREE)
    assert (result["status"], result.get("tool_calls")) == (status, calls)
    if status == "FAIL":
        assert result["code"] == "too_early"
        never = ", which was never called" if until == "cancel" else ""
        assert result["reason"] == f"`{tool}` was called before `{until}`{never}"


def test_order_goes_by_time_when_every_span_has_one(judge: Fixture) -> None:
    """Fault 14: the order of the list was taken for the order of events, so an unsorted trace was misjudged."""
    trace = [called("refund", start_sec=5), called("verify", start_sec=2)]
    assert judge(tool_call(None, require_order=["verify", "refund"]), trace=trace)["status"] == "PASS"
    guard = {"tool": "refund", "until": "verify"}
    assert judge(tool_call(None, never_before=guard), trace=trace)["status"] == "PASS"
    del trace[0]["start_sec"]
    assert judge(tool_call(None, require_order=["verify", "refund"]), trace=trace)["status"] == "FAIL"


def test_all_parts_must_hold_and_every_failure_is_told(judge: Fixture) -> None:
    """Name, order and guard are one conjunction; grounds are joined."""
    fields: dict[str, Any] = {
        "args_subset": {"id": 7},
        "require_order": ["lookup", "lookup"],
        "never_before": {"tool": "refund", "until": "lookup"},
    }
    result = judge(tool_call(**fields), trace=THREE)
    assert (result["status"], result["code"]) == ("FAIL", "value_mismatch")
    assert result["reason"].count("; ") >= 2
    assert "was not called after" in result["reason"]
    assert "was called before" in result["reason"]
    assert result["nearest_miss"]["tool_call"] == "c_0"
    assert result["tool_calls"] == ["c_1", "c_0"]
    result = judge(tool_call(require_order=["refund", "lookup"]), trace=THREE)
    assert (result["status"], result["tool_calls"]) == ("PASS", ["c_0", "c_2", "c_1"])


# Mistakes.


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"name": 5}, [("wrong_type", "name")]),
        ({"count": None}, [("wrong_type", "count")]),
        ({"count": True}, [("wrong_type", "count")]),
        ({"count": 1.0}, [("wrong_type", "count")]),
        ({"count": "2"}, [("wrong_type", "count")]),
        ({"count": {}}, [("missing_field", "count")]),
        ({"count": {"min": "2"}}, [("wrong_type", "count.min")]),
        ({"count": {"min": 3, "max": 2}}, [("impossible_bounds", "count")]),
        ({"count": {"minimum": 2}}, [("unknown_field", "count.minimum")]),
        ({"count": 1, "absent": True}, [("fields_exclude", "absent")]),
        ({"args": {}, "args_subset": {}}, [("fields_exclude", "args")]),
        ({"args_exact": 1, "args_subset": {}}, [("fields_exclude", "args_exact")]),
        ({"args_subset": []}, [("wrong_type", "args_subset")]),
        ({"args_subset": {"a": {"$gtt": 1}}}, [("bad_expected_value", "args_subset.a.$gtt")]),
        ({"args": {"$exists": False}}, [("bad_expected_value", "args.$exists")]),
        ({"args_exact": {"$regex": "("}}, [("bad_expected_value", "args_exact.$regex")]),
        ({"require_order": []}, [("empty_value", "require_order")]),
        ({"require_order": ["a", 5]}, [("wrong_type", "require_order[1]")]),
        ({"never_before": {"tool": "a"}}, [("missing_field", "never_before")]),
        (
            {"never_before": {"tool": 5, "until": []}},
            [("wrong_type", "never_before.tool"), ("wrong_type", "never_before.until")],
        ),
        (
            {"never_before": {"tool": "a", "until": "b", "after": "c"}},
            [("unknown_field", "never_before.after")],
        ),
        ({"reading": "made"}, [("not_allowed", "reading")]),
        ({"requestor": "system"}, [("not_allowed", "requestor")]),
        ({"attempts": "first"}, [("not_allowed", "attempts")]),
        ({"arg_subset": {}}, [("unknown_field", "arg_subset")]),
    ],
)
def test_mistakes_are_told_with_their_places(
    problems_of: Fixture, fields: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    """Difference 2: bounds, orders and value types are checked before anything runs."""
    assert problems_of(tool_call(**fields)) == expected


def test_fields_that_say_nothing_without_a_name_are_refused(problems_of: Fixture) -> None:
    """The reference ignored them, so a check of arguments checked nothing."""
    fields = {"args_subset": {"a": 1}, "count": 1, "require_order": ["a"]}
    assert problems_of(tool_call(None, **fields)) == [
        ("field_needs", "args_subset"),
        ("field_needs", "count"),
    ]
    assert problems_of(tool_call(None, absent=True, require_order=["a"])) == [("field_needs", "absent")]


def test_an_unknown_operator_is_told_with_the_nearest() -> None:
    """What expected values get wrong is told in full: place, nearest name and mend."""
    document = {"version": 1, "assertions": [{"id": "a", **tool_call(args={"a": {"$regx": "x"}})}]}
    with pytest.raises(averment.DocumentError) as caught:
        averment.Document.of(document)
    (problem,) = caught.value.problems
    assert (problem.path, problem.nearest) == ("$.assertions[0].args.a.$regx", "$regex")
    assert problem.expected
    assert problem.mend


def test_a_tool_call_must_ask_for_something(problems_of: Fixture) -> None:
    """One of name, order and guard is needed, and null is no name."""
    assert problems_of(tool_call(None)) == [("missing_field", "")]
    assert problems_of({"kind": "tool_call", "name": None}) == [("wrong_type", "name")]


@settings(max_examples=100, deadline=None)
@given(
    names=st.lists(st.sampled_from("abc"), max_size=6),
    order=st.lists(st.sampled_from("abc"), min_size=1, max_size=3),
)
def test_an_order_holds_exactly_when_it_is_a_subsequence(names: list[str], order: list[str]) -> None:
    """Held against the plain definition of a subsequence."""
    document = averment.Document.of(
        {"version": 1, "assertions": [{"id": "a", **tool_call(None, require_order=order)}]}
    )
    evidence = averment.Evidence(trace=[called(name) for name in names])
    rest = iter(names)
    holds = all(name in rest for name in order)
    assert averment.run(document, evidence).results[0].status == ("PASS" if holds else "FAIL")
