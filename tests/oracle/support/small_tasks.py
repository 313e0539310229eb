"""Small templates with tasks of given values, and episodes with given results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from averment.oracle.model.pack import Pack
from averment.oracle.model.templates import Template
from averment.oracle.tasks.plan import plan
from averment.oracle.tasks.steps import Plan
from averment.oracle.tasks.task import Correction, Task
from averment.oracle.tasks.trace import CallScript, GoldCall, call_script

Handmade = Callable[..., Pack]
Values = Mapping[str, Any]

ANY = {"type": "object", "properties": {}}


def tool(name: str, *required: str, **properties: Any) -> dict[str, Any]:
    """A tool that takes anything, and whose required parameters are texts where nothing else is said."""
    declared = {each: {"type": "string"} for each in required} | properties
    schema = {"type": "object", "properties": declared, "required": list(required)}
    return {"name": name, "parameters": schema}


def call(name: str = "look", args: Any = None, **fields: Any) -> dict[str, Any]:
    """A milestone that calls a tool."""
    return {"type": "tool_call", "tool": name, "args": args or {}, **fields}


def read(call_id: str, path: str) -> dict[str, Any]:
    """An argument that is read from a result."""
    return {"from_result": {"call": call_id, "path": path}}


def reply(after: str, **corrected: str) -> dict[str, Any]:
    """A turn of the user, with the names of slots that it corrects as keys, and their new names."""
    updates = {slot: {"source": "literal:any", "bind_as": alias} for slot, alias in corrected.items()}
    return {"after": after, "content_template": {"en": "..."}, "slot_updates": updates}


class Made(msgspec.Struct, frozen=True):
    """A pack with one template, planned; `values` are of its slots."""

    pack: Pack
    template: Template
    plan: Plan
    values: dict[str, Any]

    @property
    def script(self) -> CallScript:
        """The template's calls."""
        return call_script(self.template, self.plan, self.pack.tools)

    def task(self, corrections: Mapping[int, Values] | None = None, **initial: Any) -> Task:
        """The task with these values, and those of corrections by the index of the turn."""
        first = {**self.values, **initial}
        updates = tuple(Correction(entry, dict(values)) for entry, values in (corrections or {}).items())
        final = dict(first)
        for update in updates:
            final |= update.values
        return task_with(self.template, self.plan, first, final, updates)


def task_with(
    template: Template,
    planned: Plan,
    first: dict[str, Any],
    final: dict[str, Any],
    updates: Sequence[Correction] = (),
) -> Task:
    """The task of a template with these values of its slots."""
    return Task(
        task_id="task",
        base_task_id="task",
        template_id=template.template_id,
        pack_id="library",
        pack_version="1",
        intent=template.intent,
        category=template.category,
        difficulty=template.difficulty,
        turn_policy=template.turn_policy,
        call_order=template.call_order,
        call_order_prefix=template.call_order_prefix,
        variant_index=0,
        seed=0,
        mutates=template.mutates,
        required_tools=tuple(template.required_tools),
        tools_present=tuple(template.tools_present or ()),
        success_assertions=tuple(template.success_assertions),
        edge_signatures=(),
        fixture_refs=(),
        slots=final,
        slots_initial=first,
        slot_updates=tuple(updates),
        is_multi_turn=planned.is_multi_turn,
        num_tool_calls=planned.num_tool_calls,
        has_user_confirmation=planned.has_user_confirmation,
        confirmed_call_turns=planned.confirmed_call_turns,
    )


def made(
    handmade: Handmade,
    *milestones: dict[str, Any],
    slots: Mapping[str, Any] | None = None,
    tools: Sequence[dict[str, Any]] | None = None,
    hidden: Sequence[str] = (),
    **fields: Any,
) -> Made:
    """A template of these milestones: a single turn, unless the fields say else, with a final answer in the end."""
    values = dict(slots or {})
    declared = {
        name: {"source": "literal:any", "visible_in_first_turn": name not in hidden} for name in values
    }
    template = {
        "turn_policy": "single_turn",
        "slots": declared,
        "success_assertions": ["assert_it"],
        "assistant_milestones": [*milestones, {"type": "final_answer"}],
        **fields,
    }
    pack = handmade([template], tools=[tool("look"), tool("take")] if tools is None else list(tools))
    return Made(pack, pack.templates[0], plan(pack.templates[0]), values)


def gold(*names: str, turns: Sequence[int] | None = None, **arguments: Any) -> list[GoldCall]:
    """Calls of these tools, each in a turn and a group of its own, with these arguments."""
    at = range(len(names)) if turns is None else turns
    return [
        GoldCall(turn, index, 0, name, dict(arguments))
        for index, (turn, name) in enumerate(zip(at, names, strict=True))
    ]


class Recorded:
    """An episode whose calls have given results, in their order; an exception among them is raised."""

    def __init__(self, *results: Any) -> None:
        self.results = list(results)
        self.done: list[tuple[Any, ...]] = []

    def reset(self) -> None:
        """Notes the reset."""
        self.done.append(("reset",))

    def list_tools(self) -> Any:
        """Nobody asks."""
        raise NotImplementedError

    def call(self, name: str, arguments: Values, *, turn_index: int = 0) -> Any:
        """The next result."""
        self.done.append((name, dict(arguments), turn_index))
        result = self.results.pop(0)
        if isinstance(result, Exception):
            raise result
        return result

    def state(self) -> Any:
        """Nobody asks."""
        raise NotImplementedError
