"""A suite: entries, each checked before anything is produced or judged, and judging all of them in order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager

from averment.documents import InconclusivePolicy
from averment.errors import Problem, UsageError, nearest
from averment.evidence.load import Reading
from averment.suites.checked import Checking
from averment.suites.entry import Entry, Outcome, Trial
from averment.suites.fields import EntryFields, SuiteFields
from averment.suites.kept import Kept, folder_names
from averment.suites.process import Commands
from averment.suites.source import SuiteSource, read_suite
from averment.text.structs import Mistake, convert, fit

__all__ = ["Suite"]

_AHEAD = 4
"""Trials that are produced ahead of what is judged, for each command that may run at once."""


class Suite:
    """A checked suite; there is no such thing as an unchecked one.

    Attributes:
        path: its file, as it was given.
        entries: its entries, in order; those of which nothing was chosen are left out.
        source: the file in which it stands, where `path` is a folder.

    Example:
        >>> suite = Suite.load("averment.yaml")
        >>> for entry in suite.entries:
        ...     for trial in entry.trials():
        ...         for outcome in entry.judge(trial):
        ...             print(trial.name, outcome.envelope.exit_code)
    """

    def __init__(self, path: str, entries: Sequence[Entry], *, source: str | None = None) -> None:
        self.path = path
        self.entries = entries
        self.source = source or path

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        only: Sequence[str] = (),
        keep: str | os.PathLike[str] | None = None,
        reading: Reading | None = None,
    ) -> Suite:
        """The suite in a file: `averment.yaml` (or JSON), a TOML file with `[tool.averment]`, or a folder with one.

        Everything is checked: the file, and for what is chosen the documents, with the values of each case, tables,
        globs and commands.

        Args:
            path: the file, or its folder.
            only: what to choose: names, or patterns with `*`, of entries, of cases, or of `entry/case`; all by default.
            keep: the folder for what is produced, instead of `.averment/produced` beside the suite.
            reading: how conversations are read in entries that don't say; by default their format is recognised.

        Raises:
            UsageError: with every mistake in the suite and in what it names; or because nothing is chosen.
        """
        source = read_suite(os.fspath(path))
        problems: list[Problem] = []
        convert(source.source, source.base, SuiteFields, problems)
        checkings = _checkings(source, problems)
        kept = Kept(source.folder, None if keep is None else os.fspath(keep))
        folders = folder_names(list(dict.fromkeys(each.name for each in checkings)))
        entries: list[Entry] = []
        for checking in checkings:
            entry = checking.entry(only, kept, folders[checking.name], reading)
            problems += checking.problems
            if entry is not None:
                entries.append(entry)
        problems += _unmatched(checkings, only)
        if any(entry.production is not None for entry in entries):
            problems += kept.problems()
        if problems:
            raise UsageError(dict.fromkeys(problems))
        return cls(os.fspath(path), entries, source=source.source.name)

    def files(self) -> Iterator[str]:
        """All files that are read: the suite, its documents, tables, mappings and recordings; some more than once."""
        yield self.source
        for entry in self.entries:
            yield from entry.files()

    @property
    def count(self) -> int:
        """How many trials there are in all entries."""
        return sum(entry.count for entry in self.entries)

    def judge(
        self, *, jobs: int = 1, inconclusive_policy: InconclusivePolicy | None = None
    ) -> Generator[Outcome, None, None]:
        """Judges everything, in the order of entries, cases and repetitions, whatever ends first.

        When the iterator is closed, or an exception passes through it, all commands that are running are ended.

        Args:
            jobs: how many commands may run at once.
            inconclusive_policy: wins over those of entries and documents.

        Raises:
            EvidenceError: a recording can't be read.
            UsageError: what is produced can't be kept.
        """
        for entry in self.entries:
            entry.empty()
        with _producing(jobs) as produce:
            pending: deque[tuple[Entry, Trial, Callable[[], str | None]]] = deque()
            for entry in self.entries:
                for trial in entry.trials():
                    pending.append((entry, trial, produce(entry, trial)))
                    if len(pending) > jobs * _AHEAD:
                        yield from _judged(*pending.popleft(), inconclusive_policy)
            while pending:
                yield from _judged(*pending.popleft(), inconclusive_policy)


def _judged(
    entry: Entry, trial: Trial, wait: Callable[[], str | None], policy: InconclusivePolicy | None
) -> Iterator[Outcome]:
    return entry.outcomes(trial, wait(), policy)


@contextmanager
def _producing(jobs: int) -> Iterator[Callable[[Entry, Trial], Callable[[], str | None]]]:
    """What starts producing a trial, and returns what waits for its end."""
    from concurrent.futures import ThreadPoolExecutor

    commands = Commands()
    pool = ThreadPoolExecutor(jobs)

    def produce(entry: Entry, trial: Trial) -> Callable[[], str | None]:
        if entry.production is None:
            return _nothing
        return pool.submit(entry.produce, trial, commands).result

    try:
        yield produce
    finally:
        commands.stop()
        pool.shutdown(cancel_futures=True)


def _nothing() -> None:
    """Waits for nothing: a recording is there."""


def _checkings(source: SuiteSource, problems: list[Problem]) -> list[Checking]:
    """The entries that have the right shape, with names of their own."""
    value = source.source.value
    for step in source.base:
        value = value[step]
    items = value.get("suite") if isinstance(value, dict) else None
    found: list[Checking] = []
    names: dict[str, int] = {}
    for index, item in enumerate(items if isinstance(items, list) else ()):
        fields, _ = fit(item, EntryFields)
        if fields is None:
            continue  # the suite's fields have said so
        checking = Checking(source, index, fields)
        if checking.name in names and checking.name:
            problems.append(_duplicate(source, index, checking.name, names[checking.name]))
        names.setdefault(checking.name, index)
        found.append(checking)
    return found


def _duplicate(source: SuiteSource, index: int, name: str, first: int) -> Problem:
    mistake = Mistake(
        "duplicate_name",
        f"two entries are called `{name[:60]}`: {first + 1} and {index + 1}",
        ("suite", index, "name"),
        expected="a name of its own for every entry; by default it is that of the document",
        mend="Give one of them another `name`.",
    )
    return mistake.at(source.source, source.base)


def _unmatched(checkings: Sequence[Checking], only: Sequence[str]) -> list[Problem]:
    """Patterns that choose nothing."""
    if any(checking.problems for checking in checkings):
        return []  # cases of a table that can't be read might have been meant
    names = [name for checking in checkings for name in (checking.name, *checking.case_names)]
    return [
        Problem(
            code="nothing_chosen",
            message=f"no entry and no case is called `{pattern[:60]}`",
            expected="the name of an entry or of a case, or a pattern of names",
            nearest=nearest(pattern, names[:1000]),
        )
        for pattern in only
        if not any(checking.is_matched(pattern) for checking in checkings)
    ]
