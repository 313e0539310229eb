"""Graded runs, as one JSON object and for a person at a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from averment._version import __version__
from averment.oracle.grade.metrics import Metric
from averment.oracle.grade.report import GradedRun
from averment.oracle.model.pack import Pack
from averment.text.shown import printable

__all__ = ["graded", "render_grades"]

_COLORS = {"passed": "32", "failed": "31;1", "undecided": "33"}
_WORDS = {"passed": "pass", "failed": "FAIL", "undecided": "UNDECIDED", "not_applicable": "n/a"}


def graded(pack: Pack, runs: Sequence[GradedRun], measured: Sequence[Metric]) -> dict[str, Any]:
    """The report: every run with its gates, then the metrics; there is no overall score."""
    return {
        "schema": "averment.pack_grade.v1",
        "engine": {"name": "averment", "version": __version__},
        "pack": {
            "pack_id": pack.manifest.pack_id,
            "version": pack.manifest.version,
            "content_hash": pack.fingerprint,
        },
        "runs": [msgspec.to_builtins(run) for run in runs],
        "metrics": [msgspec.to_builtins(metric) for metric in measured],
    }


def render_grades(
    runs: Sequence[tuple[str, GradedRun]], measured: Sequence[Metric], *, color: bool = False
) -> str:
    """The text, ending in a newline: each run with the gates that it did not pass, then the metrics."""

    def paint(status: str) -> str:
        word = _WORDS[status]
        return f"\x1b[{_COLORS[status]}m{word}\x1b[0m" if color and status in _COLORS else word

    lines: list[str] = []
    for label, run in runs:
        lines.append(f"{printable(label)}: {paint(run.success)}")
        lines.append(f"  task {printable(run.task_id)}")
        path = "" if run.path.decides else ", which does not decide here"
        lines.append(
            f"  outcome {paint(run.outcome.status)} ({run.outcome.mode}), path {paint(run.path.status)}{path}"
        )
        for gate in run.gates:
            if gate.status in ("failed", "undecided"):
                why = f": {printable(gate.detail)}" if gate.detail else ""
                lines.append(f"    {gate.name} {paint(gate.status)} [{gate.why}]{why}")
        lines.append("")
    width = max(len(metric.name) for metric in measured)
    for metric in measured:
        shown = (
            f"{metric.numerator} of {metric.denominator}"
            if metric.value is not None
            else f"none: {metric.reason}"
        )
        more = f"  ({metric.undecided} undecided)" if metric.undecided else ""
        lines.append(f"{metric.name:<{width}}  {shown}{more}")
    return "\n".join(lines) + "\n"
