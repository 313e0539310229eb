"""Check 1: every template names tools that exist, and is a conversation that can be held.

Names of tools in `required_tools`, in `tools_present` and in milestones that are calls have to be names of the catalog.
Each template is then planned: its milestones and the turns of its user have to make one conversation, of the shape that
its `turn_policy` promises. No code of the pack runs.

`missing_tool` has the facts `field`, `required_tools`, `tools_present` or `assistant_milestones`, and `tool`, the name.
`invalid_conversation_plan` comes once for every reason why there is no plan.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from averment.oracle.checks.base import Check
from averment.oracle.checks.template_failures import template_failure
from averment.oracle.findings import Failure, Reason
from averment.oracle.model.templates import Template
from averment.oracle.tasks.naming import near
from averment.oracle.tasks.plan import CODE, PlanError, plan
from averment.text.jsonvalue import cut
from averment.text.structs import Mistake

if TYPE_CHECKING:
    from averment.oracle.checks.bench import Bench

__all__ = ["CHECK"]

REASONS = {
    "missing_tool": Reason(
        "A template names a tool that the catalog does not declare.",
        "Correct the name, or declare the tool in the catalog.",
    ),
    CODE: Reason(
        "The milestones and the user's turns of a template make no conversation, or not the one that its policy "
        "promises.",
        "Change the milestones, the turns or the policy as the message says.",
    ),
}


def run(bench: Bench) -> Iterator[Failure]:
    """The failures, in the order of the templates."""
    pack = bench.pack
    catalog = [tool.name for tool in pack.tools]
    known = set(catalog)
    for template in pack.templates:
        for field, path, name in _named(template):
            if name in known:
                continue
            message = f"the catalog has no tool `{cut(name, 60)}`"
            mistake = Mistake("missing_tool", message, path, nearest=near(name, catalog))
            yield template_failure(pack, template, mistake, field=field, tool=name)
        try:
            plan(template)
        except PlanError as error:
            for refusal in error.refusals:
                yield template_failure(pack, template, refusal)


def _named(template: Template) -> Iterator[tuple[str, tuple[str | int, ...], str]]:
    """Every name of a tool in a template, with its field and its path."""
    for field, names in (
        ("required_tools", template.required_tools),
        ("tools_present", template.tools_present),
    ):
        for index, name in enumerate(names or ()):
            yield field, (field, index), name
    field = "assistant_milestones"
    for index, milestone in enumerate(template.assistant_milestones):
        if milestone.type == "tool_call" and milestone.tool is not None:
            yield field, (field, index, "tool"), milestone.tool


CHECK = Check(id="1", name="template_tool_names", reasons=REASONS, run=run)
