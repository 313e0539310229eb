"""The kind `human_rubric`: a question for a person, kept apart from what is decided."""

from __future__ import annotations

from typing import ClassVar

from averment.assertions.rubric import RubricAssertion

__all__ = ["HumanRubric"]


class HumanRubric(RubricAssertion, frozen=True, kw_only=True, tag="human_rubric"):
    """A question that a person is to answer.

    A document may hold it beside the assertions, and no judgement ever becomes a verdict: it is always INCONCLUSIVE, so
    it gates as any open question does (give it `severity: note` if it should not). Its fields are carried, not read.

    PASS: never.
    FAIL: never.
    INCONCLUSIVE: always.
    """

    example: ClassVar[str] = """\
version: 1
assertions:
  - id: tone-is-kind
    kind: human_rubric
    criterion: The agent stays kind when the caller is upset.
    evidence: [transcript]
    severity: note
"""
