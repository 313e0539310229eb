"""The rules of a mapping at work on one conversation: what they take, and which of their pointers find something."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import UNSET

from averment.evidence.mapping import Condition, Field, Mapping, Rule, Spans, Take
from averment.evidence.mapping import Where as Conditions
from averment.evidence.pointers import ABSENT, Pointer
from averment.text.jsonvalue import json_equal

__all__ = ["AtWork", "Value", "Where"]


class Value:
    """Where one value of the model comes from, and whether it was ever found."""

    __slots__ = ("_const", "_default", "_outer", "_pointers", "_words", "found", "unit")

    def __init__(self, field: Field) -> None:
        take = field if isinstance(field, Take) else Take(pointer=field)
        pointers = [] if take.pointer is UNSET else take.pointer
        pointers = [pointers] if isinstance(pointers, str) else pointers
        self._pointers = [Pointer.of(text) for text in pointers]
        self._outer = None if take.outer is UNSET else Pointer.of(take.outer)
        self._const = take.const
        self._default = ABSENT if take.default is UNSET else take.default
        self._words = None if take.values is UNSET else take.values
        self.unit = take.unit
        self.found = take.const is not UNSET
        """Whether it was there at least once, be it null."""

    @property
    def texts(self) -> list[str]:
        """Its pointers, as the mapping has them."""
        return [each.text for each in self._pointers] + ([self._outer.text] if self._outer else [])

    def steps(self, *, outer: bool) -> Iterable[str | None]:
        """The keys of the item, or of the item around it, in which it looks; None where it takes all of it."""
        pointers = ([self._outer] if self._outer else []) if outer else self._pointers
        return [each.steps[0][0] if each.steps else None for each in pointers]

    def of(self, item: Any, outer: Any) -> Any:
        """The value for an item: ABSENT when there is none, null where nothing better than null is there."""
        if self._const is not UNSET:
            return self._const
        value: Any = ABSENT
        if self._outer is not None:
            value = self._outer.find(outer)
        for pointer in self._pointers:
            found = pointer.find(item)
            value = value if found is ABSENT else found
            if value is not ABSENT and value is not None:
                break
        if value is not ABSENT:
            self.found = True
        if value is ABSENT or value is None:
            return value if self._default is ABSENT else self._default
        if self._words is not None and (word := _word(value)) is not None:
            return self._words.get(word, value)
        return value


def _word(value: Any) -> str | None:
    """A scalar as a key of `values` has it; None for what is none."""
    if type(value) is str:
        return value
    if type(value) is bool:
        return "true" if value else "false"
    return str(value) if type(value) in (int, float) else None


class Where:
    """Conditions on items, and which of their pointers were ever found."""

    def __init__(self, conditions: Conditions) -> None:
        self._tests = [(Pointer.of(text), _test(wanted)) for text, wanted in conditions.items()]
        self._found: set[str] = set()
        self._asked = False

    def holds(self, item: Any) -> bool:
        """Whether all conditions hold for an item."""
        holds = self._asked = True
        for pointer, test in self._tests:
            value = pointer.find(item)
            if value is not ABSENT:
                self._found.add(pointer.text)
            holds = holds and test(value)
        return holds

    def never_found(self) -> list[str]:
        """The pointers that led nowhere in any of the items that there were."""
        if not self._asked:
            return []
        return [pointer.text for pointer, _ in self._tests if pointer.text not in self._found]

    def steps(self) -> Iterable[str]:
        """The keys of the item in which it looks."""
        return [pointer.steps[0][0] for pointer, _ in self._tests if pointer.steps]


def _test(wanted: Any) -> Callable[[Any], bool]:
    if isinstance(wanted, Condition):
        if wanted.exists is not UNSET:
            return lambda value: (value is not ABSENT and value is not None) is wanted.exists
        others = wanted.excluded if isinstance(wanted.excluded, list) else [wanted.excluded]
        return lambda value: not any(json_equal(value, other) for other in others)
    options = wanted if isinstance(wanted, list) else [wanted]
    return lambda value: value is not ABSENT and any(json_equal(value, option) for option in options)


class AtWork:
    """One rule of a mapping, while it takes items of one conversation."""

    __slots__ = ("_values", "each", "has_items", "items", "kind", "label", "lists", "rule", "taken", "where")

    def __init__(self, kind: str, label: str, rule: Rule) -> None:
        self.kind = kind
        self.label = label
        self.rule = rule
        self.items = Pointer.of(rule.items)
        self.each = None if rule.each is UNSET else Pointer.of(rule.each)
        self.where = Where(rule.where)
        self.taken = 0
        """How many items it took."""
        self.has_items = False
        """Whether there was its list of items."""
        self.lists = 0
        """In how many items there was the list that `each` names, or where there were no items, as if in one."""
        self._values = {inside: Value(field) for inside, field in rule.mapped_fields()}

    def value(self, name: str) -> Value | None:
        """Where the value of that name comes from, if the rule maps it."""
        return self._values.get((name,))

    def of(self, name: str, item: Any, outer: Any) -> Any:
        """The value of that name for an item; ABSENT when it isn't mapped or isn't there."""
        value = self._values.get((name,))
        return ABSENT if value is None else value.of(item, outer)

    def fields(self, item: Any, outer: Any) -> dict[str, Any]:
        """The fields of a span, those that are missing or null left out."""
        assert isinstance(self.rule, Spans)  # noqa: S101 - asked of spans alone
        found = {name: self._values["fields", name].of(item, outer) for name in self.rule.fields}
        return {name: value for name, value in found.items() if value is not ABSENT and value is not None}

    def was_found(self, *names: str) -> bool:
        """Whether one of the values was there at least once."""
        return any(value.found for name in names if (value := self.value(name)) is not None)

    def never_found(self) -> Iterable[tuple[str, Value]]:
        """The values that no item had, with their names."""
        return [(inside[-1], value) for inside, value in self._values.items() if not value.found]

    def steps(self, *, outer: bool) -> Iterable[str | None]:
        """The keys of items in which it looks: of those that it takes, or of those around them; None for all."""
        for value in self._values.values():
            yield from value.steps(outer=outer)
        if outer and self.each is not None and self.each.steps:
            yield self.each.steps[0][0]
        if not outer:
            yield from self.where.steps()

    @classmethod
    def all_of(cls, mapping: Mapping) -> list[AtWork]:
        """All rules of a mapping, in the order in which they look at an item."""
        return [
            cls(str(path[0]), str(path[0]) + "".join(f"[{index}]" for index in path[1:]), rule)
            for path, rule in mapping.every_rule()
        ]
