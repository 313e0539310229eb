"""The kind `tool_call`: a tool was called, or was not: with these arguments, this often, in this order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, ClassVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from averment.assertions import values
from averment.assertions.base import (
    Channel,
    Check,
    Expected,
    ExpectedFields,
    Finding,
    Resolver,
    Status,
    failed,
    inconclusive,
    passed,
    safe,
)
from averment.assertions.bounds import MANY, Bounds, bounds_mistakes, bounds_text, limits, times
from averment.assertions.calls import (
    CallAssertion,
    expected_mistakes,
    match_arguments,
    miss_text,
    nearest_miss,
)
from averment.assertions.codes import Code
from averment.evidence import model
from averment.evidence.view import View
from averment.policies import PolicyShelf
from averment.text.structs import Mistake

__all__ = ["NeverBefore", "ToolCall"]


class NeverBefore(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`tool` must not be called before the first call of `until`; without a call of `until`, never."""

    tool: str
    until: str


class ToolCall(CallAssertion, frozen=True, kw_only=True, tag="tool_call"):
    """A tool was called, or was not: with these arguments, this often, in this order.

    At least one of `name`, `require_order` and `never_before`; all that are given must hold. Only the trace answers:
    nothing that was said in the transcript counts. Order is the order of the trace.

    PASS: `name` is called (with `count`: that often; with `absent`: never) with matching arguments; the tools of
    `require_order` are called in that order, others in between allowed; no call of `never_before.tool` precedes the
    first call of `never_before.until`.
    FAIL: one of them does not hold. `nearest_miss` names the call that comes nearest and where it differs.
    INCONCLUSIVE: there is no trace; or the verdict hangs on a call whose arguments were not recorded, or on a part of
    the trace that is missing.
    """

    needs: ClassVar[tuple[Channel, ...]] = ("executions",)
    codes: ClassVar[tuple[Code, ...]] = (
        Code.NOT_FOUND,
        Code.FOUND_BUT_FORBIDDEN,
        Code.VALUE_MISMATCH,
        Code.COUNT_OUT_OF_BOUNDS,
        Code.WRONG_ORDER,
        Code.TOO_EARLY,
        Code.ARGUMENTS_NOT_RECORDED,
        Code.ARGUMENTS_UNREADABLE,
    )
    example: ClassVar[str] = """\
version: 1
assertions:
  - id: refund-after-verification
    kind: tool_call
    name: issue_refund
    args_subset: {amount: {$lte: 100}}
    count: 1
    never_before: {tool: issue_refund, until: verify_identity}
    examples:
      pass:
        - spans:
            - {type: tool_call, name: verify_identity}
            - {type: tool_call, name: issue_refund, arguments: {amount: 42, currency: EUR}}
      fail:
        - spans: [{type: tool_call, name: issue_refund, arguments: {amount: 42}}]
        - spans:
            - {type: tool_call, name: verify_identity}
            - {type: tool_call, name: issue_refund, arguments: {amount: 420}}
"""

    name: Annotated[str | UnsetType, Meta(description="The tool's name, exactly.")] = UNSET
    args_subset: Annotated[
        ExpectedFields | UnsetType,
        Meta(description="Arguments that must be there and match; others may be there too."),
    ] = UNSET
    args: Annotated[Expected, Meta(description="The expected arguments, as any expected value.")] = UNSET
    args_exact: Annotated[
        Expected, Meta(description="The expected arguments, with no other keys allowed.")
    ] = UNSET
    count: Annotated[
        int | Bounds | UnsetType, Meta(description="How many matching calls: a number, or `min`/`max`.")
    ] = UNSET
    absent: Annotated[bool, Meta(description="No such call, with these arguments, may occur.")] = False
    require_order: Annotated[
        Annotated[list[str], Meta(min_length=1)] | UnsetType,
        Meta(description="Tools that must be called in this order; other calls in between are fine."),
    ] = UNSET
    never_before: Annotated[
        NeverBefore | UnsetType, Meta(description="A tool that must not be called before another.")
    ] = UNSET

    def mistakes(self, shelf: PolicyShelf) -> Iterable[Mistake]:  # noqa: ARG002
        """Fields that need or exclude one another, faulty expected values, impossible bounds."""
        if self.name is UNSET and self.require_order is UNSET and self.never_before is UNSET:
            expected = "at least one of `name`, `require_order`, `never_before`"
            yield Mistake("missing_field", "a tool_call must say what is to hold", expected=expected)
        given = {"args_subset": self.args_subset, "args": self.args, "args_exact": self.args_exact}
        set_fields = [name for name, value in given.items() if value is not UNSET]
        if len(set_fields) > 1:
            yield _excludes(set_fields[1], set_fields[0])
        if self.count is not UNSET and self.absent:
            yield _excludes("absent", "count")
        if self.name is UNSET:
            for field in (
                *set_fields,
                *(["count"] if self.count is not UNSET else []),
                *(["absent"] if self.absent else []),
            ):
                mend = "Add `name: TOOL`, or remove the field."
                yield Mistake(
                    "field_needs", f"`{field}` says nothing without `name`", (field,), key=True, mend=mend
                )
        yield from bounds_mistakes(self.count)
        yield from expected_mistakes(given)

    def tools(self) -> Iterable[str]:
        """Every tool that is named."""
        if self.reading != "executed":
            return
        if self.name is not UNSET:
            yield self.name
        if self.require_order is not UNSET:
            yield from self.require_order
        if self.never_before is not UNSET:
            yield from (self.never_before.tool, self.never_before.until)

    def compile(self, resolver: Resolver) -> Check:  # noqa: ARG002 - tool calls resolve nothing
        """The check: one part for each of the three things that can be asked, all of which must hold."""
        parts: list[Callable[[View], Finding]] = []
        if self.name is not UNSET:
            parts.append(self._compile_name(self.name))
        if self.require_order is not UNSET:
            parts.append(self._compile_order(self.require_order))
        if self.never_before is not UNSET:
            parts.append(self._compile_never_before(self.never_before))
        return lambda view, _: _all_hold([part(view) for part in parts])

    def _compile_name(self, name: str) -> Callable[[View], Finding]:
        matcher = None
        if self.args_exact is not UNSET:
            matcher = values.matcher(self.args_exact, exact=True)
        elif self.args is not UNSET:
            matcher = values.matcher(self.args)
        elif self.args_subset:  # an empty one asks for nothing, as in the reference
            matcher = values.matcher(self.args_subset)
        low, high = (0, 0) if self.absent else (1, MANY) if self.count is UNSET else limits(self.count)

        def check(view: View) -> Finding:
            calls = self.counted(view, name)
            matched = match_arguments(matcher, calls)
            found = matched.matching
            least, most = len(found), len(found) + len(matched.unknown)
            if low <= least and most <= high:
                return passed(
                    calls=found, absence_of=None if high == MANY else "executions", absent_tools=(name,)
                )
            if matched.code is not None and least <= high and most >= low:
                return inconclusive(
                    matched.code,
                    lambda: (
                        f"whether `{name}` was called as expected hangs on the arguments of "
                        f"{', '.join(call.id for call in matched.unknown[:5])}"
                    ),
                    "required argument evidence was missing",
                    calls=matched.unknown,
                    gap=matched.gap,
                )
            public = (
                f"calls of {safe(name)} are not as required"
                if safe(name)
                else "tool calls are not as required"
            )
            if matcher is None or found or not matched.mismatching:
                code = (
                    Code.FOUND_BUT_FORBIDDEN
                    if high == 0
                    else Code.NOT_FOUND
                    if not calls and self.count is UNSET
                    else Code.COUNT_OUT_OF_BOUNDS
                )
                return failed(
                    code,
                    lambda: self._count_reason(view, name, most if most < low else least),
                    public,
                    calls=found,
                    absence_of=None if least > high else "executions",
                    absent_tools=(name,),
                )
            miss = nearest_miss(matcher, matched.mismatching)
            return failed(
                Code.VALUE_MISMATCH,
                lambda: (
                    f"`{name}` was called {times(len(calls))}, never with the expected arguments"
                    + (f"; {miss_text(miss)}" if miss else "")
                ),
                public,
                details={"nearest_miss": miss} if miss else {},
                absence_of="executions",
                absent_tools=(name,),
            )

        return check

    def _count_reason(self, view: View, name: str, found: int) -> str:
        called = f"`{name}` was {'called ' + times(found) if found else 'not called'}"
        with_args = " with these arguments" if found and self._has_args() else ""
        wanted = "" if self.count is UNSET else f", and must be {bounds_text(self.count)}"
        forbidden = ", and must not be" if self.absent else ""
        others = view.tool_names
        seen = (
            "" if found else f"; tools called: {', '.join(f'`{other}`' for other in others[:10]) or 'none'}"
        )
        return f"{called}{with_args}{wanted}{forbidden}{seen}"

    def _has_args(self) -> bool:
        return any(value is not UNSET for value in (self.args, self.args_subset, self.args_exact))

    def _compile_order(self, order: Sequence[str]) -> Callable[[View], Finding]:
        def check(view: View) -> Finding:
            found: list[model.ToolCall] = []
            for call in self.counted(view):
                if len(found) < len(order) and call.name == order[len(found)]:
                    found.append(call)
            if len(found) == len(order):
                return passed(calls=found)
            missing, after = order[len(found)], order[len(found) - 1] if found else None
            occurs = bool(self.counted(view, missing))
            return failed(
                Code.WRONG_ORDER if occurs else Code.NOT_FOUND,
                lambda: f"`{missing}` was not called" + (f" after `{after}`" if after else ""),
                "tools are not called in the required order",
                calls=found,
                absence_of="executions",
                absent_tools=(missing,),
            )

        return check

    def _compile_never_before(self, rule: NeverBefore) -> Callable[[View], Finding]:
        def check(view: View) -> Finding:
            offenders: list[model.ToolCall] = []
            calls = self.counted(view)
            for call in calls:
                if call.name == rule.until:
                    break
                if call.name == rule.tool:
                    offenders.append(call)
            until = any(call.name == rule.until for call in calls)
            if not offenders:
                return passed(absence_of="executions", absent_tools=(rule.tool,))
            return failed(
                Code.TOO_EARLY,
                lambda: (
                    f"`{rule.tool}` was called before `{rule.until}`"
                    + ("" if until else ", which was never called")
                ),
                "a tool is called before the call that must precede it",
                calls=offenders,
                absence_of="executions",
                absent_tools=(rule.until,),
            )

        return check


def _excludes(field: str, other: str) -> Mistake:
    return Mistake(
        "fields_exclude", f"`{field}` and `{other}` exclude each other", (field,), key=True, mend="Keep one."
    )


def _all_hold(findings: Sequence[Finding]) -> Finding:
    """The conjunction: FAIL if any part fails, else INCONCLUSIVE if any is, else PASS; grounds are joined."""
    calls = [call for finding in findings for call in finding.calls]
    for status in (Status.FAIL, Status.INCONCLUSIVE):
        deciding = [finding for finding in findings if finding.status is status]
        if deciding:
            return _joined(deciding, calls)
    resting = [finding for finding in findings if finding.absence_of]
    channel = resting[0].absence_of if resting else None
    return passed(calls=calls, absence_of=channel, absent_tools=_absent_tools(resting))


def _absent_tools(findings: Sequence[Finding]) -> tuple[str, ...] | None:
    if any(finding.absent_tools is None for finding in findings):
        return None
    return tuple(name for finding in findings for name in finding.absent_tools or ())


def _joined(deciding: Sequence[Finding], calls: Sequence[model.ToolCall]) -> Finding:
    """Several parts of one verdict as one finding; the first gives the code."""
    first = deciding[0]
    return Finding(
        first.status,
        first.code,
        lambda: "; ".join(finding.reason() for finding in deciding if finding.reason),
        first.public,
        calls=calls,
        details={key: value for finding in deciding for key, value in finding.details.items()},
        # A part that fails by what is there decides, whatever else may be missing.
        absence_of=None if any(finding.absence_of is None for finding in deciding) else first.absence_of,
        absent_tools=_absent_tools(deciding),
        gap=first.gap,
    )
