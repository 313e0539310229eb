"""One entry of a suite, checked: its trials, and judging them."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from averment.documents import Document, InconclusivePolicy
from averment.documents.fields import Scalar
from averment.engine import Envelope, Plan, run_plan, unproduced
from averment.errors import EvidenceError
from averment.evidence import Evidence
from averment.evidence.load import Reading, read_input
from averment.suites.kept import Kept
from averment.suites.plans import Plans
from averment.suites.process import Commands
from averment.suites.tables import Row
from averment.suites.templates import Template
from averment.text.jsontext import sha256
from averment.text.shown import printable
from averment.verdicts.judged import Case, Produced

__all__ = ["Entry", "Outcome", "Production", "Trial"]


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """What is judged in one step: a recording, or one run of the command. It is known before anything runs.

    Attributes:
        name: what to call it, unique in its entry: a recording's file, with its case where there are cases; or the case
            and the repetition, `A-17 #2`, where there are several.
        case: which case and repetition it is.
        file: the recording, or the file that the command is to write, as it can be opened from the working folder.
        values: the values of its case, for documents.
        texts: the same as text, for the command.
        part: for what is produced, the way from the folder of produced files to `file`, without extension.
    """

    name: str
    case: Case
    file: str
    values: Mapping[str, Scalar]
    texts: Mapping[str, str]
    part: tuple[str, ...] = ()


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """One conversation, judged.

    Attributes:
        envelope: the verdicts; all INCONCLUSIVE, `not_produced`, where the command gave no conversation.
        document: what it was judged by.
        evidence: what was recorded; empty where nothing was produced.
        conversation: its name: the file, with its id where the file holds several.
        case: which case and repetition it is; the same for all conversations of one file.
        produced: what the command produced; None for recordings.
    """

    envelope: Envelope
    document: Document
    evidence: Evidence
    conversation: str
    case: Case
    produced: Produced | None = None


class Production(msgspec.Struct, frozen=True):
    """How conversations are produced: the command, a template for each word, and its limit in seconds."""

    words: Sequence[Template]
    timeout: float


class Entry:
    """One entry of a suite.

    Attributes:
        name: its name, unique in the suite.
        rows: its cases; the one without a name where it has no table.
        repeat: how often each case is repeated.
        production: how its conversations are produced; None where they are recorded.
        is_whole: whether all of its cases were chosen.
    """

    def __init__(
        self,
        name: str,
        *,
        rows: Sequence[Row],
        plans: Plans,
        kept: Kept,
        folder: str,
        repeat: int = 1,
        production: Production | None = None,
        recordings: Sequence[Sequence[str]] = (),
        inconclusive_policy: InconclusivePolicy | None = None,
        reading: Reading | None = None,
        folder_name: str = "",
        case_folders: Mapping[str, str] | None = None,
        is_whole: bool = True,
        sources: Sequence[str] = (),
    ) -> None:
        self.name = name
        self.rows = rows
        self.repeat = repeat
        self.production = production
        self.is_whole = is_whole
        self._sources = sources
        self._plans = plans
        self._kept = kept
        self._folder = folder
        self._recordings = recordings
        self._policy = inconclusive_policy
        self._reading = reading
        self._folder_name = folder_name
        self._case_folders = case_folders or {}

    def trials(self) -> Iterator[Trial]:
        """What is to be judged, in order: by case, then by repetition or file."""
        for index, row in enumerate(self.rows):
            if self.production is not None:
                yield from self._repetitions(row)
            else:
                yield from self._recorded(row, self._recordings[index])

    def files(self) -> Iterator[str]:
        """The files that are read: its documents, table, mapping and recordings."""
        yield from self._sources
        for files in self._recordings:
            yield from files

    @property
    def count(self) -> int:
        """How many trials there are."""
        if self.production is not None:
            return len(self.rows) * self.repeat
        return sum(len(files) for files in self._recordings)

    def plan(self, trial: Trial) -> Plan:
        """What a trial is judged by: its documents, filled with the values of its case."""
        return self._plans.plan(trial.values)

    def judge(
        self, trial: Trial, *, inconclusive_policy: InconclusivePolicy | None = None
    ) -> Iterator[Outcome]:
        """Judges a trial, after running its command if it has one: an outcome for each conversation.

        Args:
            trial: one of `trials()`.
            inconclusive_policy: wins over that of the entry and those of documents.

        Raises:
            EvidenceError: a recording can't be read.
            UsageError: what is produced can't be kept.
        """
        if self.production is not None:
            self._kept.make()
        yield from self.outcomes(trial, self.produce(trial, Commands()), inconclusive_policy)

    def empty(self) -> None:
        """Makes the folder of produced files, and removes what stands there of earlier runs of these cases.

        Raises:
            UsageError: what is produced can't be kept there.
        """
        if self.production is None:
            return
        self._kept.make()
        if self.is_whole:
            self._kept.empty((self._folder_name,))
            return
        for row in self.rows:
            if row.name is not None:
                self._kept.empty((self._folder_name, self._case_folders[row.name]))

    def produce(self, trial: Trial, commands: Commands) -> str | None:
        """Runs the command of a trial, if it has one; returns what became of it where it failed.

        Safe to be called from several threads, for different trials.
        """
        if self.production is None:
            return None
        self._kept.prepare(trial.part)
        output = self._kept.relative(trial.file)
        texts = {**trial.texts, **_placeholders(trial.case), "out": output}
        environment = {name: text for name, text in os.environ.items() if name != "AVERMENT_CASE"}
        environment["AVERMENT_OUT"] = os.path.abspath(trial.file)
        environment["AVERMENT_REPEAT"] = texts["repeat"]
        if trial.case.name is not None:
            environment["AVERMENT_CASE"] = trial.case.name
        return commands.run(
            [word.filled(texts) for word in self.production.words],
            folder=self._folder,
            environment=environment,
            output=trial.file,
            log=self._kept.path(trial.part, ".log"),
            timeout=self.production.timeout,
        )

    def outcomes(
        self, trial: Trial, why: str | None, inconclusive_policy: InconclusivePolicy | None
    ) -> Iterator[Outcome]:
        """Judges what was recorded, or produced; `why` says what became of a command that failed."""
        plan = self.plan(trial)
        policy = inconclusive_policy or self._policy
        produced = None
        found: list[Evidence] = []
        if self.production is None:
            found = Evidence.load_all(trial.file, from_format=self._reading)
        else:
            data, missing = _written(trial.file)
            produced = Produced(
                file=self._kept.relative(trial.file), sha256=None if data is None else sha256(data)
            )
            why = why or missing
            if why is None and data is not None:
                try:
                    found = Evidence.all_from_bytes(data, name=trial.file, from_format=self._reading)
                except EvidenceError as error:
                    why = _unreadable(error)
        if why is not None:
            yield Outcome(
                envelope=unproduced(plan, why, inconclusive_policy=policy),
                document=plan.document,
                evidence=Evidence(),
                conversation=trial.file,
                case=trial.case,
                produced=produced,
            )
        for index, evidence in enumerate(found):
            id_ = printable(evidence.model.conversation_id or f"#{index}", 60)
            yield Outcome(
                envelope=run_plan(plan, evidence, inconclusive_policy=policy),
                document=plan.document,
                evidence=evidence,
                conversation=f"{trial.file} [{id_}]" if len(found) > 1 else trial.file,
                case=trial.case,
                produced=produced,
            )

    def _recorded(self, row: Row, files: Sequence[str]) -> Iterator[Trial]:
        for index, file in enumerate(files):
            is_repeated = self.repeat > 1
            case = Case(
                suite=self.name,
                name=row.name,
                repeat=index + 1 if is_repeated else 1,
                repeats=self.repeat,
            )
            path = os.path.join(self._folder, file)
            name = file if row.name is None else f"{row.name}: {file}"
            yield Trial(name=name, case=case, file=path, values=row.values, texts=row.texts)

    def _repetitions(self, row: Row) -> Iterator[Trial]:
        for repeat in range(1, self.repeat + 1):
            case = Case(suite=self.name, name=row.name, repeat=repeat, repeats=self.repeat)
            of_case = () if row.name is None else (self._case_folders[row.name],)
            part = (self._folder_name, *of_case, str(repeat))
            name = row.name if row.name is not None else self.name
            yield Trial(
                name=f"{name} #{repeat}" if repeat > 1 else name,
                case=case,
                file=self._kept.path(part, ".json"),
                values=row.values,
                texts=row.texts,
                part=part,
            )


def _placeholders(case: Case) -> dict[str, str]:
    """What commands are given beside the columns; the case's name stands in for a column that names it."""
    return {"repeat": str(case.repeat), **({} if case.name is None else {"case": case.name})}


def _written(path: str) -> tuple[bytes | None, str | None]:
    """The bytes that a command wrote, or None; and why they are no conversation, as far as that can be seen."""
    try:
        status = os.lstat(path)
    except OSError:
        return None, "the command wrote nothing to `{out}`"
    if not stat.S_ISREG(status.st_mode):
        return None, "what the command wrote to `{out}` is no regular file"
    try:
        data, _ = read_input(path)
    except EvidenceError as error:
        return None, _unreadable(error)
    return data, None if data else "the command wrote an empty file to `{out}`"


def _unreadable(error: EvidenceError) -> str:
    problem = error.problems[0]
    return f"what the command wrote can't be read: {problem.message} ({problem.code})"
