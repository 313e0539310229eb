"""Arguments that are read from the result of an earlier call: `{from_result: {call: ID, path: a.0.b}}`.

What can be told before any call is made is told here: that the call exists, comes earlier and in an earlier batch, and
that the policy says so. What its result holds is known only when it has been made.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from averment.oracle.model.templates import Template
from averment.oracle.tasks.naming import near
from averment.oracle.tasks.steps import CallsStep, Plan
from averment.text.jsonvalue import cut
from averment.text.structs import Mistake

__all__ = ["MARKER", "dependency_mistakes", "is_marker", "markers"]

MARKER = "from_result"
"""The key of a marker, and its only one."""

_FORM = "Write `{from_result: {call: ID, path: FIELD}}`, with the `id` of an earlier `tool_call`."
_Path = tuple[str | int, ...]


def is_marker(value: Any) -> bool:
    """Whether an argument, or a part of one, is read from a result."""
    return isinstance(value, dict) and len(value) == 1 and MARKER in value


def markers(value: Any, path: _Path = ()) -> Iterator[tuple[_Path, Any]]:
    """The markers in an argument tree: where each stands, and what stands under its key."""
    if is_marker(value):
        yield path, value[MARKER]
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from markers(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from markers(item, (*path, index))


def dependency_mistakes(template: Template, plan: Plan) -> Iterator[Mistake]:
    """What is wrong with the markers of a template; paths relative to it."""
    milestones = template.assistant_milestones
    batches = [step for step in plan.steps if isinstance(step, CallsStep)]
    group_of = {index: step.group for step in batches for index in step.milestones}
    ids = {each.id: index for index, each in reversed(list(enumerate(milestones))) if each.id is not None}
    found = [
        (index, ("assistant_milestones", index, "args", *path), body)
        for index in group_of
        for path, body in markers(milestones[index].args)
    ]
    if found and template.turn_policy != "dependent_call":
        message = f"an argument is read from a result, and the policy is `{template.turn_policy}`"
        yield Mistake("", message, found[0][1], mend="Write `turn_policy: dependent_call`.")
    if not found and template.turn_policy == "dependent_call" and group_of:
        message = "the policy is `dependent_call`, and no argument is read from a result"
        yield Mistake("", message, ("turn_policy",), mend=_FORM)
    for index, path, body in found:
        mistake = _mistake(index, body, ids, group_of)
        if mistake is not None:
            yield mistake.under(*path, MARKER)


def _mistake(index: int, body: Any, ids: dict[str, int], group_of: dict[int, int]) -> Mistake | None:
    if not isinstance(body, dict):
        return Mistake("", "`from_result` does not say which call it reads", mend=_FORM)
    producer, path = body.get("call"), body.get("path")
    if not isinstance(producer, str) or not isinstance(path, str) or not path:
        return Mistake("", "`from_result` needs the `call` and a `path` into its result", mend=_FORM)
    source = ids.get(producer)
    if source is None or source not in group_of:
        callers = [name for name, known in ids.items() if known in group_of]
        shown = cut(producer, 60)
        message = (
            f"no milestone has the id `{shown}`"
            if source is None
            else f"`{shown}` is the id of no `tool_call`"
        )
        mend = "Give the call whose result is read an `id`, and name that."
        return Mistake("", message, ("call",), nearest=near(producer, callers), mend=mend)
    if source >= index:
        message = f"the call `{producer}` is made no earlier than the one that reads its result"
        return Mistake("", message, ("call",), mend="Move it before the call that reads its result.")
    if group_of[source] >= group_of[index]:
        message = f"the call `{producer}` is made in the same batch as the one that reads its result"
        return Mistake("", message, ("call",), mend="Give the two calls different `call_group`s, or none.")
    return None
