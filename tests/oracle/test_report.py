from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

import averment.oracle.report as reports
from averment.cli.schema import NAMES
from averment.errors import Problem
from averment.oracle.certify import Certification
from averment.oracle.findings import Failure, Row
from averment.oracle.model.options import Options
from averment.oracle.model.pack import Pack
from averment.oracle.worker.backend import Attempt
from averment.oracle.worker.isolation import isolation
from averment.report.schemas import schema
from averment.text.jsontext import pretty

Handmade = Callable[..., Pack]
DIGEST = f"sha256:{'0' * 64}"


@pytest.fixture
def certified(handmade: Handmade) -> Callable[..., Certification]:
    """Makes a certification of rows, without a pack's files."""

    def made(*rows: Row, **more: Any) -> Certification:
        pack = msgspec.structs.replace(handmade(), fingerprint=DIGEST)
        return Certification(**{"pack": pack, "options": Options(), "rows": rows, "assertions": 2, **more})

    return made


def test_the_fields_are_the_contracts_and_what_this_house_adds(
    certified: Callable[..., Certification],
) -> None:
    """Numbered checks in one list, all others in the other."""
    rows = [Row("1", "template_tool_names", "pass"), Row("D1", "determinism_check", "pass")]
    shown = reports.report(certified(*rows))
    assert [row["id"] for row in shown["checks"]] == ["1"]
    assert [row["id"] for row in shown["extra_checks"]] == ["D1"]
    assert (shown["pack_id"], shown["pack_version"], shown["pack_fingerprint"]) == ("library", "1", DIGEST)
    assert (shown["tier"], shown["gold_eligible"], shown["checks_absent"]) == ("prototype", False, [])
    assert shown["stats"] == {
        "n_tools": 2,
        "n_templates": 0,
        "n_assertions": 2,
        "n_fixture_collections": 1,
        "n_validation_cases": 0,
        "has_backend": True,
        "has_oracle": True,
        "oracle_kind": "backend",
    }


def test_facts_stand_beside_the_reason_and_hide_no_field(certified: Callable[..., Certification]) -> None:
    """A fact named like a field of failures is left out."""
    failure = Failure(reason="raised", message="no", facts={"case": "a", "message": "?", "tool": "t"})
    (row,) = reports.report(certified(Row("5", "declared_validation_cases", "fail", (failure,))))["checks"]
    assert row == {
        "id": "5",
        "name": "declared_validation_cases",
        "status": "fail",
        "failures": [{"reason": "raised", "message": "no", "case": "a", "tool": "t"}],
    }


def test_a_skipped_row_says_why_under_detail(certified: Callable[..., Certification]) -> None:
    """As the contract has it."""
    failure = Failure(reason="not_run", message="why")
    (row,) = reports.report(certified(Row("D1", "determinism_check", "skipped", (failure,))))["extra_checks"]
    assert row["failures"] == [{"reason": "not_run", "message": "why", "detail": "why"}]


def test_what_was_tried_enforced_and_warned_of_is_listed(certified: Callable[..., Certification]) -> None:
    """Without what is not known of it."""
    found = certified(
        attempts=(Attempt("clock", "time.time", "backend.py", 3), Attempt("patch", "json.dumps")),
        isolation=isolation(["limits"]),
        warnings=(Problem(code="x", message="odd", severity="warning"),),
    )
    shown = reports.report(found)
    assert shown["audit"] == [
        {"kind": "clock", "what": "time.time", "file": "backend.py", "line": 3},
        {"kind": "patch", "what": "json.dumps"},
    ]
    assert shown["isolation"]["level"] == "guarded"
    assert shown["lint"] == [{"code": "x", "message": "odd", "severity": "warning"}]


def test_options_are_told_but_not_where_the_report_goes(
    certified: Callable[..., Certification], tmp_path: Path
) -> None:
    """Two people with folders of their own have one report."""
    here = reports.report(certified(options=Options(output_dir=str(tmp_path))))
    there = reports.report(certified(options=Options(output_dir="/elsewhere")))
    assert here == there
    assert not set(Options.NOT_DECIDING) & set(here["options"])
    other = reports.report(certified(options=Options(random_seed=1)))
    assert other["options"]["random_seed"] == 1
    assert other["validation_config_fingerprint"] != here["validation_config_fingerprint"]


def test_a_refusal_has_no_tier_and_every_mistake() -> None:
    """Of a pack that can't be loaded nothing is known."""
    problems = (Problem(code="a", message="one", file="tools.json", line=1), Problem(code="b", message="two"))
    shown = reports.refusal(problems)
    assert (shown["tier"], shown["gold_eligible"], shown["checks"]) == (None, False, [])
    assert [finding["code"] for finding in shown["findings"]] == ["a", "b"]


def test_the_schema_is_offered_and_sound() -> None:
    """`averment schema pack-report`."""
    assert "pack-report" in NAMES
    jsonschema.Draft202012Validator.check_schema(schema("pack-report"))


@pytest.mark.parametrize(
    "change",
    [
        {"tier": "platinum"},
        {"tier": None},
        {"extra": 1},
        {"only": "tools"},
        {"schema": "another"},
        {"checks": [{"id": "9", "name": "x", "status": "pass", "failures": []}]},
        {"checks": [{"id": "1", "name": "x", "status": "passed", "failures": []}]},
        {"checks": [{"id": "1", "name": "x", "status": "fail", "failures": [{"reason": "x"}]}]},
        {"findings": []},
    ],
)
def test_the_schema_refuses_what_is_no_report(
    certified: Callable[..., Certification], change: dict[str, Any]
) -> None:
    """A program may rely on it."""
    validator = jsonschema.Draft202012Validator(schema("pack-report"))
    written = msgspec.json.decode(pretty(reports.report(certified())))
    assert validator.is_valid(written)
    assert not validator.is_valid({**written, **change})
