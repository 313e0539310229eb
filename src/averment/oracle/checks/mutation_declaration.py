"""Check M1: what changes the state says so, and what says so does.

A tool that any probe has seen changing the state must declare `x-mutates`; one that declares it must change the state in
at least one probe that succeeds.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from averment.oracle.checks.base import Check
from averment.oracle.checks.observations import outcome
from averment.oracle.checks.places import tool_failure
from averment.oracle.findings import Failure, Reason

if TYPE_CHECKING:
    from averment.oracle.checks.bench import Bench

__all__ = ["CHECK"]

REASONS = {
    "undeclared_mutation": Reason(
        "A probe changed the state through a tool that does not declare `x-mutates`.",
        "Declare `x-mutates: true`, or change nothing.",
    ),
    "declared_mutation_not_observed": Reason(
        "A tool declares `x-mutates`, and no successful probe has seen it change anything.",
        "Write a probe in which it does, or remove the declaration.",
    ),
}


def run(bench: Bench) -> Iterator[Failure]:
    """The failures, in the order of the tools."""
    pack = bench.pack
    changed: dict[str, list[str]] = {}
    proved: set[str] = set()
    for step, _ in bench.observations.steps():
        if step.changed:
            changed.setdefault(step.case.tool, []).append(step.case.id)
            if outcome(step.result, pack.manifest.confirmation) == "success":
                proved.add(step.case.tool)
    for tool in pack.tools:
        if tool.name in changed and not tool.mutates:
            cases = changed[tool.name]
            message = (
                f"`{tool.name}` has changed the state in the probe `{cases[0]}`, and does not declare it"
            )
            yield tool_failure(pack, tool, "undeclared_mutation", message, cases=cases)
        if tool.mutates and tool.name not in proved:
            message = f"`{tool.name}` declares that it changes the state, and no successful probe has seen it"
            yield tool_failure(pack, tool, "declared_mutation_not_observed", message, "x-mutates")


CHECK = Check(id="M1", name="mutation_declaration", reasons=REASONS, run=run)
