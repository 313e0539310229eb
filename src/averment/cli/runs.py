"""Recorded runs, conversation by conversation: large files of JSON Lines are read in parts, and so never held whole.

A file is read in parts where each of its lines is a conversation by itself: where its first part is a list of whole
conversations, or every line has `messages` as logs of chats do. Everything else is read whole, because a conversation may
stand in any of its lines.
"""

from __future__ import annotations

import io
import itertools
import os
from collections.abc import Iterator
from typing import BinaryIO

from averment.cli.inputs import load_conversations
from averment.errors import AvermentError, EvidenceError
from averment.evidence import Evidence
from averment.evidence.load import Reading
from averment.text.shown import printable

__all__ = ["PART_BYTES", "each_run"]

PART_BYTES = 2**20
"""How much of a file is read at once; files that are smaller are read whole."""

Run = tuple[str, "Evidence | AvermentError"]


def each_run(name: str, how: Reading | None, *, wanted: str | None) -> Iterator[Run]:
    """The conversations in a file, each with the name to show for it; or why there is none, under the file's name.

    Args:
        name: the file, or `-` for standard input.
        how: how it is to be read; None to recognise its format.
        wanted: the id of the one that is asked for; None for all.
    """
    try:
        yield from _each(name, how, wanted)
    except EvidenceError as error:
        yield name, error


def _each(name: str, how: Reading | None, wanted: str | None) -> Iterator[Run]:
    if wanted is None and name != "-" and _is_large(name):
        with open(name, "rb") as file:
            parts = _parts(file)
            first = next(parts)
            if _is_by_line(name, first[1], how):
                yield from _in_parts(name, how, first, parts)
                return
    yield from load_conversations(name, how, wanted=wanted)


def _is_large(name: str) -> bool:
    try:
        return os.path.isfile(name) and os.path.getsize(name) > PART_BYTES
    except (OSError, ValueError):
        return False


def _parts(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Whole lines of a file, and how many lines stand before them."""
    before = 0
    while part := file.read(PART_BYTES):
        part += file.readline()
        yield before, part
        before += part.count(b"\n")


def _is_by_line(name: str, part: bytes, how: Reading | None) -> bool:
    """Whether every line is a conversation, by the lines of the first part and a look at all."""
    from averment.evidence.decode import decode
    from averment.evidence.detect import asked, detect, named

    try:
        found = decode(part, None)
        if found.lines is None:
            return False
        if how is None:
            detected = detect(found.value, None)
        else:
            detected = asked(named(how) if isinstance(how, str) else how, found.value)
    except EvidenceError:
        return False
    return detected.several or (detected.format.name == "openai_chat" and _is_log(name))


def _is_log(name: str) -> bool:
    """Whether every line of a file is an object with `messages`, as far as can be seen without reading it."""
    with open(name, "rb") as file:
        return all(line.isspace() or (line[:1] == b"{" and b'"messages"' in line) for line in file)


class _Part(io.BytesIO):
    """Bytes with the name of the file that they are of."""

    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(data)
        self.name = name


def _in_parts(
    name: str, how: Reading | None, first: tuple[int, bytes], rest: Iterator[tuple[int, bytes]]
) -> Iterator[Run]:
    example = b""
    index = 0
    for before, lines in itertools.chain([first], rest):
        if not lines.strip():
            continue
        # Problems name lines of the file, so those before the part stand there, empty; but for the first that is not,
        # which makes the part another one of its kind, and comes out once.
        lead = example and example + b"\n" * (before - example.count(b"\n"))
        found = Evidence.load_all(_Part(lead + lines, name), from_format=how)
        for evidence in found[1 if example else 0 :]:
            shown = evidence.model.conversation_id or f"#{index}"
            yield f"{name} [{printable(shown, 60)}]", evidence
            index += 1
        example = example or _to_first(lines)


def _to_first(lines: bytes) -> bytes:
    """The lines up to the first that is not blank."""
    stop = lines.index(b"\n", len(lines) - len(lines.lstrip())) + 1
    return lines[:stop]
