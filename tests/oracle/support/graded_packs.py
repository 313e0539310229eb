"""A small pack whose templates are of every kind that grading tells apart, and runs of its tasks as messages of a chat.

with grading(write_desk(folder)) as desk:
    graded = desk.grade("take_it", lambda steps: steps[:-1])
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from small_packs import write

from averment.evidence import Evidence
from averment.oracle.build.rows import row
from averment.oracle.gold.kitchen import Kitchen
from averment.oracle.grade.grading import Grader
from averment.oracle.grade.policy import Policy
from averment.oracle.grade.report import GradedRun
from averment.oracle.model.loading import load_pack
from averment.oracle.model.options import Options
from averment.oracle.running import Running, running

Steps = list[Any]
"""`>text` is the user's, other text the agent's; a list of `(tool, arguments)` is calls that are made at once."""

BACKEND = """\
import copy
import os
import time

state = {}


def list_tools():
    return ["find", "look", "take", "drop"]


def reset(*, ctx, fixtures=None):
    state.clear()
    state.update(copy.deepcopy(fixtures or {}))


def call_tool(name, arguments, *, ctx):
    return globals()[name](arguments)


def get_state():
    return copy.deepcopy(state)


def item(arguments):
    return next((each for each in state["items"] if each["id"] == arguments.get("id")), None)


def find(arguments):
    ids = [each["id"] for each in state["items"] if each["kind"] == arguments["kind"]]
    return {"ids": ids[::-1] if arguments.get("newest") else ids} if ids else {"error": {"code": "none"}}


def look(arguments):
    return copy.deepcopy(item(arguments)) or {"error": {"code": "not_found"}}


def take(arguments):
    found = item(arguments)
    if found is None:
        return {"error": {"code": "not_found"}}
    if arguments.get("confirm") is not True:
        return {"status": "awaiting_confirmation"}
    found["taken"] = True
    return {"taken": found["id"]}


def drop(arguments):
    if arguments["id"] == "hang":
        time.sleep(60)
    if arguments["id"] == "die":
        os._exit(3)
    if arguments["id"] == "raise":
        raise RuntimeError("no")
    if arguments["id"] == "odd":
        return {"number": float("nan")}
    found = item(arguments)
    if found is None:
        return {"error": {"code": "not_found"}}
    state["items"].remove(found)
    return {"dropped": found["id"]}
"""
ASSERTIONS = """\
import time


def asked(trace, tool):
    return sorted(call["arguments"]["id"] for call in trace if call["tool"] == tool)


def assert_looked(*, state, trace, task, ctx):
    wanted = sorted(value for name, value in task["slots"].items() if name in ("id", "one", "other"))
    assert asked(trace, "look") == wanted, f"{asked(trace, 'look')} were looked at"


def assert_taken(*, state, trace, task, ctx):
    taken = [each["id"] for each in state["items"] if each["taken"]]
    assert len(taken) == 1, f"{len(taken)} are taken"
    assert task["slots"].get("id", taken[0]) == taken[0]


def assert_dropped(*, state, trace, task, ctx):
    assert task["slots"]["id"] not in [each["id"] for each in state["items"]], "it is still there"


def assert_nothing(*, state, trace, task, ctx):
    assert not trace, f"{len(trace)} calls"


ASSERTIONS = {
    "assert_looked": assert_looked,
    "assert_taken": assert_taken,
    "assert_dropped": assert_dropped,
    "assert_nothing": assert_nothing,
}
ASSERTION_CAPABILITIES = {
    "assert_looked": {"category": "result", "trace": True},
    "assert_taken": {"category": "state"},
    "assert_dropped": {"category": "state"},
    "assert_nothing": {"category": "path", "trace": True},
}
"""


def _tool(name: str, properties: dict[str, Any], *required: str, **marks: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return {"type": "function", "function": {"name": name, "parameters": parameters}, **marks}


_TEXT = {"type": "string"}
_FLAG = {"type": "boolean", "default": False}
TOOLS = [
    _tool("find", {"kind": _TEXT, "newest": _FLAG}, "kind"),
    _tool("look", {"id": _TEXT}, "id"),
    _tool(
        "take",
        {"id": _TEXT, "confirm": _FLAG},
        "id",
        **{"x-mutates": True, "x-requires-confirmation": True},
    ),
    _tool("drop", {"id": _TEXT}, "id", **{"x-mutates": True}),
]
FIXTURES = {
    "items": [
        {"id": "I-1", "kind": "nail", "taken": False},
        {"id": "I-2", "kind": "nail", "taken": False},
        {"id": "I-3", "kind": "screw", "taken": False},
    ]
}
CASES = [
    {"id": "finds", "tool": "find", "arguments": {"kind": "nail"}},
    {"id": "finds_none", "tool": "find", "arguments": {"kind": "bolt"}},
    {"id": "looks", "tool": "look", "arguments": {"id": "I-1"}},
    {"id": "looks_none", "tool": "look", "arguments": {"id": "I-0"}},
    {"id": "asks", "tool": "take", "arguments": {"id": "I-1", "confirm": False}},
    {"id": "takes", "tool": "take", "arguments": {"id": "I-1", "confirm": True}},
    {"id": "drops", "tool": "drop", "arguments": {"id": "I-1"}},
    {"id": "drops_none", "tool": "drop", "arguments": {"id": "I-0"}},
]


def _call(tool: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_call", "tool": tool, **more}


def _template(name: str, policy: str, *milestones: Any, first: str, **more: Any) -> dict[str, Any]:
    called = [each["tool"] for each in milestones if each["type"] == "tool_call"]
    asks = any(each["type"] == "ask_confirm" for each in milestones)
    last = [] if policy == "irrelevant" else [{"type": "final_answer"}]
    return {
        "template_id": name,
        "category": name,
        "turn_policy": policy,
        "required_tools": list(dict.fromkeys(called)),
        "mutates": not {"take", "drop"}.isdisjoint(called),
        "user_turn_templates": {"en": first},
        "assistant_milestones": [*milestones, *last],
        **(
            {"user_simulator_turns": [{"after": "ask_confirm", "content_template": {"en": "Yes."}}]}
            if asks
            else {}
        ),
        **more,
    }


def _slots(*names: str, where: str = "") -> dict[str, Any]:
    source = {"source": "fixture:items.id", "visible_in_first_turn": True}
    return {name: {**source, **({"filter": where} if where else {})} for name in names}


TEMPLATES = [
    _template(
        "look_up",
        "single_turn",
        _call("look"),
        first="What is {id}?",
        slots=_slots("id", where="id == 'I-1'"),
        success_assertions=["assert_looked"],
    ),
    _template(
        "look_two",
        "multi_tool",
        _call("look", args={"id": "{one}"}, call_group="both"),
        _call("look", args={"id": "{other}"}, call_group="both"),
        first="What are {one} and {other}?",
        call_order="any",
        slots={**_slots("one", where="id == 'I-1'"), **_slots("other", where="id == 'I-2'")},
        success_assertions=["assert_looked"],
    ),
    _template(
        "look_then_drop",
        "multi_tool",
        _call("look"),
        _call("drop"),
        first="Check {id} and throw it away.",
        slots=_slots("id", where="id == 'I-1'"),
        success_assertions=["assert_looked", "assert_dropped"],
    ),
    _template(
        "look_first",
        "multi_tool",
        _call("look"),
        _call("drop"),
        first="Away with {id}, but check it.",
        call_order="prefix",
        call_order_prefix=1,
        slots=_slots("id", where="id == 'I-1'"),
        success_assertions=["assert_looked", "assert_dropped"],
    ),
    _template(
        "take_it",
        "confirmation",
        {"type": "ask_confirm"},
        _call("take", args={"id": "{id}", "confirm": True}),
        first="{id} for me, please.",
        slots=_slots("id", where="id == 'I-1'"),
        success_assertions=["assert_taken"],
    ),
    _template(
        "take_found",
        "dependent_call",
        _call("find", id="found"),
        {"type": "ask_confirm"},
        _call("take", args={"id": {"from_result": {"call": "found", "path": "ids.0"}}, "confirm": True}),
        first="A {kind} for me, please.",
        slots={"kind": {"source": "literal:nail", "visible_in_first_turn": True}},
        success_assertions=["assert_taken"],
    ),
    _template(
        "decline",
        "irrelevant",
        {"type": "decline"},
        first="Sing {song}.",
        slots={"song": {"source": "literal:['a tune']", "visible_in_first_turn": True}},
        success_assertions=["assert_nothing"],
    ),
]
MANIFEST = {
    "pack_id": "desk",
    "version": "1",
    "assistant_turn_templates": {
        name: {"en": text}
        for name, text in (("ask_confirm", "Shall I?"), ("decline", "I can't."), ("final_answer", "That."))
    },
}


def write_desk(root: Path, **changes: Any) -> Path:
    """The pack's folder; changes are those of `small_packs.write`."""
    given = {
        "backend": BACKEND,
        "tools": TOOLS,
        "fixtures": FIXTURES,
        "cases": CASES,
        "templates": TEMPLATES,
        "assertions": ASSERTIONS,
        "manifest": MANIFEST,
    }
    return write(root, **{**given, **changes})


def rows_of(at_work: Running) -> list[dict[str, Any]]:
    """The rows of all tasks that the pack binds, each of which must be gold."""
    kitchen = Kitchen.of(at_work.pack, at_work.options, at_work.oracle, at_work.runner)
    with ThreadPoolExecutor(max_workers=2) as pool:
        made = list(pool.map(kitchen.maker.make, kitchen.bound().tasks))
    assert [(each.task.task_id, each.drop) for each in made if each.drop] == []
    rows: list[dict[str, Any]] = [
        json.loads(msgspec.json.encode(row(each, at_work.pack, tier="gold"))) for each in made
    ]
    return rows


def steps_of(found: dict[str, Any]) -> Steps:
    """The gold conversation of a row."""
    steps: Steps = []
    for message in found["messages"]:
        if message["role"] == "user":
            steps.append(f">{message['content']}")
        elif message["role"] == "assistant" and message["tool_calls"]:
            functions = [call["function"] for call in message["tool_calls"]]
            steps.append([(each["name"], json.loads(each["arguments"])) for each in functions])
        elif message["role"] == "assistant":
            steps.append(message["content"])
    return steps


def results_of(found: dict[str, Any]) -> dict[str, str]:
    """What gold calls came to, by their tool and arguments."""
    calls: dict[str, str] = {}
    results: dict[str, str] = {}
    for message in found["messages"]:
        for call in message["tool_calls"] or ():
            calls[call["id"]] = _named(call["function"]["name"], json.loads(call["function"]["arguments"]))
        if message["role"] == "tool":
            results[calls[message["tool_call_id"]]] = message["content"]
    return results


def _named(tool: str, arguments: Any) -> str:
    return f"{tool} {json.dumps(arguments, sort_keys=True)}"


def messages(steps: Sequence[Any], results: dict[str, str] | None = None) -> list[dict[str, Any]]:
    """Steps as messages of a chat, each call answered right behind its message; arguments that are text stay so."""
    written: list[dict[str, Any]] = []
    count = 0
    for step in steps:
        if isinstance(step, str):
            role = "user" if step.startswith(">") else "assistant"
            written.append({"role": role, "content": step.removeprefix(">")})
            continue
        calls, answers = [], []
        for name, arguments in step:
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            call_id = f"call_{count}"
            calls.append({"id": call_id, "type": "function", "function": {"name": name, "arguments": text}})
            content = (results or {}).get(_named(name, arguments), "{}")
            answers.append({"role": "tool", "tool_call_id": call_id, "content": content})
            count += 1
        written += [{"role": "assistant", "content": None, "tool_calls": calls}, *answers]
    return written


def chat(found: dict[str, Any], steps: Sequence[Any], **more: Any) -> dict[str, Any]:
    """A record of a run of a row's task."""
    return {
        "messages": messages(steps, results_of(found)),
        "tools": json.loads(found["tools"]),
        "metadata": {"task_id": found["task_id"]},
        **more,
    }


def evidence(value: Any, form: str | None = "openai_chat") -> Any:
    """The evidence model of one conversation."""
    return Evidence.from_bytes(json.dumps(value).encode(), from_format=form).model


class Desk(msgspec.Struct, frozen=True):
    """A pack at work, with the rows of its tasks."""

    at_work: Running
    rows: list[dict[str, Any]]
    grader: Grader
    by_trace: Grader

    def row(self, template: str) -> dict[str, Any]:
        """The first row of a template."""
        return next(each for each in self.rows if each["template_id"] == template)

    def grade(
        self,
        template: str,
        change: Callable[[Steps], Sequence[Any]] = list,
        *,
        trace_only: bool = False,
        **more: Any,
    ) -> GradedRun:
        """What the gold conversation of a template's first task, changed, is graded."""
        found = self.row(template)
        grader = self.by_trace if trace_only else self.grader
        return grader.grade(evidence(chat(found, change(steps_of(found)), **more)), label="run")


@contextmanager
def grading(root: Path, policy: Policy | None = None, **options: Any) -> Iterator[Desk]:
    """A pack at work, and what grades runs of it; nothing misses a deadline that is not among the options."""
    patient = {name: 60.0 for name in Options.__struct_fields__ if name.endswith("_timeout_s")}
    with running(load_pack(root), Options(**patient | options)) as at_work:
        rows = rows_of(at_work)
        by_id = {each["task_id"]: each for each in rows}
        yield Desk(
            at_work,
            rows,
            Grader(at_work, by_id, policy=policy),
            Grader(at_work, by_id, policy=policy, trace_only=True),
        )
