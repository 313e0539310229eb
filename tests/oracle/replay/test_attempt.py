from __future__ import annotations

from typing import Any

import pytest
from staged import StagedOracle, broken

from averment.oracle.oracles import Context, OracleError
from averment.oracle.replay.attempt import Attempt, Call, Play, performed, playing

PUT = Call("put", {"item": "nail"}, 1)


def put(state: dict[str, Any], arguments: dict[str, Any], _: str) -> Any:
    state["items"].append(arguments["item"])
    return {"count": len(state["items"])}


def refuse(*_: Any) -> Any:
    raise broken()


def came_of(oracle: StagedOracle, *plays: Play) -> list[Attempt | OracleError]:
    return list(performed(oracle, Context(), plays))


def test_each_way_to_play_begins_with_a_reset_in_one_episode() -> None:
    """State before and after, and a result for each call; without a call the state is looked at once."""
    oracle = StagedOracle({"items": []}, put=put)
    twice, none = came_of(oracle, playing([PUT, PUT]), playing([]))
    assert isinstance(twice, Attempt)
    assert (twice.calls, twice.results) == ((PUT, PUT), ({"count": 1}, {"count": 2}))
    assert (twice.before, twice.state) == ({"items": []}, {"items": ["nail", "nail"]})
    assert isinstance(none, Attempt)
    assert (none.results, none.before, none.state) == ((), {"items": []}, {"items": []})
    step = ("put", {"item": "nail"}, 1)
    assert oracle.steps == ["reset", "state", step, step, "state", "reset", "state"]
    assert len(oracle.episodes) == 1


def test_where_the_oracle_gives_no_answer_the_next_has_an_episode_of_its_own() -> None:
    """The error stands in the place of what came of it."""
    oracle = StagedOracle({"items": []}, put=put, refuse=refuse)
    came = came_of(oracle, playing([PUT]), playing([Call("refuse", {})]), playing([PUT]))
    first, error, last = came
    assert isinstance(error, OracleError)
    assert first == last
    assert [condition for _, condition in oracle.episodes] == ["plain", "plain"]


def test_where_a_reset_leaves_something_behind_each_has_an_episode_of_its_own() -> None:
    """So that nothing of one is taken for what came of another."""
    oracle = StagedOracle({"items": []}, leaks=True, put=put)
    came = came_of(oracle, playing([PUT]), playing([]), playing([PUT]))
    assert [each.state["items"] for each in came if isinstance(each, Attempt)] == [["nail"], [], ["nail"]]
    assert len(oracle.episodes) == 2


def test_a_state_that_nothing_has_changed_is_not_asked_for_again() -> None:
    """But the second time, to see that a reset brings it back though nothing is there to bring back."""
    oracle = StagedOracle({"items": []}, put=put, look=lambda state, *_: {"count": len(state["items"])})
    look = playing([Call("look", {})])
    came = came_of(oracle, look, look, look, playing([PUT]), look, look)
    assert [each.before for each in came if isinstance(each, Attempt)] == [{"items": []}] * 6
    words = [step if isinstance(step, str) else step[0] for step in oracle.steps]
    assert " ".join(words).split("reset ")[1:] == [
        "state look state ",
        "state look state ",
        "look state ",
        "put state ",
        "state look state ",
        "look state",
    ]


@pytest.mark.parametrize("op", ["reset", "close"])
def test_an_episode_that_can_t_begin_again_or_end_costs_no_play(op: str) -> None:
    """It says nothing of what would have come of the calls."""
    oracle = StagedOracle({"items": []}, fails=op, put=put)
    came = came_of(oracle, playing([PUT]), playing([PUT]), playing([]))
    assert [type(each) for each in came] == [Attempt] * 3
    assert len(oracle.episodes) == (3 if op == "reset" else 1)


def test_what_has_not_been_asked_is_not_played() -> None:
    """The first error may be the end of it."""
    oracle = StagedOracle({"items": []}, put=put, refuse=refuse)
    plays = performed(oracle, Context(), [playing([Call("refuse", {})]), playing([PUT])])
    assert isinstance(next(plays), OracleError)
    del plays
    assert "put" not in [step[0] for step in oracle.steps]
