from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import otel
import pytest
from graded_packs import Desk, Steps, grading, messages, results_of, steps_of, write_desk

from averment.evidence import Evidence
from averment.oracle.grade.gates import PATH
from averment.oracle.grade.report import GradedRun

Write = Callable[[dict[str, Any], Steps], Any]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with grading(write_desk(tmp_path_factory.mktemp("desk"))) as made:
        yield made


def said(found: dict[str, Any], steps: Steps) -> list[dict[str, Any]]:
    return messages(steps, results_of(found))


def as_chat(found: dict[str, Any], steps: Steps) -> Any:
    return {"messages": said(found, steps), "tools": json.loads(found["tools"])}


def as_tau_bench(found: dict[str, Any], steps: Steps) -> Any:
    return [{"task_id": 1, "reward": 0.0, "info": {}, "traj": said(found, steps), "trial": 0}]


def as_anthropic(found: dict[str, Any], steps: Steps) -> Any:
    """Results are told by a message of the user, all of a batch in one."""
    written: list[dict[str, Any]] = []
    for message in said(found, steps):
        if message["role"] == "tool":
            part = {
                "type": "tool_result",
                "tool_use_id": message["tool_call_id"],
                "content": message["content"],
            }
            if isinstance(written[-1]["content"], list) and written[-1]["role"] == "user":
                written[-1]["content"].append(part)
            else:
                written.append({"role": "user", "content": [part]})
        elif message.get("tool_calls"):
            uses = [
                {
                    "type": "tool_use",
                    "id": call["id"],
                    "name": call["function"]["name"],
                    "input": json.loads(call["function"]["arguments"]),
                }
                for call in message["tool_calls"]
            ]
            written.append({"role": "assistant", "content": uses})
        else:
            written.append(message)
    tools = [
        {"name": each["function"]["name"], "input_schema": each["function"]["parameters"]}
        for each in json.loads(found["tools"])
    ]
    return {"model": "m", "tools": tools, "messages": written}


def as_spans(found: dict[str, Any], steps: Steps) -> Any:
    """A call of the model for every message of the agent, an execution for every call of a tool."""
    told: list[Any] = []
    spans = [
        otel.span(1, "invoke_agent", at=0, took=999, attributes={"gen_ai.operation.name": "invoke_agent"})
    ]
    definitions = {"gen_ai.tool.definitions": found["tools"]}
    for at, message in enumerate(said(found, steps), 1):
        number = len(spans) + 1
        if message["role"] == "user":
            told.append(otel.message("user", message["content"]))
        elif message["role"] == "tool":
            answer = otel.answers(message["tool_call_id"], json.loads(message["content"]))
            told.append(otel.message("tool", answer))
            (call,) = [
                part
                for each in told
                for part in each["parts"]
                if part["type"] == "tool_call" and part["id"] == message["tool_call_id"]
            ]
            spans.append(
                otel.tool(
                    number,
                    call["name"],
                    own=call["id"],
                    arguments=json.dumps(call["arguments"]),
                    result=message["content"],
                    within=1,
                    at=at,
                    took=0.5,
                )
            )
        else:
            calls = [
                otel.asks(call["id"], call["function"]["name"], json.loads(call["function"]["arguments"]))
                for call in message.get("tool_calls") or ()
            ]
            gave = otel.message("assistant", *([] if calls else [message["content"]]), *calls)
            spans.append(
                otel.chat(number, list(told), [gave], within=1, at=at, took=0.5, attributes=definitions)
            )
            told.append(gave)
    return spans


def as_otlp(found: dict[str, Any], steps: Steps) -> Any:
    return otel.otlp(*as_spans(found, steps))


def as_langsmith(found: dict[str, Any], steps: Steps) -> Any:
    """A run of a model for every message of the agent, with all that it was given."""
    given: list[Any] = []
    runs: list[Any] = [
        {
            "id": "r1",
            "trace_id": "r1",
            "run_type": "chain",
            "name": "desk",
            "start_time": "2026-01-05T10:00:00.000000",
            "end_time": "2026-01-05T10:59:00.000000",
            "parent_run_id": None,
            "inputs": {},
            "outputs": {},
        }
    ]
    for at, message in enumerate(said(found, steps), 1):
        if message["role"] == "user":
            given.append(_langchain("HumanMessage", content=message["content"]))
            continue
        if message["role"] == "tool":
            given.append(
                _langchain(
                    "ToolMessage",
                    content=message["content"],
                    tool_call_id=message["tool_call_id"],
                    status="success",
                )
            )
            continue
        calls = [
            {
                "name": call["function"]["name"],
                "args": json.loads(call["function"]["arguments"]),
                "id": call["id"],
                "type": "tool_call",
            }
            for call in message.get("tool_calls") or ()
        ]
        gave = _langchain("AIMessage", content=message["content"] or "", tool_calls=calls)
        runs.append(
            {
                "id": f"r{len(runs) + 1}",
                "trace_id": "r1",
                "run_type": "llm",
                "name": "ChatOpenAI",
                "start_time": f"2026-01-05T10:{at:02}:00.000000",
                "end_time": f"2026-01-05T10:{at:02}:30.000000",
                "parent_run_id": "r1",
                "inputs": {"messages": [list(given)]},
                "outputs": {"generations": [[{"text": message["content"] or "", "message": gave}]]},
            }
        )
        given.append(gave)
    return {"runs": runs}


def _langchain(kind: str, **kwargs: Any) -> dict[str, Any]:
    return {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", kind], "kwargs": kwargs}


def as_oracle_trace(found: dict[str, Any], steps: Steps) -> Any:
    """Calls alone, by the turn that asked for them."""
    results = results_of(found)
    trace = []
    turn = 0
    for step in steps:
        if not isinstance(step, str):
            trace += [
                {
                    "tool": name,
                    "arguments": arguments,
                    "result": json.loads(
                        results.get(f"{name} {json.dumps(arguments, sort_keys=True)}", "{}")
                    ),
                    "turn_index": turn,
                }
                for name, arguments in step
            ]
        turn += not (isinstance(step, str) and step.startswith(">"))
    return {"trace": trace, "task": {"task_id": found["task_id"]}}


FORMATS: dict[str, Write] = {
    "tau_bench": as_tau_bench,
    "anthropic": as_anthropic,
    "otel_spans": as_spans,
    "otlp": as_otlp,
    "langsmith": as_langsmith,
}
CHANGES: dict[str, Callable[[Steps], Steps]] = {
    "gold": lambda s: s,
    "another argument": lambda s: [
        [(tool, {**arguments, next(iter(arguments)): "I-3"}) for tool, arguments in step]
        if not isinstance(step, str)
        else step
        for step in s
    ],
    "no call": lambda s: [step for step in s if isinstance(step, str)],
    "no question": lambda s: [*s[:1], *[step for step in s[1:] if not isinstance(step, str)], s[-1]],
    "two words more": lambda s: [*s, ">And?", "That is all."],
}


def told(graded: GradedRun) -> dict[str, Any]:
    """What a format may not change: gates, what assertions say, what calls came to."""
    gates = {gate.name: (gate.status, gate.why) for gate in graded.gates}
    verdicts = [(verdict.name, verdict.status) for verdict in graded.outcome.assertions]
    executed = [(call.outcome, call.commit) for call in graded.outcome.executed]
    return {**gates, "success": graded.success, "verdicts": verdicts, "executed": executed}


def graded_as(desk: Desk, found: dict[str, Any], steps: Steps, write: Write) -> GradedRun:
    (run,) = Evidence.all_from_bytes(json.dumps(write(found, steps)).encode())
    return desk.grader.grade(run.model, label="run", task_id=found["task_id"])


@pytest.mark.parametrize("template", ["look_two", "take_found"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_run_is_graded_alike_in_every_format(desk: Desk, change: str, template: str) -> None:
    """What was said and called is the same, and so is what is found, gate by gate: or it is left open, never turned."""
    found = desk.row(template)
    steps = CHANGES[change](steps_of(found))
    whole = told(graded_as(desk, found, steps, as_chat))
    for form, write in FORMATS.items():
        here = told(graded_as(desk, found, steps, write))
        if form in _MESSAGES or (form == "langsmith" and change != "no call"):
            assert here == whole, form
            continue
        # Spans show executions one after the other, and without any don't say that there was none.
        left = {name for name in _RECORDED if here[name] != whole[name]}
        assert {here[name][0] for name in left} <= {"undecided"}, form
        assert here["success"] in ("undecided", whole["success"]), form


_MESSAGES = ("tau_bench", "anthropic")
_RECORDED = (*PATH, "trace_completion", "confirmation")
"""The gates that follow from the record alone."""


def test_a_trace_of_calls_alone_decides_what_calls_decide(desk: Desk) -> None:
    """Its texts are not there, so they are not decided; outcomes are."""
    found = desk.row("look_then_drop")
    graded = graded_as(desk, found, steps_of(found), as_oracle_trace)
    undecided = {gate.name for gate in graded.gates if gate.status == "undecided"}
    assert undecided <= {"text_turn", "call_grouping"}
    assert (graded.outcome.status, graded.outcome.mode) == ("passed", "executable")
    assert "text_turn" in undecided


def test_spans_without_arguments_leave_the_run_open(desk: Desk) -> None:
    """Content is recorded only where it is switched on; nothing is made again from the rest."""
    found = desk.row("look_up")
    run = otel.only(
        otel.span(1, "invoke_agent", at=0, took=9, attributes={"gen_ai.operation.name": "invoke_agent"}),
        otel.chat(2, None, None, within=1, at=1),
        otel.tool(3, "look", own="c1", within=1, at=3),
    )
    graded = desk.grader.grade(run.model, label="run", task_id=found["task_id"])
    gates = {gate.name: gate.why for gate in graded.gates if gate.status == "undecided"}
    assert (graded.success, graded.attribution, graded.outcome.mode) == ("undecided", "evidence", "trace")
    assert (gates["arguments"], gates["assertions"]) == ("arguments_not_recorded", "not_replayed")
    assert graded.outcome.executed == ()
    assert [gate.name for gate in graded.gates if gate.status == "failed"] == []
