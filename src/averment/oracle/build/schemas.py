"""The JSON Schemas of what a build writes: of a row, a dropped task, the manifest and the environment.

They come from the structs that are written, so that they say what is there: every key, none besides.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from averment.oracle.build.dropped import DroppedRow
from averment.oracle.build.manifest import Environment, RunManifest
from averment.oracle.build.rows import Row

__all__ = ["BUILD_SCHEMAS", "build_schema"]

BUILD_SCHEMAS: Final[dict[str, tuple[str, type[msgspec.Struct]]]] = {
    "pack-row": ("a line of benchmark.jsonl", Row),
    "pack-dropped-row": ("a line of dropped.jsonl", DroppedRow),
    "pack-run-manifest": ("run_manifest.json", RunManifest),
    "pack-build-environment": ("build_environment.json", Environment),
}
"""By name, what each schema is of."""

_OPEN: Final = frozenset({"Problem"})
"""Shapes that leave out what they have nothing to say of."""


def build_schema(name: str) -> dict[str, Any]:
    """The schema of one of `BUILD_SCHEMAS`, in JSON Schema 2020-12."""
    what, kind = BUILD_SCHEMAS[name]
    _, definitions = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    for definition in definitions.values():
        definition["additionalProperties"] = False
        definition["description"] = definition["description"].partition("\n\nAttributes:")[0]
        if definition["title"] not in _OPEN:
            definition["required"] = list(definition["properties"])
            for each in definition["properties"].values():
                each.pop("default", None)  # everything is written
    top = definitions.pop(kind.__name__)
    del top["title"]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"averment benchmark: {what}",
        **top,
        **({"$defs": definitions} if definitions else {}),
    }
