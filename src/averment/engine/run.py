"""A plan over one conversation: findings, and the one place where they become results.

Whatever stems from evidence passes through here on its way out, so here it is redacted.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from averment.assertions.base import Finding, Gap, Status, inconclusive
from averment.assertions.codes import Code
from averment.assertions.gaps import absent_finding, weighed
from averment.documents import Document, InconclusivePolicy
from averment.engine.envelope import Envelope, Result
from averment.engine.plan import Entry, Plan, compile_plan
from averment.errors import Problem, UsageError
from averment.evidence import Evidence
from averment.evidence.view import View
from averment.text.pii import Clean, redact

__all__ = ["judge_alone", "run", "run_plan", "unproduced"]

_MAX_PUBLIC = 240
_IDENTIFYING = 10**8
"""Numbers below have too few digits to be anybody's."""
_MAX_REASON = 2000


def run(
    document: Document, evidence: Evidence, *, inconclusive_policy: InconclusivePolicy | None = None
) -> Envelope:
    """Judges one conversation.

    Args:
        document: what must hold.
        evidence: what was recorded.
        inconclusive_policy: report, fail or refuse; the document's own, or report, when not given.

    Raises:
        UsageError: there is no such policy.
    """
    _must_be(document, Document, "a document", "Document.load, Document.parse or Document.of")
    return run_plan(compile_plan(document), evidence, inconclusive_policy=inconclusive_policy)


def run_plan(
    plan: Plan, evidence: Evidence, *, inconclusive_policy: InconclusivePolicy | None = None
) -> Envelope:
    """Judges one conversation by a plan that is already compiled; see `run`."""
    _must_be(evidence, Evidence, "the evidence", "Evidence(...), Evidence.load or Evidence.from_record")
    if inconclusive_policy not in {None, "report", "fail", "refuse"}:
        raise UsageError(
            Problem(
                code="not_allowed",
                message="there is no such inconclusive policy",
                expected="one of report, fail, refuse",
                found=repr(inconclusive_policy),
            )
        )
    view = View(evidence.model, plan.pattern_set, plan.patterns, plan.roles)
    findings: dict[str, Finding] = {}
    for index in plan.order:
        entry = plan.entries[index]
        findings[entry.id] = _decide(entry, view, findings)
    results = [_result(entry, findings[entry.id], view) for entry in plan.entries]
    wants_transcript = any("redacted_transcript" in result.details for result in results)
    return Envelope(
        inconclusive_policy=inconclusive_policy or plan.document.inconclusive_policy or "report",
        document_name=plan.document.name,
        document_sha256=plan.document.sha256,
        evidence_sha256=evidence.sha256,
        results=results,
        redacted_transcript=view.redacted_transcript if wants_transcript else None,
    )


def unproduced(plan: Plan, why: str, *, inconclusive_policy: InconclusivePolicy | None = None) -> Envelope:
    """The envelope of a conversation that was to be produced and was not: every assertion is INCONCLUSIVE.

    Args:
        plan: what would have been judged.
        why: what became of the command, in a sentence without a full stop.
        inconclusive_policy: as for `run`.
    """
    evidence = Evidence()
    view = View(evidence.model, plan.pattern_set, plan.patterns, plan.roles)
    finding = inconclusive(Code.NOT_PRODUCED, lambda: why, "the conversation was not produced")
    return Envelope(
        inconclusive_policy=inconclusive_policy or plan.document.inconclusive_policy or "report",
        document_name=plan.document.name,
        document_sha256=plan.document.sha256,
        evidence_sha256=evidence.sha256,
        results=[_result(entry, finding, view) for entry in plan.entries],
    )


def _must_be(value: object, expected: type, what: str, makers: str) -> None:
    """Tells a caller without types what to pass; a mistake in a call is no defect of averment."""
    if not isinstance(value, expected):
        raise UsageError(
            Problem(
                code="wrong_type",
                message=f"{what} has the wrong type",
                expected=f"averment.{expected.__name__}",
                found=type(value).__name__,
                mend=f"Make it with {makers}.",
            )
        )


def judge_alone(plan: Plan, index: int, evidence: Evidence) -> Result:
    """One assertion's result on a conversation, its `when` and `applies_if` left out of account."""
    view = View(evidence.model, plan.pattern_set, plan.patterns, plan.roles)
    entry = plan.entries[index]
    return _result(entry, _judge(entry, view, {}), view)


def _decide(entry: Entry, view: View, earlier: Mapping[str, Finding]) -> Finding:
    if entry.applies is not None and (finding := entry.applies(view)) is not None:
        return finding
    if entry.premises:
        unmet = {
            name: earlier[name].status for name in entry.premises if earlier[name].status is not Status.PASS
        }
        if unmet:
            return _skipped(unmet)
    return _judge(entry, view, earlier)


def _skipped(unmet: Mapping[str, Status]) -> Finding:
    return inconclusive(
        Code.SKIPPED,
        lambda: (
            f"not checked, because of {', '.join(f'{name} ({status})' for name, status in unmet.items())}"
        ),
        "the assertion's precondition did not pass, so it was not checked",
        details={"skipped": True},
    )


def _judge(entry: Entry, view: View, earlier: Mapping[str, Finding]) -> Finding:
    for channel in entry.needs:
        if view.is_missing(channel):
            return absent_finding(view, channel)
    try:
        return weighed(
            view,
            entry.check(view, earlier),
            asks_role=entry.asks_role,
            tools=entry.tools,
            reads_bodies=entry.reads_bodies,
        )
    except Exception as error:  # noqa: BLE001 - a defect of ours is no verdict: it is told, and the run exits 3
        name = type(error).__name__
        return inconclusive(
            Code.INTERNAL_ERROR,
            lambda: f"the check failed with {name}; this is a defect of averment, please report it",
            "the check failed with an internal error",
        )


def _result(entry: Entry, finding: Finding, view: View) -> Result:
    tool_calls: list[str] = []
    span_ids: list[str] = []
    if finding.calls or finding.spans:
        indexes = {call.position for call in finding.calls if call.position is not None} | {*finding.spans}
        tool_calls = list(dict.fromkeys(redact(call.id) for call in finding.calls))
        span_ids = [redact(view.spans[index].id) for index in sorted(indexes)]
    return Result(
        id=entry.id,
        kind=entry.kind,
        status=finding.status,
        common=entry.common,
        at=entry.at,
        details=_redacted(finding.details) if finding.details else {},
        turns=finding.turns,
        tool_calls=tool_calls,
        span_ids=span_ids,
        code=None if finding.code is None else finding.code.value,
        evidence_gap=None if finding.gap is None else _gap(finding.gap, finding.code, view),
        reason=None if finding.reason is None else _bounded(redact(finding.reason()), _MAX_REASON),
        public_reason=None
        if finding.public is None
        else _bounded(redact(" ".join(finding.public.split())), _MAX_PUBLIC),
    )


def _gap(gap: Gap, code: Code | None, view: View) -> dict[str, str]:
    source_format = view.source_format(gap.channel)
    named = {} if source_format is None else {"source_format": source_format}
    of_arguments = code in (Code.ARGUMENTS_NOT_RECORDED, Code.ARGUMENTS_UNREADABLE)
    how = view.how("arguments" if of_arguments else gap.channel) or gap.how
    return {"channel": gap.channel, "state": gap.state, **named, "how": how}


def _redacted(value: Any) -> Any:
    """The value with every text in it redacted, whatever its depth; it must be a JSON value."""
    if isinstance(value, str):
        return redact(value)
    if value is None or isinstance(value, bool) or (isinstance(value, int) and abs(value) < _IDENTIFYING):
        return value
    if isinstance(value, Clean):
        return value
    if isinstance(value, dict):
        return {redact(name): _redacted(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_redacted(item) for item in value]
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        written = repr(value)
        return value if redact(written) == written else redact(written)
    raise TypeError(f"a result holds {type(value).__name__}, which is no JSON value")


def _bounded(text: str, limit: int) -> str:
    """The text, cut after redaction: a cut before it could leave half a number that no detector knows."""
    return text if len(text) <= limit else text[: limit - 3] + "..."
