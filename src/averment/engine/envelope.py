"""The envelope: all results of one run, in the shape and bytes of `assert.v1`.

There is no overall score anywhere in it, and the published schema refuses one. Same inputs, same bytes: keys stand
in a fixed order, and nothing that varies between runs or machines is written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from averment._version import __version__
from averment.assertions.base import Status
from averment.documents import Place
from averment.errors import ExitCode
from averment.text.jsontext import pretty_known

__all__ = ["Envelope", "Result"]

_COUNTED = {status.value.lower(): status for status in Status}


class Result(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One assertion's verdict with its grounds; every text in it that stems from evidence is redacted.

    Attributes:
        id: the assertion's id.
        kind: its kind.
        status: the verdict.
        common: how the result begins in the envelope: id, kind, and what the document says of the assertion
            (dimension, severity, tags, owner, description, place).
        at: where the assertion stands in the document, or in a file that it includes, 1-based.
        details: fields of the kind, in their order.
        turns: indexes of the turns it rests on, 0-based as in the transcript.
        tool_calls: ids of the tool calls it rests on.
        span_ids: ids of the spans it rests on, in the source's order.
        code: why it is not PASS.
        evidence_gap: the missing evidence: channel, state, source_format, how.
        reason: prose that may quote evidence, redacted.
        public_reason: prose that never quotes evidence, at most 240 characters.
    """

    id: str
    kind: str
    status: Status
    common: Mapping[str, Any]
    at: Place | None = None
    details: Mapping[str, Any] = {}
    turns: Sequence[int] = ()
    tool_calls: Sequence[str] = ()
    span_ids: Sequence[str] = ()
    code: str | None = None
    evidence_gap: Mapping[str, Any] | None = None
    reason: str | None = None
    public_reason: str | None = None

    @property
    def severity(self) -> str:
        """The assertion's severity; only errors gate."""
        severity: str = self.common.get("severity", "error")
        return severity

    @property
    def is_applicable(self) -> bool:
        """Whether the conversation is one that the assertion is about."""
        return self.code != "not_applicable"

    @property
    def dimension(self) -> str | None:
        """The heading that the document groups it under."""
        return self.common.get("dimension")

    def to_dict(self) -> dict[str, Any]:
        """The result as it stands in the envelope; what has nothing to say is left out."""
        entry = dict(self.common)
        if self.details:
            entry.update(self.details)
        if self.turns:
            entry["turns"] = list(self.turns)
        if self.tool_calls:
            entry["tool_calls"] = list(self.tool_calls)
        if self.span_ids:
            entry["span_ids"] = list(self.span_ids)
        entry["status"] = self.status.value
        if self.code is not None:
            entry["code"] = self.code
        if self.evidence_gap is not None:
            entry["evidence_gap"] = self.evidence_gap
        if self.reason is not None:
            entry["reason"] = self.reason
        if self.public_reason is not None:
            entry["public_reason"] = self.public_reason
        return entry


class Envelope(msgspec.Struct, frozen=True, kw_only=True):
    """All results of one run over one conversation.

    Attributes:
        inconclusive_policy: what INCONCLUSIVE does to the exit code: report, fail or refuse.
        document_name: the document's file name, without folders; None when it was no file.
        document_sha256: the digest of the document with its policies.
        evidence_sha256: the digest of the evidence.
        results: one for every assertion, in document order.
        redacted_transcript: the transcript without personal data, when a pii assertion read it.
    """

    inconclusive_policy: str
    document_name: str | None
    document_sha256: str
    evidence_sha256: str
    results: Sequence[Result]
    redacted_transcript: Sequence[Mapping[str, Any]] | None = None

    @property
    def exit_code(self) -> int:
        """What the run says to a gate (definitions, "Exit codes"); warnings and notes never gate."""
        if any(result.code == "internal_error" for result in self.results):
            return ExitCode.INTERNAL
        gating = self.counts()
        if gating["inconclusive"] and self.inconclusive_policy == "refuse":
            return ExitCode.NO_VERDICT
        if gating["fail"] or (gating["inconclusive"] and self.inconclusive_policy == "fail"):
            return ExitCode.NO
        return ExitCode.YES

    def counts(self, *, errors: bool = True) -> dict[str, int]:
        """PASS, FAIL and INCONCLUSIVE results: of severity error, or else of the lesser severities.

        Results that are not applicable are in neither.
        """
        statuses = [
            result.status
            for result in self.results
            if (result.common.get("severity", "error") == "error") is errors and result.is_applicable
        ]
        return {name: statuses.count(status) for name, status in _COUNTED.items()}

    def to_dict(self, *, compat: bool = False) -> dict[str, Any]:
        """The envelope as plain values, keys in the order of the format.

        Args:
            compat: put the redacted transcript into each pii result, as the contract does, instead of a pointer to
                the one copy.
        """
        gating = self.counts()
        document: dict[str, Any] = {} if self.document_name is None else {"name": self.document_name}
        entry: dict[str, Any] = {
            "schema": "assert.v1",
            "exit_code": int(self.exit_code),
            "inconclusive_policy": self.inconclusive_policy,
            "engine": {"name": "averment", "version": __version__},
            "document": {**document, "sha256": self.document_sha256},
            "evidence_sha256": self.evidence_sha256,
            "results": [result.to_dict() for result in self.results],
        }
        if self.redacted_transcript is not None and compat:
            for result in entry["results"]:
                if "redacted_transcript" in result:
                    result["redacted_transcript"] = list(self.redacted_transcript)
        elif self.redacted_transcript is not None:
            entry["redacted_transcript"] = list(self.redacted_transcript)
        entry["summary"] = {
            "deterministic": gating,
            "not_applicable": sum(not result.is_applicable for result in self.results),
            "warnings": self.counts(errors=False),
            "judge": {"pass": 0, "fail": 0},
            "note": self._note(gating),
        }
        return entry

    def to_json(self, *, compat: bool = False) -> bytes:
        """The envelope's canonical bytes: two-space indent, fixed key order, UTF-8, a final newline."""
        return pretty_known(self.to_dict(compat=compat))

    def _note(self, counts: Mapping[str, int]) -> str:
        return (
            f"inconclusive_policy {self.inconclusive_policy}: {counts['pass']} pass, {counts['fail']} fail, "
            f"{counts['inconclusive']} inconclusive of {sum(counts.values())} deterministic assertions that gate; "
            "0 judge-scored assertions ran."
        )
