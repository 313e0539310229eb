"""`manifest.yaml`: what a pack is called, where its files lie, and the texts that its templates share."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from averment.oracle.model.problems import Problems, near
from averment.oracle.model.shapes import Text
from averment.oracle.model.templates import TEXT_MILESTONES, warn_of_text_types
from averment.text.source import Source
from averment.text.structs import describe

__all__ = [
    "EXAMPLE",
    "Confirmation",
    "Manifest",
    "Paths",
    "SurfaceGuards",
    "read_manifest",
    "warn_of_exempt_names",
]

EXAMPLE = """\
pack_id: library_lending
version: "0.1.0"
description: "Books are looked up and lent."
languages: [en]
default_language: en
primary_keys: {books: book_id}
absent_ids: {books: [BK-ABSENT-1]}
assistant_turn_templates:
  ask_confirm: {en: "Shall I go ahead?"}
  decline: {en: "I can't do that."}
  final_answer: {en: "Done."}
confirmation: {parameter: confirm, status_field: status, pending_status: awaiting_confirmation}
surface_guards: {tool_names_exempt: [lend_book]}
"""


class Paths(msgspec.Struct, frozen=True, kw_only=True):
    """Where the pack's files lie, relative to its folder; a name left out is the default one.

    Only what is inside the pack can be named. Naming a file makes it required. `backend` and `endpoint` exclude each
    other; where neither is named, `backend.py` is the oracle if it is there, else `endpoint_config.yaml`.
    """

    tools: Annotated[Text | None, Meta(description="The catalog of tools; `tools.json`.")] = None
    backend: Annotated[Text | None, Meta(description="The oracle as a Python module; `backend.py`.")] = None
    endpoint: Annotated[
        Text | None, Meta(description="The oracle as an HTTPS service; `endpoint_config.yaml`.")
    ] = None
    fixtures: Annotated[
        Text | None,
        Meta(description="The rows that the oracle starts with; `fixtures.json`, which may be absent."),
    ] = None
    templates: Annotated[Text | None, Meta(description="The conversations; `task_templates.yaml`.")] = None
    assertions: Annotated[
        Text | None, Meta(description="The success predicates, a Python module; `assertions.py`.")
    ] = None
    validation_cases: Annotated[Text | None, Meta(description="The probes; `validation_cases.yaml`.")] = None


class Confirmation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How a tool that needs the user's word is told of it, and how it says that it waits; no other key may stand here."""

    parameter: Annotated[
        Text, Meta(description="The boolean parameter that says that the user has agreed.")
    ] = "confirm"
    status_field: Annotated[
        Text, Meta(description="The field of the result that says how far the call came.")
    ] = "status"
    pending_status: Annotated[
        Text, Meta(description="Its value while the tool waits for the user's word, and nothing has changed.")
    ] = "awaiting_confirmation"


class SurfaceGuards(msgspec.Struct, frozen=True, kw_only=True):
    """What the guards of user turns let pass."""

    tool_names_exempt: Annotated[
        list[str], Meta(description="Names of tools that are also words a user may say.")
    ] = []


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The manifest of a pack: the one file whose name is fixed.

    `pack_id` and `version` are required and are kept as texts; put the version in quotes, because `1.10` without them
    is the number 1.1. Both are part of every task's id and seed. All else has a default.

    `clock` and `description` are for people: what `ctx.clock` says comes from the run options. A key that is not
    listed here is a warning, since nothing reads it.
    """

    pack_id: Annotated[Text, Meta(description="What the pack is called, in ids of tasks and in reports.")]
    version: Annotated[Text, Meta(description="Its version, in quotes.")]
    paths: Annotated[
        Paths, Meta(description="Where the files lie that have other names than the default.")
    ] = Paths()
    description: Annotated[Any, Meta(description="For people.")] = None
    clock: Annotated[Any, Meta(description="For people; run options set the clock of an oracle.")] = None
    languages: Annotated[
        list[str], Meta(description="The languages of the templates, the preferred one first.")
    ] = []
    default_language: Annotated[str | None, Meta(description="The language where nobody asks for one.")] = (
        None
    )
    primary_keys: Annotated[
        dict[str, str],
        Meta(
            description="The key field of each collection whose key is not `<singular>_id`, `id` or the only field "
            "that ends in `_id`."
        ),
    ] = {}
    absent_ids: Annotated[
        dict[str, Any],
        Meta(
            description="Ids that no row has, by collection, one or a list: what `absent:` slots bind.",
            extra_json_schema={
                "additionalProperties": {
                    "type": ["string", "number", "array"],
                    "items": {"type": ["string", "number"]},
                }
            },
        ),
    ] = {}
    assistant_turn_templates: Annotated[
        dict[str, dict[str, str]],
        Meta(
            description="What the assistant says at a milestone, by its type and the language.",
            extra_json_schema={"propertyNames": {"enum": list(TEXT_MILESTONES)}},
        ),
    ] = {}
    system_prompt: Annotated[
        str | None, Meta(description="The system prompt; a text here wins over `system_prompt_path`.")
    ] = None
    system_prompt_path: Annotated[Text | None, Meta(description="A file with the system prompt.")] = None
    confirmation: Annotated[
        Confirmation, Meta(description="The words of tools that wait for the user's confirmation.")
    ] = Confirmation()
    surface_guards: Annotated[SurfaceGuards, Meta(description="Exceptions of the guards of user turns.")] = (
        SurfaceGuards()
    )
    held_out: Annotated[Text | None, Meta(description="A file that reserves rows and templates.")] = None


def read_manifest(source: Source, problems: Problems) -> Manifest:
    """The manifest; where it has mistakes, what of it says where files lie."""
    raw = source.value
    if not problems.root(source, dict, "`pack_id`, `version` and what else the pack declares"):
        return Manifest(pack_id="", version="")
    labels = {name: problems.label(source, (), name) for name in ("pack_id", "version")}
    plain = {**raw, **{name: label or "?" for name, label in labels.items()}}
    manifest = problems.convert(source, (), Manifest, value=plain)
    warn_of_text_types(source, (), raw.get("assistant_turn_templates"), problems)
    if manifest is None:
        return Manifest(pack_id="", version="", paths=_paths(raw))
    absent = {name: _ids(source, name, ids, problems) for name, ids in manifest.absent_ids.items()}
    prompt = (manifest.system_prompt or "").strip() and manifest.system_prompt
    return msgspec.structs.replace(manifest, absent_ids=absent, system_prompt=prompt or None)


def warn_of_exempt_names(manifest: Manifest, source: Source, tools: list[str], problems: Problems) -> None:
    """Warn of exempt names that no tool has."""
    known = set(tools)
    for index, name in enumerate(manifest.surface_guards.tool_names_exempt):
        if name not in known:
            problems.warning(
                source,
                "unknown_exempt_tool",
                f"there is no tool `{name}`",
                ("surface_guards", "tool_names_exempt", index),
                nearest=near(name, known),
            )


def _paths(raw: dict[str, Any]) -> Paths:
    """The paths of a manifest with mistakes, so that the files it names are read all the same."""
    written = raw.get("paths")
    names = written if isinstance(written, dict) else {}
    fitting = {
        name: value
        for name, value in names.items()
        if name in Paths.__struct_fields__ and isinstance(value, str)
    }
    return msgspec.convert({name: value for name, value in fitting.items() if value.strip()}, Paths)


def _ids(source: Source, name: str, ids: object, problems: Problems) -> list[Any]:
    """The absent ids of a collection, as a list."""
    path = ("absent_ids", name)
    expected = "an id, or a list of ids; an id is a text or a number"
    if ids is None:
        return []
    listed = ids if isinstance(ids, list) else [ids]
    for index, item in enumerate(listed):
        if isinstance(item, bool) or not isinstance(item, str | int | float):
            place = (*path, index) if isinstance(ids, list) else path
            more = {"expected": expected, "found": describe(item)}
            problems.error(
                source, "wrong_type", f"an absent id of `{name}` has the wrong type", place, **more
            )
    return listed
