"""`held_out.yaml`: rows and templates that no published task may use."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["HeldOut", "HeldOutPolicy"]


class HeldOutPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the oracle still has the reserved rows, and the seed of the reservation."""

    fixtures_in_backend_state: bool = True
    seed: int = 0


class HeldOut(msgspec.Struct, frozen=True, kw_only=True):
    """The reservations; ids are compared as strings."""

    version: str
    fixtures: dict[str, list[Any]] = {}
    templates: list[str] = []
    policy: HeldOutPolicy = HeldOutPolicy()
