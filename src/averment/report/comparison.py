"""Two runs compared, for people at a terminal and for programs: what broke comes first.

Every case is told by itself, under its assertion; what still passes is counted. There is no sum over changes: one that was
fixed does not make up for one that broke.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from averment._version import __version__
from averment.report.look import PLAIN, Look
from averment.text.jsontext import pretty
from averment.text.pii import redact
from averment.text.shown import brief, printable
from averment.verdicts.changes import Change
from averment.verdicts.comparison import GATES, Comparison, Difference, Side, Where

__all__ = [
    "SCHEMA",
    "Told",
    "as_json",
    "as_text",
    "facts",
    "gaps",
    "many",
    "reason",
    "sections",
    "severity",
    "side_text",
    "tally",
    "transition",
    "verdict",
    "words",
]

SCHEMA = "averment.diff.v1"

_CASES = 20
_NAMES = 10
_STYLES = {
    Change.BROKEN: "FAIL",
    Change.NEWLY_FAILING: "FAIL",
    Change.STILL_FAILING: "FAIL",
    Change.FLAKY: "INCONCLUSIVE",
    Change.NEWLY_INCONCLUSIVE: "INCONCLUSIVE",
    Change.STILL_INCONCLUSIVE: "INCONCLUSIVE",
    Change.FIXED: "PASS",
    Change.NEWLY_PASSING: "PASS",
    Change.STILL_PASSING: "PASS",
}


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be told of a comparison, and how.

    Attributes:
        old: the old run's name.
        new: the new run's name.
        fail_on: what the gate says no to.
        only: the changes that are listed; all by default. What is counted stays the same.
        every: whether to list all cases of an assertion in text, and what still passes.
    """

    old: str
    new: str
    fail_on: Sequence[str] = ()
    only: Container[str] = GATES
    every: bool = False


def as_text(comparison: Comparison, told: Told, *, look: Look = PLAIN) -> str:
    """The comparison for a person, ending in a newline."""
    lines = [
        look.paint(
            "bold", f"{brief(told.old)} -> {brief(told.new)}: {many(comparison.cases, 'case')} in both"
        ),
        *(f"  {fact}" for fact in facts(comparison)),
        "",
    ]
    for change, groups in sections(comparison, told):
        heading = f"{words(change).upper()}: {change.meaning}"
        lines += [look.paint(_STYLES.get(change, "bold"), heading)]
        for group in groups:
            lines += _group(group, told, look)
        lines += [""]
    for name, cases in gaps(comparison, told):
        shown = cases if told.every else cases[:_NAMES]
        lines += [look.paint("bold", f"{name}: {len(cases)}")]
        lines += [f"  {brief(where.label, 300)}" for where in shown]
        lines += [f"  ... and {len(cases) - len(shown)} more"] * (len(shown) < len(cases))
        lines += [""]
    lines += [
        " · ".join(look.paint(_STYLES.get(each, "dim"), text) for each, text in tally(comparison.counts))
    ]
    if any(comparison.lesser.values()):
        lesser = " · ".join(text for _, text in tally(comparison.lesser))
        lines += [f"warnings and notes, which never gate: {lesser}"]
    lines += [f"exit {_exit_code(comparison, told)}: {verdict(comparison, told)}"]
    return "\n".join(lines) + "\n"


def as_json(comparison: Comparison, told: Told) -> bytes:
    """The comparison for programs, schema `averment.diff.v1`."""
    old, new = (
        {
            "name": name,
            "conversations": run.conversations,
            "cases": run.cases,
            "documents": list(run.documents),
            "engines": list(run.engines),
        }
        for name, run in ((told.old, comparison.old), (told.new, comparison.new))
    )
    return pretty(
        {
            "schema": SCHEMA,
            "exit_code": _exit_code(comparison, told),
            "fail_on": list(told.fail_on),
            "engine": {"name": "averment", "version": __version__},
            "old": old,
            "new": new,
            "cases": comparison.cases,
            "other_documents": comparison.other_documents,
            "same_evidence": comparison.same_evidence,
            "fewer_repeats": comparison.fewer_repeats,
            "by_order": comparison.by_order,
            "summary": {
                "deterministic": {each.value: comparison.counts[each] for each in Change},
                "warnings": {each.value: comparison.lesser[each] for each in Change},
                "missing": len(comparison.missing),
                "new": len(comparison.added),
            },
            "severities": [
                {"id": id_, "old": was, "new": is_, "cases": cases}
                for id_, was, is_, cases in comparison.severities
            ],
            "differences": [_entry(each) for each in comparison.differences if each.change in told.only],
            "missing_cases": [_named(where) for where in comparison.missing]
            if "missing" in told.only
            else [],
            "new_cases": [_named(where) for where in comparison.added] if "new" in told.only else [],
        }
    )


def facts(comparison: Comparison) -> Iterator[str]:
    """What else is different, and could be why: sentences without a full stop."""
    cases = many(comparison.cases, "case")
    old, new = comparison.old, comparison.new
    if comparison.other_documents:
        yield f"the document is another in {comparison.other_documents} of {cases}"
    if old.engines != new.engines:
        was, is_ = (", ".join(brief(name, 40) for name in run.engines[:_NAMES]) for run in (old, new))
        yield f"averment {was} judged the old run, and {is_} the new one"
    if comparison.same_evidence:
        yield f"the evidence is the same in {comparison.same_evidence} of {cases}"
    if comparison.fewer_repeats:
        yield f"the new run has fewer repeats in {comparison.fewer_repeats} of {cases}"
    if comparison.by_order:
        yield "envelopes don't name their conversations, so these are matched by their order"
    for id_, was, is_, times in comparison.severities[:_NAMES]:
        yield f"the severity of `{brief(id_, 80)}` was {was} and is {is_}, in {many(times, 'case')}"
    if len(comparison.severities) > _NAMES:
        yield f"{len(comparison.severities) - _NAMES} more severities are others"


def sections(comparison: Comparison, told: Told) -> Iterator[tuple[Change, list[list[Difference]]]]:
    """What is listed: by change, and then by assertion, each in the order in which they come."""
    found: dict[Change, dict[tuple[Any, ...], list[Difference]]] = {}
    for each in comparison.differences:
        if each.change in told.only:
            where = each.where
            key = (each.gates, where.suite, where.document, each.id, each.kind, each.file, each.line)
            found.setdefault(each.change, {}).setdefault(key, []).append(each)
    for change, groups in found.items():
        yield change, list(groups.values())


def gaps(comparison: Comparison, told: Told) -> Iterator[tuple[str, Sequence[Where]]]:
    """Cases of one of the runs only, with what to call them."""
    if comparison.missing and "missing" in told.only:
        yield "missing cases, which only the old run has", comparison.missing
    if comparison.added and "new" in told.only:
        yield "new cases, which only the new run has", comparison.added


def tally(counts: Mapping[Change, int]) -> list[tuple[Change, str]]:
    """The changes that occur, each with its number in words."""
    return [(each, f"{counts[each]} {words(each)}") for each in Change if counts[each]]


def verdict(comparison: Comparison, told: Told) -> str:
    """What the gate says, and because of what."""
    if not told.fail_on:
        return "nothing is gated: no `--fail-on` is given"
    occurring = _occurring(comparison, told)
    if not occurring:
        return f"the gate says yes: nothing is {' or '.join(map(words, told.fail_on))}"
    return f"the gate says no: {', '.join(f'{times} {words(name)}' for name, times in occurring)}"


def transition(each: Difference) -> str:
    """What it was and what it is."""
    if each.old is None:
        return f"{side_text(each.new)} now"
    if each.new is None:
        return f"{side_text(each.old)} before"
    by_chance = "" if each.chance is None else f" (by chance alone: {each.chance:.6f})"
    return f"{side_text(each.old)} before, {side_text(each.new)} now{by_chance}"


def side_text(side: Side | None) -> str:
    """What one run says, in a few words: a verdict, or how many of how many passed."""
    if side is None:
        return "not there"
    counts = side.counts
    if counts.decided + counts.undecided == 0:
        return "not applicable"
    if counts.decided + counts.undecided == 1:
        return "PASS" if counts.passed else "FAIL" if counts.failed else "INCONCLUSIVE"
    parts = [f"{counts.passed} of {counts.decided} PASS"] if counts.decided else []
    parts += [f"{counts.undecided} INCONCLUSIVE"] if counts.undecided else []
    return ", ".join(parts)


def reason(side: Side, limit: int = 300) -> str:
    """Why it is not PASS, and where there are repeats, in which conversation."""
    why = printable(side.reason or side.code or "no reason is given", limit)
    several = side.counts.decided + side.counts.undecided > 1
    return f"{why} ({brief(side.conversation, 120)})" if several and side.conversation else why


def severity(each: Difference) -> str | None:
    """The severity, where it does not gate."""
    side = each.new or each.old
    return None if each.gates or side is None else side.severity


def words(name: str) -> str:
    """A change as people write it."""
    return name.replace("_", " ")


def many(times: int, noun: str) -> str:
    """The number with its noun."""
    return f"{times} {noun}" if times == 1 else f"{times} {noun}s"


def _exit_code(comparison: Comparison, told: Told) -> int:
    return int(bool(_occurring(comparison, told)))


def _occurring(comparison: Comparison, told: Told) -> list[tuple[str, int]]:
    counted = [(name, comparison.count(name)) for name in told.fail_on]
    return [(name, times) for name, times in counted if times]


def _group(group: Sequence[Difference], told: Told, look: Look) -> Iterator[str]:
    first = group[0]
    place = brief(first.file, 300) if first.line is None else f"{brief(first.file, 300)}:{first.line}"
    about = " · ".join(part for part in (brief(first.kind, 60), severity(first), place) if part)
    yield f"  {look.paint('bold', brief(first.id, 120))}  {look.paint('dim', about)}"
    shown = group if told.every else group[:_CASES]
    for each in shown:
        yield from look.lines(f"{brief(each.where.label, 300)}: {transition(each)}", indent=4)
        for when, side in (("now", each.new), ("before", each.old)):
            if side is not None and side.code is not None:
                yield from look.lines(f"{when}: {reason(side)}", indent=6)
    if len(shown) < len(group):
        yield f"    ... and {many(len(group) - len(shown), 'more case')}; --verbose shows all"


def _entry(each: Difference) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "change": each.change.value,
        "case": _named(each.where),
        "id": each.id,
        "kind": each.kind,
        "file": each.file,
        "line": each.line,
        "gates": each.gates,
        "old": _side(each.old),
        "new": _side(each.new),
        "chance": each.chance,
    }
    return {name: value for name, value in entry.items() if value is not None}


def _named(where: Where) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "document": where.document or None,
        "suite": where.suite,
        "name": where.case,
        "conversation": where.conversation,
        "number": where.number,
    }
    return {name: value for name, value in entry.items() if value is not None}


def _side(side: Side | None) -> dict[str, Any] | None:
    if side is None:
        return None
    counts = side.counts
    entry: dict[str, Any] = {
        "pass": counts.passed,
        "fail": counts.failed,
        "inconclusive": counts.undecided,
        "not_applicable": counts.not_applicable,
        "severity": side.severity,
        "code": side.code,
        "reason": None if side.reason is None else redact(side.reason),
        "conversation": side.conversation,
    }
    return {name: value for name, value in entry.items() if value is not None}
