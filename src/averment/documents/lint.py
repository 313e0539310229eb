"""What is no mistake in a document and still odd: checks that can't fail, can't pass, or fight one another.

Each warning has a code, a place and a mend. One function is one check; each takes time linear in the document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from averment.assertions.base import Assertion, Status
from averment.assertions.bounds import MANY, Bounds
from averment.documents.contradictions import Ledger, fields_text
from averment.documents.document import Document
from averment.documents.settled import (
    Settled,
    bounds_of,
    chosen_rules,
    is_never_decided,
    kind_of,
    settled,
    uses,
)
from averment.errors import Problem, nearest
from averment.evidence.view import ROLE_ALIASES
from averment.text.patterns import compile_pattern
from averment.text.patterns.extremes import matches_everything, matches_nothing
from averment.text.structs import Mistake

__all__ = ["CODES", "lint"]

CODES = (
    "cannot_fail",
    "cannot_pass",
    "contradiction",
    "duplicate_assertion",
    "matches_everything",
    "matches_nothing",
    "senseless_bounds",
    "unknown_role",
    "unused_variable",
    "when_never_holds",
)
"""The codes of all warnings."""

_COMMON_ROLES = frozenset(
    {
        *("agent", "assistant", "bot", "ai", "model", "system", "developer", "tool", "function", "ivr"),
        *("caller", "user", "customer", "human", "client", "patient", "guest", "member", "visitor"),
        *("operator", "representative", "supervisor", "manager", "advisor", "narrator", "moderator"),
    }
)
"""Names that transcripts use for somebody, besides those of the alias table."""

_SAY_SOMETHING = "Ask for at least one character; to mean any turn that says something, write `.`."

_Path = tuple[str | int, ...]
_Found = Iterable[tuple[int, Mistake]]


class _Known(msgspec.Struct, frozen=True):
    """An assertion, and what is known of it: paths of its patterns that match everything or nothing, its verdict."""

    assertion: Assertion
    loose: list[_Path]
    dead: list[_Path]
    verdict: Settled | None


def lint(document: Document) -> list[Problem]:
    """The warnings about a document, in the order of its assertions; first those about its variables."""
    known = [_known(document, assertion) for assertion in document.assertions]
    found = [pair for check in _CHECKS for pair in check(document, known)]
    found.sort(key=lambda pair: pair[0])
    told = [document.problem(index, mistake) for index, mistake in found]
    return [*document.warnings, *(msgspec.structs.replace(problem, severity="warning") for problem in told)]


def _known(document: Document, assertion: Assertion) -> _Known:
    loose: list[_Path] = []
    dead: list[_Path] = []
    for use in uses(assertion):
        pattern = compile_pattern(use.source, ignore_case=use.ignore_case)
        if matches_everything(pattern):
            loose.append(use.path)
        elif matches_nothing(pattern):
            dead.append(use.path)
    return _Known(assertion, loose, dead, settled(assertion, dead, document.shelf))


def _settled_verdicts(_: Document, known: Sequence[_Known]) -> _Found:
    """An assertion that nothing can make fail, or pass."""
    for index, each in enumerate(known):
        verdict = each.verdict
        if verdict is not None:
            code, verb = ("cannot_fail", "fail") if verdict.status is Status.PASS else ("cannot_pass", "pass")
            message = f"nothing can make this {verb}: {verdict.why}"
            yield index, Mistake(code, message, verdict.path, mend=verdict.mend)


def _patterns(_: Document, known: Sequence[_Known]) -> _Found:
    """A pattern that is found in every turn, or in none."""
    for index, each in enumerate(known):
        for path in each.loose:
            message = "the pattern is found in every text, even in an empty one"
            yield index, Mistake("matches_everything", message, path, mend=_SAY_SOMETHING)
        for path in each.dead:
            if each.verdict is None or each.verdict.path != path:
                message = "the pattern matches no text at all"
                yield index, Mistake("matches_nothing", message, path, mend="Correct the pattern.")


def _policy_rules(document: Document, known: Sequence[_Known]) -> _Found:
    """The same, and unknown roles, in the rules of policies; each rule is told once."""
    roles = _Roles(document)
    told: set[tuple[str | None, str | None, str]] = set()
    for index, each in enumerate(known):
        assertion: Any = each.assertion
        if kind_of(assertion) != "policy":
            continue
        path = ("pack",) if assertion.pack_path is None else ("pack_path",)
        for rule in chosen_rules(assertion, document.shelf):
            key = (assertion.pack, assertion.pack_path, rule.id)
            if key in told:
                continue
            told.add(key)
            pattern = compile_pattern(rule.regex, ignore_case=True)
            of_rule = f"of the policy's rule `{rule.id}`"
            if matches_everything(pattern):
                message = f"the pattern {of_rule} is found in every text, even in an empty one"
                yield index, Mistake("matches_everything", message, path, mend=_SAY_SOMETHING)
            elif matches_nothing(pattern) and each.verdict is None:
                message = f"the pattern {of_rule} matches no text at all"
                yield index, Mistake("matches_nothing", message, path, mend="Correct the pattern.")
            if rule.role is not None and rule.role.casefold() not in roles.known:
                yield index, roles.unknown(rule.role, path, f" {of_rule}")


def _bounds(_: Document, known: Sequence[_Known]) -> _Found:
    """Bounds that bind nothing, beside something that does, and limits below zero."""
    for index, each in enumerate(known):
        count = getattr(each.assertion, "count", UNSET)
        limit = getattr(each.assertion, "max_ms", UNSET)
        if limit is not UNSET and limit < 0:
            message = "no time is shorter than nothing"
            yield index, Mistake("senseless_bounds", message, ("max_ms",), mend="Set a limit from 0 up.")
        if not isinstance(count, Bounds) or (each.verdict and each.verdict.path == ("count",)):
            continue
        if isinstance(count.min, int) and count.min < 0:
            message = "nothing happens fewer than zero times, so this bound binds nothing"
            yield index, Mistake("senseless_bounds", message, ("count", "min"), mend="Remove it, or set 0.")
        elif bounds_of(each.assertion) == (0, MANY):
            message = "everything happens zero times or more, so these bounds bind nothing"
            yield index, Mistake("senseless_bounds", message, ("count",), mend="Set `min: 1`, or a `max`.")


def _premises(_: Document, known: Sequence[_Known]) -> _Found:
    """A `when` that asks for what can never pass, or for what can't pass together."""
    by_id = {each.assertion.id: each for each in known}
    for index, each in enumerate(known):
        ledger = Ledger()
        for place, name in enumerate(each.assertion.premises()):
            path = ("when",) if isinstance(each.assertion.when, str) else ("when", place)
            premise = by_id[name]
            other = ledger.add(premise.assertion)
            if is_never_decided(premise.assertion):
                why = f"`{name}` is INCONCLUSIVE whatever the evidence"
            elif premise.verdict is not None and premise.verdict.status is Status.FAIL:
                why = f"`{name}` can never pass"
            elif other is not None:
                why = f"`{name}` and `{other}` can't both pass"
            else:
                continue
            message = f"this is never checked: {why}"
            yield index, Mistake("when_never_holds", message, path, mend="Name an assertion that can pass.")


def _contradictions(document: Document, known: Sequence[_Known]) -> _Found:
    """Two assertions that apply together and can't both pass.

    Notes are left out: they are parts of formulas, where one and its opposite are of use. So are assertions under
    different conditions, unless one of the two is under none.
    """
    always = Ledger()
    under: dict[str, Ledger] = {}
    index_of = {each.assertion.id: index for index, each in enumerate(known)}
    counted = [
        (_condition(each.assertion), index)
        for index, each in enumerate(known)
        if each.assertion.severity != "note"
    ]
    for condition, index in sorted(counted, key=lambda pair: pair[0] != ""):  # those under none come first
        ledger = under.setdefault(condition, Ledger(always)) if condition else always
        other = ledger.add(known[index].assertion)
        if other is not None:
            message = f"this and {_named(document, known, index_of[other])} can't both pass: they ask for the opposite"
            mend = "Remove one of the two, or give each a `when` or `applies_if` of its own."
            yield index, Mistake("contradiction", message, mend=mend)


def _condition(assertion: Assertion) -> str:
    """What must hold for the assertion to be checked; equal only for equal conditions, empty for none."""
    premises = sorted(assertion.premises())
    if not premises and assertion.applies_if is UNSET:
        return ""
    if assertion.applies_if is UNSET:
        return repr(premises)
    return repr((premises, msgspec.to_builtins(assertion.applies_if, order="deterministic")))


def _named(document: Document, known: Sequence[_Known], index: int) -> str:
    place = document.position(index)
    name = known[index].assertion.id
    if place is None:
        return f"`{name}`"
    return f"`{name}` (line {place.line}{f' of {place.file}' if place.file else ''})"


def _duplicates(document: Document, known: Sequence[_Known]) -> _Found:
    """An assertion that says what another one has said, in the same words."""
    first: dict[str, int] = {}
    for index, each in enumerate(known):
        text = fields_text(each.assertion, id="", owner=None, tags=[], description=None, examples=UNSET)
        other = first.setdefault(text, index)
        if other != index:
            message = f"this says the same as {_named(document, known, other)}"
            yield index, Mistake("duplicate_assertion", message, mend="Remove one of the two.")


def _roles(document: Document, known: Sequence[_Known]) -> _Found:
    """A role that no alias table knows, and that no transcript is likely to use."""
    roles = _Roles(document)
    for index, each in enumerate(known):
        for path, role in _mentioned_roles(each.assertion, ()):
            if role.casefold() not in roles.known:
                yield index, roles.unknown(role, path)


def _mentioned_roles(value: Any, path: _Path) -> Iterator[tuple[_Path, str]]:
    """Every `role` in a struct and in those that it is made of."""
    for name in value.__struct_fields__:
        part = getattr(value, name)
        if name == "role" and isinstance(part, str):
            yield (*path, name), part
        elif isinstance(part, msgspec.Struct):
            yield from _mentioned_roles(part, (*path, name))
        elif isinstance(part, list):
            for place, item in enumerate(part):
                if isinstance(item, msgspec.Struct):
                    yield from _mentioned_roles(item, (*path, name, place))


class _Roles:
    """The role names that a document may use without a word about it."""

    __slots__ = ("_nearest", "known")

    def __init__(self, document: Document) -> None:
        table = ROLE_ALIASES if document.roles is None else document.roles
        names = (alias.casefold() for name, others in table.items() for alias in (name, *others))
        self.known = _COMMON_ROLES.union(names)
        self._nearest: dict[str, str | None] = {}

    def unknown(self, role: str, path: _Path, of_rule: str = "") -> Mistake:
        """The warning about another name."""
        if role not in self._nearest:
            self._nearest[role] = nearest(role.casefold(), self.known)
        return Mistake(
            "unknown_role",
            f"no alias table knows the role `{role}`{of_rule}, so only turns of exactly that name are looked at",
            path,
            nearest=self._nearest[role],
            mend="Correct it; if transcripts use that name, list it under `roles:`, which replaces the built-in table.",
        )


_CHECKS: Sequence[Callable[[Document, Sequence[_Known]], _Found]] = (
    _settled_verdicts,
    _patterns,
    _policy_rules,
    _bounds,
    _premises,
    _contradictions,
    _duplicates,
    _roles,
)
