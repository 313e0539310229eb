from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from averment.errors import PackError, Problem
from averment.oracle.model.loading import load_pack

Files = Mapping[str, Any]
Found = Callable[..., list[Problem]]

SMALLEST: dict[str, Any] = {
    "manifest.yaml": {"pack_id": "p", "version": "1"},
    "tools.json": [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}],
    "task_templates.yaml": [
        {"template_id": "a", "turn_policy": "irrelevant", "assistant_milestones": [{"type": "decline"}]}
    ],
    "validation_cases.yaml": [{"id": "c", "tool": "look"}],
    "assertions.py": "",
    "backend.py": "",
}
"""The smallest pack that loads."""


@pytest.fixture
def pack_of(tmp_path: Path) -> Callable[..., Path]:
    """`pack_of(files)`: the folder of the smallest pack with other files; None removes one, text is written as it is."""

    def made(files: Files | None = None, folder: str = "pack") -> Path:
        root = tmp_path / folder
        for name, content in {**SMALLEST, **(files or {})}.items():
            if content is not None:
                path = root / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(
                    content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
                )
        return root

    return made


@pytest.fixture
def found(pack_of: Callable[..., Path]) -> Found:
    """`found(files, strict=False)`: the problems of the smallest pack with these files, errors and warnings."""

    def problems(files: Files, *, strict: bool = False) -> list[Problem]:
        root = pack_of(files)
        try:
            return list(load_pack(root, strict=strict).warnings)
        except PackError as error:
            return list(error.problems)

    return problems
