"""One assertion over one conversation, as a test.

What a verdict is to pytest:

    PASS                      passes
    FAIL                      fails; of severity warning or note it is an expected failure, and fails no run
    INCONCLUSIVE              is skipped, with the reason; under the policy `fail` or `refuse` it fails
    not applicable            is skipped
    can't be judged at all    is an error: an unreadable recording, or a defect of averment
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from averment.assertions.base import Status
from averment.engine import Result
from averment.errors import AvermentError
from averment.pytesting.conversations import Conversations, Verdict
from averment.pytesting.outcomes import Told, node_names, refused, represented, safe

__all__ = ["VerdictItem", "items_of", "policy_of", "reporting"]


class VerdictItem(pytest.Item):
    """One assertion over one conversation.

    Args:
        conversations: the conversation, or several, shared with the tests of other assertions.
        index: which assertion of the document it is.
        originalname: the name without a parameter, called so by pytest as well.
    """

    def __init__(self, *, conversations: Conversations, index: int, originalname: str, **node: Any) -> None:
        super().__init__(**node)
        self.originalname = originalname
        document = conversations.document
        assertion = document.assertions[index]
        self._conversations = conversations
        self._index = index
        self._verdict: Verdict | None = None
        place = document.position(index)
        file = document.file_name(index)
        is_there = os.path.isfile(file)  # what a bundled document asserts stands in no file of the user's
        self._file = Path(os.path.abspath(file)) if is_there else self.path
        self._line = place.line if is_there and place is not None else 1
        self.user_properties.append(("kind", str(assertion.__struct_config__.tag)))
        if assertion.dimension:
            self.user_properties.append(("dimension", safe(assertion.dimension)))
        self.extra_keyword_matches.update(safe(tag) for tag in assertion.tags or ())

    def setup(self) -> None:
        """Has the conversation judged; that it can't be, or not by this assertion, is an error and no failure."""
        try:
            self._verdict = self._conversations.verdict(self._index)
        except AvermentError as error:
            raise refused(error.problems, self._file) from None
        result = self._verdict.result
        if result.code is not None:
            self.user_properties.append(("code", result.code))
        if result.code == "internal_error":
            raise self._told(self._verdict)

    def runtest(self) -> None:
        """Tells the verdict."""
        verdict = self._verdict
        if verdict is None:
            raise RuntimeError("pytest runs a test that it has not set up")
        result = verdict.result
        if result.status is Status.PASS:
            return
        is_lesser = result.severity != "error"
        if result.status is Status.INCONCLUSIVE:
            if verdict.policy == "report" or is_lesser or not result.is_applicable:
                raise pytest.skip.Exception(_summary(result), _use_item_location=True)
        elif is_lesser:
            pytest.xfail(f"{result.severity}: {_summary(result)}")  # does nothing under --runxfail
            return
        raise self._told(verdict)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """How a failure is shown: the card, with what the evidence shows."""
        if isinstance(excinfo.value, Told):
            return represented(excinfo)
        if isinstance(excinfo.value, pytest.xfail.Exception) and self._verdict is not None:
            return safe(self._verdict.explanation)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the assertion stands, which is where editors go, and what to call the test."""
        return self._file, self._line - 1, f"{self.originalname} over {safe(self._conversations.name)}"

    def _told(self, verdict: Verdict) -> Told:
        text = verdict.explanation
        if verdict.result.status is Status.INCONCLUSIVE and verdict.result.code != "internal_error":
            text += f"\n    inconclusive_policy: {verdict.policy}"
        return Told(text, summary=_summary(verdict.result), path=self._file, line=self._line)


def items_of(
    parent: pytest.Collector, conversations: Conversations, *, group: str, parameter: str | None = None
) -> Iterator[VerdictItem]:
    """The tests of one conversation or several, in the order of the document.

    Args:
        parent: the collector.
        conversations: the conversation, or several.
        group: what `--dist loadgroup` of pytest-xdist keeps in one process.
        parameter: which conversation of a file it is, as it stands in brackets after a test's name.
    """
    ids = node_names(assertion.id for assertion in conversations.document.assertions)
    for index, name in enumerate(ids):
        item = VerdictItem.from_parent(
            parent,
            name=name if parameter is None else f"{name}[{parameter}]",
            originalname=name,
            conversations=conversations,
            index=index,
        )
        if parent.config.pluginmanager.hasplugin("xdist"):  # else the mark is unknown
            item.add_marker(pytest.mark.xdist_group(group.translate(_PLAIN)))
        yield item


def policy_of(config: pytest.Config) -> Any:
    """What INCONCLUSIVE does, by the settings; None for what the document says."""
    return config.getini("averment_inconclusive_policy") or None


_PLAIN = str.maketrans("[]@", "()+")
"""pytest-xdist writes a group behind a test's id and an `@`, and takes it for none where a bracket follows."""


class _Reports:
    """Errors are shown like failures, which pytest asks of nobody but this."""

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if isinstance(item, VerdictItem) and call.when == "setup" and call.excinfo is not None:
            report.longrepr = item.repr_failure(call.excinfo)
        return report


def reporting(config: pytest.Config) -> None:
    """Has the errors of these tests shown as they should; costs a session nothing that collects none of them."""
    if not config.pluginmanager.hasplugin("averment-reports"):
        config.pluginmanager.register(_Reports(), "averment-reports")


def _summary(result: Result) -> str:
    """The verdict in a line that quotes no evidence."""
    code = f" [{result.code}]" if result.code else ""
    return safe(f"{result.status.value}{code}: {result.public_reason or 'no reason is known'}")
