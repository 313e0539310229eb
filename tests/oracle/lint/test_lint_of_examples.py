from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from averment.oracle.checks import template_slot_sources, template_tool_names
from averment.oracle.lint import lint
from averment.oracle.model.loading import load_pack

PACKS = sorted((Path(__file__).parents[3] / "examples" / "packs").iterdir())


@pytest.mark.parametrize("folder", PACKS, ids=lambda folder: folder.name)
def test_an_example_pack_is_in_order(folder: Path) -> None:
    """Nothing is odd about it, and its templates pass the checks that run none of its code."""
    pack = load_pack(folder)
    bench: Any = SimpleNamespace(pack=pack)
    assert pack.templates
    assert lint(pack) == []
    assert [*template_tool_names.CHECK.run(bench), *template_slot_sources.CHECK.run(bench)] == []
