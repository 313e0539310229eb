"""The parameters of a tool: always an object whose properties stand in the open, where that is possible."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from averment.oracle.catalog.schema import declared_types
from averment.oracle.scaffold.subset.shared import Shared
from averment.oracle.scaffold.subset.unions import merged

__all__ = ["as_object"]


def as_object(schema: Mapping[str, Any], shared: Shared) -> dict[str, Any] | None:
    """A schema in the subset as one of an object with `properties`; None where it allows no object.

    What it refers to, and the members of its `allOf`, are written into it as far as they agree; circles were cut.
    """
    whole = dict(shared.resolved(schema))
    while "allOf" in whole:
        joint: dict[str, Any] | None = {key: value for key, value in whole.items() if key != "allOf"}
        for member in whole["allOf"]:
            joint = None if joint is None else merged(joint, shared.resolved(member))
        if joint is None:
            break
        whole = joint
    types = declared_types(whole)
    if types is not None and "object" not in types:
        return None
    if "enum" in whole:
        whole["enum"] = [value for value in whole["enum"] if isinstance(value, dict)]
    if not isinstance(whole.get("const", {}), dict) or whole.get("enum") == []:
        return None
    return {"type": "object", **{key: value for key, value in whole.items() if key != "type"}} | {
        "properties": whole.get("properties", {})
    }
