"""Which milestone a turn of the user comes after, as `after` names it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from averment.oracle.model.templates import Template
from averment.oracle.tasks.naming import near
from averment.text.jsonvalue import cut
from averment.text.structs import Mistake

__all__ = ["Deliveries", "deliveries"]


class Deliveries(msgspec.Struct, frozen=True):
    """What the `after` of every turn resolves to.

    Attributes:
        entries: for each milestone, the indexes of the turns that come after it, in their order.
        names: for each milestone, the shortest name that no other has.
        mistakes: turns that name no milestone, or several; paths relative to the template.
    """

    entries: dict[int, list[int]]
    names: list[str]
    mistakes: list[Mistake]

    def after(self, milestones: Iterable[int]) -> list[int]:
        """The turns that come after the milestones of a batch."""
        return [entry for milestone in milestones for entry in self.entries.get(milestone, ())]

    def name_of(self, milestone: int) -> str:
        """What `after` should say to name the milestone."""
        return self.names[milestone]


def deliveries(template: Template) -> Deliveries:
    """Resolve the `after` of every simulator turn."""
    milestones = template.assistant_milestones
    types = Counter(milestone.type for milestone in milestones)
    named: dict[str, list[int]] = {}
    by_type: dict[str, list[int]] = {}
    for index, milestone in enumerate(milestones):
        by_type.setdefault(milestone.type, []).append(index)
        for name in {milestone.id, f"{milestone.type}@{index}"} - {None}:
            named.setdefault(str(name), []).append(index)
    names = [
        milestone.id or (milestone.type if types[milestone.type] == 1 else f"{milestone.type}@{index}")
        for index, milestone in enumerate(milestones)
    ]
    found: dict[int, list[tuple[bool, int]]] = {}
    mistakes: list[Mistake] = []
    for entry, turn in enumerate(template.user_simulator_turns):
        of_type = by_type.get(turn.after, [])
        # A type that occurs several times names none of them, and leaves an id of the same spelling alone.
        targets = sorted({*named.get(turn.after, ()), *(of_type if len(of_type) == 1 else ())}) or of_type
        if len(targets) == 1:
            # A turn that names the milestone by its type comes after those that name it by id, whatever their order.
            found.setdefault(targets[0], []).append((turn.after not in named, entry))
            continue
        path = ("user_simulator_turns", entry, "after")
        if targets:
            options = ", ".join(f"`{names[target]}`" for target in targets[:5])
            message = f"the turn comes after `{cut(turn.after, 60)}`, which {len(targets)} milestones are"
            mend = f"Name one of them: {options}; an `id` on a milestone makes a clearer name."
            mistakes.append(Mistake("", message, path, mend=mend))
        else:
            message = f"the turn comes after `{cut(turn.after, 60)}`, which no milestone is"
            close = near(turn.after, [*names, *by_type])
            mend = "Name a milestone by its `id`, or by its type where that occurs once."
            mistakes.append(Mistake("", message, path, nearest=close, mend=mend))
    entries = {index: [entry for _, entry in sorted(turns)] for index, turns in found.items()}
    return Deliveries(entries, names, mistakes)
