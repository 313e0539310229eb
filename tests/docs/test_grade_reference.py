"""The generated page of gates and metrics, checked against the code: every code is there."""

from __future__ import annotations

import re
import runpy
from collections.abc import Iterable
from pathlib import Path

import pytest

from averment.oracle.grade import compare, gates, metrics
from averment.oracle.grade.policy import Policy

_ROOT = Path(__file__).parents[2]
_BUILD = runpy.run_path(str(_ROOT / "docs" / "grade_reference.py"))
_PAGE: str = _BUILD["pages"]()["grades.md"]


def _rows(heading: str) -> list[str]:
    """The first cells of the table below a heading."""
    section = _PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)


@pytest.mark.parametrize(
    ("heading", "names"),
    [
        ("Gates", gates.ABOUT),
        ("Reasons of gates", gates.WHY),
        ("Reasons of comparisons", compare.REASONS),
        ("Metrics", metrics.METRICS),
        ("Metrics without a value", [f"metric.{name}" for name in metrics.REASONS]),
        ("How runs are compared", Policy.__struct_fields__),
        ("Runs that can't be graded", _BUILD["REFUSALS"]),
    ],
)
def test_every_table_is_on_the_page(heading: str, names: Iterable[str]) -> None:
    """A section for each table, with a row for each of its names and for no other."""
    assert sorted(_rows(heading)) == sorted(names)


def test_every_gate_is_told_of() -> None:
    """One sentence each, on one side each."""
    assert set(gates.ABOUT) == {*gates.OUTCOME, *gates.PATH, *gates.RUN}
    assert len(gates.ABOUT) == len(gates.OUTCOME) + len(gates.PATH) + len(gates.RUN)


def test_every_refusal_of_grading_is_on_the_page() -> None:
    """What grading says on its own, without a table, is found in its source."""
    pattern = re.compile(r'(?:\bcode=|_problem\(\s*|_RowError\(\s*)"(\w+)"')
    files = (_ROOT / "src" / "averment" / "oracle" / "grade").glob("*.py")
    found = {code for file in files for code in pattern.findall(file.read_text(encoding="utf-8"))}
    assert found == set(_BUILD["REFUSALS"])


def test_every_reason_of_a_metric_without_a_value_is_given() -> None:
    """And no other."""
    given = {reason for each in metrics.METRICS.values() for reason in (each.nothing, each.unknown)}
    assert given | {"all_assertions_not_applicable"} == set(metrics.REASONS)
