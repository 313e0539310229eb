"""The JSON Schemas of what is kept of runs, and of two runs compared."""

from __future__ import annotations

from typing import Any

from averment.report.comparison import SCHEMA
from averment.verdicts.changes import Change
from averment.verdicts.comparison import GATES
from averment.verdicts.stored import SCHEMA as RESULTS

__all__ = ["diff_schema", "results_schema"]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TEXT = {"type": "string"}
_COUNT = {"type": "integer", "minimum": 0}
_NUMBER = {"type": "integer", "minimum": 1}
_SEVERITY = {"enum": ["error", "warning", "note"]}


def results_schema(envelope: dict[str, Any]) -> dict[str, Any]:
    """One line of results, `averment.results.v1`.

    Args:
        envelope: the schema of envelopes.
    """
    inner = {name: value for name, value in envelope.items() if name not in ("$schema", "title", "$defs")}
    return {
        "$schema": _DIALECT,
        "title": "averment results, one line of JSON for each conversation",
        **_closed(
            {
                "schema": {"const": RESULTS},
                "document": {**_TEXT, "description": "The document's name, as the user gave it."},
                "files": {
                    "type": "array",
                    "items": _TEXT,
                    "minItems": 1,
                    "description": "The file of each result's assertion; only one where it is the same for all.",
                },
                "conversation": {
                    **_TEXT,
                    "description": "The conversation's name: its file, and its id if need be.",
                },
                "case": _closed(
                    {"suite": _TEXT, "name": _TEXT, "repeat": _NUMBER, "repeats": _NUMBER},
                    ("name", "repeat", "repeats"),
                ),
                "produced": _closed({"file": _TEXT, "sha256": _TEXT}, ("sha256",)),
                "envelope": {"$ref": "#/$defs/envelope"},
            },
            ("case", "produced"),
        ),
        "$defs": {**envelope["$defs"], "envelope": inner},
    }


def diff_schema() -> dict[str, Any]:
    """Two runs compared, `averment.diff.v1`."""
    run = _closed(
        {
            "name": _TEXT,
            "conversations": _COUNT,
            "cases": _COUNT,
            "documents": _texts(),
            "engines": _texts(),
        }
    )
    case = _closed(
        {"document": _TEXT, "suite": _TEXT, "name": _TEXT, "conversation": _TEXT, "number": _NUMBER},
        ("document", "suite", "name", "conversation"),
    )
    side = _closed(
        {
            "pass": _COUNT,
            "fail": _COUNT,
            "inconclusive": _COUNT,
            "not_applicable": _COUNT,
            "severity": _SEVERITY,
            "code": {**_TEXT, "description": "Why the gravest of the repeats is not PASS."},
            "reason": {**_TEXT, "description": "The same in prose, redacted."},
            "conversation": {**_TEXT, "description": "In which conversation it is so."},
        },
        ("code", "reason", "conversation"),
    )
    difference = _closed(
        {
            "change": {"enum": [each.value for each in Change]},
            "case": {"$ref": "#/$defs/case"},
            "id": _TEXT,
            "kind": _TEXT,
            "file": _TEXT,
            "line": _NUMBER,
            "gates": {"type": "boolean", "description": "Whether it is an error in either run."},
            "old": {"$ref": "#/$defs/side"},
            "new": {"$ref": "#/$defs/side"},
            "chance": {
                "type": "number",
                "minimum": 0,
                "maximum": 1,
                "description": "How likely chance alone puts so many of the failures into the new run: "
                "Fisher's exact test, one-sided, over the repeats that decided.",
            },
        },
        ("line", "old", "new", "chance"),
    )
    counts = _closed({each.value: {**_COUNT, "description": each.meaning} for each in Change})
    severity = _closed({"id": _TEXT, "old": _SEVERITY, "new": _SEVERITY, "cases": _NUMBER})
    return {
        "$schema": _DIALECT,
        "title": "averment diff, two runs compared",
        **_closed(
            {
                "schema": {"const": SCHEMA},
                "exit_code": {"enum": [0, 1]},
                "fail_on": {"type": "array", "items": {"enum": list(GATES)}},
                "engine": _closed({"name": _TEXT, "version": _TEXT}),
                "old": run,
                "new": run,
                "cases": {**_COUNT, "description": "How many cases both runs have."},
                "other_documents": {**_COUNT, "description": "In how many of these the document is another."},
                "same_evidence": {**_COUNT, "description": "In how many of these the evidence is the same."},
                "fewer_repeats": {
                    **_COUNT,
                    "description": "In how many of these the new run has fewer repeats.",
                },
                "by_order": {
                    "type": "boolean",
                    "description": "Whether conversations without names were matched by their order.",
                },
                "summary": _closed(
                    {"deterministic": counts, "warnings": counts, "missing": _COUNT, "new": _COUNT}
                ),
                "severities": {"type": "array", "items": severity},
                "differences": {"type": "array", "items": {"$ref": "#/$defs/difference"}},
                "missing_cases": {"type": "array", "items": {"$ref": "#/$defs/case"}},
                "new_cases": {"type": "array", "items": {"$ref": "#/$defs/case"}},
            }
        ),
        "$defs": {"case": case, "side": side, "difference": difference},
    }


def _texts() -> dict[str, Any]:
    return {"type": "array", "items": _TEXT}


def _closed(properties: dict[str, Any], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }
