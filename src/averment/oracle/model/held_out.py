"""`held_out.yaml`: rows and templates that no published task may use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from averment.oracle.model.keys import AmbiguousKeyError, primary_key
from averment.oracle.model.manifest import Manifest
from averment.oracle.model.problems import Problems, near, some
from averment.oracle.model.shapes import Text
from averment.text.source import Source
from averment.text.structs import describe

__all__ = ["EXAMPLE", "HeldOut", "HeldOutPolicy", "check_held_out", "read_held_out"]

EXAMPLE = """\
version: "1"
fixtures: {books: [BK-2]}
templates: []
policy: {fixtures_in_backend_state: true, seed: 0}
"""


Id = Annotated[Any, Meta(extra_json_schema={"type": ["string", "number", "boolean"]})]


class HeldOutPolicy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Whether the oracle still has the reserved rows, and the seed of the reservation."""

    fixtures_in_backend_state: Annotated[
        bool, Meta(description="False takes the reserved rows out of what `reset` gets.")
    ] = True
    seed: Annotated[int, Meta(description="The seed that the reservation was drawn with.")] = 0


class HeldOut(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The reservations, named by the manifest's `held_out`; no other key may stand here.

    Ids are compared as texts. Every reserved id must be a row's primary key, found as for slots: `primary_keys` of the
    manifest, else `<singular>_id`, `id`, or the only field that ends in `_id`. Reserving nothing is legal.
    """

    version: Annotated[Text, Meta(description="The version of the reservations.")]
    fixtures: Annotated[dict[str, list[Id]], Meta(description="The reserved rows: ids, by collection.")] = {}
    templates: Annotated[
        list[str], Meta(description="The reserved templates.", extra_json_schema={"uniqueItems": True})
    ] = []
    policy: Annotated[HeldOutPolicy, Meta(description="What is done with reserved rows.")] = HeldOutPolicy()


def read_held_out(source: Source, problems: Problems) -> HeldOut | None:
    """The reservations, or None after reporting why not."""
    if not problems.root(source, dict, "`version`, `fixtures`, `templates` and `policy`"):
        return None
    version = problems.label(source, (), "version")
    return problems.convert(source, (), HeldOut, value={**source.value, "version": version or "?"})


def check_held_out(
    held_out: HeldOut,
    source: Source,
    problems: Problems,
    *,
    manifest: Manifest,
    fixtures: Mapping[str, Any],
    templates: Sequence[str],
) -> None:
    """Report every reservation that names nothing, or names it twice (contract, section 1.7).

    Args:
        held_out: the reservations.
        source: their document.
        problems: where mistakes go.
        manifest: for `primary_keys` and `absent_ids`.
        fixtures: the fixtures.
        templates: the ids of all templates.
    """
    collections = {name: rows for name, rows in fixtures.items() if isinstance(rows, list)}
    for name, ids in held_out.fixtures.items():
        path = ("fixtures", name)
        if name not in collections:
            problems.error(
                source,
                "unknown_held_out_collection",
                f"the fixtures have no collection `{name}`",
                path,
                key=True,
                expected=some(collections) if collections else "fixtures",
                nearest=near(name, collections),
            )
            continue
        known = (
            _keys(name, collections[name], manifest.primary_keys.get(name), source, problems) if ids else None
        )
        absent = {str(item) for item in manifest.absent_ids.get(name, [])}
        _check_ids(source, problems, name, ids, known=known, absent=absent)
    seen: set[str] = set()
    existing = set(templates)
    for place, template in enumerate(held_out.templates):
        path_of = ("templates", place)
        if template in seen:
            message = f"the template `{template}` is reserved twice"
            problems.error(source, "duplicate_held_out_template", message, path_of)
        elif template not in existing:
            message = f"there is no template `{template}`"
            closest = near(template, existing)
            problems.error(source, "unknown_held_out_template", message, path_of, nearest=closest)
        seen.add(template)


def _check_ids(
    source: Source,
    problems: Problems,
    collection: str,
    ids: list[Any],
    *,
    known: set[str] | None,
    absent: set[str],
) -> None:
    seen: set[str] = set()
    for place, item in enumerate(ids):
        path = ("fixtures", collection, place)
        if not isinstance(item, str | int | float):  # a boolean is an int
            more = {"expected": "a text or a number", "found": describe(item)}
            problems.error(
                source, "wrong_type", f"a reserved id of `{collection}` has the wrong type", path, **more
            )
            continue
        text = str(item)
        if text in seen:
            message = f"the id `{text}` of `{collection}` is reserved twice"
            problems.error(source, "duplicate_held_out_id", message, path)
        elif text in absent:
            message = f"the id `{text}` of `{collection}` is also declared absent"
            problems.error(source, "held_out_id_absent", message, path)
        elif known is not None and text not in known:
            message = f"no row of `{collection}` has the id `{text}`"
            problems.error(source, "unknown_held_out_id", message, path, nearest=near(text, known))
        seen.add(text)


def _keys(
    collection: str, rows: list[Any], declared: str | None, source: Source, problems: Problems
) -> set[str] | None:
    """The primary keys of a collection as texts, or None after reporting that it has none."""
    path = ("fixtures", collection)
    try:
        key = primary_key(collection, rows, declared)
    except AmbiguousKeyError as error:
        problems.error(source, "held_out_key_ambiguous", str(error), path, key=True)
        return None
    known: set[str] = set()
    for place, row in enumerate(rows):
        if not isinstance(row, dict) or key not in row:
            message = f"row {place} of `{collection}` has no `{key}`"
            problems.error(source, "held_out_key_missing", message, path, key=True)
            return None
        text = str(row[key])
        if text in known:
            message = f"two rows of `{collection}` have the `{key}` `{text}`"
            problems.error(source, "held_out_key_not_unique", message, path, key=True)
            return None
        known.add(text)
    return known
