from __future__ import annotations

from typing import Any

import pytest
from staged import StagedOracle, broken, runner, script

from averment.oracle.replay.attempt import Call, playing
from averment.oracle.replay.twice import REASONS, Replay, replay

LOOK = Call("look", {})


def look(state: dict[str, Any], *_: Any) -> Any:
    state["seen"] = 1
    return {"item": "nail"}


def fine(*_: Any) -> None:
    return None


def replayed(tool: Any = look, *others: Any, **predicates: Any) -> Replay:
    oracle = StagedOracle(look=tool)
    return replay(oracle, runner(**predicates), script(LOOK, assertions=list(predicates)), others)


def test_a_task_is_made_once_in_each_world_with_the_same_context() -> None:
    """To the byte: the attempt is hidden from the pack."""
    oracle = StagedOracle(look=look)
    task = script(LOOK, assertions=["fine"])
    came = replay(oracle, runner(fine=fine), task)
    assert came.reason is None
    assert oracle.episodes == [(task.context, "plain"), (task.context, "shifted")]
    assert came.attempt is not None
    assert came.attempt.passed
    assert (came.attempt.results, came.attempt.state) == (({"item": "nail"},), {"seen": 1})


def test_verdicts_come_in_the_order_of_the_template() -> None:
    """Whatever their names are."""
    came = replayed(look, second=fine, first=fine)
    assert came.attempt is not None
    assert [verdict["name"] for verdict in came.attempt.verdicts] == ["second", "first"]


def otherwise(_: dict[str, Any], __: Any, condition: str) -> Any:
    return {"item": "nail", "at": condition}


def quietly_otherwise(state: dict[str, Any], _: Any, condition: str) -> Any:
    state["log"] = [{"at": condition}]
    return {"item": "nail"}


@pytest.mark.parametrize(
    ("tool", "diverged"),
    [(otherwise, ("results", "$[0].at")), (quietly_otherwise, ("state", "$.log[0].at"))],
)
def test_what_differs_between_worlds_is_named_with_its_place(tool: Any, diverged: tuple[str, str]) -> None:
    """Results come before states."""
    came = replayed(tool, fine=fine)
    assert (came.reason, came.diverged) == ("nondeterministic_replay", diverged)
    assert came.detail == f"{diverged[0]} diverged at {diverged[1]}"


def test_what_assertions_say_is_compared_word_for_word() -> None:
    """A text of a failure that differs is no failure of the task but chance."""
    told = iter(["at 9:00", "at 9:01"])

    def chatty(*_: Any) -> Any:
        raise AssertionError(next(told))

    came = replayed(look, fine=fine, chatty=chatty)
    assert (came.reason, came.diverged) == ("nondeterministic_replay", ("assertions", "$[1].detail"))


def failing(*_: Any) -> Any:
    raise AssertionError("never")


def wrong(*_: Any) -> Any:
    raise KeyError("x")


def inapplicable(*_: Any) -> Any:
    return "not_applicable", "no transfer"


@pytest.mark.parametrize(
    ("predicates", "reason", "detail"),
    [
        ({"a": fine, "b": failing}, "assertion_failed", "b: never"),
        ({"a": wrong, "b": failing}, "assertion_failed", "a: KeyError; b: never"),
        ({"a": inapplicable}, "assertion_not_applicable_on_gold", "a: no transfer"),
        ({"a": inapplicable, "b": failing}, "assertion_failed", "b: never"),
    ],
)
def test_every_assertion_has_to_pass_on_gold(predicates: dict[str, Any], reason: str, detail: str) -> None:
    """One that does not apply has a reason of its own, where nothing failed."""
    came = replayed(look, **predicates)
    assert (came.reason, came.detail, came.others) == (reason, detail, ())
    assert came.attempt is not None
    assert not came.attempt.passed


@pytest.mark.parametrize("world", ["plain", "shifted"])
def test_no_answer_in_either_world_is_a_reason(world: str) -> None:
    """With the error, which knows where it was raised."""

    def refuse(_: dict[str, Any], __: Any, condition: str) -> Any:
        if condition == world:
            raise broken()
        return {}

    came = replayed(refuse, fine=fine)
    assert (came.reason, came.detail, came.attempt) == ("executable_replay_failed", "call_tool raised", None)
    assert came.error is not None
    assert came.error.op == "call_tool"


def test_an_assertion_that_gives_no_answer_is_one_too() -> None:
    """Because it ended its worker, say."""

    def leaving(*_: Any) -> Any:
        raise broken("run_assertion", "died")

    assert replayed(look, leaving=leaving).reason == "executable_replay_failed"


def test_further_ways_are_judged_as_gold_is() -> None:
    """None stands for one that the oracle gives no answer to, and the next is played all the same."""

    def once(_: Any, trace: Any) -> Any:
        if len(trace) != 1:
            raise AssertionError(str(len(trace)))

    def choosy(_: dict[str, Any], arguments: dict[str, Any], __: Any) -> Any:
        if arguments:
            raise broken()
        return {}

    ways = [playing([]), playing([Call("look", {"x": 1})]), playing([LOOK, LOOK]), playing([LOOK])]
    none, no_answer, twice, right = replayed(choosy, *ways, once=once).others
    assert no_answer is None
    assert [(way.passed, way.verdicts[0]["detail"]) for way in (none, twice, right) if way] == [
        (False, "0"),
        (False, "2"),
        (True, None),
    ]


def test_an_assertion_that_gives_no_answer_to_another_way_says_nothing_of_gold() -> None:
    """And nothing of the other ways."""

    def leaving(_: Any, trace: Any) -> Any:
        if not trace:
            raise broken("run_assertion", "timeout")

    came = replayed(look, playing([]), playing([LOOK]), leaving=leaving)
    assert (came.reason, came.others) == (None, ())


def test_every_reason_has_a_meaning_and_a_mend() -> None:
    """Those of the contract, and the one for what does not apply."""
    assert set(REASONS) == {
        "executable_replay_failed",
        "nondeterministic_replay",
        "assertion_failed",
        "assertion_not_applicable_on_gold",
    }
    assert all(reason.about and reason.mend for reason in REASONS.values())
