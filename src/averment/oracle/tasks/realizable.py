"""Whether an agent can know each value that the gold calls ask of it.

What an agent can't know is not measured but guessed, and so a task that asks for it is dropped. A value in an argument
is known when the call is made, if it is one of these:

- it is read from the result of an earlier call, or stands as a whole in one that the agent has seen;
- a turn of the user that comes before the call says it, as surface guards look for values; the value of a slot that
  was corrected counts as said from the correction on;
- the schema declares it as the argument's default;
- it is a constant of the template that the schema declares too, by `enum` or `const`: then the request tells in other
  words which of the few it is ("who speaks Spanish" is `es`). So are `true`, `false` and null. A slot's value has to be
  said, though: it differs between tasks, and the schema is the same for all;
- it is a constant that the system prompt says.

A text with slots in it is looked for as a whole. An `enum` or `const` that has it is enough where each of its slots is
said. Keys of objects are not values; an object or a list that is empty is one.

Numbers and texts are looked for in results, truth values and null are not: some result always has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeAlias

import msgspec

from averment.errors import path_text
from averment.oracle.catalog import canonical
from averment.oracle.catalog.schema import OutOfStepsError, Schema, Schemas
from averment.oracle.findings import Reason
from averment.oracle.model.pack import Pack
from averment.oracle.model.templates import Template
from averment.oracle.tasks.argument_tree import (
    Constant,
    FilledText,
    FromResult,
    FromSlot,
    Items,
    Members,
    Node,
)
from averment.oracle.tasks.mentions import Surface
from averment.oracle.tasks.task import Task
from averment.oracle.tasks.trace import CallScript, GoldCall, ScriptedCall, values_in_force
from averment.oracle.tasks.trace_checks import TraceFailure
from averment.text.jsonvalue import cut, show

__all__ = ["REASONS", "Realizability", "erring_calls"]

REASONS: Final[dict[str, Reason]] = {
    "gold_not_realizable": Reason(
        "A gold call has a value that no agent can know: nobody says it, no earlier result has it, and the schema "
        "declares it neither as the default nor as a constant.",
        "Let a turn of the user say the value before the call, or read it from the result of an earlier call.",
    ),
    "gold_call_errs": Reason(
        "A gold call is refused, and the template does not say that it must be.",
        "Draw the slots from values for which the call works, or write `turn_policy: negative_path`.",
    ),
}
"""Why a task is dropped whose gold calls are sound and still no fair test."""

Path = tuple[str | int, ...]
Scalar: TypeAlias = tuple[type, Any]


class _Value(msgspec.Struct, frozen=True):
    """A value of an argument that has to be known: where it stands, and what the schema declares there."""

    path: Path
    node: Constant | FromSlot | FilledText
    defaults: frozenset[bytes | None]
    constants: frozenset[bytes | None]


class Realizability:
    """What the tasks of a template may ask of an agent.

    Args:
        pack: whose catalog the agent sees.
        script: the template's calls.
        system_prompt: what the agent is told first.
    """

    def __init__(self, pack: Pack, script: CallScript, system_prompt: str = "") -> None:
        self._script = script
        self._prompt = Surface(system_prompt)
        self._asked = [list(_values(pack, call)) for call in script.calls]

    def failures(
        self,
        task: Task,
        calls: Sequence[GoldCall],
        user_texts: Sequence[str],
        results: Sequence[Any] = (),
    ) -> list[TraceFailure]:
        """Every value in the gold calls of a task that an agent can't know; none if it can know all.

        Args:
            task: the task.
            calls: its gold calls, as derived.
            user_texts: what the user says, turn by turn in the order of the plan.
            results: what the calls return, one for each; without them only what the user says is looked at.
        """
        seen = _Seen(self._script, task, calls=calls, said=user_texts, results=results, prompt=self._prompt)
        return [
            failure
            for index, asked in enumerate(self._asked)
            for value in asked
            for failure in seen.unknown(index, value)
        ]


def erring_calls(template: Template, calls: Sequence[GoldCall], results: Sequence[Any]) -> list[TraceFailure]:
    """The gold calls that are refused, unless the policy is `negative_path`, which says that they must be."""
    if template.turn_policy == "negative_path":
        return []
    found = []
    for index, (call, result) in enumerate(zip(calls, results, strict=True)):
        error = result.get("error") if isinstance(result, dict) else None
        if isinstance(error, dict):
            message = (
                f"the call of `{call.function_name}` is refused with {show(error.get('code'))}, "
                f"and the policy is `{template.turn_policy}`"
            )
            found.append(TraceFailure(reason="gold_call_errs", message=message, call=index))
    return found


class _Seen:
    """What an agent has seen in one task."""

    def __init__(
        self,
        script: CallScript,
        task: Task,
        *,
        calls: Sequence[GoldCall],
        said: Sequence[str],
        results: Sequence[Any],
        prompt: Surface,
    ) -> None:
        self._script = script
        self._in_force = values_in_force(task)
        self._replaced = {update.entry_index: update.values for update in task.slot_updates}
        self._calls = calls
        self._said = [Surface(text) for text in said]
        self._results = results
        self._prompt = prompt
        self._scalars: dict[int, set[Scalar]] = {}

    def unknown(self, index: int, value: _Value) -> Iterator[TraceFailure]:
        """What can't be known of a value that is asked for in a call."""
        call, node = self._script.calls[index], value.node
        found = _at(self._calls[index].arguments, value.path)
        if canonical.key(found) in value.defaults:
            return
        if isinstance(node, Constant):
            known = self._told(call, found) or self._prompt.states(str(found))
            unknown = [] if known or self._returned(index, found) else [found]
            why = "stands in the template, and neither a turn before the call nor the schema has it"
        elif isinstance(node, FilledText):
            declared = canonical.key(found) in value.constants and all(
                self._told(call, self._in_force(call.corrections)[part.slot], part.slot)
                for part in node.parts
                if isinstance(part, FromSlot)
            )
            known = declared or self._told(call, found)
            unknown = [] if known or self._returned(index, found) else [found]
            why = "is made in the template, and no turn before the call has it as a whole"
        else:
            unknown = [
                each
                for each in _scalars(found)
                if not self._told(call, each, node.slot) and not self._returned(index, each)
            ]
            why = f"is the value of the slot `{node.slot}`, and no turn of the user before the call says it"
            if self._since(call, node.slot):
                why += " from its correction on"
        for each in unknown:
            name = path_text(value.path).removeprefix("$").removeprefix(".")
            message = f"`{cut(name)}` of the call of `{call.tool}` is {show(each)}, which {why}"
            yield TraceFailure(reason="gold_not_realizable", message=message, call=index, argument=name)

    def _told(self, call: ScriptedCall, value: Any, slot: str | None = None) -> bool:
        """Whether a turn of the user before the call says the value, since it is the slot's."""
        since = self._since(call, slot) if slot is not None else 0
        return any(turn.states(str(value)) for turn in self._said[since : call.user_turns])

    def _since(self, call: ScriptedCall, slot: str) -> int:
        """The turn of the user that has last replaced the slot's value; 0 is the first turn."""
        for entry in reversed(call.corrections):
            if slot in self._replaced.get(entry, {}):
                return self._script.user_entries.index(entry)
        return 0

    def _returned(self, index: int, value: Any) -> bool:
        """Whether a result that the agent has seen before the call holds the value."""
        group = self._script.calls[index].group
        if group not in self._scalars:
            self._scalars[group] = {
                (type(each), each)
                for call, result in zip(self._script.calls, self._results, strict=False)
                if call.group < group
                for each in _scalars(result)
                if isinstance(each, str | int | float) and not isinstance(each, bool)
            }
        return not isinstance(value, dict | list) and (type(value), value) in self._scalars[group]


def _values(pack: Pack, call: ScriptedCall) -> Iterator[_Value]:
    """The values in the arguments of a call that have to be known, but for those that need no looking for."""
    tool = pack.tool(call.tool)
    parameters = tool.parameters if tool is not None and isinstance(tool.parameters, dict) else {}
    schemas = Schemas(parameters)
    pending: list[tuple[Path, Node, tuple[Schema, ...]]] = [((), Members(call.arguments), (parameters,))]
    while pending:
        path, node, applied = pending.pop()
        defaults, constants = _declared(schemas, applied)
        whole = _constant(node)
        if whole is not None and canonical.key(whole[0]) in defaults | constants:
            continue
        if isinstance(node, Members) and (node.members or not path):
            inner = [
                ((*path, key), part, _under(schemas, applied, key)) for key, part in node.members.items()
            ]
            pending += reversed(inner)
        elif isinstance(node, Items) and node.items:
            below = _under(schemas, applied, None)
            pending += reversed([((*path, at), part, below) for at, part in enumerate(node.items)])
        elif isinstance(node, Members | Items):
            empty: Any = {} if isinstance(node, Members) else []
            yield _Value(path, Constant(empty), frozenset(), frozenset())
        elif isinstance(node, Constant) and (node.value is None or isinstance(node.value, bool)):
            continue
        elif not isinstance(node, FromResult):
            yield _Value(path, node, defaults, constants)


def _constant(node: Node) -> tuple[Any] | None:
    """The value of a tree without slots and results, in a tuple."""
    if isinstance(node, Constant):
        return (node.value,)
    if isinstance(node, Members):
        members = {key: _constant(part) for key, part in node.members.items()}
        return (
            None if None in members.values() else ({key: part[0] for key, part in members.items() if part},)
        )
    if isinstance(node, Items):
        items = [_constant(part) for part in node.items]
        return None if None in items else ([part[0] for part in items if part],)
    return None


def _declared(
    schemas: Schemas, applied: tuple[Schema, ...]
) -> tuple[frozenset[bytes | None], frozenset[bytes | None]]:
    """The canonical keys of the defaults, and of the constants, that schemas declare for one value."""
    defaults: set[bytes | None] = set()
    constants: set[bytes | None] = set()
    try:
        for schema in schemas.conjuncts(*applied).outer_first if applied else ():
            if "default" in schema:
                defaults.add(canonical.key(schema["default"]))
            if "const" in schema:
                constants.add(canonical.key(schema["const"]))
            if isinstance(schema.get("enum"), list):
                constants |= schemas.allowed(schema)
    except OutOfStepsError:
        pass  # a schema that takes too long to follow declares nothing; arguments are refused by it anyway
    return frozenset(defaults - {None}), frozenset(constants - {None})


def _under(schemas: Schemas, applied: tuple[Schema, ...], key: str | None) -> tuple[Schema, ...]:
    """The schemas that apply to a member, or for None to the items."""
    found = []
    try:
        for schema in schemas.conjuncts(*applied).outer_first if applied else ():
            properties = schema.get("properties")
            inner = schema.get("items") if key is None else None
            if key is not None and isinstance(properties, dict):
                inner = properties.get(key)
            if isinstance(inner, dict):
                found.append(inner)
    except OutOfStepsError:
        return ()
    return tuple(found)


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def _scalars(value: Any) -> Iterator[Any]:
    """The scalars in a value, in their order; an object or a list that is empty is one."""
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, dict | list) and part:
            pending += reversed(list(part.values()) if isinstance(part, dict) else part)
        else:
            yield part
