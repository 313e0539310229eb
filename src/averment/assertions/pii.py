"""The kind `pii`: personal data must not stand in the transcript."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from averment.assertions.base import (
    Assertion,
    Channel,
    Check,
    Earlier,
    Finding,
    Resolver,
    Role,
    failed,
    passed,
    turn_list,
)
from averment.assertions.codes import Code
from averment.evidence.view import View
from averment.text.pii import Clean, find

__all__ = ["Pii"]


_POINTER = "#/redacted_transcript"
_NOT_SCANNED = ("spoken_digits", "split_turns", "arguments", "results", "http", "state", "dtmf")
"""What the check does not look at; a PASS says so, because nothing was found there only for want of looking."""


class Pii(Assertion, frozen=True, kw_only=True, tag="pii"):
    """No detector finds personal data in a turn of the transcript.

    A hit names the detector, the turn and the role, never the text. The result points to a copy of the transcript in
    which all personal data is replaced, whichever detectors were asked for.

    PASS: no detector finds anything; `not_scanned` lists what was not looked at.
    FAIL: at least one does; `hits` lists each find.
    INCONCLUSIVE: there is no transcript, or a part of it is missing and nothing was found in the rest.
    """

    needs: ClassVar[tuple[Channel, ...]] = ("transcript",)
    codes: ClassVar[tuple[Code, ...]] = (Code.PII_FOUND,)
    example: ClassVar[str] = """\
version: 1
assertions:
  - id: no-cards
    kind: pii
    detectors: [card_luhn, ssn]
    mode: must_not_leak
    examples:
      pass:
        - I have your order number, 4111.
      fail:
        - transcript: [{role: caller, text: 'My card is 4111 1111 1111 1111, 123.'}]
"""

    detectors: Annotated[
        list[Literal["ssn", "card_luhn", "email", "phone"]],
        Meta(min_length=1, description="What to look for."),
    ]
    mode: Annotated[Literal["must_not_leak"], Meta(description="The only mode: a find is a FAIL.")]
    role: Role = None

    def compile(self, resolver: Resolver) -> Check:
        """The check, for the role's canonical name."""
        role = resolver.role(self.role)
        not_scanned = [*_NOT_SCANNED, *([] if role is None else ["other_roles"])]
        clean = Clean(redacted_transcript=_POINTER, not_scanned=not_scanned)

        def check(view: View, _: Earlier) -> Finding:
            found = [
                (index, hit)
                for index in view.suspects(role)
                for hit in find(view.turns[index].text, self.detectors)
            ]
            if not found:
                return passed(details=clean, absence_of="transcript")
            hits = [
                {"detector": hit.detector, "turn": index, "role": view.turns[index].role_raw}
                for index, hit in found
            ]
            turns = list(dict.fromkeys(index for index, _ in found))
            counts = Counter(hit.detector for _, hit in found)
            names = ", ".join(sorted(counts))
            return failed(
                Code.PII_FOUND,
                lambda: (
                    f"found {', '.join(f'{n} {name}' for name, n in sorted(counts.items()))} in {turn_list(turns)}"
                ),
                f"{len(hits)} find{'' if len(hits) == 1 else 's'} of personal data: {names}",
                turns=turns,
                details={"hits": hits, "redacted_transcript": _POINTER},
            )

        return check
