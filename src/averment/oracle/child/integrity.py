"""Whether a pack's code has replaced parts of Python: a backend that swaps `json.dumps` judges itself."""

from __future__ import annotations

import builtins
import json
import json.decoder
import json.encoder
import os
import random
import sys
import time
from collections.abc import Iterator

__all__ = ["Integrity", "running_threads"]

_WATCHED = (builtins, json, json.encoder, json.decoder, os, time, random)
_FREE = {"environ"}


class Integrity:
    """What the watched modules held when this was made, and what has been replaced since."""

    def __init__(self) -> None:
        self._held = [
            (module, name, value)
            for module in _WATCHED
            for name, value in vars(module).items()
            if callable(value) and name not in _FREE
        ]

    def replaced(self) -> Iterator[str]:
        """The names of what is no longer what it was, `json.dumps`."""
        for module, name, value in self._held:
            now = module.__dict__.get(name)
            if now is not value and not (module is random and _is_ours(now)):
                yield f"{module.__name__}.{name}"


def _is_ours(function: object) -> bool:
    """`random.seed` puts the seeded functions back in place of the noting ones."""
    owner = getattr(function, "__self__", None)
    return isinstance(owner, random.Random) or getattr(function, "__module__", "").startswith("averment.")


def running_threads() -> int:
    """How many threads run beside the one that asks."""
    return len(sys._current_frames()) - 1  # noqa: SLF001 - counts native ones that run Python too
