"""Documents written in a line or two, and what is said of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from averment.documents import Document
from averment.errors import DocumentError, Problem

__all__ = ["HEAD", "PLAIN", "at", "fields_of", "load_problems", "of", "places", "problems_of", "written"]

HEAD = "version: 1\n"
PLAIN = HEAD + "assertions:\n  - {id: a, kind: phrase, regex: hello}\n"


def problems_of(text: str) -> tuple[Problem, ...]:
    with pytest.raises(DocumentError) as caught:
        Document.parse(text, name="d.yaml")
    return caught.value.problems


def load_problems(path: Path) -> tuple[Problem, ...]:
    with pytest.raises(DocumentError) as caught:
        Document.load(path)
    return caught.value.problems


def places(problems: tuple[Problem, ...]) -> list[tuple[str, str, int | None, int | None]]:
    return [(p.code, Path(p.file or "").name, p.line, p.column) for p in problems]


def at(text: str, needle: str) -> tuple[int, int]:
    """The line and column where the needle stands in the text, once."""
    assert text.count(needle) == 1
    before = text[: text.index(needle)]
    return before.count("\n") + 1, len(before) - before.rfind("\n")


def written(folder: Path, files: Mapping[str, str]) -> Path:
    """Writes files; the path of the first."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder / next(iter(files))


def of(*assertions: Mapping[str, Any], **document: Any) -> Document:
    items = [{"id": f"a{index}", **assertion} for index, assertion in enumerate(assertions)]
    return Document.of({"version": 1, "assertions": items, **document})


def fields_of(document: Document, index: int = 0) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(document.assertions[index])
    return fields
