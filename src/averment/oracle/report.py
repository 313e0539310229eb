"""`oracle_validation_report.json`: a certification as one JSON object, the same bytes for the same pack and options.

The contract's fields (5.5), and beside them `schema`, `engine`, `checks_absent`, `isolation`, `audit`, `lint`. No time, no
absolute path, nothing of the machine but what it could enforce.
"""

from __future__ import annotations

from typing import Any

import msgspec

from averment._version import __version__
from averment.errors import Problem
from averment.oracle.certify import CHECKS_ABSENT, Certification
from averment.oracle.findings import Failure, Row
from averment.text.jsontext import digest

__all__ = ["LOGIC_VERSION", "SCHEMA", "refusal", "report"]

SCHEMA = "averment.oracle_validation_report.v1"
"""What a report says that it is; `averment schema pack-report` is its schema."""

LOGIC_VERSION = 1
"""Raised when checks come to judge differently: reports of two versions are then told apart by their digests."""


def report(found: Certification) -> dict[str, Any]:
    """The report of a certification."""
    pack = found.pack
    numbered = [row for row in found.rows if row.id.isdigit()]
    extra = [row for row in found.rows if not row.id.isdigit()]
    oracle_kind = "endpoint" if pack.endpoint is not None else "backend"
    options = found.options.deciding()
    shown: dict[str, Any] = {
        "schema": SCHEMA,
        "engine": {"name": "averment", "version": __version__},
        "pack_id": pack.manifest.pack_id,
        "pack_version": pack.manifest.version,
        "pack_fingerprint": pack.fingerprint,
        "validation_config_fingerprint": digest({"logic": LOGIC_VERSION, "options": options}),
        "options": options,
        "checks": [_row(row) for row in numbered],
        "extra_checks": [_row(row) for row in extra],
        "checks_absent": list(CHECKS_ABSENT),
        "lint": [_problem(warning) for warning in found.warnings],
        "kill_table": {name: kills.by_kind for name, kills in found.kills.items()},
        "isolation": None if found.isolation is None else msgspec.to_builtins(found.isolation),
        "audit": [
            {key: value for key, value in msgspec.to_builtins(attempt).items() if value}
            for attempt in found.attempts
        ],
        "stats": {
            "n_tools": len(pack.tools),
            "n_templates": len(pack.templates),
            "n_assertions": found.assertions,
            "n_fixture_collections": len(pack.fixtures),
            "n_validation_cases": len(pack.cases),
            "has_backend": oracle_kind == "backend",
            "has_oracle": True,
            "oracle_kind": oracle_kind,
        },
        "endpoint_metadata": found.endpoint_metadata,
    }
    if found.only is not None:  # a part of a pack has no tier
        return {**shown, "only": found.only, "passed": found.passed}
    return {**shown, "gold_eligible": found.tier == "gold", "tier": found.tier}


def refusal(problems: tuple[Problem, ...]) -> dict[str, Any]:
    """The report of a pack that can't be loaded: no check, no tier, every mistake."""
    return {
        "schema": SCHEMA,
        "engine": {"name": "averment", "version": __version__},
        "checks": [],
        "extra_checks": [],
        "checks_absent": list(CHECKS_ABSENT),
        "findings": [_problem(problem) for problem in problems],
        "gold_eligible": False,
        "tier": None,
    }


def _row(row: Row) -> dict[str, Any]:
    failures = [_failure(failure) for failure in row.failures]
    return {"id": row.id, "name": row.name, "status": row.status, "failures": failures}


def _failure(failure: Failure) -> dict[str, Any]:
    plain = msgspec.to_builtins(failure)
    facts = plain.pop("facts", {})
    if failure.reason == "not_run":
        plain["detail"] = failure.message
    return {**plain, **{key: value for key, value in facts.items() if key not in plain}}


def _problem(problem: Problem) -> dict[str, Any]:
    shown: dict[str, Any] = msgspec.to_builtins(problem)
    return shown
