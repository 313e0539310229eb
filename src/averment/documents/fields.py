"""The fields of a document, as people write them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from averment.assertions.base import NonEmpty

__all__ = ["Fields", "Include", "InconclusivePolicy", "Scalar", "is_document", "is_suite"]

InconclusivePolicy = Literal["report", "fail", "refuse"]
Scalar = str | int | float | bool | None


class Include(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Another document, whose assertions follow those of this one."""

    path: Annotated[
        NonEmpty, Meta(description="A path relative to this document, or `policy:NAME` for a bundled one.")
    ]
    prefix: Annotated[
        NonEmpty | UnsetType,
        Meta(
            description="What its ids begin with, before a dot; the file's name without extension by default."
        ),
    ] = msgspec.field(default=UNSET, name="as")
    vars: Annotated[
        dict[str, Scalar], Meta(description="Values for variables that it declares, instead of its own.")
    ] = {}


class Fields(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The fields of a document."""

    version: Annotated[Literal[1], Meta(description="The version of the format.")]
    assertions: Annotated[
        list[dict[str, Any]],
        Meta(description="What must hold; may be left out where documents are included."),
    ] = []
    name: Annotated[str | None, Meta(description="A name for people and programs.")] = None
    title: Annotated[str | None, Meta(description="What it is about, in a few words.")] = None
    description: Annotated[str | None, Meta(description="What it is about, in sentences.")] = None
    inconclusive_policy: Annotated[
        InconclusivePolicy | UnsetType,
        Meta(
            description="What an INCONCLUSIVE result does to the exit code: nothing, the same as a FAIL, or refuse."
        ),
    ] = UNSET
    roles: Annotated[
        dict[str, list[str]] | UnsetType,
        Meta(description="Names for roles: for each role its aliases. Replaces the built-in table."),
    ] = UNSET
    vars: Annotated[
        dict[str, Scalar],
        Meta(description="Variables: `{{name}}` in any string of an assertion stands for the value."),
    ] = {}
    defaults: Annotated[
        dict[str, Any],
        Meta(description="Fields for every assertion of this document that has them and does not set them."),
    ] = {}
    include: Annotated[
        list[NonEmpty | Include],
        Meta(description="Other documents, by relative path or as `policy:NAME`; their ids get a prefix."),
    ] = []


def is_document(value: object) -> bool:
    """Whether a value is meant to be an assertion document, right or wrong."""
    return isinstance(value, dict) and "version" in value and not {"assertions", "include"}.isdisjoint(value)


def is_suite(value: object) -> bool:
    """Whether a value is meant to be a suite, which names documents and is none."""
    return isinstance(value, dict) and "suite" in value and {"assertions", "include"}.isdisjoint(value)
