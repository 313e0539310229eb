"""What the commands are given: documents and conversations, from files or standard input."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import BinaryIO

from averment.documents import Document, is_document
from averment.errors import DocumentError, EvidenceError, Problem, UsageError
from averment.evidence import Evidence
from averment.text.source import MAX_DOCUMENT_BYTES, read_source

__all__ = ["load_document", "load_documents", "load_evidence", "looks_like_document", "refuse_twice"]

_STDIN = "-"


def refuse_twice(*names: str | None) -> None:
    """Refuses a command line in which standard input is to be two things at once."""
    if sum(name == _STDIN for name in names) > 1:
        message = "standard input, `-`, can be only one of the inputs"
        raise UsageError(
            Problem(code="stdin_twice", message=message, mend="Put the other inputs into files.")
        )


def load_document(name: str) -> Document:
    """The document in a file, on standard input for `-`, or the bundled one that `policy:NAME` is."""
    if name == _STDIN:
        return Document.parse(sys.stdin.buffer.read(MAX_DOCUMENT_BYTES + 1), name="<stdin>")
    return Document.load(name)


def load_documents(names: Sequence[str]) -> Document:
    """All the documents as one, in their order.

    Raises:
        DocumentError: with the mistakes of all of them, or because they don't go together.
    """
    documents: list[Document] = []
    problems: list[Problem] = []
    for name in names:
        try:
            documents.append(load_document(name))
        except DocumentError as error:
            problems += error.problems
    if problems:
        raise DocumentError(problems)
    return documents[0].joined(*documents[1:]) if len(documents) > 1 else documents[0]


def load_evidence(
    name: str | None, parts: Mapping[str, str], *, wanted: str | None, every: bool
) -> list[tuple[Evidence, str]]:
    """The conversations that a file holds, with the name to show for each.

    Args:
        name: a file, `-` for standard input, or None when there are only parts.
        parts: files with one part of the conversation each, by its name.
        wanted: the id of the one conversation that is asked for.
        every: whether all of several conversations are asked for.

    Raises:
        EvidenceError: something can't be read, or the file holds several conversations and none was chosen.
    """
    if name is None or not (every or wanted):
        label = name or " + ".join(parts.values())
        given = {part: _input(file) for part, file in parts.items()}
        return [(Evidence.load(None if name is None else _input(name), **given), label)]
    if parts:
        message = "parts can't be added to conversations picked from a file"
        raise UsageError(
            Problem(code="ambiguous_parts", message=message, mend="Put the parts into that file.")
        )
    found = Evidence.load_all(_input(name))
    if wanted is not None:
        found = [evidence for evidence in found if evidence.model.conversation_id == wanted]
        if not found:
            raise EvidenceError(
                Problem(
                    code="conversation_not_found",
                    message="the file holds no conversation of that id",
                    file=name,
                    expected=f"a conversation with the id `{wanted}`",
                    mend="Run with --all to judge every conversation in it.",
                )
            )
    return [
        (evidence, f"{name} [{evidence.model.conversation_id or index}]")
        for index, evidence in enumerate(found)
    ]


def looks_like_document(name: str) -> bool:
    """Whether a file is meant to be an assertion document; a long conversation is told from one by its words alone."""
    try:
        with open(name, "rb") as file:
            data = file.read(MAX_DOCUMENT_BYTES)
        return b"version" in data and is_document(read_source(data).value)
    except (OSError, ValueError):
        return False


def _input(name: str) -> str | BinaryIO:
    return sys.stdin.buffer if name == _STDIN else name
