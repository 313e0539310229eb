from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from graded_packs import ASSERTIONS, Desk, Steps, chat, evidence, grading, steps_of, write_desk

from averment.evidence.model import ChannelCoverage
from averment.oracle.grade.grading import Grader
from averment.oracle.grade.policy import Policy
from averment.oracle.grade.report import GradedRun

Change = Callable[[Steps], Sequence[Any]]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """The small pack."""
    with grading(write_desk(tmp_path_factory.mktemp("desk"))) as made:
        yield made


@pytest.fixture(scope="module")
def hurried(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """The small pack, whose tools have little time."""
    with grading(write_desk(tmp_path_factory.mktemp("desk")), tool_timeout_s=1.5) as made:
        yield made


def wrong(graded: GradedRun) -> dict[str, str | None]:
    """The gates that failed, with why."""
    return {gate.name: gate.why for gate in graded.gates if gate.status == "failed"}


def open_(graded: GradedRun) -> dict[str, str | None]:
    """The gates that nobody can tell of, with why."""
    return {gate.name: gate.why for gate in graded.gates if gate.status == "undecided"}


def outcomes(graded: GradedRun) -> list[str]:
    return [call.outcome for call in graded.outcome.executed]


def test_gold_passes_in_every_template(desk: Desk) -> None:
    """And where nothing is made again, all that needs no more than the trace does."""
    for found in desk.rows:
        executed = desk.grade(found["template_id"])
        assert (executed.success, executed.attribution, wrong(executed)) == ("passed", "success", {})
        assert executed.outcome.mode == "executable"
        read = desk.grade(found["template_id"], trace_only=True)
        needs_state = {"assert_taken", "assert_dropped"} & set(found["success_assertions"])
        assert read.success == ("undecided" if needs_state else "passed"), found["template_id"]
        assert (read.path.status, read.outcome.mode, wrong(read)) == ("passed", "trace", {})


A: dict[str, Any] = {"id": "I-1"}
B: dict[str, Any] = {"id": "I-2"}
LOOKED = {"assertions": "assertion_failed"}

FAULTS: dict[str, tuple[str, Change, dict[str, str], str]] = {
    "a wrong argument": (
        "look_up",
        lambda s: [s[0], [("look", B)], *s[2:]],
        {"arguments": "arguments_differ", **LOOKED},
        "failed",
    ),
    "an argument that breaks the schema": (
        "look_up",
        lambda s: [s[0], [("look", {"id": 1})], *s[2:]],
        {"arguments": "schema_violated", "schema_valid": "schema_violated", **LOOKED},
        "failed",
    ),
    "another tool": (
        "look_up",
        lambda s: [s[0], [("find", {"kind": "nail"})], *s[2:]],
        {"tool_selection": "wrong_tool", **LOOKED},
        "failed",
    ),
    "a tool that nobody has": (
        "look_up",
        lambda s: [s[0], [("peek", A)], *s[2:]],
        {"tool_selection": "wrong_tool", "oracle_execution": "call_not_executed", **LOOKED},
        "failed",
    ),
    "a call less": (
        "look_two",
        lambda s: [s[0], s[1][:1], *s[2:]],
        {"tool_selection": "call_missing", "arguments": "call_missing", **LOOKED},
        "failed",
    ),
    "no call": (
        "look_up",
        lambda s: [s[0], *s[2:]],
        {"tool_selection": "call_missing", "arguments": "call_missing", **LOOKED},
        "failed",
    ),
    "a call more, that the assertion does not see": (
        "take_it",
        lambda s: [s[0], [("look", A)], *s[1:]],
        {"tool_selection": "unexpected_call"},
        "failed",
    ),
    "the same call twice": (
        "look_up",
        lambda s: [s[0], s[1], *s[1:]],
        {"tool_selection": "unexpected_call", **LOOKED},
        "failed",
    ),
    "another order, where it is strict": (
        "look_then_drop",
        lambda s: [s[0], s[2], s[1], *s[3:]],
        {"call_ordering": "order_differs"},
        "failed",
    ),
    "another order, where the first call counts": (
        "look_first",
        lambda s: [s[0], s[2], s[1], *s[3:]],
        {"call_ordering": "prefix_differs"},
        "failed",
    ),
    "another order, where any will do": ("look_two", lambda s: [s[0], s[1][::-1], *s[2:]], {}, "passed"),
    "one after the other, where the path does not decide": (
        "look_two",
        lambda s: [s[0], s[1][:1], s[1][1:], *s[2:]],
        {"call_grouping": "group_split"},
        "passed",
    ),
    "at once, where gold is one after the other": (
        "look_then_drop",
        lambda s: [s[0], [*s[1], *s[2]], *s[3:]],
        {"call_grouping": "group_joined"},
        "failed",
    ),
    "no last word": ("look_up", lambda s: s[:2], {"text_turn": "text_missing"}, "failed"),
    "no question, and so no word of the user": (
        "take_it",
        lambda s: [s[0], *s[3:]],
        {
            "text_turn": "text_missing",
            "confirmation": "confirmation_not_earned",
            "oracle_execution": "call_not_executed",
            "assertions": "assertion_failed",
        },
        "failed",
    ),
    "the user's word for another thing": (
        "take_it",
        lambda s: [*s[:3], [("take", {**B, "confirm": True})], *s[4:]],
        {
            "arguments": "arguments_differ",
            "confirmation": "confirmation_not_earned",
            "oracle_execution": "call_not_executed",
            "assertions": "assertion_failed",
        },
        "failed",
    ),
    "the user's word not passed on": (
        "take_it",
        lambda s: [*s[:3], [("take", A)], *s[4:]],
        {"arguments": "arguments_differ", "assertions": "assertion_failed"},
        "failed",
    ),
    "arguments that are no JSON": (
        "look_up",
        lambda s: [s[0], [("look", '{"id": "I-1"')], *s[2:]],
        {
            "arguments": "arguments_unreadable",
            "schema_valid": "arguments_unreadable",
            "oracle_execution": "call_not_executed",
            **LOOKED,
        },
        "failed",
    ),
    "arguments that are no object": (
        "look_up",
        lambda s: [s[0], [("look", '["I-1"]')], *s[2:]],
        {
            "arguments": "arguments_not_object",
            "schema_valid": "arguments_not_object",
            "oracle_execution": "call_not_executed",
            **LOOKED,
        },
        "failed",
    ),
    "a call where none was due": (
        "decline",
        lambda s: [s[0], [("look", A)], *s[1:]],
        {"tool_selection": "unexpected_call", "assertions": "assertion_failed"},
        "failed",
    ),
    "nothing at all": (
        "look_up",
        lambda s: s[:1],
        {
            "tool_selection": "call_missing",
            "arguments": "call_missing",
            "text_turn": "text_missing",
            "trace_completion": "nothing_done",
            **LOOKED,
        },
        "failed",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_fails_its_own_gates_and_no_others(desk: Desk, fault: str) -> None:
    """Made again on the oracle; what the agent did is its own doing."""
    template, change, expected, success = FAULTS[fault]
    graded = desk.grade(template, change)
    assert (wrong(graded), graded.success) == (expected, success)
    assert open_(graded) == {}
    assert graded.attribution == ("success" if success == "passed" else "candidate")


def test_a_call_that_was_not_earned_never_reaches_the_oracle(desk: Desk) -> None:
    """So its state is as if the call had not been made, and the assertions are run on that."""
    graded = desk.grade("take_it", lambda s: [s[0], *s[3:]])
    (call,) = graded.outcome.executed
    assert (call.outcome, call.commit) == ("not_executed", "unchanged")
    (verdict,) = graded.outcome.assertions
    assert (verdict.status, verdict.detail) == ("failed", "0 are taken")


@pytest.mark.parametrize("word", [True, "true", 1, [0]])
def test_no_other_word_for_true_gets_past_the_user(desk: Desk, word: Any) -> None:
    """An oracle may take any of them for it; so none reaches it unless the user has agreed to gold's own call."""
    graded = desk.grade("take_it", lambda s: [s[0], [("take", {**A, "confirm": word})], *s[1:]])
    assert wrong(graded)["confirmation"] == "confirmation_not_earned"
    assert "not_executed" in outcomes(graded)


def test_a_call_that_asks_first_needs_nobodys_word(desk: Desk) -> None:
    """One that says `confirm: false` before the user is asked is made, and is one call more than gold's."""
    graded = desk.grade("take_it", lambda s: [s[0], [("take", {**A, "confirm": False})], *s[1:]])
    assert outcomes(graded) == ["completed", "completed"]
    assert wrong(graded) == {"tool_selection": "unexpected_call"}
    assert graded.outcome.status == "passed"


@pytest.mark.parametrize(
    ("thing", "outcome", "why"),
    [
        ("hang", "timeout", "oracle_failed"),
        ("die", "failed", "oracle_failed"),
        ("raise", "failed", "oracle_failed"),
        ("odd", "malformed", "oracle_failed"),
    ],
)
def test_an_oracle_that_breaks_is_not_the_agents_doing(
    request: pytest.FixtureRequest, thing: str, outcome: str, why: str
) -> None:
    """Whether the call has changed something is not known, it is not tried again, and nothing is asked of its state."""
    desk: Desk = request.getfixturevalue("hurried" if thing == "hang" else "desk")
    graded = desk.grade("look_first", lambda s: [s[0], s[1], [("drop", {"id": thing})], s[2], *s[3:]])
    assert outcomes(graded) == ["completed", outcome]
    assert graded.outcome.executed[-1].commit == "unknown"
    of_run = {name: found for name, found in wrong(graded).items() if name != "tool_selection"}
    assert of_run == {
        "oracle_execution": why,
        "commit_state_known": "commit_unknown",
        "executable_completion": "replay_incomplete",
        "assertions": "assertion_state_unavailable",
    }
    blamed = {gate.attribution for gate in graded.gates if gate.name in of_run}
    assert blamed == {"infrastructure"}
    assert [verdict.status for verdict in graded.outcome.assertions] == ["not_run", "not_run"]


def test_a_refusal_of_the_oracle_is_an_answer(desk: Desk) -> None:
    """It is executed as any other, and what it refuses is not committed."""
    graded = desk.grade("look_first", lambda s: [*s[:3], [("drop", {"id": "I-0"})], *s[3:]])
    last = graded.outcome.executed[-1]
    assert (last.outcome, last.commit) == ("business_rejection", "unchanged")
    assert graded.counts["executed"].hits == 3


# What is not shown is not decided.


def test_a_record_without_calls_leaves_the_run_open(desk: Desk) -> None:
    """A transcript alone does not say that nothing was called."""
    found = desk.row("decline")
    record = {
        "conversation_id": found["task_id"],
        "transcript": [{"role": "user", "text": "Sing."}, {"role": "agent", "text": "I can't."}],
    }
    graded = desk.grader.grade(evidence(record, None), label="run")
    assert (graded.success, graded.outcome.mode) == ("undecided", "trace")
    assert open_(graded)["tool_selection"] == "calls_not_recorded"
    assert wrong(graded) == {}


def test_a_call_that_cannot_be_read_leaves_assertions_of_the_trace_open(desk: Desk) -> None:
    """Where nothing is made again, what such a call has done is not known: no assertion passes over it."""
    graded = desk.grade("look_two", lambda s: [s[0], [*s[1], ("look", "{")], *s[2:]], trace_only=True)
    assert [verdict.status for verdict in graded.outcome.assertions] == ["not_run"]
    assert graded.success == "undecided"


def test_an_answer_that_is_not_recorded_leaves_assertions_of_the_trace_open(desk: Desk) -> None:
    """They may read results; calls can be made again all the same."""
    found = desk.row("look_up")
    record = chat(found, steps_of(found))
    record["messages"] = [each for each in record["messages"] if each["role"] != "tool"]
    run = evidence(record)
    assert desk.by_trace.grade(run, label="run").outcome.status == "undecided"
    assert desk.grader.grade(run, label="run").outcome.status == "passed"


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("result", "[REDACTED]"),
        ("result", "\ud800"),
        ("result_state", "truncated"),
        ("result_state", "redacted"),
    ],
)
def test_an_answer_that_is_not_whole_leaves_assertions_of_the_trace_open(
    desk: Desk, place: str, value: str
) -> None:
    """A mark in place of what was taken out is no value, and neither is a part of one; nothing is compared with it."""
    found = desk.row("look_up")
    run = evidence(chat(found, steps_of(found)))
    (call,) = run.calls
    more = {"result": {**call.result, "kind": value}} if place == "result" else {place: value}
    hidden = msgspec.structs.replace(run, calls=(msgspec.structs.replace(call, **more),))
    graded = desk.by_trace.grade(hidden, label="run")
    assert [verdict.status for verdict in graded.outcome.assertions] == ["not_run"]
    again = desk.grader.grade(hidden, label="run")
    assert again.success == "passed"
    assert [call.differs_at for call in again.outcome.executed] == ["$.kind" if value == "\ud800" else None]


def test_a_record_that_may_lack_calls_leaves_the_run_open(desk: Desk) -> None:
    """One that was cut: what it shows may not be all, so nothing is made again, and no assertion is asked."""
    found = desk.row("look_up")
    run = evidence(chat(found, steps_of(found)))
    cut = ChannelCoverage(state="truncated")
    coverage = msgspec.structs.replace(run.coverage, requests=cut, executions=cut)
    hidden = msgspec.structs.replace(run, coverage=coverage)
    for grader in (desk.grader, desk.by_trace):
        graded = grader.grade(hidden, label="run")
        assert (graded.success, graded.outcome.mode, graded.outcome.executed) == ("undecided", "trace", ())
        assert [verdict.status for verdict in graded.outcome.assertions] == ["not_run"]


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_an_answer_that_was_cut_fails_the_run(desk: Desk, reason: str) -> None:
    """Whatever it held until then."""
    found = desk.row("look_up")
    record = chat(found, steps_of(found))
    record["metadata"]["finish_reason"] = reason
    graded = desk.grader.grade(evidence(record), label="run")
    assert wrong(graded) == {"trace_completion": "answer_cut"}


# Assertions.


@pytest.mark.parametrize(
    ("body", "seconds", "said"),
    [
        ("import os; os._exit(3)", 60, "ended"),
        ("while True: pass", 1.5, "assert_looked"),
        ("raise ValueError('no')", 60, "ValueError: no"),
        ("return True", 60, "AssertionContractError"),
    ],
)
def test_an_assertion_that_breaks_is_not_the_agents_doing(
    tmp_path: Path, body: str, seconds: float, said: str
) -> None:
    """It says nothing of the run; those behind one that ended its worker were not run."""
    broken = "\n\ndef assert_broken(*, state, trace, task, ctx):\n    if len(trace) > 2:\n        " + body
    assertions = ASSERTIONS.replace(
        "\n\nASSERTIONS = {", f"{broken}\n\n\nASSERTIONS = {{\n    'assert_broken': assert_broken,"
    )
    templates = json.loads(json.dumps(_templates("look_first")))
    templates[0]["success_assertions"] = ["assert_looked", "assert_broken", "assert_dropped"]
    root = write_desk(tmp_path / "desk", assertions=assertions, templates=templates)
    with grading(root, assertion_timeout_s=seconds) as desk:
        graded = desk.grade("look_first", lambda s: [*s[:3], [("find", {"kind": "nail"})], *s[3:]])
    first, second, third = graded.outcome.assertions
    assert (first.status, second.status) == ("passed", "infrastructure_error")
    assert said in (second.detail or "") or said == "assert_looked"
    assert third.status == ("not_run" if said in ("ended", "assert_looked") else "passed")
    gate = next(each for each in graded.gates if each.name == "assertions")
    assert (gate.why, gate.attribution) == ("assertion_infrastructure", "infrastructure")


def _templates(name: str) -> list[dict[str, Any]]:
    from graded_packs import TEMPLATES

    return [each for each in TEMPLATES if each["template_id"] == name]


# Values that come from results.

FIND = ("find", {"kind": "nail", "newest": True})
LIVE = ("take", {"id": "I-2", "confirm": True})
RECORDED = ("take", {"id": "I-1", "confirm": True})


def test_an_agent_whose_own_lookup_gave_another_id_uses_that_one(desk: Desk) -> None:
    """`newest` is free, since gold does not state it; what it leads to is what gold means in this run."""
    graded = desk.grade("take_found", lambda s: [s[0], [FIND], *s[2:4], [LIVE], *s[5:]])
    assert (wrong(graded), graded.success) == ({}, "passed")
    assert outcomes(graded) == ["completed", "completed"]
    gate = next(each for each in graded.gates if each.name == "dependency_resolution")
    assert gate.status == "passed"


def test_and_not_the_one_that_gold_happened_to_find(desk: Desk) -> None:
    """A value that the agent can't have from its own lookup is a guess, and the user has not agreed to it."""
    graded = desk.grade("take_found", lambda s: [s[0], [FIND], *s[2:4], [RECORDED], *s[5:]])
    assert wrong(graded) == {
        "arguments": "arguments_differ",
        "confirmation": "confirmation_not_earned",
        "oracle_execution": "call_not_executed",
        "assertions": "assertion_failed",
    }


def test_what_gold_means_follows_the_lookup_whatever_came_before_it(desk: Desk) -> None:
    """A call that was refused before the lookup does not fix what may be taken after it."""
    early = [("take", {"id": "I-3", "confirm": True})]
    graded = desk.grade("take_found", lambda s: [s[0], early, [FIND], *s[2:4], [LIVE], *s[5:]])
    assert outcomes(graded) == ["not_executed", "completed", "completed"]
    assert graded.outcome.status == "passed"


def test_which_call_is_the_producer_follows_from_what_gold_means(tmp_path: Path) -> None:
    """The agent began one link further on; the next link is right for where it began."""
    items = [{"id": f"I-{at}", "kind": "link", "next": f"I-{at % 3 + 1}"} for at in (1, 2, 3)]
    first = {"type": "tool_call", "tool": "look", "id": "first", "args": {"id": "I-1"}}
    linked = {"from_result": {"call": "first", "path": "next"}}
    template = {
        **_templates("look_up")[0],
        "turn_policy": "dependent_call",
        "assistant_milestones": [
            first,
            {"type": "tool_call", "tool": "look", "args": {"id": linked}},
            {"type": "final_answer"},
        ],
        "slots": {"song": {"source": "literal:I-1", "visible_in_first_turn": True}},
        "user_turn_templates": {"en": "What comes after {song}?"},
        "success_assertions": ["assert_linked"],
    }
    assertions = "def assert_linked(*, state, trace, task, ctx):\n    assert len(trace) == 2\n"
    root = write_desk(
        tmp_path / "desk", templates=[template], fixtures={"items": items}, assertions=assertions
    )
    with grading(root) as desk:
        further: list[Any] = [[("look", {"id": "I-2"})], [("look", {"id": "I-3"})]]
        graded = desk.grade("look_up", lambda s: [s[0], *further, *s[3:]])
    assert [call.index for call in graded.path.calls] == [0, 1]
    assert [call.comparison.status for call in graded.path.calls if call.comparison] == ["differs", "equal"]


def test_an_agent_that_takes_very_often_is_graded_in_time(desk: Desk) -> None:
    """It breaks nothing by it: its calls are compared once, and none but gold's is made."""
    often = [("take", {"id": f"I-{at}", "confirm": True}) for at in range(400)]
    graded = desk.grade("take_found", lambda s: [*s[:4], [*often], *s[4:]])
    assert graded.attribution == "candidate"
    assert set(outcomes(graded)) == {"completed", "not_executed"}
    assert outcomes(graded).count("completed") == 1
    assert [call.index for call in graded.path.calls][:2] == [0, 2]


@pytest.mark.parametrize(
    ("lookup", "why"),
    [
        ([], "producer_not_called"),
        ([[("look", A)]], "producer_not_called"),
        ([[("find", "{")]], "producer_not_called"),
        ([[("find", {"kind": "bolt"})]], "producer_differs"),
    ],
)
def test_a_value_without_a_source_is_the_agents_doing(desk: Desk, lookup: list[Any], why: str) -> None:
    """Whether it did not look, looked elsewhere, or looked for something else that has no such value."""
    graded = desk.grade("take_found", lambda s: [s[0], *lookup, *s[2:]])
    assert wrong(graded)["dependency_resolution"] == why
    gate = next(each for each in graded.gates if each.name == "dependency_resolution")
    assert gate.attribution == "candidate"


def test_a_lookup_for_something_else_that_has_a_value_is_told_by_its_arguments(desk: Desk) -> None:
    """The value that it leads to is what the next call should have; the lookup itself is wrong."""
    screw = [("find", {"kind": "screw"})]
    graded = desk.grade(
        "take_found", lambda s: [s[0], screw, *s[2:4], [("take", {"id": "I-3", "confirm": True})], *s[5:]]
    )
    assert wrong(graded) == {"arguments": "arguments_differ"}


def test_where_nothing_is_made_again_the_recorded_values_of_gold_hold(desk: Desk) -> None:
    """There is no result of the pack's own to read another from."""
    graded = desk.grade("take_found", lambda s: [s[0], [FIND], *s[2:4], [LIVE], *s[5:]], trace_only=True)
    assert wrong(graded)["arguments"] == "arguments_differ"


# How.


def test_the_path_decides_where_it_is_said(tmp_path: Path) -> None:
    """`--path always` makes a path of free order decide; `never` leaves it to outcomes."""
    root = write_desk(tmp_path / "desk", templates=_templates("look_two") + _templates("take_it"))
    for path, split, more in (("always", "failed", "failed"), ("never", "passed", "passed")):
        with grading(root, Policy(path=path)) as desk:  # type: ignore[arg-type]
            graded = desk.grade("look_two", lambda s: [s[0], s[1][:1], s[1][1:], *s[2:]])
            assert (graded.success, graded.path.status) == (split, "failed")
            graded = desk.grade("take_it", lambda s: [s[0], [("look", A)], *s[1:]])
            assert (graded.success, graded.path.status) == (more, "failed")


def test_what_stands_before_the_names_of_tools_is_taken_off(desk: Desk) -> None:
    """Tools of a server often have its name before theirs; without being told, they are other tools."""

    def prefixed(steps: Steps) -> Steps:
        return [steps[0], [("mcp__desk__look", A)], *steps[2:]]

    assert wrong(desk.grade("look_up", prefixed))["tool_selection"] == "wrong_tool"
    rows = {each["task_id"]: each for each in desk.rows}
    grader = Grader(desk.at_work, rows, policy=Policy(tool_prefix="mcp__desk__"))
    found = desk.row("look_up")
    graded = grader.grade(evidence(chat(found, prefixed(steps_of(found)))), label="run")
    assert graded.success == "passed"
    assert graded.policy.tool_prefix == "mcp__desk__"


def test_another_answer_than_the_recorded_one_is_told_and_decides_nothing(desk: Desk) -> None:
    """The agent may have had another world before it."""
    found = desk.row("look_up")
    record = chat(found, steps_of(found))
    told = next(each for each in record["messages"] if each["role"] == "tool")
    told["content"] = told["content"].replace('"nail"', '"hook"')
    graded = desk.grader.grade(evidence(record), label="run")
    assert graded.success == "passed"
    assert [call.differs_at for call in graded.outcome.executed] == ["$.kind"]
    assert [call.differs_at for call in desk.grade("look_up").outcome.executed] == [None]
