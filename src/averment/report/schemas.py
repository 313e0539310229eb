"""The published JSON Schemas: documents and packs for editors, envelopes and evidence for consumers."""

from __future__ import annotations

from typing import Any

import msgspec

from averment.assertions import KINDS, kind
from averment.assertions.base import Status
from averment.assertions.codes import Code
from averment.documents.fields import Fields
from averment.evidence.mapping import mapping_schema
from averment.evidence.model import EvidenceModel

__all__ = ["schema"]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema(name: str) -> dict[str, Any]:
    """The schema of `document`, `suite`, `envelope`, `results`, `diff`, `evidence`, `mapping`, and with `pack-` of the files of packs.

    A pack's files are `PACK_SCHEMAS`, those of its benchmark `BUILD_SCHEMAS`; beside them `pack-report` and `pack-grade`.
    """
    if name == "pack-report":
        from averment.oracle.report_schema import report_schema

        return report_schema()
    if name == "pack-grade":
        from averment.oracle.grade.schema import grade_schema

        return grade_schema()
    if name.startswith("pack-"):
        from averment.oracle.model.schemas import PACK_SCHEMAS, pack_schema

        if name in PACK_SCHEMAS:
            return pack_schema(name)
        from averment.oracle.build.schemas import build_schema

        return build_schema(name)
    if name == "suite":
        from averment.suites.fields import suite_schema

        return suite_schema()
    if name in ("results", "diff"):
        from averment.report.comparison_schema import diff_schema, results_schema

        return results_schema(_envelope()) if name == "results" else diff_schema()
    return {"document": _document, "envelope": _envelope, "evidence": _evidence, "mapping": mapping_schema}[
        name
    ]()


def _document() -> dict[str, Any]:
    classes = [Fields, *(kind(name) for name in KINDS)]
    references, definitions = msgspec.json.schema_components(classes, ref_template="#/$defs/{name}")
    top = definitions.pop("Fields")
    include = definitions.pop("Include")  # says values for variables and holds none
    definitions = {name: _fillable(each) for name, each in {**definitions, **_expected()}.items()}
    top["allOf"] = _needed_unless_default({name: definitions[kind(name).__name__] for name in KINDS})
    # Assertions may be left out where documents are included.
    top["anyOf"] = [
        {"required": [name], "properties": {name: {"minItems": 1}}} for name in ("assertions", "include")
    ]
    # One kind is chosen by its name, so that an editor completes and marks its fields and no other kind's.
    top["properties"]["assertions"]["items"] = {
        "type": "object",
        "required": ["id", "kind"],
        "properties": {"kind": {"enum": list(KINDS), "description": "What is asserted."}},
        "allOf": [
            {"if": {"properties": {"kind": {"const": name}}, "required": ["kind"]}, "then": reference}
            for name, reference in zip(KINDS, references[1:], strict=True)
        ],
    }
    return {
        "$schema": _DIALECT,
        **top,
        "title": "averment assertion document",
        "$defs": {"Include": include, **definitions, "variable": _VARIABLE},
    }


_SCALARS = {"boolean", "integer", "number"}
_VARIABLE = {"type": "string", "pattern": r"\{\{[^{}]+\}\}", "description": "The value of a variable."}


def _fillable(node: Any) -> Any:
    """The same schema, where `{{name}}` may stand for each scalar but an assertion's kind (`documents.variables`)."""
    if isinstance(node, list):
        return [_fillable(inner) for inner in node]
    if not isinstance(node, dict):
        return node
    types = node.get("type")
    scalars = {types} if isinstance(types, str) else set(types) if isinstance(types, list) else set()
    if isinstance(node.get("enum"), list) or ("string" not in scalars and scalars & _SCALARS):
        outside = {name: node[name] for name in ("description", "default") if name in node}
        inside = {name: value for name, value in node.items() if name not in outside}
        return {**outside, "anyOf": [inside, {"$ref": "#/$defs/variable"}]}
    return {name: inner if name == "kind" else _fillable(inner) for name, inner in node.items()}


def _needed_unless_default(definitions: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """What the kinds require, moved from their definitions to where `defaults` may give it (`documents.expand`)."""
    needed: dict[str, list[str]] = {}
    for name, definition in definitions.items():
        for field in definition["required"]:
            needed.setdefault(field, []).append(name)
        definition["required"] = [field for field in ("kind", "id") if field in definition["required"]]
    return [
        {
            "if": {"required": ["defaults"], "properties": {"defaults": {"required": [field]}}},
            "else": {
                "properties": {
                    "assertions": {
                        "items": {
                            "if": {"required": ["kind"], "properties": {"kind": {"enum": names}}},
                            "then": {"required": [field]},
                        }
                    }
                }
            },
        }
        for field, names in needed.items()
        if field not in ("kind", "id")
    ]


def _expected() -> dict[str, Any]:
    """Expected values: a mapping is either all operators or none (`assertions.values`)."""
    value = {"$ref": "#/$defs/expected"}
    several = {"type": "array", "items": value, "minItems": 1}
    comparable = {"type": ["number", "string"]}
    size = {"type": "number", "minimum": 0}
    operators: dict[str, tuple[dict[str, Any], str]] = {
        "$ne": ({}, "Not equal to this plain value."),
        "$gt": (comparable, "Greater than."),
        "$gte": (comparable, "Greater than or equal to."),
        "$lt": (comparable, "Less than."),
        "$lte": (comparable, "Less than or equal to."),
        "$in": (several, "Matches at least one of these."),
        "$nin": (several, "Matches none of these."),
        "$regex": ({"type": "string", "minLength": 1}, "A text in which the pattern is found; case counts."),
        "$exists": ({"type": "boolean"}, "There is a value, or with false there is none."),
        "$type": (
            {"enum": ["string", "integer", "number", "boolean", "null", "array", "object"]},
            "Is of this type.",
        ),
        "$len": ({"type": ["integer", "number", "object"]}, "The length matches."),
        "$contains": (value, "A part of a text, an element of a list or a key of a mapping."),
        "$all": (several, "Matches every one of these."),
        "$any": (several, "Matches at least one of these."),
        "$not": (value, "Does not match."),
        "$approx": (
            {
                "type": "object",
                "properties": {"value": {"type": "number"}, "abs": size, "rel": size},
                "required": ["value"],
                "anyOf": [{"required": ["abs"]}, {"required": ["rel"]}],
                "additionalProperties": False,
            },
            "A number at most so far from `value`.",
        ),
        "$exact": (value, "Matches, and no mapping in it has other keys."),
        "$ignore": (
            {"type": "array", "items": {"type": "string"}},
            "Beside `$exact`: dotted paths that do not count.",
        ),
        "$literal": ({}, "Equal to this, verbatim."),
    }
    fields = {
        "type": "object",
        "propertyNames": {"pattern": "^(?!\\$)"},
        "additionalProperties": value,
        "description": "Every key must be there and match; others may be there too.",
    }
    return {
        "operators": {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": False,
            "properties": {
                name: {**shape, "description": about} for name, (shape, about) in operators.items()
            },
        },
        "expected_fields": {"if": _HAS_OPERATOR, "then": {"$ref": "#/$defs/operators"}, "else": fields},
        "expected": {
            "if": {"type": "object"},
            "then": {"$ref": "#/$defs/expected_fields"},
            "else": {"if": {"type": "array"}, "then": {"items": value}},
        },
    }


_HAS_OPERATOR = {"minProperties": 1, "not": {"propertyNames": {"not": {"pattern": "^\\$"}}}}


def _evidence() -> dict[str, Any]:
    return {"$schema": _DIALECT, **msgspec.json.schema(EvidenceModel)}


def _envelope() -> dict[str, Any]:
    text = {"type": "string"}
    count = {"type": "integer", "minimum": 0}
    digest = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}

    def closed(properties: dict[str, Any], optional: tuple[str, ...] = ()) -> dict[str, Any]:
        required = [name for name in properties if name not in optional]
        return {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        }

    counts = closed({"pass": count, "fail": count, "inconclusive": count})
    result = {
        "type": "object",
        "required": ["id", "kind", "deterministic", "status"],
        "propertyNames": {"not": {"const": "overall_score"}},
        "additionalProperties": {"$ref": "#/$defs/value"},
        "properties": {
            "id": text,
            "kind": {"enum": list(KINDS)},
            "deterministic": {"const": True},
            "dimension": {"enum": ["outcome", "policy", "conversation", "speech", "reliability"]},
            "severity": {"enum": ["warning", "note"]},
            "tags": {"type": "array", "items": text},
            "owner": text,
            "description": text,
            "at": closed(
                {
                    "line": {"type": "integer", "minimum": 1},
                    "column": {"type": "integer", "minimum": 1},
                    "file": text,
                },
                ("file",),
            ),
            "met": count,
            "of": count,
            "refs": {"type": "array", "items": text},
            "skipped": {"const": True},
            "not_scanned": {"type": "array", "items": text},
            "turns": {"type": "array", "items": count},
            "tool_calls": {"type": "array", "items": text},
            "span_ids": {"type": "array", "items": text},
            "status": {"enum": [status.value for status in Status]},
            "code": {"enum": [code.value for code in Code]},
            "evidence_gap": closed(
                {"channel": text, "state": text, "how": text, "source_format": text}, ("source_format",)
            ),
            "reason": text,
            "public_reason": {"type": "string", "maxLength": 240},
        },
    }
    turn = closed(
        {
            "role": {"type": ["string", "null"]},
            "text": text,
            "start": {"type": "number"},
            "end": {"type": "number"},
        },
        ("start", "end"),
    )
    top = closed(
        {
            "schema": {"const": "assert.v1"},
            "exit_code": {"enum": [0, 1, 2, 3]},
            "inconclusive_policy": {"enum": ["report", "fail", "refuse"]},
            "engine": closed({"name": text, "version": text}),
            "document": closed({"name": text, "sha256": digest}, ("name",)),
            "evidence_sha256": digest,
            "results": {"type": "array", "items": {"$ref": "#/$defs/result"}},
            "redacted_transcript": {"type": "array", "items": turn},
            "summary": closed(
                {
                    "deterministic": counts,
                    "not_applicable": count,
                    "warnings": counts,
                    "judge": closed({"pass": {"const": 0}, "fail": {"const": 0}}),
                    "note": text,
                }
            ),
        },
        ("redacted_transcript",),
    )
    value = {
        "propertyNames": {"not": {"const": "overall_score"}},
        "additionalProperties": {"$ref": "#/$defs/value"},
        "items": {"$ref": "#/$defs/value"},
    }
    return {
        "$schema": _DIALECT,
        "title": "averment envelope, assert.v1",
        **top,
        "$defs": {"result": result, "value": value},
    }
