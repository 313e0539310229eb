"""The published JSON Schemas: documents for editors, envelopes and evidence for consumers."""

from __future__ import annotations

from typing import Any

import msgspec

from averment.assertions import KINDS, kind
from averment.assertions.base import Status
from averment.assertions.codes import Code
from averment.documents.document import Fields
from averment.evidence.model import EvidenceModel

__all__ = ["schema"]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema(name: str) -> dict[str, Any]:
    """The schema of `document`, `envelope` or `evidence`."""
    return {"document": _document, "envelope": _envelope, "evidence": _evidence}[name]()


def _document() -> dict[str, Any]:
    template = "#/$defs/{name}"
    classes = [Fields, *(kind(name) for name in KINDS)]
    schemas, definitions = msgspec.json.schema_components(classes, ref_template=template)
    definitions["Fields"]["properties"]["assertions"]["items"] = {
        "type": "object",
        "required": ["kind"],
        "oneOf": schemas[1:],
    }
    top = definitions.pop("Fields")
    return {"$schema": _DIALECT, **top, "title": "averment assertion document", "$defs": definitions}


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
                {"line": {"type": "integer", "minimum": 1}, "column": {"type": "integer", "minimum": 1}}
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
