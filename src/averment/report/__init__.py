"""Verdicts where people look: what an envelope says, for the browser, the pull request, the CI and the terminal.

    import averment

    envelope = averment.run(document, evidence)
    page = averment.report.html(envelope, evidence, document=document)

Each function takes one envelope, or several with their evidence as `Judged`, and gives the whole report. Same envelope,
same bytes. Reporters are imported when they are called.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from averment.documents import Document
    from averment.engine import Envelope
    from averment.evidence import Evidence
    from averment.verdicts.judged import Judged

__all__ = ["html", "junit", "markdown", "sarif"]


def html(
    envelope: Envelope | Mapping[str, Any] | Sequence[Judged],
    evidence: Evidence | None = None,
    *,
    document: Document | None = None,
    conversation: str = "the conversation",
) -> str:
    """A page in one file, that needs no network: cards of all results, and with evidence what they rest on.

    Args:
        envelope: what `averment.run` returned, or the same as plain values; or several conversations that were judged.
        evidence: what was recorded; without it the page has cards only, and says so.
        document: the document, for the lines of its assertions.
        conversation: the conversation's name.

    Raises:
        UsageError: this is no envelope, or one of other evidence or of another document.
    """
    from averment.report.html import render

    return render(_several(envelope, evidence, document, conversation))


def markdown(
    envelope: Envelope | Mapping[str, Any] | Sequence[Judged],
    evidence: Evidence | None = None,
    *,
    document: Document | None = None,
    conversation: str = "the conversation",
) -> str:
    """Markdown for a comment on a pull request, or a step's summary; arguments and errors as for `html`."""
    from averment.report.markdown import render

    return render(_several(envelope, evidence, document, conversation))


def junit(
    envelope: Envelope | Mapping[str, Any] | Sequence[Judged],
    *,
    document: Document | None = None,
    conversation: str = "the conversation",
) -> str:
    """A JUnit XML report, for the tab of tests that a CI has; arguments and errors as for `html`."""
    from averment.report.junit import render

    return render(_several(envelope, None, document, conversation))


def sarif(
    envelope: Envelope | Mapping[str, Any] | Sequence[Judged],
    evidence: Evidence | None = None,
    *,
    document: Document | None = None,
    conversation: str = "the conversation",
) -> str:
    """A SARIF 2.1.0 log, for code scanning and editors; arguments and errors as for `html`."""
    from averment.report.sarif import render

    return render(_several(envelope, evidence, document, conversation))


def _several(
    envelope: Envelope | Mapping[str, Any] | Sequence[Judged],
    evidence: Evidence | None,
    document: Document | None,
    conversation: str,
) -> Sequence[Judged]:
    from averment.verdicts.stored import gathered

    return gathered(envelope, evidence, document, conversation)


class _Public(ModuleType):
    """This module, in which the four names stay functions.

    Importing `averment.report.html` would put the module of that name in the function's place.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in __all__ and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Public
