from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from averment.oracle.grade.calls import Call, Hidden, Unfit
from averment.oracle.grade.compare import MAX_COMPARED, REASONS, Comparison, compare_call, pair_calls
from averment.oracle.grade.policy import Policy
from averment.oracle.tasks.trace import GoldCall

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string"},
        "limit": {"type": "integer", "default": 5},
        "page": {"type": "object", "properties": {"size": {"default": 10}}},
        "any": {},
    },
    "required": ["id"],
    "additionalProperties": False,
}
OPEN: dict[str, Any] = {}
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2)
    | st.sampled_from([0.0, 1.0, 1.5])
    | st.sampled_from(["", "a", "1"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=5,
)
ARGUMENTS = st.dictionaries(st.sampled_from("abc"), JSON, max_size=3)


def gold(arguments: dict[str, Any], name: str = "find") -> GoldCall:
    return GoldCall(turn_index=0, call_group=0, position_in_group=0, function_name=name, arguments=arguments)


def call(arguments: Any = UNSET, name: str | None = "find", **fields: Any) -> Call:
    return Call(id="c", name=name, arguments=arguments, **fields)


def compare(expected: Any, given_: Any, schema: object = SCHEMA, **policy: Any) -> Comparison:
    return compare_call(gold(expected), call(given_), schema, Policy(**policy))


# Equality.


@pytest.mark.parametrize(
    ("one", "other", "equal"),
    [
        (1, 1, True),
        (1, 1.0, False),
        (1, True, False),
        (1, "1", False),
        (0, False, False),
        (None, 0, False),
        ({"a": 1, "b": [1, 2]}, {"b": [1, 2], "a": 1}, True),
        ([1, 2], [2, 1], False),
        ({"a": [1]}, {"a": [1.0]}, False),
        (10**30, 10**30, True),
    ],
)
def test_values_are_the_same_by_their_canonical_json(one: object, other: object, *, equal: bool) -> None:
    """At any depth: types count, the order of keys does not, the order of lists does."""
    found = compare({"id": "A", "any": one}, {"id": "A", "any": other})
    assert (found.status == "equal") is equal
    assert found.differing == (() if equal else ("any",))


@given(ARGUMENTS)
def test_a_call_is_equal_to_itself(arguments: dict[str, Any]) -> None:
    """Under every policy."""
    for policy in (Policy(), Policy(arguments="canonical_only"), Policy(unstated_defaults="compared")):
        assert compare_call(gold(arguments), call(arguments), OPEN, policy).status == "equal"


@given(ARGUMENTS, ARGUMENTS)
def test_seen_from_the_other_side_what_is_missing_is_unexpected(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    """And what differs, differs."""
    there = compare(one, other, OPEN)
    back = compare(other, one, OPEN)
    assert (there.missing, there.unexpected, there.differing) == (
        back.unexpected,
        back.missing,
        back.differing,
    )
    assert there.status == back.status


def test_what_differs_is_named_and_explained() -> None:
    """The three lists name arguments; the sentence says what gold has, and where inside the first difference is."""
    found = compare(
        {"id": "A", "any": {"x": [1, 2]}, "page": {}},
        {"id": "A", "any": {"x": [1, 3]}, "limit": 2, "z": 0},
        OPEN,
    )
    assert (found.missing, found.unexpected, found.differing) == (("page",), ("limit", "z"), ("any",))
    assert found.reason == "arguments_differ"
    assert found.explanation == (
        "c calls `find` with other arguments: `page` is missing: gold has {}; `limit` is 2, and gold has no such argument; "
        '`z` is 0, and gold has no such argument; `any` is {"x": [1, 3]}, and gold has {"x": [1, 2]}, first at `any.x[1]`'
    )


# The schema and its defaults.


def test_arguments_must_fit_the_schema_before_defaults_are_filled_in() -> None:
    """A required argument with a default is still required."""
    schema = {"properties": {"id": {"type": "string", "default": "A"}}, "required": ["id"]}
    found = compare({"id": "A"}, {}, schema)
    assert (found.status, found.reason) == ("differs", "schema_violated")
    assert [failure.reason for failure in found.failures] == ["missing_required_argument"]
    assert "is required and missing (schema)" in found.explanation
    assert (found.missing, found.differing) == ((), ())


@pytest.mark.parametrize(
    ("expected", "given_"),
    [
        ({"id": "A", "limit": 5}, {"id": "A"}),
        ({"id": "A", "page": {}}, {"id": "A", "page": {"size": 10}}),
        ({"id": "A", "page": {"size": 10}}, {"id": "A", "page": {}}),
    ],
)
def test_a_default_is_said_whether_it_is_written_or_not(
    expected: dict[str, Any], given_: dict[str, Any]
) -> None:
    """On both sides, and inside of objects that are there."""
    assert compare(expected, given_).status == "equal"
    assert compare(expected, given_, arguments="canonical_only").status == "differs"


def test_defaults_are_found_through_references_and_all_of() -> None:
    """As schemas inherit them."""
    schema = {"$defs": {"n": {"default": 1}}, "allOf": [{"properties": {"n": {"$ref": "#/$defs/n"}}}]}
    assert compare({"n": 1}, {}, schema).status == "equal"
    assert compare({}, {"n": 9}, schema).status == "equal"
    assert compare({}, {"n": 9}, schema, unstated_defaults="compared").differing == ("n",)


@pytest.mark.parametrize(("policy", "status"), [("free", "equal"), ("compared", "differs")])
def test_what_gold_leaves_to_its_default_is_free_or_compared(policy: str, status: str) -> None:
    """The contract's two revisions differ here; the switch has a name."""
    assert compare({"id": "A"}, {"id": "A", "limit": 9}, unstated_defaults=policy).status == status


def test_what_is_free_must_still_fit_the_schema() -> None:
    """Any value that is legal, and no other."""
    assert compare({"id": "A"}, {"id": "A", "limit": "9"}).reason == "schema_violated"


def test_a_default_that_gold_states_is_not_free() -> None:
    """Then the call must say the same, or leave it to the default."""
    assert compare({"id": "A", "limit": 5}, {"id": "A", "limit": 9}).differing == ("limit",)


def test_canonical_only_asks_for_no_schema() -> None:
    """It compares what was written, and nothing else."""
    assert compare({"limit": "x"}, {"limit": "x"}, arguments="canonical_only").status == "equal"
    assert compare({"limit": "x"}, {"limit": "x"}).reason == "schema_violated"


# What can't be compared.


def test_another_tool_is_another_call_whatever_it_was_given() -> None:
    """Its arguments are not looked at."""
    found = compare_call(gold({"id": "A"}), call({"id": "A"}, "lend"), SCHEMA, Policy())
    assert (found.status, found.reason, found.distance) == ("differs", "name_differs", 0)
    assert found.explanation == "c calls `lend`, and gold calls `find`"


@pytest.mark.parametrize("unfit", ["arguments_unreadable", "arguments_not_object"])
def test_what_is_no_object_equals_nothing(unfit: Unfit) -> None:
    """Not even a call of gold without arguments."""
    found = compare_call(gold({}), call(unfit=unfit), OPEN, Policy())
    assert (found.status, found.reason) == ("differs", unfit)


@pytest.mark.parametrize(
    "hidden", ["arguments_not_recorded", "arguments_redacted", "arguments_truncated", "arguments_conflicting"]
)
def test_what_is_not_shown_is_unknown(hidden: Hidden) -> None:
    """Neither equal nor different."""
    found = compare_call(gold({"id": "A"}), call(hidden=hidden), SCHEMA, Policy())
    assert (found.status, found.reason) == ("unknown", hidden)


def test_which_tool_was_called_may_be_unknown() -> None:
    """Then nothing else is asked."""
    found = compare_call(gold({"id": "A"}), call({"id": "B"}, None), SCHEMA, Policy())
    assert (found.status, found.reason) == ("unknown", "name_not_recorded")


@pytest.mark.parametrize(
    ("given_", "status", "differing"),
    [
        ({"id": "***", "limit": 3}, "unknown", ()),
        ({"id": "***", "limit": "[REDACTED]"}, "unknown", ()),
        ({"id": "***", "limit": 7}, "differs", ("limit",)),
        ({"id": "A", "limit": 3, "any": "***"}, "differs", ()),
    ],
)
def test_what_is_left_of_redacted_arguments_can_still_differ(
    given_: dict[str, Any], status: str, differing: tuple[str, ...]
) -> None:
    """A mark stands for a value that may be the right one, of any type."""
    taken_out = call(given_, hidden="arguments_redacted")
    found = compare_call(gold({"id": "A", "limit": 3}), taken_out, SCHEMA, Policy())
    assert (found.status, found.differing) == (status, differing)


def test_a_mark_in_what_gold_leaves_free_hides_nothing() -> None:
    """Nobody asked for it."""
    taken_out = call({"id": "A", "limit": "***"}, hidden="arguments_redacted")
    assert compare_call(gold({"id": "A"}), taken_out, SCHEMA, Policy()).status == "equal"


def test_a_schema_that_takes_too_long_is_unknown() -> None:
    """Its defaults can't be filled in, so nothing is compared."""
    parts: dict[str, Any] = {
        f"d{level}": {
            "properties": {f"p{at}": {"$ref": f"#/$defs/d{level + 1}", "default": {}} for at in range(2)}
        }
        for level in range(30)
    }
    schema = {"$defs": {**parts, "d30": {}}, "$ref": "#/$defs/d0"}
    found = compare({"a": 1}, {"a": 1}, schema)
    assert (found.status, found.reason) == ("unknown", "schema_too_large")


def test_every_reason_has_its_words() -> None:
    """They are a closed list, and each of them has a test here."""
    assert set(REASONS) >= {
        "equal",
        "name_differs",
        "schema_violated",
        "arguments_differ",
        "schema_too_large",
    }
    assert all(words.endswith(".") for words in REASONS.values())


# Sets of calls.


def paired(golds: list[GoldCall], calls: list[Call]) -> list[tuple[int, int, str]]:
    pairing = pair_calls(golds, calls, {"find": SCHEMA}, Policy())
    return [(pair.gold, pair.call, pair.comparison.status) for pair in pairing.pairs]


def test_equal_calls_find_each_other_in_any_order() -> None:
    """Whatever stands first."""
    golds, calls = [gold({"id": "A"}), gold({"id": "B"})], [call({"id": "B"}), call({"id": "A"})]
    assert paired(golds, calls) == [(0, 1, "equal"), (1, 0, "equal")]


def test_a_call_that_fits_two_is_left_to_the_one_that_needs_it() -> None:
    """Gold's first call would take it, if exact matches were claimed greedily, and its second would fail."""
    golds = [gold({"id": "A"}), gold({"id": "A", "limit": 3})]
    assert paired(golds, [call({"id": "A", "limit": 3}), call({"id": "A", "limit": 4})]) == [
        (0, 1, "equal"),
        (1, 0, "equal"),
    ]


def test_the_same_call_twice_is_paired_by_position() -> None:
    """Ties have one answer."""
    golds, calls = [gold({"id": "A"})] * 2, [call({"id": "A"})] * 3
    assert paired(golds, calls) == [(0, 0, "equal"), (1, 1, "equal")]


def test_the_nearest_miss_is_what_a_call_is_compared_with() -> None:
    """The fewest arguments that differ, in all pairs together."""
    golds = [gold({"id": "A", "limit": 1}), gold({"id": "B", "limit": 2})]
    assert paired(golds, [call({"id": "B", "limit": 9}), call({"id": "A", "limit": 9})]) == [
        (0, 1, "differs"),
        (1, 0, "differs"),
    ]


def test_a_call_that_is_not_shown_is_spared_for_where_it_is_needed() -> None:
    """It may be the one that nothing else is, and gold's other call has an equal one."""
    golds = [gold({"id": "A"}), gold({"id": "B"})]
    assert paired(golds, [call(hidden="arguments_truncated"), call({"id": "A"})]) == [
        (0, 1, "equal"),
        (1, 0, "unknown"),
    ]


def test_what_is_left_is_told_side_by_side() -> None:
    """Which tool was called instead of which; the rest is missing, or unexpected."""
    golds = [gold({}, "a"), gold({}, "b"), gold({}, "c")]
    pairing = pair_calls(golds, [call({}, "b"), call({}, "x")], {}, Policy())
    assert [(pair.gold, pair.call) for pair in pairing.pairs] == [(1, 0)]
    assert [(pair.gold, pair.call) for pair in pairing.instead] == [(0, 1)]
    assert (pairing.missing, pairing.unexpected) == ((0, 2), (1,))


def test_a_call_of_an_unknown_tool_may_be_the_missing_one() -> None:
    """And one more than are missing is unexpected, whatever it is."""
    pairing = pair_calls([gold({"id": "A"})], [call({}, None), call({}, None)], {}, Policy())
    assert [(pair.gold, pair.call, pair.comparison.status) for pair in pairing.pairs] == [(0, 0, "unknown")]
    assert (pairing.missing, pairing.unexpected) == ((), (1,))


def test_of_very_many_calls_of_one_tool_the_first_are_compared() -> None:
    """The rest is unexpected, which it is anyway."""
    calls = [*[call({"id": "B"})] * MAX_COMPARED, call({"id": "A"})]
    pairing = pair_calls([gold({"id": "A"})], calls, {}, Policy())
    assert [(pair.call, pair.comparison.status) for pair in pairing.pairs] == [(0, "differs")]
    assert len(pairing.unexpected) == MAX_COMPARED


SET = st.lists(st.tuples(st.sampled_from(["find", "lend"]), ARGUMENTS), max_size=4)


@given(SET, SET, st.randoms(use_true_random=False))
def test_what_is_found_of_a_set_does_not_hang_on_its_order(
    expected: list[tuple[str, dict[str, Any]]], given_: list[tuple[str, dict[str, Any]]], random: Any
) -> None:
    """How many calls are equal, differ, are missing and unexpected, whichever way both are shuffled."""

    def summary() -> tuple[list[str], int, int, int]:
        golds = [gold(arguments, name) for name, arguments in expected]
        calls = [call(arguments, name) for name, arguments in given_]
        found = pair_calls(golds, calls, {"find": {"properties": {"a": {"default": 1}}}}, Policy())
        distance = sum(pair.comparison.distance for pair in found.pairs)
        statuses = sorted(str(pair.comparison.status) for pair in found.pairs)
        return statuses, distance, len(found.missing), len(found.unexpected)

    before = summary()
    random.shuffle(expected)
    random.shuffle(given_)
    assert summary() == before


@given(SET)
def test_a_set_is_equal_to_itself(calls: list[tuple[str, dict[str, Any]]]) -> None:
    """Each call with one that is the same; which one, where several are, is the first that is free."""
    golds = [gold(arguments, name) for name, arguments in calls]
    found = pair_calls(golds, [call(arguments, name) for name, arguments in calls], {}, Policy())
    assert [pair.comparison.status for pair in found.pairs] == ["equal"] * len(calls)
    assert (found.missing, found.unexpected) == ((), ())
