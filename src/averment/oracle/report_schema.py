"""The JSON Schema of `oracle_validation_report.json`: what a program may rely on.

A report is one of three: of a whole certification, of a part of it (`--only`), or of what could not be checked.
Failures are open: beside the reason stand the facts of the check that gives it.
"""

from __future__ import annotations

from typing import Any, get_args

import msgspec

from averment.errors import Problem
from averment.oracle.certify import CHECKS, PARTS, Tier
from averment.oracle.findings import Failure, Row
from averment.oracle.model.options import Options
from averment.oracle.replay.mutants import KINDS
from averment.oracle.report import SCHEMA
from averment.oracle.worker.backend import Attempt
from averment.oracle.worker.isolation import Isolation

__all__ = ["report_schema"]


def report_schema() -> dict[str, Any]:
    """The schema, in JSON Schema 2020-12."""
    classes = [Row, Failure, Problem, Attempt, Isolation, Options]
    _, definitions = msgspec.json.schema_components(classes, ref_template="#/$defs/{name}")
    for definition in definitions.values():
        definition["description"] = definition["description"].partition("\n\n")[0]
        definition["additionalProperties"] = False
    for name in Options.NOT_DECIDING:
        del definitions["Options"]["properties"][name]
    definitions["Options"]["required"] = sorted(definitions["Options"]["properties"])
    definitions["Row"]["required"] = ["id", "name", "status", "failures"]
    definitions["Row"]["properties"]["id"] = {"enum": list(CHECKS)}
    del definitions["Failure"]["properties"]["facts"]
    definitions["Failure"]["additionalProperties"] = True
    definitions["Attempt"]["required"] = ["kind", "what"]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "averment oracle validation report",
        "oneOf": [_certified(), _of_a_part(), _refused()],
        "$defs": definitions,
    }


_TEXT = {"type": "string"}
_DIGEST = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}
_COUNT = {"type": "integer", "minimum": 0}
_FLAG = {"type": "boolean"}


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list_of(name: str) -> dict[str, Any]:
    return {"type": "array", "items": {"$ref": f"#/$defs/{name}"}}


def _always() -> dict[str, Any]:
    return {
        "schema": {"const": SCHEMA},
        "engine": _closed({"name": {"const": "averment"}, "version": _TEXT}),
        "checks": _list_of("Row"),
        "extra_checks": _list_of("Row"),
        "checks_absent": {"type": "array", "items": {"type": "integer"}},
    }


def _examined() -> dict[str, Any]:
    """What every report of a pack that loads has."""
    kinds = {"enum": ["backend", "endpoint"]}
    counts = ("tools", "templates", "fixture_collections", "validation_cases")
    stats = {
        **{f"n_{name}": _COUNT for name in counts},
        "n_assertions": {"type": ["integer", "null"], "minimum": 0},
        "has_backend": _FLAG,
        "has_oracle": {"const": True},
        "oracle_kind": kinds,
    }
    return {
        **_always(),
        "pack_id": _TEXT,
        "pack_version": _TEXT,
        "pack_fingerprint": _DIGEST,
        "validation_config_fingerprint": _DIGEST,
        "options": {"$ref": "#/$defs/Options"},
        "lint": _list_of("Problem"),
        "kill_table": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "propertyNames": {"enum": list(KINDS)},
                "additionalProperties": {"type": "array", "items": _COUNT, "minItems": 2, "maxItems": 2},
            },
        },
        "isolation": {"anyOf": [{"type": "null"}, {"$ref": "#/$defs/Isolation"}]},
        "audit": _list_of("Attempt"),
        "stats": _closed(stats),
        "endpoint_metadata": {"type": ["object", "null"]},
    }


def _certified() -> dict[str, Any]:
    more = {"gold_eligible": _FLAG, "tier": {"enum": list(get_args(Tier))}}
    return {"description": "All checks of a pack.", **_closed({**_examined(), **more})}


def _of_a_part() -> dict[str, Any]:
    more = {"only": {"enum": list(PARTS)}, "passed": _FLAG}
    return {"description": "A part of the checks; a part has no tier.", **_closed({**_examined(), **more})}


def _refused() -> dict[str, Any]:
    more = {
        "checks": {"maxItems": 0},
        "extra_checks": {"maxItems": 0},
        "findings": {**_list_of("Problem"), "minItems": 1},
        "gold_eligible": {"const": False},
        "tier": {"type": "null"},
    }
    return {"description": "No verdict could be reached.", **_closed({**_always(), **more})}
