"""The kind `state_change`: a field of a record changed, or did not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from averment.assertions import values
from averment.assertions.base import (
    Assertion,
    Channel,
    Check,
    Earlier,
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
from averment.text.structs import Mistake

__all__ = ["StateChange"]

_Side = Literal["before", "after"]
_SIDES: tuple[_Side, _Side] = ("before", "after")


class StateChange(Assertion, frozen=True, kw_only=True, tag="state_change"):
    """A field of a record has the expected values before and after, and changed or did not.

    It needs a resource that was recorded twice, `{before: rows, after: rows}`, and looks at the first record on either
    side that the filters select; so filter by what does not change. The field is a dotted path into the record; a
    field that the record has exactly so comes first. At least one of `from`, `to` and `changed`; all that are given
    must hold.

    PASS: the values match, and differ with `changed: true`, are equal with `changed: false`; `delta` has both.
    FAIL: one of them does not hold; or the field is missing on a side, unless that side expects `$exists: false`.
    INCONCLUSIVE: no system of record was supplied, it can't be read, the resource was not recorded both before and
    after, or the filters select no record on a side.
    """

    needs: ClassVar[tuple[Channel, ...]] = ("state",)
    codes: ClassVar[tuple[Code, ...]] = (
        Code.SNAPSHOTS_ABSENT,
        Code.NOTHING_TO_COMPARE,
        Code.STATE_UNREADABLE,
        Code.FIELD_MISSING,
        Code.VALUE_MISMATCH,
        Code.NOT_FOUND,
        Code.FOUND_BUT_FORBIDDEN,
    )
    example: ClassVar[str] = """\
version: 1
assertions:
  - id: order-refunded
    kind: state_change
    resource: orders
    filters: {order_id: A-17}
    field: status
    from: {$in: [paid, shipped]}
    to: refunded
    examples:
      pass:
        - state:
            orders:
              before: [{order_id: A-17, status: paid}]
              after: [{order_id: A-17, status: refunded}]
      fail:
        - state:
            orders:
              before: [{order_id: A-17, status: paid}]
              after: [{order_id: A-17, status: paid}]
"""

    resource: Annotated[NonEmpty, Meta(description="The table or collection to look in.")]
    field: Annotated[NonEmpty, Meta(description="The field, as a dotted path into the record.")]
    from_: Annotated[Any, Meta(description="The value before, as any expected value.")] = msgspec.field(
        default=UNSET, name="from"
    )
    to: Annotated[Any, Meta(description="The value after, as any expected value.")] = UNSET
    changed: Annotated[
        bool | UnsetType, Meta(description="true: the values must differ; false: they must be equal.")
    ] = UNSET
    filters: Annotated[
        dict[str, Any] | UnsetType,
        Meta(description="Columns and the values that select the record on both sides, by equality."),
    ] = UNSET

    def mistakes(self, shelf: PolicyShelf) -> Iterable[Mistake]:  # noqa: ARG002
        """A change of which nothing is asked, and faults of the expected values."""
        yield from filter_mistakes(self.filters)
        if self.from_ is UNSET and self.to is UNSET and self.changed is UNSET:
            expected = "at least one of `from`, `to`, `changed`"
            yield Mistake("missing_field", "a state_change must say what is to hold", expected=expected)
        yield from expected_mistakes({"from": self.from_, "to": self.to}, keyed=("from", "to"))

    def compile(self, resolver: Resolver) -> Check:  # noqa: ARG002 - state resolves nothing
        """The check, for the expected values."""
        present = values.matcher({"$exists": True})
        matchers = {
            side: present if expected is UNSET else values.matcher(expected, keyed=True)
            for side, expected in zip(_SIDES, (self.from_, self.to), strict=True)
        }
        filters = {} if self.filters is UNSET else self.filters
        named = safe(f"{self.resource}.{self.field}")
        public = f"the change of {named} is not as required" if named else "a change is not as required"
        what = f"`{self.field}` of `{self.resource}`"

        def check(view: View, _: Earlier) -> Finding:
            if not view.store.has_snapshots(self.resource):
                return self._no_snapshots()
            found = {side: view.store.find(self.resource, filters, side) for side in _SIDES}
            records = {side: record for side, record in found.items() if record is not None}
            if len(records) < len(found):
                return self._no_record(view, [side for side in _SIDES if side not in records])
            rows = {side: record.row for side, record in records.items()}
            actual = {side: values.resolve(record.fields, self.field) for side, record in records.items()}
            wrong = [side for side in _SIDES if not matchers[side].matches(actual[side])]
            if wrong:
                mismatches = mismatch_list(
                    msgspec.structs.replace(mismatch, path=(side, self.field, *mismatch.path))
                    for side in wrong
                    for mismatch in matchers[side].mismatches(actual[side])
                )
                is_missing = any(actual[side] is values.ABSENT for side in wrong)
                return failed(
                    Code.FIELD_MISSING if is_missing else Code.VALUE_MISMATCH,
                    lambda: f"{what} is not as expected: {mismatch_text(mismatches)}",
                    public,
                    details={"rows": rows, "mismatches": mismatches},
                )
            is_same = values.json_equal(actual["before"], actual["after"])
            if self.changed is is_same:
                shown = {side: values.show(value) for side, value in actual.items()}
                return failed(
                    Code.NOT_FOUND if self.changed else Code.FOUND_BUT_FORBIDDEN,
                    lambda: (
                        f"{what} must change, and is {shown['after']} before and after"
                        if self.changed
                        else f"{what} must not change, and went from {shown['before']} to {shown['after']}"
                    ),
                    public,
                    details={"rows": rows},
                )
            told = {side: value for side, value in actual.items() if value is not values.ABSENT}
            return passed(details={"rows": rows, "delta": {"field": self.field, **told}})

        return check

    def _no_snapshots(self) -> Finding:
        how = "Record the resource twice: `{before: rows, after: rows}`."
        return inconclusive(
            Code.SNAPSHOTS_ABSENT,
            lambda: f"`{self.resource}` was not recorded both before and after. {how}",
            "required state-adapter evidence was missing",
            gap=Gap("state", "partial", how),
        )

    def _no_record(self, view: View, sides: Sequence[_Side]) -> Finding:
        where = " and ".join(sides)
        unreadable = next(
            (why for side in sides if (why := view.store.unreadable(self.resource, side))), None
        )
        if unreadable is not None:
            how = "Mend the rows of this resource, or supply them from another source."
            return inconclusive(
                Code.STATE_UNREADABLE,
                lambda: f"`{self.resource}` has no such record {where} that can be read: {unreadable}. {how}",
                "required state-adapter evidence was unreadable",
                gap=Gap("state", "unreadable", how),
            )
        return inconclusive(
            Code.NOTHING_TO_COMPARE,
            lambda: (
                f"the filters select no record of `{self.resource}` {where}; filter by what does not change"
            ),
            "there was no record to compare before and after",
        )
