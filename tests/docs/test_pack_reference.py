"""The generated reference of oracle packs, checked against the code: every file, every check, every code is there."""

from __future__ import annotations

import re
import runpy
from collections.abc import Iterable
from pathlib import Path
from typing import get_args

import pytest

from averment.oracle.catalog.reasons import ARGUMENT_REASONS
from averment.oracle.certify import CHECKS, check
from averment.oracle.checks.assertions_importable import WARNINGS
from averment.oracle.checks.representative_generation import WARNINGS as VACUOUS
from averment.oracle.child import audit, scan_names
from averment.oracle.compile.refusals import REFUSALS
from averment.oracle.gold import reasons as gold
from averment.oracle.lint import codes as lint
from averment.oracle.model import codes as loading
from averment.oracle.model.schemas import PACK_SCHEMAS, pack_schema
from averment.oracle.oracles import Trouble
from averment.oracle.tasks import codes as tasks
from averment.oracle.tasks import dependent, trace_checks
from averment.oracle.tasks.trace_faults import FAULTS

_ROOT = Path(__file__).parents[2]
_SOURCE = _ROOT / "src" / "averment"
_BUILD = runpy.run_path(str(_ROOT / "docs" / "pack_reference.py"))
_CODES = runpy.run_path(str(_ROOT / "docs" / "code_reference.py"))
_PAGES: dict[str, str] = _BUILD["pages"]() | _CODES["pages"]()
_TITLES = {file.title: f"{file.page}.md" for file in _BUILD["FILES"]}


def _rows(text: str) -> set[str]:
    """The first cells of the tables in a text."""
    return set(re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE))


def test_every_file_of_a_pack_has_a_page() -> None:
    """Each file with a schema a generated one, each file of Python one that is written by hand; the index has both."""
    by_hand = _BUILD["BY_HAND"]
    assert {file.schema for file in _BUILD["FILES"]} == set(PACK_SCHEMAS) - {"pack-report"}
    assert {"manifest.yaml", "tools.json", "held_out.yaml", *by_hand} <= {*_TITLES, *by_hand}
    for name in by_hand.values():
        page = (_ROOT / "docs" / "packs" / f"{name}.md").read_text(encoding="utf-8")
        assert page.startswith(f"# `{name}.py`\n")
        assert f"](../../packs/{name}.md)" in _PAGES["index.md"]
    assert [page for page in _TITLES.values() if f"]({page})" not in _PAGES["index.md"]] == []


@pytest.mark.parametrize("file", _BUILD["FILES"], ids=lambda file: file.page)
def test_every_key_that_has_an_effect_is_on_its_page(file: tuple[str, str, str, str]) -> None:
    """Each key of each mapping of a file is a row of its page."""
    page, _, schema_name, _ = file
    schema = pack_schema(schema_name)
    mappings = [schema, *(each for name, each in schema.get("$defs", {}).items() if name[0].isupper())]
    keys = {
        key
        for each in mappings
        for key, field in each.get("properties", {}).items()
        if key in each.get("required", ()) or "default" in field
    }
    assert keys <= _rows(_PAGES[f"{page}.md"])


@pytest.mark.parametrize("name", CHECKS)
def test_every_reason_of_a_check_stands_with_it(name: str) -> None:
    """In a section of the check's own, and again in the list of all codes."""
    each = check(name)
    section = _PAGES["checks.md"].partition(f"\n## {name} {each.name}\n")[2].partition("\n## ")[0]
    assert len(section.strip()) > 100
    assert _rows(section) == set(each.reasons)
    assert set(each.reasons) <= _rows(_PAGES["codes.md"])


@pytest.mark.parametrize(
    ("heading", "codes"),
    [
        ("Warnings of lint", lint.CODES),
        ("Warnings about assertions", {**WARNINGS, **VACUOUS}),
        ("Warnings of the scan", scan_names.CODES),
        ("Troubles of steps", get_args(Trouble)),
        ("Attempts", audit.KINDS),
        ("Arguments that a schema refuses", ARGUMENT_REASONS),
        ("Specs that don't compile", REFUSALS),
        ("No tasks can be made", {**tasks.CODES, **FAULTS}),
        ("Dropped tasks", gold.REASONS),
        ("Calls that can't be worked out", dependent.REASONS),
        ("Calls that are no gold", set(trace_checks.REASONS) - set(ARGUMENT_REASONS)),
        ("Commands that give no verdict", _CODES["COMMANDS"]),
    ],
)
def test_every_table_of_codes_is_on_the_page(heading: str, codes: Iterable[str]) -> None:
    """A section for each table, with a row for each of its codes and for no other."""
    assert _rows(_section(heading)) == set(codes)


def _section(heading: str) -> str:
    return _PAGES["codes.md"].partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def test_every_code_of_loading_is_on_the_page() -> None:
    """Mistakes and warnings apart."""
    mistakes, warnings = _rows(_section("The pack can't be loaded")), _rows(_section("Warnings of loading"))
    assert mistakes | warnings == set(loading.CODES)
    assert not mistakes & warnings
    assert "unknown_key" in warnings


def test_every_refusal_of_a_command_is_on_the_page() -> None:
    """What commands say on their own, without a table, is found in their source."""
    files = [
        _SOURCE / "oracle" / "running.py",
        *(_SOURCE / "oracle" / "build").glob("*.py"),
        *(_SOURCE / "cli").glob("pack_*.py"),
        *(_SOURCE / "oracle" / "scaffold").glob("*.py"),
        *(_SOURCE / "oracle" / "scaffold" / "given").glob("*.py"),
        *(_SOURCE / "oracle" / "scaffold" / "draft").glob("*.py"),
    ]
    pattern = re.compile(r'(?:\bcode=|problem\(\s*)"(\w+)"')
    found = {code for file in files for code in pattern.findall(file.read_text(encoding="utf-8"))}
    assert found - {"usage"} <= _rows(_PAGES["codes.md"])
    assert set(_CODES["COMMANDS"]) <= found


def test_no_cell_breaks_its_table() -> None:
    """Every row has as many cells as the head of its table."""
    for name, page in _PAGES.items():
        for table in re.findall(r"(?:^\|.*\n)+", page, re.MULTILINE):
            cells = {len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}
            assert len(cells) == 1, f"{name}\n{table}"
