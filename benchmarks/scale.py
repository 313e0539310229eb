"""How one run grows with its document and its conversation: time for each unit should stay level.

    python scale.py DIMENSION SIZE

measures one point, in a process of its own so that its peak memory is its own, and prints it as JSON.
"""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from timing import table

__all__ = ["report"]

_SEED = 7
_HERE = Path(__file__).parent
_REPEATS = 3
_SIZES = {
    "assertions": (100, 1_000, 10_000),
    "when chain": (100, 1_000, 10_000),
    "turns": (1_000, 10_000, 100_000),
    "spans": (500, 5_000, 50_000),
}
_OF_DOCUMENT = {"assertions", "when chain"}
_STEPS = ("document", "evidence", "run", "encode")


def report(_: int, hotato: str | None) -> None:  # noqa: ARG001 - the sections' common signature
    """Measure and print the section."""
    rows = []
    for dimension, sizes in _SIZES.items():
        for size in sizes:
            points = [_point(dimension, size) for _ in range(_REPEATS if size < max(sizes) else 1)]
            best = {name: min(point[name] for point in points) for name in (*_STEPS, "peak")}
            fixed = "evidence" if dimension in _OF_DOCUMENT else "document"
            steps = ["-" if name == fixed else f"{best[name] / size * 1e6:,.1f}" for name in _STEPS]
            rows.append([f"{size:,} {dimension}", *steps, f"{best['peak'] / 1e6:,.0f}"])
    table(
        "Scale: CPU in us for each unit (best of three), and peak memory",
        ["", "document", "evidence", "run", "to_json", "peak MB"],
        rows,
    )


def _point(dimension: str, size: int) -> dict[str, float]:
    command = [sys.executable, __file__, dimension, str(size)]
    done = subprocess.run(command, cwd=_HERE, stdout=subprocess.PIPE, check=True)
    point: dict[str, float] = json.loads(done.stdout)
    return point


def _document(dimension: str, size: int) -> bytes:
    from documents import assertions

    if dimension == "assertions":
        items = assertions(size)
    elif dimension == "when chain":
        chained: list[dict[str, Any]] = [
            {"id": f"a{index}", "kind": "phrase", "regex": "refund", "when": f"a{index + 1}"}
            for index in range(size)
        ]
        items = [*chained, {"id": f"a{size}", "kind": "phrase", "regex": "refund"}]
    else:
        return (_HERE / "document.yaml").read_bytes()
    return json.dumps({"version": 1, "assertions": items}).encode()


def _evidence(dimension: str, size: int) -> bytes:
    """A conversation with so many turns or spans: those of many conversations, one after the other."""
    from conversations import conversation

    record = conversation(_SEED, 0)
    key = {"turns": "transcript", "spans": "spans"}.get(dimension)
    index = 0
    while key is not None and len(record[key]) < size:
        index += 1
        record[key] += conversation(_SEED, index)[key]
    if key is not None:
        del record[key][size:]
    return json.dumps(record).encode()


def _measure(dimension: str, size: int) -> dict[str, float]:
    import resource

    import averment

    document, evidence = _document(dimension, size), _evidence(dimension, size)
    clock = [time.process_time()]
    plan = averment.compile_plan(averment.Document.parse(document))
    clock.append(time.process_time())
    conversation = averment.Evidence.from_bytes(evidence)
    clock.append(time.process_time())
    envelope = averment.run_plan(plan, conversation)
    clock.append(time.process_time())
    envelope.to_json()
    clock.append(time.process_time())
    spent = [end - start for start, end in itertools.pairwise(clock)]
    unit = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return {**dict(zip(_STEPS, spent, strict=True)), "peak": float(peak)}


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1], int(sys.argv[2]))))
