"""What the two rubric kinds share: they hold questions for a person or a model, and are never decided here."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from msgspec import UNSET, Meta, UnsetType

from averment.assertions.base import Assertion, Check, NonEmpty, Resolver, inconclusive
from averment.assertions.codes import Code

__all__ = ["RubricAssertion"]


class RubricAssertion(Assertion, frozen=True, kw_only=True):
    """The fields of a rubric, as its own lane reads them; here they are carried and not judged."""

    decides: ClassVar[bool] = False
    codes: ClassVar[tuple[Code, ...]] = (Code.RUBRIC_LANE,)

    criterion: Annotated[str | UnsetType, Meta(description="The question, in words.")] = UNSET
    evidence: Annotated[
        NonEmpty | list[NonEmpty] | UnsetType,
        Meta(description="What may be looked at: `transcript`, `tool_trace`."),
    ] = UNSET
    response: Annotated[
        dict[str, Any] | UnsetType, Meta(description="The answers that are allowed: `type`, `values`.")
    ] = UNSET
    evaluation: Annotated[
        dict[str, Any] | UnsetType,
        Meta(description="How it is asked: `model`, `repetitions`, `aggregation`, `confidence_required`."),
    ] = UNSET
    review: Annotated[
        dict[str, Any] | UnsetType, Meta(description="When a person must look: `human_required_on`.")
    ] = UNSET

    def compile(self, resolver: Resolver) -> Check:  # noqa: ARG002 - nothing to resolve
        """The check, which leaves every question open."""
        finding = inconclusive(
            Code.RUBRIC_LANE,
            lambda: "a rubric needs judgement, and nothing here is judged; answer it in a rubric lane",
            "rubrics are not decided deterministically",
        )
        return lambda *_: finding
