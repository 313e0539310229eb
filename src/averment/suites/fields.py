"""The fields of a suite file, as people write them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from averment.assertions.base import NonEmpty
from averment.documents.fields import InconclusivePolicy
from averment.text.structs import Mistake

__all__ = [
    "DEFAULT_TIMEOUT",
    "MAX_REPEAT",
    "MAX_TIMEOUT",
    "EntryFields",
    "SuiteFields",
    "entry_mistakes",
    "suite_schema",
]

MAX_REPEAT = 10_000
"""How often one case may be repeated."""
DEFAULT_TIMEOUT = 300
"""Seconds that one command may take."""
MAX_TIMEOUT = 86_400
"""Seconds that an entry may give one command: a day."""

_Several = NonEmpty | Annotated[list[NonEmpty], Meta(min_length=1)]


class EntryFields(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One entry: by which documents which conversations are judged."""

    name: Annotated[
        NonEmpty | UnsetType,
        Meta(description="What to call the entry; by default its first document's name without extension."),
    ] = UNSET
    document: Annotated[
        NonEmpty | UnsetType,
        Meta(description="The document: a path relative to the suite file, or `policy:NAME`."),
    ] = UNSET
    documents: Annotated[
        Annotated[list[NonEmpty], Meta(min_length=1)] | UnsetType,
        Meta(description="Several documents, to judge by all at once under the first one's policy."),
    ] = UNSET
    conversations: Annotated[
        _Several | UnsetType,
        Meta(
            description="Recordings: a glob relative to the suite file, or a list; `**` for any folders, `{column}` for a case's value."
        ),
    ] = UNSET
    produce: Annotated[
        _Several | UnsetType,
        Meta(
            description="The command that produces a conversation, never run by a shell; `{out}` is the file it must write."
        ),
    ] = UNSET
    cases: Annotated[
        NonEmpty | UnsetType,
        Meta(
            description="A table of cases, .csv or .jsonl: `{column}` in commands and globs, `{{column}}` in documents."
        ),
    ] = UNSET
    repeat: Annotated[
        int | UnsetType,
        Meta(
            description="How often each case is produced; with `conversations`, how many recordings each has.",
            extra_json_schema={"minimum": 1, "maximum": MAX_REPEAT},
        ),
    ] = UNSET
    timeout: Annotated[
        float | UnsetType,
        Meta(
            description=f"Seconds that one command may take; {DEFAULT_TIMEOUT} by default.",
            extra_json_schema={"exclusiveMinimum": 0, "maximum": MAX_TIMEOUT},
        ),
    ] = UNSET
    inconclusive_policy: Annotated[
        InconclusivePolicy | UnsetType,
        Meta(description="What an INCONCLUSIVE result does to the exit code; wins over the documents' own."),
    ] = UNSET
    from_format: Annotated[
        NonEmpty | UnsetType,
        Meta(
            description="The format of the conversations, see `averment evidence formats`; recognised by default."
        ),
    ] = msgspec.field(default=UNSET, name="from")
    mapping: Annotated[
        NonEmpty | UnsetType,
        Meta(description="A mapping file that describes their format, relative to the suite file."),
    ] = UNSET

    @property
    def document_names(self) -> list[str]:
        """The documents, as they are written."""
        if self.document is not UNSET:
            return [self.document]
        return [] if self.documents is UNSET else self.documents


class SuiteFields(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The fields of a suite file."""

    version: Annotated[Literal[1], Meta(description="The version of the format.")]
    suite: Annotated[
        Annotated[list[EntryFields], Meta(min_length=1)], Meta(description="What is judged, in this order.")
    ]


def entry_mistakes(fields: EntryFields) -> Iterator[Mistake]:
    """How the fields of an entry do not go together."""
    yield from _one_of(fields, "document", "documents")
    yield from _one_of(fields, "conversations", "produce")
    if fields.repeat is not UNSET and not 1 <= fields.repeat <= MAX_REPEAT:
        yield _out_of_range("repeat", fields.repeat, f"a whole number from 1 to {MAX_REPEAT:,}")
    if fields.timeout is not UNSET and not 0 < fields.timeout <= MAX_TIMEOUT:
        yield _out_of_range("timeout", fields.timeout, f"seconds, above 0 and at most {MAX_TIMEOUT:,}")
    if fields.timeout is not UNSET and fields.produce is UNSET and fields.conversations is not UNSET:
        message = "`timeout` is for commands, and recordings are there already"
        yield Mistake("unused_field", message, ("timeout",), key=True, mend="Remove it.")
    if fields.from_format is not UNSET and fields.mapping is not UNSET:
        message = "conversations are read by a mapping or as a format, not both"
        yield Mistake("given_twice", message, ("mapping",), key=True, mend="Remove `from` or `mapping`.")


def _one_of(fields: EntryFields, first: str, second: str) -> Iterator[Mistake]:
    given = [name for name in (first, second) if getattr(fields, name) is not UNSET]
    if not given:
        message, expected = f"the entry has neither `{first}` nor `{second}`", f"one of {first}, {second}"
        yield Mistake("missing_field", message, expected=expected)
    elif len(given) == 2:
        message = f"the entry has both `{first}` and `{second}`"
        yield Mistake(
            "given_twice",
            message,
            (second,),
            key=True,
            expected="one of them",
            mend=f"Remove `{second}`, or make it an entry of its own.",
        )


def _out_of_range(name: str, found: float, expected: str) -> Mistake:
    return Mistake(
        "out_of_range",
        f"`{name}` is out of range",
        (name,),
        expected=expected,
        found=f"the number {found!r}"[:60],
    )


def suite_schema() -> dict[str, Any]:
    """The JSON Schema of a suite file, for editors."""
    (reference,), definitions = msgspec.json.schema_components([SuiteFields], ref_template="#/$defs/{name}")
    top = definitions.pop(reference["$ref"].rpartition("/")[2])
    definitions["EntryFields"]["allOf"] = [
        {"oneOf": [{"required": ["document"]}, {"required": ["documents"]}]},
        {"oneOf": [{"required": ["conversations"]}, {"required": ["produce"]}]},
    ]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **top,
        "title": "averment suite",
        "$defs": definitions,
    }
