"""The JSON Schema of the report of `averment pack grade`: what a program may rely on."""

from __future__ import annotations

from typing import Any

import msgspec

from averment.errors import Problem
from averment.oracle.grade.compare import REASONS as COMPARED
from averment.oracle.grade.gates import OUTCOME, PATH, RUN, WHY
from averment.oracle.grade.metrics import METRICS, REASONS, Metric
from averment.oracle.grade.policy import Policy
from averment.oracle.grade.report import GradedRun

__all__ = ["SCHEMA", "grade_schema"]

SCHEMA = "averment.pack_grade.v1"


def grade_schema() -> dict[str, Any]:
    """The schema, in JSON Schema 2020-12."""
    classes = [GradedRun, Metric, Policy, Problem]
    _, definitions = msgspec.json.schema_components(classes, ref_template="#/$defs/{name}")
    for definition in definitions.values():
        definition["description"] = definition.get("description", "").partition("\n\n")[0]
        if definition.get("type") == "object":
            definition["additionalProperties"] = False
    definitions["Gate"]["properties"]["name"] = {"enum": [*OUTCOME, *PATH, *RUN]}
    definitions["Gate"]["properties"]["why"] = {"enum": list(WHY)}
    definitions["Comparison"]["properties"]["reason"] = {"enum": list(COMPARED)}
    metric = definitions["Metric"]["properties"]
    metric["name"] = {"enum": list(METRICS)}
    metric["numerator"] = metric["denominator"] = metric["undecided"] = _COUNT
    metric["value"] = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
    metric["reason"] = {"enum": [None, *(f"metric.{reason}" for reason in REASONS)]}
    definitions["Count"]["items"] = _COUNT
    definitions["Policy"]["required"] = list(Policy.__struct_fields__)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "averment report on graded runs",
        **_closed(
            {
                "schema": {"const": SCHEMA},
                "engine": _closed({"name": {"const": "averment"}, "version": _TEXT}),
                "pack": _closed({"pack_id": _TEXT, "version": _TEXT, "content_hash": _DIGEST}),
                "oracle_clock": _TEXT,
                "benchmark": {"anyOf": [{"type": "null"}, _closed({"content_hash": _DIGEST})]},
                "mode": {"enum": ["executable", "trace"]},
                "policy": {"$ref": "#/$defs/Policy"},
                "runs": _list_of("GradedRun"),
                "not_graded": _list_of("Problem"),
                "summary": _closed(dict.fromkeys(_SUMMARY, _COUNT)),
                "metrics": {**_list_of("Metric"), "minItems": len(METRICS), "maxItems": len(METRICS)},
            }
        ),
        "$defs": definitions,
    }


_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}
_DIGEST = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}
_SUMMARY = ("runs", "passed", "failed", "undecided", "not_applicable", "not_graded")


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list_of(name: str) -> dict[str, Any]:
    return {"type": "array", "items": {"$ref": f"#/$defs/{name}"}}
