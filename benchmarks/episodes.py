"""Episodes of an oracle pack: a sealed worker for each, against a process that is spawned for each.

Nothing of averment is imported at the top: a spawned process imports this module, and would pay for it.
"""

from __future__ import annotations

import importlib.util
import json
import multiprocessing
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from timing import Case, medians, table

__all__ = ["report"]

_PACK = Path(__file__).parent.parent / "examples" / "packs" / "bilingual_clinic"
_CALL = ("search_doctors", {"department": "general"})
_OURS, _NAIVE, _ROUNDS = 40, 4, 7


def report(_: int, _hotato: str | None) -> None:
    """Measure and print the section."""
    from averment.oracle.model.options import Options
    from averment.oracle.oracles import Context
    from averment.oracle.worker.backend import BackendOracle, Workers
    from averment.oracle.worker.nursery import Nursery

    with Nursery(_PACK, fixtures=(_PACK / "fixtures.json").read_text("utf-8")) as nursery:
        workers = Workers(nursery, Options())
        oracle = BackendOracle(workers, "backend.py")

        def one(_: int) -> Any:
            with oracle.episode(Context()) as episode:
                episode.reset()
                return episode.call(*_CALL), episode.state()

        assert one(0) == _spawned(0), "the two don't do the same work"
        cases = {
            "a worker each": _wall(lambda: list(map(one, range(_OURS)))),
            "a worker each, two at a time": _wall(lambda: _side_by_side(one, _OURS)),
            "a spawned process each": _wall(lambda: list(map(_spawned, range(_NAIVE)))),
            "a spawned process each, two at a time": _wall(lambda: _side_by_side(_spawned, _NAIVE)),
        }
        found = medians(cases, _ROUNDS)
        enforced = ", ".join(workers.probe())
    each = {name: seconds / (_NAIVE if "spawned" in name else _OURS) for name, seconds in found.items()}
    floor = each["a spawned process each"]
    rows = [
        [name, f"{seconds * 1e3:.1f}", f"{1 / seconds:.0f}", f"{floor / seconds:.1f}"]
        for name, seconds in each.items()
    ]
    table("Episodes: reset, one call, the state, wall", ["", "ms", "a second", "x spawned"], rows)
    print(f"enforced on each worker: {enforced}; on a spawned process: nothing")
    print(f"a worker / a spawned process: {floor / each['a worker each']:.1f} (target: at least 10)")


def _wall(work: Callable[[], object]) -> Case:
    def case() -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    return case


def _side_by_side(one: Callable[[int], Any], count: int) -> list[Any]:
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(one, range(count)))


def _spawned(_: int) -> Any:
    """An episode in a process of its own, as one would write it: spawned, imported, asked over a pipe, ended."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(str(_PACK), theirs))
    process.start()
    theirs.close()
    ours.send(("reset", ()))
    ours.recv()
    ours.send(("call_tool", _CALL))
    result = ours.recv()
    ours.send(("get_state", ()))
    state = ours.recv()
    ours.send(None)
    process.join()
    ours.close()
    return result, state


def _serve(pack: str, connection: Connection) -> None:
    """The other side: nothing is limited, nothing made up, nothing noted."""
    from datetime import UTC, datetime
    from types import SimpleNamespace

    sys.path.insert(0, pack)
    spec = importlib.util.spec_from_file_location("backend", f"{pack}/backend.py")
    assert spec is not None
    assert spec.loader is not None
    backend = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(backend)
    ctx = SimpleNamespace(
        clock=datetime(2026, 1, 1, tzinfo=UTC), seed=0, timeout_s=5.0, task_id="", turn_index=0
    )
    while (step := connection.recv()) is not None:
        name, arguments = step
        if name == "reset":
            fixtures = json.loads(Path(pack, "fixtures.json").read_text("utf-8"))
            connection.send(backend.reset(ctx=ctx, fixtures=fixtures))
        elif name == "call_tool":
            connection.send(backend.call_tool(*arguments, ctx=ctx))
        else:
            connection.send(backend.get_state())
