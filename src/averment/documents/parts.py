"""What a document is made of: parts, each one text, and their assertions, which know where they were written."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from averment.documents.fields import Fields
from averment.errors import Problem
from averment.text.source import Position, Source
from averment.text.structs import Mistake

__all__ = ["Item", "Part", "Path"]

Path = tuple[str | int, ...]

_Edit = tuple[int, int, int, int]  # where a replacement starts and ends, and where what it replaced did


class Item:
    """One assertion as it reads once everything is in place, and where its parts were written.

    Attributes:
        part: the document that it stands in.
        value: its fields.
        is_whole: whether every placeholder could be filled; where not, that is told, and nothing else can be said.
    """

    __slots__ = ("_defaulted", "_edits", "_index", "is_whole", "part", "value")

    def __init__(self, part: Part, index: int, value: dict[str, Any], defaulted: Collection[str]) -> None:
        self.part = part
        self.value = value
        self.is_whole = True
        self._index = index
        self._defaulted = defaulted
        self._edits: dict[Path, list[list[_Edit]]] = {}

    @property
    def position(self) -> Position | None:
        """Where it starts in its document; None when that was no text."""
        return self.part.source.position(("assertions", self._index))

    def problem(self, mistake: Mistake) -> Problem:
        """The problem that a mistake in the value is, at the place where that part of it was written."""
        if mistake.offset is not None:
            offset = mistake.offset
            for edits in reversed(self._edits.get(mistake.path, ())):
                offset = _offset_before(offset, edits)
            mistake = msgspec.structs.replace(mistake, offset=offset)
        is_default = bool(mistake.path) and mistake.path[0] in self._defaulted
        return mistake.at(self.part.source, ("defaults",) if is_default else ("assertions", self._index))

    def rewritten(self, path: Path, text: str, replacements: Iterable[tuple[int, int, str]]) -> str:
        """The string at `path` with stretches of it replaced; what stood where is remembered."""
        pieces: list[str] = []
        edits: list[_Edit] = []
        end = length = 0
        for start, stop, new in replacements:
            pieces += [text[end:start], new]
            length += start - end
            edits.append((length, length + len(new), start, stop))
            length += len(new)
            end = stop
        if edits:
            self._edits.setdefault(path, []).append(edits)
        return "".join([*pieces, text[end:]])


class Part:
    """One document: the whole, or included in another.

    Attributes:
        source: its text and value.
        folder: what paths in it are relative to.
        file: its name beside a place: without folders, or as seen from the including document; None for objects.
        prefix: what its ids begin with.
        given: values that the including document, or whoever loads it, gives to its variables.
        taken: those of them that its assertions use.
        fields: its fields; None when they have mistakes.
        items: its own assertions.
        included: the documents that it includes.
        problems: the mistakes found in it so far.
        warnings: what is no mistake, and still not meant.
    """

    __slots__ = (
        *("fields", "file", "folder", "given", "included", "items", "prefix", "problems", "source"),
        *("taken", "warnings"),
    )

    def __init__(
        self, source: Source, folder: str, file: str | None, prefix: str, given: Mapping[str, Any]
    ) -> None:
        self.source = source
        self.folder = folder
        self.file = file
        self.prefix = prefix
        self.given = given
        self.taken: dict[str, Any] = {}
        self.fields: Fields | None = None
        self.items: list[Item] = []
        self.included: list[Part] = []
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []

    def walk(self) -> Iterator[Part]:
        """It and all that it includes, in the order of their assertions."""
        yield self
        for part in self.included:
            yield from part.walk()

    def content(self) -> dict[str, Any]:
        """The document as parsed, with what it includes in the place of paths."""
        value: dict[str, Any] = self.source.value
        if not self.included:
            return value
        included = [
            {"as": part.prefix, "vars": part.given, "document": part.content()} for part in self.included
        ]
        return {**value, "include": included}


def _offset_before(offset: int, edits: list[_Edit]) -> int:
    """The offset in a string before these edits; within a replacement, the start of what it replaced."""
    moved = 0
    for start, end, old_start, old_end in edits:
        if offset < start:
            break
        if offset < end:
            return old_start
        moved = old_end - end
    return offset + moved
