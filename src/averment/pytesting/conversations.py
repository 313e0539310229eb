"""Conversations as their tests share them: judged once, by the whole document, when the first test asks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from averment.assertions.base import Status
from averment.documents import Document
from averment.engine import Envelope, Result
from averment.errors import AvermentError, Problem
from averment.evidence import Evidence
from averment.report.terminal import card

__all__ = ["Conversation", "Verdict"]


class Verdict(NamedTuple):
    """What was decided on one assertion, and why.

    Attributes:
        result: the result.
        policy: what INCONCLUSIVE does: report, fail or refuse.
        explanation: for people, with the evidence that shows it; empty where nobody asks.
    """

    result: Result
    policy: str
    explanation: str


class Conversation:
    """One conversation and what is asserted of it.

    Args:
        document: what is asserted.
        name: how people know the conversation.
        judge: judges it; asked once, whether it gives verdicts or refuses, and then let go with all that it holds.
    """

    def __init__(self, document: Document, name: str, judge: Callable[[], tuple[Envelope, Evidence]]) -> None:
        self.document = document
        self.name = name
        self._judge: Callable[[], tuple[Envelope, Evidence]] | None = judge
        self._verdicts: Sequence[Verdict] = ()
        self._problems: Sequence[Problem] = ()

    def verdict(self, index: int) -> Verdict:
        """The verdict on the assertion of that index.

        Raises:
            AvermentError: the conversation can't be judged.
        """
        if self._judge is not None:
            try:
                self._verdicts = self._explained(*self._judge())
            except AvermentError as error:
                self._problems = error.problems
            self._judge = None
        if self._problems:
            raise AvermentError(self._problems)
        return self._verdicts[index]

    def _explained(self, envelope: Envelope, evidence: Evidence) -> list[Verdict]:
        head = f"{self.document.display_name} over {self.name}\n\n"
        return [
            Verdict(
                result,
                envelope.inconclusive_policy,
                ""
                if result.status is Status.PASS or not result.is_applicable
                else head + card(envelope, self.document, evidence.model, index),
            )
            for index, result in enumerate(envelope.results)
        ]
