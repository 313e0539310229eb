"""Real workers for tests: a pack whose backend does what it is told, and what became of it."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from averment.oracle.model.options import Options
from averment.oracle.oracles import Condition, Context, OracleError
from averment.oracle.worker.backend import Attempt, BackendOracle, Workers
from averment.oracle.worker.nursery import Nursery

__all__ = ["OBEDIENT", "PATIENT", "Live", "children", "live"]

PATIENT = Options(
    tool_timeout_s=60, assertion_timeout_s=60, import_timeout_s=60, reset_timeout_s=60, episode_timeout_s=600
)
"""Deadlines that nothing misses because the machine is slow: whoever wants one to be missed sets it short."""

OBEDIENT = """
STATE = {}

def list_tools():
    return ["do"]

def reset(*, ctx, fixtures=None):
    STATE.clear()
    STATE.update(fixtures or {})

def call_tool(name, arguments, *, ctx):
    scope = {"ctx": ctx, "STATE": STATE, **arguments.get("given", {})}
    exec(arguments["code"], scope)
    return {"value": scope.get("value")}

def get_state():
    return STATE
"""
"""A backend whose tool runs the code that it is given, and gives back what the code leaves in `value`."""


class Live:
    """Workers of one pack.

    Attributes:
        workers: where they come from.
        root: the pack's folder.
    """

    def __init__(self, workers: Workers, root: Path) -> None:
        self.workers = workers
        self.root = root
        self.oracle = BackendOracle(workers, "backend.py")

    def do(self, code: str, condition: Condition = "plain", *, given: dict[str, Any] | None = None) -> Any:
        """What the code leaves in `value`, in a worker of its own; `given` are names that it knows."""
        with self.oracle.episode(Context(), condition) as episode:
            episode.reset()
            return episode.call("do", {"code": textwrap.dedent(code), "given": given or {}})["value"]

    def fails(
        self, code: str, condition: Condition = "plain", *, given: dict[str, Any] | None = None
    ) -> OracleError:
        """The error that the code ends in."""
        try:
            value = self.do(code, condition, given=given)
        except OracleError as error:
            return error
        raise AssertionError(f"it gave {value!r}")

    def tried(self) -> list[Attempt]:
        """What was tried since this was last asked."""
        found = sorted(self.workers.attempts)
        self.workers.attempts.clear()
        return found


@contextmanager
def live(
    root: Path,
    files: dict[str, str] | None = None,
    *,
    options: Options | None = None,
    fixtures: str | None = None,
    limits: dict[str, int] | None = None,
) -> Iterator[Live]:
    """Workers of a pack that holds the given files, and `OBEDIENT` where there is no `backend.py` among them."""
    for name, text in {"backend.py": OBEDIENT, **(files or {})}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != textwrap.dedent(text):
            path.write_text(textwrap.dedent(text), encoding="utf-8")
    with Nursery(root, fixtures=fixtures, limits=limits) as nursery:
        yield Live(Workers(nursery, options or PATIENT), root)


def children(pid: int | None = None) -> list[int]:
    """The processes that descend from a process, this one by default, zombies among them; none where there is no /proc."""
    parents: dict[int, list[int]] = {}
    for entry in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if entry.isdigit():
            try:
                fields = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append(int(entry))
    found: list[int] = []
    pending = [os.getpid() if pid is None else pid]
    while pending:
        below = parents.get(pending.pop(), [])
        found += below
        pending += below
    return sorted(found)
