"""Trying an assertion's `examples`: the proof that it can pass, and that it can fail."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import UNSET

from averment.assertions.base import Assertion, Status
from averment.documents import Document
from averment.engine.plan import Plan, compile_plan
from averment.engine.run import judge_alone, run_plan
from averment.errors import EvidenceError, Problem
from averment.evidence import Evidence
from averment.text.pii import redact
from averment.text.structs import Mistake

__all__ = ["try_examples"]


def try_examples(document: Document) -> list[Problem]:
    """What is wrong with the examples of a document: those that can't be read, or get another verdict.

    An assertion is tried by itself: its `when` and `applies_if` are about other conversations than its examples. One
    that reads other results is tried with all of the document.
    """
    plan = compile_plan(document)
    return [
        problem
        for index, assertion in enumerate(document.assertions)
        if assertion.examples is not UNSET and assertion.decides
        for problem in _try(document, plan, index, assertion)
    ]


def _try(document: Document, plan: Plan, index: int, assertion: Assertion) -> Iterator[Problem]:
    if assertion.examples is UNSET:
        return
    for name, expected, examples in (
        ("pass", Status.PASS, assertion.examples.passing),
        ("fail", Status.FAIL, assertion.examples.failing),
    ):
        for number, example in enumerate(examples):
            path = ("examples", name, number)
            try:
                evidence = Evidence.from_record(_record(example, assertion))
            except EvidenceError as error:
                for problem in error.problems:
                    within = (problem.path or "$")[1:]
                    message = (
                        f"the example can't be read{f' at {within}' if within else ''}: {problem.message}"
                    )
                    mistake = Mistake(
                        "example_unreadable", message, path, expected=problem.expected, found=problem.found
                    )
                    yield document.problem(index, mistake)
                continue
            reads_others = any(True for _ in assertion.references())
            result = (
                run_plan(plan, evidence).results[index]
                if reads_others
                else judge_alone(plan, index, evidence)
            )
            if result.status is not expected:
                found = f"{result.status}: {redact(result.reason)}" if result.reason else result.status.value
                message = f"`{assertion.id}` must {expected} on this example, and is {result.status}"
                mend = "Mend the assertion, or the example."
                yield document.problem(
                    index, Mistake("example_contradicts", message, path, found=found, mend=mend)
                )


def _record(example: str | dict[str, Any], assertion: Assertion) -> dict[str, Any]:
    """The conversation that an example is: a text is one turn, said by whom the assertion listens to."""
    if isinstance(example, dict):
        return example
    role = getattr(assertion, "role", None) or "agent"
    return {"transcript": [{"role": role, "text": example}]}
