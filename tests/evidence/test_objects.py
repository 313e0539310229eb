from __future__ import annotations

import datetime as dt
import decimal
import enum
import pathlib
import uuid
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple
from unittest.mock import MagicMock

import msgspec
import pytest

import averment
from averment.evidence import Evidence
from averment.evidence.model import MAX_DEPTH
from averment.evidence.objects import opened
from averment.evidence.plain import plain


class Colour(enum.Enum):
    RED = "red"


class Level(enum.IntEnum):
    HIGH = 3


class Pair(NamedTuple):
    one: int
    other: str


class Row(msgspec.Struct):
    name: str


@dataclass
class Point:
    x: int
    of: Any = None
    _hidden: int = 1
    unset: int = field(init=False)


class Field:
    """What a pydantic model knows of one of its fields."""

    def __init__(self, *, alias: str | None = None, exclude: bool | None = None) -> None:
        self.serialization_alias = None
        self.alias = alias
        self.exclude = exclude


class Model:
    """An object like a pydantic model."""

    __pydantic_fields__: ClassVar[dict[str, Field]] = {
        "kind": Field(),
        "schema_": Field(alias="schema"),
        "hidden": Field(exclude=True),
        "unset": Field(),
    }

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)
        self.__pydantic_extra__ = {"more": 1}

    def model_dump(self) -> dict[str, Any]:
        raise AssertionError("a model that shows its fields is not asked")


class Root:
    """An object like a pydantic root model."""

    __pydantic_root_model__ = True

    def __init__(self, root: Any) -> None:
        self.root = root


class Dumps:
    def model_dump(self) -> dict[str, Any]:
        return {"by": "model_dump", "point": Point(1)}


class Old:
    def dict(self) -> Any:
        return {"by": "dict"}


class Breaks:
    def to_dict(self) -> dict[str, Any]:
        raise RuntimeError("not now")


class Endless:
    def to_dict(self) -> Any:
        return Endless()


class Silent:
    """An object of which nobody can say what it holds."""


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Colour.RED, "red"),
        (Level.HIGH, 3),
        ((1, (2,)), [1, [2]]),
        (Pair(1, "b"), {"one": 1, "other": "b"}),
        (range(2), [0, 1]),
        (MappingProxyType({"a": Colour.RED}), {"a": "red"}),
        (b"\x00\xff", "AP8="),
        (bytearray(b"a"), "YQ=="),
        (dt.datetime(2026, 1, 5, 10, tzinfo=dt.UTC), "2026-01-05T10:00:00+00:00"),
        (dt.date(2026, 1, 5), "2026-01-05"),
        (dt.timedelta(seconds=1.5), 1.5),
        (decimal.Decimal("1.10"), "1.10"),
        (uuid.UUID(int=7), "00000000-0000-0000-0000-000000000007"),
        (pathlib.PurePosixPath("a/b"), "a/b"),
        (Row("x"), {"name": "x"}),
        (Point(1, of=Point(2)), {"x": 1, "of": {"x": 2, "of": None}}),
        (Model(kind="k", schema_=Colour.RED, hidden="s"), {"kind": "k", "schema": "red", "more": 1}),
        (Root([Point(1)]), [{"x": 1, "of": None}]),
        (Dumps(), {"by": "model_dump", "point": {"x": 1, "of": None}}),
        (Old(), {"by": "dict"}),
    ],
)
def test_objects_are_opened(value: Any, expected: Any) -> None:
    """What an object holds, as the JSON value that its SDK would write."""
    assert plain([value], opened)[0] == [expected]


@pytest.mark.parametrize("value", [Silent(), Silent, object(), {1, 2}, Breaks(), MagicMock(), iter([]), len])
def test_what_can_t_be_told_is_refused_by_its_place(value: Any) -> None:
    """A guess would become evidence; a mock, which answers to every name, is none either."""
    with pytest.raises(averment.EvidenceError) as error:
        plain({"messages": [Point(1, of={"a": value})]}, opened)
    (problem,) = error.value.problems
    assert (problem.code, problem.path) == ("not_json", "$.messages[0].of.a")
    assert problem.found == type(value).__name__


def test_objects_without_end_are_refused() -> None:
    """One that holds itself, and one that always gives another one."""
    loop = Point(1)
    loop.of = loop
    for value in (loop, Endless()):
        with pytest.raises(averment.EvidenceError, match=f"more than {MAX_DEPTH} levels"):
            plain(value, opened)


def test_without_leave_no_object_is_opened() -> None:
    """Evidence given part by part is JSON values alone, as a tuple or a date has more than one reading."""
    with pytest.raises(averment.EvidenceError, match="Give a list"):
        Evidence(transcript=({"role": "user", "text": "hi"},))


def test_a_value_is_read_as_a_file_would_be() -> None:
    """The format is recognised, or named."""
    messages = [
        {"role": "user", "content": "Where is it?"},
        {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "find", "arguments": "{}"}}]},
    ]
    found = Evidence.from_value(messages)
    assert found.model.sources[0].format == "openai_chat"
    assert found.sha256 == Evidence.from_bytes(msgspec.json.encode(messages)).sha256
    messages.clear()
    assert len(found.model.turns or ()) == 1
    with pytest.raises(averment.EvidenceError, match="no format of that name"):
        Evidence.from_value(messages, from_format="openay")


def test_what_the_caller_knows_is_added() -> None:
    """The id counts whatever the value says; facts and labels are added; the state is judged."""
    record = {"conversation_id": "old", "transcript": [], "metadata": {"a": 1, "b": 1}, "spans": []}
    found = Evidence.from_value(
        record,
        conversation_id="new",
        metadata=MappingProxyType({"b": 2}),
        labels={"split": "test"},
        state={"orders": [{"id": 7}]},
    ).model
    assert (found.conversation_id, found.metadata, found.labels) == (
        "new",
        {"a": 1, "b": 2},
        {"split": "test"},
    )
    assert [(each.resource, each.rows) for each in found.states or ()] == [("orders", ({"id": 7},))]
    assert found.coverage.state.state == "present"
    assert [source.id for source in found.sources] == ["src_0", "src_1"]


def test_mistakes_of_the_caller_are_named() -> None:
    """A state that is there already, an id that is no text, rows that are no records."""
    with pytest.raises(averment.EvidenceError, match="has a state already"):
        Evidence.from_value({"transcript": [], "state": {}}, state={"orders": []})
    with pytest.raises(averment.EvidenceError) as error:
        Evidence.from_value({"transcript": []}, conversation_id=7, metadata=[])  # type: ignore[arg-type]
    assert [problem.path for problem in error.value.problems] == ["$.conversation_id", "$.metadata"]
    with pytest.raises(averment.EvidenceError):
        Evidence.from_value({"transcript": []}, state={"orders": (1,)})


def test_several_conversations_are_no_one() -> None:
    """A value holds one conversation."""
    one = {"conversation_id": "a", "transcript": []}
    with pytest.raises(averment.EvidenceError, match="2 conversations"):
        Evidence.from_value([one, {**one, "conversation_id": "b"}])
