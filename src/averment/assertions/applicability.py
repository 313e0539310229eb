"""`applies_if`: whether a conversation is one that an assertion is about.

An assertion that is not applicable says nothing about the conversation and never gates. Where the labels or metadata
that decide it are missing, that can't be told, and the assertion is INCONCLUSIVE as for any missing evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import UNSET

from averment.assertions import values
from averment.assertions.base import AppliesIf, Finding, inconclusive
from averment.assertions.calls import expected_mistakes
from averment.assertions.codes import Code
from averment.evidence.view import View
from averment.text.structs import Mistake

__all__ = ["applicability", "applicability_mistakes"]


def applicability_mistakes(applies: AppliesIf) -> Iterable[Mistake]:
    """An `applies_if` that asks nothing, and faults of its expected values; paths are relative to the assertion."""
    asked = _asked(applies)
    if not any(asked.values()):
        expected = "`labels`, `metadata` or both, each with at least one key"
        yield Mistake("missing_field", "`applies_if` asks nothing", ("applies_if",), expected=expected)
    for mistake in expected_mistakes(asked):
        yield mistake.under("applies_if")


def applicability(applies: AppliesIf) -> Callable[[View], Finding | None]:
    """The check before the check: None when the assertion applies, else the finding that it has."""
    asked = _asked(applies)
    matchers = {name: values.matcher(expected) for name, expected in asked.items()}

    def check(view: View) -> Finding | None:
        found: dict[str, Any] = {"labels": view.model.labels, "metadata": view.model.metadata}
        missing = [path for name, expected in asked.items() for path in _missing(expected, found[name], name)]
        if missing:
            return inconclusive(
                Code.METADATA_ABSENT,
                lambda: (
                    f"whether the assertion applies hangs on {', '.join(missing)}, which the conversation lacks"
                ),
                "required metadata was missing",
            )
        differing = [name for name, matcher in matchers.items() if not matcher.matches(found[name])]
        if differing:
            return inconclusive(
                Code.NOT_APPLICABLE,
                lambda: f"not applicable, by the conversation's {' and '.join(differing)}",
                "the assertion does not apply to this conversation",
                details={"skipped": True},
            )
        return None

    return check


def _asked(applies: AppliesIf) -> dict[str, dict[str, Any]]:
    given = {"labels": applies.labels, "metadata": applies.metadata}
    return {name: expected for name, expected in given.items() if expected is not UNSET}


def _missing(expected: Any, actual: Any, path: str) -> Iterable[str]:
    """Paths that are asked about and not there; `$exists` is what asks about that itself."""
    if not isinstance(expected, dict) or any(key.startswith("$") for key in expected):
        return
    if not isinstance(actual, Mapping):
        yield path
        return
    for key, inner in expected.items():
        if key in actual:
            yield from _missing(inner, actual[key], f"{path}.{key}")
        elif not (isinstance(inner, dict) and "$exists" in inner):
            yield f"{path}.{key}"
