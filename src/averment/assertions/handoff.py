"""The kind `handoff`: the conversation was handed over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar

from msgspec import UNSET, Meta, UnsetType

from averment.assertions import values
from averment.assertions.base import Assertion, Channel, Check, Earlier, Finding, Resolver, safe
from averment.assertions.codes import Code
from averment.assertions.occurrence import occurrence, sorted_out
from averment.evidence.view import View

__all__ = ["Handoff"]

_TARGET: tuple[str, ...] = ("to", "target", "name")
_SHOWN = 5


class Handoff(Assertion, frozen=True, kw_only=True, tag="handoff"):
    """The conversation was handed over, to anybody or to one target; with `absent`, it was not.

    It reads spans of type `handoff`, and the target from their `to`, `target` or `name`, the first that is there. A
    promise to transfer the caller is no handoff.

    PASS: there is a handoff, to `to` if that is given; with `absent`, there is none.
    FAIL: otherwise; the reason says where else it was handed.
    INCONCLUSIVE: the source does not show handoffs, or the verdict rests on a part of the trace that is missing.
    """

    needs: ClassVar[tuple[Channel, ...]] = ("handoff",)
    codes: ClassVar[tuple[Code, ...]] = (Code.NOT_FOUND, Code.FOUND_BUT_FORBIDDEN, Code.VALUE_MISMATCH)
    example: ClassVar[str] = """\
version: 1
assertions:
  - id: handed-to-billing
    kind: handoff
    to: billing
    examples:
      pass:
        - spans: [{type: handoff, to: billing}]
      fail:
        - spans: [{type: handoff, to: sales}]
        - transcript: [{role: agent, text: I am transferring you to billing.}]
          spans: []
"""

    to: Annotated[
        str | UnsetType, Meta(description="Whom it must be handed to, exactly; anybody when left out.")
    ] = UNSET
    absent: Annotated[bool, Meta(description="There must be no such handoff.")] = False

    def compile(self, resolver: Resolver) -> Check:  # noqa: ARG002 - handoffs resolve nothing
        """The check, for the target."""
        to = self.to
        wanted = {} if to is UNSET else {_TARGET: to}
        what = "a handoff" if to is UNSET else f"a handoff to `{to}`"
        named = None if to is UNSET else safe(to)
        public = f"the handoff to {named} is not as required" if named else "a handoff is not as required"

        def check(view: View, _: Earlier) -> Finding:
            found, others = sorted_out(view, view.spans_of("handoff"), wanted)
            return occurrence(
                view,
                found,
                absent=self.absent,
                channel="handoff",
                what=what,
                public=public,
                near=others,
                miss=lambda: f"it was handed to {_targets(view, others)}",
            )

        return check


def _targets(view: View, indexes: Sequence[int]) -> str:
    """Whom these handoffs were to, as people read it."""
    targets = dict.fromkeys(values.show(view.spans[index].field(*_TARGET)) for index in indexes[:_SHOWN])
    return ", ".join(targets)
