"""The texts of a template: what the user and the assistant say, where each text stands, which names it may use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

import msgspec

from averment.oracle.model.pack import Pack
from averment.oracle.model.templates import Template
from averment.oracle.tasks.placeholders import SLOT_NAME

__all__ = ["Block", "blocks", "languages"]

_LANGUAGES: Final = 100
"""Languages that are looked at: every text is asked for each of them."""

Path = tuple[str | int, ...]


class Block(msgspec.Struct, frozen=True):
    """One thing that is said, in its languages.

    Attributes:
        kind: who says it, and for the user whether it is the first turn.
        role: the file that has the texts.
        path: where they stand in it.
        texts: by language.
        names: what a placeholder may be called.
        index: of the milestone, or of the simulator's turn.
    """

    kind: Literal["first", "user", "assistant"]
    role: str
    path: Path
    texts: dict[str, str]
    names: frozenset[str]
    index: int = 0


def blocks(pack: Pack, template: Template) -> Iterator[Block]:
    """What is said in a template, in the order of the file; texts of the manifest where the template has none."""
    slots = frozenset(template.slots)
    here = (template.index,)
    yield Block(
        "first", "templates", (*here, _first_key(pack, template)), template.user_turn_templates, slots
    )
    for index, turn in enumerate(template.user_simulator_turns):
        aliases = {update.bind_as for update in turn.slot_updates.values() if update.bind_as}
        place = (*here, "user_simulator_turns", index, "content_template")
        yield Block("user", "templates", place, turn.content_template, slots | aliases, index)
    shared = pack.manifest.assistant_turn_templates
    names = slots | {SLOT_NAME}
    for index, milestone in enumerate(template.assistant_milestones):
        kind = milestone.type
        if kind == "tool_call":
            continue
        role = "templates"
        path: Path = (*here, "assistant_milestones", index, "content_template")
        said = milestone.content_template
        if not said and kind in template.assistant_turn_templates:
            path, said = (*here, "assistant_turn_templates", kind), template.assistant_turn_templates[kind]
        elif not said and kind in shared:
            role, path, said = "manifest", ("assistant_turn_templates", kind), shared[kind]
        yield Block("assistant", role, path, said, names, index)


def languages(pack: Pack) -> list[str]:
    """The languages that the texts of a pack should have: those declared, else those of any first turn."""
    manifest = pack.manifest
    declared = [*manifest.languages, *([manifest.default_language] if manifest.default_language else [])]
    spoken = (name for template in pack.templates for name in template.user_turn_templates)
    return list(dict.fromkeys(declared or spoken))[:_LANGUAGES]


def _first_key(pack: Pack, template: Template) -> str:
    """The key under which the file has the first turn, which has two names."""
    entry = pack.sources["templates"].value[template.index]
    alias = "first_turn_templates"
    return alias if alias in entry and not entry.get("user_turn_templates") else "user_turn_templates"
