"""What a template promises by its policy, and whether its conversation keeps it.

| `turn_policy` | shape |
|---|---|
| `single_turn` | the user has one turn |
| `multi_tool` | two calls or more |
| `missing_slot` | slots are hidden from the first turn; each is asked for before the first call |
| `confirmation` | some batch of calls is confirmed by the user |
| `correction` | some turn of the user has `slot_updates`; no other policy has any |
| `dependent_call` | the order is strict, and an argument is read from a result (see `dependencies`) |
| `negative_path` | a success assertion says what must have been refused |
| `clarify_only` | no call, and the last milestone is `ask_for_slot` |
| `irrelevant` | no call, and the last milestone is `decline` |

All but the last two make a call.
"""

from __future__ import annotations

from collections.abc import Iterator

from averment.oracle.model.templates import Template
from averment.oracle.tasks.naming import near, some
from averment.oracle.tasks.steps import CallsStep, Plan, TextStep
from averment.text.structs import Mistake

__all__ = ["declaration_mistakes", "hidden_slots", "shape_mistakes"]

_CLOSING = {"clarify_only": "ask_for_slot", "irrelevant": "decline"}
_MILESTONES = ("assistant_milestones",)


def hidden_slots(template: Template) -> list[str]:
    """The slots that the user does not state in the first turn."""
    return [name for name, slot in template.slots.items() if not slot.visible_in_first_turn]


def declaration_mistakes(template: Template) -> Iterator[Mistake]:
    """What contradicts itself in the template, whatever its conversation; paths relative to the template."""
    if template.turn_policy == "dependent_call" and template.call_order != "strict":
        message = f"the policy is `dependent_call`, and the order of its calls is `{template.call_order}`"
        mend = "Write `call_order: strict`: a call that reads a result comes after the one that gave it."
        yield Mistake("", message, ("call_order",), expected="`strict`", mend=mend)
    if template.turn_policy != "correction":
        for entry, turn in enumerate(template.user_simulator_turns):
            if turn.slot_updates:
                message = f"a turn replaces values, and the policy is `{template.turn_policy}`"
                path = ("user_simulator_turns", entry, "slot_updates")
                yield Mistake(
                    "", message, path, mend="Write `turn_policy: correction`, or take the updates out."
                )


def shape_mistakes(template: Template, plan: Plan, *, turns_known: bool) -> Iterator[Mistake]:
    """How the conversation differs from what its policy promises; paths relative to the template.

    Args:
        template: the template.
        plan: its plan.
        turns_known: whether every turn of the user has its place in the plan; what rests on that is asked only then.
    """
    policy, calls = template.turn_policy, plan.num_tool_calls
    if policy in _CLOSING:
        yield from _closing(template, calls)
        return
    if not calls:
        mend = "A conversation without a call is `clarify_only` or `irrelevant`; else add a `tool_call`."
        yield Mistake("", f"the policy is `{policy}`, and no tool is called", _MILESTONES, mend=mend)
    elif policy == "multi_tool" and calls < 2:
        yield Mistake(
            "", "the policy is `multi_tool`, and one tool is called once", _MILESTONES, expected="two calls"
        )
    if policy == "single_turn" and template.user_simulator_turns:
        count = 1 + len(template.user_simulator_turns)
        message = f"the policy is `single_turn`, and the user has {count} turns"
        mend = "Take the turns out, or name the policy that they make: `confirmation`, `missing_slot`, `multi_tool`, ..."
        yield Mistake("", message, ("user_simulator_turns",), mend=mend)
    elif policy == "missing_slot":
        yield from _missing_slot(template, plan)
    elif policy == "confirmation" and turns_known and calls and not plan.has_user_confirmation:
        message = "the policy is `confirmation`, and no call is confirmed by the user"
        mend = (
            "Put an `ask_confirm` with the user's answer before the call, "
            "and neither a correction nor an `ask_for_slot` between them."
        )
        yield Mistake("", message, _MILESTONES, mend=mend)
    elif policy == "correction" and not any(turn.slot_updates for turn in template.user_simulator_turns):
        message = "the policy is `correction`, and no turn of the user replaces a value"
        mend = "Add `slot_updates` to the turn in which the user corrects a value."
        yield Mistake("", message, ("turn_policy",), mend=mend)
    elif policy == "negative_path" and not template.success_assertions:
        message = "the policy is `negative_path`, and no assertion says what must have been refused"
        yield Mistake("", message, ("turn_policy",), mend="Name an assertion under `success_assertions`.")


def _closing(template: Template, calls: int) -> Iterator[Mistake]:
    policy = template.turn_policy
    closing = _CLOSING[policy]
    if calls:
        index = next(
            index for index, each in enumerate(template.assistant_milestones) if each.type == "tool_call"
        )
        message = f"the policy is `{policy}`, and a tool is called"
        mend = "Take the call out, or name the policy that it makes."
        yield Mistake("", message, (*_MILESTONES, index), mend=mend)
    last = template.assistant_milestones[-1].type
    if last != closing:
        path = (*_MILESTONES, len(template.assistant_milestones) - 1)
        message = f"the policy is `{policy}`, and the last milestone is `{last}`"
        yield Mistake("", message, path, expected=f"`{closing}` as the last milestone")


def _missing_slot(template: Template, plan: Plan) -> Iterator[Mistake]:
    hidden = dict.fromkeys(hidden_slots(template))
    if not hidden:
        message = "the policy is `missing_slot`, and the user states every slot in the first turn"
        mend = "Set `visible_in_first_turn: false` on the slot that the assistant has to ask for."
        yield Mistake("", message, ("slots",), mend=mend)
        return
    first_call = next(
        (index for index, step in enumerate(plan.steps) if isinstance(step, CallsStep)), len(plan.steps)
    )
    asked: set[str] = set()
    unclear = False
    for index, step in enumerate(plan.steps):
        if not isinstance(step, TextStep):
            continue
        milestone = template.assistant_milestones[step.milestone]
        if milestone.type != "ask_for_slot":
            continue
        path = (*_MILESTONES, step.milestone)
        name = milestone.slot if milestone.slot is not None else next(iter(hidden))
        if milestone.slot is None and len(hidden) > 1:
            unclear = True
            message = "several slots are hidden, and `ask_for_slot` does not say which of them it asks for"
            mend = f"Add `slot:` with one of {some(hidden)}."
            yield Mistake("", message, path, mend=mend)
        elif name not in hidden:
            message = f"`ask_for_slot` asks for `{name}`, which is no hidden slot"
            expected = f"one of {some(hidden)}"
            yield Mistake("", message, (*path, "slot"), expected=expected, nearest=near(name, hidden))
        else:
            asked.add(name)
            if index > first_call:
                message = f"the hidden slot `{name}` is asked for after a tool was called"
                yield Mistake("", message, path, mend="Ask for it before the first call.")
    for name in hidden:
        if name not in asked and not unclear:
            message = f"the hidden slot `{name}` is never asked for"
            mend = f"Add `{{type: ask_for_slot, slot: {name}}}` before the first call."
            yield Mistake("", message, ("slots", name), mend=mend)
