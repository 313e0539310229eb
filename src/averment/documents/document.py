"""An assertion document: from text to checked assertions, or to every mistake in it."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import msgspec
from msgspec import UNSET

from averment.assertions import KINDS, kind
from averment.assertions.base import Assertion, Reference
from averment.assertions.common import common_mistakes
from averment.documents.expand import expand, expand_file
from averment.documents.fields import InconclusivePolicy, Scalar
from averment.documents.parts import Item, Part
from averment.documents.references import cycles, decision_order
from averment.errors import DocumentError, Problem, nearest
from averment.policies import PolicyShelf
from averment.text.jsontext import digest
from averment.text.patterns.mistakes import pattern_mistakes
from averment.text.source import read_source, source_of
from averment.text.structs import Mistake, describe, fit

__all__ = ["Document", "Place"]


class Place(msgspec.Struct, frozen=True):
    """Where an assertion starts; both numbers start at 1.

    Attributes:
        line: its line.
        column: its column in code points.
        file: the file, as the document includes it; None for the document itself.
    """

    line: int
    column: int
    file: str | None = None


class _Found(msgspec.Struct, frozen=True):
    """What an item of the list is: its id, the assertion, and its mentions of others.

    An item with mistakes is no assertion, and what it mentions is checked all the same.
    """

    item: Item
    id: str
    assertion: Assertion | None
    mentions: list[Reference]


class Document:
    """A checked list of assertions; there is no such thing as an unchecked one.

    Attributes:
        name: the file's name, without folders; None for text and objects.
        assertions: the assertions, in the order written, those of included documents last.
        inconclusive_policy: the document's own policy; None when it has none.
        roles: its alias table for role names; None when it has none.
        order: the assertions' indexes, each after those whose results it reads.
        shelf: the policies that it names.
        warnings: what is no mistake, and still not meant.
        tops: the documents that it was joined from, each with all that it includes.
    """

    def __init__(self, *tops: Part) -> None:
        self.tops = tops
        self._parts = [part for top in tops for part in top.walk()]
        self._items = [item for part in self._parts for item in part.items]
        self.name = tops[0].file
        self.shelf = PolicyShelf("")
        problems = [problem for part in self._parts for problem in part.problems]
        found = self._check(problems)
        fields = tops[0].fields
        if fields is not None:
            problems += _decided_twice(fields.inconclusive_policy, "inconclusive_policy", self._parts[1:])
            problems += _decided_twice(fields.roles, "roles", self._parts[1:])
        if problems or fields is None:
            raise DocumentError(self._in_order(problems))
        self.assertions: Sequence[Assertion] = [
            entry.assertion for entry in found if entry.assertion is not None
        ]
        self.inconclusive_policy: InconclusivePolicy | None = (
            None if fields.inconclusive_policy is UNSET else fields.inconclusive_policy
        )
        self.roles: Mapping[str, Sequence[str]] | None = None if fields.roles is UNSET else fields.roles
        self.warnings: Sequence[Problem] = [warning for part in self._parts for warning in part.warnings]
        indexes = {assertion.id: index for index, assertion in enumerate(self.assertions)}
        self.order: Sequence[int] = [indexes[name] for name in decision_order(_needs(found))]

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, values: Mapping[str, Scalar] | None = None) -> Document:
        """The document in a file, or the bundled one that `policy:NAME` is; paths in it are relative to its folder.

        Args:
            path: the file.
            values: values for its variables, instead of those that it gives itself. Those that it doesn't ask for are
                let be, so that a table of cases may say more than one document needs.

        Raises:
            DocumentError: with every mistake in it, or because the file can't be read.
        """
        with _uncollected():
            return cls(expand_file(os.fspath(path), values))

    @classmethod
    def parse(cls, text: str | bytes, *, name: str | None = None) -> Document:
        """The document in a text, YAML or JSON; paths inside it are relative to the working folder.

        Raises:
            DocumentError: with every mistake in it.
        """
        with _uncollected():
            return cls(expand(read_source(text, name=name)))

    @classmethod
    def of(cls, value: object) -> Document:
        """The document that a mapping of plain values is; problems have paths and no lines.

        Raises:
            DocumentError: with every mistake in it.
        """
        with _uncollected():
            return cls(expand(source_of(value)))

    def joined(self, *others: Document) -> Document:
        """This document with the assertions of others after its own; it decides on policy and roles.

        Raises:
            DocumentError: they use an id twice, or disagree on what can be decided only once.
        """
        return Document(*self.tops, *(top for other in others for top in other.tops))

    @property
    def display_name(self) -> str:
        """The name that people know it by: as they gave it, or `the document`."""
        return " + ".join(top.source.name or "the document" for top in self.tops)

    @property
    def taken(self) -> Mapping[str, Scalar]:
        """The values that it was loaded with and that its assertions use; for others it would say the same."""
        return {name: value for top in self.tops for name, value in top.taken.items()}

    @cached_property
    def sha256(self) -> str:
        """The digest of the document as parsed, with the values that it was given, what it includes and its policies."""
        content = self.tops[0].content()
        if self.taken:
            content = {**content, "given": self.taken}
        if len(self.tops) > 1:
            content = {**content, "documents": [top.content() for top in self.tops[1:]]}
        policies = self.shelf.contents()
        return digest({**content, "policies": policies} if policies else content)

    def position(self, index: int) -> Place | None:
        """Where the assertion of that index starts; None for one that was no text."""
        item = self._items[index]
        place = item.position
        if place is None:
            return None
        return Place(place.line, place.column, None if item.part is self.tops[0] else item.part.file)

    def file_name(self, index: int) -> str:
        """The file that the assertion of that index stands in, as it can be opened; or `the document`."""
        return self._items[index].part.source.name or "the document"

    def problem(self, index: int, mistake: Mistake) -> Problem:
        """The problem that a mistake in the assertion of that index is, at its place in the file it stands in."""
        return self._items[index].problem(mistake)

    def _check(self, problems: list[Problem]) -> list[_Found]:
        found: list[_Found] = []
        first: dict[str, Item] = {}
        for item in self._items:
            assertion = self._checked(item, problems) if item.is_whole else None
            name = item.value.get("id")
            if isinstance(name, str) and name in first:
                problems.append(_duplicate(name, item, first[name]))
            elif isinstance(name, str):
                first[name] = item
            if isinstance(name, str):
                mentions = _premises(item.value) + list(() if assertion is None else assertion.references())
                found.append(_Found(item, name, assertion, mentions))
        _check_references(found, first, problems)
        return found

    def _checked(self, item: Item, problems: list[Problem]) -> Assertion | None:
        """The assertion that an item is, or None after adding each of its mistakes to the problems."""
        name = item.value.get("kind")
        if not isinstance(name, str) or name not in KINDS:
            problems.extend(item.problem(mistake) for mistake in _kind_mistakes(item.value))
            return None
        assertion, mistakes = fit(item.value, kind(name))
        rest = assertion
        if mistakes:
            wrong = {mistake.path[0] for mistake in mistakes if mistake.path}
            rest, _ = fit(
                {field: value for field, value in item.value.items() if field not in wrong}, kind(name)
            )
        try:
            for mistake in () if rest is None else self._mistakes(rest):
                # Where fields are wrong, how the others go together can't be told: only what each says by itself.
                if assertion is not None or (mistake.path and not mistake.key):
                    mistakes.append(mistake)
        except DocumentError as error:  # a policy file with mistakes of its own
            problems.extend(error.problems)
            assertion = None
        problems.extend(item.problem(mistake) for mistake in mistakes)
        return None if mistakes else assertion

    def _mistakes(self, assertion: Assertion) -> Iterator[Mistake]:
        """What is wrong with an assertion whose fields have the right types."""
        yield from assertion.mistakes(self.shelf)
        yield from common_mistakes(assertion)
        for use in assertion.patterns():
            yield from pattern_mistakes(use.source, use.path, ignore_case=use.ignore_case)

    def _in_order(self, problems: Sequence[Problem]) -> list[Problem]:
        """Each problem once, in the order of their places; those of the document itself before those of policies."""
        files = {part.source.name: rank for rank, part in reversed([*enumerate(self._parts)])}

        def place(problem: Problem) -> tuple[int, bool, int, int]:
            rank = files.get(problem.file, len(files))
            return rank, problem.line is None, problem.line or 0, problem.column or 0

        return sorted(dict.fromkeys(problems), key=place)


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keeps the garbage collector still: all that is made here is kept, and looking through it takes a third longer."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _kind_mistakes(fields: Mapping[str, Any]) -> Iterator[Mistake]:
    """What is wrong with an item of no known kind."""
    name = fields.get("kind")
    path: tuple[str, ...] = ("kind",)
    if "kind" not in fields:
        message, code, path = "the field `kind` is missing", "missing_field", ()
    elif isinstance(name, str):
        message, code = f"there is no kind `{name}`", "unknown_kind"
    else:
        message, code = "`kind` has the wrong type", "wrong_type"
    yield Mistake(
        code,
        message,
        path,
        expected=f"one of {', '.join(KINDS)}",
        found=None if "kind" not in fields else describe(name),
        nearest=nearest(name, KINDS) if isinstance(name, str) else None,
        mend="See `averment kinds`.",
    )
    if not isinstance(fields.get("id"), str) or not fields["id"]:
        yield Mistake("missing_field", "the assertion has no id", expected="`id`: a non-empty string")


def _duplicate(name: str, item: Item, first: Item) -> Problem:
    earlier = first.problem(Mistake("duplicate_id", "", ("id",)))
    where = f"line {earlier.line}" if earlier.line else earlier.path
    file = "" if first.part is item.part else f"in {first.part.source.name or 'the document'}, "
    return item.problem(
        Mistake(
            "duplicate_id",
            f"the id `{name}` is used twice (first {file}{'on' if earlier.line else 'at'} {where})",
            ("id",),
            expected="an id of its own for every assertion",
        )
    )


def _check_references(found: Sequence[_Found], known: Mapping[str, Item], problems: list[Problem]) -> None:
    for entry in found:
        prefix = entry.item.part.prefix
        for mention in entry.mentions:
            itself = mention.id == entry.id
            if mention.id in known and not itself:
                continue
            name = mention.id.removeprefix(prefix)  # as it is written there
            others = [
                other.removeprefix(prefix)
                for other in known
                if other != entry.id and other.startswith(prefix)
            ]
            mistake = Mistake(
                "self_reference" if itself else "unknown_reference",
                f"`{name}` refers to itself" if itself else f"there is no assertion `{name}`",
                mention.path,
                offset=mention.offset,
                expected="the id of another assertion",
                nearest=None if itself else nearest(name, others),
            )
            problems.append(entry.item.problem(mistake))
    for cycle in cycles(_needs(found)):
        trail = " -> ".join([*cycle, cycle[0]])
        message = f"these assertions wait for one another: {trail}"
        mistake = Mistake("reference_cycle", message, mend="Remove one of the references.")
        problems.append(known[cycle[0]].problem(mistake))


def _decided_twice(decision: object, name: str, parts: Sequence[Part]) -> list[Problem]:
    """The parts that disagree with what the document decides for the whole run."""
    return [
        part.source.problem(
            "decided_twice",
            f"`{name}` is decided by the document that includes this one, which says otherwise",
            (name,),
            expected="the same as there, or nothing",
            mend=f"Write `{name}` in that document only.",
        )
        for part in parts
        if part.fields is not None
        and getattr(part.fields, name) is not UNSET
        and getattr(part.fields, name) != decision
    ]


def _premises(item: Mapping[str, Any]) -> list[Reference]:
    """The mentions in an item's `when`, right or wrong; what is no id at all is told elsewhere."""
    when = item.get("when")
    if isinstance(when, str):
        return [Reference(("when",), when)] if when else []
    places = enumerate(when) if isinstance(when, list) else ()
    return [Reference(("when", place), name) for place, name in places if isinstance(name, str) and name]


def _needs(found: Sequence[_Found]) -> dict[str, list[str]]:
    """For each item the known others whose results it reads."""
    known = {item.id for item in found}
    return {
        item.id: [ref.id for ref in item.mentions if ref.id in known and ref.id != item.id] for item in found
    }
