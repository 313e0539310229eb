"""Check 6: a tool that needs the user's word changes nothing without it.

For each tool with `x-requires-confirmation`: its schema has the confirmation parameter, and every probe whose argument
is exactly `false` (not only the first), run with the whole chain before it, leaves the state as it was and answers with
the pending status.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from averment.oracle.catalog.schema import Schemas
from averment.oracle.checks.base import Check
from averment.oracle.checks.observations import Step
from averment.oracle.checks.places import case_failure, raised, tool_failure
from averment.oracle.findings import Failure, Reason
from averment.oracle.model.tools import Tool
from averment.text.jsonvalue import ABSENT, show

if TYPE_CHECKING:
    from averment.oracle.checks.bench import Bench

__all__ = ["CHECK"]

REASONS = {
    "missing_confirm_param": Reason(
        "A tool that needs confirmation has no parameter to be told of it.",
        "Add the parameter, or name another in `confirmation.parameter` of the manifest.",
    ),
    "missing_confirm_false_case": Reason(
        "No probe calls the tool with the confirmation parameter `false`.", "Write that probe."
    ),
    "confirm_false_mutated_state": Reason(
        "A call without the user's word has changed the state.",
        "Change nothing while the parameter is false.",
    ),
    "confirm_false_bad_status": Reason(
        "A call without the user's word does not answer that it waits.",
        "Answer with the pending status; the manifest's `confirmation` names the field and the status.",
    ),
    "raised": Reason("The probe gave no answer.", "Mend what raised."),
}


def run(bench: Bench) -> Iterator[Failure]:
    """The failures, in the order of the tools."""
    pack = bench.pack
    parameter = pack.manifest.confirmation.parameter
    for tool in pack.tools:
        if not tool.requires_confirmation:
            continue
        if not _has_parameter(tool, parameter):
            message = f"`{tool.name}` needs confirmation and has no parameter `{parameter}`"
            yield tool_failure(pack, tool, "missing_confirm_param", message, "function", "parameters")
        steps = [
            step
            for step, _ in bench.observations.steps()
            if step.case.tool == tool.name
            and isinstance(step.case.arguments, dict)
            and step.case.arguments.get(parameter) is False
        ]
        if not steps:
            message = f"no probe calls `{tool.name}` with `{parameter}: false`"
            yield tool_failure(pack, tool, "missing_confirm_false_case", message)
        for step in steps:
            yield from _judge(bench, step)


def _has_parameter(tool: Tool, parameter: str) -> bool:
    if not isinstance(tool.parameters, dict):
        return False
    conjuncts = Schemas(tool.parameters).conjuncts(tool.parameters)
    return any(
        isinstance(each.get("properties"), dict) and parameter in each["properties"]
        for each in conjuncts.outer_first
    )


def _judge(bench: Bench, step: Step) -> Iterator[Failure]:
    pack, confirmation = bench.pack, bench.pack.manifest.confirmation
    if step.error is not None:
        yield raised(pack, step.case, step.error)
    if not step.answered:  # blocked by another, which check 5 tells
        return
    path = step.changed_at
    if path is not None:
        message = f"was called without confirmation and has changed the state at {path}"
        yield case_failure(pack, step.case, "confirm_false_mutated_state", message, state_path=path)
    status = step.result.get(confirmation.status_field, ABSENT) if isinstance(step.result, dict) else ABSENT
    if status != confirmation.pending_status:
        message = f"expected `{confirmation.status_field}` to be {show(confirmation.pending_status)}, found {show(status)}"
        yield case_failure(pack, step.case, "confirm_false_bad_status", message)


CHECK = Check(id="6", name="confirmation_policy", reasons=REASONS, run=run)
