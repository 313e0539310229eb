"""The steps of a template's conversation: what the user says, what the assistant says, what it calls, in which order.

The first step is the user's first turn. Then come the milestones in their order: a text is a step of its own, and so is
a batch of calls, which is consecutive calls of one `call_group`, or one call without a group. After each milestone, or
batch, come the turns of the user that name it.

A turn names a milestone by its `id`, by its type where that occurs once, or by `TYPE@INDEX`; one that names a batch
names any of its calls.

A plan depends on the template alone, not on the values of its slots.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from averment.oracle.model.templates import Template
from averment.oracle.tasks.dependencies import dependency_mistakes
from averment.oracle.tasks.references import Deliveries, deliveries
from averment.oracle.tasks.shapes import declaration_mistakes, shape_mistakes
from averment.oracle.tasks.steps import CallsStep, Plan, Step, TextStep, UserStep
from averment.text.structs import Mistake

__all__ = ["CODE", "PlanError", "plan"]

CODE = "invalid_conversation_plan"
"""The code of every refusal; check 1 reports it."""

_ASKING = frozenset({"ask_confirm", "ask_for_slot"})


class PlanError(ValueError):
    """A template can't be planned.

    Attributes:
        refusals: every reason, with paths relative to the template.
    """

    def __init__(self, refusals: Sequence[Mistake]) -> None:
        super().__init__("; ".join(refusal.message for refusal in refusals))
        self.refusals = tuple(refusals)


def plan(template: Template) -> Plan:
    """Plan a template's conversation, as loaded.

    Whether the tools that it calls exist is not the plan's question.

    Raises:
        PlanError: with every reason why there is no plan.
    """
    delivered = deliveries(template)
    drafted, mistakes = _steps(template, delivered)
    made = Plan(
        template_id=template.template_id, steps=drafted, confirmed_call_turns=_confirmed(template, drafted)
    )
    refusals = [
        *delivered.mistakes,
        *mistakes,
        *declaration_mistakes(template),
        *shape_mistakes(template, made, turns_known=not delivered.mistakes and not mistakes),
        *dependency_mistakes(template, made),
    ]
    if refusals:
        raise PlanError([msgspec.structs.replace(refusal, code=CODE) for refusal in refusals])
    return made


def _steps(template: Template, delivered: Deliveries) -> tuple[tuple[Step, ...], list[Mistake]]:
    """The steps, and what is wrong with the order of the milestones."""
    milestones = template.assistant_milestones
    mistakes: list[Mistake] = []
    steps: list[Step] = [UserStep()]
    groups = 0
    seen: dict[object, int] = {}
    for turn, batch in enumerate(_batches(template)):
        first = milestones[batch[0]]
        if first.type == "tool_call":
            mistakes.extend(_split(template, batch, seen))
            steps.append(CallsStep(tuple(batch), groups, turn))
            groups += 1
        else:
            steps.append(TextStep(batch[0], turn))
        replies = delivered.after(batch)
        steps.extend(
            UserStep(entry, bool(template.user_simulator_turns[entry].slot_updates)) for entry in replies
        )
        is_last = batch[-1] == len(milestones) - 1
        # Where some turn comes after nothing, it is that turn which is amiss, and told.
        if first.type in _ASKING and not replies and not is_last and not delivered.mistakes:
            mistakes.append(_unanswered(template, batch[0], delivered))
    return tuple(steps), mistakes


def _batches(template: Template) -> list[list[int]]:
    """The indexes of the milestones, those of calls that are made in one message together."""
    batches: list[list[int]] = []
    around: object = None
    for index, milestone in enumerate(template.assistant_milestones):
        group = milestone.call_group if milestone.type == "tool_call" else None
        if group is not None and batches and group == around:
            batches[-1].append(index)
        else:
            batches.append([index])
        around = group
    return batches


def _split(template: Template, batch: list[int], seen: dict[object, int]) -> list[Mistake]:
    """A group that was closed before; `seen` has where each was opened."""
    group = template.assistant_milestones[batch[0]].call_group
    if group is None:
        return []
    if group not in seen:
        seen[group] = batch[0]
        return []
    return [
        Mistake(
            "",
            f"the calls of `call_group: {group}` do not stand together: "
            f"milestone {seen[group]} has opened the group, and another milestone has ended it",
            ("assistant_milestones", batch[0], "call_group"),
            mend="Write the calls of a group one after the other, or give this one a group of its own.",
        )
    ]


def _unanswered(template: Template, index: int, delivered: Deliveries) -> Mistake:
    milestone = template.assistant_milestones[index]
    name = delivered.name_of(index)
    return Mistake(
        "",
        f"the user does not answer `{name}`, and the conversation goes on after it",
        ("assistant_milestones", index),
        mend=f"Add a turn to `user_simulator_turns` with `after: {name}`"
        f"{'' if milestone.id else ', or give the milestone an `id` and name that'}.",
    )


def _confirmed(template: Template, steps: Sequence[Step]) -> tuple[int, ...]:
    """The turns of calls that the user has confirmed.

    A confirmation is the user's turn right after an `ask_confirm`, and covers the next batch alone. What changes what
    the user has agreed to withdraws it: a correction, in that turn or later, and asking for another slot.
    """
    covered: list[int] = []
    confirmed = asked = False
    for step in steps:
        if isinstance(step, TextStep):
            kind = template.assistant_milestones[step.milestone].type
            confirmed = confirmed and kind != "ask_for_slot"
            asked = kind == "ask_confirm"
        elif isinstance(step, CallsStep):
            if confirmed:
                covered.append(step.turn)
            confirmed = asked = False
        else:
            confirmed = not step.corrects and (confirmed or asked)
            asked = False
    return tuple(covered)
