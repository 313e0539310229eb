"""A pack as loaded: what each file holds, and where in it each thing stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from averment.errors import Problem
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
        sources: for each file that is a document, its value with positions, by role.
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

    def tool(self, name: str) -> Tool | None:
        """The tool of that name."""
        return next((tool for tool in self.tools if tool.name == name), None)
