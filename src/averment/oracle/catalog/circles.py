"""Which references make a schema hold itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from averment.oracle.catalog.schema import Schema, Schemas, children
from averment.text.source import MAX_DOCUMENT_DEPTH

__all__ = ["circular_references"]

_DEEPEST = 2 * MAX_DOCUMENT_DEPTH  # as far back a reference must stand


def circular_references(schemas: Schemas, every: Sequence[Schema]) -> set[int]:
    """The ids of schemas whose `$ref` closes a circle, one for each circle that a walk through all of them finds.

    A schema holds what its `$ref` leads to and the schemas of its properties, items and `allOf`; its definitions it
    only keeps.

    Args:
        schemas: the schemas of one tool.
        every: each of them, in the order of the text.
    """
    circular: set[int] = set()
    is_open: dict[int, bool] = {}
    for start in every:
        if id(start) in is_open:
            continue
        is_open[id(start)] = True
        trail = [(start, _held(schemas, start))]
        while trail:
            schema, rest = trail[-1]
            held = next(rest, None)
            if held is None:
                is_open[id(schema)] = False
                trail.pop()
            elif id(held) not in is_open:
                is_open[id(held)] = True
                trail.append((held, _held(schemas, held)))
            elif is_open[id(held)]:
                circular.add(_closing(schemas, [each for each, _ in trail[-_DEEPEST:]], held))
    return circular


def _held(schemas: Schemas, schema: Schema) -> Iterator[Schema]:
    target = schemas.target(schema.get("$ref"))
    if target is not None:
        yield target
    for steps, part in children(schema):
        if steps[0] not in {"$defs", "definitions"}:
            yield part


def _closing(schemas: Schemas, trail: list[Schema], first: Schema) -> int:
    """The last schema of a circle that leads on by its `$ref`: text alone can't hold itself."""
    after = first
    for schema in reversed(trail):
        if schemas.target(schema.get("$ref")) is after:
            return id(schema)
        after = schema
    return id(first)
