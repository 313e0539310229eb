"""Rules about the calls of a template that can be told from its plan and the catalog, before any task is made."""

from __future__ import annotations

from collections.abc import Iterator

from averment.oracle.lint.noting import Found, Rule
from averment.oracle.model.pack import Pack
from averment.oracle.model.templates import Milestone, Template
from averment.oracle.model.tools import Tool
from averment.oracle.tasks.arguments import required_parameters
from averment.oracle.tasks.naming import near, some
from averment.oracle.tasks.plan import PlanError, plan
from averment.oracle.tasks.steps import CallsStep, Plan
from averment.oracle.tasks.trace_faults import stale_reads
from averment.text.structs import Mistake

__all__ = ["RULES"]


def _required(pack: Pack) -> Iterator[Found]:
    """Required tools that are never called, or in another order."""
    catalog = {tool.name for tool in pack.tools}
    for template in pack.templates:
        called = dict.fromkeys(each.tool for _, each in _calls(template))
        required = {name: index for index, name in reversed(list(enumerate(template.required_tools)))}
        uncalled = sorted(index for name, index in required.items() if name not in called)
        for index in uncalled:
            name = template.required_tools[index]
            if name in catalog:
                path = (template.index, "required_tools", index)
                message = f"`{name}` is required, and the conversation never calls it"
                yield Found("templates", Mistake("required_tool_not_called", message, path))
        if uncalled or template.call_order == "any":
            continue
        count = template.call_order_prefix if template.call_order == "prefix" else None
        asked = template.required_tools[:count]
        order = [name for name in called if name in required][:count]
        if order != asked:
            message = (
                f"the order of calls is `{template.call_order}`, and the tools are called as {some(order)}"
            )
            mistake = Mistake("call_order_mismatch", message, (template.index, "required_tools"))
            yield Found("templates", mistake)


def _exposed(pack: Pack) -> Iterator[Found]:
    """Calls of tools that the agent does not see."""
    catalog = {tool.name for tool in pack.tools}
    for template in pack.templates:
        if template.tools_present is None:
            continue
        shown = set(template.tools_present)
        for index, each in _calls(template):
            if each.tool in catalog and each.tool not in shown:
                path = (template.index, "assistant_milestones", index, "tool")
                message = f"`{each.tool}` is called, and `tools_present` does not show it to the agent"
                yield Found("templates", Mistake("tool_not_exposed", message, path))


def _arguments(pack: Pack) -> Iterator[Found]:
    """Arguments that a call lacks, and those that its tool does not take."""
    tools = {tool.name: tool for tool in pack.tools}
    for template in pack.templates:
        for index, each in _calls(template):
            tool = tools.get(each.tool or "")
            if tool is None:
                continue
            path = (template.index, "assistant_milestones", index)
            for name in required_parameters(tool):
                if name not in each.args and name not in template.slots:
                    message = f"the call of `{tool.name}` lacks `{name}`, and no slot is called so"
                    close = near(name, template.slots)
                    yield Found("templates", Mistake("missing_argument", message, path, nearest=close))
            known = _closed_parameters(tool)
            for name in each.args if known is not None else ():
                if known is not None and name not in known:
                    message = f"`{tool.name}` has no parameter `{name}`"
                    inner = (*path, "args", name)
                    mistake = Mistake("unknown_argument", message, inner, key=True, nearest=near(name, known))
                    yield Found("templates", mistake)


def _closed_parameters(tool: Tool) -> dict[str, object] | None:
    """The parameters of a tool that takes no others; None where it does, or where that can't be told."""
    schema = tool.parameters
    if not isinstance(schema, dict) or schema.get("additionalProperties") is not False:
        return None
    properties = schema.get("properties", {})
    return properties if isinstance(properties, dict) and not {"allOf", "$ref"} & schema.keys() else None


def _planned(pack: Pack) -> Iterator[Found]:
    """Calls that say that the user has confirmed, and those that read a slot before it is corrected."""
    tools = {tool.name: tool for tool in pack.tools}
    for template in pack.templates:
        try:
            made = plan(template)
        except PlanError:
            continue  # check 1 tells why
        yield from _unconfirmed(pack, template, made, tools)
        for mistake in stale_reads(template, made, tools):
            yield Found("templates", mistake.under(template.index))


def _unconfirmed(pack: Pack, template: Template, made: Plan, tools: dict[str, Tool]) -> Iterator[Found]:
    parameter = pack.manifest.confirmation.parameter
    confirmed = set(made.confirmed_call_turns)
    for step in made.steps:
        if not isinstance(step, CallsStep) or step.turn in confirmed:
            continue
        for index in step.milestones:
            each = template.assistant_milestones[index]
            tool = tools.get(each.tool or "")
            if tool is not None and tool.requires_confirmation and each.args.get(parameter) is True:
                path = (template.index, "assistant_milestones", index, "args", parameter)
                message = (
                    f"the call of `{tool.name}` says `{parameter}: true`, and the user has not confirmed it"
                )
                yield Found("templates", Mistake("unconfirmed_call", message, path))


def _calls(template: Template) -> Iterator[tuple[int, Milestone]]:
    for index, milestone in enumerate(template.assistant_milestones):
        if milestone.type == "tool_call":
            yield index, milestone


RULES: tuple[Rule, ...] = (_required, _exposed, _arguments, _planned)
