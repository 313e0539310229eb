"""What a plan is made of: the steps of a conversation, and what they come to."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

__all__ = ["CallsStep", "Plan", "Step", "TextStep", "UserStep"]


class UserStep(msgspec.Struct, frozen=True, tag="user", tag_field="kind"):
    """A turn of the user.

    Attributes:
        entry: its index in `user_simulator_turns`; None is the first turn.
        corrects: whether the turn replaces values of slots.
    """

    entry: int | None = None
    corrects: bool = False


class TextStep(msgspec.Struct, frozen=True, tag="text", tag_field="kind"):
    """A text of the assistant.

    Attributes:
        milestone: its index in `assistant_milestones`.
        turn: its ordinal among the assistant's messages, from 0.
    """

    milestone: int
    turn: int


class CallsStep(msgspec.Struct, frozen=True, tag="calls", tag_field="kind"):
    """Calls that the assistant makes in one message.

    Attributes:
        milestones: their indexes in `assistant_milestones`.
        group: the batch's ordinal among the batches, from 0, whatever the template calls it.
        turn: its ordinal among the assistant's messages, from 0.
    """

    milestones: tuple[int, ...]
    group: int
    turn: int


Step: TypeAlias = UserStep | TextStep | CallsStep


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of a template's conversation.

    Attributes:
        template_id: the template.
        steps: in their order.
        confirmed_call_turns: the assistant's turns with calls that the user has just confirmed.
    """

    template_id: str
    steps: tuple[Step, ...]
    confirmed_call_turns: tuple[int, ...]

    @property
    def num_user_turns(self) -> int:
        """How many turns the user has."""
        return sum(isinstance(step, UserStep) for step in self.steps)

    @property
    def num_tool_calls(self) -> int:
        """How many calls the assistant makes."""
        return sum(len(step.milestones) for step in self.steps if isinstance(step, CallsStep))

    @property
    def is_multi_turn(self) -> bool:
        """Whether the user has a second turn."""
        return self.num_user_turns > 1

    @property
    def has_user_confirmation(self) -> bool:
        """Whether some calls are confirmed by the user."""
        return bool(self.confirmed_call_turns)

    @property
    def has_slot_correction(self) -> bool:
        """Whether some turn of the user replaces a value."""
        return any(isinstance(step, UserStep) and step.corrects for step in self.steps)

    @property
    def deliveries(self) -> tuple[int, ...]:
        """The indexes of `user_simulator_turns`, in the order in which the user says them."""
        return tuple(
            step.entry for step in self.steps if isinstance(step, UserStep) and step.entry is not None
        )
