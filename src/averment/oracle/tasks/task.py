"""A task: a template whose slots have values."""

from __future__ import annotations

from typing import Any, Final

import msgspec

__all__ = ["Correction", "Task", "task_argument"]


class Correction(msgspec.Struct, frozen=True):
    """The values that a turn of the user replaces.

    Attributes:
        entry_index: the turn's index in `user_simulator_turns`.
        values: the new values, by slot.
        aliases: the same values by the names of `bind_as`, for the turn's own text.
    """

    entry_index: int
    values: dict[str, Any]
    aliases: dict[str, Any] = {}


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One task of a template, with all that its row says of it (contract, sections 2.1 and 7).

    Labels are as the template has them. Tasks of one template share what does not depend on values; nothing in a task
    may be changed.

    Attributes:
        base_task_id: the task whose wording this one varies; its own id for the template's wording.
        seed: unsigned, 64 bits; see `seed_hex`.
        tools_present: the tools that the agent sees, all of the catalog where the template does not say.
        fixture_refs: the rows that the values are of, sorted.
        slots: the values at the end of the conversation.
        slots_initial: the values in the first turn.
        slot_updates: what the user corrects, in the order of the conversation.
        confirmed_call_turns: the ordinals of the assistant's messages whose calls the user has just confirmed.
    """

    task_id: str
    base_task_id: str
    template_id: str
    pack_id: str
    pack_version: str
    intent: Any
    category: Any
    difficulty: Any
    turn_policy: str
    call_order: str
    call_order_prefix: int | None
    variant_index: int
    seed: int
    mutates: bool
    required_tools: tuple[str, ...]
    tools_present: tuple[str, ...]
    success_assertions: tuple[str, ...]
    edge_signatures: tuple[str, ...]
    fixture_refs: tuple[str, ...]
    slots: dict[str, Any]
    slots_initial: dict[str, Any]
    slot_updates: tuple[Correction, ...]
    is_multi_turn: bool
    num_tool_calls: int
    has_user_confirmation: bool
    confirmed_call_turns: tuple[int, ...]

    @property
    def seed_hex(self) -> str:
        """The seed as 16 hexadecimal digits, for readers whose numbers have 53 bits."""
        return f"{self.seed:016x}"


_NOT_SHOWN: Final = frozenset({"base_task_id"})


def task_argument(task: Task) -> dict[str, Any]:
    """What assertions get as `task`: a mapping of JSON values (contract, section 2.1)."""
    shown: dict[str, Any] = {}
    for name in Task.__struct_fields__:
        if name not in _NOT_SHOWN:
            value = getattr(task, name)
            shown[name] = list(value) if isinstance(value, tuple) else value
    shown["slot_updates"] = [
        {"entry_index": update.entry_index, "values": update.values, "aliases": update.aliases}
        for update in task.slot_updates
    ]
    return shown
