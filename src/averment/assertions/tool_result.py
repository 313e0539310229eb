"""The kind `tool_result`: a tool answered, and with this."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, ClassVar

from msgspec import UNSET, Meta, UnsetType

from averment.assertions import values
from averment.assertions.base import (
    Channel,
    Check,
    Earlier,
    Expected,
    ExpectedFields,
    Finding,
    NonEmpty,
    Resolver,
    failed,
    inconclusive,
    passed,
    safe,
)
from averment.assertions.calls import CallAssertion, expected_mistakes, match_results, miss_text, nearest_miss
from averment.assertions.codes import Code
from averment.evidence.view import View
from averment.policies import PolicyShelf
from averment.text.structs import Mistake

__all__ = ["ToolResult"]


class ToolResult(CallAssertion, frozen=True, kw_only=True, tag="tool_result"):
    """A call of the tool answered with the expected result; with `absent`, none did.

    Without an expected result any mapping will do. Only the recorded result counts, never what the agent said of it,
    and whether the call ended in an error is for `tool_error` to say.

    PASS: a call's result matches; with `absent`, none does (a tool that was never called has no result).
    FAIL: otherwise. `nearest_miss` names the call whose result comes nearest and where it differs.
    INCONCLUSIVE: there is no trace; or the verdict hangs on a call whose result was not recorded or was removed, or on
    a part of the trace that is missing.
    """

    needs: ClassVar[tuple[Channel, ...]] = ("executions",)
    codes: ClassVar[tuple[Code, ...]] = (
        Code.NOT_FOUND,
        Code.FOUND_BUT_FORBIDDEN,
        Code.VALUE_MISMATCH,
        Code.RESULTS_NOT_RECORDED,
        Code.RESULTS_REDACTED,
    )
    example: ClassVar[str] = """\
version: 1
assertions:
  - id: refund-went-through
    kind: tool_result
    name: issue_refund
    result_subset: {status: {$in: [ok, refunded]}}
    examples:
      pass:
        - spans: [{type: tool_call, name: issue_refund, result: {status: ok, id: r1}}]
      fail:
        - spans: [{type: tool_call, name: issue_refund, result: {status: declined}}]
        - spans: []
"""

    name: Annotated[NonEmpty, Meta(description="The tool's name, exactly.")]
    result_subset: Annotated[
        ExpectedFields | UnsetType,
        Meta(description="Keys that must be there and match; others may be there too."),
    ] = UNSET
    result: Annotated[
        Any, Meta(description="The expected result, as any expected value; scalars and lists too.")
    ] = UNSET
    result_exact: Annotated[
        Expected, Meta(description="The expected result, with no other keys allowed.")
    ] = UNSET
    absent: Annotated[bool, Meta(description="No call may answer so.")] = False

    def mistakes(self, shelf: PolicyShelf) -> Iterable[Mistake]:  # noqa: ARG002
        """Expected results that exclude one another or are faulty."""
        given = {
            "result_subset": self.result_subset,
            "result": self.result,
            "result_exact": self.result_exact,
        }
        set_fields = [name for name, value in given.items() if value is not UNSET]
        if len(set_fields) > 1:
            message = f"`{set_fields[1]}` and `{set_fields[0]}` exclude each other"
            yield Mistake("fields_exclude", message, (set_fields[1],), key=True, mend="Keep one.")
        yield from expected_mistakes(given, keyed=("result",))

    def tools(self) -> Iterable[str]:
        """The one tool."""
        return (self.name,) if self.reading == "executed" else ()

    def compile(self, resolver: Resolver) -> Check:  # noqa: ARG002 - tool calls resolve nothing
        """The check, for the expected result."""
        if self.result_exact is not UNSET:
            matcher = values.matcher(self.result_exact, exact=True)
        elif self.result is not UNSET:
            matcher = values.matcher(self.result, keyed=True)
        else:
            matcher = values.matcher({} if self.result_subset is UNSET else self.result_subset)
        name = self.name
        public = (
            f"results of {safe(name)} are not as required"
            if safe(name)
            else "tool results are not as required"
        )

        def check(view: View, _: Earlier) -> Finding:
            calls = self.counted(view, name)
            matched = match_results(matcher, calls, view.coverage("results")[0])
            if matched.matching:
                if not self.absent:
                    return passed(calls=matched.matching)
                ids = ", ".join(call.id for call in matched.matching[:5])
                return failed(
                    Code.FOUND_BUT_FORBIDDEN,
                    lambda: f"`{name}` must not answer so, and did in {ids}",
                    public,
                    calls=matched.matching,
                )
            if matched.code is not None:
                ids = ", ".join(call.id for call in matched.unknown[:5])
                return inconclusive(
                    matched.code,
                    lambda: f"whether `{name}` answered as expected hangs on the result of {ids}",
                    "required result evidence was missing",
                    calls=matched.unknown,
                    gap=matched.gap,
                )
            if self.absent:
                return passed(absence_of="executions")
            if not calls:
                seen = ", ".join(f"`{other}`" for other in view.tool_names[:10]) or "none"
                return failed(
                    Code.NOT_FOUND,
                    lambda: f"`{name}` was never called, so it has no result; tools called: {seen}",
                    public,
                    absence_of="executions",
                )
            miss = nearest_miss(matcher, matched.mismatching, results=True)
            return failed(
                Code.VALUE_MISMATCH,
                lambda: (
                    f"`{name}` was called, and no result is as expected"
                    + (f"; {miss_text(miss)}" if miss else "")
                ),
                public,
                details={"nearest_miss": miss} if miss else {},
                absence_of="executions",
            )

        return check
