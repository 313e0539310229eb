"""Mapping files: how the records of a source become evidence, said by JSON Pointers and without code.

A mapping names lists of items and, by rules, what the items are: turns, calls, answers to calls, other events. It is
read like an assertion document, and all its mistakes are reported at once. `readers.mapped` reads by it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from averment.errors import DocumentError, Problem
from averment.evidence.formats import Format
from averment.evidence.mapping_checks import mistakes
from averment.evidence.model import Clock
from averment.text.jsontext import digest
from averment.text.source import Source, read_source, source_of
from averment.text.structs import convert

__all__ = [
    "Answers",
    "Calls",
    "Channel",
    "Condition",
    "Field",
    "Mapping",
    "Rule",
    "Spans",
    "Take",
    "Turns",
    "Where",
    "mapped",
    "mapping_schema",
]

_R = TypeVar("_R")

_POINTER = {"pattern": "^(/([^/~]|~[01])*)*$"}
Pointed = Annotated[str, Meta(extra_json_schema=_POINTER)]
"""A JSON Pointer (RFC 6901), such as `/body/text`."""
Unit = Literal["s", "ms", "us", "ns", "iso"]
Scalar = str | int | float | bool | None

Channel = Literal[
    "transcript",
    "requests",
    "executions",
    "results",
    "errors",
    "handoff",
    "dtmf",
    "http",
    "termination",
    "timing",
]
"""What a mapping can say of a source that it shows it."""


class Take(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A value that is not just what a pointer points to: exactly one of `pointer`, `outer` and `const`."""

    pointer: Annotated[
        Pointed | Annotated[list[Pointed], Meta(min_length=1)] | UnsetType,
        Meta(description="Where it stands in the item; of several pointers the first that finds a value."),
    ] = UNSET
    outer: Annotated[
        Pointed | UnsetType, Meta(description="Where it stands in the item around, with `each`.")
    ] = UNSET
    const: Annotated[Any, Meta(description="The value itself, the same for every item.")] = UNSET
    values: Annotated[
        dict[str, Any] | UnsetType,
        Meta(description="Words of the source, with what each means; others stay as they are."),
    ] = UNSET
    default: Annotated[Any, Meta(description="The value where the source has none.")] = UNSET
    unit: Annotated[Unit | UnsetType, Meta(description="The unit of this time, if it is another one.")] = (
        UNSET
    )


Field = Pointed | Annotated[list[Pointed], Meta(min_length=1)] | Take
"""Where a value comes from: a pointer into the item, several of which the first with a value counts, or a `Take`."""

_Optional = Field | UnsetType


class Condition(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A condition on a value: one of `exists` and `not`."""

    exists: Annotated[
        bool | UnsetType, Meta(description="There is a value other than null, or with false there is none.")
    ] = UNSET
    excluded: Annotated[
        str | int | float | bool | list[Scalar] | UnsetType,
        Meta(description="It is not this value, or none of these."),
    ] = msgspec.field(default=UNSET, name="not")


Where = dict[str, str | int | float | bool | list[Scalar] | Condition | None]
_Where = Annotated[
    Where,
    Meta(
        description="Conditions on items, all of which must hold: for a pointer a value, a list of values, or "
        "`{exists: true}`, `{not: value}`.",
        extra_json_schema={"propertyNames": _POINTER},
    ),
]


class Rule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Which items a rule takes."""

    items: Annotated[
        Pointed, Meta(description="The list of items in the conversation; by default it is that list itself.")
    ] = ""
    each: Annotated[
        Pointed | UnsetType,
        Meta(description="A list inside each item, the parts of which are taken instead of the item."),
    ] = UNSET
    where: _Where = {}

    @classmethod
    def field_names(cls) -> tuple[str, ...]:
        """The names of what it maps."""
        return tuple(name for name in cls.__struct_fields__ if name not in _NOT_MAPPED)

    def mapped_fields(self) -> Iterator[tuple[tuple[str, ...], Any]]:
        """Each value that it maps, with its path in the rule."""
        for name in self.field_names():
            if (field := getattr(self, name)) is not UNSET:
                yield (name,), field


_NOT_MAPPED = frozenset({"items", "each", "where", "type", "fields", "said"})

_Start = Annotated[_Optional, Meta(description="When it began.")]
_End = Annotated[_Optional, Meta(description="When it ended.")]
_Duration = Annotated[_Optional, Meta(description="How long it took, where no `end` is recorded.")]
_Result = Annotated[_Optional, Meta(description="What the tool answered; JSON text is read as JSON.")]
_Error = Annotated[_Optional, Meta(description='What went wrong; null, `""`, false and 0 are no error.')]
_Failed = Annotated[_Optional, Meta(description="Whether the call failed: true or false.")]
_Latency = Annotated[_Optional, Meta(description="How long the call took, as the source states it.")]
_Status = Annotated[
    _Optional, Meta(description="How far the call came; `values` gives the source's words their meaning.")
]


class Turns(Rule, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Items that are utterances."""

    text: Annotated[Field, Meta(description="What was said: a string, or a list of text parts.")]
    role: Annotated[_Optional, Meta(description="Who spoke.")] = UNSET
    start: _Start = UNSET
    end: _End = UNSET
    duration: _Duration = UNSET
    id: Annotated[_Optional, Meta(description="The utterance's id.")] = UNSET
    speaker: Annotated[_Optional, Meta(description="The speaker's name or label, beside the role.")] = UNSET
    interrupted: Annotated[_Optional, Meta(description="Whether the speaker was cut off.")] = UNSET
    final: Annotated[_Optional, Meta(description="False for what a later utterance replaces.")] = UNSET
    said: Annotated[
        bool | UnsetType,
        Meta(description="False for texts that nobody says; by default those of the role system."),
    ] = UNSET


class Calls(Rule, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Items that are tool calls, with their answers where the same item holds them."""

    name: Annotated[Field, Meta(description="The tool's name.")]
    id: Annotated[_Optional, Meta(description="The call's id, by which answers find it.")] = UNSET
    arguments: Annotated[
        _Optional, Meta(description="The arguments: a JSON value, or the JSON text of one.")
    ] = UNSET
    requestor: Annotated[_Optional, Meta(description="Who called; the agent by default.")] = UNSET
    result: _Result = UNSET
    error: _Error = UNSET
    failed: _Failed = UNSET
    status: _Status = UNSET
    start: _Start = UNSET
    end: _End = UNSET
    duration: _Duration = UNSET
    latency: _Latency = UNSET


class Answers(Rule, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Items that are answers to calls."""

    id: Annotated[_Optional, Meta(description="The id of the call that is answered.")] = UNSET
    name: Annotated[_Optional, Meta(description="The tool's name, where answers have no id.")] = UNSET
    result: _Result = UNSET
    error: _Error = UNSET
    failed: _Failed = UNSET
    status: _Status = UNSET
    start: _Start = UNSET
    end: _End = UNSET
    duration: _Duration = UNSET
    latency: _Latency = UNSET


class Spans(Rule, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Items that are other events, in the words of a native trace."""

    type: Annotated[
        Literal[
            "handoff",
            "dtmf",
            "http_exchange",
            "call_ended",
            "call_terminated",
            "hangup",
            "termination",
            "agent_audio_active",
            "caller_audio_active",
            "asr_partial",
            "llm_first_token",
            "tts_audio_stopped",
            "tts_cancel_requested",
        ],
        Meta(description="What kind of event it is."),
    ]
    fields: Annotated[
        dict[str, Field],
        Meta(description="Its fields, such as `to` of a handoff, each with where it comes from."),
    ] = {}
    id: Annotated[_Optional, Meta(description="The event's id.")] = UNSET
    start: _Start = UNSET
    end: _End = UNSET
    duration: _Duration = UNSET

    def mapped_fields(self) -> Iterator[tuple[tuple[str, ...], Any]]:
        """Each value that it maps, with its path in the rule."""
        yield from super().mapped_fields()
        yield from ((("fields", name), field) for name, field in self.fields.items())


class Mapping(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """How the records of a source become evidence."""

    kinds: ClassVar[tuple[str, ...]] = ("turns", "calls", "answers", "spans")

    version: Annotated[Literal[1], Meta(description="The version of the format.")]
    name: Annotated[
        str,
        Meta(
            description="A name for the source's format: letters, digits, `.`, `_` and `-`.",
            extra_json_schema={"pattern": "^[A-Za-z0-9._-]{1,60}$"},
        ),
    ]
    description: Annotated[str | None, Meta(description="What it is about.")] = None
    conversations: Annotated[
        Pointed,
        Meta(description="Where in the file its list of conversations stands, or its one conversation."),
    ] = ""
    lines: Annotated[
        Literal["conversations", "items"],
        Meta(
            description="What the lines of the file are, or the parts of its list: conversations, or items."
        ),
    ] = "conversations"
    group_by: Annotated[
        Pointed | UnsetType,
        Meta(description="Where items of many conversations have the id of theirs; implies `lines: items`."),
    ] = UNSET
    conversation_id: Annotated[_Optional, Meta(description="The conversation's id.")] = UNSET
    labels: Annotated[dict[str, Field], Meta(description="Labels of the conversation.")] = {}
    metadata: Annotated[dict[str, Field], Meta(description="Facts about the conversation.")] = {}
    timing: Annotated[Pointed | UnsetType, Meta(description="Where its timing events stand.")] = UNSET
    clock: Annotated[
        Clock | UnsetType,
        Meta(description="What times count from: 1970, the start of the conversation, or nothing known."),
    ] = UNSET
    unit: Annotated[Unit | UnsetType, Meta(description="The unit of times and durations.")] = UNSET
    turns: Annotated[Turns | list[Turns], Meta(description="Rules for utterances.")] = []
    calls: Annotated[Calls | list[Calls], Meta(description="Rules for tool calls.")] = []
    answers: Annotated[Answers | list[Answers], Meta(description="Rules for answers to tool calls.")] = []
    spans: Annotated[Spans | list[Spans], Meta(description="Rules for other events.")] = []
    ignore: Annotated[
        _Where | list[_Where], Meta(description="Items that are neither of these, and known not to matter.")
    ] = []
    shows: Annotated[
        list[Channel] | UnsetType,
        Meta(
            description="What the source surely records whenever it happens; by default only what each "
            "conversation itself makes sure of."
        ),
    ] = UNSET

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Mapping:
        """The mapping in a file, YAML or JSON.

        Raises:
            EvidenceError: the file can't be read.
            DocumentError: with every mistake in it.
        """
        from averment.evidence.load import read_input

        return cls.parse(*read_input(path))

    @classmethod
    def parse(cls, text: str | bytes, name: str | None = None) -> Mapping:
        """The mapping in a text, YAML or JSON.

        Args:
            text: the mapping.
            name: what to call it in problems.

        Raises:
            DocumentError: with every mistake in it.
        """
        return cls._of(read_source(text, name=name))

    @classmethod
    def of(cls, value: object) -> Mapping:
        """The mapping that plain values are; problems have paths and no lines.

        Raises:
            DocumentError: with every mistake in it.
        """
        return cls._of(source_of(value))

    @classmethod
    def _of(cls, source: Source) -> Mapping:
        problems: list[Problem] = []
        mapping = convert(source, (), cls, problems)
        if mapping is not None:
            problems.extend(mistake.at(source, ()) for mistake in mistakes(mapping))
        if mapping is None or problems:
            raise DocumentError(sorted(problems, key=lambda each: (each.line or 0, each.column or 0)))
        return mapping

    @property
    def sha256(self) -> str:
        """The digest of what the mapping says: two files with the same content have the same one."""
        return digest(msgspec.to_builtins(self))

    def rules(self, kind: str) -> Iterator[tuple[tuple[str | int, ...], Any]]:
        """The rules for `turns`, `calls`, `answers` or `spans`, each with its path."""
        return _listed(getattr(self, kind), kind)

    def ignored(self) -> Iterator[tuple[tuple[str | int, ...], Where]]:
        """The conditions of items to ignore, each with its path."""
        return _listed(self.ignore, "ignore")

    def every_rule(self) -> Iterator[tuple[tuple[str | int, ...], Any]]:
        """All rules, each with its path."""
        for kind in self.kinds:
            yield from self.rules(kind)

    def maps(self, kind: str, *names: str) -> bool:
        """Whether a rule of that kind maps one of the fields."""
        return any(getattr(rule, name) is not UNSET for _, rule in self.rules(kind) for name in names)

    def channels(self) -> set[str]:
        """The channels that it maps something for."""
        found = {"transcript"} if self.turns else set()
        found |= {"requests"} if self.calls else set()
        found |= {"timing"} if self.timing is not UNSET else set()
        found |= {OF_SPANS[rule.type] for _, rule in self.rules("spans") if rule.type in OF_SPANS}
        found |= {"executions"} if self.answers else set()
        for kind in ("calls", "answers"):
            found |= {"executions"} if self.maps(kind, "result", "failed", "status") else set()
            found |= {"results"} if self.maps(kind, "result") else set()
            found |= {"errors"} if self.maps(kind, "error", "failed", "status") else set()
        return found


OF_SPANS = {
    "handoff": "handoff",
    "dtmf": "dtmf",
    "http_exchange": "http",
    **dict.fromkeys(("call_ended", "call_terminated", "hangup", "termination"), "termination"),
}
"""The channels that spans have of their own."""


def _listed(rules: _R | list[_R], kind: str) -> Iterator[tuple[tuple[str | int, ...], _R]]:
    if isinstance(rules, list):
        yield from (((kind, index), rule) for index, rule in enumerate(rules))
    else:
        yield (kind,), rules


def mapped(mapping: Mapping) -> Format:
    """The format that a mapping describes: as such it takes the place of one that is recognised."""
    from averment.evidence.readers.mapped import Mapped

    return Mapped.by(mapping)


def mapping_schema() -> dict[str, Any]:
    """The JSON Schema (2020-12) of mapping files."""
    schema = msgspec.json.schema(Mapping, ref_template="#/$defs/{name}")
    top = schema["$defs"].pop("Mapping")
    top |= {"title": "averment mapping file", "$defs": schema["$defs"]}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **top}
