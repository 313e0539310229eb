"""What many conversations came to, for a person at a terminal: counts and groups, never one number over all.

An agent's defect shows in every conversation that meets it; here it is told once, with the first of them. What is kept
does not grow with the number of conversations: counts of each assertion, and a few names. Only the repeats of a suite's
cases are kept in full, a byte for each assertion (`averment.verdicts.repeats`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from averment.assertions.base import Status
from averment.documents import Document
from averment.engine.envelope import Envelope, Result
from averment.report.look import Look
from averment.report.tables import Cell, Column, table
from averment.report.terminal import VERDICTS, head, is_unproduced
from averment.text.shown import brief, inert, printable

if TYPE_CHECKING:
    from averment.verdicts.judged import Case
    from averment.verdicts.repeats import Repeats

__all__ = ["Summary"]

_VERDICTS = ("pass", "fail", "inconclusive", "n/a")
_STYLES = ("PASS", "FAIL", "INCONCLUSIVE", "dim")
_COUNTS = [Column(name, is_number=True) for name in _VERDICTS]
_EXIT_STYLES = {0: "PASS", 1: "FAIL", 2: "INCONCLUSIVE", 3: "FAIL"}
_WORST_FIRST = (3, 2, 1, 0)
_FEW = 10
"""Conversations whose cards stand on one screen, more or less: what is open is not told once more."""
_LISTED = 20
_ASSERTIONS = 40
_GROUPS = 40
_NAMES = 3
_KEPT = 2000
"""Assertions that are told apart; ids can hold values of cases, and there is no end to those."""

_Key = tuple[str, str]
"""The file in which an assertion stands, and its id."""

_FURTHER: _Key = ("", "(further assertions)")


_ALL: _Key = ("", "(all assertions)")
"""Stands for all assertions of a conversation that was not produced."""


class _Group(msgspec.Struct):
    """One assertion with one verdict, for one reason."""

    first: Result
    names: list[str]
    count: int = 0
    is_same: bool = True


class _Entry(msgspec.Struct):
    """One entry of a suite."""

    counts: list[int]
    codes: Counter[int]


class Summary:
    """Adds up conversations, one by one.

    Attributes:
        codes: how many conversations have each exit code.
    """

    def __init__(self) -> None:
        self.codes: Counter[int] = Counter()
        self._rows: dict[_Key, list[int]] = {}
        self._groups: dict[tuple[_Key, Status, str | None], _Group] = {}
        self._entries: dict[str, _Entry] = {}
        self._listed: list[tuple[str, list[int], int]] = []
        self._undecided = 0
        self._policies: set[str] = set()
        self._unscanned: dict[str, str] = {}
        self._repeats: Repeats | None = None
        self._repeated: dict[str, int] = {}
        self._known: tuple[Document | None, list[_Key]] = (None, [])

    def add(self, envelope: Envelope, document: Document, name: str, case: Case | None = None) -> None:
        """One conversation was judged.

        Args:
            envelope: the results.
            document: what it was judged by.
            name: what people call the conversation.
            case: which one of a suite it is.
        """
        code = int(envelope.exit_code)
        self.codes[code] += 1
        counts = [0, 0, 0, 0]
        name = brief(name, 240)
        is_missing = is_unproduced(envelope.results)
        if is_missing:
            self._note(_ALL, envelope.results[0], name)
        for own, result in zip(self._keys(document), envelope.results, strict=True):
            at = _at(result)
            counts[at] += 1
            key = own if own in self._rows or len(self._rows) < _KEPT else _FURTHER
            self._rows.setdefault(key, [0, 0, 0, 0])[at] += 1
            if at in (1, 2) and not is_missing:
                self._note(key, result, name)
            if "not_scanned" in result.details and len(self._unscanned) < _ASSERTIONS:
                parts = ", ".join(part.replace("_", " ") for part in result.details["not_scanned"])
                self._unscanned[brief(result.id, 80)] = parts
        if counts[2]:
            self._policies.add(envelope.inconclusive_policy)
        self._undecided += not counts[0] and not counts[1]
        if self.codes.total() <= _LISTED:
            self._listed.append((name, counts, code))
        if case is not None:
            self._of_suite(case, envelope, counts, code)

    @property
    def worst(self) -> int:
        """The worst exit code."""
        return next(code for code in _WORST_FIRST if self.codes[code])

    def render(self, look: Look, *, quiet: bool = False) -> str:
        """The closing summary, ending in a newline.

        Args:
            look: at a terminal tables are drawn.
            quiet: leave the tables out, which count what passed as well.
        """
        total = self.codes.total()
        lines: list[str] = []
        if not quiet:
            for part in (self._conversations(look), self._by_assertion(look)):
                lines += [*part, ""] if part else []
        if self._repeats is not None:
            from averment.report.repeated import repeated

            lines += [*repeated(self._repeats, self._repeated, look), ""]
        if total > _FEW:
            lines += self._open(look, total)
        for id_, parts in self._unscanned.items():
            lines += look.lines(f"{id_} did not look at: {parts}", style="dim")
        if self._undecided:
            told = f"NOTHING WAS DECIDED in {self._undecided} of {_several(total)}."
            lines.append(look.paint("INCONCLUSIVE", told))
        lines.append(look.paint("dim", "No assertion was judged by a model: all verdicts are deterministic."))
        codes = " · ".join(
            look.paint(_EXIT_STYLES[code], f"{self.codes[code]} exit {code}")
            for code in sorted(self.codes)
            if self.codes[code]
        )
        lines.append(f"{_several(total)}: {codes}")
        policy = f" (inconclusive_policy: {', '.join(sorted(self._policies))})" if self._policies else ""
        lines.append(f"exit {self.worst}: {VERDICTS[self.worst]}{policy}")
        return inert("\n".join(lines) + "\n")

    def _keys(self, document: Document) -> list[_Key]:
        """How each assertion is known; worked out once for conversations in a row."""
        known, keys = self._known
        if known is not document:
            keys = [
                (document.file_name(index), assertion.id)
                for index, assertion in enumerate(document.assertions)
            ]
            self._known = document, keys
        return keys

    def _note(self, key: _Key, result: Result, name: str) -> None:
        group = self._groups.get((key, result.status, result.code))
        if group is None:
            group = self._groups[key, result.status, result.code] = _Group(result, [])
        group.count += 1
        group.is_same = group.is_same and group.first.reason == result.reason
        if len(group.names) < _NAMES and name not in group.names:
            group.names.append(name)

    def _of_suite(self, case: Case, envelope: Envelope, counts: Sequence[int], code: int) -> None:
        entry = self._entries.setdefault(case.suite, _Entry([0, 0, 0, 0], Counter()))
        entry.counts = [before + more for before, more in zip(entry.counts, counts, strict=True)]
        entry.codes[code] += 1
        if case.repeats > 1:
            from averment.verdicts.repeats import Repeats

            self._repeats = self._repeats or Repeats()
            self._repeats.take(case, envelope.results)
            self._repeated[case.suite] = case.repeats

    def _conversations(self, look: Look) -> list[str]:
        """Each conversation, while they are few; else each entry of the suite."""
        if self.codes.total() <= _LISTED:
            columns = [Column("conversation"), *_COUNTS, Column("exit", is_number=True)]
            rows = [
                [Cell(name), *_counts(counts), Cell(str(code), _EXIT_STYLES[code])]
                for name, counts, code in self._listed
            ]
            return table(columns, rows, look)
        if not self._entries:
            return []
        columns = [
            Column("suite"),
            Column("conversations", is_number=True),
            *_COUNTS,
            Column("exit", is_number=True),
        ]
        rows = []
        for name, entry in self._entries.items():
            worst = next(code for code in _WORST_FIRST if entry.codes[code])
            shown = [Cell(brief(name, 80)), Cell(str(entry.codes.total()))]
            rows.append([*shown, *_counts(entry.counts), Cell(str(worst), _EXIT_STYLES[worst])])
        return table(columns, rows, look)

    def _by_assertion(self, look: Look) -> list[str]:
        """Each assertion, in the order of the document; of very many only those that do not pass everywhere."""
        rows = list(self._rows.items())
        passing = 0
        if len(rows) > _ASSERTIONS:
            rows = [(key, row) for key, row in rows if row[1] or row[2]]
            passing = len(self._rows) - len(rows)
        left = max(len(rows) - _KEPT // 10, 0)
        columns = [Column("assertion"), *_COUNTS]
        shown = [[Cell(brief(id_, 80)), *_counts(row)] for (_, id_), row in rows[: _KEPT // 10]]
        lines = table(columns, shown, look) if shown else []
        if left:
            lines.append(f"  and {left} more assertions that are open somewhere")
        if passing:
            lines.append(f"  {'and ' if shown else ''}{passing} assertions with nothing open")
        return lines

    def _open(self, look: Look, total: int) -> Iterator[str]:
        """What is open: each once, the gravest first, then what shows in most conversations."""
        groups = sorted(
            self._groups.items(),
            key=lambda item: (
                item[1].first.status is not Status.FAIL,
                item[1].first.severity != "error",
                item[1].first.code == "skipped",
                -item[1].count,
            ),
        )
        for (key, _, _), group in groups[:_GROUPS]:
            applies = total if key == _ALL else sum(self._rows[key][:3])
            yield from _told(key, group, applies, total, look)
            yield ""
        if len(groups) > _GROUPS:
            yield f"... and {len(groups) - _GROUPS} more; `--results FILE` keeps them all"
            yield ""


def _told(key: _Key, group: _Group, applies: int, total: int, look: Look) -> Iterator[str]:
    file, _ = key
    first = group.first
    where = f"in {group.count} of {_several(total)}"
    if applies < total:
        where = f"in {group.count} of {applies} that it is about"
    if key == _ALL:
        yield f"{look.paint(first.status, first.status)}  {look.paint('bold', 'all assertions')}  {look.paint('dim', where)}"
    else:
        yield from head(first, file, look, where=where)
    if key != _ALL and first.common.get("description"):
        yield from look.lines(brief(first.common["description"], 400), indent=4)
    if first.reason:
        lead = "" if group.is_same else "for example: "
        yield from look.lines(lead + printable(first.reason, 600), indent=4)
    more = f" · and {group.count - len(group.names)} more" if group.count > len(group.names) else ""
    yield from look.lines("in " + " · ".join(group.names) + more, indent=4, style="dim")


def _at(result: Result) -> int:
    """Where a result is counted."""
    return _COUNTED[result.status] if result.is_applicable else 3


_COUNTED = {Status.PASS: 0, Status.FAIL: 1, Status.INCONCLUSIVE: 2}


def _counts(counts: Sequence[int]) -> list[Cell]:
    return [Cell(f"{count}", style if count else "dim") for count, style in zip(counts, _STYLES, strict=True)]


def _several(total: int) -> str:
    return f"{total} conversation{'' if total == 1 else 's'}"
