"""Rules about texts: placeholders without a slot, slots without a mention, languages and texts that are missing."""

from __future__ import annotations

from collections.abc import Iterator

from averment.oracle.lint.noting import Found, Rule
from averment.oracle.model.pack import Pack
from averment.oracle.model.templates import Template
from averment.oracle.model.tools import Tool
from averment.oracle.tasks.arguments import slots_read
from averment.oracle.tasks.naming import near, some
from averment.oracle.tasks.placeholders import SLOT_NAME, placeholders
from averment.oracle.tasks.shapes import hidden_slots
from averment.oracle.tasks.sources import source_kind
from averment.oracle.tasks.spoken import Block, Path, blocks, languages
from averment.oracle.tasks.trace_faults import unknown_placeholders
from averment.text.structs import Mistake

__all__ = ["RULES"]

_SPELLED_OUT = frozenset({"literal", "enum"})
"""Kinds of sources whose few values a text may spell out."""


def _placeholders(pack: Pack) -> Iterator[Found]:
    """Placeholders that nothing has a value for; a text that several templates share is told once."""
    shared: dict[tuple[Path, int], tuple[str, list[str]]] = {}
    for template in pack.templates:
        told: set[tuple[Path, int]] = set()
        for block in blocks(pack, template):
            for language, text in block.texts.items():
                for offset, name in placeholders(text):
                    place = ((*block.path, language), offset)
                    why = _why_unknown(template, block, name)
                    if why is None or place in told:
                        continue
                    told.add(place)
                    if block.role == "manifest":
                        shared.setdefault(place, (name, []))[1].append(template.template_id)
                        continue
                    close = near(name, block.names - {SLOT_NAME})
                    mistake = Mistake("unknown_placeholder", why, place[0], offset=offset, nearest=close)
                    yield Found(block.role, mistake)
        yield from _in_arguments(template)
    for (path, offset), (name, users) in shared.items():
        message = f"the text uses `{{{name}}}`, which has no value in {some(users)}"
        yield Found("manifest", Mistake("unknown_placeholder", message, path, offset=offset))


def _why_unknown(template: Template, block: Block, name: str) -> str | None:
    """Why a placeholder has no value; None where it has one."""
    if name not in block.names:
        return f"the text uses `{{{name}}}`, and no slot is called so"
    if name != SLOT_NAME or name in template.slots:
        return None
    asked = template.assistant_milestones[block.index].slot
    if asked is not None:
        if asked in template.slots:
            return None
        return (
            f"the text uses `{{{SLOT_NAME}}}`, and the milestone's slot `{asked}` is none of the template's"
        )
    count = len(hidden_slots(template))
    if count == 1:
        return None
    return (
        f"the text uses `{{{SLOT_NAME}}}`, and {count or 'no'} slots are hidden and the milestone names none"
    )


def _in_arguments(template: Template) -> Iterator[Found]:
    for mistake in unknown_placeholders(template):
        yield Found("templates", mistake.under(template.index))


def _mentions(pack: Pack) -> Iterator[Found]:
    """Slots that nothing uses, that the first turn should and does not state, or should not and does."""
    tools = {tool.name: tool for tool in pack.tools}
    for template in pack.templates:
        if not template.slots and not any(turn.slot_updates for turn in template.user_simulator_turns):
            continue
        said = list(blocks(pack, template))
        used = _used(tools, template, said)
        for name, slot in template.slots.items():
            path = (template.index, "slots", name)
            if name not in used:
                message = f"nothing in the conversation uses the slot `{name}`"
                yield Found("templates", Mistake("unused_slot", message, path, key=True))
                continue
            if slot.visible_in_first_turn and source_kind(slot.source) not in _SPELLED_OUT:
                yield from _unstated(said[0], name)
        yield from _hidden(template, said[0])
        yield from _aliases(template)


def _used(tools: dict[str, Tool], template: Template, said: list[Block]) -> set[str]:
    """The slots that some text, argument or question uses."""
    used = {name for block in said for text in block.texts.values() for _, name in placeholders(text)}
    if SLOT_NAME in used:
        used.update(hidden_slots(template))
    for milestone in template.assistant_milestones:
        if milestone.type == "tool_call":
            used |= slots_read(milestone, tools.get(milestone.tool or ""), template.slots)
        elif milestone.slot is not None:
            used.add(milestone.slot)
    for turn in template.user_simulator_turns:
        used.update(turn.slot_updates)
    return used


def _unstated(first: Block, name: str) -> Iterator[Found]:
    for language, text in first.texts.items():
        if name not in {found for _, found in placeholders(text)}:
            message = f"the first turn does not mention `{{{name}}}`, which the user states in it"
            yield Found(first.role, Mistake("slot_not_stated", message, (*first.path, language)))


def _hidden(template: Template, first: Block) -> Iterator[Found]:
    hidden = set(hidden_slots(template))
    for language, text in first.texts.items():
        for offset, name in placeholders(text):
            if name in hidden:
                message = f"the first turn states `{{{name}}}`, which is hidden from it"
                mistake = Mistake("hidden_slot_stated", message, (*first.path, language), offset=offset)
                yield Found(first.role, mistake)


def _aliases(template: Template) -> Iterator[Found]:
    for index, turn in enumerate(template.user_simulator_turns):
        named = {name for text in turn.content_template.values() for _, name in placeholders(text)}
        for slot, update in turn.slot_updates.items():
            if update.bind_as and update.bind_as not in named:
                path = (template.index, "user_simulator_turns", index, "slot_updates", slot, "bind_as")
                message = f"the turn does not mention `{{{update.bind_as}}}`"
                yield Found("templates", Mistake("unused_alias", message, path))


def _guards(pack: Pack) -> Iterator[Found]:
    """Guards of paraphrases about slots that do not exist."""
    for template in pack.templates:
        if template.paraphrase is None:
            continue
        for field in ("must_preserve", "must_omit"):
            for index, name in enumerate(getattr(template.paraphrase, field)):
                if name not in template.slots:
                    path = (template.index, "paraphrase", field, index)
                    message = f"`{field}` guards `{name}`, and no slot is called so"
                    close = near(name, template.slots)
                    yield Found("templates", Mistake("unknown_slot", message, path, nearest=close))


def _gaps(pack: Pack) -> Iterator[Found]:
    """For each template, the texts that are missing: altogether, and in languages of the pack."""
    wanted = languages(pack)
    for template in pack.templates:
        gaps: dict[str, list[str]] = {language: [] for language in wanted}
        for block in blocks(pack, template):
            name = _block_name(template, block)
            if not block.texts and block.kind == "assistant":
                path = (template.index, "assistant_milestones", block.index)
                yield Found("templates", Mistake("missing_text", f"there is no text for `{name}`", path))
                continue
            for language in wanted:
                if language not in block.texts:
                    gaps[language].append(name)
        for slot, declared in template.slots.items():
            for language in wanted:
                if declared.label and language not in declared.label:
                    gaps[language].append(f"slots.{slot}.label")
        missing = {language: list(dict.fromkeys(names)) for language, names in gaps.items() if names}
        if missing:
            where = "; ".join(f"`{language}` in {some(names, 20)}" for language, names in missing.items())
            message = f"the template `{template.template_id}` has no text for {where}"
            yield Found("templates", Mistake("language_gap", message, (template.index, "template_id")))


def _block_name(template: Template, block: Block) -> str:
    if block.kind == "first":
        return str(block.path[-1])
    if block.kind == "user":
        return f"user_simulator_turns[{block.index}]"
    milestone = template.assistant_milestones[block.index]
    if block.path[-1] == "content_template":
        return f"assistant_milestones[{block.index}]" if block.texts else milestone.type
    return f"assistant_turn_templates.{milestone.type}"


RULES: tuple[Rule, ...] = (_placeholders, _mentions, _guards, _gaps)
