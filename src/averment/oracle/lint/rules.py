"""All rules of lint, and the one function that asks them."""

from __future__ import annotations

from averment.errors import Problem
from averment.oracle.lint.calls import RULES as ABOUT_CALLS
from averment.oracle.lint.catalog import RULES as ABOUT_THE_CATALOG
from averment.oracle.lint.inventory import RULES as ABOUT_FIXTURES
from averment.oracle.lint.labels import RULES as ABOUT_LABELS
from averment.oracle.lint.noting import problem_of
from averment.oracle.lint.texts import RULES as ABOUT_TEXTS
from averment.oracle.model.pack import Pack

__all__ = ["lint"]

_RULES = (*ABOUT_TEXTS, *ABOUT_CALLS, *ABOUT_LABELS, *ABOUT_THE_CATALOG, *ABOUT_FIXTURES)


def lint(pack: Pack) -> list[Problem]:
    """The warnings about a pack, in the order of its files' names and of the places in them."""
    problems = [problem_of(pack, found) for rule in _RULES for found in rule(pack)]
    return sorted(problems, key=_place)


def _place(problem: Problem) -> tuple[str, int, int, str, str]:
    return (problem.file or "", problem.line or 0, problem.column or 0, problem.code, problem.message)
