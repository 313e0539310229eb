"""`task_templates.yaml`: reusable shapes of conversations, with slots for their values."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

__all__ = [
    "MILESTONES",
    "TURN_POLICIES",
    "Milestone",
    "Paraphrase",
    "SimulatorTurn",
    "Slot",
    "SlotUpdate",
    "Template",
]

TurnPolicy = Literal[
    "single_turn",
    "multi_tool",
    "missing_slot",
    "confirmation",
    "correction",
    "dependent_call",
    "negative_path",
    "clarify_only",
    "irrelevant",
]
TURN_POLICIES: tuple[str, ...] = TurnPolicy.__args__  # type: ignore[attr-defined]

MilestoneType = Literal["tool_call", "ask_for_slot", "ask_confirm", "decline", "final_answer"]
MILESTONES: tuple[str, ...] = MilestoneType.__args__  # type: ignore[attr-defined]


class Slot(msgspec.Struct, frozen=True, kw_only=True):
    """A value of the template: where it comes from, and whether the user says it at once."""

    source: str
    visible_in_first_turn: bool
    filter: str | None = None
    label: dict[str, str] = {}


class SlotUpdate(msgspec.Struct, frozen=True, kw_only=True):
    """A correction: the slot's new value, and the name under which the turn that says it may use it."""

    source: str
    filter: str | None = None
    bind_as: str | None = None


class Milestone(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that the assistant does."""

    type: MilestoneType
    id: str | None = None
    tool: str | None = None
    args: dict[str, Any] = {}
    call_group: Any = None
    slot: str | None = None
    content_template: dict[str, str] = {}


class SimulatorTurn(msgspec.Struct, frozen=True, kw_only=True):
    """What the user says after a milestone, named by its id, or by its type where that occurs once."""

    after: str
    content_template: dict[str, str]
    slot_updates: dict[str, SlotUpdate] = {}


class Paraphrase(msgspec.Struct, frozen=True, kw_only=True):
    """What a paraphrase of the user's turns may and may not do."""

    allowed: bool = False
    max_variants: int = 0
    must_preserve: list[str] = []
    must_omit: list[str] = []
    must_not_mention: list[str] = []


class Template(msgspec.Struct, frozen=True, kw_only=True):
    """One template.

    Attributes:
        index: its place in the file, from 0.
        tools_present: the tools that the agent sees; None is the whole catalog.
    """

    template_id: str
    turn_policy: TurnPolicy
    assistant_milestones: list[Milestone]
    intent: Any = None
    difficulty: Any = None
    category: Any = None
    mutates: bool = False
    call_order: Literal["strict", "any", "prefix"] = "strict"
    call_order_prefix: int | None = None
    required_tools: list[str] = []
    tools_present: list[str] | None = None
    slots: dict[str, Slot] = {}
    success_assertions: list[str] = []
    user_turn_templates: dict[str, str] = {}
    user_simulator_turns: list[SimulatorTurn] = []
    assistant_turn_templates: dict[str, dict[str, str]] = {}
    paraphrase: Paraphrase | None = None
    edge_signatures: list[str] = []
    index: int = 0
