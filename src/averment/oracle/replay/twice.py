"""Replaying a task twice, in two worlds: what reproduces and passes is gold (contract, 6.9).

Both attempts have the same `ctx` to the byte; the second runs in the shifted world. They are compared in canonical form,
results first, then states, then what the assertions said, word for word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from averment.oracle.catalog.divergence import first_difference
from averment.oracle.findings import Reason
from averment.oracle.oracles import Oracle, OracleError
from averment.oracle.replay.attempt import Attempt, Play, Script, attempt, judged, performed
from averment.oracle.worker.assertions import AssertionRunner, Jury

__all__ = ["REASONS", "Replay", "replay"]

REASONS = {
    "executable_replay_failed": Reason(
        "A call or an assertion gave no answer when the task was replayed.",
        "Mend what raised; refusals are returned, not raised.",
    ),
    "nondeterministic_replay": Reason(
        "The second replay, in another world, came to something else.",
        "Take time and chance from `ctx` only, and put what has no order in one.",
    ),
    "assertion_failed": Reason(
        "An assertion failed on the task's own gold calls.", "Correct the assertion, the calls or the oracle."
    ),
    "assertion_not_applicable_on_gold": Reason(
        "An assertion said that it does not apply to the task that names it.",
        "Name it only in templates in which it applies.",
    ),
}


class Replay(msgspec.Struct, frozen=True, kw_only=True):
    """What two attempts came to.

    Attributes:
        reason: why the task is not gold, one of `REASONS`; None where it is.
        detail: the reason in words.
        diverged: which part, `results`, `state` or `assertions`, and at which path, where the attempts differ.
        attempt: the first attempt; None where it gave no answer.
        others: the further ways to play it, judged, None for one that the oracle gives no answer to; none of them
            where the task is not gold, or an assertion gives no answer to one of them.
        error: why there was no answer.
    """

    reason: str | None = None
    detail: str = ""
    diverged: tuple[str, str] | None = None
    attempt: Attempt | None = None
    others: tuple[Attempt | None, ...] = ()
    error: OracleError | None = None


def replay(oracle: Oracle, runner: AssertionRunner, script: Script, others: Sequence[Play] = ()) -> Replay:
    """Replay a task twice.

    Args:
        oracle: what answers.
        runner: the pack's assertions.
        script: the task.
        others: further ways to play it, after the first attempt, and judged after it by its jury.
    """
    try:
        episodes = performed(oracle, script.context, [script.play, *others])
        first = next(episodes)
        if isinstance(first, OracleError):
            raise first
        played = [None if isinstance(each, OracleError) else each for each in episodes]
        if script.assertions:
            with runner.jury(script.context, "plain") as jury:
                first = judged(first, script, jury)
                played = _others_judged(played, script, jury)
        second = attempt(oracle, runner, script, "shifted")
    except OracleError as error:
        return Replay(reason="executable_replay_failed", detail=error.message, error=error)
    for part, one, other in (
        ("results", list(first.results), list(second.results)),
        ("state", first.state, second.state),
        ("assertions", _said(first.verdicts), _said(second.verdicts)),
    ):
        path = first_difference(one, other)
        if path is not None:
            detail = f"{part} diverged at {path}"
            return Replay(
                reason="nondeterministic_replay", detail=detail, diverged=(part, path), attempt=first
            )
    return _judged(first, played)


def _others_judged(played: Sequence[Attempt | None], script: Script, jury: Jury) -> list[Attempt | None]:
    try:
        return [each and judged(each, script, jury) for each in played]
    except OracleError:  # which says nothing of gold
        return []


def _said(verdicts: Sequence[dict[str, Any]]) -> list[Any]:
    return [{key: verdict[key] for key in ("name", "status", "detail")} for verdict in verdicts]


def _judged(first: Attempt, others: Sequence[Attempt | None]) -> Replay:
    wrong = [verdict for verdict in first.verdicts if verdict["status"] != "passed"]
    if not wrong:
        return Replay(attempt=first, others=tuple(others))
    failed = [verdict for verdict in wrong if verdict["status"] != "not_applicable"]
    reason = "assertion_failed" if failed else "assertion_not_applicable_on_gold"
    detail = "; ".join(f"{verdict['name']}: {verdict['detail']}" for verdict in failed or wrong)
    return Replay(reason=reason, detail=detail, attempt=first)
