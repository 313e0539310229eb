"""What a run prints for people, conversation by conversation, and at the end what they came to.

One conversation is told in full. Of many, those in which nothing is open take one line, and only the first few of them;
an assertion that is open for the same reason again and again is shown three times with its evidence, then by its name, and
after many conversations only counted. Nothing is held but the first conversation, until there is a second.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from averment.assertions.base import Status
from averment.documents import Document
from averment.engine import Envelope
from averment.evidence.model import EvidenceModel
from averment.report.look import Look

if TYPE_CHECKING:
    from averment.report.summary import Summary
    from averment.verdicts.judged import Case

__all__ = ["Printing"]

_PASSING = 10
_IN_FULL = 3
_BY_NAME = 50
_TOLD_APART = 1000


class _Item(NamedTuple):
    """One conversation, judged."""

    envelope: Envelope
    document: Document
    evidence: EvidenceModel
    name: str
    case: Case | None
    is_produced: bool

    @property
    def label(self) -> str:
        """What the conversation is called."""
        from averment.verdicts.judged import named

        return named(self.name, self.case, is_produced=self.is_produced)


class Printing:
    """Prints conversations for people.

    Args:
        say: prints a text.
        look: colours, and the terminal's width.
        verbose: show passes as well, and everything in full.
        quiet: leave out conversations in which nothing is open, and tables.
    """

    def __init__(
        self, say: Callable[[str], object], look: Look, *, verbose: bool = False, quiet: bool = False
    ) -> None:
        self._say = say
        self._look = look
        self._verbose = verbose
        self._quiet = quiet
        self._first: _Item | None = None
        self._summary: Summary | None = None
        self._document: Document | None = None
        self._heading: str | None = None
        self._passing = 0
        self._by_name = 0
        self._in_full: dict[tuple[str, str, Status, str | None], int] = {}
        self._is_apart = True

    def take(
        self,
        envelope: Envelope,
        document: Document,
        evidence: EvidenceModel,
        name: str,
        case: Case | None = None,
        *,
        is_produced: bool = False,
    ) -> None:
        """One conversation was judged.

        Args:
            envelope: the results.
            document: what it was judged by.
            evidence: what was recorded.
            name: the name by which it was read.
            case: which one of a suite it is.
            is_produced: whether a command made it.
        """
        item = _Item(envelope, document, evidence, name, case, is_produced)
        if self._summary is None and self._first is None:
            self._first = item
            return
        if self._summary is None:
            from averment.report.summary import Summary

            self._summary = Summary()
        if self._first is not None:
            first, self._first = self._first, None
            self._one_of_many(first, self._summary)
        self._one_of_many(item, self._summary)

    def flush(self) -> None:
        """Prints what is held: the one conversation that there is."""
        if self._first is None:
            return
        from averment.report.terminal import open_results, render

        item, self._first = self._first, None
        envelope, document, evidence, name, case, is_produced = item
        if case is not None and (case.name is not None or is_produced):
            name = f"{item.label} ({name})"
        if not self._quiet or open_results(envelope.results):
            text = render(envelope, document, evidence, source=name, look=self._look, verbose=self._verbose)
            self._say(text)

    def finish(self) -> None:
        """Prints what they came to, where there are several."""
        self.flush()
        if self._summary is not None:
            lead = "" if self._is_apart else "\n"
            self._say(lead + self._summary.render(self._look, quiet=self._quiet))

    def _one_of_many(self, item: _Item, summary: Summary) -> None:
        from averment.report.terminal import open_results

        summary.add(item.envelope, item.document, item.label, item.case)
        indexes = open_results(item.envelope.results)
        if self._verbose:
            self._block(item, self._with_passes(item, indexes))
        elif not indexes:
            self._passes(item)
        elif full := self._new_ones(item, indexes):
            self._block(item, full, [index for index in indexes if index not in full])
        else:
            self._names(item, indexes)

    def _with_passes(self, item: _Item, indexes: Sequence[int]) -> list[int]:
        results = item.envelope.results
        return [*indexes, *(index for index, result in enumerate(results) if result.status is Status.PASS)]

    def _new_ones(self, item: _Item, indexes: Sequence[int]) -> list[int]:
        """Those that were not shown often enough to be known."""
        found = []
        for index in indexes:
            result = item.envelope.results[index]
            key = (item.document.file_name(index), result.id, result.status, result.code)
            if key not in self._in_full and len(self._in_full) >= _TOLD_APART:
                continue
            self._in_full[key] = shown = self._in_full.get(key, 0) + 1
            if shown <= _IN_FULL:
                found.append(index)
        return found

    def _passes(self, item: _Item) -> None:
        self._passing += 1
        if self._quiet or self._passing > _PASSING + 1:
            return
        if self._passing > _PASSING:
            self._line(item, self._look.paint("dim", "(further ones with nothing open are only counted)"))
        else:
            self._line(item, self._title(item))

    def _names(self, item: _Item, indexes: Sequence[int]) -> None:
        self._by_name += 1
        if self._by_name > _BY_NAME + 1:
            return
        if self._by_name > _BY_NAME:
            told = "(further ones are only counted; `--verbose` shows them all, `--results FILE` keeps them)"
            self._line(item, self._look.paint("dim", told))
        else:
            self._line(item, f"{self._title(item)}: {self._ids(item, indexes)}")

    def _ids(self, item: _Item, indexes: Sequence[int]) -> str:
        from averment.text.shown import brief

        results = [item.envelope.results[index] for index in indexes]
        shown = [
            f"{self._look.paint(each.status, each.status)} {brief(each.id, 80)}" for each in results[:10]
        ]
        return ", ".join(shown) + (f" and {len(results) - 10} more" if len(results) > 10 else "")

    def _block(self, item: _Item, full: Sequence[int], by_name: Sequence[int] = ()) -> None:
        from averment.report.terminal import cards

        lines = [self._title(item)]
        if item.case is not None and (item.case.name is not None or item.is_produced):
            from averment.text.shown import brief

            file = brief(item.name, 240)
            if self._look.width is None:
                lines = [f"{lines[0]}  {self._look.paint('dim', file)}"]
            else:
                lines += self._look.lines(file, indent=4, style="dim")
        if not full:
            lines.append("")
        for card in cards(item.envelope, item.document, item.evidence, full, self._look):
            lines += [*card, ""]
        if by_name:
            lines += [f"as before: {self._ids(item, by_name)}", ""]
        self._print(item, lines, is_block=True)

    def _line(self, item: _Item, line: str) -> None:
        self._print(item, [line], is_block=False)

    def _print(self, item: _Item, lines: Sequence[str], *, is_block: bool) -> None:
        """Prints lines; a block stands by itself, and what is judged by another document below the document's name."""
        from averment.text.shown import brief, inert

        lead = [] if self._is_apart or not is_block else [""]
        if item.document is not self._document:
            self._document = item.document
            heading = brief(item.document.display_name, 240)
            if heading != self._heading:
                self._heading = heading
                lead = [*([] if self._is_apart else [""]), self._look.paint("bold", heading), ""]
        self._is_apart = is_block
        self._say(inert("\n".join([*lead, *lines]) + "\n"))

    def _title(self, item: _Item) -> str:
        from averment.report.terminal import counted
        from averment.text.shown import brief

        code = int(item.envelope.exit_code)
        exit_ = self._look.paint(("PASS", "FAIL", "INCONCLUSIVE", "FAIL")[code], f"exit {code}")
        inapplicable = sum(not result.is_applicable for result in item.envelope.results)
        told = counted(item.envelope.counts(), self._look, zeros=False) or "nothing that gates"
        if lesser := counted(item.envelope.counts(errors=False), self._look, zeros=False):
            told += f" (warnings and notes: {lesser})"
        if inapplicable:
            told += self._look.paint("dim", f" · {inapplicable} not applicable")
        return f"{exit_}  {self._look.paint('bold', brief(item.label, 240))}  {told}"
