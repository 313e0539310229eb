"""Which published tools have an assertion of their own that they are called."""

from __future__ import annotations

from collections.abc import Iterable

from averment.oracle.compile.specs import Spec

__all__ = ["direct_coverage"]


def direct_coverage(specs: Iterable[Spec], tools: Iterable[str]) -> dict[str, list[str]]:
    """The `tool_called` assertions of each tool, by name of the tool, both sorted; an order alone covers none."""
    found: dict[str, list[str]] = {name: [] for name in sorted(tools)}
    for spec in specs:
        if spec.predicate == "tool_called" and spec.target in found:
            found[spec.target].append(spec.name)
    return {name: sorted(names) for name, names in found.items()}
