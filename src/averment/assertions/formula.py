"""The kind `formula`: other assertions combined, by logic or by exact weights."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, ClassVar

from msgspec import Meta

from averment.assertions.base import (
    Assertion,
    Check,
    Earlier,
    Finding,
    NonEmpty,
    Reference,
    Resolver,
    Status,
    failed,
    inconclusive,
    passed,
)
from averment.assertions.codes import Code
from averment.assertions.formula_expr import FormulaError, parse
from averment.evidence.view import View
from averment.policies import PolicyShelf
from averment.text.pii import Clean
from averment.text.structs import Mistake

__all__ = ["Formula"]


class Formula(Assertion, frozen=True, kw_only=True, tag="formula"):
    """A combination of other assertions of the same document: `a and (b or not c)`, `0.6*a + 0.4*b >= 0.6`.

    PASS counts as true and FAIL as false; weights are exact decimals. `refs` lists the assertions mentioned, `met` of
    `of` how many of them passed.

    PASS: the formula is true.
    FAIL: it is false.
    INCONCLUSIVE: an assertion that it mentions is INCONCLUSIVE, even where the others would decide.
    """

    codes: ClassVar[tuple[Code, ...]] = (Code.FORMULA_FALSE, Code.REFERENCE_INCONCLUSIVE)
    example: ClassVar[str] = """\
version: 1
assertions:
  - {id: greeted, kind: phrase, regex: '\\bhello\\b'}
  - {id: thanked, kind: phrase, regex: '\\bthank'}
  - {id: helped, kind: phrase, regex: '\\bsolved\\b'}
  - id: good-enough
    kind: formula
    expr: helped and 0.5*greeted + 0.5*thanked >= 0.5
    examples:
      pass:
        - Hello, it is solved.
      fail:
        - Hello, and thank you.
"""

    expr: Annotated[
        NonEmpty,
        Meta(description="The formula, on one line; ids with odd characters stand in single quotes."),
    ]

    def mistakes(self, shelf: PolicyShelf) -> Iterable[Mistake]:  # noqa: ARG002
        """What the parser refuses."""
        try:
            parse(self.expr)
        except FormulaError as error:
            yield Mistake("bad_formula", error.message, ("expr",), offset=error.position, mend=error.mend)

    def references(self) -> Iterable[Reference]:
        """Every assertion mentioned, with the place of its first mention."""
        formula = parse(self.expr)
        for name, offset in formula.positions().items():
            yield Reference(("expr",), name, offset)

    def compile(self, resolver: Resolver) -> Check:  # noqa: ARG002 - references are resolved by id at the check
        """The check, for the parsed formula."""
        formula = parse(self.expr)
        refs = list(formula.references)

        def check(view: View, earlier: Earlier) -> Finding:  # noqa: ARG001 - a formula reads results, not evidence
            unknown = [name for name in refs if earlier[name].status is Status.INCONCLUSIVE]
            if unknown:
                return inconclusive(
                    Code.REFERENCE_INCONCLUSIVE,
                    lambda: f"INCONCLUSIVE itself: {', '.join(unknown)}",
                    "required referenced-result evidence was missing",
                    details=Clean(refs=refs),
                )
            truth = {name: earlier[name].status is Status.PASS for name in refs}
            details = Clean(refs=refs, met=sum(truth.values()), of=len(refs))
            if formula.evaluate(truth):
                return passed(details=details)
            return failed(
                Code.FORMULA_FALSE,
                lambda: f"passed: {_names(truth, passed=True)}; not passed: {_names(truth, passed=False)}",
                f"{details['met']} of {details['of']} referenced assertions passed",
                details=details,
            )

        return check


def _names(truth: dict[str, bool], *, passed: bool) -> str:
    return ", ".join(name for name, holds in truth.items() if holds is passed) or "none"
