from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from averment.oracle.child.frozen import FrozenDict, FrozenError, FrozenList, frozen, thawed

PLAIN: dict[str, Any] = {
    "rows": [{"id": 1, "tags": []}, {"id": 2, "tags": ["a"]}],
    "open": True,
    "note": None,
}


def only_plain(value: Any) -> bool:
    """Whether there is nothing but exact dicts and lists, at any depth."""
    if isinstance(value, dict):
        return type(value) is dict and all(only_plain(inner) for inner in value.values())
    return not isinstance(value, list) or (type(value) is list and all(only_plain(inner) for inner in value))


def test_a_frozen_value_is_equal_to_what_it_was_made_from() -> None:
    """Predicates compare, iterate, sort and print as they would with plain values."""
    value = frozen(PLAIN)
    assert value == PLAIN
    assert PLAIN.__eq__(value)
    assert isinstance(value, dict)
    assert isinstance(value["rows"], list)
    assert repr(value) == repr(PLAIN)
    assert json.dumps(value, sort_keys=True) == json.dumps(PLAIN, sort_keys=True)
    assert sorted(row["id"] for row in value["rows"]) == [1, 2]
    match value:
        case {"rows": [{"id": first}, *_]}:
            assert first == 1
        case _:
            pytest.fail("a frozen value must match as a plain one does")


DICT_ATTEMPTS: list[tuple[str, Callable[[Any], object]]] = [
    ("x[...] = ...", lambda x: x.__setitem__("a", 1)),
    ("del x[...]", lambda x: x.__delitem__("rows")),
    ("x |= ...", lambda x: x.__ior__({"a": 1})),
    ("x.__init__(...)", lambda x: x.__init__({"a": 1})),
    ("x.clear(...)", lambda x: x.clear()),
    ("x.pop(...)", lambda x: x.pop("rows", None)),
    ("x.popitem(...)", lambda x: x.popitem()),
    ("x.setdefault(...)", lambda x: x.setdefault("rows", [])),
    ("x.update(...)", lambda x: x.update(a=1)),
]
LIST_ATTEMPTS: list[tuple[str, Callable[[Any], object]]] = [
    ("x[...] = ...", lambda x: x.__setitem__(slice(None), [])),
    ("del x[...]", lambda x: x.__delitem__(0)),
    ("x += ...", lambda x: x.__iadd__([1])),
    ("x *= ...", lambda x: x.__imul__(2)),
    ("x.__init__(...)", lambda x: x.__init__([1])),
    ("x.append(...)", lambda x: x.append(1)),
    ("x.clear(...)", lambda x: x.clear()),
    ("x.extend(...)", lambda x: x.extend([1])),
    ("x.insert(...)", lambda x: x.insert(0, 1)),
    ("x.pop(...)", lambda x: x.pop()),
    ("x.remove(...)", lambda x: x.remove(PLAIN["rows"][0])),
    ("x.reverse(...)", lambda x: x.reverse()),
    ("x.sort(...)", lambda x: x.sort(key=str)),
]


@pytest.mark.parametrize(
    ("said", "attempt", "place"),
    [(*each, "") for each in DICT_ATTEMPTS] + [(*each, "rows") for each in LIST_ATTEMPTS],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_whatever_would_change_it_is_refused_by_name(
    said: str, attempt: Callable[[Any], object], place: str
) -> None:
    """The error says what was tried and what to do instead; the value is what it was."""
    value = frozen(PLAIN)
    with pytest.raises(FrozenError) as caught:
        attempt(value[place] if place else value)
    assert str(caught.value) == (
        f"`{said}` was tried, and what a predicate is given can't be changed; change a copy (`copy.deepcopy(x)`)"
    )
    assert value == PLAIN


def test_no_method_that_changes_a_plain_container_was_forgotten() -> None:
    """Everything that `dict` and `list` have is either refused or known to change nothing."""
    reading = {
        *(
            "__class_getitem__",
            "__contains__",
            "__eq__",
            "__ge__",
            "__getattribute__",
            "__getitem__",
            "__gt__",
        ),
        *(
            "__iter__",
            "__le__",
            "__len__",
            "__lt__",
            "__ne__",
            "__new__",
            "__or__",
            "__repr__",
            "__reversed__",
        ),
        *("__ror__", "__sizeof__", "__add__", "__mul__", "__rmul__", "__doc__", "__hash__"),
        *("copy", "count", "fromkeys", "get", "index", "items", "keys", "values"),
    }
    refused = {
        name
        for kind in (FrozenDict, FrozenList)
        for name in vars(kind.__base__)
        if vars(kind).get(name) is not None and name not in reading
    }
    assert (set(vars(dict)) | set(vars(list))) - reading == refused


@pytest.mark.parametrize(
    "make",
    [
        copy.deepcopy,
        thawed,
        lambda value: pickle.loads(pickle.dumps(value)),  # noqa: S301 - our own bytes
        lambda value: json.loads(json.dumps(value)),
    ],
    ids=["deepcopy", "thawed", "pickle", "json"],
)
def test_a_deep_copy_is_plain_at_every_depth(make: Callable[[Any], Any]) -> None:
    """What a predicate copies it may change."""
    made = make(frozen(PLAIN))
    assert made == PLAIN
    assert only_plain(made)


@pytest.mark.parametrize(
    "make",
    [
        copy.copy,
        dict,
        lambda value: value.copy(),
        lambda value: value | {},
        lambda value: {} | value,
        lambda value: {**value},
        lambda value: type(value)(value),
        lambda value: type(value).fromkeys(value),
    ],
)
def test_a_shallow_copy_of_an_object_is_a_plain_one(make: Callable[[Any], Any]) -> None:
    """Its values stay frozen, as a shallow copy shares them."""
    made = make(frozen(PLAIN))
    assert type(made) is dict
    assert list(made) == list(PLAIN)


@pytest.mark.parametrize(
    "make",
    [
        copy.copy,
        list,
        sorted,
        lambda value: value.copy(),
        lambda value: value[:],
        lambda value: value.__add__([]),
        lambda value: [*value],
        lambda value: value * 1,
        lambda value: type(value)(value),
    ],
)
def test_a_shallow_copy_of_an_array_is_a_plain_one(make: Callable[[Any], Any]) -> None:
    """Slices and sums are new lists."""
    made = make(frozen([1, 2]))
    assert type(made) is list
    assert made == [1, 2]


def test_freezing_makes_a_copy_and_freezing_twice_makes_none() -> None:
    """What the caller does to its own value later does not show."""
    source = {"rows": [1]}
    value = frozen(source)
    source["rows"].append(2)
    assert value == {"rows": [1]}
    assert frozen(value) is value


def test_depth_is_no_matter() -> None:
    """A value that nests deeper than Python's stack is frozen all the same."""
    value: Any = []
    for _ in range(50_000):
        value = [value]
    made = frozen(value)
    assert type(made[0][0]) is FrozenList
    while value:  # taken apart step by step: the interpreter frees deep lists by recursion
        value = value.pop()
    depth = 0
    while made:
        made = made[0]
        depth += 1
    assert depth == 50_000


@pytest.mark.parametrize("value", [{"a": {1, 2}}, [object()], (1, 2), b"a"])
def test_what_is_no_json_is_refused(value: Any) -> None:
    """A set would be judged in an order of its own."""
    with pytest.raises(TypeError, match="not a JSON value: "):
        frozen(value)
