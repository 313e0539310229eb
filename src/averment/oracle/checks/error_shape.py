"""Check D2: errors have one shape, `{"error": {"code": "..."}}`, whenever they are asked for again.

Every probe that gave a structured error is looked at in both of its episodes, with the whole chain before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from averment.oracle.checks.base import Check
from averment.oracle.checks.observations import Step, outcome
from averment.oracle.checks.places import case_failure, raised
from averment.oracle.findings import Failure, Reason
from averment.text.jsonvalue import ABSENT, show

if TYPE_CHECKING:
    from averment.oracle.checks.bench import Bench

__all__ = ["CHECK"]

REASONS = {
    "missing_error_object": Reason(
        "A call that gave an error before gave none when it was repeated.",
        "Refuse for the same reasons every time.",
    ),
    "error_without_code": Reason(
        "An error has no code, or one that is no text.", "Give every error a `code`, a non-empty string."
    ),
    "raised": Reason(
        "A call that gave an error before gave no answer when it was repeated.",
        "Return errors, never raise them.",
    ),
}


def run(bench: Bench) -> Iterator[Failure]:
    """The failures, in the order of the probes."""
    confirmation = bench.pack.manifest.confirmation
    for plain, shifted in bench.observations.steps():
        if plain.answered and outcome(plain.result, confirmation) == "structured_error":
            failures = [failure for step in (plain, shifted) for failure in _judge(bench, step)]
            yield from failures[:1]


def _judge(bench: Bench, step: Step) -> Iterator[Failure]:
    pack, case = bench.pack, step.case
    if step.error is not None:
        yield raised(pack, case, step.error)
    if not step.answered:
        return
    error = step.result.get("error") if isinstance(step.result, dict) else None
    if not isinstance(error, dict):
        yield case_failure(pack, case, "missing_error_object", "gave no error when it was repeated")
        return
    code = error.get("code", ABSENT)
    if not isinstance(code, str) or not code.strip():
        message = f"expected the error's `code` to be a non-empty string, found {show(code)}"
        yield case_failure(pack, case, "error_without_code", message)


CHECK = Check(id="D2", name="error_shape", reasons=REASONS, run=run)
