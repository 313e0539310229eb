"""Documents that share: `include`, `defaults` and `vars`, resolved into the assertions one would have written out.

In this order, and no further:

* `defaults` of a document give each of its own assertions the fields that it has and does not set;
* `{{name}}` in any string of an assertion stands for the variable's value. A string that is nothing else takes the
  value with its type. Within a longer string the value is text (numbers, booleans and null as JSON writes them), and
  where the string is a regular expression it is escaped, so that it matches itself. `{{{{` stands for `{{`. Keys are
  never touched, and a variable's value is used as it stands;
* `include` appends the assertions of other documents. Their ids, and what they call by these ids, get a prefix.
  Variables and defaults are each document's own; an including document may give values to variables that the
  included one declares.

Every assertion remembers where its parts were written, so that a mistake is told at the line that has to be mended.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from averment.assertions import KINDS, kind
from averment.assertions.formula_expr import FormulaError, mentions, written
from averment.documents.fields import Fields, Include, is_document
from averment.errors import DocumentError, Problem, nearest
from averment.policies.library import POLICY, assertion_policy
from averment.text.jsontext import canonical
from averment.text.source import MAX_DOCUMENT_BYTES, Source, read_source
from averment.text.structs import Mistake, convert, describe, is_marked

__all__ = [
    "MAX_INCLUDES",
    "MAX_INCLUDE_DEPTH",
    "MAX_PREFIX",
    "Item",
    "Part",
    "expand",
    "expand_file",
]

MAX_INCLUDE_DEPTH = 8
"""Documents inside each other."""
MAX_INCLUDES = 100
"""Documents that one document includes, at all depths together."""
MAX_PREFIX = 100
"""Characters of a prefix."""

_NEVER_DEFAULT = ("id", "kind", "when", "examples")
_PATH_FIELDS = ("pack_path",)
_placeholders = re.compile(r"\{\{\{\{|\{\{(?!\{)([^{}]*)(\}\})?").finditer

_Path = tuple[str | int, ...]
_Edit = tuple[int, int, int, int]  # start and end of a replacement, and of what it replaced


class Item:
    """One assertion as it reads once everything is in place, and where its parts were written.

    Attributes:
        part: the document that it stands in.
        value: its fields.
        is_whole: whether all placeholders could be filled; if not, that has been told, and the rest can't be checked.
    """

    __slots__ = ("_defaulted", "_edits", "_index", "is_whole", "part", "value")

    def __init__(self, part: Part, index: int, value: dict[str, Any], defaulted: frozenset[str]) -> None:
        self.part = part
        self.value = value
        self.is_whole = True
        self._index = index
        self._defaulted = defaulted
        self._edits: dict[_Path, list[list[_Edit]]] = {}

    @property
    def path(self) -> _Path:
        """Where it stands in its document."""
        return ("assertions", self._index)

    def problem(self, mistake: Mistake) -> Problem:
        """The problem that a mistake in the value is, at the place where that part of it was written."""
        if mistake.offset is not None:
            offset = mistake.offset
            for edits in reversed(self._edits.get(mistake.path, ())):
                offset = _before(offset, edits)
            mistake = msgspec.structs.replace(mistake, offset=offset)
        is_default = bool(mistake.path) and mistake.path[0] in self._defaulted
        return mistake.at(self.part.source, ("defaults",) if is_default else self.path)

    def rewrite(self, path: _Path, text: str, replacements: Iterable[tuple[int, int, str]]) -> str:
        """The text of the string at `path` with stretches of it replaced, remembering what stood where."""
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
    """One document, as itself or as part of another.

    Attributes:
        source: its text and value.
        folder: what paths in it are relative to.
        file: the name to show for it beside a place, as the including document writes it; None for text and objects.
        prefix: what its ids begin with.
        given: values that the including document gives to its variables.
        fields: its fields; None when they have mistakes.
        items: its own assertions.
        included: the documents that it includes.
        problems: the mistakes found so far.
        warnings: what is no mistake and still odd.
    """

    __slots__ = (
        "fields",
        "file",
        "folder",
        "given",
        "included",
        "items",
        "prefix",
        "problems",
        "source",
        "warnings",
    )

    def __init__(
        self, source: Source, folder: str, file: str | None, prefix: str, given: Mapping[str, Any]
    ) -> None:
        self.source = source
        self.folder = folder
        self.file = file
        self.prefix = prefix
        self.given = given
        self.fields: Fields | None = None
        self.items: list[Item] = []
        self.included: list[Part] = []
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []

    def walk(self) -> Iterator[Part]:
        """It and everything that it includes, in the order of their assertions."""
        yield self
        for part in self.included:
            yield from part.walk()

    def content(self) -> dict[str, Any]:
        """The document as parsed, with the contents of included documents instead of their paths."""
        value: dict[str, Any] = self.source.value
        if not self.included:
            return value
        included = [
            {"as": part.prefix, "vars": part.given, "document": part.content()} for part in self.included
        ]
        return {**value, "include": included}


def expand_file(name: str) -> Part:
    """The document in a file, or the bundled one that `policy:NAME` is, with all that it includes.

    Raises:
        DocumentError: it can't be read.
    """
    data = _read(name)
    if isinstance(data, Mistake):
        raise DocumentError(data.at(Source(None, name), ()))
    source = read_source(data, name=name)
    prefix = f"{name.removeprefix(POLICY)}." if name.startswith(POLICY) else ""
    expansion = _Expansion(len(data))
    return expansion.part(
        Part(source, os.path.dirname(name), os.path.basename(name), prefix, {}), [_identity(name)]
    )


def expand(source: Source) -> Part:
    """The document in `source` with all that it includes; paths are relative to the working folder."""
    file = None if source.name is None else os.path.basename(source.name)
    return _Expansion(0).part(Part(source, "", file, "", {}), [])


class _Expansion:
    """One document being expanded: what all its parts together may still take up."""

    def __init__(self, size: int) -> None:
        self.left = MAX_DOCUMENT_BYTES - size
        self.included = 0

    def part(self, part: Part, trail: Sequence[str]) -> Part:
        """Fills in a part; `trail` holds the identities of the documents around it and its own."""
        value = part.source.value
        if not is_document(value) and not (isinstance(value, dict) and {"version", "assertions"} & value.keys()):
            part.problems.append(_no_document(part.source))
            return part
        part.fields = convert(part.source, (), Fields, part.problems)
        assertions = _typed(value, "assertions", list)
        include = _typed(value, "include", list)
        if not assertions and not include:
            part.problems.append(_nothing_asserted(part.source))
        defaults = _typed(value, "defaults", dict)
        variables = _Variables(part, _typed(value, "vars", dict), self)
        takers: set[str] = set()
        for index, written_item in enumerate(assertions):
            if isinstance(written_item, dict):  # what is none has been told by the fields
                has = _fields_of(written_item)
                takers.update(has)
                given = {
                    name: default
                    for name, default in defaults.items()
                    if name in has and name not in written_item and name not in _NEVER_DEFAULT
                }
                item = Item(part, index, {**given, **written_item}, frozenset(given))
                variables.fill(item)
                _place(item)
                part.items.append(item)
        part.problems += _idle_defaults(part.source, defaults, takers)
        variables.tell_unused()
        self._include(part, include, trail)
        return part

    def take(self, amount: int, source: Source, path: _Path) -> None:
        """Takes up room.

        Raises:
            DocumentError: there is not as much left.
        """
        self.left -= amount
        if self.left < 0:
            raise DocumentError(
                source.problem(
                    "document_too_large",
                    "the document is too large with all that it includes and repeats",
                    path,
                    expected=f"at most {MAX_DOCUMENT_BYTES // 2**20} MB",
                    mend="Split it into several documents.",
                )
            )

    def _include(self, part: Part, include: list[Any], trail: Sequence[str]) -> None:
        prefixes: dict[str, int] = {}
        for index, entry in enumerate(include):
            try:
                asked = msgspec.convert({"path": entry} if isinstance(entry, str) else entry, Include)
            except msgspec.ValidationError:
                continue  # the fields have said so
            where: _Path = ("include", index) if isinstance(entry, str) else ("include", index, "path")
            prefix = _stem(asked.path) if asked.prefix is msgspec.UNSET else asked.prefix
            mistake = _bad_prefix(prefix, prefixes.get(prefix))
            prefixes.setdefault(prefix, index)
            if mistake is not None:
                part.problems.append(mistake.at(part.source, where))
                continue
            name = asked.path if asked.path.startswith(POLICY) else os.path.join(part.folder, asked.path)
            found = self._open(name, part.source, where, trail)
            if isinstance(found, Mistake):
                part.problems.append(found.at(part.source, where))
                continue
            beside = os.path.dirname(part.file or "")
            file = asked.path if asked.path.startswith(POLICY) else os.path.join(beside, asked.path)
            inner = Part(found, os.path.dirname(name), file, f"{part.prefix}{prefix}.", asked.vars)
            declared = _typed(found.value, "vars", dict) if isinstance(found.value, dict) else {}
            part.problems += [
                _unknown_variable(variable, declared).at(part.source, ("include", index, "vars", variable))
                for variable in asked.vars
                if variable not in declared
            ]
            part.included.append(self.part(inner, [*trail, _identity(name)]))

    def _open(self, name: str, source: Source, where: _Path, trail: Sequence[str]) -> Source | Mistake:
        identity = _identity(name)
        if identity in trail:
            cycle = [*trail[trail.index(identity) :], identity]
            told = " -> ".join(os.path.basename(member) for member in cycle)
            message = f"these documents include one another: {told}"
            return Mistake("include_cycle", message, mend="Remove one of the includes.")
        self.included += 1
        if len(trail) >= MAX_INCLUDE_DEPTH or self.included > MAX_INCLUDES:
            expected = f"at most {MAX_INCLUDE_DEPTH} inside each other, and {MAX_INCLUDES} in all"
            return Mistake("too_many_includes", "too many documents are included", expected=expected)
        data = _read(name)
        if isinstance(data, Mistake):
            return data
        self.take(len(data), source, where)
        try:
            return read_source(data, name=name)
        except DocumentError as error:
            raise error from None
