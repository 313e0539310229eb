"""What is wrong with a template when the gold calls of its tasks are derived: faults that all its tasks would have.

An argument may name slots of the template only; the `bind_as` of a correction counts in the turn that says it. And a
call may not read a slot that the user corrects later, because its argument would be one that the user takes back. That
goes by the slot's name: another slot that happens to have the old value is no fault.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from averment.errors import PackError
from averment.oracle.findings import Reason
from averment.oracle.model.pack import Pack
from averment.oracle.model.templates import Template
from averment.oracle.model.tools import Tool
from averment.oracle.tasks.arguments import argument_texts, slots_read
from averment.oracle.tasks.naming import near
from averment.oracle.tasks.placeholders import placeholders
from averment.oracle.tasks.steps import CallsStep, Plan, UserStep
from averment.text.structs import Mistake

__all__ = ["FAULTS", "TraceError", "stale_reads", "unknown_placeholders"]

FAULTS: Final[dict[str, Reason]] = {
    "unknown_placeholder": Reason(
        "An argument has a placeholder that no slot is called, so no task of the template has that argument.",
        "Name a slot of the template; the `bind_as` of a correction counts only in the turn that says it.",
    ),
    "stale_argument": Reason(
        "A call reads a slot before the user corrects it, so its argument is one that the user takes back.",
        "Move the call after the correction.",
    ),
    "invalid_result_path": Reason(
        "The path of a `from_result` names an item of a list by something that is no index.",
        "Write the item's index, from 0, or from -1 to count from the end.",
    ),
    "no_trace_derived": Reason(
        "Every task of a template is dropped, because its arguments can't be read from the results of its calls.",
        "Correct the `from_result` arguments, or draw the slots from values for which the calls find something.",
    ),
}
"""The codes; each of them stops the run."""


class TraceError(ValueError):
    """The gold calls of no task of a template can be derived.

    Attributes:
        mistakes: every reason, with paths relative to the template; their codes are in `FAULTS`.
    """

    def __init__(self, mistakes: Sequence[Mistake]) -> None:
        super().__init__("; ".join(mistake.message for mistake in mistakes))
        self.mistakes = tuple(mistakes)

    def refusal(self, pack: Pack, template: Template) -> PackError:
        """The same as a refusal of the pack, with places in the file of templates."""
        source = pack.sources["templates"]
        mended = [
            msgspec.structs.replace(mistake, mend=mistake.mend or FAULTS[mistake.code].mend)
            for mistake in self.mistakes
        ]
        return PackError([mistake.at(source, (template.index,)) for mistake in mended])


def unknown_placeholders(template: Template) -> Iterator[Mistake]:
    """Each placeholder in an argument that no slot is called; paths relative to the template."""
    for index, milestone in enumerate(template.assistant_milestones):
        for inner, text in argument_texts(milestone.args):
            for offset, name in placeholders(text):
                if name in template.slots:
                    continue
                path = ("assistant_milestones", index, "args", *inner)
                message = f"the argument uses `{{{name}}}`, and no slot is called so"
                close = near(name, template.slots)
                yield Mistake("unknown_placeholder", message, path, offset=offset, nearest=close)


def stale_reads(template: Template, plan: Plan, catalog: Mapping[str, Tool]) -> Iterator[Mistake]:
    """Each call that reads a slot which a later turn of the user corrects, the last call first."""
    corrected: set[str] = set()  # later in the conversation than the step that is looked at
    for step in reversed(plan.steps):
        if isinstance(step, UserStep) and step.entry is not None:
            corrected.update(template.user_simulator_turns[step.entry].slot_updates)
        elif isinstance(step, CallsStep):
            for index in step.milestones:
                milestone = template.assistant_milestones[index]
                read = slots_read(milestone, catalog.get(milestone.tool or ""), corrected)
                for name in sorted(read):
                    message = (
                        f"the call of `{milestone.tool}` reads the slot `{name}` before the user corrects it"
                    )
                    yield Mistake("stale_argument", message, ("assistant_milestones", index))
