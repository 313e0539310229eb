"""The kind `outcome`: several simple conditions, all of them or any of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from averment.assertions import values
from averment.assertions.base import (
    Assertion,
    Channel,
    Check,
    Earlier,
    Finding,
    NonEmpty,
    PatternUse,
    Regex,
    Resolver,
    failed,
    passed,
)
from averment.assertions.calls import executed
from averment.assertions.codes import Code
from averment.assertions.gaps import absent_finding, may_lack
from averment.evidence import model
from averment.evidence.view import View
from averment.policies import PolicyShelf
from averment.text.pii import Clean
from averment.text.structs import Mistake

__all__ = ["Condition", "Outcome"]


class Condition(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One condition: exactly one of `tool_called`, `phrase` (with an optional `role`) and `field_present`."""

    tool_called: Annotated[NonEmpty | UnsetType, Meta(description="A tool of this name was called.")] = UNSET
    phrase: Annotated[
        Regex | UnsetType, Meta(description="This pattern is found in a turn, in any case.")
    ] = UNSET
    role: Annotated[str | UnsetType, Meta(description="Only turns of this role; for `phrase`.")] = UNSET
    field_present: Annotated[
        NonEmpty | UnsetType,
        Meta(description="This dotted path of the timing evidence holds a value other than null."),
    ] = UNSET


class _Met(msgspec.Struct, frozen=True):
    """Whether a condition holds, and the grounds."""

    holds: bool
    turns: Sequence[int] = ()
    calls: Sequence[model.ToolCall] = ()


_Test = tuple[str, Channel, Callable[[View], _Met]]


class Outcome(Assertion, frozen=True, kw_only=True, tag="outcome"):
    """Simple conditions over several kinds of evidence; `met` of `of` says how many hold.

    `all_of` and `any_of` may stand together; then both must hold.

    PASS: every condition of `all_of` holds, and at least one of `any_of`.
    FAIL: otherwise.
    INCONCLUSIVE: the evidence that a condition reads is absent, even where the other conditions would decide; or the
    verdict rests on a part of it that is missing.
    """

    codes: ClassVar[tuple[Code, ...]] = (Code.OUTCOME_NOT_MET,)
    example: ClassVar[str] = """\
version: 1
assertions:
  - id: solved-or-handed-over
    kind: outcome
    any_of:
      - tool_called: issue_refund
      - {phrase: let me put you through, role: agent}
    examples:
      pass:
        - transcript: []
          spans: [{type: tool_call, name: issue_refund}]
        - transcript: [{role: agent, text: Let me put you through to a colleague.}]
          spans: []
      fail:
        - transcript: [{role: agent, text: Goodbye!}]
          spans: []
"""

    all_of: Annotated[
        Annotated[list[Condition], Meta(min_length=1)] | None,
        Meta(description="Conditions that must all hold."),
    ] = None
    any_of: Annotated[
        Annotated[list[Condition], Meta(min_length=1)] | None,
        Meta(description="Conditions of which one must hold."),
    ] = None

    def mistakes(self, shelf: PolicyShelf) -> Iterable[Mistake]:  # noqa: ARG002
        """Conditions that say nothing or too much."""
        if self.all_of is None and self.any_of is None:
            yield Mistake(
                "missing_field", "an outcome needs conditions", expected="`all_of`, `any_of` or both"
            )
        for path, condition in self._conditions():
            tests = [condition.tool_called, condition.phrase, condition.field_present]
            if sum(test is not UNSET for test in tests) != 1:
                expected = "exactly one of `tool_called`, `phrase`, `field_present`"
                yield Mistake("fields_exclude", "a condition tests one thing", path, expected=expected)
            elif condition.role is not UNSET and condition.phrase is UNSET:
                mend = "Remove it, or test a `phrase`."
                yield Mistake(
                    "field_needs",
                    "`role` says nothing without `phrase`",
                    (*path, "role"),
                    key=True,
                    mend=mend,
                )

    def patterns(self) -> Iterable[PatternUse]:
        """The phrases."""
        for path, condition in self._conditions():
            if condition.phrase is not UNSET:
                yield PatternUse((*path, "phrase"), condition.phrase, ignore_case=True)

    def tools(self) -> Iterable[str]:
        """The tools of the conditions."""
        conditions = [*(self.all_of or ()), *(self.any_of or ())]
        return [each.tool_called for each in conditions if each.tool_called is not UNSET]

    def compile(self, resolver: Resolver) -> Check:
        """The check, for the conditions in the order written."""
        every = [_test(condition, resolver) for condition in self.all_of or ()]
        some = [_test(condition, resolver) for condition in self.any_of or ()]
        tests = [*every, *some]

        def holds(met: Sequence[bool]) -> bool:
            return all(met[: len(every)]) and (not some or any(met[len(every) :]))

        def check(view: View, _: Earlier) -> Finding:
            missing = next((channel for _, channel, _ in tests if view.is_missing(channel)), None)
            answers = [None if view.is_missing(channel) else test(view) for _, channel, test in tests]
            met = [answer is not None and answer.holds for answer in answers]
            details = Clean(met=sum(met), of=len(tests))
            if missing is not None:
                return absent_finding(view, missing, details)
            turns = sorted({turn for answer in answers if answer for turn in answer.turns})
            calls = [call for answer in answers if answer for call in answer.calls]
            if holds(met):
                return passed(turns=turns, calls=calls, details=details)
            unmet = [test for test, is_met in zip(tests, met, strict=True) if not is_met]
            rests = next((channel for _, channel, _ in unmet if may_lack(view, channel)), None)
            possible = [
                is_met or may_lack(view, channel) for (_, channel, _), is_met in zip(tests, met, strict=True)
            ]
            return failed(
                Code.OUTCOME_NOT_MET,
                lambda: (
                    f"{sum(met)} of {len(tests)} conditions hold; not met: {'; '.join(name for name, _, _ in unmet)}"
                ),
                f"{sum(met)} of {len(tests)} conditions hold",
                turns=turns,
                calls=calls,
                details=details,
                # What is missing matters only if all that it could still show would turn the verdict.
                absence_of=rests if holds(possible) else None,
            )

        return check

    def _conditions(self) -> Iterable[tuple[tuple[str | int, ...], Condition]]:
        for name, conditions in (("all_of", self.all_of), ("any_of", self.any_of)):
            for index, condition in enumerate(conditions or ()):
                yield (name, index), condition


def _test(condition: Condition, resolver: Resolver) -> _Test:
    """What the condition is called, the channel it reads, and the test."""
    if condition.tool_called is not UNSET:
        tool = condition.tool_called

        def called(view: View) -> _Met:
            calls = executed(view, tool)
            return _Met(bool(calls), calls=calls)

        return f"tool_called {tool}", "executions", called
    if condition.phrase is not UNSET:
        pattern = resolver.pattern(condition.phrase, ignore_case=True)
        role = None if condition.role is UNSET else resolver.role(condition.role)

        def said(view: View) -> _Met:
            hits = view.hits(pattern, role)
            return _Met(bool(hits), turns=hits)

        return f"phrase /{condition.phrase}/", "transcript", said
    path = str(condition.field_present)
    return f"field_present {path}", "timing", lambda view: _Met(_is_present(view.timing, path))


def _is_present(timing: Any, path: str) -> bool:
    """Whether the path holds a value other than null, in any event of a list."""
    events = timing if isinstance(timing, list) else [timing]
    found = (values.resolve(event, path) for event in events)
    return any(value is not None and value is not values.ABSENT for value in found)
