"""A deterministic order in which every place of a sequence comes once, told without making it."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from averment.oracle.tasks.identity import contract_json
from averment.text.jsontext import sha256

__all__ = ["Cycle", "cycle_of"]


class Cycle(msgspec.Struct, frozen=True):
    """Places `start`, `start + step`, ... around a ring of `size`; the step has no divisor in common with the size."""

    size: int
    start: int = 0
    step: int = 1

    def at(self, ordinal: int) -> int:
        """The place that comes at an ordinal, from 0."""
        return (self.start + ordinal * self.step) % self.size


def cycle_of(size: int, material: Any) -> Cycle:
    """The order that a JSON value chooses for a size: start and step from its digest (contract, section 6.4)."""
    if size <= 1:
        return Cycle(size)
    digits = sha256(contract_json(material)).removeprefix("sha256:")
    step = int(digits[16:32], 16) % size or 1
    while math.gcd(step, size) != 1:
        step = (step + 1) % size or 1
    return Cycle(size, int(digits[:16], 16) % size, step)
