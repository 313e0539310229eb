"""A document compiled: everything worked out that does not depend on a conversation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import UNSET

from averment.assertions.base import Assertion, Channel, Check, Finding
from averment.documents import Document, Place
from averment.evidence.view import ROLE_ALIASES, Roles, View
from averment.policies import Policy
from averment.text.patterns import Pattern, PatternSet, compile_pattern

__all__ = ["Entry", "Plan", "compile_plan"]


class Entry(msgspec.Struct, frozen=True):
    """One assertion, ready to be checked.

    `asks_role` when it looks at what somebody in a role said, `reads_bodies` when at what HTTP exchanges were answered;
    `tools` are those whose executions it rests on.
    """

    id: str
    kind: str
    needs: tuple[Channel, ...]
    check: Check
    premises: tuple[str, ...]
    applies: Callable[[View], Finding | None] | None
    common: dict[str, Any]
    at: Place | None
    asks_role: bool
    tools: frozenset[str]
    reads_bodies: bool


class Plan:
    """A compiled document; it runs over one conversation or ten million and never changes.

    Attributes:
        document: the document it was compiled from.
        entries: one for every assertion, in document order.
        order: the indexes of the entries, each after those whose results it reads.
        patterns: every pattern of the transcript, each once.
        pattern_set: the same, for searching all of them in one pass.
        roles: the alias table for role names.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self.roles = Roles(ROLE_ALIASES if document.roles is None else document.roles)
        self._patterns: dict[Pattern, None] = {}
        self._asks_role = False
        self.entries: Sequence[Entry] = [
            self._entry(assertion, document.position(index))
            for index, assertion in enumerate(document.assertions)
        ]
        self.order = document.order
        self.patterns: Sequence[Pattern] = tuple(self._patterns)
        self.pattern_set = PatternSet(self.patterns)

    def _entry(self, assertion: Assertion, place: Place | None) -> Entry:
        self._asks_role = False  # until its check asks for the canonical name of one
        check = assertion.compile(self)
        return Entry(
            assertion.id,
            str(assertion.__struct_config__.tag),
            assertion.needs,
            check,
            assertion.premises(),
            _applies(assertion),
            _common(assertion, place),
            place,
            self._asks_role,
            frozenset(assertion.tools()),
            assertion.reads_bodies(),
        )

    def pattern(self, source: str, *, ignore_case: bool) -> Pattern:
        """The compiled pattern, noted so that it is searched with all others (`Resolver`)."""
        pattern = compile_pattern(source, ignore_case=ignore_case)
        self._patterns[pattern] = None
        return pattern

    def role(self, name: str | None) -> str | None:
        """The role's canonical name (`Resolver`)."""
        self._asks_role = self._asks_role or name is not None
        return self.roles.canonical(name)

    def policy(self, pack: str | None, pack_path: str | None) -> Policy:
        """The policy that an assertion names; the document has loaded it already (`Resolver`)."""
        return self.document.shelf.policy(pack, pack_path)


@lru_cache(maxsize=64)
def compile_plan(document: Document) -> Plan:
    """The plan of a document, compiled once for as long as it is in use."""
    return Plan(document)


def _applies(assertion: Assertion) -> Callable[[View], Finding | None] | None:
    if assertion.applies_if is UNSET:
        return None
    from averment.assertions.applicability import applicability

    return applicability(assertion.applies_if)


def _common(assertion: Assertion, place: Place | None) -> dict[str, Any]:
    """How every result of the assertion begins in the envelope."""
    said = {
        "dimension": assertion.dimension,
        "severity": None if assertion.severity == "error" else assertion.severity,
        "tags": assertion.tags,
        "owner": assertion.owner,
        "description": assertion.description,
    }
    common: dict[str, Any] = {
        "id": assertion.id,
        "kind": assertion.__struct_config__.tag,
        "deterministic": True,
        **{name: value for name, value in said.items() if value},
    }
    if place is not None:
        common["at"] = {"line": place.line, "column": place.column}
        if place.file is not None:
            common["at"]["file"] = place.file
    return common
