"""From a task to its conversation: every turn as text, with the values that are in force when it is said.

A turn that corrects a slot is said with the new value, under the slot's name and under that of `bind_as`; what comes
before it has the old value, what comes after it the new one.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from averment.errors import PackError
from averment.oracle.tasks.codes import problem_at
from averment.oracle.tasks.guards import Violation, violations
from averment.oracle.tasks.steps import CallsStep, UserStep
from averment.oracle.tasks.task import Task
from averment.oracle.tasks.wording import Text, Wording
from averment.text.structs import Mistake

__all__ = ["Called", "Conversation", "Said", "Turn", "render"]


class Said(msgspec.Struct, frozen=True):
    """A turn that is text."""

    role: Literal["system", "user", "assistant"]
    content: str


class Called(msgspec.Struct, frozen=True):
    """A message of the assistant that makes calls; which arguments they have is for the gold calls to say.

    Attributes:
        call_group: the batch's ordinal among the batches, from 0.
        turn_index: the message's ordinal among those of the assistant, from 0.
        milestones: the indexes of the calls in `assistant_milestones`.
    """

    call_group: int
    turn_index: int
    milestones: tuple[int, ...]


Turn: TypeAlias = Said | Called


class Conversation(msgspec.Struct, frozen=True, kw_only=True):
    """The conversation of a task.

    Attributes:
        turns: the system prompt, then the turns in their order.
        violations: the guards that the user's turns violate; a task with any is dropped.
    """

    task_id: str
    base_task_id: str
    variant_index: int
    language: str
    system_prompt_id: str
    turns: tuple[Turn, ...]
    violations: tuple[Violation, ...] = ()

    @property
    def user_turns(self) -> tuple[str, ...]:
        """What the user says, in order."""
        return tuple(turn.content for turn in self.turns if isinstance(turn, Said) and turn.role == "user")

    @property
    def accepted(self) -> bool:
        """Whether no guard is violated."""
        return not self.violations


def render(wording: Wording, task: Task) -> Conversation:
    """Render a task.

    Args:
        wording: that of its pack.
        task: a task of a template that the wording has a script for.

    Raises:
        PackError: a turn comes out blank, or longer than `MAX_TURN`.
    """
    script = wording.scripts[task.template_id]
    values = {name: str(value) for name, value in task.slots_initial.items()}
    updates = {update.entry_index: update for update in task.slot_updates}
    turns: list[Turn] = [Said("system", wording.system_prompt.text)]
    said: list[str] = []
    for line in script.lines:
        if isinstance(line, CallsStep):
            turns.append(Called(line.group, line.turn, line.milestones))
            continue
        step, here = line.step, values
        if isinstance(step, UserStep) and step.entry in updates:
            update = updates[step.entry]
            values.update((name, str(value)) for name, value in update.values.items())
            here = values | {name: str(value) for name, value in update.aliases.items()}
        text = line.text.filled(here)
        if text is None or not text.strip():
            raise _refusal(wording, task, line.text, text)
        if isinstance(step, UserStep):
            said.append(text)
        turns.append(Said("user" if isinstance(step, UserStep) else "assistant", text))
    return Conversation(
        task_id=task.task_id,
        base_task_id=task.base_task_id,
        variant_index=task.variant_index,
        language=wording.language,
        system_prompt_id=wording.system_prompt.id,
        turns=tuple(turns),
        violations=violations(script.guards, task, said),
    )


def _refusal(wording: Wording, task: Task, text: Text, said: str | None) -> PackError:
    """Why a turn can't be said: it is too long, or blank."""
    code, how = ("turn_too_long", "too long") if said is None else ("blank_turn", "blank")
    mistake = Mistake(code, f"the text comes out {how} in the task `{task.task_id}`", text.path)
    return PackError(problem_at(wording.pack, text.role, mistake))
