"""`averment.yaml`: a test for every assertion and trial of a suite; a trial is a recording, or one run of a command.

All tests are known before anything runs. A command is run when the first test of its trial is, once in each process:
one that fails leaves all of them INCONCLUSIVE, `not_produced`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from averment.errors import AvermentError
from averment.pytesting.conversations import Conversations, Judgement
from averment.pytesting.items import VerdictItem, items_of, policy_of
from averment.pytesting.outcomes import Told, near, node_names, refused, represented, safe
from averment.suites import Entry, Suite, Trial

__all__ = ["SuiteEntry", "SuiteFile", "SuiteTrial"]


class SuiteFile(pytest.File):
    """A suite."""

    def collect(self) -> Iterator[SuiteEntry]:
        """Its entries, as written.

        Raises:
            Told: the suite has mistakes, or what it names.
        """
        path = near(self.path)
        try:
            suite = Suite.load(path, keep=_keep(self.config, os.path.dirname(path)))
        except AvermentError as error:
            raise refused(error.problems, self.path) from None
        for entry, name in zip(suite.entries, node_names(each.name for each in suite.entries), strict=True):
            yield SuiteEntry.from_parent(self, name=name, entry=entry)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> Any:  # type: ignore[override]
        """Mistakes are shown as such, without a traceback."""
        return represented(excinfo) if isinstance(excinfo.value, Told) else super().repr_failure(excinfo)


class SuiteEntry(pytest.Collector):
    """One entry.

    Args:
        entry: the entry.
    """

    def __init__(self, *, entry: Entry, **node: Any) -> None:
        super().__init__(**node)
        self._entry = entry

    def collect(self) -> Iterator[SuiteTrial]:
        """Its trials, in order."""
        trials = [*self._entry.trials()]
        for trial, name in zip(trials, node_names(each.name for each in trials), strict=True):
            yield SuiteTrial.from_parent(self, name=name, entry=self._entry, trial=trial)


class SuiteTrial(pytest.Collector):
    """One trial; a file with several conversations is one, so that a test is known before anything is produced.

    Args:
        entry: the entry that it is of.
        trial: the trial.
    """

    def __init__(self, *, entry: Entry, trial: Trial, **node: Any) -> None:
        super().__init__(**node)
        self._entry = entry
        self._trial = trial

    def collect(self) -> Iterator[VerdictItem]:
        """A test for each assertion."""
        document = self._entry.plan(self._trial).document
        conversations = Conversations(document, self._trial.name, self._judged)
        return items_of(self, conversations, group=f"{safe(self._entry.name[:60])}/{self.name}")

    def _judged(self) -> Iterator[Judgement]:
        if self._entry.production is not None and hasattr(self.config, "workerinput"):
            _ignore(self.path.parent)
        for outcome in self._entry.judge(self._trial, inconclusive_policy=policy_of(self.config)):
            yield Judgement(outcome.envelope, outcome.evidence, outcome.conversation)


def _keep(config: pytest.Config, folder: str) -> str | None:
    """Where a process of pytest-xdist keeps what it produces, beside the default: two may run the same command."""
    worker = getattr(config, "workerinput", None)
    return None if worker is None else os.path.join(folder, _FOLDER, f"produced-{worker['workerid']}")


def _ignore(folder: Path) -> None:
    """Keeps such a folder out of version control, as a suite does with the default one."""
    (folder / _FOLDER).mkdir(exist_ok=True)
    with suppress(FileExistsError), (folder / _FOLDER / ".gitignore").open("x", encoding="utf-8") as file:
        file.write("*\n")


_FOLDER = ".averment"
