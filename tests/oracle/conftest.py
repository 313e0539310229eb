from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

import averment.oracle.report as reports
from averment.oracle.model.cases import Case
from averment.oracle.model.manifest import Manifest
from averment.oracle.model.pack import Pack
from averment.oracle.model.templates import Template
from averment.oracle.model.tools import Tool
from averment.oracle.report_schema import report_schema
from averment.text.source import Source, read_source

TOOLS: list[dict[str, Any]] = [
    {
        "name": "get_book",
        "parameters": {
            "type": "object",
            "properties": {"book_id": {"type": "string"}, "shelf": {"type": "string", "enum": ["A", "B"]}},
            "required": ["book_id"],
        },
    },
    {
        "name": "lend_book",
        "mutates": True,
        "requires_confirmation": True,
        "parameters": {
            "type": "object",
            "properties": {"book_id": {"type": "string"}, "confirm": {"type": "boolean", "default": False}},
            "required": ["book_id"],
        },
    },
]
FIXTURES: dict[str, Any] = {
    "books": [
        {"book_id": "B-1", "status": "free", "pages": 120},
        {"book_id": "B-2", "status": "lent", "pages": 300},
    ]
}
MANIFEST: dict[str, Any] = {
    "pack_id": "library",
    "version": "1",
    "languages": ["en"],
    "absent_ids": {"books": ["B-0"]},
    "assistant_turn_templates": {
        name: {"en": "..."} for name in ("ask_for_slot", "ask_confirm", "decline", "final_answer")
    },
}


def _text_source(value: Any, name: str) -> Source:
    text = value if isinstance(value, str) else json.dumps(value, indent=1)
    return read_source(text, name=name)


def _renamed(template: dict[str, Any]) -> dict[str, Any]:
    """The first turn under the name that the struct has, as the loader has it."""
    alias = "first_turn_templates"
    return {"user_turn_templates" if name == alias else name: value for name, value in template.items()}


def _make(
    templates: Any = "[]",
    *,
    tools: list[dict[str, Any]] | None = None,
    fixtures: dict[str, Any] | None = None,
    manifest: dict[str, Any] | None = None,
    cases: Any = "[]",
    root: Path = Path("/nowhere"),
    files: dict[str, str] | None = None,
    digests: dict[str, str] | None = None,
) -> Pack:
    """A pack without a directory; templates and cases as YAML text, or as values."""
    said = {**MANIFEST, **(manifest or {})}
    sources = {
        "manifest": _text_source(said, "manifest.yaml"),
        "templates": _text_source(templates, "task_templates.yaml"),
        "validation_cases": _text_source(cases, "validation_cases.yaml"),
        "fixtures": _text_source(FIXTURES if fixtures is None else fixtures, "fixtures.json"),
        "tools": _text_source(TOOLS if tools is None else tools, "tools.json"),
    }
    return Pack(
        root=root,
        files={name: str(source.name) for name, source in sources.items()} | (files or {}),
        sources=sources,
        manifest=msgspec.convert(said, Manifest),
        tools=[
            msgspec.convert({**tool, "index": index}, Tool)
            for index, tool in enumerate(sources["tools"].value)
        ],
        fixtures=sources["fixtures"].value,
        templates=[
            msgspec.convert(_renamed({"template_id": f"t{index}", **item, "index": index}), Template)
            for index, item in enumerate(sources["templates"].value)
        ],
        digests=digests or {},
        cases=[
            msgspec.convert({**item, "index": index}, Case)
            for index, item in enumerate(sources["validation_cases"].value)
        ],
    )


@pytest.fixture
def handmade() -> Callable[..., Pack]:
    """Makes packs from values, without files: a small library where nothing else is said."""
    return _make


@pytest.fixture(scope="session", autouse=True)
def every_report_fits() -> Iterator[None]:
    """Whatever test makes a report on a pack, it is validated against the published schema."""
    validator = jsonschema.Draft202012Validator(report_schema())

    def checked(make: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
        def made(found: Any) -> dict[str, Any]:
            written = make(found)
            validator.validate(msgspec.json.decode(msgspec.json.encode(written)))
            return written

        return made

    with pytest.MonkeyPatch.context() as patch:
        for name in ("report", "refusal"):
            patch.setattr(reports, name, checked(getattr(reports, name)))
        yield
