"""Smallest tasks and runs: gold as a row of a benchmark, a run as the messages of a chat."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from averment import Evidence
from averment.oracle.grade.calls import Shown, shown
from averment.oracle.grade.gold import GoldTask, gold_task

TOOLS = {
    "find": {
        "type": "object",
        "properties": {"id": {"type": "string"}, "limit": {"type": "integer", "default": 5}},
    },
    "lend": {
        "type": "object",
        "properties": {"id": {"type": "string"}, "confirm": {"type": "boolean", "default": False}},
        "required": ["id"],
    },
    "ping": {"type": "object", "properties": {}},
}

Step = str | Sequence[tuple[str, Any]]
"""`>text` is the user's, other text the assistant's; a list is calls that are made at once."""


def messages(*steps: Step) -> list[dict[str, Any]]:
    """Steps as messages of a chat, each call answered right behind its message."""
    written: list[dict[str, Any]] = []
    count = 0
    for step in steps:
        if isinstance(step, str):
            role = "user" if step.startswith(">") else "assistant"
            written.append({"role": role, "content": step.removeprefix(">")})
            continue
        calls = []
        for name, arguments in step:
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            calls.append(
                {"id": f"call_{count}", "type": "function", "function": {"name": name, "arguments": text}}
            )
            count += 1
        written.append({"role": "assistant", "content": None, "tool_calls": calls})
        written += [{"role": "tool", "tool_call_id": call["id"], "content": "{}"} for call in calls]
    return written


def row(*steps: Step, **columns: Any) -> dict[str, Any]:
    """A row of a benchmark whose gold is these steps."""
    expected = []
    turn = group = 0
    for step in steps:
        if not isinstance(step, str):
            expected += [
                {
                    "turn_index": turn,
                    "call_group": group,
                    "position_in_group": position,
                    "function_name": name,
                    "arguments": {key: json.dumps(value) for key, value in arguments.items()},
                }
                for position, (name, arguments) in enumerate(step)
            ]
            group += 1
        turn += not (isinstance(step, str) and step.startswith(">"))
    tools = [
        {"type": "function", "function": {"name": name, "parameters": schema}}
        for name, schema in TOOLS.items()
    ]
    return {
        "task_id": "t",
        "messages": [{"role": "system", "content": "Be kind."}, *messages(*steps)],
        "tools": json.dumps(tools),
        "expected_tool_calls": expected,
        **columns,
    }


def make_task(*steps: Step, **columns: Any) -> GoldTask:
    """A task whose gold is these steps."""
    return gold_task(row(*steps, **columns))


def make_run(*steps: Step) -> Shown:
    """What a run shows that is recorded as messages of a chat."""
    return shown(Evidence.from_bytes(json.dumps(messages(*steps)).encode(), from_format="openai_chat").model)


@pytest.fixture(scope="session")
def task() -> Callable[..., GoldTask]:
    return make_task


@pytest.fixture(scope="session")
def run() -> Callable[..., Shown]:
    return make_run


@pytest.fixture(name="row", scope="session")
def row_() -> Callable[..., dict[str, Any]]:
    return row
