"""`x.averment.yaml` beside a folder `x/` of recordings: a test for every assertion and conversation."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from averment.documents import Document
from averment.engine import Plan, compile_plan, run_plan
from averment.errors import AvermentError, Problem, nearest
from averment.evidence import Evidence
from averment.pytesting.conversations import Conversations, Judgement
from averment.pytesting.items import VerdictItem, items_of, policy_of
from averment.pytesting.outcomes import Told, near, node_names, refused, represented
from averment.text.shown import printable

__all__ = ["DocumentFile", "Recording", "recordings"]


class DocumentFile(pytest.File):
    """A document with a folder of recordings beside it, which has its name without `.averment.yaml`."""

    def collect(self) -> Iterator[Recording]:
        """The recordings, in the order of their names.

        Raises:
            Told: the document has mistakes, or there are no recordings.
        """
        try:
            plan = compile_plan(Document.load(near(self.path)))
            files = recordings(self.path)
        except AvermentError as error:
            raise refused(error.problems, self.path) from None
        folder = _folder(self.path)
        names = node_names(file.relative_to(folder).as_posix() for file in files)
        for file, name in zip(files, names, strict=True):
            yield Recording.from_parent(self, name=name, file=file, plan=plan)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException]) -> Any:  # type: ignore[override]
        """Mistakes are shown as such, without a traceback."""
        return represented(excinfo) if isinstance(excinfo.value, Told) else super().repr_failure(excinfo)


class Recording(pytest.Collector):
    """A file with one conversation or several.

    Args:
        file: the file.
        plan: what is asserted of each of them.
    """

    def __init__(self, *, file: Path, plan: Plan, **node: Any) -> None:
        super().__init__(**node)
        self._file = file
        self._plan = plan

    def collect(self) -> Iterator[VerdictItem]:
        """The tests of each conversation; of a file that can't be read, those of one, which tell why."""
        try:
            found: Sequence[Evidence | AvermentError | None] = Evidence.load_all(near(self._file)) or [None]
        except AvermentError as error:
            found = [error]
        several = len(found) > 1
        file = near(self._file)
        group = f"{_folder(self.path).name}/{self.name}"
        ids = [_id(evidence, index) for index, evidence in enumerate(found)]
        for evidence, id_, parameter in zip(found, ids, node_names(ids), strict=True):
            yield from items_of(
                self,
                self._conversation(evidence, f"{file} [{id_}]" if several else file),
                parameter=parameter if several else None,
                group=f"{group} {parameter}" if several else group,
            )

    def _conversation(self, evidence: Evidence | AvermentError | None, name: str) -> Conversations:
        policy = policy_of(self.config)

        def judged() -> Iterator[Judgement]:
            if isinstance(evidence, AvermentError):
                raise evidence
            if evidence is not None:
                yield Judgement(run_plan(self._plan, evidence, inconclusive_policy=policy), evidence, name)

        return Conversations(self._plan.document, name, judged)


def recordings(document: Path) -> list[Path]:
    """The recordings beside a document: all files in its folder and in folders within, in the order of their names.

    What is hidden is none, nor are Python's files and a README.

    Raises:
        AvermentError: there is no folder, none of its files is a recording, or it can't be looked through.
    """
    folder = _folder(document)
    if not folder.is_dir():
        raise AvermentError(_no_folder(document, folder))
    found: list[Path] = []
    try:
        for where, folders, files in os.walk(folder, onerror=_raise):
            folders[:] = [name for name in folders if not _is_aside(name)]
            found += [Path(where, name) for name in files if not _is_aside(name)]
    except OSError as error:
        message = f"the folder of recordings can't be looked through: {error.strerror}"
        raise AvermentError(
            Problem(code="file_not_readable", message=message, file=near(Path(error.filename)))
        ) from None
    if not found:
        raise AvermentError(
            Problem(
                code="no_recordings",
                message="the folder beside the document holds no recordings",
                file=near(document),
                expected=f"a file for each recording in `{near(folder)}{os.sep}`",
                found="no file there, but for hidden ones, Python's and READMEs",
                mend="Put recordings there, in any format that `averment evidence formats` lists.",
            )
        )
    return sorted(found, key=lambda path: path.relative_to(folder).parts)


def _folder(document: Path) -> Path:
    return document.with_name(document.name.rpartition(".averment.")[0])


def _no_folder(document: Path, folder: Path) -> Problem:
    others = [other.name for other in document.parent.iterdir() if other.is_dir()]
    return Problem(
        code="no_recordings",
        message="there is no folder of recordings beside the document",
        file=near(document),
        expected=f"the folder `{near(folder)}{os.sep}`, with a file for each recording",
        nearest=nearest(folder.name, others),
        mend="Make it, or rename the document so that pytest does not collect it.",
    )


def _is_aside(name: str) -> bool:
    return name.startswith((".", "README")) or name == "__pycache__" or name.endswith((".py", ".pyc"))


def _raise(error: OSError) -> None:
    raise error


def _id(evidence: Evidence | AvermentError | None, index: int) -> str:
    """The conversation's id, which is evidence as all else that is recorded; or its place in the file."""
    id_ = evidence.model.conversation_id if isinstance(evidence, Evidence) else None
    return printable(id_, 60) if id_ else f"#{index}"
