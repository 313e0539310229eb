"""How well workers are shut in, by name, and what each name promises."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

__all__ = ["LEVELS", "Isolation", "isolation"]

LEVELS = ("guarded", "confined")
"""From the weaker to the stronger.

- `guarded`: a process and process group of its own, scrubbed environment, deadlines, resource limits; what Python code
  tries on the network, processes and files is refused by an audit hook, which native code goes past.
- `confined`: the kernel refuses it as well, whatever code tries it (Linux with Landlock and seccomp).
"""

_MEANINGS = {
    "limits": "limits on address space, processor time, size of files and open files",
    "filesystem": "no file outside the pack is read, none outside the scratch folder is written",
    "system_calls": "no network, no new process, no signal to another process",
}


class Isolation(msgspec.Struct, frozen=True):
    """What the kernel enforced on every worker of a run, as the report has it.

    Attributes:
        level: one of `LEVELS`.
        enforced: what the kernel saw to.
        not_enforced: what it could not on this platform; there the audit hook alone refuses.
    """

    level: str
    enforced: list[str]
    not_enforced: list[str]

    def meets(self, level: str) -> bool:
        """Whether this is at least as strong as `level`."""
        return LEVELS.index(self.level) >= LEVELS.index(level)


def isolation(enforced: Sequence[str]) -> Isolation:
    """The isolation that a worker's own account amounts to; `enforced` is what `child.seal.seal` returned."""
    missing = [name for name in _MEANINGS if name not in enforced]
    return Isolation(
        level="guarded" if missing else "confined",
        enforced=[meaning for name, meaning in _MEANINGS.items() if name in enforced],
        not_enforced=[_MEANINGS[name] for name in missing],
    )
