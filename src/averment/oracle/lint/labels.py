"""Rules about what a template says of itself: labels, and the assertions that it names."""

from __future__ import annotations

from collections.abc import Iterator

from averment.oracle.lint.noting import Found, Rule
from averment.oracle.model.pack import Pack
from averment.oracle.model.templates import Milestone, Template
from averment.oracle.model.tools import Tool
from averment.oracle.tasks.naming import some
from averment.text.structs import Mistake

__all__ = ["RULES"]

_LABELS = ("category", "intent", "difficulty")


def _mutates(pack: Pack) -> Iterator[Found]:
    """A `mutates` label against the tools that are called."""
    tools = {tool.name: tool for tool in pack.tools}
    for template in pack.templates:
        called = [
            (each, tools[each.tool])
            for each in template.assistant_milestones
            if each.type == "tool_call" and each.tool in tools
        ]
        mutating = [(each, tool) for each, tool in called if tool.mutates]
        if template.mutates and not mutating:
            message = "the template is labelled `mutates: true`, and calls no tool with `x-mutates`"
            yield Found("templates", Mistake("mutates_label", message, (template.index, "mutates")))
        elif not template.mutates:
            yield from _unlabelled(pack, template, mutating)


def _unlabelled(pack: Pack, template: Template, mutating: list[tuple[Milestone, Tool]]) -> Iterator[Found]:
    """Calls that change the state for all that can be told; one that must be refused, or only asks, does not."""
    if template.turn_policy == "negative_path":
        return
    parameter = pack.manifest.confirmation.parameter
    sure = [
        tool.name
        for each, tool in mutating
        if not tool.requires_confirmation or each.args.get(parameter) is True
    ]
    if sure:
        message = f"the template is not labelled `mutates: true`, and calls {some(dict.fromkeys(sure))}"
        path = (template.index, "mutates")
        yield Found("templates", Mistake("mutates_label", message, path))


def _assertions(pack: Pack) -> Iterator[Found]:
    """Assertions that a template names twice."""
    for template in pack.templates:
        seen: set[str] = set()
        for index, name in enumerate(template.success_assertions):
            if name in seen:
                path = (template.index, "success_assertions", index)
                message = f"the template names `{name}` twice"
                yield Found("templates", Mistake("repeated_assertion", message, path))
            seen.add(name)


def _gaps(pack: Pack) -> Iterator[Found]:
    """Labels that some templates have and others lack; those of one label are told together."""
    entries = pack.sources["templates"].value
    for label in _LABELS:
        lacking = [
            template for template in pack.templates if entries[template.index].get(label) in (None, "")
        ]
        if lacking and len(lacking) < len(pack.templates):
            names = some(template.template_id for template in lacking)
            message = f"{len(lacking)} of {len(pack.templates)} templates have no `{label}`: {names}"
            yield Found("templates", Mistake("label_gap", message, (lacking[0].index, "template_id")))


RULES: tuple[Rule, ...] = (_mutates, _assertions, _gaps)
