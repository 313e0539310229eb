"""Graded runs, as one JSON object and for a person at a terminal; written run by run, so that none must be kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from averment._version import __version__
from averment.errors import AvermentError, Problem
from averment.oracle.grade.metrics import Metric, Tally
from averment.oracle.grade.policy import Policy
from averment.oracle.grade.report import GradedRun
from averment.oracle.grade.schema import SCHEMA
from averment.oracle.model.options import Options
from averment.oracle.model.pack import Pack
from averment.text.jsontext import pretty
from averment.text.pii import redact
from averment.text.shown import printable

__all__ = ["GradeReport", "render_metrics", "render_run"]

_COLORS = {"passed": "32", "failed": "31;1", "undecided": "33"}
_WORDS = {"passed": "pass", "failed": "FAIL", "undecided": "UNDECIDED", "not_applicable": "n/a"}
_STATUSES = ("passed", "failed", "undecided", "not_applicable")
_SENTENCES = frozenset({"detail", "explanation", "message", "found"})


class GradeReport:
    """The report in JSON, in pieces: the head, every run, and the end with the metrics. There is no overall score.

    Args:
        pack: the pack.
        options: the run's options.
        policy: how runs are compared.
        mode: `executable`, or `trace` where nothing is made again whatever the run shows.
        benchmark: the digest of the rows that are gold; None where gold is made of the pack.
    """

    def __init__(
        self, pack: Pack, options: Options, policy: Policy, *, mode: str, benchmark: str | None
    ) -> None:
        self._head = {
            "schema": SCHEMA,
            "engine": {"name": "averment", "version": __version__},
            "pack": {
                "pack_id": pack.manifest.pack_id,
                "version": pack.manifest.version,
                "content_hash": pack.fingerprint,
            },
            "oracle_clock": options.clock,
            "benchmark": None if benchmark is None else {"content_hash": benchmark},
            "mode": mode,
            "policy": msgspec.to_builtins(policy),
        }
        self._tally = Tally()
        self._statuses: Counter[str] = Counter()
        self._problems: list[Problem] = []
        self._refused = 0

    def begin(self) -> bytes:
        """The head."""
        return pretty(self._head).removesuffix(b"\n}\n") + b',\n  "runs": ['

    def add(self, run: GradedRun) -> bytes:
        """One run."""
        lead = b",\n" if self._statuses else b"\n"
        self._tally.add(run)
        self._statuses[run.success] += 1
        said = msgspec.to_builtins(run)
        said.pop("policy", None)  # it stands in the head
        return lead + _indented(pretty(_clean(said)), 4)

    def refuse(self, error: AvermentError) -> None:
        """One run that has no grades, and why; told at the end."""
        self._refused += 1
        if len(self._problems) < _MOST_PROBLEMS:
            self._problems += error.problems

    def end(self) -> bytes:
        """What could not be graded, how many runs came to what, and the metrics."""
        problems = [_clean(msgspec.to_builtins(problem)) for problem in self._problems[:_MOST_PROBLEMS]]
        tail = {
            "not_graded": problems,
            "summary": {
                "runs": self._statuses.total() + self._refused,
                **{status: self._statuses[status] for status in _STATUSES},
                "not_graded": self._refused,
            },
            "metrics": [msgspec.to_builtins(metric) for metric in self.metrics],
        }
        close = b"\n  ],\n" if self._statuses else b"],\n"
        return close + pretty(tail).removeprefix(b"{\n")

    @property
    def has_grades(self) -> bool:
        """Whether any run was graded."""
        return bool(self._statuses)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """Over all runs so far."""
        return self._tally.metrics()

    @property
    def summary(self) -> str:
        """How many runs came to what, for a person."""
        told = [f"{self._statuses[status]} {word}" for status, word in _COUNTED if self._statuses[status]]
        if self._refused:
            told.append(f"{self._refused} not graded")
        total = self._statuses.total() + self._refused
        return f"{total} {'run' if total == 1 else 'runs'}: {', '.join(told) or 'none graded'}"


_MOST_PROBLEMS = 100
_COUNTED = (
    ("passed", "passed"),
    ("failed", "failed"),
    ("undecided", "undecided"),
    ("not_applicable", "with nothing to decide"),
)


def _indented(text: bytes, by: int) -> bytes:
    lead = b" " * by
    return b"\n".join(lead + line for line in text.rstrip(b"\n").split(b"\n"))


def _clean(value: Any) -> Any:
    """The value without personal data in what is worded for people, which repeats what the run holds."""
    if isinstance(value, dict):
        return {
            key: redact(part) if key in _SENTENCES and isinstance(part, str) else _clean(part)
            for key, part in value.items()
        }
    return [_clean(part) for part in value] if isinstance(value, list | tuple) else value


def render_run(label: str, run: GradedRun, *, color: bool = False) -> str:
    """A run with the gates that it did not pass, and a blank line."""

    def paint(status: str) -> str:
        word = _WORDS[status]
        return f"\x1b[{_COLORS[status]}m{word}\x1b[0m" if color and status in _COLORS else word

    blame = "" if run.attribution in _PLAIN else f" ({run.attribution.replace('_', ' ')})"
    path = "" if run.path.decides else ", which does not decide here"
    lines = [
        f"{printable(label)}: {paint(run.success)}{blame}",
        f"  task {printable(run.task_id)}",
        f"  outcome {paint(run.outcome.status)} ({run.outcome.mode}), path {paint(run.path.status)}{path}",
    ]
    for gate in run.gates:
        if gate.status in ("failed", "undecided"):
            why = f": {printable(gate.detail)}" if gate.detail else ""
            lines.append(f"    {gate.name} {paint(gate.status)} [{gate.why}]{why}")
    other = next((call for call in run.outcome.executed if call.differs_at is not None), None)
    if other is not None and run.success != "passed":
        place = printable(other.differs_at or "", 60)
        lines.append(f"    note: the answer to call {other.call} was another in the record, at {place}")
    return "\n".join(lines) + "\n\n"


_PLAIN = frozenset({"success", "candidate", "not_applicable"})


def render_metrics(measured: Sequence[Metric]) -> str:
    """The metrics, a line each."""
    width = max(len(metric.name) for metric in measured)
    lines = []
    for metric in measured:
        shown = (
            f"{metric.numerator} of {metric.denominator}"
            if metric.value is not None
            else f"none: {metric.reason}"
        )
        more = f"  ({metric.undecided} undecided)" if metric.undecided else ""
        lines.append(f"{metric.name:<{width}}  {shown}{more}")
    return "\n".join(lines) + "\n"
