"""`manifest.yaml`: what a pack is called, where its files lie, and the texts that its templates share."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["Confirmation", "Manifest", "Paths", "SurfaceGuards"]


class Paths(msgspec.Struct, frozen=True, kw_only=True):
    """Where the pack's files lie, relative to its directory; None is the default name."""

    tools: str | None = None
    backend: str | None = None
    endpoint: str | None = None
    fixtures: str | None = None
    templates: str | None = None
    assertions: str | None = None
    validation_cases: str | None = None


class Confirmation(msgspec.Struct, frozen=True, kw_only=True):
    """How a tool that needs the user's word is told of it, and how it says that it waits."""

    parameter: str = "confirm"
    status_field: str = "status"
    pending_status: str = "awaiting_confirmation"


class SurfaceGuards(msgspec.Struct, frozen=True, kw_only=True):
    """What the guards of user turns let pass."""

    tool_names_exempt: list[str] = []


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """The manifest; `pack_id` and `version` as strings."""

    pack_id: str
    version: str
    paths: Paths = Paths()
    description: Any = None
    clock: Any = None
    languages: list[str] = []
    default_language: str | None = None
    primary_keys: dict[str, str] = {}
    absent_ids: dict[str, Any] = {}
    assistant_turn_templates: dict[str, dict[str, str]] = {}
    system_prompt: str | None = None
    system_prompt_path: str | None = None
    confirmation: Confirmation = Confirmation()
    surface_guards: SurfaceGuards = SurfaceGuards()
    held_out: str | None = None
