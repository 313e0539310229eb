"""What every reporter is given: conversations, each with the envelope that says what holds of it.

Reporters read the envelope as plain values, so that one which was stored is reported like one that was just made. What
they show of evidence passes through `averment.text.shown`: redacted first, then made visible.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from averment.assertions.base import Assertion
from averment.documents import Document
from averment.engine import Envelope
from averment.evidence.model import EvidenceModel

__all__ = ["Case", "Judged", "Produced", "judged", "named", "result_files", "shown_file"]


class Case(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Which conversation of a suite it is; runs are compared case by case (`averment diff`).

    Attributes:
        suite: the name of the suite's entry.
        name: the name of its row in the table of cases; None where the entry has none.
        repeat: which repetition it is, from 1.
        repeats: how many repetitions there are in all.
    """

    suite: str
    name: str | None = None
    repeat: int = 1
    repeats: int = 1


class Produced(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a command produced.

    Attributes:
        file: where it is kept, relative to the suite's folder.
        sha256: the digest of its bytes; None where there are none.
    """

    file: str
    sha256: str | None = None


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """One conversation, judged.

    Attributes:
        envelope: the envelope as plain values, schema `assert.v1`.
        conversation: the conversation's name as the user knows it: its file, with its id where the file holds several.
            Untrusted text, as ids are.
        document: the name of the document, or of all that it was joined from, as the user gave it.
        files: for each result the file in which its assertion stands, relative to the working folder.
        case: which conversation of a suite it is; None outside of suites.
        produced: what a command produced, where one did.
        evidence: what was recorded, where it is at hand: reporters show excerpts of it.
        assertions: for each result what was asserted, where the document is at hand; else empty.
        is_named: whether the conversation has a name of its own. Envelopes don't say one; what is read of a file of
            envelopes is called by the file and its position.
    """

    envelope: Mapping[str, Any]
    conversation: str
    document: str
    files: Sequence[str]
    case: Case | None = None
    produced: Produced | None = None
    evidence: EvidenceModel | None = None
    assertions: Sequence[Assertion] = ()
    is_named: bool = True

    @property
    def results(self) -> Sequence[Mapping[str, Any]]:
        """The results, in document order."""
        results: Sequence[Mapping[str, Any]] = self.envelope["results"]
        return results

    @property
    def label(self) -> str:
        """What people call the conversation, in every report alike: see `named`."""
        return named(self.conversation, self.case, is_produced=self.produced is not None)


def named(conversation: str, case: Case | None, *, is_produced: bool = False) -> str:
    """What people call a conversation: `calls/a.json`; in a suite its case, as `support: lost parcel #2`.

    The first repetition bears no number, so that it keeps its name when others are added. Untrusted text, of any length.

    Args:
        conversation: the name by which it is read.
        case: which one of a suite it is.
        is_produced: whether a command made it. Its file says nothing then: without cases it is called by its entry.
    """
    if case is None:
        return shown_file(conversation)
    name = case.name if case.name is not None or is_produced else shown_file(conversation)
    repeat = f" #{case.repeat}" if case.repeat > 1 else ""
    return f"{case.suite if name is None else f'{case.suite}: {name}'}{repeat}"


def judged(
    envelope: Envelope,
    document: Document,
    *,
    conversation: str,
    evidence: EvidenceModel | None = None,
    case: Case | None = None,
    produced: Produced | None = None,
) -> Judged:
    """A conversation that was just judged by `document`."""
    return Judged(
        envelope=envelope.to_dict(),
        conversation=shown_file(conversation),
        document=" + ".join(shown_file(top.source.name or "the document") for top in document.tops),
        files=[shown_file(document.file_name(index)) for index in range(len(document.assertions))],
        case=case,
        produced=produced,
        evidence=evidence,
        assertions=document.assertions,
    )


def result_files(envelope: Mapping[str, Any], document: str | None = None) -> list[str]:
    """The file of each result of a stored envelope, as far as the envelope says.

    Args:
        envelope: the envelope.
        document: the document's file, where that is known; its name without folders stands in the envelope.
    """
    main = shown_file(document or envelope["document"].get("name") or "the document")
    folder = os.path.dirname(main)
    return [
        shown_file(os.path.join(folder, file)) if (file := (result.get("at") or {}).get("file")) else main
        for result in envelope["results"]
    ]


def shown_file(name: str) -> str:
    """A file's name as it may stand in a report: relative to the working folder, and never a path of this machine."""
    if not os.path.isabs(name):
        return name
    inside = os.path.relpath(name)
    return os.path.basename(name) if inside.startswith(os.pardir) else inside
