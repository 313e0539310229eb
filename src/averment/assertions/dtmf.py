"""The kind `dtmf`: digits were keyed.

Keyed digits are card numbers and PINs, so nothing here ever says which they were: not the reason, not the grounds, not
even the digits that the document itself asks for (difference 23 of assert-v1.md).
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from msgspec import Meta

from averment.assertions.base import (
    Assertion,
    Channel,
    Check,
    Earlier,
    Finding,
    NonEmpty,
    Resolver,
    failed,
    passed,
)
from averment.assertions.codes import Code
from averment.evidence.view import View
from averment.text.jsontext import canonical

__all__ = ["Dtmf"]


class Dtmf(Assertion, frozen=True, kw_only=True, tag="dtmf"):
    """The digits were keyed, one after the other; with `absent`, they were not.

    It reads `digits` or `digit` of the spans of type `dtmf`, joined in the order of the trace, so the digits may be
    spread over several spans. The grounds are all spans with digits; which digits they are is never told.

    PASS: the digits stand among those that were keyed; with `absent`, they do not.
    FAIL: otherwise.
    INCONCLUSIVE: the source does not show keyed digits, or the verdict rests on a part of them that is missing.
    """

    needs: ClassVar[tuple[Channel, ...]] = ("dtmf",)
    codes: ClassVar[tuple[Code, ...]] = (Code.NOT_FOUND, Code.FOUND_BUT_FORBIDDEN, Code.VALUE_MISMATCH)
    example: ClassVar[str] = """\
version: 1
assertions:
  - id: chose-two-then-pound
    kind: dtmf
    digits: '2#'
    examples:
      pass:
        - spans: [{type: dtmf, digit: '2'}, {type: dtmf, digit: '#'}]
      fail:
        - spans: [{type: dtmf, digits: '12'}]
        - spans: []
"""

    digits: Annotated[
        NonEmpty, Meta(description="What must be keyed, such as `'12#'`; results never repeat it.")
    ]
    absent: Annotated[bool, Meta(description="These digits must not be keyed.")] = False

    def compile(self, resolver: Resolver) -> Check:  # noqa: ARG002 - digits resolve nothing
        """The check, for the digits."""

        def check(view: View, _: Earlier) -> Finding:
            keyed = {
                index: digits
                for index in view.spans_of("dtmf")
                if (digits := view.spans[index].field("digits", "digit")) is not None
            }
            spans = list(keyed)
            if self.digits in "".join(map(_text, keyed.values())):
                if not self.absent:
                    return passed(spans=spans)
                return failed(
                    Code.FOUND_BUT_FORBIDDEN,
                    lambda: "digits were keyed that must not be",
                    "forbidden digits were keyed",
                    spans=spans,
                )
            if self.absent:
                return passed(spans=spans, absence_of="dtmf")
            return failed(
                Code.VALUE_MISMATCH if keyed else Code.NOT_FOUND,
                lambda: "digits were keyed, but not the required ones" if keyed else "no digits were keyed",
                "required digits were not keyed",
                spans=spans,
                absence_of="dtmf",
            )

        return check


def _text(digits: Any) -> str:
    """What a span says was keyed: its text; anything else, such as a number, as JSON writes it."""
    return digits if isinstance(digits, str) else canonical(digits).decode()
