"""What backs a claim: the calls of a tool, by the values that they could back and by time.

Every turn asks for one call among all; so calls are kept sorted, and no turn looks at each of them.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from averment.assertions import values
from averment.assertions.base import Finding, Gap, NonEmpty, inconclusive
from averment.assertions.calls import executed, match_arguments, match_results, succeeded
from averment.assertions.codes import Code
from averment.assertions.within import Extent, no_clock
from averment.evidence import model
from averment.evidence.redaction import is_redacted
from averment.evidence.view import View
from averment.text.normalize import Normalizer, normalized
from averment.text.patterns import Pattern

__all__ = ["Backing", "Binding", "Said", "Wanted", "what_is_said"]

Said = tuple[str | None, ...]
"""What a turn says of each bound field; None for a group that took no part: nothing was said of it."""
_Bound = tuple[str, ...]
_WHOLE = frozenset({"present", "empty"})
_NOTHING = "\0"  # what a call has where it has no such field; no text that is said equals it
_FOREVER = 2**63
_SEQUENCE = "sequence"
"""In place of a clock: the order in which the source has turns and calls."""


class Binding(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The field that a named group of the pattern must equal, and what does not count in comparing them."""

    field: Annotated[NonEmpty, Meta(description="`arguments.PATH` or `result.PATH`, dotted.")]
    normalize: Annotated[list[Normalizer], Meta(description="Applied to both sides, in this order.")] = []


class Wanted(msgspec.Struct, frozen=True):
    """What a call must be like to back a claim."""

    tool: str
    args: values.Matcher | None
    result: values.Matcher | None
    success: bool
    timing: Literal["before", "after", "anywhere"]
    within: Extent | UnsetType
    bindings: Mapping[str, Binding]


class Backing:
    """The calls of the tool, by what they could back: sorted by time for each combination of bound values."""

    def __init__(self, view: View, wanted: Wanted) -> None:
        self._view = view
        self._wanted = wanted
        called = executed(view, wanted.tool)
        self.calls = [call for call in called if not wanted.success or succeeded(call)]
        in_turns = wanted.within is UNSET or wanted.within.seconds is UNSET
        self._sequenced = view.is_sequenced and in_turns
        self._failed = len(called) - len(self.calls)
        by_args = match_arguments(wanted.args, self.calls)
        sure, doubts, code, gap = by_args.matching, by_args.unknown, by_args.code, by_args.gap
        if wanted.result is not None:
            by_result = match_results(wanted.result, sure, view.coverage("results")[0])
            sure, doubts = by_result.matching, [*doubts, *by_result.unknown]
            code, gap = code or by_result.code, gap or by_result.gap
        self._doubts = [*doubts]
        self._why = (code, gap)
        known: dict[_Bound, list[model.ToolCall]] = {}
        unsure: dict[_Bound, list[model.ToolCall]] = {}
        tells = wanted.result is not None or not wanted.success or view.coverage("errors")[0] in _WHOLE
        for call in sure:
            bound = _bound(call, wanted.bindings)
            if bound is None:
                self._doubts.append(call)
                self._why = self._why if code is not None else _unshown(call)
            elif tells or call.status == "ok":
                known.setdefault(bound, []).append(call)
            else:
                unsure.setdefault(bound, []).append(call)
        self._known, self._unsure = self._timed(known), self._timed(unsure)
        self._timed_doubts = _Timed(self._doubts, sequenced=self._sequenced)

    def _timed(self, calls: Mapping[_Bound, Sequence[model.ToolCall]]) -> dict[_Bound, _Timed]:
        return {bound: _Timed(found, sequenced=self._sequenced) for bound, found in calls.items()}

    def backing(self, turn: int, said: Said) -> model.ToolCall | Finding | None:
        """The call that backs what a turn says; a finding where that can't be told; None where none does."""
        known, unsure = _agreeing(self._known, said), _agreeing(self._unsure, said)
        if not known and not unsure and not self._doubts:
            return None
        if self._wanted.timing == "anywhere" and self._wanted.within is UNSET:
            if known:
                return known[0].first
            return self._unsaid_how(unsure[0].first) if unsure else self._doubtful()
        window = self._window(turn)
        if window is None:
            return no_clock()
        clock = self._clock(turn)
        for timed in known:
            if (found := timed.within(*window, clock)) is not None:
                return found
        if any(timed.untimed(clock) for timed in (*known, *unsure)):
            return no_clock()
        for timed in unsure:
            if (found := timed.within(*window, clock)) is not None:
                return self._unsaid_how(found)
        if self._doubts and (self._timed_doubts.within(*window, clock) or self._timed_doubts.untimed(clock)):
            return self._doubtful()
        return None

    def _unsaid_how(self, call: model.ToolCall | None) -> Finding:
        """INCONCLUSIVE, because the call was executed and its source does not say whether it went well."""
        how = "Say in the claim what the tool answers when it went well: `result`, as any expected value."
        calls = [] if call is None else [call]
        ids = ", ".join(each.id for each in calls)
        return inconclusive(
            Code.ERRORS_NOT_RECORDED,
            lambda: f"{ids} was executed, and its source does not say whether it went well. {how}",
            "required error evidence was missing",
            calls=calls,
            gap=Gap("errors", self._view.coverage("errors")[0], how),
        )

    def described(self, view: View) -> str:
        """What calls there were instead, for a person."""
        tool = self._wanted.tool
        if not self.calls and self._failed:
            times = "once" if self._failed == 1 else f"{self._failed} times"
            return f"`{tool}` was called {times} and never succeeded"
        if not self.calls:
            names = ", ".join(f"`{name}`" for name in view.tool_names[:10]) or "none"
            return f"`{tool}` was never called; tools called: {names}"
        shown = "; ".join(f"{call.id} {values.show(call.args)}" for call in self.calls[:3])
        side = "" if self._wanted.timing == "anywhere" else f" {self._wanted.timing} that turn"
        return f"no successful call of `{tool}`{side} agrees with it; calls: {shown}"

    def _doubtful(self) -> Finding:
        code, gap = self._why
        ids = ", ".join(call.id for call in self._doubts[:5])
        return inconclusive(
            code or Code.ARGUMENTS_NOT_RECORDED,
            lambda: f"whether the claim is backed hangs on what the source does not show of {ids}",
            "required call evidence was missing",
            calls=self._doubts[:20],
            gap=gap,
        )

    def _clock(self, turn: int) -> str | None:
        """What the turn and the calls are ordered by: the order of their source, where that has one, or a clock."""
        return _SEQUENCE if self._sequenced else self._view.turns[turn].clock

    @cached_property
    def _moments(self) -> Sequence[int | None]:
        """When each turn was."""
        turns = self._view.turns
        return [turn.seq for turn in turns] if self._sequenced else [turn.start_ns for turn in turns]

    def _window(self, turn: int) -> tuple[int, int] | None:
        """Between which moments a call must lie; None where the turns don't have the times to tell."""
        turns = self._moments
        at, timing, extent = turns[turn], self._wanted.timing, self._wanted.within
        if at is None:
            return None
        low = at if timing == "after" else -_FOREVER
        high = at if timing == "before" else _FOREVER
        if extent is UNSET:
            return low, high
        if extent.seconds is not UNSET:
            reach = round(extent.seconds * 1_000_000_000)
            return max(low, at - reach), min(high, at + reach)
        number = 0 if extent.turns is UNSET else extent.turns
        first = turns[turn - number] if turn >= number else -_FOREVER
        last = turns[turn + number] if turn + number < len(turns) else _FOREVER
        return None if first is None or last is None else (max(low, first), min(high, last))


def _agreeing(timed: Mapping[_Bound, _Timed], said: Said) -> list[_Timed]:
    """The calls whose bound values agree with what is said."""
    if None not in said:
        exact = timed.get(tuple(str(value) for value in said))
        return [] if exact is None else [exact]
    return [
        each
        for bound, each in timed.items()
        if all(value is None or value == field for value, field in zip(said, bound, strict=True))
    ]


class _Timed:
    """Calls by their start times, per clock, or by their source's order."""

    def __init__(self, calls: Sequence[model.ToolCall], *, sequenced: bool) -> None:
        self.first = calls[0] if calls else None
        self._count = len(calls)
        self._by_clock: dict[str, list[tuple[int, int, model.ToolCall]]] = {}
        for number, call in enumerate(calls):
            at, clock = (call.seq, _SEQUENCE) if sequenced else (call.start_ns, call.clock)
            if at is not None and clock is not None:
                self._by_clock.setdefault(clock, []).append((at, number, call))
        for timed in self._by_clock.values():
            timed.sort(key=lambda entry: entry[:2])

    def within(self, low: int, high: int, clock: str | None) -> model.ToolCall | None:
        """A call on the clock that starts between the two times, ends included."""
        timed = self._by_clock.get(clock or "", [])
        index = bisect_left(timed, low, key=lambda entry: entry[0])
        return timed[index][2] if index < len(timed) and timed[index][0] <= high else None

    def untimed(self, clock: str | None) -> bool:
        """Whether some calls have no time on that clock."""
        return len(self._by_clock.get(clock or "", [])) < self._count


def what_is_said(text: str, pattern: Pattern, bindings: Mapping[str, Binding]) -> list[Said] | None:
    """What the turn says of the bound values, once for each time it says something else; None for too long a turn."""
    if not bindings:
        return [()]
    found = pattern.captures(text)
    if found is None:
        return None
    return list(
        dict.fromkeys(
            tuple(
                None if groups[name] is None else normalized(groups[name], binding.normalize, numbers=True)
                for name, binding in bindings.items()
            )
            for groups in found
        )
    )


def _bound(call: model.ToolCall, bindings: Mapping[str, Binding]) -> _Bound | None:
    """The call's values of the bound fields; None where the source does not show them."""
    found = []
    for binding in bindings.values():
        part, _, path = binding.field.partition(".")
        whole, state = (
            (call.args, call.args_state) if part == "arguments" else (call.result, call.result_state)
        )
        if whole is UNSET and (state != "recorded" or call.args_error is not None):
            return None
        value = values.resolve(whole, path)
        if state == "redacted" and is_redacted(value):
            return None
        found.append(
            _NOTHING if value is values.ABSENT else normalized(value, binding.normalize, numbers=True)
        )
    return tuple(found)


def _unshown(call: model.ToolCall) -> tuple[Code, Gap]:
    if call.args is UNSET or call.args_state == "redacted":
        code = Code.ARGUMENTS_UNREADABLE if call.args_error is not None else Code.ARGUMENTS_NOT_RECORDED
        return code, Gap(
            "executions", call.args_state, "Record each call's arguments in the source of the trace."
        )
    code = Code.RESULTS_REDACTED if call.result_state == "redacted" else Code.RESULTS_NOT_RECORDED
    return code, Gap("results", call.result_state, "Record each call's result in the source of the trace.")
