"""The kind `order`: one thing is said before another."""

from __future__ import annotations

from collections.abc import Iterable
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
)
from averment.assertions.codes import Code
from averment.assertions.within import Within, no_clock
from averment.evidence.view import View
from averment.policies import PolicyShelf
from averment.text.structs import Mistake

__all__ = ["Order"]


class Order(Assertion, frozen=True, kw_only=True, tag="order"):
    """The first turn that says `before` comes earlier than the first turn that says `after`.

    Where one of the two is never said there is no order, and nothing to fail: the result is `vacuous`. To require what
    is said first, set `guard`: then `after` needs a `before` in an earlier turn, and only an `after` that is never said
    leaves nothing to fail. `must_occur` says which of the two must be said in any case. Both in one turn is not before.

    PASS: the first `before` is in an earlier turn than the first `after`. With `vacuous: true`: one of them is never
    said; with `guard`, `after` is never said.
    FAIL: the first `before` is in the same turn as the first `after`, or later; with `guard`, `after` is said without
    a `before` in an earlier turn; a phrase of `must_occur` is never said.
    INCONCLUSIVE: there is no transcript, or a part of it is missing, which could hold an earlier turn; `within` asks for
    seconds, and the turns have no times on a common clock.
    """

    needs: ClassVar[tuple[Channel, ...]] = ("transcript",)
    codes: ClassVar[tuple[Code, ...]] = (Code.WRONG_ORDER, Code.NOT_FOUND, Code.NO_CLOCK)
    example: ClassVar[str] = """\
version: 1
assertions:
  - id: identity-before-balance
    kind: order
    before: 'date of birth'
    after: 'your balance is'
    role: agent
    guard: true
    examples:
      pass:
        - transcript:
            - {role: agent, text: What is your date of birth?}
            - {role: caller, text: The first of May 1980.}
            - {role: agent, text: Thank you. Your balance is 5 dollars.}
        - transcript: [{role: agent, text: How can I help?}]
      fail:
        - transcript: [{role: agent, text: Your balance is 5 dollars.}]
"""

    before: Regex
    after: Regex
    role: Role = None
    case_sensitive: CaseSensitive = False
    within: Annotated[Within | UnsetType, Meta(description="Look only at this part of the conversation.")] = (
        UNSET
    )
    guard: Annotated[
        bool, Meta(description="`after` may not be said without `before` in an earlier turn.")
    ] = False
    must_occur: Annotated[
        Literal["before", "after", "both"] | UnsetType, Meta(description="What must be said in any case.")
    ] = UNSET

    def mistakes(self, shelf: PolicyShelf) -> Iterable[Mistake]:  # noqa: ARG002 - no policies here
        """A part of the conversation that is none."""
        if self.within is not UNSET:
            yield from (mistake.under("within") for mistake in self.within.mistakes())

    def patterns(self) -> Iterable[PatternUse]:
        """The two patterns."""
        yield PatternUse(("before",), self.before, ignore_case=not self.case_sensitive)
        yield PatternUse(("after",), self.after, ignore_case=not self.case_sensitive)

    def compile(self, resolver: Resolver) -> Check:
        """The check, for the patterns and the role's canonical name."""
        patterns = {
            name: resolver.pattern(source, ignore_case=not self.case_sensitive)
            for name, source in (("before", self.before), ("after", self.after))
        }
        role = resolver.role(self.role)

        def check(view: View, _: Earlier) -> Finding:
            part = None
            if self.within is not UNSET:
                part = self.within.turns(view)
                if part is None:
                    return no_clock()
            first: dict[str, int] = {}
            for name, pattern in patterns.items():
                hits = view.hits(pattern, role)
                found = next((turn for turn in hits if part is None or turn in part), None)
                if found is not None:
                    first[name] = found
            return self._judge(first)

        return check

    def _judge(self, first: dict[str, int]) -> Finding:
        """The finding, by the first turn of each phrase; an unseen turn could be an earlier one, whatever it is."""
        required = ("before", "after") if self.must_occur == "both" else (self.must_occur,)
        turns = sorted(set(first.values()))
        missing = [name for name in ("before", "after") if name in required and name not in first]
        if missing:
            sources = " and ".join(f"/{getattr(self, name)}/" for name in missing)
            return failed(
                Code.NOT_FOUND,
                lambda: f"{sources} must be said by {self.role or 'anybody'}, and is not",
                "a required phrase is missing",
                turns=turns,
                absence_of="transcript",
            )
        if "after" not in first or ("before" not in first and not self.guard):
            return passed(details={"vacuous": True}, absence_of="transcript")
        details = {f"{name}_turn": turn for name, turn in first.items()}
        if "before" in first and first["before"] < first["after"]:
            return passed(turns=turns, details=details, absence_of="transcript")
        known = f"first in turn {first['before']}" if "before" in first else "never"
        return failed(
            Code.WRONG_ORDER,
            lambda: (
                f"/{self.after}/ is said in turn {first['after']}, and /{self.before}/, which must come in an "
                f"earlier turn, {known}"
            ),
            "phrases are not in the required order",
            turns=turns,
            details=details,
            absence_of="transcript",
        )
