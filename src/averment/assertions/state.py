"""The kind `state`: a system of record holds what it should."""

from __future__ import annotations

from collections.abc import Iterable
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
    safe,
)
from averment.assertions.calls import expected_mistakes, filter_mistakes, mismatch_list, mismatch_text
from averment.assertions.codes import Code
from averment.evidence.view import View
from averment.policies import PolicyShelf
from averment.text.pii import Clean
from averment.text.structs import Mistake

__all__ = ["State"]


class State(Assertion, frozen=True, kw_only=True, tag="state"):
    """The first record of a resource that the filters select has the expected values.

    The keys of `expect` are dotted paths into the record; a key that the record has exactly so comes first. Of a
    resource with snapshots the later one is read.

    PASS: there is such a record, and every expected value matches; `row` is its number in the resource, from 0.
    FAIL: there is no such record, the record lacks a field, or a value differs.
    INCONCLUSIVE: no system of record was supplied, or it, or the part of it in question, could not be read.
    """

    needs: ClassVar[tuple[Channel, ...]] = ("state",)
    codes: ClassVar[tuple[Code, ...]] = (
        Code.RECORD_NOT_FOUND,
        Code.FIELD_MISSING,
        Code.VALUE_MISMATCH,
        Code.STATE_UNREADABLE,
    )
    example: ClassVar[str] = """\
version: 1
assertions:
  - id: order-is-refunded
    kind: state
    resource: orders
    filters: {order_id: A-17}
    expect: {refund.status: done, refund.amount: {$gt: 0}}
    examples:
      pass:
        - state: {orders: [{order_id: A-17, refund: {status: done, amount: 42}}]}
      fail:
        - state: {orders: [{order_id: A-17, refund: {status: none, amount: 0}}]}
        - state: {orders: []}
"""

    resource: Annotated[NonEmpty, Meta(description="The table or collection to look in.")]
    expect: Annotated[
        ExpectedFields, Meta(min_length=1, description="Expected values by dotted path into the record.")
    ]
    filters: Annotated[
        dict[str, Any] | UnsetType,
        Meta(description="Columns and the values that select the record, by equality."),
    ] = UNSET

    def mistakes(self, shelf: PolicyShelf) -> Iterable[Mistake]:  # noqa: ARG002
        """Faults of the expected values."""
        yield from filter_mistakes(self.filters)
        for key, expected in self.expect.items():
            for mistake in expected_mistakes({key: expected}, keyed=(key,)):
                yield mistake.under("expect")

    def compile(self, resolver: Resolver) -> Check:  # noqa: ARG002 - state resolves nothing
        """The check, for the expected values."""
        matchers = {key: values.matcher(expected, keyed=True) for key, expected in self.expect.items()}
        filters = {} if self.filters is UNSET else self.filters
        where = (
            f" where {', '.join(f'{name} = {values.show(value)}' for name, value in filters.items())}"
            if filters
            else ""
        )
        named = safe(self.resource)
        public = f"the record of {named} is not as required" if named else "a record is not as required"

        def check(view: View, _: Earlier) -> Finding:
            record = view.store.find(self.resource, filters)
            unreadable = view.store.unreadable(self.resource)
            if record is None and unreadable is not None:
                how = "Mend the rows of this resource, or supply them from another source."
                return inconclusive(
                    Code.STATE_UNREADABLE,
                    lambda: f"`{self.resource}` has no record{where} that can be read: {unreadable}. {how}",
                    "required state-adapter evidence was unreadable",
                    gap=Gap("state", "unreadable", how),
                )
            if record is None:
                return failed(
                    Code.RECORD_NOT_FOUND,
                    lambda: f"`{self.resource}` has no record{where}",
                    public,
                    absence_of="state",
                )
            actual = {key: values.resolve(record.fields, key) for key in matchers}
            wrong = sorted(key for key, matcher in matchers.items() if not matcher.matches(actual[key]))
            if not wrong:
                return passed(details=Clean(row=record.row))
            mismatches = mismatch_list(
                msgspec.structs.replace(mismatch, path=(key, *mismatch.path))
                for key in wrong
                for mismatch in matchers[key].mismatches(actual[key])
            )
            missing = all(actual[key] is values.ABSENT for key in wrong)
            return failed(
                Code.FIELD_MISSING if missing else Code.VALUE_MISMATCH,
                lambda: f"`{self.resource}`{where}: {mismatch_text(mismatches)}",
                public,
                details={"row": record.row, "mismatches": mismatches},
            )

        return check
