from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from averment.oracle.model.pack import Pack
from averment.oracle.tasks.dependencies import is_marker, markers
from averment.oracle.tasks.plan import PlanError, plan
from averment.text.structs import Mistake

Handmade = Callable[..., Pack]


def call(marker: Any = None, **fields: Any) -> dict[str, Any]:
    args = {} if marker is None else {"args": {"book_id": {"from_result": marker}}}
    return {"type": "tool_call", "tool": "get_book", **args, **fields}


def refusals(handmade: Handmade, *milestones: dict[str, Any], **fields: Any) -> list[Mistake]:
    template = {"turn_policy": "dependent_call", "assistant_milestones": list(milestones), **fields}
    try:
        plan(handmade([template]).templates[0])
    except PlanError as error:
        return list(error.refusals)
    return []


def test_a_marker_is_a_mapping_with_one_key() -> None:
    """Any other mapping is an argument."""
    assert is_marker({"from_result": {}})
    assert not is_marker({"from_result": {}, "x": 1})
    assert not is_marker(["from_result"])


def test_markers_are_found_at_any_depth() -> None:
    """With the path to each; inside a marker none is sought."""
    tree = {"a": [1, {"from_result": 1}], "b": {"c": {"from_result": {"from_result": 2}}}, "d": "from_result"}
    assert list(markers(tree)) == [(("a", 1), 1), (("b", "c"), {"from_result": 2})]


def test_a_call_may_read_the_result_of_any_earlier_batch(handmade: Handmade) -> None:
    """Of a call with an id, in one argument or in several."""
    args = {
        "book_id": {"from_result": {"call": "a", "path": "x.0"}},
        "more": [{"from_result": {"call": "b", "path": "y"}}],
    }
    consumer = {"type": "tool_call", "tool": "get_book", "args": args}
    assert refusals(handmade, call(id="a"), call(id="b"), consumer) == []


@pytest.mark.parametrize(
    ("milestones", "message", "path"),
    [
        ([call(id="a"), call({"call": "b", "path": "x"})], "no milestone has the id `b`", ("call",)),
        (
            [{"type": "final_answer", "id": "a"}, call({"call": "a", "path": "x"})],
            "`a` is the id of no `tool_call`",
            ("call",),
        ),
        (
            [call({"call": "a", "path": "x"}), call(id="a")],
            "the call `a` is made no earlier than the one that reads its result",
            ("call",),
        ),
        (
            [call({"call": "a", "path": "x"}, id="a")],
            "the call `a` is made no earlier than the one that reads its result",
            ("call",),
        ),
        (
            [call(id="a", call_group=1), call({"call": "a", "path": "x"}, call_group=1)],
            "the call `a` is made in the same batch as the one that reads its result",
            ("call",),
        ),
        ([call(id="a"), call("a")], "`from_result` does not say which call it reads", ()),
        (
            [call(id="a"), call({"call": "a"})],
            "`from_result` needs the `call` and a `path` into its result",
            (),
        ),
        (
            [call(id="a"), call({"call": "a", "path": ""})],
            "`from_result` needs the `call` and a `path` into its result",
            (),
        ),
        (
            [call(id="a"), call({"call": 1, "path": "x"})],
            "`from_result` needs the `call` and a `path` into its result",
            (),
        ),
    ],
)
def test_a_marker_that_reads_nothing_is_refused(
    handmade: Handmade, milestones: list[dict[str, Any]], message: str, path: tuple[str, ...]
) -> None:
    """What can be told before any call is made."""
    index = next(index for index, each in enumerate(milestones) if "args" in each)
    (refusal,) = refusals(handmade, *milestones)
    place = ("assistant_milestones", index, "args", "book_id", "from_result")
    assert (refusal.message, refusal.path) == (message, (*place, *path))


def test_a_misspelt_producer_has_the_nearest_id(handmade: Handmade) -> None:
    """Among the ids of calls."""
    (refusal,) = refusals(handmade, call(id="listing"), call({"call": "listings", "path": "x"}))
    assert refusal.nearest == "listing"


def test_a_marker_and_the_policy_come_together(handmade: Handmade) -> None:
    """Neither without the other."""
    (without,) = refusals(handmade, call())
    assert (without.message, without.path) == (
        "the policy is `dependent_call`, and no argument is read from a result",
        ("turn_policy",),
    )
    (other,) = refusals(handmade, call(id="a"), call({"call": "a", "path": "x"}), turn_policy="multi_tool")
    assert other.message == "an argument is read from a result, and the policy is `multi_tool`"


@pytest.mark.parametrize("order", ["any", "prefix"])
def test_dependent_calls_come_in_strict_order(handmade: Handmade, order: str) -> None:
    """The one that reads comes after the one that is read."""
    fields: dict[str, Any] = {"call_order": order}
    if order == "prefix":
        fields |= {"call_order_prefix": 1, "required_tools": ["get_book"]}
    (refusal,) = refusals(handmade, call(id="a"), call({"call": "a", "path": "x"}), **fields)
    assert (refusal.path, refusal.expected) == (("call_order",), "`strict`")
