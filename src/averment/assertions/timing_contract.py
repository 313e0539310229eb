"""The kind `timing_contract`: a bundle with recorded sound, verified by the timing lane, which does not exist yet."""

from __future__ import annotations

from typing import Annotated, ClassVar

from msgspec import Meta

from averment.assertions.base import Assertion, Check, Finding, NonEmpty, Resolver, inconclusive
from averment.assertions.codes import Code

__all__ = ["TimingContract"]


class TimingContract(Assertion, frozen=True, kw_only=True, tag="timing_contract"):
    """The timing contracts of a bundle hold, measured again from its sound.

    Measuring sound is the work of a timing lane of its own, which averment does not have yet. Until then nothing is
    read, and no verdict is made up. For times that the evidence states use `latency`.

    PASS: never yet.
    FAIL: never yet.
    INCONCLUSIVE: always.
    """

    decides: ClassVar[bool] = False
    codes: ClassVar[tuple[Code, ...]] = (Code.TIMING_LANE,)
    example: ClassVar[str] = """\
version: 1
assertions:
  - id: barge-in-is-heard
    kind: timing_contract
    bundle: contracts/barge-in.hotato
    severity: note
"""

    bundle: Annotated[NonEmpty, Meta(description="The path of the bundle, relative to the document.")]

    def compile(self, resolver: Resolver) -> Check:  # noqa: ARG002 - nothing to resolve
        """The check, which leaves every question open."""
        finding: Finding = inconclusive(
            Code.TIMING_LANE,
            lambda: "timing contracts are verified from sound, and there is no timing lane yet that does so",
            "timing contracts are not verified yet",
        )
        return lambda *_: finding
