"""An assertion document: from text to checked assertions, or to every mistake in it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from averment.assertions import KINDS, kind
from averment.assertions.base import Assertion, Reference
from averment.assertions.common import common_mistakes
from averment.documents.references import cycles, decision_order
from averment.errors import DocumentError, Problem, nearest
from averment.policies import PolicyShelf
from averment.text.jsontext import digest
from averment.text.patterns import PatternError, compile_pattern
from averment.text.source import MAX_DOCUMENT_BYTES, Position, Source, read_source, source_of
from averment.text.structs import Mistake, convert, describe

__all__ = ["Document", "Fields", "InconclusivePolicy", "is_document"]

InconclusivePolicy = Literal["report", "fail", "refuse"]


class Fields(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The fields of a document."""

    version: Annotated[Literal[1], Meta(description="The version of the format.")]
    assertions: Annotated[list[dict[str, Any]], Meta(min_length=1, description="What must hold.")]
    inconclusive_policy: Annotated[
        InconclusivePolicy | UnsetType,
        Meta(
            description="What an INCONCLUSIVE result does to the exit code: nothing, the same as a FAIL, or refuse."
        ),
    ] = UNSET
    roles: Annotated[
        dict[str, list[str]] | UnsetType,
        Meta(description="Names for roles: for each role its aliases. Replaces the built-in table."),
    ] = UNSET


class _Item(msgspec.Struct, frozen=True):
    """One item of the list: what it is called, the assertion that it is, and its mentions of others.

    An item with mistakes is no assertion, and what it mentions is checked all the same.
    """

    place: int
    id: str
    assertion: Assertion | None
    mentions: list[Reference]


class Document:
    """A checked list of assertions; there is no such thing as an unchecked one.

    Attributes:
        name: the file's name, without folders; None for text and objects.
        assertions: the assertions, in the order written.
        inconclusive_policy: the document's own policy; None when it has none.
        roles: its alias table for role names; None when it has none.
        order: the assertions' indexes, each after those whose results it reads.
        shelf: the policies that it names.
    """

    def __init__(self, source: Source, folder: str) -> None:
        self._source = source
        self.name = None if source.name is None else os.path.basename(source.name)
        self.shelf = PolicyShelf(folder)
        problems: list[Problem] = []
        if not isinstance(source.value, dict) or not {"version", "assertions"} & source.value.keys():
            raise DocumentError(_no_document(source))
        fields = convert(source, (), Fields, problems)
        items = source.value.get("assertions")
        found = self._check(items if isinstance(items, list) else [], problems)
        if problems or fields is None:
            raise DocumentError(sorted(problems, key=_place))
        self.assertions: Sequence[Assertion] = [
            item.assertion for item in found if item.assertion is not None
        ]
        self.inconclusive_policy = None if fields.inconclusive_policy is UNSET else fields.inconclusive_policy
        self.roles: Mapping[str, Sequence[str]] | None = None if fields.roles is UNSET else fields.roles
        indexes = {assertion.id: index for index, assertion in enumerate(self.assertions)}
        self.order: Sequence[int] = [indexes[name] for name in decision_order(_needs(found))]

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Document:
        """The document in a file; paths inside it are relative to its folder.

        Raises:
            DocumentError: with every mistake in it, or because the file can't be read.
        """
        name = os.fspath(path)
        try:
            # A pipe or a device would block, or never end.
            if not os.path.isfile(name):
                exists = os.path.exists(name)
                code, why = (
                    ("not_a_file", "is no regular file") if exists else ("file_not_found", "does not exist")
                )
                raise DocumentError(_unreadable(name, code, why))
            with open(name, "rb") as stream:
                data = stream.read(MAX_DOCUMENT_BYTES + 1)
        except OSError as error:
            raise DocumentError(
                _unreadable(name, "file_unreadable", f"can't be read: {error.strerror}")
            ) from None
        return cls(read_source(data, name=name), os.path.dirname(name))

    @classmethod
    def parse(cls, text: str | bytes, *, name: str | None = None) -> Document:
        """The document in a text, YAML or JSON; paths inside it are relative to the working folder.

        Raises:
            DocumentError: with every mistake in it.
        """
        return cls(read_source(text, name=name), "")

    @classmethod
    def of(cls, value: object) -> Document:
        """The document that a mapping of plain values is; problems have paths and no lines.

        Raises:
            DocumentError: with every mistake in it.
        """
        return cls(source_of(value), "")

    @property
    def display_name(self) -> str:
        """The name that people know it by: as they gave it, or `the document`."""
        return self._source.name or "the document"

    @cached_property
    def sha256(self) -> str:
        """The digest of the document as parsed and of what its policies say; no defaults are filled in."""
        policies = self.shelf.contents()
        return digest({**self._source.value, "policies": policies} if policies else self._source.value)

    def position(self, index: int) -> Position | None:
        """Where the assertion of that index starts; None for a document that was no text."""
        return self._source.position(("assertions", index))

    def problem(self, code: str, message: str, path: Sequence[str | int]) -> Problem:
        """A problem at a place of this document."""
        return self._source.problem(code, message, path)

    def _check(self, items: list[Any], problems: list[Problem]) -> list[_Item]:
        found: list[_Item] = []
        first: dict[str, int] = {}
        for index, item in enumerate(items):
            if not isinstance(item, dict):
                continue  # the document's fields have said so
            assertion = self._convert(item, index, problems)
            name = item.get("id")
            if isinstance(name, str) and name in first:
                problems.append(self._duplicate(name, index, first[name]))
            elif isinstance(name, str):
                first[name] = index
            if assertion is not None and not self._is_sound(assertion, index, problems):
                assertion = None
            if isinstance(name, str):
                mentions = _premises(item) + list(() if assertion is None else assertion.references())
                found.append(_Item(index, name, assertion, mentions))
        self._check_references(found, first, problems)
        return found

    def _convert(self, item: dict[str, Any], index: int, problems: list[Problem]) -> Assertion | None:
        name = item.get("kind")
        path = ("assertions", index)
        if isinstance(name, str) and name in KINDS:
            return convert(self._source, path, kind(name), problems)
        where: tuple[str | int, ...] = (*path, "kind")
        if "kind" not in item:
            message, code, where = "the field `kind` is missing", "missing_field", path
        elif isinstance(name, str):
            message, code = f"there is no kind `{name}`", "unknown_kind"
        else:
            message, code = "`kind` has the wrong type", "wrong_type"
        problems.append(
            self._source.problem(
                code,
                message,
                where,
                expected=f"one of {', '.join(KINDS)}",
                found=None if "kind" not in item else describe(name),
                nearest=nearest(name, KINDS) if isinstance(name, str) else None,
                mend="See `averment kinds`.",
            )
        )
        if not isinstance(item.get("id"), str) or not item["id"]:
            expected = "`id`: a non-empty string"
            problems.append(
                self._source.problem("missing_field", "the assertion has no id", path, expected=expected)
            )
        return None

    def _is_sound(self, assertion: Assertion, index: int, problems: list[Problem]) -> bool:
        path = ("assertions", index)
        before = len(problems)
        try:
            mistakes = [*assertion.mistakes(self.shelf), *common_mistakes(assertion)]
            problems.extend(mistake.at(self._source, path) for mistake in mistakes)
        except DocumentError as error:  # a policy file with mistakes of its own, told once
            problems.extend(problem for problem in error.problems if problem not in problems)
            return False
        for use in assertion.patterns():
            try:
                compile_pattern(use.source, ignore_case=use.ignore_case)
            except PatternError as error:
                mistake = Mistake(
                    "bad_pattern", error.message, use.path, offset=error.position, mend=error.mend
                )
                problems.append(mistake.at(self._source, path))
        return len(problems) == before

    def _duplicate(self, name: str, index: int, first: int) -> Problem:
        place = self._source.position(("assertions", first, "id"))
        where = f" (first on line {place.line})" if place else f" (first at $.assertions[{first}])"
        return self._source.problem(
            "duplicate_id",
            f"the id `{name}` is used twice{where}",
            ("assertions", index, "id"),
            expected="an id of its own for every assertion",
        )

    def _check_references(
        self, found: list[_Item], known: Mapping[str, int], problems: list[Problem]
    ) -> None:
        for item in found:
            for mention in item.mentions:
                name, itself = mention.id, mention.id == item.id
                if name in known and not itself:
                    continue
                others = [other for other in known if other != item.id]
                problems.append(
                    self._source.problem(
                        "self_reference" if itself else "unknown_reference",
                        f"`{name}` refers to itself" if itself else f"there is no assertion `{name}`",
                        ("assertions", item.place, *mention.path),
                        offset=mention.offset,
                        expected="the id of another assertion",
                        nearest=None if itself else nearest(name, others),
                    )
                )
        for cycle in cycles(_needs(found)):
            trail = " -> ".join([*cycle, cycle[0]])
            problems.append(
                self._source.problem(
                    "reference_cycle",
                    f"these assertions wait for one another: {trail}",
                    ("assertions", known[cycle[0]]),
                    mend="Remove one of the references.",
                )
            )


def is_document(value: object) -> bool:
    """Whether a value is meant to be an assertion document, right or wrong."""
    return isinstance(value, dict) and "assertions" in value and "version" in value


def _premises(item: Mapping[str, Any]) -> list[Reference]:
    """The mentions in an item's `when`, right or wrong; what is no id at all is told elsewhere."""
    when = item.get("when")
    if isinstance(when, str):
        return [Reference(("when",), when)] if when else []
    places = enumerate(when) if isinstance(when, list) else ()
    return [Reference(("when", place), name) for place, name in places if isinstance(name, str) and name]


def _needs(found: Sequence[_Item]) -> dict[str, list[str]]:
    """For each item the known others whose results it reads."""
    known = {item.id for item in found}
    return {
        item.id: [ref.id for ref in item.mentions if ref.id in known and ref.id != item.id] for item in found
    }


def _no_document(source: Source) -> Problem:
    return source.problem(
        "not_a_document",
        "this is no assertion document",
        expected="a mapping with `version: 1` and a list of `assertions`",
        found=describe(source.value),
        mend="See `averment demo` for one.",
    )


def _unreadable(name: str, code: str, why: str) -> Problem:
    return Problem(
        code=code, message=f"`{name}` {why}", file=name, expected="an assertion document, YAML or JSON"
    )


def _place(problem: Problem) -> tuple[bool, str, int, int]:
    """Problems are told in the order of their places; those of the document itself before those of its policies."""
    return problem.line is None, problem.file or "", problem.line or 0, problem.column or 0
