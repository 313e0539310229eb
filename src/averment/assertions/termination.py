"""The kind `termination`: how the conversation ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, UnsetType

from averment.assertions import values
from averment.assertions.base import Assertion, Channel, Check, Earlier, Finding, Gap, Resolver, inconclusive
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
    INCONCLUSIVE: there are no spans to read, or the verdict rests on a part of the trace that is missing.
    """

    needs: ClassVar[tuple[Channel, ...]] = ("executions",)
    codes: ClassVar[tuple[Code, ...]] = (
        Code.TRACE_ABSENT,
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
            if view.model.spans is None:
                return _no_spans()
            ends = sorted(index for span_type in _TYPES for index in view.spans_of(span_type))
            found, others = sorted_out(view, ends, wanted)
            return occurrence(
                view,
                found,
                absent=self.absent,
                channel="executions",
                what=what,
                public="the end of the conversation is not as required",
                near=others,
                miss=lambda: f"it was ended {_ends(view, others)}",
            )

        return check


def _no_spans() -> Finding:
    """INCONCLUSIVE, because a source of tool calls alone does not show how a conversation ends."""
    how = "Record the end of the conversation in the trace, as a span of type `call_ended`."
    return inconclusive(
        Code.TRACE_ABSENT,
        lambda: f"the evidence has no spans, so it does not show how the conversation ended. {how}",
        "required trace evidence was missing",
        gap=Gap("executions", "partial", how),
    )


def _ends(view: View, indexes: Sequence[int]) -> str:
    """How these spans say that it was ended, as people read it."""
    spans = [view.spans[index] for index in indexes[:_SHOWN]]
    return ", ".join(
        f"by {values.show(span.field(*_BY))} with reason {values.show(span.field(*_REASON))}"
        for span in spans
    )
