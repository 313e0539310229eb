"""The JSON Schemas of a pack's files, for editors: what completes and marks there is what loading reads and refuses.

They come from the structs, with their descriptions. What they mark beyond that are keys that mean nothing, which
loading only warns of; what they can't say is left to loading: names that must be unique, or exist elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from averment.oracle.model.cases import Case
from averment.oracle.model.endpoint import Endpoint
from averment.oracle.model.held_out import HeldOut
from averment.oracle.model.manifest import Manifest
from averment.oracle.model.options import IGNORED, OptionsFile
from averment.oracle.model.templates import Template
from averment.oracle.model.tools import ToolEntry

__all__ = ["PACK_SCHEMAS", "pack_schema"]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_LABEL = {"type": ["string", "number"], "pattern": r"\S"}
_TYPES = ["string", "integer", "number", "boolean", "array", "object", "null"]


def pack_schema(name: str) -> dict[str, Any]:
    """The schema of one of `PACK_SCHEMAS`, in JSON Schema 2020-12."""
    file, made = _FILES[name]
    return {"$schema": _DIALECT, "title": f"averment oracle pack: {file}", **made()}


def _manifest() -> dict[str, Any]:
    definitions = _definitions(Manifest)
    properties = definitions["Manifest"]["properties"]
    for name in ("pack_id", "version"):
        properties[name].update(_LABEL)
    definitions["Paths"]["not"] = _both("backend", "endpoint")
    return _top(definitions, "Manifest")


def _tools() -> dict[str, Any]:
    definitions = _definitions(ToolEntry)
    definitions["schema"] = _argument_schema()
    definitions["parameters"] = {
        "$ref": "#/$defs/schema",
        "properties": {"type": {"const": "object"}},
    }
    return _list_of(definitions, "ToolEntry")


def _templates() -> dict[str, Any]:
    definitions = _definitions(Template)
    template, milestone = definitions["Template"], definitions["Milestone"]
    first = template["properties"]["user_turn_templates"]
    template["properties"]["first_turn_templates"] = {
        **first,
        "description": "Another name of `user_turn_templates`.",
    }
    template.update(_if("call_order", "prefix", "call_order_prefix"))
    template["else"] = {"properties": {"call_order_prefix": {"type": "null"}}}
    milestone.update(_if("type", "tool_call", "tool"))
    milestone["then"]["properties"] = {"tool": {"type": "string"}}
    return _list_of(definitions, "Template")


def _cases() -> dict[str, Any]:
    return _list_of(_definitions(Case), "Case")


def _fixtures() -> dict[str, Any]:
    return {
        "type": "object",
        "description": "What every reset restores: collections of rows; a value that is no list is no collection.",
        "additionalProperties": {"items": {"type": "object", "description": "A row."}},
    }


def _held_out() -> dict[str, Any]:
    definitions = _definitions(HeldOut)
    definitions["HeldOut"]["properties"]["version"].update(_LABEL)
    return _top(definitions, "HeldOut")


def _endpoint() -> dict[str, Any]:
    definitions = _definitions(Endpoint)
    definitions["Auth"]["not"] = _both("bearer_token_env", "bearer_token_ref")
    return _top(definitions, "Endpoint")


def _options() -> dict[str, Any]:
    definitions = _definitions(OptionsFile)
    sections = {(): "OptionsFile", ("oracle_runtime",): "OracleRuntime"}
    sections |= {("surface_generation",): "SurfaceGeneration", ("task_generation",): "TaskGeneration"}
    for section, ignored in IGNORED.items():
        about = {"description": "Part of a generation config of the contract; has no effect here."}
        definitions[sections[section]]["properties"].update(dict.fromkeys(ignored, about))
    return _top(definitions, "OptionsFile")


_FILES: dict[str, tuple[str, Callable[[], dict[str, Any]]]] = {
    "pack-manifest": ("manifest.yaml", _manifest),
    "pack-tools": ("tools.json", _tools),
    "pack-templates": ("task_templates.yaml", _templates),
    "pack-cases": ("validation_cases.yaml", _cases),
    "pack-fixtures": ("fixtures.json", _fixtures),
    "pack-held-out": ("held_out.yaml", _held_out),
    "pack-endpoint": ("endpoint_config.yaml", _endpoint),
    "pack-options": ("run options", _options),
}
PACK_SCHEMAS: tuple[str, ...] = tuple(_FILES)
"""The names of the schemas."""


def _definitions(cls: type[msgspec.Struct]) -> dict[str, dict[str, Any]]:
    """The schemas of a struct and those in it, closed, without the keys that no file sets."""
    _, definitions = msgspec.json.schema_components([cls], ref_template="#/$defs/{name}")
    for definition in definitions.values():
        definition["additionalProperties"] = False
        definition["properties"].pop("index", None)
        definition["description"] = definition["description"].partition("\n\nAttributes:")[0]
    return definitions


def _top(definitions: dict[str, Any], name: str) -> dict[str, Any]:
    top = definitions.pop(name)
    del top["title"]
    return {**top, "$defs": definitions}


def _list_of(definitions: dict[str, Any], name: str) -> dict[str, Any]:
    return {"type": "array", "items": {"$ref": f"#/$defs/{name}"}, "$defs": definitions}


def _both(*names: str) -> dict[str, Any]:
    """Both keys are there, with a value; what may not be."""
    return {"required": list(names), "properties": {name: {"type": "string"} for name in names}}


def _if(name: str, value: str, needed: str) -> dict[str, Any]:
    """A key is needed where another has a value."""
    return {
        "if": {"properties": {name: {"const": value}}, "required": [name]},
        "then": {"required": [needed]},
    }


def _argument_schema() -> dict[str, Any]:
    """The subset of JSON Schema that tools are declared in (contract, section 1.4)."""
    inner = {"$ref": "#/$defs/schema"}
    named = {"type": "object", "additionalProperties": inner}
    count = {"type": "integer", "minimum": 0}
    text, flag = {"type": "string"}, {"type": "boolean"}
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "type": {
                "oneOf": [{"enum": _TYPES}, {"type": "array", "items": {"enum": _TYPES}, "uniqueItems": True}]
            },
            "description": {**text, "description": "What the value means, for the model."},
            "title": text,
            "default": {"description": "What stands where the argument is left out."},
            "examples": {},
            "deprecated": flag,
            "readOnly": flag,
            "writeOnly": flag,
            "format": {**text, "description": "For people; never checked."},
            "enum": {"type": "array", "minItems": 1},
            "const": {},
            "properties": named,
            "required": {"type": "array", "items": text, "uniqueItems": True},
            "additionalProperties": flag,
            "items": inner,
            "pattern": {**text, "description": "Searched, not matched from end to end."},
            "minLength": count,
            "maxLength": count,
            "minimum": {"type": "number"},
            "maximum": {"type": "number"},
            "minItems": count,
            "maxItems": count,
            "allOf": {"type": "array", "items": inner, "minItems": 1},
            "$ref": {**text, "pattern": "^#(?:/|$)"},
            "$defs": named,
            "definitions": named,
        },
    }
