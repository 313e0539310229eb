"""Check 7: every template makes a task, and the task is gold.

Run-wide first: the category budgets have room for every template, and every text is there in the language of the run.
Then one task of each template, reserved ones too, is made as `averment pack build` makes it: bound, rendered, guarded, its
gold calls worked out, checked and traced to what an agent can know, replayed twice in two worlds with its assertions, and
held against agents that do nothing or call everything.

The assertions are tried on gold gone wrong as well (calls dropped, duplicated, swapped, altered, added, a result
corrupted, the state rolled back); one that passes whatever is done is no failure, and warned of as `vacuous_assertion`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from averment.errors import PackError, Problem
from averment.oracle.checks.base import Check, NotRunError
from averment.oracle.checks.determinism_check import suspects
from averment.oracle.checks.places import oracle_failure, placed
from averment.oracle.findings import Failure, Reason
from averment.oracle.gold.making import Made
from averment.oracle.gold.reasons import REASONS as DROPPED
from averment.oracle.gold.reasons import Drop
from averment.oracle.model.templates import Template
from averment.oracle.oracles import OracleError
from averment.oracle.replay.twice import REASONS as REPLAYED

if TYPE_CHECKING:
    from averment.oracle.checks.bench import Bench

__all__ = ["CHECK", "WARNINGS", "vacuous_assertions"]

REASONS = {
    "run_contract_failed": Reason(
        "No benchmark can be built at all: a budget has no room for all templates, a text is missing in the language of the "
        "run, a template has no task whatever its values.",
        "The fact `code` says which, and the message what to do.",
    ),
    "representative_trace_schema_mismatch": Reason(
        "The gold calls of a template's task are not what the catalog and the template allow.",
        "Correct the calls, the template or the tool's schema.",
    ),
    "representative_surface_guard_violation": Reason(
        "What the user says gives away what it must not, or lacks what it must have.",
        "Change the texts or the guards of the template.",
    ),
    "representative_replay_failed": Reason(
        "A template's task does not reproduce, or its assertions don't pass.",
        "`replay_reason` says which of these, and the message why.",
    ),
    "representative_generation_failed": Reason(
        "A template makes no task, or one that is not worth having.",
        "`drop_reason` says why, where the task was dropped.",
    ),
}
WARNINGS = {
    "vacuous_assertion": Reason(
        "An assertion passed on every mutant of its tasks' evidence: whatever the agent did, it would have passed.",
        "Assert what the right calls bring about, or remove the assertion.",
    ),
}
_REASON_OF = {
    "surface_guard_violation": "representative_surface_guard_violation",
    "expected_trace_schema_mismatch": "representative_trace_schema_mismatch",
    **dict.fromkeys(REPLAYED, "representative_replay_failed"),
}
"""By why a build drops a task; of every other reason the template has no task that is worth having."""

_WHICH = {
    "representative_replay_failed": "replay_reason",
    "representative_generation_failed": "drop_reason",
}
"""The facts that say which reason of a build it is, where that of the check does not."""


def run(bench: Bench) -> Iterator[Failure]:
    """The failures: of the run, then of the templates in their order."""
    for name in ("1", "2", "3"):
        row = bench.rows.get(name)
        if row is not None and row.status != "pass":
            raise NotRunError(f"check {name} did not pass, so that no task can be made")
    if not bench.pack.templates:
        return
    try:
        samples = bench.samples
    except PackError as error:
        yield from _refused(error)
        return
    for template, made in samples:
        if isinstance(made, PackError):
            yield from _refused(made, template_id=template.template_id)
        elif isinstance(made, OracleError):
            reason, facts = "representative_generation_failed", {"template_id": template.template_id}
            message = f"the task of `{template.template_id}` can't be made: {made.message}"
            yield _unanswered(
                placed(bench.pack, "templates", (template.index,), reason, message, facts=facts), made
            )
        elif made.drop is not None:
            yield _dropped(bench, template, made, made.drop)


def _refused(error: PackError, **facts: Any) -> Iterator[Failure]:
    """A failure for each problem that would stop a build."""
    for problem in error.problems:
        if problem.severity == "error":
            yield Failure(
                reason="run_contract_failed",
                message=problem.message,
                file=problem.file,
                line=problem.line,
                column=problem.column,
                path=problem.path,
                mend=problem.mend,
                facts={**facts, "code": problem.code},
            )


def _dropped(bench: Bench, template: Template, made: Made, drop: Drop) -> Failure:
    reason = _REASON_OF.get(drop.reason, "representative_generation_failed")
    facts: dict[str, Any] = {"template_id": template.template_id, "task_id": made.task.task_id}
    if reason in _WHICH:
        facts[_WHICH[reason]] = drop.reason
    if drop.failures:
        facts["particulars"] = list(drop.failures)
    if drop.reason == "nondeterministic_replay":
        facts["suspects"] = suspects(bench, of_assertions=drop.failures[0]["what"] == "assertions")
    failure = placed(
        bench.pack,
        "templates",
        (template.index,),
        reason,
        f"the task of `{template.template_id}`: {drop.detail}",
        mend=DROPPED[drop.reason].mend,
        facts=facts,
    )
    return failure if made.error is None else _unanswered(failure, made.error)


def _unanswered(failure: Failure, error: OracleError) -> Failure:
    """The failure, with what is known of why there was no answer; its place is where the pack's code raised."""
    known = oracle_failure(failure.reason, error, failure)
    return msgspec.structs.replace(known, message=failure.message, mend=failure.mend)


def vacuous_assertions(bench: Bench) -> Iterator[Problem]:
    """A warning for every assertion that passes whatever is done to its evidence."""
    exports = bench.inspection.assertions["exports"] if bench.kill_table else {}
    for name, kills in bench.kill_table.items():
        if kills.is_vacuous:
            total = sum(of for _, of in kills.by_kind.values())
            yield Problem(
                code="vacuous_assertion",
                message=f"`{name}` passes all of {total} mutants of the tasks that name it",
                file=bench.pack.files["assertions"],
                line=exports.get(name, {}).get("line"),
                mend=WARNINGS["vacuous_assertion"].mend,
                severity="warning",
            )


CHECK = Check(id="7", name="representative_generation_contract", reasons=REASONS, run=run)
