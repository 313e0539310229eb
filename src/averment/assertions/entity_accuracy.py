"""The kind `entity_accuracy`: tools were called with the right values, whatever was heard and said."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from averment.assertions import values
from averment.assertions.base import (
    CaseSensitive,
    Channel,
    Check,
    Earlier,
    ExpectedFields,
    Finding,
    NonEmpty,
    Resolver,
    failed,
    inconclusive,
    passed,
)
from averment.assertions.calls import CallAssertion, args_state, arguments_gap, expected_mistakes
from averment.assertions.codes import Code
from averment.errors import nearest
from averment.evidence.model import ToolCall
from averment.evidence.view import View
from averment.policies import PolicyShelf
from averment.text.normalize import Normalizer, normalized
from averment.text.structs import Mistake

__all__ = ["EntityAccuracy"]


_SHOWN = 5
"""Wrong values in a reason."""


class _Key(msgspec.Struct, frozen=True):
    """One key of the reference: the calls that carry its value, those that carry another, and whether it is right.

    That is None when arguments that are not shown could turn it.
    """

    right: list[ToolCall]
    wrong: list[ToolCall]
    holds: bool | None


class EntityAccuracy(CallAssertion, frozen=True, kw_only=True, tag="entity_accuracy"):
    """Tools were called with the right values: names, numbers, dates, as the reference has them.

    Every call that carries a key of the reference among its arguments must carry the right value, so no later call
    hides a wrong one; null carries nothing. With `tool` only its calls are looked at, and `call` picks one of them:
    the `first`, the `last`, or `any` one, which is then the one with the most right values.

    Values are compared as text, numbers in one form: `50`, `50.0` and "50" are the same, and so are `true` and "true".
    Letters match in any case unless `case_sensitive`; `normalize` says, by key, what else does not count. A reference
    value with operators is an expected value as anywhere else. The result carries `met`, the number of right keys, `of`
    how many there are.

    PASS: every key of the reference is carried with the right value; with `require: any`, at least one is.
    FAIL: otherwise; a key that no call carries is wrong.
    INCONCLUSIVE: there is no trace; or the verdict hangs on a call whose arguments were not recorded, or on a part of the
    trace that is missing.
    """

    needs: ClassVar[tuple[Channel, ...]] = ("executions",)
    codes: ClassVar[tuple[Code, ...]] = (
        Code.VALUE_MISMATCH,
        Code.NOT_FOUND,
        Code.ARGUMENTS_NOT_RECORDED,
        Code.ARGUMENTS_UNREADABLE,
    )
    example: ClassVar[str] = """\
version: 1
assertions:
  - id: heard-right
    kind: entity_accuracy
    reference: {order: A-77, phone: 415 555 0199}
    normalize: {phone: digits}
    examples:
      pass:
        - spans:
            - {type: tool_call, name: find_order, arguments: {order: a-77}}
            - {type: tool_call, name: call_back, arguments: {phone: (415) 555-0199}}
      fail:
        - spans:
            - {type: tool_call, name: find_order, arguments: {order: A-71}}
            - {type: tool_call, name: find_order, arguments: {order: A-77, phone: 4155550199}}
"""

    reference: Annotated[
        ExpectedFields, Meta(min_length=1, description="The right values, by the name of the argument.")
    ]
    require: Annotated[
        Literal["all", "any"], Meta(description="How many keys must be right: all of them, or any.")
    ] = "all"
    case_sensitive: CaseSensitive = False
    tool: Annotated[NonEmpty | UnsetType, Meta(description="Only calls of this tool.")] = UNSET
    call: Annotated[
        Literal["first", "last", "any"] | UnsetType,
        Meta(description="Which call of `tool` must have the values; without it, each that carries a key."),
    ] = UNSET
    normalize: Annotated[
        dict[str, Normalizer | list[Normalizer]] | UnsetType,
        Meta(description="By key, what does not count in comparing its values."),
    ] = UNSET

    def mistakes(self, shelf: PolicyShelf) -> Iterable[Mistake]:  # noqa: ARG002 - no policies here
        """Fields that need another, faulty expected values, and normalizers that leave nothing to compare."""
        if self.call is not UNSET and self.tool is UNSET:
            message, mend = "`call` says nothing without `tool`", "Add `tool: NAME`, or remove it."
            yield Mistake("field_needs", message, ("call",), key=True, mend=mend)
        yield from expected_mistakes({"reference": self.reference})
        for key in {} if self.normalize is UNSET else self.normalize:
            if key not in self.reference:
                yield Mistake(
                    "unknown_field",
                    f"`reference` has no key `{key}`",
                    ("normalize", key),
                    key=True,
                    expected="a key of `reference`",
                    nearest=nearest(key, self.reference),
                )
            elif _has_operators(self.reference[key]):
                message = f"the value of `{key}` has operators, which compare without normalizers"
                yield Mistake("fields_exclude", message, ("normalize", key), key=True, mend="Remove it.")
            elif not normalized(self.reference[key], self._normalizers(key)):
                message = f"the normalizers leave nothing of the value of `{key}`"
                yield Mistake(
                    "bad_expected_value", message, ("reference", key), expected="something to compare"
                )

    def compile(self, resolver: Resolver) -> Check:  # noqa: ARG002 - tool calls resolve nothing
        """The check, for the tests of each key's value."""
        tests = {key: self._test(key) for key in self.reference}

        def check(view: View, _: Earlier) -> Finding:
            calls = self._looked_at(view)
            keys = self._keys(calls, tests)
            unknown = _unknown(calls)
            if self.call == "any":
                open_ = bool(unknown)  # it could be the one
            elif self.require == "any":
                open_ = any(key.holds is None for key in keys.values())
            else:
                open_ = all(key.holds is not False for key in keys.values())
            details = {"met": _met(keys), "of": len(keys)}
            if (any if self.require == "any" else all)(key.holds for key in keys.values()):
                return passed(
                    calls=_of(calls, [key.right for key in keys.values()]),
                    details=details,
                    absence_of=None if self.call == "any" else "executions",
                )
            if open_:
                return _hangs_on(unknown, details)
            return self._failed(calls, keys, details)

        return check

    def _failed(
        self, calls: Sequence[ToolCall], keys: Mapping[str, _Key], details: Mapping[str, Any]
    ) -> Finding:
        wrong = {name: key for name, key in sorted(keys.items()) if not key.holds}
        # A wrong value stays wrong whatever is missing, unless another call could be the one that is looked at.
        decided = [bool(key.wrong) and self.call is UNSET for key in wrong.values()]
        return failed(
            Code.VALUE_MISMATCH if any(key.wrong for key in wrong.values()) else Code.NOT_FOUND,
            lambda: "; ".join(self._said(name, key) for name, key in list(wrong.items())[:_SHOWN]),
            f"{details['met']} of {details['of']} values are right",
            calls=_of(calls, [key.wrong for key in wrong.values()]),
            details=details,
            absence_of=None if (all if self.require == "any" else any)(decided) else "executions",
        )

    def _said(self, name: str, key: _Key) -> str:
        """What is wrong with one key, in words."""
        must = f"`{name}` must be {values.show(self.reference[name])}"
        if not key.wrong:
            return f"{must}, and no call carries it"
        return f"{must}, and is {values.show(_carried(key.wrong[0], name))} in {key.wrong[0].id}"

    def _looked_at(self, view: View) -> Sequence[ToolCall]:
        calls = self.counted(view, None if self.tool is UNSET else self.tool)
        if self.call == "first":
            return calls[:1]
        return calls[-1:] if self.call == "last" else calls

    def _keys(
        self, calls: Sequence[ToolCall], tests: Mapping[str, Callable[[object], bool]]
    ) -> dict[str, _Key]:
        """Each key of the reference, as the calls carry it; with `call: any`, as the best of them does."""
        if self.call != "any":
            return _read(calls, tests)
        of_each = [_read([call], tests) for call in calls]
        return max(of_each, key=_met, default=None) or _read([], tests)

    def _test(self, key: str) -> Callable[[object], bool]:
        expected = self.reference[key]
        if _has_operators(expected):
            return values.matcher(expected, keyed=True).matches
        names = self._normalizers(key)

        def text(value: object) -> str:
            found = normalized(value, names)
            return found if self.case_sensitive else found.lower()

        wanted = text(expected)
        return lambda actual: actual is not values.ABSENT and text(actual) == wanted

    def _normalizers(self, key: str) -> Sequence[str]:
        given = {} if self.normalize is UNSET else self.normalize
        names = given.get(key, [])
        return [names] if isinstance(names, str) else names


def _read(calls: Sequence[ToolCall], tests: Mapping[str, Callable[[object], bool]]) -> dict[str, _Key]:
    """Each key, as these calls carry it."""
    unknown = _unknown(calls)
    known = [call for call in calls if args_state(call) == "recorded"]
    keys = {}
    for name, test in tests.items():
        right: list[ToolCall] = []
        wrong: list[ToolCall] = []
        for call in known:
            value = _carried(call, name)
            if value is not values.ABSENT:
                (right if test(value) else wrong).append(call)
        holds = False if wrong else None if unknown else bool(right) or test(values.ABSENT)
        keys[name] = _Key(right, wrong, holds)
    return keys


def _unknown(calls: Sequence[ToolCall]) -> list[ToolCall]:
    return [call for call in calls if args_state(call) != "recorded"]


def _met(keys: Mapping[str, _Key]) -> int:
    return sum(key.holds is True for key in keys.values())


def _carried(call: ToolCall, name: str) -> object:
    """The argument of that name; null carries nothing, and neither do arguments that are no mapping."""
    value = call.args.get(name) if isinstance(call.args, dict) else None
    return values.ABSENT if value is None else value


def _of(calls: Sequence[ToolCall], groups: Iterable[Sequence[ToolCall]]) -> list[ToolCall]:
    """The calls of all groups, each once, in trace order."""
    ids = {call.id for group in groups for call in group}
    return [call for call in calls if call.id in ids]


def _hangs_on(unknown: Sequence[ToolCall], details: Mapping[str, Any]) -> Finding:
    code, gap = arguments_gap(unknown[0])
    return inconclusive(
        code,
        lambda: (
            f"whether the values are right hangs on the arguments of {', '.join(call.id for call in unknown[:5])}"
        ),
        "required argument evidence was missing",
        calls=unknown,
        details=details,
        gap=gap,
    )


def _has_operators(expected: object) -> bool:
    """Whether an expected value asks for more than to be equal, at any depth."""
    if isinstance(expected, dict):
        return any(key.startswith("$") or _has_operators(value) for key, value in expected.items())
    return isinstance(expected, list) and any(_has_operators(value) for value in expected)
