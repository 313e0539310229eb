"""Which slots of a task a predicate reads, where the task's values are not all known.

Whoever judges a recorded run rebuilds the values of slots from what was published, and some can't be rebuilt. A
predicate that doesn't read those is judged as ever; the verdict of one that does would rest on a guess.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from averment.oracle.child.frozen import FrozenDict, frozen, thawed

__all__ = ["WatchedDict", "watched"]


class WatchedDict(FrozenDict):
    """A frozen mapping of which some names are not known: a read of one of those is noted.

    Reads of the mapping as a whole, its length, its keys, a copy, a comparison, count as reads of every such name. So
    does its truth while it is empty, and only then: `task.get("slots") or {}` must not count.
    """

    __slots__ = ("_absent", "_names", "_path", "_reads")

    _absent: bool
    _names: frozenset[str]
    _path: str
    _reads: set[str]

    @classmethod
    def over(
        cls, inner: dict[str, Any], names: frozenset[str], path: str, reads: set[str], *, absent: bool
    ) -> Any:
        """A watched mapping with the items of `inner`.

        Args:
            inner: a frozen mapping.
            names: the keys whose values are not known.
            path: where the mapping stands in the task.
            reads: what is read is put here.
            absent: any key that `inner` lacks may be one of those.
        """
        self = dict.__new__(cls)
        dict.update(self, inner)
        self._names, self._path, self._reads, self._absent = names, path, reads, absent
        return self

    def _note(self, key: object) -> None:
        if key in self._names or (self._absent and not dict.__contains__(self, key)):
            self._reads.add(f"{self._path}.{key}")

    def _note_all(self) -> None:
        self._reads.update(f"{self._path}.{name}" for name in self._names)

    def __getitem__(self, key: str) -> Any:
        self._note(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key."""
        self._note(key)
        return super().get(key, default)

    def __contains__(self, key: object) -> bool:
        self._note(key)
        return super().__contains__(key)

    def __bool__(self) -> bool:
        size = dict.__len__(self)
        if not size:
            self._note_all()
        return bool(size)

    def __len__(self) -> int:
        self._note_all()
        return super().__len__()

    def __iter__(self) -> Iterator[str]:
        self._note_all()
        return super().__iter__()

    def __reversed__(self) -> Iterator[str]:
        self._note_all()
        return super().__reversed__()

    def __eq__(self, other: object) -> bool:
        self._note_all()
        return super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        self._note_all()
        return super().__ne__(other)

    __hash__ = None  # type: ignore[assignment] # as of every mapping that can be compared

    def __repr__(self) -> str:
        self._note_all()
        return super().__repr__()

    def __or__(self, other: Any) -> Any:
        self._note_all()
        return super().__or__(other)

    def __ror__(self, other: Any) -> Any:
        self._note_all()
        return super().__ror__(other)

    def keys(self) -> Any:
        """The keys."""
        self._note_all()
        return super().keys()

    def values(self) -> Any:
        """The values."""
        self._note_all()
        return super().values()

    def items(self) -> Any:
        """The items."""
        self._note_all()
        return super().items()

    def copy(self) -> dict[str, Any]:
        """A plain copy."""
        self._note_all()
        return super().copy()


def watched(task: Mapping[str, Any], unresolved: Mapping[str, Any]) -> tuple[Any, set[str]]:
    """A frozen copy of a task that notes reads of what is not known of it.

    Args:
        task: the bound task.
        unresolved: `unresolved_slots` and `unresolved_slots_initial`, lists of names of slots;
            `unresolved_slot_updates`, a list of `{"update_index": place in slot_updates, "slots": names}`.

    Returns:
        The copy, and the set that fills with the paths of what is read: `slots.date`,
        `slot_updates[0].values.date`.
    """
    reads: set[str] = set()
    copy = frozen(thawed(task))
    for key in ("slots", "slots_initial"):
        _watch(copy, key, key, unresolved.get(f"unresolved_{key}") or (), reads)
    updates = copy.get("slot_updates") or ()
    for entry in unresolved.get("unresolved_slot_updates") or ():
        index = entry["update_index"]
        for key in ("values", "aliases"):
            _watch(updates[index], key, f"slot_updates[{index}].{key}", entry["slots"], reads)
    return copy, reads


def _watch(holder: Any, key: str, path: str, names: Any, reads: set[str]) -> None:
    """Put a watched mapping in the place of a plain one."""
    inner = holder.get(key)
    if not names or not isinstance(inner, dict):
        return
    # An alias has a name of its own, which says nothing of the slot: any that is missing may be the one.
    absent = key == "aliases"
    dict.__setitem__(holder, key, WatchedDict.over(inner, frozenset(names), path, reads, absent=absent))
