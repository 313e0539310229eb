"""Conversations as their tests share them: judged once, by the whole document, when the first test asks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from averment.assertions.base import Status
from averment.documents import Document
from averment.engine import Envelope, Result
from averment.errors import AvermentError, Problem
from averment.evidence import Evidence
from averment.report.terminal import card
from averment.text.shown import visible

__all__ = ["Conversations", "Judgement", "Verdict"]

_MOST_SHOWN = 5


class Judgement(NamedTuple):
    """One conversation, judged: the envelope, what was recorded, and how people know it."""

    envelope: Envelope
    evidence: Evidence
    name: str


class Verdict(NamedTuple):
    """What was decided on one assertion, and why.

    Attributes:
        result: the result; over several conversations the worst.
        policy: what INCONCLUSIVE does: report, fail or refuse.
        explanation: for people, with the evidence that shows it; empty where nobody asks.
    """

    result: Result
    policy: str
    explanation: str


class Conversations:
    """What is asserted of one conversation; or of several that only running shows, as commands write what they like.

    Args:
        document: what is asserted.
        name: how people know them.
        judge: judges them. It is asked once, whether it gives verdicts or refuses, and then let go with all it holds.
    """

    def __init__(self, document: Document, name: str, judge: Callable[[], Iterable[Judgement]]) -> None:
        self.document = document
        self.name = visible(name)
        self._judge: Callable[[], Iterable[Judgement]] | None = judge
        self._verdicts: Sequence[Verdict] = ()
        self._problems: Sequence[Problem] = ()

    def verdict(self, index: int) -> Verdict:
        """The verdict on the assertion of that index.

        Raises:
            AvermentError: they can't be judged.
        """
        if self._judge is not None:
            try:
                judged = [*self._judge()]
            except AvermentError as error:
                self._problems = error.problems
            else:
                count = len(self.document.assertions)
                self._problems = () if judged else (_nothing(self.name),)
                self._verdicts = [self._worst(judged, each) for each in range(count)] if judged else ()
            self._judge = None
        if self._problems:
            raise AvermentError(self._problems)
        return self._verdicts[index]

    def _worst(self, judged: Sequence[Judgement], index: int) -> Verdict:
        results = [each.envelope.results[index] for each in judged]
        worst = min(map(_rank, results))
        shown = [each for each, result in zip(judged, results, strict=True) if _rank(result) == worst]
        first = shown[0].envelope
        cards = []
        if worst < _RANKS.index("PASS"):
            cards = [self._card(each, index) for each in shown[:_MOST_SHOWN]]
        if len(shown) > _MOST_SHOWN and cards:
            cards.append(f"... and {len(shown) - _MOST_SHOWN} more conversations")
        return Verdict(first.results[index], first.inconclusive_policy, "\n\n".join(cards))

    def _card(self, judged: Judgement, index: int) -> str:
        told = card(judged.envelope, self.document, judged.evidence.model, index)
        return f"{self.document.display_name} over {visible(judged.name)}\n\n{told}"


def _nothing(name: str) -> Problem:
    return Problem(
        code="no_evidence",
        message="the file holds no conversation",
        file=name,
        expected="one conversation or several",
        mend="Record one, or remove the file.",
    )


_RANKS = ("internal_error", "FAIL", "INCONCLUSIVE", "PASS", "not_applicable")
"""From worst to best; what is not applicable to one conversation takes nothing from a PASS over another."""


def _rank(result: Result) -> int:
    if result.status is Status.INCONCLUSIVE and result.code in _RANKS:
        return _RANKS.index(result.code)
    return _RANKS.index(result.status.value)
