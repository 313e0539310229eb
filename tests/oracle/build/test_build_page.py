from __future__ import annotations

import re
from pathlib import Path

from averment.cli.main import command_parser
from averment.oracle.build.complete import EVERY
from averment.oracle.build.formats import FILES
from averment.oracle.build.rows import Row
from averment.oracle.build.schemas import BUILD_SCHEMAS
from averment.oracle.gold.reasons import STAGES

PAGE = (Path(__file__).parents[3] / "docs" / "packs" / "build.md").read_text(encoding="utf-8")


def first_cells(heading: str) -> set[str]:
    """The names in the first column of the tables below a heading."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    cells = re.findall(r"^\| (`[^|]+) \|", section, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


def test_every_field_of_a_row_is_explained() -> None:
    """And nothing that is none."""
    assert first_cells("A row") == set(Row.__struct_fields__)


def test_every_file_of_a_folder_is_explained() -> None:
    """Those of BFCL by their folder."""
    every = {name.partition("/")[0] + "/" * ("/" in name) for name in EVERY}
    assert first_cells("The files") == every
    assert {name for names in FILES.values() for name in names} <= set(EVERY)
    for name in BUILD_SCHEMAS:
        assert f"`averment schema {name}`" in PAGE or f"`{name}`" in PAGE


def test_every_stage_that_drops_tasks_is_explained() -> None:
    """In the order in which a task goes through them."""
    assert first_cells("Dropped tasks") == set(STAGES.values())


def test_every_option_is_one_of_the_command() -> None:
    """Names are as the command has them."""
    options = {name.split(" ")[0] for name in first_cells("From a gold pack")}
    known = {name for action in command_parser("pack build")._actions for name in action.option_strings}
    assert options <= known
    assert "--allow-tier" in PAGE
