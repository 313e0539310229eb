"""Mistakes in the fields that every assertion has; what they need is imported only where they are used."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import UNSET

from averment.assertions.base import Assertion
from averment.text.structs import Mistake

__all__ = ["common_mistakes"]


def common_mistakes(assertion: Assertion) -> Iterable[Mistake]:
    """Faults of `applies_if` and `examples`."""
    if assertion.applies_if is not UNSET:
        from averment.assertions.applicability import applicability_mistakes

        yield from applicability_mistakes(assertion.applies_if)
    if assertion.examples is not UNSET and not assertion.examples.passing and not assertion.examples.failing:
        expected = "`pass`, `fail` or both, each with at least one example"
        yield Mistake("missing_field", "`examples` is empty", ("examples",), expected=expected)
