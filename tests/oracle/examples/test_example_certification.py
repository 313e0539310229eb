from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from example_packs import NAMES, ROOT

from averment.oracle.certify import certify


@pytest.mark.parametrize("name", NAMES)
def test_a_pack_is_gold_without_a_warning(name: str) -> None:
    """Every check passes in real workers, nothing was tried that is refused, and lint has nothing to say."""
    found = certify(ROOT / name, strict=True)
    assert [(row.id, row.failures) for row in found.rows if row.status != "pass"] == []
    assert found.warnings == ()
    assert found.attempts == ()
    assert found.tier == "gold"


def test_a_copy_under_another_name_is_the_same_pack(tmp_path: Path) -> None:
    """Nothing of a pack says where it lies."""
    copied = tmp_path / "moved"
    shutil.copytree(ROOT / "library_lending", copied, ignore=shutil.ignore_patterns("__pycache__"))
    there, here = certify(copied, strict=True), certify(ROOT / "library_lending", strict=True)
    assert there.pack.fingerprint == here.pack.fingerprint
    assert there.rows == here.rows
