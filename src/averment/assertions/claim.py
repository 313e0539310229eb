"""The kind `claim`: whoever says that something was done must have done it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from averment.assertions import values
from averment.assertions.backing import Backing, Binding, Wanted, what_is_said
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
from averment.assertions.calls import expected_mistakes
from averment.assertions.codes import Code
from averment.assertions.gaps import absent_finding
from averment.assertions.within import Extent
from averment.evidence import model
from averment.evidence.view import View
from averment.policies import PolicyShelf
from averment.text.patterns import Pattern, PatternError, compile_pattern
from averment.text.structs import Mistake

__all__ = ["Claim"]

_SHORTEST_LIMIT = 2_000
"""Characters; a pattern whose groups can be told in shorter turns only is refused beforehand."""


class Claim(Assertion, frozen=True, kw_only=True, tag="claim"):
    """Whoever says that something was done must have done it: each turn that says so is backed by a tool call.

    For every turn of the role in which the pattern is found there must be a call of the tool, by the agent, with the
    expected arguments and result, that succeeded, on the right side of the turn. `matches` binds named groups of the
    pattern to fields of that call, compared as text with numbers in one form: "42 dollars" is backed by the amount
    42.0, not by 24. Whether a call came before a turn is told by the order of messages, where the source has them in
    one list, else by their start times on a common clock.

    PASS: every such turn is backed. If nobody says so, PASS with `vacuous: true`, or FAIL with `must_occur`.
    FAIL: a turn is not backed; `unbacked` lists each with what it says of the bound values and what calls there were.
    INCONCLUSIVE: there is no transcript; there is something to back and no trace; or the verdict hangs on a call whose
    arguments or result were not recorded, or of which the source does not say whether it went well (say what success
    looks like with `result`), on times that turns and calls do not have (unless `timing: anywhere`), or on a part of
    the evidence that is missing.
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
        Code.ERRORS_NOT_RECORDED,
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

    def tools(self) -> Iterable[str]:
        """The one tool."""
        return (self.tool,)

    def compile(self, resolver: Resolver) -> Check:
        """The check, for the pattern, the expected values and the bindings."""
        pattern = resolver.pattern(self.says, ignore_case=True)
        role = resolver.role(self.role)
        bindings = {} if self.matches is UNSET else {n: _binding(b) for n, b in self.matches.items()}
        wanted = Wanted(
            self.tool,
            None if self.args is UNSET else values.matcher(self.args),
            None if self.result is UNSET else values.matcher(self.result, keyed=True),
            self.succeeded != "any",
            self.timing,
            self.within,
            bindings,
        )

        def check(view: View, _: Earlier) -> Finding:
            turns = view.hits(pattern, role)
            if not turns:
                return self._unsaid()
            if view.is_missing("executions"):
                return absent_finding(view, "executions")
            return self._judge(view, turns, Backing(view, wanted), pattern, bindings)

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
        calls: Backing,
        pattern: Pattern,
        bindings: Mapping[str, Binding],
    ) -> Finding:
        backing: list[model.ToolCall] = []
        unbacked: list[dict[str, Any]] = []
        unknown: list[Finding] = []
        for turn in turns:
            said_here = what_is_said(view.turns[turn].text, pattern, bindings)
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
                calls=calls.calls[:20],
                details={"unbacked": unbacked},
                absence_of="executions",
            )
        if unknown:
            return msgspec.structs.replace(unknown[0], turns=turns)
        return passed(turns=turns, calls=backing, absence_of="transcript")


def _too_long(turn: int) -> Finding:
    how = "Record shorter turns, or make the pattern simpler."
    return inconclusive(
        Code.TURN_TOO_LONG,
        lambda: f"turn {turn} is too long for the groups of this pattern to be told in bounded time. {how}",
        "a turn was too long to be read in bounded time",
        gap=Gap("transcript", "partial", how),
    )


def _binding(binding: str | Binding) -> Binding:
    return Binding(binding) if isinstance(binding, str) else binding
