"""Markdown for a comment on a pull request, or the summary of a step: what failed first, and long parts folded.

A comment can have 65,536 characters on GitHub, a summary 1 MiB: what does not fit is left out by whole blocks, and the
end says what. Everything that is quoted arrives as text (`gfm`). The first line is a comment that is always the same, so
that a bot finds its own comment and edits it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from averment.report.excerpts import excerpt
from averment.report.gfm import code, fenced, html_code, prose, table
from averment.report.groups import (
    SENTENCES,
    Group,
    Occurrence,
    gap_how,
    grouped,
    mismatches,
    worst_exit,
)
from averment.report.repeated import EXPLAINED
from averment.report.repetitions import Repetition, Rows, repetitions
from averment.text.shown import printable
from averment.verdicts.judged import Judged

__all__ = ["MARKER", "render"]

MARKER = "<!-- averment -->"
"""The first line."""

_OPEN = 8
"""Findings that are shown unfolded."""

_REASONS = 3
_ROWS = 20
_MOST_ROWS = 200
_NAMES = 4
_MOST_NAMES = 100
_MOST_PASSES = 100
_MISMATCHES = 8
_LEFT_OUT = 600
"""Bytes that the sentence on what is left out may take."""


class _Section(msgspec.Struct, frozen=True):
    """A part of the report: blocks that stand or fall alone, under one heading.

    Attributes:
        rank: which section is filled first when there is not room for all.
        heading: its heading; None for none.
        noun: what its blocks are called when they are left out, for one and for several.
        blocks: Markdown, each whole in itself.
    """

    rank: int
    heading: str | None
    noun: tuple[str, str]
    blocks: list[str]


def render(entries: Sequence[Judged], *, limit: int = 60_000) -> str:
    """The report.

    Args:
        entries: the conversations that were judged.
        limit: how many bytes of UTF-8 it may have, the strictest way in which hosts count; the headline always stands.
    """
    groups = grouped(entries)
    gating = [group for group in groups if group.severity == "error" or group.level == "error"]
    lesser = [group for group in groups if group not in gating and group.status != "PASS"]
    total = len(entries)
    sections = [
        _Section(3, None, ("the table of conversations",) * 2, _conversations(entries)),
        _Section(4, "Repeats", ("table of repeats", "tables of repeats"), _repeats(repetitions(entries))),
        _Section(
            0,
            "Failed",
            ("failed assertion", "failed assertions"),
            _findings([group for group in gating if group.status == "FAIL"], total),
        ),
        _Section(
            1,
            "Undecided",
            ("undecided assertion", "undecided assertions"),
            _findings([group for group in gating if group.status == "INCONCLUSIVE"], total),
        ),
        _Section(
            2,
            "Warnings and notes, which never gate",
            ("warning or note", "warnings and notes"),
            _findings(lesser, total),
        ),
        _Section(
            5,
            None,
            ("the list of passes",) * 2,
            _passes([group for group in groups if group.status == "PASS"], total),
        ),
    ]
    return _fitted("\n".join([MARKER, *_head(entries, groups)]), sections, limit)


def _fitted(head: str, sections: Sequence[_Section], limit: int) -> str:
    """The head with as many blocks as fit, and a line on those that don't."""
    room = limit - _size(head) - _LEFT_OUT
    kept: dict[int, list[str]] = {}
    left: list[str] = []
    for section in sorted(sections, key=lambda section: section.rank):
        lead = [f"### {section.heading}"] if section.heading and section.blocks else []
        shown = kept[section.rank] = []
        for index, block in enumerate(section.blocks):
            added = [*lead, block] if index == 0 else [block]
            room -= sum(_size(part) for part in added)
            if room < 0:
                missing = len(section.blocks) - index
                left.append(
                    section.noun[0]
                    if section.noun[0].startswith("the ")
                    else f"{missing} {section.noun[missing > 1]}"
                )
                break
            shown += added
    parts = [head, *(part for section in sections for part in kept[section.rank])]
    if left:
        parts.append(f"**Left out here, for there was not enough room:** {', '.join(left)}.")
    return "\n\n".join(parts) + "\n"


def _size(text: str) -> int:
    return len(text.encode("utf-8", "backslashreplace")) + 2


def _head(entries: Sequence[Judged], groups: Sequence[Group]) -> Iterator[str]:
    worst = worst_exit(entries)
    yield f"## averment: {SENTENCES[worst]}"
    yield ""
    deterministic = _tally(group for group in groups if group.severity == "error")
    shelves = [f"**{deterministic}**", "no assertion is judged by a model"]
    yield table(["Deterministic", "Judged by a model"], ["---", "---"], [shelves])
    yield ""
    if entries and all(group.status == "INCONCLUSIVE" for group in groups):
        yield "**NOTHING WAS DECIDED:** every assertion is INCONCLUSIVE.\n"
    documents = list(dict.fromkeys(entry.document for entry in entries))
    over = code(entries[0].label) if len(entries) == 1 else f"{len(entries)} conversations"
    policies = dict.fromkeys(entry.envelope["inconclusive_policy"] for entry in entries)
    facts = [
        f"{_some([code(name) for name in documents[:_NAMES]], len(documents))} over {over}",
        f"exit {worst}",
        f"inconclusive policy {', '.join(code(policy) for policy in policies)}",
    ]
    if len(entries) > 1:
        codes = Counter(entry.envelope["exit_code"] for entry in entries)
        facts[1:1] = [f"{codes[each]} exit {each}" for each in (3, 2, 1, 0) if codes[each]]
        facts[-2] = f"the worst is {facts[-2]}"
    lesser = [group for group in groups if group.severity != "error"]
    if lesser:
        facts.append(f"warnings and notes, which never gate: {_tally(lesser)}")
    inapplicable = sum(
        result.get("code") == "not_applicable" for entry in entries for result in entry.results
    )
    if inapplicable:
        facts.append(f"{inapplicable} not applicable")
    yield " · ".join(facts)


def _tally(groups: Iterable[Group]) -> str:
    counts: Counter[str] = Counter()
    for group in groups:
        counts[group.status] += len(group.occurrences)
    return " · ".join(f"{counts[status]} {status.lower()}" for status in ("FAIL", "INCONCLUSIVE", "PASS"))


def _conversations(entries: Sequence[Judged]) -> list[str]:
    """The table of conversations, cases with their repetitions together; those with most to look at first."""
    if len(entries) < 2:
        return []
    rows: dict[tuple[str, str], list[Judged]] = {}
    for index, entry in enumerate(entries):
        case = entry.case
        # Outside of suites, conversations can share a name.
        key = (
            (f"\0{index}", entry.conversation)
            if case is None
            else (case.suite, case.name or entry.conversation)
        )
        rows.setdefault(key, []).append(entry)
    counted = [
        (those[0].label if those[0].case is None else f"{suite}: {name}", len(those), _counts(those))
        for (suite, name), those in rows.items()
    ]
    counted.sort(key=lambda row: (-row[2][0], -row[2][1]))
    noun = "conversation" if entries[0].case is None else "case"
    repeats = any(len(those) > 1 for those in rows.values())
    head = [noun.title(), *(["repeats"] if repeats else []), "fail", "inconclusive", "pass"]
    written = table(
        head,
        ["---", *["---:"] * (len(head) - 1)],
        (
            [code(name, 80), *([str(times)] if repeats else []), *(str(count) for count in counts)]
            for name, times, counts in counted[:_MOST_ROWS]
        ),
    )
    if len(counted) <= _ROWS:
        return [written]
    left = len(counted) - _MOST_ROWS
    more = f"\n\n... and {left} more, with as much or less to look at." if left > 0 else ""
    return [_folded(f"All {len(counted)} {noun}s", written + more)]


def _repeats(repeated: Sequence[Repetition]) -> list[str]:
    """A block for each entry whose cases are repeated: its assertions over cases, and folded the cases that failed."""
    blocks = []
    for each in repeated:
        about = f"{code(each.suite, 80)}, each case {each.times} times"
        if not each.over.rows:
            blocks.append(f"{about}: whatever an assertion is about, it passed in every repeat.")
            continue
        parts = [
            f"{about}: in how many cases an assertion passed always, sometimes or never.",
            _rows(each.over),
        ]
        if each.cases.rows:
            parts.append(_folded("Cases in which a repeat failed", _rows(each.cases)))
        blocks.append("\n\n".join([*parts, _EXPLAINED]))
    return blocks


_EXPLAINED = EXPLAINED.replace("pass@k", "`pass@k`").replace("pass^k", "`pass^k`")


def _rows(rows: Rows) -> str:
    written = table(
        [code(name) if "pass" in name and name != "passed" else name for name in rows.head],
        ["---" if index < rows.names else "---:" for index in range(len(rows.head))],
        (
            [code(cell, 80) if index < rows.names else cell for index, cell in enumerate(row)]
            for row in rows.rows
        ),
    )
    return f"{written}\n\n... and {rows.more} more." if rows.more else written


def _counts(entries: Iterable[Judged]) -> tuple[int, int, int]:
    """How many results that gate are FAIL, INCONCLUSIVE and PASS."""
    statuses = Counter(
        result["status"]
        for entry in entries
        for result in entry.results
        if result.get("severity", "error") == "error" and result.get("code") != "not_applicable"
    )
    return statuses["FAIL"], statuses["INCONCLUSIVE"], statuses["PASS"]


def _findings(groups: Sequence[Group], total: int) -> list[str]:
    """A block for each assertion, those behind the first few folded."""
    blocks = []
    for index, group in enumerate(groups):
        verdict = group.status if group.severity == "error" else f"{group.status}, {group.severity}"
        body = "\n\n".join(_finding(group, total))
        if index < _OPEN:
            blocks.append(f"#### {verdict}: {code(group.id, 120)}\n\n{body}")
        else:
            blocks.append(_folded(f"{verdict}: {html_code(group.id, 120)}", body))
    return blocks


def _finding(group: Group, total: int) -> Iterator[str]:
    first = group.first
    about = [code(group.kind, 60), code(group.place, 200)]
    about += [code(first[key], 80) for key in ("dimension", "owner") if first.get(key)]
    about += [code(tag, 40) for tag in (first.get("tags") or [])[:5]]
    if total > 1:
        about.append(f"in {len(group.occurrences)} of {total} conversations")
    yield " · ".join(about)
    if first.get("description"):
        yield f"**What must hold:** {prose(first['description'], 400)}"
    alike: dict[str, list[Occurrence]] = {}
    for each in group.occurrences:
        alike.setdefault(_reason(each), []).append(each)
    ordered = sorted(alike.values(), key=lambda those: -len(those))
    for those in ordered[:_REASONS]:
        yield from _why(those, total, is_only=len(ordered) == 1)
    if len(ordered) > _REASONS:
        left = sum(len(those) for those in ordered[_REASONS:])
        yield f"... and other reasons in {left} more conversation{'s' if left > 1 else ''}."
    if len(group.occurrences) > _NAMES:
        names = _names(group.occurrences, _MOST_NAMES)
        yield _folded(f"The {len(group.occurrences)} conversations", f"In {names}")


def _why(alike: Sequence[Occurrence], total: int, *, is_only: bool) -> Iterator[str]:
    """The reason that several conversations share, and what was expected and found in the first of them."""
    result = alike[0].result
    names = _names(alike, _NAMES)
    where = "Why" if total == 1 else f"In {names}" if is_only else f"{len(alike)} times, in {names}"
    yield f"**{where}:** {prose(_reason(alike[0]))}"
    how = gap_how(result)
    if how and how not in _reason(alike[0]):
        yield f"**To decide it:** {prose(how, 400)}"
    if differs := mismatches(result):
        yield fenced(_difference(differs), "diff")
    if quoted := list(excerpt(alike[0].entry, result)):
        yield fenced(quoted)


def _difference(differs: Sequence[tuple[str, str, str]]) -> Iterator[str]:
    for path, expected, found in differs[:_MISMATCHES]:
        yield f"  {printable(path or 'the value')}"
        yield f"- expected {printable(expected)}"
        yield f"+ found    {printable(found)}"
    if len(differs) > _MISMATCHES:
        yield f"  ... and {len(differs) - _MISMATCHES} more"


def _reason(each: Occurrence) -> str:
    result = each.result
    told = result.get("reason") or result.get("public_reason") or result.get("code")
    return str(told or "no reason is given")


def _passes(groups: Sequence[Group], total: int) -> list[str]:
    if not groups:
        return []
    lines = []
    for group in groups[:_MOST_PASSES]:
        parts = [code(group.id, 80), code(group.kind, 60), code(group.place, 200)]
        parts += [] if group.severity == "error" else [group.severity]
        parts += [] if total == 1 else [f"in {len(group.occurrences)} of {total} conversations"]
        vacuous = sum(bool(each.result.get("vacuous")) for each in group.occurrences)
        parts += [f"vacuous in {vacuous}: what it is about never came up"] if vacuous else []
        unseen = group.first.get("not_scanned")
        if isinstance(unseen, list) and unseen:
            parts.append(f"did not look at {code(', '.join(map(str, unseen)), 200)}")
        lines.append(f"- {' · '.join(parts)}")
    if len(groups) > _MOST_PASSES:
        lines.append(f"- ... and {len(groups) - _MOST_PASSES} more")
    noun = "assertion" if len(groups) == 1 else "assertions"
    return [_folded(f"{len(groups)} {noun} passed", "\n".join(lines))]


def _names(occurrences: Sequence[Occurrence], most: int) -> str:
    return _some([code(each.entry.label, 80) for each in occurrences[:most]], len(occurrences))


def _some(names: Sequence[str], total: int) -> str:
    """The first of the names, and how many there are besides."""
    more = f" and {total - len(names)} more" if len(names) < total else ""
    return f"{', '.join(names)}{more}"


def _folded(summary: str, body: str) -> str:
    """What is shown on a click. The summary is HTML already."""
    return f"<details>\n<summary>{summary}</summary>\n\n{body}\n\n</details>"
