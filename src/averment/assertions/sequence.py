"""The kind `sequence`: events happen in an order."""

from __future__ import annotations

from collections import abc
from typing import Annotated, Any, ClassVar

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
    failed,
    inconclusive,
    passed,
)
from averment.assertions.calls import (
    CallAssertion,
    args_state,
    arguments_gap,
    expected_mistakes,
    match_arguments,
)
from averment.assertions.codes import Code
from averment.assertions.gaps import absent_finding, may_lack
from averment.assertions.http import HttpExchange
from averment.assertions.placing import Placing, Requirement, in_any_order, in_order
from averment.evidence.model import ToolCall
from averment.evidence.view import Event, View
from averment.policies import PolicyShelf
from averment.text.structs import Mistake

__all__ = ["Sequence", "Step"]


class Step(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One event: exactly one of `tool`, `span_type`, `phrase` and `http`."""

    tool: Annotated[NonEmpty | UnsetType, Meta(description="A call of this tool.")] = UNSET
    args_subset: Annotated[
        ExpectedFields | UnsetType, Meta(description="Arguments the call must have; for `tool`.")
    ] = UNSET
    span_type: Annotated[NonEmpty | UnsetType, Meta(description="A span of this type.")] = UNSET
    phrase: Annotated[
        Regex | UnsetType, Meta(description="A turn in which this pattern is found, in any case.")
    ] = UNSET
    role: Annotated[NonEmpty | UnsetType, Meta(description="Only turns of this role; for `phrase`.")] = UNSET
    http: Annotated[HttpExchange | UnsetType, Meta(description="A matching HTTP exchange.")] = UNSET
    absent: Annotated[
        bool, Meta(description="No such event between the steps before and after this one.")
    ] = False


class Sequence(CallAssertion, frozen=True, kw_only=True, tag="sequence"):
    """Events happen in the order of the steps, other events in between allowed.

    Events are spans in trace order and turns in transcript order. Steps that look at both need times on one clock, or
    there is no order to speak of. An `absent` step says that no such event stands between its neighbours (or before
    the first, after the last). `strict` allows no other tool call between the first and the last step. `unordered`
    asks for every step at an event of its own, in any order, and for no event of an `absent` step anywhere.

    PASS: there is a way to place all steps.
    FAIL: there is none; the grounds are the steps that could be placed.
    INCONCLUSIVE: the trace or the transcript that a step looks at is absent; turns and spans have no common clock; or
    the verdict hangs on a call whose arguments were not recorded, or on evidence that is missing.
    """

    codes: ClassVar[tuple[Code, ...]] = (
        Code.NOT_FOUND,
        Code.WRONG_ORDER,
        Code.FOUND_BUT_FORBIDDEN,
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
  - id: look-up-then-refund
    kind: sequence
    steps:
      - tool: lookup_order
      - {span_type: handoff, absent: true}
      - {tool: issue_refund, args_subset: {amount: 42}}
    examples:
      pass:
        - spans:
            - {type: tool_call, name: lookup_order}
            - {type: tool_call, name: issue_refund, arguments: {amount: 42}}
      fail:
        - spans:
            - {type: tool_call, name: issue_refund, arguments: {amount: 42}}
            - {type: tool_call, name: lookup_order}
        - spans:
            - {type: tool_call, name: lookup_order}
            - {type: handoff, to: human}
            - {type: tool_call, name: issue_refund, arguments: {amount: 42}}
"""

    steps: Annotated[list[Step], Meta(min_length=1, description="The events, in order.")]
    strict: Annotated[bool, Meta(description="No other tool call between the first and the last step.")] = (
        False
    )
    unordered: Annotated[bool, Meta(description="The steps may happen in any order.")] = False

    def mistakes(self, shelf: PolicyShelf) -> abc.Iterable[Mistake]:  # noqa: ARG002
        """Steps that name no event or several, and fields that say nothing where they stand."""
        if self.strict and self.unordered:
            message = "`strict` and `unordered` exclude each other"
            yield Mistake("fields_exclude", message, ("strict",), key=True, mend="Keep one.")
        if all(step.absent for step in self.steps):
            mend = "Add a step that must happen, or use `tool_call` with `absent`."
            yield Mistake(
                "field_needs", "every step is absent, so nothing must happen", ("steps",), mend=mend
            )
        for index, step in enumerate(self.steps):
            events = [step.tool, step.span_type, step.phrase, step.http]
            if sum(event is not UNSET for event in events) != 1:
                expected = "exactly one of `tool`, `span_type`, `phrase`, `http`"
                yield Mistake("fields_exclude", "a step is one event", ("steps", index), expected=expected)
            for field, needs, there in (
                ("args_subset", "tool", step.tool is not UNSET or step.args_subset is UNSET),
                ("role", "phrase", step.phrase is not UNSET or step.role is UNSET),
            ):
                if not there:
                    message = f"`{field}` says nothing without `{needs}`"
                    yield Mistake(
                        "field_needs", message, ("steps", index, field), key=True, mend="Remove it."
                    )
            faults = [*expected_mistakes({"args_subset": step.args_subset})]
            if step.http is not UNSET:
                faults += [fault.under("http") for fault in step.http.mistakes()]
            yield from (fault.under("steps", index) for fault in faults)

    def patterns(self) -> abc.Iterable[PatternUse]:
        """The phrases of the steps."""
        for index, step in enumerate(self.steps):
            if step.phrase is not UNSET:
                yield PatternUse(("steps", index, "phrase"), step.phrase, ignore_case=True)

    def tools(self) -> abc.Iterable[str]:
        """The tools of the steps."""
        return [step.tool for step in self.steps if step.tool is not UNSET and self.reading == "executed"]

    def reads_bodies(self) -> bool:
        """Whether a step asks for a response."""
        return any(step.http is not UNSET and step.http.response_subset is not UNSET for step in self.steps)

    def compile(self, resolver: Resolver) -> Check:
        """The check, for the steps in the order written."""
        bind = [self._bind(step, resolver) for step in self.steps]
        forbidding = [_channel(step) for step in self.steps if step.absent]
        if self.strict:
            forbidding.append("executions")
        channels = dict.fromkeys([*(_channel(step) for step in self.steps), *forbidding])
        tools = {step.tool for step in self.steps if step.args_subset}
        reads_turns = "transcript" in channels
        reads_spans = any(channel != "transcript" for channel in channels)

        def check(view: View, _: Earlier) -> Finding:
            for channel in channels:
                if view.is_missing(channel):
                    return absent_finding(view, channel)
            events = (
                view.events(turns=reads_turns, spans=reads_spans)
                if self.unordered
                else view.timeline(turns=reads_turns, spans=reads_spans)
            )
            if events is None:
                return _no_clock()
            steps = [
                Requirement(test(view), step.absent) for test, step in zip(bind, self.steps, strict=True)
            ]
            sure = self._place(steps, events, view, favour=False)
            grounds = _grounds(sure)
            if sure.complete:
                return passed(**grounds, absence_of=_incomplete(view, forbidding))
            unknown = [
                call for call in self.counted(view) if call.name in tools and args_state(call) != "recorded"
            ]
            if unknown and self._place(steps, events, view, favour=True).complete:
                return _hangs_on_arguments(unknown)
            code, reason = self._why(steps, events)
            return failed(
                code,
                lambda: reason,
                "events are not in the required order",
                **grounds,
                absence_of=_incomplete(view, channels),
            )

        return check

    def _place(
        self, steps: list[Requirement], events: abc.Sequence[Event], view: View, *, favour: bool
    ) -> Placing:
        if self.unordered:
            return in_any_order(steps, events, favour=favour)
        if not self.strict:
            return in_order(steps, events, favour=favour)
        counted = {call.id for call in self.counted(view)}
        return in_order(
            steps,
            events,
            favour=favour,
            intrudes=lambda event: event.call is not None and event.call.id in counted,
        )

    def _why(self, steps: list[Requirement], events: abc.Sequence[Event]) -> tuple[Code, str]:
        """What is wrong even when every unknown is counted in favour."""
        positive = [index for index, step in enumerate(steps) if not step.absent]
        bare = [steps[index] for index in positive]
        place = (
            in_any_order(bare, events, favour=True) if self.unordered else in_order(bare, events, favour=True)
        )
        if place.complete:
            between = "happens too" if self.unordered else "stands between them"
            return (
                Code.FOUND_BUT_FORBIDDEN,
                f"every step happens, and an event that must not happen {between}",
            )
        index = positive[place.missing]
        step = f"step {index + 1} of {len(self.steps)} ({_name(self.steps[index])})"
        if all(steps[index].test(event) is False for event in events):
            return Code.NOT_FOUND, f"{step} never happens"
        if self.unordered:
            return Code.NOT_FOUND, f"{step} has no event of its own: other steps need those that there are"
        return Code.WRONG_ORDER, f"{step} does not follow the steps before it"

    def _bind(
        self, step: Step, resolver: Resolver
    ) -> abc.Callable[[View], abc.Callable[[Event], bool | None]]:
        """The step's test of an event, once the view of a conversation is known."""
        if step.tool is not UNSET:
            tool = step.tool
            matcher = values.matcher(step.args_subset) if step.args_subset else None

            def bind_tool(view: View) -> abc.Callable[[Event], bool | None]:
                matched = match_arguments(matcher, self.counted(view, tool))
                answers: dict[str, bool | None] = {call.id: True for call in matched.matching}
                answers.update({call.id: None for call in matched.unknown})
                return lambda event: False if event.call is None else answers.get(event.call.id, False)

            return bind_tool
        if step.span_type is not UNSET:
            span_type = step.span_type

            def bind_span(view: View) -> abc.Callable[[Event], bool]:
                spans = view.spans
                return lambda event: event.span is not None and spans[event.span].type == span_type

            return bind_span
        if step.http is not UNSET:
            exchange = step.http.compile()
            return lambda view: lambda event: event.span is not None and exchange(view.spans[event.span])
        pattern = resolver.pattern(str(step.phrase), ignore_case=True)
        role = None if step.role is UNSET else resolver.role(step.role)

        def bind_phrase(view: View) -> abc.Callable[[Event], bool | None]:
            hits = set(view.hits(pattern, role))
            return lambda event: event.turn in hits

        return bind_phrase


def _channel(step: Step) -> Channel:
    """The channel of evidence that a step looks at."""
    if step.phrase is not UNSET:
        return "transcript"
    return "http" if step.http is not UNSET else "executions"


def _incomplete(view: View, channels: abc.Iterable[Channel]) -> Channel | None:
    """The first of the channels that may lack something that happened."""
    return next((channel for channel in channels if may_lack(view, channel)), None)


def _grounds(placing: Placing) -> dict[str, Any]:
    return {
        "turns": sorted(event.turn for event in placing.events if event.turn is not None),
        "calls": [event.call for event in placing.events if event.call is not None],
        "spans": [event.span for event in placing.events if event.span is not None],
    }


def _hangs_on_arguments(unknown: list[ToolCall]) -> Finding:
    code, gap = arguments_gap(unknown[0])
    return inconclusive(
        code,
        lambda: (
            "whether the steps happen as required hangs on the arguments of "
            f"{', '.join(call.id for call in unknown[:5])}"
        ),
        "required argument evidence was missing",
        calls=unknown,
        gap=gap,
    )


def _no_clock() -> Finding:
    how = "Record start times of both turns and spans on one clock."
    return inconclusive(
        Code.NO_CLOCK,
        lambda: f"the order of turns and spans is unknown: they have no times on a common clock. {how}",
        "required time evidence was missing",
        gap=Gap("executions", "partial", how),
    )


def _name(step: Step) -> str:
    if step.tool is not UNSET:
        return f"a call of `{step.tool}`"
    if step.span_type is not UNSET:
        return f"a span of type `{step.span_type}`"
    return "an HTTP exchange" if step.http is not UNSET else f"/{step.phrase}/ said"
