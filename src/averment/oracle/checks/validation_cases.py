"""Check 5: every probe does what it says, and every tool is probed.

Probes are run in chains, each chain in an episode of its own, with a snapshot of the state before and after every call.
A result is a `structured_error` where its `error` is a mapping, else `awaiting_confirmation` where its status field says
so, else a `success`. Each tool needs a success whose arguments satisfy its published schema, and a negative: an error, a
call that waits for confirmation, or a probe that says `coverage: negative`.

A call that gets no answer is `raised`; the probes of its chain after it were not run, and are told as `blocked_by`.
Equality is canonical: `1`, `1.0` and `"1"` are three values.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from averment.errors import nearest
from averment.oracle.catalog.arguments import argument_failures
from averment.oracle.catalog.canonical import equal
from averment.oracle.checks.base import Check
from averment.oracle.checks.held_out_arguments import held_out_arguments
from averment.oracle.checks.observations import Step, outcome
from averment.oracle.checks.places import case_failure, raised, tool_failure
from averment.oracle.findings import Failure, Reason
from averment.oracle.model.pack import Pack
from averment.text.jsonvalue import ABSENT, show

if TYPE_CHECKING:
    from averment.oracle.checks.bench import Bench

__all__ = ["CHECK"]

REASONS = {
    "validation_cases_empty": Reason(
        "There are no probes.", "Write at least one success and one negative probe for every tool."
    ),
    "unknown_tool": Reason(
        "A probe calls a tool that the catalog has not.", "Correct the name, or declare the tool."
    ),
    "reset_before_false_without_predecessor": Reason(
        "The first probe of the file goes on from a probe that is not there.",
        "Remove `reset_before: false`, or put the probe that it goes on from before it.",
    ),
    "raised": Reason(
        "A call gave no answer: the oracle raised, ended, took too long, or gave what is no JSON.",
        'Return refusals as `{"error": {"code": ...}}`, and mend what raised.',
    ),
    "blocked_by": Reason(
        "A probe was not run, because an earlier one of its chain gave no answer.",
        "Mend the earlier probe first.",
    ),
    "non_object_result": Reason("A result is no JSON object.", "Return a dict from `call_tool`."),
    "successful_validation_case_schema_mismatch": Reason(
        "A probe succeeded with arguments that the tool's published schema refuses.",
        "Correct the schema or the arguments: what the oracle takes and what it publishes must be one.",
    ),
    "result_class_mismatch": Reason(
        "A result is of another class than the probe expects.",
        "Correct the oracle, or `expect.result_class`.",
    ),
    "error_code_mismatch": Reason(
        "An error has another code than the probe expects.", "Correct the oracle, or `expect.error_code`."
    ),
    "result_field_mismatch": Reason(
        "A field of a result is not what the probe expects.", "Correct the oracle, or the expected value."
    ),
    "state_changed": Reason(
        "A call changed the state, and the probe says that it does not.",
        "Change nothing before everything is known to be right, or remove `state_unchanged`.",
    ),
    "incomplete_validation_coverage": Reason(
        "A tool has no success, or no negative, among the probes.", "Write the probe that is missing."
    ),
}


def run(bench: Bench) -> Iterator[Failure]:
    """The failures, in the order of the probes, then of the tools."""
    pack = bench.pack
    if not pack.cases:
        yield Failure(
            reason="validation_cases_empty",
            message="there are no probes",
            file=pack.files["validation_cases"],
        )
        return  # that no tool is covered goes without saying
    if not pack.cases[0].reset_before:
        first = pack.cases[0]
        message = "the first probe has none before it to go on from"
        yield case_failure(pack, first, "reset_before_false_without_predecessor", message, "reset_before")
    known = [tool.name for tool in pack.tools]
    steps = {step.case.index: step for step, _ in bench.observations.steps()}
    covered: dict[str, set[str]] = {name: set() for name in known}
    for case in pack.cases:
        if case.tool not in covered:
            close = nearest(case.tool, known)
            hint = f"; did you mean `{close}`?" if close else ""
            yield case_failure(
                pack, case, "unknown_tool", f"the catalog has no tool `{case.tool}`{hint}", "tool"
            )
            continue
        yield from _judge(bench, steps[case.index], covered[case.tool])
    for tool in pack.tools:
        missing = [kind for kind in ("success", "negative") if kind not in covered[tool.name]]
        if missing:
            message = f"no probe of `{tool.name}` is a {' or a '.join(missing)}"
            yield tool_failure(pack, tool, "incomplete_validation_coverage", message, missing=missing)


def _judge(bench: Bench, step: Step, covered: set[str]) -> Iterator[Failure]:
    """What is wrong with one probe; adds to `covered` what it shows of its tool."""
    pack, case = bench.pack, step.case
    if step.error is not None:
        yield raised(pack, case, step.error)
        return
    if step.blocked_by is not None:
        message = f"was not run: the probe `{step.blocked_by}` before it gave no answer"
        yield case_failure(pack, case, "blocked_by", message, blocked_by=step.blocked_by)
        return
    if not isinstance(step.result, dict):
        message = f"the result is {show(step.result)}, and must be an object"
        yield case_failure(pack, case, "non_object_result", message)
        return
    observed = outcome(step.result, pack.manifest.confirmation)
    if observed == "success":
        yield from _judge_success(bench, step, covered)
    if observed != "success" or case.coverage == "negative":
        covered.add("negative")
    reserved = held_out_arguments(pack, case, step.result)
    for failure in _judge_expected(bench, step, observed):
        yield _with_reserved(pack, failure, reserved) if reserved else failure


def _judge_success(bench: Bench, step: Step, covered: set[str]) -> Iterator[Failure]:
    pack, case = bench.pack, step.case
    tool = pack.tool(case.tool)
    failures = argument_failures(tool.parameters if tool else {}, case.arguments)
    if not failures:
        covered.add("success")
        return
    first = failures[0]
    yield case_failure(
        pack,
        case,
        "successful_validation_case_schema_mismatch",
        f"succeeded, and the schema of `{case.tool}` refuses its arguments: {first.message}",
        "arguments",
        schema_failures=[
            {"reason": each.reason, "path": each.path, "message": each.message} for each in failures
        ],
    )


def _judge_expected(bench: Bench, step: Step, observed: str) -> Iterator[Failure]:
    pack, case, expect = bench.pack, step.case, step.case.expect
    wanted = expect.get("result_class")
    if wanted is not None and wanted != observed:
        message = f"expected {wanted}, found {observed}: {show(step.result)}"
        yield case_failure(
            pack,
            case,
            "result_class_mismatch",
            message,
            "expect",
            "result_class",
            expected=wanted,
            found=observed,
        )
    if "error_code" in expect:
        error = step.result.get("error")
        code = error.get("code") if isinstance(error, dict) else None
        if not equal(code, expect["error_code"]):
            message = f"expected the code {show(expect['error_code'])}, found {show(code)}"
            yield case_failure(pack, case, "error_code_mismatch", message, "expect", "error_code")
    for name, value in expect.items():
        if name in ("result_class", "error_code", "state_unchanged"):
            continue
        found = step.result.get(name, ABSENT)
        if not equal(found, value):
            message = f"expected `{name}` to be {show(value)}, found {show(found)}"
            yield case_failure(pack, case, "result_field_mismatch", message, "expect", name, field=name)
    if expect.get("state_unchanged") and step.changed:
        path = step.changed_at
        message = f"the state has changed at {path}"
        yield case_failure(pack, case, "state_changed", message, "expect", "state_unchanged", state_path=path)


def _with_reserved(pack: Pack, failure: Failure, reserved: list[dict[str, Any]]) -> Failure:
    """The failure, with the reserved rows that its probe names, and that they are not there to be found."""
    facts = {**failure.facts, "held_out_fixture_arguments": reserved}
    if pack.held_out is None or pack.held_out.policy.fixtures_in_backend_state:
        return msgspec.structs.replace(failure, facts=facts)
    first = reserved[0]
    mend = f"`{first['argument']}` names a reserved row of `{first['collection']}`, which the oracle is not given: probe another."
    return msgspec.structs.replace(failure, facts=facts, mend=mend)


CHECK = Check(id="5", name="declared_validation_cases", reasons=REASONS, run=run)
