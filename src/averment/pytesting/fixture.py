"""The fixture `averment`: what a test did, judged by an assertion document, and explained where it does not hold."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from averment.assertions.base import Status
from averment.assertions.codes import Code
from averment.documents import Document
from averment.engine import Envelope, Result, run
from averment.errors import AvermentError, Problem, UsageError, nearest
from averment.evidence import Evidence
from averment.policies import POLICY
from averment.pytesting.outcomes import near, safe
from averment.report.terminal import card

__all__ = ["Averment", "Verdicts"]


class Averment:
    """Judges evidence by assertion documents; a test asks for it by the name `averment`.

    Example:
        >>> def test_a_refund_is_issued(averment: Averment) -> None:
        ...     verdicts = averment.run("refunds.yaml", transcript=said, trace=done)
        ...     verdicts.assert_passes("refund-issued")
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __repr__(self) -> str:
        return f"<averment for tests in {safe(self._folder.name)}>"

    def run(
        self,
        document: str | os.PathLike[str] | Document | Mapping[str, Any],
        evidence: str | os.PathLike[str] | Evidence | Mapping[str, Any] | None = None,
        *,
        transcript: Any = None,
        trace: Any = None,
        spans: Any = None,
        timing: Any = None,
        state: Any = None,
        metadata: Mapping[str, Any] | None = None,
        labels: Mapping[str, Any] | None = None,
        conversation_id: str | None = None,
    ) -> Verdicts:
        """Judges one conversation.

        Args:
            document: what must hold: a path relative to the test's folder, `policy:NAME` for a bundled one, a
                `Document`, or a mapping of plain values.
            evidence: what was recorded: a path relative to the test's folder, an `Evidence`, or a conversation record;
                or leave it out and give parts.
            transcript: turns, as for `Evidence`. None is absent, an empty list is a part in which nothing happened.
            trace: spans, tool calls among them, as for `Evidence`.
            spans: the same as `trace`, which records call so.
            timing: timing events.
            state: records of the systems of record.
            metadata: facts about the conversation.
            labels: labels of the conversation.
            conversation_id: its id.

        Raises:
            AvermentError: the document or the evidence has mistakes, all of which are told; or there is no evidence.
        """
        __tracebackhide__ = True
        parts = {
            "transcript": transcript,
            "trace": trace,
            "spans": spans,
            "timing": timing,
            "state": state,
            "metadata": metadata,
            "labels": labels,
            "conversation_id": conversation_id,
        }
        given = {name: part for name, part in parts.items() if part is not None}
        try:
            checked = self._document(document)
            recorded = self._evidence(evidence, given)
        except AvermentError as error:
            # The mistake is the test's: where it was noticed is of no use.
            raise error.with_traceback(None) from None
        return Verdicts(checked, recorded, run(checked, recorded))

    def _document(self, given: object) -> Document:
        if isinstance(given, Document):
            return given
        if isinstance(given, Mapping):
            return Document.of(given)
        if isinstance(given, (str, os.PathLike)):
            return Document.load(self._path(given))
        raise UsageError(
            Problem(
                code="wrong_type",
                message="this is no document",
                expected="a path, an averment.Document or a mapping",
                found=type(given).__name__,
            )
        )

    def _evidence(self, given: object, parts: dict[str, Any]) -> Evidence:
        if given is None:
            return _of_parts(parts)
        if parts:
            raise UsageError(
                Problem(
                    code="ambiguous_parts",
                    message=f"evidence is given as a whole and in parts ({', '.join(parts)})",
                    expected="one or the other",
                    mend="Load the whole as `Evidence`, and join what else there is with `merged`.",
                )
            )
        if isinstance(given, Evidence):
            return given
        if isinstance(given, Mapping):
            return Evidence.from_record(given)
        if isinstance(given, (str, os.PathLike)):
            return Evidence.load(self._path(given))
        raise UsageError(
            Problem(
                code="wrong_type",
                message="this is no evidence",
                expected="a path, an averment.Evidence or a conversation record",
                found=type(given).__name__,
            )
        )

    def _path(self, given: str | os.PathLike[str]) -> str:
        path = os.fspath(given)
        return path if path.startswith(POLICY) else near(self._folder / path)


class Verdicts:
    """The verdicts on one conversation.

    Attributes:
        document: what must hold.
        evidence: what was recorded.
        envelope: all results.
    """

    def __init__(self, document: Document, evidence: Evidence, envelope: Envelope) -> None:
        self.document = document
        self.evidence = evidence
        self.envelope = envelope
        self._indexes = {result.id: index for index, result in enumerate(envelope.results)}

    def __getitem__(self, id_: str) -> Result:
        """The result of the assertion with that id.

        Raises:
            UsageError: there is none.
        """
        __tracebackhide__ = True
        return self.envelope.results[self._index(id_)]

    def __iter__(self) -> Iterator[Result]:
        """The results, in the order of the document."""
        return iter(self.envelope.results)

    def __len__(self) -> int:
        """How many there are."""
        return len(self.envelope.results)

    def __repr__(self) -> str:
        told = [safe(f"{_short(result.id)} {result.status.value}") for result in self]
        more = f" and {len(told) - _MOST_NAMED} more" if len(told) > _MOST_NAMED else ""
        return f"<Verdicts: {', '.join(told[:_MOST_NAMED])}{more}>"

    def assert_passes(self, *ids: str) -> None:
        """Asserts that these assertions are PASS, which INCONCLUSIVE is not.

        Args:
            ids: the assertions; when none is named, all that gate: those of severity error that are applicable.

        Raises:
            AssertionError: with what the evidence shows; also when none is named and none gates, for then nothing
                would be asserted.
            UsageError: there is no such assertion.
        """
        __tracebackhide__ = True
        if ids:
            self._assert(ids, Status.PASS, None)
            return
        gating = [result.id for result in self if result.severity == "error" and result.is_applicable]
        if not gating:
            raise AssertionError(
                safe(
                    "nothing is asserted: no assertion is both applicable and of severity error\n\n"
                    + self._cards(range(len(self)))
                )
            )
        self._assert(gating, Status.PASS, None)

    def assert_fails(self, id_: str, *ids: str, code: str | None = None) -> None:
        """Asserts that these assertions are FAIL, which INCONCLUSIVE is not.

        Args:
            id_: the assertion.
            ids: further ones.
            code: the code that their results must have.

        Raises:
            AssertionError: with what the evidence shows.
            UsageError: there is no such assertion, or no such code.
        """
        __tracebackhide__ = True
        self._assert((id_, *ids), Status.FAIL, code)

    def assert_inconclusive(self, id_: str, *ids: str, code: str | None = None) -> None:
        """Asserts that these assertions are INCONCLUSIVE; arguments and errors as for `assert_fails`."""
        __tracebackhide__ = True
        self._assert((id_, *ids), Status.INCONCLUSIVE, code)

    def _assert(self, ids: tuple[str, ...] | list[str], status: Status, code: str | None) -> None:
        __tracebackhide__ = True
        if code is not None:
            _refuse_unknown_code(code)
        other = []
        for id_ in dict.fromkeys(
            ids
        ):  # no comprehension: on Python 3.11 it has a frame of its own, and is shown
            index = self._index(id_)
            if not self._is(index, status, code):
                other.append(index)
        if not other:
            return
        first = self.envelope.results[other[0]]
        more = f" (and {len(other) - 1} more)" if len(other) > 1 else ""
        expected = status.value if code is None else f"{status.value} [{code}]"
        found = first.status.value if first.code is None else f"{first.status.value} [{first.code}]"
        why = f": {first.public_reason}" if first.public_reason else ""
        raise AssertionError(
            safe(f"{first.id} is {found}, not {expected}{why}{more}\n\n{self._cards(other)}")
        )

    def _is(self, index: int, status: Status, code: str | None) -> bool:
        result = self.envelope.results[index]
        return result.status is status and (code is None or result.code == code)

    def _cards(self, indexes: list[int] | range) -> str:
        return "\n\n".join(
            card(self.envelope, self.document, self.evidence.model, index) for index in indexes
        )

    def _index(self, id_: str) -> int:
        __tracebackhide__ = True
        if id_ in self._indexes:
            return self._indexes[id_]
        known = [_short(each) for each in [*self._indexes][:_MOST_NAMED]]
        more = f" and {len(self) - _MOST_NAMED} more" if len(self) > _MOST_NAMED else ""
        near_by = nearest(str(id_)[:_MOST_LETTERS], self._indexes)
        raise UsageError(
            Problem(
                code="unknown_reference",
                message=f"there is no assertion `{_short(id_)}`",
                expected=f"one of {', '.join(known)}{more}",
                nearest=None if near_by is None else _short(near_by),
            )
        )


def _short(id_: object) -> str:
    text = str(id_)
    return text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}..."


_MOST_NAMED = 20
_MOST_LETTERS = 200


def _of_parts(parts: dict[str, Any]) -> Evidence:
    if not parts:
        raise UsageError(
            Problem(
                code="nothing_to_evaluate",
                message="there is no evidence to judge",
                expected="a path, an Evidence, or parts such as transcript and trace",
                mend="For a part in which nothing happened give an empty list; None is one that was not recorded.",
            )
        )
    spans = parts.pop("spans", None)
    if spans is not None and "trace" in parts:
        message = "`trace` and `spans` are the same, and both are given"
        raise UsageError(Problem(code="given_twice", message=message, mend="Leave out one of them."))
    return Evidence(**parts) if spans is None else Evidence(**parts, trace=spans)


def _refuse_unknown_code(code: str) -> None:
    __tracebackhide__ = True
    known = [str(each.value) for each in Code]
    if code not in known:
        raise UsageError(
            Problem(
                code="not_allowed",
                message=f"there is no code `{code}`",
                expected="a code that a result can have",
                nearest=nearest(code, known),
            )
        )
