"""Two runs compared: assertion by assertion and case by case, so that one that broke is not hidden by one that was fixed.

A case is known again by its names: in a suite by those of the entry and of the case, else by the document's and the
conversation's. Recordings of a suite that are not repeats of one another go by the conversation's name as well, several
conversations of one name by their order. Envelopes that were kept without the names of their conversations are matched by
their order. Where either run has one document only, outside of suites, it is the same one whatever it is called.

A case that only one of the runs has tells nothing of the agent: it is a gap in what is covered, or closes one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec

from averment.errors import Problem, UsageError
from averment.verdicts.changes import Change, change
from averment.verdicts.exact import fails_more
from averment.verdicts.judged import Judged
from averment.verdicts.repeats import Counts, rank

__all__ = ["GATES", "Comparison", "Difference", "Run", "Side", "Where", "compare"]


class Where(NamedTuple):
    """A case, as it is known again in another run. All of it is untrusted text.

    Attributes:
        document: the document's name; empty in a suite, whose entry has one document whatever it is called.
        suite: the name of the suite's entry; None outside of suites.
        case: the name of the case; None where the entry has none.
        conversation: the conversation's name; None where it is produced, is one of several repeats, or has none.
        number: which of those with the same names it is, from 1.
    """

    document: str
    suite: str | None
    case: str | None
    conversation: str | None
    number: int = 1

    @property
    def label(self) -> str:
        """The case for people: `support: lost parcel`, or `calls/a.json`."""
        if self.suite is None:
            name = self.conversation or "conversation"
        else:
            parts = [part for part in (self.case, self.conversation) if part is not None]
            name = ": ".join([self.suite, *parts])
        return name if self.number == 1 else f"{name} [{self.number}]"


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """What one run says of an assertion in a case.

    Attributes:
        counts: what the repeats came to.
        severity: error, warning or note.
        code: why the gravest of them is not PASS; None where all are.
        reason: the same in prose, as the envelope has it.
        conversation: the name of the conversation in which it is so; None where all are PASS.
    """

    counts: Counts
    severity: str
    code: str | None = None
    reason: str | None = None
    conversation: str | None = None


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one assertion in one case.

    Attributes:
        change: what became of it.
        where: the case.
        id: the assertion's id.
        kind: its kind, in the new run if it is there.
        file: the file in which it stands.
        line: its line there; None where that is not known.
        old: what the old run says; None where its document does not have the assertion.
        new: what the new run says; likewise.
        chance: how likely chance alone puts so many of the failures into the new run (`exact.fails_more`); None where
            neither decided it more than once, one did not decide it, or nothing failed.
    """

    change: Change
    where: Where
    id: str
    kind: str
    file: str
    line: int | None
    old: Side | None
    new: Side | None
    chance: float | None = None

    @property
    def gates(self) -> bool:
        """Whether it is an error in either run; a severity that was lowered takes nothing out of the comparison."""
        old, new = self.old, self.new
        return (old is not None and old.severity == "error") or (new is not None and new.severity == "error")


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two runs.

    Attributes:
        conversations: how many it judged.
        cases: how many cases these are of.
        documents: the names of its documents.
        engines: the versions that judged it.
    """

    conversations: int
    cases: int
    documents: tuple[str, ...]
    engines: tuple[str, ...]


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two runs, compared.

    Attributes:
        old: the old run.
        new: the new run.
        cases: how many cases both have.
        other_documents: in how many of these the document's digest is another.
        same_evidence: in how many of these the evidence is the same, repeat by repeat.
        fewer_repeats: in how many of these the new run has fewer repeats than the old one.
        counts: how often each change occurs, of assertions that are errors in either run.
        lesser: the same of those that are warnings or notes in both, which never gate.
        differences: the gravest change first, then in the order of the new run; without what still passes, or is still not
            applicable, unless it was asked for.
        severities: assertions whose severity is another: id, old, new, in how many cases.
        missing: cases that only the old run has.
        added: cases that only the new run has.
        by_order: whether conversations without names were matched by their order.
    """

    old: Run
    new: Run
    cases: int
    other_documents: int
    same_evidence: int
    fewer_repeats: int
    counts: Mapping[Change, int]
    lesser: Mapping[Change, int]
    differences: Sequence[Difference]
    severities: Sequence[tuple[str, str, str, int]]
    missing: Sequence[Where]
    added: Sequence[Where]
    by_order: bool

    def count(self, gate: str) -> int:
        """How often one of `GATES` occurs, of what gates."""
        if gate == "missing":
            return len(self.missing)
        return len(self.added) if gate == "new" else self.counts[Change[gate.upper()]]


GATES = (*(each.value for each in Change), "missing", "new")
"""What a gate can say no to: changes, and cases that only the old run has, or the new one."""


def compare(old: Iterable[Judged], new: Iterable[Judged], *, every: bool = False) -> Comparison:
    """Compares two runs. Of what is given no envelope is kept, so that streams of any length can be compared.

    Args:
        old: the conversations of the run to compare with.
        new: those of the run that is compared.
        every: whether to list also what still passes, or is still not applicable.

    Raises:
        UsageError: one of them names its conversations and the other does not.
    """
    alike: dict[_Statement, _Statement] = {}
    before, after = _taken(old, alike), _taken(new, alike)
    if before.cases and after.cases and before.has_unnamed != after.has_unnamed:
        raise UsageError(_one_unnamed("old" if before.has_unnamed else "new"))
    names = before.names(), after.names()
    if len(names[0]) == len(names[1]) == 1 and names[0] != names[1]:
        before.rename(names[1][0])
    counts: Counter[Change] = Counter()
    lesser: Counter[Change] = Counter()
    severities: Counter[tuple[str, str, str]] = Counter()
    found: list[Difference] = []
    both = [where for where in after.cases if where in before.cases]
    for where in both:
        if not every and _is_unchanged(before.cases[where], after.cases[where]):
            for stated in after.cases[where][0].stated:
                (counts if stated.severity == "error" else lesser)[Change.STILL_PASSING] += 1
            continue
        for each in _differences(where, before.cases[where], after.cases[where]):
            (counts if each.gates else lesser)[each.change] += 1
            if each.old is not None and each.new is not None and each.old.severity != each.new.severity:
                severities[each.id, each.old.severity, each.new.severity] += 1
            if every or each.change not in _UNCHANGED:
                found.append(each)
    found.sort(key=lambda each: (_RANK[each.change], not each.gates))
    pairs = [(before.cases[where], after.cases[where]) for where in both]
    return Comparison(
        old=before.run(),
        new=after.run(),
        cases=len(both),
        other_documents=sum({a.document for a in was} != {b.document for b in is_} for was, is_ in pairs),
        same_evidence=sum([a.evidence for a in was] == [b.evidence for b in is_] for was, is_ in pairs),
        fewer_repeats=sum(len(is_) < len(was) for was, is_ in pairs),
        counts={each: counts[each] for each in Change},
        lesser={each: lesser[each] for each in Change},
        differences=found,
        severities=[(*key, times) for key, times in severities.items()],
        missing=[where for where in before.cases if where not in after.cases],
        added=[where for where in after.cases if where not in before.cases],
        by_order=before.has_unnamed and after.has_unnamed,
    )


_RANK = {each: index for index, each in enumerate(Change)}
_UNCHANGED = frozenset({Change.STILL_PASSING, Change.STILL_INAPPLICABLE})


class _Stated(NamedTuple):
    """What a document says of an assertion."""

    id: str
    kind: str
    severity: str
    file: str
    line: int | None


_Statement = tuple[_Stated, ...]
"""What a document says of all of them."""


class _Trial(NamedTuple):
    """What is kept of a conversation.

    Attributes:
        stated: the assertions; one tuple for all conversations of both runs that have the same.
        ranks: a byte for each, the verdict.
        why: code and reason of those that are not PASS, by their index.
        conversation: its name.
        document: the document's digest.
        evidence: the digest of the evidence.
    """

    stated: _Statement
    ranks: bytes
    why: Mapping[int, tuple[str | None, str | None]]
    conversation: str
    document: str
    evidence: str


class _Taken:
    """A run, reduced to what a comparison needs."""

    def __init__(self, alike: dict[_Statement, _Statement]) -> None:
        self.cases: dict[Where, list[_Trial]] = {}
        self.has_unnamed = False
        self._conversations = 0
        self._documents: dict[str, str] = {}
        self._engines: set[str] = set()
        self._alike = alike
        self._known: dict[str, str] = {}
        self._seen: Counter[tuple[Where, int]] = Counter()

    def take(self, entry: Judged) -> None:
        envelope = entry.envelope
        where = _where(entry)
        repeat = entry.case.repeat if entry.case is not None else 1
        self._seen[where, repeat] += 1
        where = where._replace(number=self._seen[where, repeat])
        self.cases.setdefault(where, []).append(self._trial(entry))
        self.has_unnamed = self.has_unnamed or (entry.case is None and not entry.is_named)
        self._conversations += 1
        self._documents[entry.document] = ""
        self._engines.add(str(envelope.get("engine", {}).get("version", "unknown")))

    def _trial(self, entry: Judged) -> _Trial:
        results = entry.results
        stated = tuple(
            _Stated(
                result["id"],
                result["kind"],
                result.get("severity", "error"),
                file,
                (result.get("at") or {}).get("line"),
            )
            for file, result in zip(entry.files, results, strict=True)
        )
        ranks = bytes(rank(result["status"], result.get("code")) for result in results)
        why = {
            index: (result.get("code"), result.get("reason") or result.get("public_reason"))
            for index, result in enumerate(results)
            if ranks[index] > 1
        }
        digest = entry.envelope["document"]["sha256"]
        return _Trial(
            self._alike.setdefault(stated, stated),
            ranks,
            why or _NOTHING,
            entry.conversation,
            self._known.setdefault(digest, digest),
            entry.envelope["evidence_sha256"],
        )

    def names(self) -> list[str]:
        """The documents of what is not of a suite."""
        return list(dict.fromkeys(where.document for where in self.cases if where.suite is None))

    def rename(self, document: str) -> None:
        self.cases = {
            where if where.suite is not None else where._replace(document=document): trials
            for where, trials in self.cases.items()
        }

    def run(self) -> Run:
        return Run(
            conversations=self._conversations,
            cases=len(self.cases),
            documents=tuple(self._documents),
            engines=tuple(sorted(self._engines)),
        )


_NOTHING: Mapping[int, tuple[str | None, str | None]] = {}


def _taken(entries: Iterable[Judged], alike: dict[_Statement, _Statement]) -> _Taken:
    taken = _Taken(alike)
    for entry in entries:
        taken.take(entry)
    return taken


def _where(entry: Judged) -> Where:
    case = entry.case
    if case is None:
        return Where(entry.document, None, None, entry.conversation if entry.is_named else None)
    is_repeated = entry.produced is not None or case.repeats > 1
    return Where("", case.suite, case.name, None if is_repeated else entry.conversation)


def _is_unchanged(old: Sequence[_Trial], new: Sequence[_Trial]) -> bool:
    """Whether everything passed once in each run, as most does in most comparisons."""
    was, is_ = old[0], new[0]
    is_alone = len(old) == len(new) == 1
    return is_alone and was.stated is is_.stated and was.ranks == is_.ranks == _PASS * len(is_.ranks)


_PASS = bytes([rank("PASS", None)])


class _Said:
    """What a run says of an assertion in a case, while its repeats are counted."""

    __slots__ = ("ranks", "stated", "why", "worst")

    def __init__(self, stated: _Stated) -> None:
        self.stated = stated
        self.ranks = [0, 0, 0, 0]
        self.worst = 1
        self.why: tuple[str | None, str | None, str | None] = (None, None, None)

    def side(self) -> Side:
        code, reason, conversation = self.why
        return Side(
            counts=_counts(*self.ranks),
            severity=self.stated.severity,
            code=code,
            reason=reason,
            conversation=conversation,
        )


@lru_cache(maxsize=4096)
def _counts(inapplicable: int, passed: int, undecided: int, failed: int) -> Counts:
    return Counts(passed=passed, failed=failed, undecided=undecided, not_applicable=inapplicable)


def _said(trials: Iterable[_Trial]) -> dict[str, _Said]:
    """By the assertions' ids."""
    found: dict[str, _Said] = {}
    for trial in trials:
        for index, (stated, verdict) in enumerate(zip(trial.stated, trial.ranks, strict=True)):
            said = found.get(stated.id)
            if said is None:
                said = found[stated.id] = _Said(stated)
            said.ranks[verdict] += 1
            if verdict > said.worst:
                said.worst = verdict
                said.why = (*trial.why[index], trial.conversation)
    return found


def _differences(where: Where, old: Iterable[_Trial], new: Iterable[_Trial]) -> Iterator[Difference]:
    before, after = _said(old), _said(new)
    for id_, said in {**after, **{id_: said for id_, said in before.items() if id_ not in after}}.items():
        was = before[id_].side() if id_ in before else None
        is_ = after[id_].side() if id_ in after else None
        yield Difference(
            change=change(was and was.counts, is_ and is_.counts),
            where=where,
            id=id_,
            kind=said.stated.kind,
            file=said.stated.file,
            line=said.stated.line,
            old=was,
            new=is_,
            chance=_chance(was, is_),
        )


def _chance(old: Side | None, new: Side | None) -> float | None:
    if old is None or new is None:
        return None
    was, is_ = old.counts, new.counts
    if max(was.decided, is_.decided) < _SEVERAL or not was.failed + is_.failed:
        return None
    return fails_more(was.passed, was.failed, is_.passed, is_.failed)


_SEVERAL = 2


def _one_unnamed(which: str) -> Problem:
    return Problem(
        code="not_comparable",
        message=f"the {which} run does not name its conversations, and the other one does",
        expected="two files of results, or two of envelopes",
        mend="Write both with `averment run --results`, which keeps the names.",
    )
