from __future__ import annotations

import re
from pathlib import Path

from averment.oracle.build.exports.bfcl import CATEGORIES, PREFIX, REASONS, TASKS
from averment.oracle.build.exports.chat import MAX_METADATA_TEXT
from averment.oracle.build.exports.parquet import GROUP

PAGE = (Path(__file__).parents[4] / "docs" / "packs" / "exports.md").read_text(encoding="utf-8")


def test_the_page_has_every_reason_and_category() -> None:
    """Each in a row of its table, and no other."""
    assert re.findall(r"^\| `(\w+)` \| ", PAGE, re.MULTILINE) == list(REASONS)
    assert re.findall(r"^\|.+\|.+\| `(\w+)`", PAGE, re.MULTILINE) == list(CATEGORIES)


def test_the_page_has_the_numbers_and_names_of_the_code() -> None:
    """Those that a reader would rely on."""
    assert f"at most {MAX_METADATA_TEXT} characters" in PAGE
    assert f"in groups of\n{GROUP}," in PAGE
    assert f"`{PREFIX}_CATEGORY.json`" in PAGE
    assert f"`{TASKS}`" in PAGE
