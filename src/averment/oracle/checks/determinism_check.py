"""Check D1: the same calls give the same results and the same state in another world.

Every chain of probes is run twice, in processes of its own. `ctx` is the same to the byte; everything around it is not:
hash seed, time zone, locale, working folder, wall clock and the source of randomness all differ. So a backend that reads
the world is caught whenever what it reads shows, not only when it happens to change between two runs. Results and
states are compared in canonical form; a difference is told once for each chain, at the first path where it shows, with
what the pack's code was seen reading.

The world of an endpoint is the service's own, and the same in both runs: of such a pack only what changes between two
sessions is caught.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from averment.oracle.catalog.divergence import first_difference
from averment.oracle.checks.base import Check
from averment.oracle.checks.observations import Chain, Step, outcome
from averment.oracle.checks.places import case_failure, raised, tool_failure
from averment.oracle.findings import Failure, Reason

if TYPE_CHECKING:
    from averment.oracle.checks.bench import Bench

__all__ = ["CHECK", "suspects"]

REASONS = {
    "no_success_case_to_repeat": Reason(
        "A tool has no successful probe, so nothing of it was repeated.",
        "Write a probe in which it succeeds.",
    ),
    "nondeterministic": Reason(
        "The same calls gave another result, or left another state, when they were repeated.",
        "Take time and chance from `ctx` only, and put what has no order in one: sort sets before they show.",
    ),
    "raised": Reason("A call gave an answer once and none when it was repeated.", "Mend what raised."),
}
_SUSPICIOUS_TEXT = (
    "reads_clock",
    "unseeded_random",
    "reads_environment",
    "hash_order",
    "native_code",
    "starts_thread",
)
_SUSPICIOUS = ("clock", "entropy", "environment", "read", "native", "thread")


def run(bench: Bench) -> Iterator[Failure]:
    """The failures, in the order of the tools, then of the chains."""
    pack = bench.pack
    observations = bench.observations
    succeeded = {
        step.case.tool
        for step, _ in observations.steps()
        if step.answered and outcome(step.result, pack.manifest.confirmation) == "success"
    }
    for tool in pack.tools:
        if tool.name not in succeeded:
            message = f"`{tool.name}` has no successful probe, and so nothing that could be repeated"
            yield tool_failure(pack, tool, "no_success_case_to_repeat", message)
    for chain in observations.chains:
        yield from _compare(bench, chain)


def _compare(bench: Bench, chain: Chain) -> Iterator[Failure]:
    """The first difference of a chain's two episodes."""
    for plain, shifted in zip(chain.plain, chain.shifted, strict=True):
        if (plain.error is None) != (shifted.error is None):
            error = plain.error or shifted.error
            assert error is not None  # noqa: S101 - one of the two is
            yield raised(bench.pack, plain.case, error, repeated=True)
            return
        if not plain.answered:
            return
        difference = _difference(plain, shifted)
        if difference is not None:
            what, path = difference
            yield case_failure(
                bench.pack,
                plain.case,
                "nondeterministic",
                f"the {what} of `{plain.case.tool}` differs at {path} when the calls are repeated",
                what=what,
                differs_at=path,
                suspects=suspects(bench),
            )
            return


def _difference(plain: Step, shifted: Step) -> tuple[str, str] | None:
    pairs = (
        ("state before the call", plain.before, shifted.before),
        ("result", plain.result, shifted.result),
        ("state", plain.after, shifted.after),
    )
    for what, one, other in pairs:
        path = first_difference(one, other)
        if path is not None:
            return what, path
    return None


def suspects(bench: Bench, *, of_assertions: bool = False) -> list[str]:
    """What reads the world, as it was seen running or stands in the text: `backend.py:12: datetime.now`.

    The file of assertions has no part in what the oracle answers, and the other files none in what assertions say.
    """
    assertions = bench.pack.files["assertions"]
    seen = {
        (attempt.file, attempt.line): attempt.what
        for attempt in sorted(bench.workers.attempts, reverse=True)
        if attempt.kind in _SUSPICIOUS and (attempt.file == assertions) == of_assertions
    }
    read = {
        (file, finding["line"]): finding["name"]
        for file, findings in bench.inspection.scan.items()
        for finding in findings
        if finding["code"] in _SUSPICIOUS_TEXT and (file == assertions) == of_assertions
    }
    return [f"{file}:{line}: {what}" for (file, line), what in sorted({**read, **seen}.items())]


CHECK = Check(id="D1", name="determinism_check", reasons=REASONS, run=run)
