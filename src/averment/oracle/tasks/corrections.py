"""What a correction must be to mean something: a value that the user gave already is replaced by one of its kind."""

from __future__ import annotations

from collections.abc import Iterator

from averment.oracle.model.templates import Template
from averment.oracle.tasks.naming import near
from averment.oracle.tasks.sources import Declared, declared_sources, source_kind
from averment.text.structs import Mistake

__all__ = ["correction_mistakes"]

_CODE = "invalid_slot_update"


def correction_mistakes(template: Template) -> Iterator[tuple[Declared, Mistake]]:
    """Each update that corrects nothing, with a mistake whose path is relative to the template."""
    for declared in declared_sources(template):
        mistake = None if declared.entry is None else _mistake(template, declared)
        if mistake is not None:
            yield declared, mistake


def _mistake(template: Template, declared: Declared) -> Mistake | None:
    name, source = declared.slot, declared.definition.source
    slot = template.slots.get(name)
    if slot is None:
        return Mistake(
            _CODE,
            f"the correction replaces the slot `{name}`, which the template does not declare",
            declared.path,
            key=True,
            nearest=near(name, template.slots),
            mend="Name a slot of the template; `bind_as` gives its new value a name of its own.",
        )
    if not slot.visible_in_first_turn:
        return Mistake(
            _CODE,
            f"the correction replaces the slot `{name}`, which the user has not stated in the first turn",
            declared.path,
            key=True,
            mend=f"Set `visible_in_first_turn: true` on `{name}`, or let the user state it without a correction.",
        )
    old, new = source_kind(slot.source), source_kind(source)
    if old != new and slot.source.strip() and source.strip():
        return Mistake(
            _CODE,
            f"the correction of `{name}` is drawn from another kind of source than the slot",
            (*declared.path, "source"),
            expected=f"`{old}:`, as the slot has it",
            found=f"`{new}:`",
            mend="Draw both from the same kind of source.",
        )
    return None
