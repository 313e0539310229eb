"""The kind `latency`: something takes no longer than it may."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from averment.assertions import values
from averment.assertions.base import (
    Assertion,
    Channel,
    Check,
    Earlier,
    ExpectedFields,
    Finding,
    Gap,
    NonEmpty,
    Resolver,
    failed,
    inconclusive,
    passed,
)
from averment.assertions.calls import executed, expected_mistakes
from averment.assertions.codes import Code
from averment.assertions.gaps import absent_finding
from averment.assertions.measuring import Measure, Sample, Stat, Times, exact, number, statistic
from averment.evidence import model
from averment.evidence.view import View
from averment.policies import PolicyShelf
from averment.text.jsonvalue import is_number
from averment.text.structs import Mistake

__all__ = ["Latency"]

_SOURCES = ("tool", "span_type", "field", "measure")
_NS_PER_MS = 1_000_000


class _Measured(msgspec.Struct, frozen=True):
    """What could be measured, in order, with the grounds of all of it and what the result says beside the value."""

    samples: list[Sample]
    grounds: Mapping[str, Any] = {}
    details: Mapping[str, Any] = {}


class Latency(Assertion, frozen=True, kw_only=True, tag="latency"):
    """Something takes no longer than it may: calls of a tool, spans, a number of the timing events, or a wait.

    Exactly one of `tool`, `span_type`, `field` and `measure` says what is measured. `max_ms` is the limit in
    milliseconds; a `field` has a unit of its own, and so its limit is `max`. Of several values `stat` is compared, the
    greatest by default; percentiles are nearest ranks. Arithmetic is exact.

    A call or span takes its `latency_ms`, or where it has none the time from its start to its end; a point in time takes
    none. A `field` is read in each event that matches `where`, and in none that is marked `scorable: false`. Only
    numbers are measured, never texts of them.

    `measure` works on the turns' own times. `response_gap`: from the end of the others' speech to the start of the next
    turn of `role`, unless that begins while another still speaks. `overlap`: for each turn of `role`, how long others
    speak during it. `silence`: each stretch between turns in which nobody speaks. `grain_ms` in the result tells how
    finely the source states times: at 1000, whole seconds, a gap of 1000 ms may have been anything below 2000.

    PASS: the measured value, `measured_ms` or `measured`, is at most the limit.
    FAIL: it is more.
    INCONCLUSIVE: the evidence is absent; there is nothing to measure in it; turns have no start, no end or no common
    clock; or the verdict rests on a part of the evidence that is missing.
    """

    codes: ClassVar[tuple[Code, ...]] = (
        Code.OVER_LIMIT,
        Code.NO_MEASUREMENT,
        Code.NO_CLOCK,
        Code.TRANSCRIPT_ABSENT,
        Code.TRACE_ABSENT,
        Code.TIMING_ABSENT,
    )
    example: ClassVar[str] = """\
version: 1
assertions:
  - id: answers-within-two-seconds
    kind: latency
    measure: response_gap
    stat: p95
    max_ms: 2000
    examples:
      pass:
        - transcript:
            - {role: caller, text: Hello?, start: 0, end: 1.2}
            - {role: agent, text: Hello! How can I help?, start: 2.4, end: 4}
      fail:
        - transcript:
            - {role: caller, text: Hello?, start: 0, end: 1.2}
            - {role: agent, text: Hello! How can I help?, start: 4.4, end: 6}
"""

    tool: Annotated[NonEmpty | UnsetType, Meta(description="Calls of this tool.")] = UNSET
    span_type: Annotated[NonEmpty | UnsetType, Meta(description="Spans of this type.")] = UNSET
    field: Annotated[
        NonEmpty | UnsetType, Meta(description="The dotted path of a number in the timing events.")
    ] = UNSET
    measure: Annotated[Measure | UnsetType, Meta(description="A time between turns.")] = UNSET
    max_ms: Annotated[
        int | float | UnsetType,
        Meta(description="The limit in milliseconds; for `tool`, `span_type`, `measure`."),
    ] = UNSET
    max: Annotated[
        int | float | UnsetType, Meta(description="The limit in the unit of the field; for `field`.")
    ] = UNSET
    stat: Annotated[Stat, Meta(description="What is compared when there are several values.")] = "max"
    where: Annotated[
        ExpectedFields | UnsetType, Meta(description="Only timing events that match; for `field`.")
    ] = UNSET
    role: Annotated[
        NonEmpty | UnsetType,
        Meta(
            description="Whose turns are measured, the agent's by default; for `response_gap` and `overlap`."
        ),
    ] = UNSET

    def mistakes(self, shelf: PolicyShelf) -> Iterable[Mistake]:  # noqa: ARG002 - no policies here
        """Nothing or several things to measure, the wrong limit, fields for something else."""
        sources = [name for name in _SOURCES if getattr(self, name) is not UNSET]
        if len(sources) != 1:
            expected = f"exactly one of {', '.join(f'`{name}`' for name in _SOURCES)}"
            yield Mistake("fields_exclude", "a latency measures one thing", expected=expected)
            return
        source = sources[0]
        limit, other = ("max", "max_ms") if source == "field" else ("max_ms", "max")
        if getattr(self, limit) is UNSET:
            yield Mistake("missing_field", f"the field `{limit}` is missing", expected=f"`{limit}`: a number")
        speaks = self.measure in {"response_gap", "overlap"}
        for field, allowed, why in (
            (other, False, f"`{other}` is no limit for `{source}`, which has `{limit}`"),
            ("where", source == "field", "`where` says nothing without `field`"),
            ("role", speaks, "`role` says nothing but of `response_gap` and `overlap`"),
        ):
            if getattr(self, field) is not UNSET and not allowed:
                yield Mistake("fields_exclude", why, (field,), key=True, mend="Remove it.")
        yield from expected_mistakes({"where": self.where})

    def compile(self, resolver: Resolver) -> Check:
        """The check, for what is measured and its limit."""
        channel, measure, what = self._source(resolver)
        unit = "" if channel == "timing" else " ms"
        shown_as = "measured" if channel == "timing" else "measured_ms"
        stated: Any = self.max if channel == "timing" else self.max_ms
        limit = exact(stated)

        def check(view: View, _: Earlier) -> Finding:
            if view.is_missing(channel):
                return absent_finding(view, channel)
            measured = measure(view)
            if measured is None:
                return _no_clock()
            if not measured.samples:
                return _nothing(channel, what)
            value, picked = statistic(measured.samples, self.stat)
            grounds = dict(measured.grounds)
            details = {shown_as: number(value), **measured.details}
            if picked is not None and picked.event is not None:
                details["event"] = picked.event
            if channel == "transcript":
                grounds["turns"] = _turns(measured.samples if picked is None else [picked])
            # More values could turn any verdict but these two, and a turn that is missing what lies around it.
            decided = self.stat == ("min" if value <= limit else "max") and channel != "transcript"
            rests = None if decided else channel
            if value <= limit:
                return passed(**grounds, details=details, absence_of=rests)
            return failed(
                Code.OVER_LIMIT,
                lambda: (
                    f"{what}: {self.stat} of {len(measured.samples)} is {number(value)}{unit}, "
                    f"and may be at most {stated}{unit}"
                ),
                "a measured value is over its limit",
                **grounds,
                details=details,
                absence_of=rests,
            )

        return check

    def _source(self, resolver: Resolver) -> tuple[Channel, Callable[[View], _Measured | None], str]:
        """The channel that is read, how to measure in it (None without a clock), and what that is in words."""
        if self.tool is not UNSET:
            tool = self.tool
            return "executions", lambda view: _calls(executed(view, tool)), f"calls of `{tool}`"
        if self.span_type is not UNSET:
            span_type = self.span_type
            return "executions", lambda view: _spans(view, span_type), f"spans of type `{span_type}`"
        if self.field is not UNSET:
            return "timing", self._events(self.field), f"`{self.field}`"
        what: Measure = "silence" if self.measure is UNSET else self.measure
        role = resolver.role("agent" if self.role is UNSET else self.role)

        def measure(view: View) -> _Measured | None:
            times = Times.of(view, role)
            if times is None:
                return None
            return _Measured(times.measure(what), details={"grain_ms": times.grain_ms})

        return "transcript", measure, f"{what.replace('_', ' ')}s"

    def _events(self, path: str) -> Callable[[View], _Measured]:
        matcher = None if self.where is UNSET else values.matcher(self.where)

        def measure(view: View) -> _Measured:
            timing = view.timing
            events = timing if isinstance(timing, list) else [timing]
            samples = []
            for index, event in enumerate(events):
                value: Any = values.resolve(event, path)
                if (
                    is_number(value)
                    and event.get("scorable") is not False
                    and (matcher is None or matcher.matches(event))
                ):
                    samples.append(Sample(exact(value), event=index if isinstance(timing, list) else None))
            return _Measured(samples)

        return measure


def _calls(calls: Sequence[model.ToolCall]) -> _Measured:
    taken = [(call, _duration(call.latency_ms, call)) for call in calls]
    known = [(call, value) for call, value in taken if value is not None]
    return _Measured(
        [Sample(value) for _, value in known],
        {"calls": [call for call, _ in known]},
        _unmeasured(len(taken) - len(known)),
    )


def _spans(view: View, span_type: str) -> _Measured:
    spans = view.spans
    taken = [
        (index, _duration(spans[index].field("latency_ms"), spans[index]))
        for index in view.trace
        if spans[index].type == span_type
    ]
    known = [(index, value) for index, value in taken if value is not None]
    return _Measured(
        [Sample(value) for _, value in known],
        {"spans": [index for index, _ in known]},
        _unmeasured(len(taken) - len(known)),
    )


def _duration(stated: Any, thing: model.Span | model.ToolCall) -> Fraction | None:
    """How long it took, in milliseconds: as the source states it, else from start to end."""
    if is_number(stated):
        return exact(stated)
    start, end = thing.start_ns, thing.end_ns
    return None if start is None or end is None or end <= start else Fraction(end - start, _NS_PER_MS)


def _unmeasured(count: int) -> dict[str, int]:
    return {"unmeasured": count} if count else {}


def _turns(samples: Sequence[Sample]) -> list[int]:
    return sorted({turn for sample in samples for turn in sample.turns})


def _nothing(channel: Channel, what: str) -> Finding:
    how = {
        "executions": "Record `latency_ms`, or start and end times.",
        "timing": "Record the field as a number in the timing events.",
    }.get(channel, "Record the turns of both sides.")
    return inconclusive(
        Code.NO_MEASUREMENT,
        lambda: f"{what}: there is nothing to measure. {how}",
        "required time evidence was missing",
        gap=Gap(channel, "partial", how),
    )


def _no_clock() -> Finding:
    how = "Record the start and the end of every turn, on one clock."
    return inconclusive(
        Code.NO_CLOCK,
        lambda: f"not every turn has a start and an end on a common clock. {how}",
        "required time evidence was missing",
        gap=Gap("transcript", "partial", how),
    )
