"""The kind `phrase`: something is said, or is not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, ClassVar, Literal

from msgspec import UNSET, Meta, UnsetType

from averment.assertions.base import (
    Assertion,
    CaseSensitive,
    Channel,
    Check,
    Earlier,
    Finding,
    PatternUse,
    Regex,
    Resolver,
    Role,
    failed,
    passed,
    turn_list,
)
from averment.assertions.codes import Code
from averment.assertions.within import Within, no_clock
from averment.evidence.view import View
from averment.policies import PolicyShelf
from averment.text.structs import Mistake

__all__ = ["Phrase"]


class Phrase(Assertion, frozen=True, kw_only=True, tag="phrase"):
    """A regular expression is found in a turn of the transcript; with `absent`, in none.

    It reads what was *said*. Whether it was *done* is for `tool_call`, `tool_result` and `state` to say.

    PASS: a turn of the role matches; with `position`, the first or last turn of the role does; with `absent`, none.
    FAIL: otherwise; an empty transcript has no turn that matches.
    INCONCLUSIVE: there is no transcript, or the verdict rests on a part of it that is missing; `within` counts
    seconds and the turns have no times on a common clock.
    """

    needs: ClassVar[tuple[Channel, ...]] = ("transcript",)
    codes: ClassVar[tuple[Code, ...]] = (Code.NOT_FOUND, Code.FOUND_BUT_FORBIDDEN, Code.NO_CLOCK)
    example: ClassVar[str] = """\
version: 1
assertions:
  - id: recording-notice
    kind: phrase
    regex: 'recorded for (quality|training)'
    role: agent
    within: {first: {turns: 3}}
    examples:
      pass:
        - Hello, this call may be recorded for quality.
      fail:
        - Hello, how can I help?
        - transcript:
            - {role: agent, text: 'Hello!'}
            - {role: caller, text: Is this recorded for training?}
"""

    regex: Regex
    role: Role = None
    position: Annotated[
        Literal["any", "first", "last"],
        Meta(description="Which of the role's turns must match; `absent` ignores it."),
    ] = "any"
    absent: Annotated[bool, Meta(description="The phrase must not be said.")] = False
    case_sensitive: CaseSensitive = False
    within: Annotated[Within | UnsetType, Meta(description="Look only at this part of the conversation.")] = (
        UNSET
    )

    def mistakes(self, shelf: PolicyShelf) -> Iterable[Mistake]:  # noqa: ARG002 - no policies here
        """A part of the conversation that is none."""
        if self.within is not UNSET:
            yield from (mistake.under("within") for mistake in self.within.mistakes())

    def patterns(self) -> Iterable[PatternUse]:
        """The one pattern."""
        yield PatternUse(("regex",), self.regex, ignore_case=not self.case_sensitive)

    def compile(self, resolver: Resolver) -> Check:
        """The check, for the pattern and the role's canonical name."""
        pattern = resolver.pattern(self.regex, ignore_case=not self.case_sensitive)
        role = resolver.role(self.role)
        who = self.role or "anybody"

        def check(view: View, _: Earlier) -> Finding:
            hits: Sequence[int] = view.hits(pattern, role)
            turns = view.turns_of(role)
            if self.within is not UNSET:
                part = self.within.turns(view)
                if part is None:
                    return no_clock()
                hits = [turn for turn in hits if turn in part]
                turns = [turn for turn in turns if turn in part]
            if self.absent:
                if hits:
                    return failed(
                        Code.FOUND_BUT_FORBIDDEN,
                        lambda: f"/{self.regex}/ must not be said by {who}, and is said in {turn_list(hits)}",
                        "a forbidden phrase is present",
                        turns=hits,
                    )
                return passed(absence_of="transcript")
            place: Sequence[int] = ()
            if self.position != "any":
                place = turns[:1] if self.position == "first" else turns[-1:]
                hits = [turn for turn in place if turn in hits]
            if hits:
                return passed(turns=hits, absence_of=None if self.position == "any" else "transcript")
            where = "" if self.position == "any" else f" in the {self.position} turn"
            return failed(
                Code.NOT_FOUND,
                lambda: f"/{self.regex}/ must be said by {who}{where}, and is not",
                "a required phrase is missing",
                turns=place,
                absence_of="transcript",
            )

        return check
