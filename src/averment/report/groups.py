"""What reports over many conversations have in common: the same assertion's verdicts together, the gravest first.

An agent's defect shows in every conversation that meets it. Told once, with the conversations in which it shows, it is
one finding; told a hundred times, it hides the next one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from averment.verdicts.judged import Judged

__all__ = ["SENTENCES", "Group", "Occurrence", "gap_how", "grouped", "mismatches", "worst_exit"]

SENTENCES = {
    0: "the gate says yes",
    1: "the gate says no",
    2: "no verdict: evidence is missing, and the policy is to refuse",
    3: "internal error: a check failed, please report it",
}
"""What an exit code says (definitions, "Exit codes")."""

_WORST_FIRST = (3, 2, 1, 0)
_SEVERITIES = ("error", "warning", "note")

Level = Literal["error", "warning", "notice", "none"]
_BY_SEVERITY: Mapping[str, Level] = {"error": "error", "warning": "warning", "note": "notice"}
_LEVELS = ("error", "warning", "notice", "none")


class Occurrence(msgspec.Struct, frozen=True):
    """One result, in the conversation that it is about."""

    entry: Judged
    result: Mapping[str, Any]


class Group(msgspec.Struct, frozen=True):
    """The results of one assertion that have the same verdict, over all conversations.

    Attributes:
        file: the file in which the assertion stands.
        line: its line there, 1-based; None where that is not known.
        id: the assertion's id.
        kind: its kind.
        severity: error, warning or note.
        status: PASS, FAIL or INCONCLUSIVE.
        occurrences: the results, in the order of the conversations; at least one.
    """

    file: str
    line: int | None
    id: str
    kind: str
    severity: str
    status: str
    occurrences: list[Occurrence]

    @property
    def first(self) -> Mapping[str, Any]:
        """The first of the results, for what the document says of the assertion."""
        return self.occurrences[0].result

    @property
    def place(self) -> str:
        """Where the assertion stands, as editors understand it."""
        return self.file if self.line is None else f"{self.file}:{self.line}"

    @property
    def level(self) -> Level:
        """How grave it is: `error` is what a gate can say no for, `none` what is as it should be."""
        if self.status == "PASS":
            return "none"
        if self.status == "FAIL":
            return _BY_SEVERITY[self.severity]
        if any(each.result.get("code") == "internal_error" for each in self.occurrences):
            return "error"
        if self.severity != "error":
            return "notice"
        gates = any(each.entry.envelope["inconclusive_policy"] != "report" for each in self.occurrences)
        return "error" if gates else "warning"


def grouped(entries: Iterable[Judged]) -> list[Group]:
    """All verdicts by assertion and status: the gravest first, then what shows in most conversations.

    Results that are not applicable say nothing of a conversation and are left out.
    """
    groups: dict[tuple[Any, ...], Group] = {}
    for entry in entries:
        for file, result in zip(entry.files, entry.results, strict=True):
            if result.get("code") == "not_applicable":
                continue
            at = result.get("at") or {}
            key = (
                *(file, at.get("line"), result["id"], result["kind"]),
                *(result.get("severity", "error"), result["status"]),
            )
            group = groups.get(key)
            if group is None:
                group = groups[key] = Group(*key, [])
            group.occurrences.append(Occurrence(entry, result))
    return sorted(groups.values(), key=_rank)


def _rank(group: Group) -> tuple[int, bool, bool, int, int]:
    # Results that were skipped follow from another one, which is told before them.
    skipped = all(each.result.get("code") == "skipped" for each in group.occurrences)
    return (
        _LEVELS.index(group.level),
        group.status != "FAIL",
        skipped,
        _SEVERITIES.index(group.severity),
        -len(group.occurrences),
    )


def worst_exit(entries: Sequence[Judged]) -> int:
    """The worst of the exit codes."""
    codes = {entry.envelope["exit_code"] for entry in entries}
    return next((code for code in _WORST_FIRST if code in codes), 0)


def gap_how(result: Mapping[str, Any]) -> str | None:
    """What would supply the evidence that is missing."""
    gap = result.get("evidence_gap")
    return gap.get("how") if isinstance(gap, Mapping) else None


def mismatches(result: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """Where what was found differs: path, expected, found. The path is empty for the value as a whole.

    A stored envelope may have been made by others: what is not of that shape is left out.
    """
    found = result.get("mismatches")
    miss = result.get("nearest_miss")
    if found is None and isinstance(miss, Mapping):
        found = miss.get("mismatches")
    return [
        (str(each.get("path", "")), str(each["expected"]), str(each["found"]))
        for each in (found if isinstance(found, Sequence) and not isinstance(found, str) else ())
        if isinstance(each, Mapping) and "expected" in each and "found" in each
    ]
