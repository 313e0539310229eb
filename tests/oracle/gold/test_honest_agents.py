"""Agents that do nothing, or everything, pass no task; and what gold is tried with besides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from staged import StagedOracle, broken, runner

from averment.errors import PackError
from averment.oracle.gold.kitchen import Kitchen
from averment.oracle.gold.making import Made
from averment.oracle.model.options import Options
from averment.oracle.model.pack import Pack
from averment.oracle.oracles import OracleError

Handmade = Callable[..., Pack]

CALL = {"type": "tool_call", "tool": "get_book"}
FINAL, DECLINE = {"type": "final_answer"}, {"type": "decline"}
FIRST = {
    "turn_policy": "single_turn",
    "required_tools": ["get_book"],
    "slots": {
        "book_id": {
            "source": "fixture:books.book_id",
            "filter": "status == 'free'",
            "visible_in_first_turn": True,
        }
    },
    "success_assertions": ["said"],
    "user_turn_templates": {"en": "Is {book_id} there?"},
    "assistant_milestones": [CALL, FINAL],
}
IDLE = {
    "turn_policy": "irrelevant",
    "success_assertions": ["said"],
    "user_turn_templates": {"en": "Will it rain?"},
    "assistant_milestones": [DECLINE],
}
CASES = [
    {"id": "a", "tool": "lend_book", "arguments": [], "expect": {"result_class": "success"}},
    {"id": "b", "tool": "lend_book", "arguments": {"book_id": "x"}, "expect": {"result_class": "structured_error"}},
    {"id": "c", "tool": "lend_book", "arguments": {"book_id": "y"}, "reset_before": False, "expect": {"result_class": "success"}},
    {"id": "d", "tool": "lend_book", "arguments": {"book_id": "B-1"}, "expect": {"result_class": "success"}},
    {"id": "e", "tool": "lend_book", "arguments": {"book_id": "B-2"}, "expect": {"result_class": "success"}},
]  # fmt: skip


def get_book(_: Any, arguments: dict[str, Any], __: Any) -> Any:
    return {"book_id": arguments["book_id"]} if arguments["book_id"] == "B-1" else {"error": {"code": "none"}}


def lend_book(state: dict[str, Any], arguments: dict[str, Any], _: Any) -> Any:
    state["lent"] = arguments["book_id"]
    return {"lent": arguments["book_id"]}


def right(_: Any, trace: Any) -> None:
    assert [step["result"].get("book_id") for step in trace] == ["B-1"]


def anything(*_: Any) -> None:
    return None


def called(_: Any, trace: Any) -> None:
    assert [step for step in trace if step["tool"] == "get_book"]


def kitchen(pack: Pack, oracle: StagedOracle, said: Any = right) -> Kitchen:
    return Kitchen.of(pack, Options(), oracle, runner(said=said))


def stage(**tools: Any) -> StagedOracle:
    return StagedOracle({}, **{"get_book": get_book, "lend_book": lend_book, **tools})


def made(pack: Pack, oracle: StagedOracle, said: Any = right) -> Made:
    ((_, sample),) = kitchen(pack, oracle, said).samples(1)
    assert isinstance(sample, Made)
    return sample


@pytest.mark.parametrize(
    ("said", "agent"),
    [(anything, "an agent that makes no call"), (called, "an agent that calls every tool once")],
)
def test_a_task_that_an_idle_or_a_busy_agent_passes_is_dropped(
    handmade: Handmade, said: Any, agent: str
) -> None:
    """The first of them is named."""
    drop = made(handmade([FIRST]), stage(), said).drop
    assert drop is not None
    assert (drop.reason, drop.stage) == ("trivially_passable", "executable_replay")
    assert drop.detail == f"{agent} passes every assertion"
    assert drop.failures == ({"agent": agent},)


def test_a_task_that_only_the_right_calls_pass_is_gold(handmade: Handmade) -> None:
    """Both agents have tried: one without calls, one with a call of every tool that its schema allows."""
    oracle = stage()
    assert made(handmade([FIRST]), oracle).drop is None
    steps = [step for step in oracle.steps if isinstance(step, tuple)]
    assert steps == [
        ("get_book", {"book_id": "B-1"}, 0),  # gold
        ("get_book", {"book_id": "sample"}, 0),
        ("lend_book", {"book_id": "sample"}, 1),
        ("get_book", {"book_id": "B-1"}, 0),  # gold once more
    ]
    assert oracle.steps.count("reset") == 4


def test_agents_see_the_tools_of_the_template(handmade: Handmade) -> None:
    """And no others, in its order."""
    oracle = stage()
    assert made(handmade([{**FIRST, "tools_present": ["get_book"]}]), oracle).drop is None
    assert "lend_book" not in [step[0] for step in oracle.steps]


def test_where_no_call_is_due_no_agent_is_asked(handmade: Handmade) -> None:
    """One that does nothing does right."""
    oracle = stage()
    assert made(handmade([IDLE]), oracle, anything).drop is None
    assert oracle.steps == ["reset", "state"] * 2


def test_an_agent_whose_calls_have_no_answer_passes_nothing(handmade: Handmade) -> None:
    """A backend may raise on what the agent made up; gold is not the worse for it."""

    def strict(_: Any, arguments: dict[str, Any], __: Any) -> Any:
        if arguments["book_id"] != "B-1":
            raise broken()
        return {"book_id": "B-1"}

    assert made(handmade([FIRST]), stage(get_book=strict), called).drop is None


def test_an_agent_on_whom_an_assertion_ends_its_worker_passes_nothing(handmade: Handmade) -> None:
    """Nor is gold dropped for that."""

    def leaving(_: Any, trace: Any) -> None:
        if not trace:
            raise broken("run_assertion", "died")

    assert made(handmade([FIRST]), stage(), leaving).drop is None


def test_an_oracle_that_can_t_be_used_drops_no_task(handmade: Handmade) -> None:
    """It is an error, and a sample says which."""

    def gone(*_: Any) -> Any:
        raise broken("call_tool", "unreachable")

    ((_, sample),) = kitchen(handmade([FIRST]), stage(get_book=gone)).samples(1)
    assert isinstance(sample, OracleError)
    assert sample.trouble == "unreachable"


def test_calls_that_are_added_are_those_that_work(handmade: Handmade) -> None:
    """Of the first probe that succeeds from a reset; made up where there is none."""
    made_of = kitchen(handmade([IDLE], cases=CASES), oracle := stage(), anything)
    ((_, sample),) = made_of.samples(1)
    assert isinstance(sample, Made)
    oracle.steps.clear()
    table = made_of.kill_table([sample], 1)
    assert table["said"].by_kind == {"call_added": (0, 2)}
    steps = [step for step in oracle.steps if isinstance(step, tuple)]
    assert steps == [("get_book", {"book_id": "sample"}, 0), ("lend_book", {"book_id": "B-1"}, 0)]


def test_the_tables_of_tasks_are_one_by_assertion(handmade: Handmade) -> None:
    """In the order of their names; a task that none can be had of counts for nothing."""
    pack = handmade([{**FIRST, "success_assertions": ["said", "also"]}, FIRST, IDLE])

    def also(_: Any, trace: Any) -> None:
        if len(trace) != 1:
            raise broken("run_assertion", "died")

    def said(_: Any, trace: Any) -> None:
        if trace:
            right(_, trace)

    made_of = Kitchen.of(pack, Options(), stage(), runner(said=said, also=also))
    samples = [sample for _, sample in made_of.samples(2) if isinstance(sample, Made)]
    assert len(samples) == 3
    assert list(made_of.kill_table(samples[1:], 2, most=1)) == ["said"]
    whole = made_of.kill_table(samples, 2, most=1)
    assert whole == made_of.kill_table(samples[1:], 2, most=1)
    assert whole["said"].by_kind["call_added"] == (2, 2)


def test_every_template_without_calls_that_can_be_made_is_told(handmade: Handmade) -> None:
    """By all its faults, before anything is asked of the oracle."""
    wrong = {**FIRST, "assistant_milestones": [{**CALL, "args": {"book_id": "{other}"}}, FINAL]}
    oracle = stage()
    with pytest.raises(PackError) as caught:
        kitchen(handmade([wrong, FIRST, wrong]), oracle)
    assert [problem.code for problem in caught.value.problems] == ["unknown_placeholder"] * 2
    assert oracle.steps == []
