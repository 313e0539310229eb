from __future__ import annotations

from typing import Any

import pytest
from staged import StagedOracle, broken, runner, script

from averment.oracle.oracles import OracleError
from averment.oracle.replay.attempt import Attempt, Call
from averment.oracle.replay.mutants import KINDS, Kills, kills
from averment.oracle.replay.twice import replay

START = {"boxes": {"B-1": "nail", "B-2": "screw"}}
LOOK = Call("look", {"box": "B-1"})
PUT = Call("put", {"box": "B-1", "item": "bolt"}, 1)
COUNT = Call("count", {})


def look(state: dict[str, Any], arguments: dict[str, Any], _: Any) -> Any:
    item = state["boxes"].get(arguments["box"])
    return {"error": {"code": "not_found"}} if item is None else {"item": item}


def put(state: dict[str, Any], arguments: dict[str, Any], _: Any) -> Any:
    if arguments["box"] in state["boxes"]:
        state["boxes"][arguments["box"]] = arguments["item"]
    return {"put": arguments["item"]}


def count(state: dict[str, Any], *_: Any) -> Any:
    return {"count": len(state["boxes"])}


class Noting:
    """An assertion that passes on everything and notes it."""

    def __init__(self) -> None:
        self.seen: list[tuple[Any, list[Any]]] = []

    def __call__(self, state: Any, trace: Any) -> None:
        self.seen.append((state, [(step["tool"], step["arguments"], step["result"]) for step in trace]))


def table(
    *calls: Call,
    most: int = 9,
    further: tuple[Call, ...] = (),
    oracle: StagedOracle | None = None,
    **predicates: Any,
) -> dict[str, Kills]:
    """The kill table of a task with these gold calls."""
    stage = oracle or StagedOracle(START, look=look, put=put, count=count)
    said, task = runner(**predicates), script(*calls, assertions=list(predicates))
    gold = replay(stage, said, task)
    assert gold.reason is None
    assert isinstance(gold.attempt, Attempt)
    return kills(stage, said, task, gold.attempt, further=further, most=most)


def mutants(*calls: Call, **more: Any) -> tuple[dict[str, int], list[list[Any]], list[Any]]:
    """The mutants of gold: how many there are of each kind, then their traces and states, in order."""
    noting = Noting()
    found = table(*calls, noting=noting, **more)["noting"].by_kind
    seen = noting.seen[2:]  # gold came first, once in each world
    return (
        {kind: of for kind, (_, of) in found.items()},
        [trace for _, trace in seen],
        [state for state, _ in seen],
    )


NAIL, SCREW, NONE = {"item": "nail"}, {"item": "screw"}, {"error": {"code": "not_found"}}


def test_calls_are_dropped_duplicated_swapped_and_altered_and_made_anew() -> None:
    """So results and state are those that would have come of them; neither is what gold came to."""
    counts, traces, states = mutants(LOOK, PUT)
    looked, put_in = ("look", {"box": "B-1"}, NAIL), ("put", {"box": "B-1", "item": "bolt"}, {"put": "bolt"})
    assert counts == {
        "call_dropped": 2,
        "call_duplicated": 2,
        "calls_swapped": 1,
        "argument_altered": 3,
        "result_corrupted": 4,
        "state_rolled_back": 1,
    }
    assert traces[:8] == [
        [put_in],
        [looked],
        [looked, looked, put_in],
        [looked, put_in, put_in],
        [put_in, ("look", {"box": "B-1"}, {"item": "bolt"})],
        [("look", {"box": "B-1-altered"}, NONE), put_in],
        [looked, ("put", {"box": "B-1-altered", "item": "bolt"}, {"put": "bolt"})],
        [looked, ("put", {"box": "B-1", "item": "bolt-altered"}, {"put": "bolt-altered"})],
    ]
    assert [state["boxes"]["B-1"] for state in states[:8]] == [
        "bolt", "nail", "bolt", "bolt", "bolt", "bolt", "nail", "bolt-altered",
    ]  # fmt: skip


def test_results_are_corrupted_field_by_field_and_turned_into_errors() -> None:
    """As they were recorded otherwise, and the state with them."""
    counts, traces, states = mutants(COUNT)
    assert counts == {"call_dropped": 1, "call_duplicated": 1, "result_corrupted": 2}
    assert traces[2:] == [[("count", {}, {"count": 3})], [("count", {}, {"error": {"code": "corrupted"}})]]
    assert states == [START] * 4


def test_a_state_that_changed_is_rolled_back_to_where_it_was() -> None:
    """Under the trace of gold; where nothing changed there is nothing to roll back."""
    counts, traces, states = mutants(PUT)
    assert counts["state_rolled_back"] == 1
    assert traces[-1] == [("put", {"box": "B-1", "item": "bolt"}, {"put": "bolt"})]
    assert states[-1] == START
    assert "state_rolled_back" not in mutants(LOOK)[0]


def test_where_no_call_is_due_calls_are_added() -> None:
    """One of each tool that gold does not use, in a turn of its own."""
    counts, traces, _ = mutants(further=(LOOK, COUNT))
    assert counts == {"call_added": 2}
    assert traces == [[("look", {"box": "B-1"}, NAIL)], [("count", {}, {"count": 2})]]


def test_no_call_is_added_of_a_tool_that_gold_uses() -> None:
    """That would be a call duplicated or altered."""
    counts, traces, _ = mutants(LOOK, further=(LOOK, PUT))
    assert counts["call_added"] == 1
    assert ("put", PUT.arguments, {"put": "bolt"}) in traces[3]


@pytest.mark.parametrize(
    ("value", "altered"),
    [
        (True, False),
        (1, 2),
        (1.5, 2.5),
        ("a", "a-altered"),
        ([], ["altered"]),
        ([1], [1, 1]),
        ({}, {"altered": True}),
        (None, "altered"),
    ],
)
def test_an_altered_value_is_another_of_its_type(value: Any, altered: Any) -> None:
    """None has no other."""

    def echo(_: dict[str, Any], arguments: dict[str, Any], __: Any) -> Any:
        return {"value": arguments["x"]}

    _, traces, _ = mutants(Call("echo", {"x": value}), oracle=StagedOracle(echo=echo))
    assert traces[2] == [("echo", {"x": altered}, {"value": altered})]
    assert traces[3] == [("echo", {"x": value}, {"value": altered})]
    assert type(traces[2][0][1]["x"]) is type(altered)


def test_what_leaves_the_evidence_as_it_was_is_no_mutant() -> None:
    """Two calls that are the same can't be swapped; a number may be too large for the next one to differ."""
    assert "calls_swapped" not in mutants(LOOK, LOOK)[0]
    echo = StagedOracle(echo=lambda *_: {})
    counts, _, _ = mutants(Call("echo", {"x": 1e300}), oracle=echo)
    assert "argument_altered" not in counts


@pytest.mark.parametrize("most", [0, 1, 2])
def test_each_kind_has_so_many_at_most(most: int) -> None:
    """However many calls there are."""
    counts, _, _ = mutants(*[LOOK, PUT] * 20, most=most, further=(COUNT, COUNT, COUNT))
    counts.pop("state_rolled_back")
    assert set(counts.values()) == ({most} if most else set())


def test_the_table_counts_what_each_assertion_fails_on() -> None:
    """By hand: a look, which one assertion wants made once, one wants answered, and one wants nothing of."""

    def once(_: Any, trace: Any) -> None:
        assert len(trace) == 1

    def nail(_: Any, trace: Any) -> None:
        assert trace[-1]["result"]["item"] == "nail"

    def fine(*_: Any) -> None:
        return None

    found = table(LOOK, once=once, nail=nail, fine=fine)
    assert {name: each.by_kind for name, each in found.items()} == {
        "once": {
            "call_dropped": (1, 1),
            "call_duplicated": (1, 1),
            "argument_altered": (0, 1),
            "result_corrupted": (0, 2),
        },
        "nail": {
            "call_dropped": (1, 1),  # it breaks there, which is no pass
            "call_duplicated": (0, 1),
            "argument_altered": (1, 1),
            "result_corrupted": (2, 2),
        },
        "fine": {
            "call_dropped": (0, 1),
            "call_duplicated": (0, 1),
            "argument_altered": (0, 1),
            "result_corrupted": (0, 2),
        },
    }
    assert [name for name, each in found.items() if each.is_vacuous] == ["fine"]


def test_an_assertion_about_the_state_alone_is_not_vacuous() -> None:
    """It survives whatever is done to the trace alone, and fails when the state is another."""

    def bolted(state: Any, _: Any) -> None:
        assert state["boxes"]["B-1"] == "bolt"

    found = table(PUT, bolted=bolted)["bolted"]
    assert found.by_kind["call_duplicated"] == (0, 1)
    assert found.by_kind["result_corrupted"] == (0, 2)
    assert found.by_kind["state_rolled_back"] == (1, 1)
    assert not found.is_vacuous


def test_one_that_does_not_apply_to_a_mutant_has_not_failed_on_it() -> None:
    """Whoever passes or does not apply everywhere is vacuous."""

    def conditional(_: Any, trace: Any) -> Any:
        return None if trace else ("not_applicable", "no call")

    assert table(LOOK, conditional=conditional)["conditional"].is_vacuous


def test_mutants_that_the_oracle_gives_no_answer_to_are_left_out() -> None:
    """Those after them are made all the same."""

    def choosy(state: dict[str, Any], arguments: dict[str, Any], condition: Any) -> Any:
        if arguments["box"] != "B-1":
            raise broken()
        return look(state, arguments, condition)

    counts, traces, _ = mutants(LOOK, oracle=StagedOracle(START, look=choosy, count=count), further=(COUNT,))
    assert counts == {"call_dropped": 1, "call_duplicated": 1, "call_added": 1, "result_corrupted": 2}
    assert traces[2][-1] == ("count", {}, {"count": 2})


def test_a_reset_that_leaves_something_behind_misleads_no_mutant() -> None:
    """What one of them put in is not there in the next."""
    leaky = StagedOracle(START, leaks=True, look=look, put=put, count=count)
    assert mutants(PUT, LOOK, oracle=leaky) == mutants(PUT, LOOK)


def test_an_assertion_that_gives_no_answer_is_told() -> None:
    """It is for the caller to go on without the task."""

    def leaving(_: Any, trace: Any) -> None:
        if not trace:
            raise broken("run_assertion", "died")

    with pytest.raises(OracleError):
        table(LOOK, leaving=leaving)


def test_without_assertions_nothing_is_made() -> None:
    """Nor without mutants anything judged."""
    assert table(LOOK) == {}
    assert table(most=9, fine=lambda *_: None)["fine"] == Kills({})
    assert not Kills({}).is_vacuous


def test_tables_are_joined_by_their_counts() -> None:
    """In the order of the kinds."""
    one = Kills({"result_corrupted": (0, 2), "call_dropped": (1, 2)})
    other = Kills({"call_added": (0, 3), "call_dropped": (0, 1)})
    joined = one.joined(other)
    assert joined.by_kind == {"call_dropped": (1, 3), "call_added": (0, 3), "result_corrupted": (0, 2)}
    assert list(joined.by_kind) == [kind for kind in KINDS if kind in joined.by_kind]
