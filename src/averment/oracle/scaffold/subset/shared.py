"""Schemas that others refer to: what a `$ref` leads to, under which name it is kept, and where circles are cut."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote

from averment.oracle.catalog.circles import circular_references
from averment.oracle.catalog.schema import Schemas, children
from averment.oracle.scaffold.subset.changes import Change, Path

__all__ = ["DEFS", "Shared", "every_schema", "place_of", "value_at"]

DEFS: Final = "#/$defs/"

_MAX_NAME = 60


class Shared:
    """The schemas of one document that are referred to; they become definitions of the tools that need them."""

    def __init__(self) -> None:
        self.definitions: dict[str, dict[str, Any]] = {}
        self._names: dict[tuple[Path, bool], str] = {}
        self._taken: set[str] = set()
        self._numbers: dict[str, int] = {}
        self._referring: list[tuple[dict[str, Any], Path]] = []

    def name(self, place: Path, *, null: bool) -> tuple[str, bool]:
        """What the schema at a place of the document is called, and whether it is new.

        Args:
            place: where it stands.
            null: whether the schema is meant that also allows null.
        """
        known = self._names.get((place, null))
        if known is not None:
            return known, False
        last = next((str(step) for step in reversed(place) if isinstance(step, str)), "") or "schema"
        stem = re.sub(r"[^A-Za-z0-9_.-]+", "_", last)[:_MAX_NAME] + ("_or_null" if null else "")
        name = stem
        while name in self._taken:
            self._numbers[stem] = self._numbers.get(stem, 1) + 1
            name = f"{stem}_{self._numbers[stem]}"
        self._taken.add(name)
        self._names[place, null] = name
        return name, True

    def refer(self, schema: dict[str, Any], name: str, path: Path) -> None:
        """Makes a schema refer to a definition; `path` is its place in the document."""
        schema["$ref"] = DEFS + name
        self._referring.append((schema, path))

    def cut_circles(self) -> Iterator[Change]:
        """Takes out each reference that makes a schema hold itself; the type that it led to stays."""
        schemas = Schemas({"$defs": self.definitions})
        every = [schema for each in self.definitions.values() for schema in every_schema(each)]
        circular = circular_references(schemas, every)
        for schema, path in self._referring:
            if id(schema) in circular:
                target = self.definitions[schema.pop("$ref").removeprefix(DEFS)]
                if "type" in target:
                    schema.setdefault("type", target["type"])
                yield Change("wider", "what lies deeper in a schema that holds itself is not checked", path)

    def resolved(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        """The schema, or where it is nothing but a reference, what that leads to; after circles were cut."""
        while schema.keys() - {"description", "title"} == {"$ref"}:
            schema = {**self.definitions[schema["$ref"].removeprefix(DEFS)], **_without_ref(schema)}
        return schema

    def needed(self, schema: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """The definitions that a schema needs, by name, sorted."""
        found: dict[str, dict[str, Any]] = {}
        pending = [schema]
        while pending:
            for each in every_schema(pending.pop()):
                name = str(each.get("$ref", "")).removeprefix(DEFS)
                if name and name not in found:
                    found[name] = self.definitions[name]
                    pending.append(self.definitions[name])
        return dict(sorted(found.items()))


def every_schema(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The schema and all that stand in it, in the order of the text."""
    pending = [schema]
    while pending:
        each = pending.pop()
        yield each
        pending += reversed([part for _, part in children(each)])


def place_of(reference: str, document: object) -> Path | None:
    """Where a local reference leads in a document; None if it isn't local or leads to nothing."""
    if reference == "#":
        return ()
    if not reference.startswith("#/"):
        return None
    place: list[str | int] = []
    value = document
    for token in unquote(reference[2:]).split("/"):
        name = token.replace("~1", "/").replace("~0", "~")
        step: str | int = int(name) if isinstance(value, list) and re.fullmatch(r"[0-9]{1,9}", name) else name
        try:
            value = value[step]  # type: ignore[index]
        except (TypeError, KeyError, IndexError):
            return None
        place.append(step)
    return tuple(place)


def value_at(place: Path, document: Any) -> Any:
    """The value at a place that is there."""
    for step in place:
        document = document[step]
    return document


def _without_ref(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != "$ref"}
