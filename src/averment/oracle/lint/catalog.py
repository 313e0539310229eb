"""Rules about the catalog, the probes and the modules of a pack."""

from __future__ import annotations

import posixpath
import sys
from collections.abc import Iterator
from itertools import zip_longest
from typing import Final

from averment.oracle.lint.noting import Found, Rule
from averment.oracle.model.pack import Pack
from averment.text.jsontext import canonical_known, sha256
from averment.text.structs import Mistake

__all__ = ["RULES"]

_HARMLESS: Final = frozenset({"test", "this", "antigravity"})
"""Modules of Python that nothing imports."""


def _tools(pack: Pack) -> Iterator[Found]:
    """Tools that no template calls, and those that ask for the user's word to change nothing."""
    called = {each.tool for template in pack.templates for each in template.assistant_milestones}
    for tool in pack.tools:
        if tool.name not in called:
            message = f"no template calls `{tool.name}`"
            yield Found("tools", Mistake("uncalled_tool", message, (tool.index, "function", "name")))
        if tool.requires_confirmation and not tool.mutates:
            message = f"`{tool.name}` needs the user's word, and does not declare that it changes anything"
            path = (tool.index, "x-requires-confirmation")
            yield Found("tools", Mistake("confirmation_without_mutation", message, path))


def _probes(pack: Pack) -> Iterator[Found]:
    """Probes that make the same call as an earlier one, after the same calls.

    One that another continues is left alone: it brings about the state that the next one needs.
    """
    first: dict[str, str] = {}
    before = ""
    for case, following in zip_longest(pack.cases, pack.cases[1:]):
        if case.reset_before:
            before = ""
        before = sha256(canonical_known([before, case.tool, case.arguments]))
        is_continued = following is not None and not following.reset_before
        if before in first and not is_continued:
            message = f"the probe `{case.id}` makes the same calls as `{first[before]}`"
            yield Found("validation_cases", Mistake("repeated_probe", message, (case.index, "id")))
        first.setdefault(before, case.id)


def _modules(pack: Pack) -> Iterator[Found]:
    """Modules that are imported instead of Python's own: those at the root, and beside the backend or the assertions."""
    folders = {
        posixpath.dirname(pack.files[role]) for role in ("backend", "assertions") if role in pack.files
    }
    folders.add("")
    for logical in sorted(pack.digests):
        tree, slash, path = logical.partition("/")
        if tree != "tree" or not slash:
            continue
        folder, name = posixpath.split(path)
        if name == "__init__.py":
            folder, name = posixpath.split(folder)
            name += ".py"
        module = name.removesuffix(".py")
        if folder in folders and name.endswith(".py") and module in sys.stdlib_module_names - _HARMLESS:
            message = f"`{path}` is imported instead of Python's own module `{module}`"
            yield Found(path, Mistake("shadows_stdlib", message))


RULES: tuple[Rule, ...] = (_tools, _probes, _modules)
