"""A pack as loaded: what each file holds, and where in it each thing stands."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from averment.errors import Problem, path_text
from averment.oracle.model.cases import Case
from averment.oracle.model.endpoint import Endpoint
from averment.oracle.model.held_out import HeldOut
from averment.oracle.model.manifest import Manifest
from averment.oracle.model.templates import Template
from averment.oracle.model.tools import Tool
from averment.text.source import Source

__all__ = ["Pack"]


class Pack(msgspec.Struct, frozen=True, kw_only=True):
    """A pack whose files have the right shapes.

    Attributes:
        root: the pack's directory, absolute and resolved.
        files: the path of each role's file inside the pack (posix): `manifest`, `tools`, `templates`, `assertions`,
            `validation_cases`, and where there is one `backend`, `endpoint`, `fixtures`, `held_out`,
            `system_prompt`, `ca_bundle`.
        sources: for each file that is a document, its value with positions, by role; a role without a file has none.
        fingerprint: `sha256:` over every file of the tree; `digests` has the single ones, by logical name.
        warnings: what loading found odd: unknown keys and the like.
    """

    root: Path
    files: dict[str, str]
    sources: dict[str, Source]
    manifest: Manifest
    tools: list[Tool]
    fixtures: dict[str, Any]
    templates: list[Template]
    cases: list[Case]
    held_out: HeldOut | None = None
    endpoint: Endpoint | None = None
    system_prompt: str | None = None
    fingerprint: str = ""
    digests: dict[str, str] = {}
    warnings: tuple[Problem, ...] = ()

    def place(self, role: str, path: Sequence[str | int] = (), *, key: bool = False) -> dict[str, Any]:
        """Where a thing stands, as the `file`, `line`, `column` and `path` of a `Failure`.

        Args:
            role: the role of its file.
            path: the place in the document; a missing one is shown at its longest existing prefix.
            key: point at the key instead of its value.
        """
        source = self.sources.get(role)
        place = None
        if source is not None:
            place = source.key_position(path) if key else source.position(path)
        return {
            "file": self.files.get(role),
            "line": place.line if place else None,
            "column": place.column if place else None,
            "path": path_text(path) if path else None,
        }

    def tool(self, name: str) -> Tool | None:
        """The tool of that name."""
        return next((tool for tool in self.tools if tool.name == name), None)
