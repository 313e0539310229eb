"""What the commands are given: documents and conversations, from files or standard input."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import BinaryIO

from averment.cli.parser import Options
from averment.documents import Document, is_document
from averment.documents.fields import is_suite
from averment.errors import DocumentError, EvidenceError, Problem, UsageError, nearest
from averment.evidence import Evidence
from averment.evidence.load import Reading
from averment.text.shown import printable
from averment.text.source import MAX_DOCUMENT_BYTES, read_source

__all__ = [
    "add_reading",
    "load_conversations",
    "load_document",
    "load_documents",
    "load_evidence",
    "looks_like_document",
    "looks_like_suite",
    "read_bytes",
    "reading",
    "refuse_twice",
]

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


def add_reading(parser: Options) -> None:
    """Declares the options that say how files of evidence are to be read."""
    parser.add_argument(
        "--from",
        metavar="FORMAT",
        dest="from_format",
        help="the format of the conversations, see `averment evidence formats`; recognised by default",
    )
    parser.add_argument(
        "--mapping",
        metavar="FILE",
        help="a mapping file (YAML or JSON) that describes a format which averment doesn't know",
    )


def reading(args: argparse.Namespace) -> Reading | None:
    """How files of evidence are to be read, by the options of `add_reading`; None to recognise their format."""
    name: str | None = args.from_format
    if args.mapping is None:
        return name
    if name is not None:
        message = "a file is read by a mapping or as a format, not both"
        raise UsageError(Problem(code="usage", message=message, mend="Leave out `--from` or `--mapping`."))
    from averment.evidence.mapping import Mapping as FormatMapping
    from averment.evidence.mapping import mapped

    return mapped(FormatMapping.load(args.mapping))


def load_evidence(
    name: str | None,
    parts: Mapping[str, str],
    *,
    wanted: str | None,
    every: bool,
    from_format: Reading | None = None,
    others: Sequence[str] = (),
    clock_offset: float | None = None,
) -> list[tuple[Evidence, str]]:
    """The conversations that a file holds, with the name to show for each.

    Args:
        name: a file, `-` for standard input, or None when there are only parts.
        parts: files with one part of the conversation each, by its name.
        wanted: the id of the one conversation that is asked for.
        every: whether all of several conversations are asked for.
        from_format: how the file is to be read.
        others: files with further records of the same conversations.
        clock_offset: when the clock of the others reads zero, in seconds on the file's clock.

    Raises:
        EvidenceError: something can't be read, or the file holds several conversations and none was chosen, or one of
            the others does not belong to it.
    """
    if name is None or not (every or wanted):
        label = name or " + ".join(parts.values())
        given = {part: _input(file) for part, file in parts.items()}
        whole = None if name is None else _input(name)
        found = [(Evidence.load(whole, from_format=from_format, **given), label)]
    else:
        if parts:
            message = "parts can't be added to conversations picked from a file"
            mend = "Give the other file with `--evidence`, which finds what belongs together by ids."
            raise UsageError(Problem(code="ambiguous_parts", message=message, mend=mend))
        found = [
            (evidence, label) for label, evidence in load_conversations(name, from_format, wanted=wanted)
        ]
    for other in others:
        join = _joiner(other, clock_offset, is_only=len(found) == 1)
        found = [(join(evidence), label) for evidence, label in found]
    return found


def load_conversations(
    name: str, from_format: Reading | None, *, wanted: str | None
) -> list[tuple[str, Evidence]]:
    """All conversations in a file, or the one that is wanted, each with the name to show for it.

    One that has no id is called `#` and its index.

    Raises:
        EvidenceError: the file can't be read, or holds no conversation of that id.
    """
    found = Evidence.load_all(_input(name), from_format=from_format)
    several = len(found) > 1
    ids = [evidence.model.conversation_id or f"#{index}" for index, evidence in enumerate(found)]
    labelled = [
        (f"{name} [{printable(id_, 60)}]" if several or wanted else name, evidence)
        for id_, evidence in zip(ids, found, strict=True)
    ]
    if wanted is None:
        return labelled
    chosen = [each for id_, each in zip(ids, labelled, strict=True) if id_ == wanted]
    if chosen:
        return chosen
    near = nearest(wanted, ids[:1000])
    raise EvidenceError(
        Problem(
            code="conversation_not_found",
            message="the file holds no conversation of that id",
            file=name,
            expected=f"a conversation with the id `{wanted}`",
            nearest=None if near is None else printable(near, 60),
            mend="See the ids with `averment evidence show`, or run with --all to judge every conversation in it.",
        )
    )


def _joiner(name: str, offset: float | None, *, is_only: bool) -> Callable[[Evidence], Evidence]:
    """What joins a conversation with the record that belongs to it, of those that a file holds.

    An offset alone declares that they belong together only when there is one of each.
    """
    from averment.evidence.merge import Records

    evidences = Evidence.load_all(_input(name))
    of_model = {id(evidence.model): evidence for evidence in evidences}
    records = Records([evidence.model for evidence in evidences])

    def joined(evidence: Evidence) -> Evidence:
        if is_only and len(evidences) == 1:
            return evidence.merged(evidences[0], clock_offset=offset)
        found = records.partner(evidence.model)
        if found is None:
            raise EvidenceError(
                Problem(
                    code="no_join_key",
                    message=f"none or several of the records in the file ({len(evidences):,}) belong to the conversation",
                    file=name,
                    expected="one with the same conversation id, or with a tool call of the same id",
                    mend="See the ids with `averment evidence show`.",
                )
            )
        return evidence.merged(of_model[id(found)], clock_offset=offset)

    return joined


def looks_like_document(name: str) -> bool:
    """Whether a file is meant to be an assertion document; a long conversation is told from one by its words alone."""
    return is_document(_value(name))


def looks_like_suite(name: str) -> bool:
    """Whether a file is meant to be a suite."""
    return is_suite(_value(name))


def _value(name: str) -> object:
    """What a file holds that may be a document or a suite; None for any other."""
    try:
        with open(name, "rb") as file:
            data = file.read(MAX_DOCUMENT_BYTES)
        return read_source(data).value if b"version" in data else None
    except (OSError, ValueError):
        return None


def read_bytes(name: str) -> bytes:
    """The bytes of a file, or of standard input for `-`.

    Raises:
        EvidenceError: there is no such file, it can't be read, is not regular or is too large.
    """
    from averment.evidence.load import read_input

    return read_input(_input(name))[0]


def _input(name: str) -> str | BinaryIO:
    return sys.stdin.buffer if name == _STDIN else name
