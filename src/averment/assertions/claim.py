"""The kind `claim`: whoever says that something was done must have done it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from averment.assertions import values
from averment.assertions.base import (
    Assertion,
    Channel,
    Check,
    Earlier,
    Expected,
    Finding,
    Gap,
    NonEmpty,
    PatternUse,
    Regex,
    Resolver,
    failed,
    inconclusive,
    passed,
    safe,
    turn_list,
)
from averment.assertions.calls import executed, expected_mistakes, match_arguments, match_results, succeeded
from averment.assertions.codes import Code
from averment.assertions.gaps import absent_finding
from averment.assertions.within import Extent, no_clock
from averment.evidence import model
from averment.evidence.view import View
from averment.policies import PolicyShelf
from averment.text.normalize import Normalizer, normalized
from averment.text.patterns import Pattern, PatternError, compile_pattern
from averment.text.structs import Mistake

__all__ = ["Binding", "Claim"]

_Bound = tuple[str, ...]
_Said = tuple[str | None, ...]  # None for a group that took no part: nothing was said about that field
_NOTHING = "\0"  # what a call has where it has no such field; no text that is said equals it
_FOREVER = 2**63
_SHORTEST_LIMIT = 2_000
"""Characters; a pattern whose groups can be told in shorter turns only is refused beforehand."""


class Binding(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The field that a named group of the pattern must equal, and what does not count in comparing them."""

    field: Annotated[NonEmpty, Meta(description="`arguments.PATH` or `result.PATH`, dotted.")]
    normalize: Annotated[list[Normalizer], Meta(description="Applied to both sides, in this order.")] = []


class Claim(Assertion, frozen=True, kw_only=True, tag="claim"):
    """Whoever says that something was done must have done it: each turn that says so is backed by a tool call.

    For every turn of the role in which the pattern is found there must be a call of the tool, by the agent, with the
    expected arguments and result, that succeeded, on the right side of the turn. `matches` binds named groups of the
    pattern to fields of that call, compared as text with numbers in one form: "42 dollars" is backed by the amount
    42.0, not by 24. Whether a call came before a turn is told by their start times on a common clock.

    PASS: every such turn is backed. If nobody says so, PASS with `vacuous: true`, or FAIL with `must_occur`.
    FAIL: a turn is not backed; `unbacked` lists each with what it says of the bound values and what calls there were.
    INCONCLUSIVE: there is no transcript; there is something to back and no trace; or the verdict hangs on a call whose
    arguments or result were not recorded, on times that turns and calls do not have (unless `timing: anywhere`), or on
    a part of the evidence that is missing.
    """

    needs: ClassVar[tuple[Channel, ...]] = ("transcript",)
    codes: ClassVar[tuple[Code, ...]] = (
        Code.CLAIM_UNBACKED,
        Code.NOT_FOUND,
        Code.TRACE_ABSENT,
        Code.NO_CLOCK,
        Code.TURN_TOO_LONG,
        Code.ARGUMENTS_NOT_RECORDED,
        Code.ARGUMENTS_UNREADABLE,
        Code.RESULTS_NOT_RECORDED,
        Code.RESULTS_REDACTED,
    )
    example: ClassVar[str] = """\
version: 1
assertions:
  - id: refund-is-real
    kind: claim
    says: 'refund of (?P<amount>\\d+(?:\\.\\d+)?) dollars .*\\b(?:sent|on its way)\\b'
    tool: issue_refund
    matches: {amount: arguments.amount}
    examples:
      pass:
        - transcript: [{role: agent, text: Your refund of 42 dollars is on its way., start: 9, end: 12}]
          spans: [{type: tool_call, name: issue_refund, arguments: {amount: 42.0}, start_sec: 5, end_sec: 6}]
        - transcript: [{role: agent, text: How can I help?}]
      fail:
        - transcript: [{role: agent, text: Your refund of 42 dollars is on its way., start: 9, end: 12}]
          spans: [{type: tool_call, name: issue_refund, arguments: {amount: 24}, start_sec: 5, end_sec: 6}]
        - transcript: [{role: agent, text: Your refund of 42 dollars is on its way.}]
          spans: []
"""

    says: Regex
    role: Annotated[str | None, Meta(description="Whose words count; null for anybody's.")] = "agent"
    tool: Annotated[NonEmpty, Meta(description="The tool that must have been called.")]
    args: Annotated[
        Expected, Meta(description="The arguments that back the claim, as any expected value.")
    ] = UNSET
    result: Annotated[
        Expected, Meta(description="The result that backs the claim, as any expected value.")
    ] = UNSET
    succeeded: Annotated[
        bool | Literal["any"], Meta(description="true: the call must have succeeded; any: an error will do.")
    ] = True
    timing: Annotated[
        Literal["before", "after", "anywhere"],
        Meta(description="On which side of the turn the call must begin."),
    ] = "before"
    within: Annotated[Extent | UnsetType, Meta(description="How far from the turn the call may be.")] = UNSET
    matches: Annotated[
        dict[str, str | Binding] | UnsetType,
        Meta(description="For named groups of the pattern, the field of the call that each must equal."),
    ] = UNSET
    must_occur: Annotated[bool, Meta(description="It must be said at least once.")] = False

    def mistakes(self, shelf: PolicyShelf) -> Iterable[Mistake]:  # noqa: ARG002 - no policies here
        """Faults of the expected values, and bindings of groups or fields that there are not."""
        yield from expected_mistakes({"args": self.args, "result": self.result}, keyed=("result",))
        if self.succeeded is False:
            expected, mend = "true or any", "For a call that must fail use `tool_error`."
            yield Mistake(
                "not_allowed",
                "a claim is not backed by failing",
                ("succeeded",),
                expected=expected,
                mend=mend,
            )
        if self.within is not UNSET:
            yield from (mistake.under("within") for mistake in self.within.mistakes())
        if self.matches is not UNSET:
            yield from self._binding_mistakes(self.matches)

    def _binding_mistakes(self, matches: Mapping[str, str | Binding]) -> Iterable[Mistake]:
        try:
            pattern = compile_pattern(self.says, ignore_case=True)
        except PatternError:
            return  # told with the pattern's own place
        if pattern.longest_for_re < _SHORTEST_LIMIT:
            mend = "Make the pattern simpler: give its `*` and `+` small upper bounds such as `{1,20}`."
            message = "the groups of this pattern can't be bound: it can take too long on some texts"
            yield Mistake("bad_pattern", message, ("says",), mend=mend)
        known = list(pattern.groups)
        for name, binding in matches.items():
            if name not in pattern.groups:
                message = f"the pattern has no group `{name}`"
                expected = (
                    f"one of {', '.join(known)}" if known else "a named group, `(?P<name>...)`, in `says`"
                )
                yield Mistake("unknown_group", message, ("matches", name), key=True, expected=expected)
            field = binding if isinstance(binding, str) else binding.field
            if not field.startswith(("arguments.", "result.")):
                path = ("matches", name) if isinstance(binding, str) else ("matches", name, "field")
                expected = "`arguments.PATH` or `result.PATH`"
                yield Mistake(
                    "not_allowed",
                    "a group is bound to a field of the call",
                    path,
                    expected=expected,
                    found=field,
                )

    def patterns(self) -> Iterable[PatternUse]:
        """What is said."""
        yield PatternUse(("says",), self.says, ignore_case=True)

    def compile(self, resolver: Resolver) -> Check:
        """The check, for the pattern, the expected values and the bindings."""
        pattern = resolver.pattern(self.says, ignore_case=True)
        role = resolver.role(self.role)
        bindings = {} if self.matches is UNSET else {n: _binding(b) for n, b in self.matches.items()}
        args = None if self.args is UNSET else values.matcher(self.args)
        result = None if self.result is UNSET else values.matcher(self.result, keyed=True)

        def check(view: View, _: Earlier) -> Finding:
            turns = view.hits(pattern, role)
            if not turns:
                return self._unsaid()
            if view.is_missing("executions"):
                return absent_finding(view, "executions")
            calls = _Calls(view, self, args, result, bindings)
            return self._judge(view, turns, calls, pattern, bindings)

        return check

    def _unsaid(self) -> Finding:
        if not self.must_occur:
            return passed(details={"vacuous": True}, absence_of="transcript")
        return failed(
            Code.NOT_FOUND,
            lambda: f"/{self.says}/ must be said by {self.role or 'anybody'}, and is not",
            "a required phrase is missing",
            absence_of="transcript",
        )

    def _judge(
        self,
        view: View,
        turns: Sequence[int],
        calls: _Calls,
        pattern: Pattern,
        bindings: Mapping[str, Binding],
    ) -> Finding:
        backing: list[model.ToolCall] = []
        unbacked: list[dict[str, Any]] = []
        unknown: list[Finding] = []
        for turn in turns:
            said_here = _said(view.turns[turn].text, pattern, bindings)
            if said_here is None:
                unknown.append(_too_long(turn))
                continue
            for said in said_here:
                answer = calls.backing(turn, said)
                if isinstance(answer, model.ToolCall):
                    backing.append(answer)
                elif isinstance(answer, Finding):
                    unknown.append(answer)
                else:
                    unbacked.append(
                        {"turn": turn, **({"values": dict(zip(bindings, said, strict=True))} if said else {})}
                    )
        public = f"a claim is not backed by {safe(self.tool)}" if safe(self.tool) else "a claim is not backed"
        if unbacked:
            where = sorted({entry["turn"] for entry in unbacked})
            return failed(
                Code.CLAIM_UNBACKED,
                lambda: f"said in {turn_list(where)} and not backed: {calls.described(view)}",
                public,
                turns=where,
                calls=calls.all[:20],
                details={"unbacked": unbacked},
                absence_of="executions",
            )
        if unknown:
            return msgspec.structs.replace(unknown[0], turns=turns)
        return passed(turns=turns, calls=backing, absence_of="transcript")


class _Calls:
    """The calls of the tool, by what they could back: sorted by time for each combination of bound values."""

    def __init__(
        self,
        view: View,
        claim: Claim,
        args: values.Matcher | None,
        result: values.Matcher | None,
        bindings: Mapping[str, Binding],
    ) -> None:
        self._claim = claim
        self._view = view
        self.all = [
            call for call in executed(view, claim.tool) if claim.succeeded == "any" or succeeded(call)
        ]
        self._failed = len(executed(view, claim.tool)) - len(self.all)
        by_args = match_arguments(args, self.all)
        by_result = match_results(result, by_args.matching, view.coverage("results")[0]) if result else None
        sure = by_args.matching if by_result is None else by_result.matching
        self._doubts = [*by_args.unknown, *(by_result.unknown if by_result else [])]
        self._why = (
            by_args.code or (by_result.code if by_result else None),
            by_args.gap or (by_result and by_result.gap),
        )
        self._known: dict[_Bound, list[model.ToolCall]] = {}
        for call in sure:
            bound = _bound(call, bindings)
            if bound is None:
                self._doubts.append(call)
                self._why = self._why if self._why[0] else _unshown(call)
            else:
                self._known.setdefault(bound, []).append(call)
        self._timed = {bound: _Timed(found) for bound, found in self._known.items()}
        self._timed_doubts = _Timed(self._doubts)

    def backing(self, turn: int, said: _Said) -> model.ToolCall | Finding | None:
        """The call that backs what a turn says; a finding where that can't be told; None where none does."""
        known = self._agreeing(said)
        if not known and not self._doubts:
            return None
        if self._claim.timing == "anywhere" and self._claim.within is UNSET:
            return known[0].first if known else self._doubtful()
        window = self._window(turn)
        if window is None:
            return no_clock()
        clock = self._view.turns[turn].clock
        for timed in known:
            if (found := timed.within(*window, clock)) is not None:
                return found
        if any(timed.untimed(clock) for timed in known):
            return no_clock()
        if self._doubts and (self._timed_doubts.within(*window, clock) or self._timed_doubts.untimed(clock)):
            return self._doubtful()
        return None

    def _agreeing(self, said: _Said) -> list[_Timed]:
        if None not in said:
            exact = self._timed.get(tuple(str(value) for value in said))
            return [] if exact is None else [exact]
        return [
            timed
            for bound, timed in self._timed.items()
            if all(value is None or value == field for value, field in zip(said, bound, strict=True))
        ]

    def described(self, view: View) -> str:
        """What calls there were instead, for a person."""
        tool = self._claim.tool
        if not self.all and self._failed:
            return f"`{tool}` was called {self._failed} times and never succeeded"
        if not self.all:
            names = ", ".join(f"`{name}`" for name in view.tool_names[:10]) or "none"
            return f"`{tool}` was never called; tools called: {names}"
        shown = "; ".join(f"{call.id} {values.show(call.args)}" for call in self.all[:3])
        side = "" if self._claim.timing == "anywhere" else f" {self._claim.timing} that turn"
        return f"no successful call of `{tool}`{side} agrees with it; calls: {shown}"

    def _doubtful(self) -> Finding:
        code, gap = self._why
        ids = ", ".join(call.id for call in self._doubts[:5])
        return inconclusive(
            code or Code.ARGUMENTS_NOT_RECORDED,
            lambda: f"whether the claim is backed hangs on what the source does not show of {ids}",
            "required call evidence was missing",
            calls=self._doubts[:20],
            gap=gap or None,
        )

    def _window(self, turn: int) -> tuple[int, int] | None:
        """Between which start times a call must lie; None where the turns don't have the times to tell."""
        turns = self._view.turns
        at, timing, extent = turns[turn].start_ns, self._claim.timing, self._claim.within
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
        first = turns[turn - number].start_ns if turn >= number else -_FOREVER
        last = turns[turn + number].start_ns if turn + number < len(turns) else _FOREVER
        return None if first is None or last is None else (max(low, first), min(high, last))


class _Timed:
    """Calls by their start times, per clock."""

    def __init__(self, calls: Sequence[model.ToolCall]) -> None:
        self.first = calls[0] if calls else None
        self._count = len(calls)
        self._by_clock: dict[str, list[tuple[int, int, model.ToolCall]]] = {}
        for number, call in enumerate(calls):
            if call.start_ns is not None and call.clock is not None:
                self._by_clock.setdefault(call.clock, []).append((call.start_ns, number, call))
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


def _said(text: str, pattern: Pattern, bindings: Mapping[str, Binding]) -> list[_Said] | None:
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


def _too_long(turn: int) -> Finding:
    how = "Record shorter turns, or make the pattern simpler."
    return inconclusive(
        Code.TURN_TOO_LONG,
        lambda: f"turn {turn} is too long for the groups of this pattern to be told in bounded time. {how}",
        "a turn was too long to be read in bounded time",
        gap=Gap("transcript", "partial", how),
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
        found.append(
            _NOTHING if value is values.ABSENT else normalized(value, binding.normalize, numbers=True)
        )
    return tuple(found)


def _unshown(call: model.ToolCall) -> tuple[Code, Gap]:
    if call.args is UNSET:
        code = Code.ARGUMENTS_UNREADABLE if call.args_error is not None else Code.ARGUMENTS_NOT_RECORDED
        return code, Gap(
            "executions", call.args_state, "Record each call's arguments in the source of the trace."
        )
    code = Code.RESULTS_REDACTED if call.result_state == "redacted" else Code.RESULTS_NOT_RECORDED
    return code, Gap("results", call.result_state, "Record each call's result in the source of the trace.")


def _binding(binding: str | Binding) -> Binding:
    return Binding(binding) if isinstance(binding, str) else binding
