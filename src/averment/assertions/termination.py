"""The kind `termination`: how the conversation ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, UnsetType

from averment.assertions import values
from averment.assertions.base import Assertion, Channel, Check, Earlier, Finding, Resolver
from averment.assertions.codes import Code
from averment.assertions.occurrence import occurrence, sorted_out
from averment.evidence.view import View

__all__ = ["Termination"]

_TYPES = ("termination", "call_ended", "call_terminated", "hangup")
_REASON = ("reason",)
_BY = ("by", "terminated_by")
_SHOWN = 5


class Termination(Assertion, frozen=True, kw_only=True, tag="termination"):
    """The conversation was ended, for a reason, by somebody; with `absent`, it was not ended so.

    It reads spans of the types `termination`, `call_ended`, `call_terminated` and `hangup`: the reason from `reason`,
    who ended it from `by` or `terminated_by`. One span must have all that is asked.

    PASS: there is such a span; with `absent`, there is none.
    FAIL: otherwise; the reason says how else it was ended.
    INCONCLUSIVE: there is no trace, its source does not show how conversations end, or the verdict rests on a part of
    it that is missing.
    """

    needs: ClassVar[tuple[Channel, ...]] = ("termination",)
    codes: ClassVar[tuple[Code, ...]] = (
        Code.TRACE_ABSENT,
        Code.TERMINATION_ABSENT,
        Code.NOT_FOUND,
        Code.FOUND_BUT_FORBIDDEN,
        Code.VALUE_MISMATCH,
    )
    example: ClassVar[str] = """\
version: 1
assertions:
  - id: completed-by-agent
    kind: termination
    reason: completed
    by: agent
    examples:
      pass:
        - spans: [{type: call_ended, reason: completed, by: agent}]
      fail:
        - spans: [{type: hangup, reason: completed, by: caller}]
        - spans: []
"""

    reason: Annotated[str | UnsetType, Meta(description="Why it must have ended, exactly.")] = UNSET
    by: Annotated[str | UnsetType, Meta(description="Who must have ended it, exactly.")] = UNSET
    absent: Annotated[bool, Meta(description="It must not have ended so.")] = False

    def compile(self, resolver: Resolver) -> Check:  # noqa: ARG002 - terminations resolve nothing
        """The check, for what is asked of the end."""
        wanted: dict[tuple[str, ...], str] = {}
        what = "an end of the conversation"
        if self.reason is not UNSET:
            wanted[_REASON] = self.reason
            what += f" with reason `{self.reason}`"
        if self.by is not UNSET:
            wanted[_BY] = self.by
            what += f" by `{self.by}`"

        def check(view: View, _: Earlier) -> Finding:
            ends = sorted(index for span_type in _TYPES for index in view.spans_of(span_type))
            found, others = sorted_out(view, ends, wanted)
            return occurrence(
                view,
                found,
                absent=self.absent,
                channel="termination",
                what=what,
                public="the end of the conversation is not as required",
                near=others,
                miss=lambda: f"it was ended {_ends(view, others)}",
            )

        return check


def _ends(view: View, indexes: Sequence[int]) -> str:
    """How these spans say that it was ended, as people read it."""
    spans = [view.spans[index] for index in indexes[:_SHOWN]]
    return ", ".join(
        f"by {values.show(span.field(*_BY))} with reason {values.show(span.field(*_REASON))}"
        for span in spans
    )
