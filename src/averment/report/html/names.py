"""Ids of the page's parts, that links name: made of letters, digits and hyphens only, whatever stands in the evidence.

They depend on what they name and on nothing around it, so a link stays right when assertions are added above.
"""

from __future__ import annotations

import hashlib
import re

from averment.verdicts.judged import Judged

__all__ = ["Names", "digest", "entry_keys", "slug"]

_PLAIN = re.compile(r"[A-Za-z0-9_.-]{1,80}")
_OTHER = re.compile(r"[^A-Za-z0-9]+")


class Names:
    """Gives each thing a name that no other has: the one that was asked for, or that with a number."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def free(self, name: str) -> str:
        """The name, or the first of `name-2`, `name-3` ... that is free."""
        found, number = name, 1
        while found in self._taken:
            number += 1
            found = f"{name}-{number}"
        self._taken.add(found)
        return found


def slug(text: str) -> str:
    """The text where it may stand in a link, else what is left of it with a digest that tells it from its like."""
    if _PLAIN.fullmatch(text):
        return text
    plain = _OTHER.sub("-", text[:200]).strip("-").lower()[:40]
    return f"{plain}-{digest(text)}" if plain else digest(text)


def digest(text: str) -> str:
    """Eight hexadecimal digits that stand for the text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def entry_keys(entries: list[Judged] | tuple[Judged, ...]) -> list[str]:
    """A key for each conversation, which the ids of its parts hold; empty where there is only one."""
    if len(entries) < 2:
        return [""] * len(entries)
    names = Names()
    return [names.free(digest(_identity(entry))) for entry in entries]


def _identity(entry: Judged) -> str:
    case = entry.case
    of_case = () if case is None else (case.suite, case.name or "", str(case.repeat))
    return "\x1f".join((entry.conversation, entry.document, *of_case))
