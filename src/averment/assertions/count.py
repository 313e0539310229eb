"""The kind `count`: something happens this often."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from averment.assertions import values
from averment.assertions.base import (
    Channel,
    Check,
    Earlier,
    ExpectedFields,
    Finding,
    Gap,
    NonEmpty,
    PatternUse,
    Regex,
    Resolver,
    Role,
    failed,
    inconclusive,
    passed,
)
from averment.assertions.bounds import MANY, Bounds, bounds_mistakes, bounds_text, limits, times
from averment.assertions.calls import CallAssertion, expected_mistakes, match_arguments
from averment.assertions.codes import Code
from averment.assertions.gaps import absent_finding
from averment.assertions.http import HttpExchange
from averment.assertions.within import Within, no_clock
from averment.evidence import model
from averment.evidence.view import View
from averment.policies import PolicyShelf
from averment.text.structs import Mistake

__all__ = ["Count"]


class _Seen(msgspec.Struct, frozen=True):
    """What was counted: how many there surely are, where, and the calls that may be more."""

    number: int
    grounds: dict[str, Any]
    unknown: list[model.ToolCall] = []
    code: Code | None = None
    gap: Gap | None = None


class Count(CallAssertion, frozen=True, kw_only=True, tag="count"):
    """Something happens as often as it should: calls of a tool, spans, HTTP exchanges, or something that is said.

    Exactly one of `tool`, `span_type`, `http` and `phrase` says what is counted. A phrase counts the turns in which it
    is said, or each time that it is said (`per: occurrence`: from left to right within a turn, without overlap). The
    result carries the number as `observed`.

    PASS: the number is within `count`.
    FAIL: it is not.
    INCONCLUSIVE: the trace, the HTTP exchanges or the transcript is absent; or the number hangs on a call whose
    arguments were not recorded, on a clock that turns do not have, or on a part of the evidence that is missing.
    """

    codes: ClassVar[tuple[Code, ...]] = (
        Code.COUNT_OUT_OF_BOUNDS,
        Code.TRANSCRIPT_ABSENT,
        Code.TRACE_ABSENT,
        Code.HTTP_ABSENT,
        Code.NO_CLOCK,
        Code.ARGUMENTS_NOT_RECORDED,
        Code.ARGUMENTS_UNREADABLE,
    )
    example: ClassVar[str] = """\
version: 1
assertions:
  - id: apologises-at-most-twice
    kind: count
    phrase: '\\bsorry\\b'
    role: agent
    per: occurrence
    count: {max: 2}
    examples:
      pass:
        - Sorry about that. I am sorry, truly.
        - transcript: []
      fail:
        - Sorry, sorry, sorry!
"""

    tool: Annotated[NonEmpty | UnsetType, Meta(description="Calls of this tool.")] = UNSET
    args_subset: Annotated[
        ExpectedFields | UnsetType, Meta(description="Only calls with these arguments; for `tool`.")
    ] = UNSET
    span_type: Annotated[NonEmpty | UnsetType, Meta(description="Spans of this type.")] = UNSET
    http: Annotated[HttpExchange | UnsetType, Meta(description="Matching HTTP exchanges.")] = UNSET
    phrase: Annotated[
        Regex | UnsetType, Meta(description="A regular expression that is searched in each turn.")
    ] = UNSET
    role: Role = None
    case_sensitive: Annotated[
        bool, Meta(description="Letters match in their own case only; for `phrase`.")
    ] = False
    per: Annotated[
        Literal["turn", "occurrence"],
        Meta(description="What is counted of a `phrase`: turns in which it is said, or each time."),
    ] = "turn"
    within: Annotated[
        Within | UnsetType, Meta(description="Count only in this part of the conversation; for `phrase`.")
    ] = UNSET
    count: Annotated[int | Bounds, Meta(description="How often: a number, or `min`/`max`, inclusive.")]

    def mistakes(self, shelf: PolicyShelf) -> Iterable[Mistake]:  # noqa: ARG002 - no policies here
        """Nothing or several things to count, fields for something else, bounds and values that are faulty."""
        counted = [self.tool, self.span_type, self.http, self.phrase]
        if sum(what is not UNSET for what in counted) != 1:
            expected = "exactly one of `tool`, `span_type`, `http`, `phrase`"
            yield Mistake("fields_exclude", "a count counts one thing", expected=expected)
            return
        for field, needs, is_set in (
            ("args_subset", "tool", self.args_subset is not UNSET),
            ("reading", "tool", self.reading != "executed"),
            ("requestor", "tool", self.requestor != "agent"),
            ("attempts", "tool", self.attempts != "all"),
            ("role", "phrase", self.role is not None),
            ("case_sensitive", "phrase", self.case_sensitive),
            ("per", "phrase", self.per != "turn"),
            ("within", "phrase", self.within is not UNSET),
        ):
            if is_set and getattr(self, needs) is UNSET:
                message = f"`{field}` says nothing without `{needs}`"
                yield Mistake("field_needs", message, (field,), key=True, mend="Remove it.")
        yield from bounds_mistakes(self.count)
        yield from expected_mistakes({"args_subset": self.args_subset})
        for field, part in (("http", self.http), ("within", self.within)):
            if part is not UNSET:
                yield from (mistake.under(field) for mistake in part.mistakes())

    def patterns(self) -> Iterable[PatternUse]:
        """The phrase."""
        if self.phrase is not UNSET:
            yield PatternUse(("phrase",), self.phrase, ignore_case=not self.case_sensitive)

    def tools(self) -> Iterable[str]:
        """The tool whose calls are counted, if that is what is."""
        return (self.tool,) if self.tool is not UNSET and self.reading == "executed" else ()

    def reads_bodies(self) -> bool:
        """Whether exchanges are counted by their responses."""
        return self.http is not UNSET and self.http.response_subset is not UNSET

    def compile(self, resolver: Resolver) -> Check:
        """The check, for what is counted."""
        channel, counter, what = self._counter(resolver)
        low, high = limits(self.count)

        def check(view: View, _: Earlier) -> Finding:
            if view.is_missing(channel):
                return absent_finding(view, channel)
            seen = counter(view)
            if seen is None:
                return no_clock()
            least, most = seen.number, seen.number + len(seen.unknown)
            details = {"observed": least}
            # What is missing can only add to the number, unless it moves the part that is looked at.
            moves = channel if self.within is not UNSET else None
            if low <= least and most <= high:
                return passed(**seen.grounds, details=details, absence_of=moves if high == MANY else channel)
            if seen.code is not None and least <= high and most >= low:
                return inconclusive(
                    seen.code,
                    lambda: (
                        f"how often {what} happens hangs on the arguments of "
                        f"{', '.join(call.id for call in seen.unknown[:5])}"
                    ),
                    "required argument evidence was missing",
                    calls=seen.unknown,
                    gap=seen.gap,
                )
            return failed(
                Code.COUNT_OUT_OF_BOUNDS,
                lambda: f"{what} happens {times(least)}, and must happen {bounds_text(self.count)}",
                "something happens more or fewer times than allowed",
                **seen.grounds,
                details=details,
                absence_of=moves if least > high else channel,
            )

        return check

    def _counter(self, resolver: Resolver) -> tuple[Channel, Callable[[View], _Seen | None], str]:
        """The channel, how to count in it (None without a clock), and what is counted in words."""
        if self.phrase is not UNSET:
            return "transcript", self._phrases(self.phrase, resolver), f"/{self.phrase}/"
        if self.tool is not UNSET:
            return "executions", self._calls(self.tool), f"a call of `{self.tool}`"
        if self.http is not UNSET:
            matches = self.http.compile()
            return "http", lambda view: _spans(view, matches), "such an HTTP exchange"
        span_type = self.span_type
        return (
            "executions",
            lambda view: _spans(view, lambda span: span.type == span_type),
            f"a span of type `{span_type}`",
        )

    def _phrases(self, source: str, resolver: Resolver) -> Callable[[View], _Seen | None]:
        pattern = resolver.pattern(source, ignore_case=not self.case_sensitive)
        role = resolver.role(self.role)

        def count(view: View) -> _Seen | None:
            hits = view.hits(pattern, role)
            if self.within is not UNSET:
                part = self.within.turns(view)
                if part is None:
                    return None
                hits = [turn for turn in hits if turn in part]
            number = len(hits)
            if self.per == "occurrence":
                number = sum(pattern.occurrences(view.turns[turn].text) for turn in hits)
            return _Seen(number, {"turns": hits})

        return count

    def _calls(self, tool: str) -> Callable[[View], _Seen]:
        matcher = values.matcher(self.args_subset) if self.args_subset else None

        def count(view: View) -> _Seen:
            matched = match_arguments(matcher, self.counted(view, tool))
            found = matched.matching
            return _Seen(len(found), {"calls": found}, matched.unknown, matched.code, matched.gap)

        return count


def _spans(view: View, matches: Callable[[model.Span], bool]) -> _Seen:
    found = [index for index, span in enumerate(view.spans) if matches(span)]
    return _Seen(len(found), {"spans": found})
