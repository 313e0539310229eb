"""Policies: versioned sets of rules about what must, or must not, be said.

A policy is a JSON or YAML file:

    {"name": "house", "version": 7, "rules": [
        {"id": "no-slang", "type": "banned", "regex": "slang", "role": "agent"},
        {"id": "say-bye", "type": "required_disclosure", "regex": "goodbye"}]}

A `banned` rule is violated by each turn that matches; a `required_disclosure` by a transcript in which no turn does
(reference, section 5, "policy").
"""

from __future__ import annotations

import os
from functools import cache
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from averment.errors import DocumentError, Problem, nearest
from averment.evidence.within import Within
from averment.text.jsontext import digest
from averment.text.patterns.mistakes import pattern_mistakes
from averment.text.source import MAX_DOCUMENT_BYTES, Source, read_source
from averment.text.structs import Mistake, convert

__all__ = [
    "Policy",
    "PolicyNotFoundError",
    "PolicyShelf",
    "Rule",
    "bundled_names",
    "bundled_text",
    "load_policy",
    "read_policy",
]

_BUNDLED = os.path.join(os.path.dirname(__file__), "bundled")


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One rule of a policy."""

    id: Annotated[str, Meta(min_length=1)]
    type: Literal["banned", "required_disclosure"]
    regex: Annotated[str, Meta(min_length=1, description="Searched in any case, within one turn.")]
    role: str | None = None
    within: Annotated[Within | UnsetType, Meta(description="Only in this part of the conversation.")] = UNSET
    description: str | None = None


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A set of rules; `name` and `version` are reported with every verdict."""

    rules: list[Rule]
    name: str | None = None
    version: str | int | float | None = None
    title: str | None = None
    description: str | None = None

    @property
    def sha256(self) -> str:
        """The digest of what the policy says: two files with the same content have the same one."""
        return digest(self.content())

    def content(self) -> dict[str, Any]:
        """The policy as plain JSON values, without defaults."""
        plain = msgspec.to_builtins(self)
        plain["rules"] = [
            {key: value for key, value in rule.items() if value is not None} for rule in plain["rules"]
        ]
        return {key: value for key, value in plain.items() if value is not None}


def bundled_names() -> list[str]:
    """The names of the policies that come with averment."""
    return sorted(name.removesuffix(".yaml") for name in os.listdir(_BUNDLED) if name.endswith(".yaml"))


def bundled_text(name: str) -> bytes:
    """The text of a policy that comes with averment; the name is one of `bundled_names()`."""
    with open(os.path.join(_BUNDLED, f"{name}.yaml"), "rb") as file:
        return file.read()


class PolicyNotFoundError(Exception):
    """The policy that an assertion names can't be had; `mistake` is relative to that assertion."""

    def __init__(self, mistake: Mistake) -> None:
        self.mistake = mistake
        super().__init__(mistake.message)


class PolicyShelf:
    """The policies that one document names, each loaded once, in the order of their first use."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._loaded: dict[tuple[str | None, str | None], Policy] = {}

    def policy(self, pack: str | None, pack_path: str | None) -> Policy:
        """The policy that an assertion names; raises as `load_policy` does."""
        key = (pack, pack_path)
        if key not in self._loaded:
            self._loaded[key] = load_policy(pack, pack_path, self._folder)
        return self._loaded[key]

    def contents(self) -> list[dict[str, Any]]:
        """What the policies used so far say, for the document's digest."""
        return [policy.content() for policy in self._loaded.values()]


def load_policy(pack: str | None, pack_path: str | None, folder: str) -> Policy:
    """The policy that an assertion names.

    Args:
        pack: the name of a bundled policy; None with no path means `default`.
        pack_path: a policy file, relative to `folder`.
        folder: where the document is.

    Raises:
        PolicyNotFoundError: there is no such policy or file.
        DocumentError: the file has mistakes; all of them are in it.
    """
    if pack_path is not None:
        return read_policy(read_source(_read(folder, pack_path), name=pack_path))
    name = "default" if pack is None else pack
    known = bundled_names()
    if name in known:
        return _bundled(name)
    raise PolicyNotFoundError(
        Mistake(
            "unknown_policy",
            f"there is no bundled policy `{name}`",
            ("pack",),
            expected=f"one of {', '.join(known)}",
            nearest=nearest(name, known),
            mend="For a policy of your own write `pack_path: FILE`.",
        )
    )


def read_policy(source: Source) -> Policy:
    """The policy in `source`.

    Raises:
        DocumentError: with all its mistakes.
    """
    problems: list[Problem] = []
    policy = convert(source, (), Policy, problems)
    if policy is None:
        raise DocumentError(problems)
    seen: set[str] = set()
    for index, rule in enumerate(policy.rules):
        place = ("rules", index, "id")
        if rule.id in seen:
            expected = "an id of its own for every rule"
            problems.append(
                source.problem(
                    "duplicate_id", f"the rule id `{rule.id}` is used twice", place, expected=expected
                )
            )
        seen.add(rule.id)
        faults = [] if rule.within is UNSET else [fault.under("within") for fault in rule.within.mistakes()]
        faults += pattern_mistakes(rule.regex, ("regex",), ignore_case=True)
        problems.extend(fault.at(source, ("rules", index)) for fault in faults)
    if problems:
        raise DocumentError(problems)
    return policy


def _read(folder: str, pack_path: str) -> bytes:
    path = os.path.join(folder, pack_path)
    try:
        # A pipe or a device would block, or never end.
        if os.path.isfile(path):
            with open(path, "rb") as file:
                return file.read(MAX_DOCUMENT_BYTES + 1)
        why = "is not a regular file" if os.path.exists(path) else "does not exist"
    except OSError as error:
        why = f"can't be read: {error.strerror}"
    raise PolicyNotFoundError(
        Mistake(
            "policy_unreadable",
            f"the policy file `{pack_path}` {why}",
            ("pack_path",),
            expected="a policy file, by a path relative to the document",
            mend="Check the path, or name a bundled policy with `pack`.",
        )
    )


@cache
def _bundled(name: str) -> Policy:
    return read_policy(read_source(bundled_text(name), name=f"{name}.yaml"))
