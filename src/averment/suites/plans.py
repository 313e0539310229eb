"""The plans of an entry: its documents, filled with a case's values, compiled once for all cases that fill them alike."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Mapping, Sequence

import msgspec

from averment.documents import Document
from averment.documents.fields import Scalar
from averment.engine import Plan, compile_plan
from averment.errors import DocumentError, Problem
from averment.policies import POLICY
from averment.suites.tables import Row
from averment.text.jsontext import canonical

__all__ = ["Plans", "document_path"]

_MAX_KEPT = 256
_MAX_REFUSED = 20


def document_path(name: str, folder: str) -> str:
    """The document's file, as it can be opened from the working folder; a bundled one is what it is."""
    return name if name.startswith(POLICY) else os.path.join(folder, name)


class Plans:
    """The plans of an entry, made when they are first asked for."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self._asked: list[str] | None = None
        self._kept: OrderedDict[bytes, Plan] = OrderedDict()

    def check(self, rows: Sequence[Row]) -> list[Problem]:
        """What is wrong with the documents: by themselves, or with the values of some cases.

        After twenty cases with mistakes no more are looked at.
        """
        refused: list[tuple[Row, tuple[Problem, ...]]] = []
        looked_at: set[bytes] = set()
        for row in rows:
            if self._asked is not None and self._key(row.values) in looked_at:
                continue
            try:
                self._load(row.values)
            except DocumentError as error:
                refused.append((row, error.problems))
                if len(refused) == _MAX_REFUSED:
                    break
            if self._asked is not None:
                looked_at.add(self._key(row.values))
        if not refused:
            return []
        # What is wrong whatever the values are is told once, and of no case.
        of_all = (
            set.intersection(*(set(problems) for _, problems in refused)) if self._asked is None else set()
        )
        found = [problem for problem in refused[0][1] if problem in of_all]
        return found + [
            _of_case(problem, row)
            for row, problems in refused
            for problem in problems
            if problem not in of_all
        ]

    def plan(self, values: Mapping[str, Scalar]) -> Plan:
        """The plan for a case.

        Raises:
            DocumentError: the documents have mistakes, which `check` would have told.
        """
        if self._asked is not None and (plan := self._kept.get(self._key(values))) is not None:
            self._kept.move_to_end(self._key(values))
            return plan
        plan = compile_plan(self._load(values))
        self._kept[self._key(values)] = plan
        if len(self._kept) > _MAX_KEPT:
            self._kept.popitem(last=False)
        return plan

    def _load(self, values: Mapping[str, Scalar]) -> Document:
        documents: list[Document] = []
        problems: list[Problem] = []
        for path in self._paths:
            try:
                documents.append(Document.load(path, values=values))
            except DocumentError as error:
                problems += error.problems
        if problems:
            raise DocumentError(problems)
        document = documents[0].joined(*documents[1:]) if len(documents) > 1 else documents[0]
        if self._asked is None:
            self._asked = sorted(document.taken)
        return document

    def _key(self, values: Mapping[str, Scalar]) -> bytes:
        """What the documents ask for of a case: equal for two cases just when they are filled alike."""
        return canonical([values[name] for name in self._asked or ()])


def _of_case(problem: Problem, row: Row) -> Problem:
    if row.name is None:
        return problem
    message = f"{problem.message} (with the values of the case `{row.name[:60]}`)"
    return msgspec.structs.replace(problem, message=message)
