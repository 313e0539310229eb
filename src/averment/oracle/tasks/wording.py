"""The texts of every template in one language, ready to be filled with the values of tasks.

What can be wrong with a text whatever the values are is found here, for all templates and all at once: a text that the
language lacks, a placeholder that has no value at its point of the conversation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

import msgspec

from averment.oracle.model.pack import Pack
from averment.oracle.model.problems import Problems
from averment.oracle.model.templates import Template
from averment.oracle.tasks.codes import problem_at
from averment.oracle.tasks.guards import Guards, guarded_names, guards_of
from averment.oracle.tasks.languages import SystemPrompt, language_of, system_prompt_of
from averment.oracle.tasks.naming import near, some
from averment.oracle.tasks.placeholders import SLOT_NAME, placeholders
from averment.oracle.tasks.shapes import hidden_slots
from averment.oracle.tasks.spoken import Block, Path, blocks
from averment.oracle.tasks.steps import CallsStep, Plan, TextStep, UserStep
from averment.text.jsonvalue import cut
from averment.text.structs import Mistake

__all__ = ["MAX_TURN", "Line", "Script", "Text", "Wording", "wording_of"]

MAX_TURN: Final = 2**20
"""Characters of a turn's text."""


class Text(msgspec.Struct, frozen=True):
    """A text with placeholders.

    Attributes:
        role: the file that has it.
        path: where it stands in the file.
        pieces: literal text and names of values in turn, a literal first and last.
    """

    role: str
    path: Path
    pieces: tuple[str, ...]

    def filled(self, values: Mapping[str, str]) -> str | None:
        """The text with its values, which are not looked at again; None where it is longer than `MAX_TURN`."""
        parts = [values[piece] if at & 1 else piece for at, piece in enumerate(self.pieces)]
        return "".join(parts) if sum(map(len, parts)) <= MAX_TURN else None


class Line(msgspec.Struct, frozen=True):
    """A step in which somebody says something, and what."""

    step: UserStep | TextStep
    text: Text


class Script(msgspec.Struct, frozen=True):
    """The conversation of a template in one language, without its values, and the guards of its user turns."""

    lines: tuple[Line | CallsStep, ...]
    guards: Guards


class Wording(msgspec.Struct, frozen=True):
    """How the tasks of a pack are worded: the language, the system prompt, and the script of each template, by its id."""

    pack: Pack
    language: str
    system_prompt: SystemPrompt
    scripts: dict[str, Script]


def wording_of(
    pack: Pack,
    plans: Mapping[str, Plan],
    *,
    language: str | None = None,
    preserve_slot_values: bool = True,
    prevent_tool_name_leakage: bool = True,
) -> Wording:
    """The wording of a pack's tasks.

    Args:
        pack: the pack.
        plans: the plans of the templates that are rendered, by the template's id.
        language: the language that is asked for; None leaves it to the pack.
        preserve_slot_values: see `guards_of`.
        prevent_tool_name_leakage: see `guards_of`.

    Raises:
        PackError: with every gap of every template, and all else that no task could be rendered with.
    """
    problems = Problems()
    _report_exempt_names(pack, problems)
    chosen = language_of(pack, language, problems)
    if chosen is None:
        problems.raise_any()
    spoken = chosen or ""
    prompt = system_prompt_of(pack, spoken, problems)
    names = guarded_names(pack)
    found: _Found = {}
    scripts: dict[str, Script] = {}
    for template in pack.templates:
        plan = plans.get(template.template_id)
        if plan is None:
            continue
        guards = guards_of(
            template,
            names,
            preserve_slot_values=preserve_slot_values,
            prevent_tool_name_leakage=prevent_tool_name_leakage,
        )
        scripts[template.template_id] = Script(tuple(_lines(pack, template, plan, spoken, found)), guards)
    for (role, _, _), (mistake, users) in found.items():
        about = f"{mistake.message} (used by {some(users)})" if role == "manifest" else mistake.message
        problems.report(problem_at(pack, role, msgspec.structs.replace(mistake, message=about)))
    problems.raise_any()
    return Wording(pack, spoken, prompt, scripts)


_Found: TypeAlias = dict[tuple[str, Path, int | None], tuple[Mistake, list[str]]]
"""Mistakes by their file and place, with the templates that they are of: many may share a text of the manifest."""


def _report_exempt_names(pack: Pack, problems: Problems) -> None:
    known = [tool.name for tool in pack.tools]
    for index, name in enumerate(pack.manifest.surface_guards.tool_names_exempt):
        if name not in known:
            path = ("surface_guards", "tool_names_exempt", index)
            mistake = Mistake(
                "unknown_exempt_tool", f"there is no tool `{name}`", path, nearest=near(name, known)
            )
            problems.report(problem_at(pack, "manifest", mistake))


def _lines(
    pack: Pack, template: Template, plan: Plan, language: str, found: _Found
) -> Iterator[Line | CallsStep]:
    """The steps with their texts; what is wrong with a text goes to `found`."""
    said = list(blocks(pack, template))
    by_place = {(block.kind, block.index): block for block in said}
    for step in plan.steps:
        if isinstance(step, CallsStep):
            yield step
            continue
        if isinstance(step, TextStep):
            block = by_place["assistant", step.milestone]
        elif step.entry is None:
            block = by_place["first", 0]
        else:
            block = by_place["user", step.entry]
        pieces: list[str] = []
        for role, mistake in _compile(template, block, language, pieces):
            place = (role, mistake.path, mistake.offset)
            found.setdefault(place, (mistake, []))[1].append(template.template_id)
        yield Line(step, Text(block.role, (*block.path, language), tuple(pieces)))


def _compile(
    template: Template, block: Block, language: str, pieces: list[str]
) -> Iterator[tuple[str, Mistake]]:
    """Fill in the pieces of a block's text; what is wrong with it is told with the role of the file it is in."""
    if not block.texts and block.kind == "assistant":
        kind = template.assistant_milestones[block.index].type
        path = (template.index, "assistant_milestones", block.index)
        yield "templates", Mistake("missing_text", f"there is no text for `{kind}`", path)
        return
    if language not in block.texts:
        message = f"{_holder(template, block)} has no `{language}` for {_said(template, block)}"
        yield block.role, Mistake("language_gap", message, block.path)
        return
    text = block.texts[language]
    literal, end = "", 0
    for start, name in placeholders(text):
        literal += text[end:start]
        end = start + len(name) + len("{}")
        if name == SLOT_NAME and block.kind == "assistant" and name not in template.slots:
            called = _called(template, block, language)
            if isinstance(called, str):
                literal += called
                continue
            role, mistake = called
            if role == block.role and mistake.code == "unknown_placeholder":
                mistake = msgspec.structs.replace(mistake, path=(*block.path, language), offset=start)
            yield role, mistake
        elif name not in block.names:
            message = f"the text uses `{{{name}}}`, which has no value here"
            place = (*block.path, language)
            close = near(name, block.names - {SLOT_NAME})
            yield block.role, Mistake("unknown_placeholder", message, place, offset=start, nearest=close)
        pieces += [literal, name]
        literal = ""
    pieces.append(literal + text[end:])


def _called(template: Template, block: Block, language: str) -> str | tuple[str, Mistake]:
    """What the assistant calls the slot that it asks for, or why it can't be told."""
    name = template.assistant_milestones[block.index].slot
    if name is None:
        hidden = hidden_slots(template)
        if len(hidden) != 1:
            count = len(hidden) or "no"
            message = (
                f"the text uses `{{{SLOT_NAME}}}`, and {count} slots are hidden and the milestone names none"
            )
            return block.role, Mistake("unknown_placeholder", message)
        name = hidden[0]
    slot = template.slots.get(name)
    if slot is None:
        message = (
            f"the text uses `{{{SLOT_NAME}}}`, and the milestone's slot `{name}` is none of the template's"
        )
        return block.role, Mistake("unknown_placeholder", message, nearest=near(name, template.slots))
    if slot.label and language not in slot.label:
        path = (template.index, "slots", name, "label")
        message = f"the template `{template.template_id}` has no `{language}` for the label of `{name}`"
        return "templates", Mistake("language_gap", message, path)
    return slot.label.get(language, name)


def _holder(template: Template, block: Block) -> str:
    return f"the template `{template.template_id}`" if block.role == "templates" else "the manifest"


def _said(template: Template, block: Block) -> str:
    """What a block says, for a message."""
    if block.kind == "first":
        return "the first turn"
    if block.kind == "user":
        return f"what the user says after `{cut(template.user_simulator_turns[block.index].after, 60)}`"
    return f"`{template.assistant_milestones[block.index].type}`"
