"""Whether a pack's code has replaced parts of Python: a backend that swaps `json.dumps` judges itself."""

from __future__ import annotations

import builtins
import datetime as dt
import json
import json.decoder
import json.encoder
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Iterator

__all__ = ["Integrity", "is_alarm_left", "is_thread_left"]

_WATCHED = (builtins, dt, json, json.encoder, json.decoder, os, sys, time, random)
_GRACE_S = 0.25
_FREE = {"environ", "breakpointhook", "displayhook", "excepthook", "unraisablehook"}
_ALARMS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)
_set_alarm = signal.setitimer
_frames = sys._current_frames  # noqa: SLF001 - counts native threads that run Python too


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
        for module in _WATCHED:
            if sys.modules.get(module.__name__) is not module:
                yield f"sys.modules[{module.__name__!r}]"


def _is_ours(function: object) -> bool:
    """`random.seed` puts the seeded functions back in place of the noting ones."""
    owner = getattr(function, "__self__", None)
    return isinstance(owner, random.Random) or getattr(function, "__module__", "").startswith("averment.")


def is_thread_left() -> bool:
    """Whether another thread still runs, after those that are about to end have had a moment to do so."""
    pause = threading.Event()
    for _ in range(25):
        if len(_frames()) == 1:
            return False
        pause.wait(_GRACE_S / 25)
    return True


def is_alarm_left() -> bool:
    """Whether an alarm is set that would interrupt whatever comes next; it is taken off."""
    left = [_set_alarm(each, 0)[0] for each in _ALARMS]  # every one is taken off
    return any(seconds > 0 for seconds in left)
