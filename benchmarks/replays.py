"""Building benchmarks of oracle packs: replays a second, and the memory of the process that builds.

    python benchmarks/replays.py PACK SIZE JOBS

measures one build, in a process of its own so that its peak memory is its own, and prints it as JSON. PACK is `quick`, whose
tasks are one call that returns at once, or `clinic`, the example pack.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from timing import table

__all__ = ["report"]

_CLINIC = Path(__file__).parent.parent / "examples" / "packs" / "bilingual_clinic"
_POINTS = (("clinic", 8, 2), ("quick", 100, 1), ("quick", 100, 2), ("quick", 400, 2))
_TWICE = 2
"""How often each task is replayed."""


def report(_: int, _hotato: str | None) -> None:
    """Measure and print the section."""
    rows = []
    for name, size, jobs in _POINTS:
        point = _point(name, size, jobs)
        replays = point["tasks"] * _TWICE
        rows.append(
            [
                f"{point['tasks']:.0f} tasks of {name}, {jobs} at a time",
                f"{replays / point['wall']:.0f}",
                f"{point['parent'] / replays * 1e3:.1f}",
                f"{point['workers'] / replays * 1e3:.1f}",
                f"{point['peak'] / 1e6:.1f}",
            ]
        )
    head = ["", "replays a second", "CPU ms of a replay", "in workers", "peak MB"]
    table("Builds: two replays for each task, from the first task to the last", head, rows)
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs")


def _point(name: str, size: int, jobs: int) -> dict[str, float]:
    command = [sys.executable, __file__, name, str(size), str(jobs)]
    done = subprocess.run(command, cwd=Path(__file__).parent, stdout=subprocess.PIPE, check=True)
    point: dict[str, float] = json.loads(done.stdout)
    return point


def _measure(name: str, size: int, jobs: int) -> dict[str, float]:
    from averment.oracle.build.building import build
    from averment.oracle.build.production import Progress
    from averment.oracle.model.options import Options

    clock: list[tuple[float, float]] = []
    certified: list[float] = []

    def note(_: Progress) -> None:
        if not clock:  # the workers of certification have ended, those of the build are counted when they do
            certified.append(_cpu(resource.RUSAGE_CHILDREN))
        clock.append((time.perf_counter(), _cpu(resource.RUSAGE_SELF)))

    with tempfile.TemporaryDirectory() as folder:
        pack = _CLINIC if name == "clinic" else _quick(Path(folder) / "pack", size)
        built = build(pack, Path(folder) / "out", Options(tasks_per_category=size), jobs=jobs, progress=note)
    assert not built.manifest.drops
    unit = 1 if sys.platform == "darwin" else 1024
    tasks = built.manifest.stage_counts.published
    (start, cpu_start), (end, cpu_end) = clock[0], clock[-1]
    return {
        "tasks": tasks,
        "wall": end - start,
        "parent": cpu_end - cpu_start,
        "workers": _cpu(resource.RUSAGE_CHILDREN) - certified[0],
        "peak": float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit),
    }


def _cpu(whose: int) -> float:
    used = resource.getrusage(whose)
    return used.ru_utime + used.ru_stime


def _quick(root: Path, count: int) -> Path:
    """A pack with so many tasks, each one call that returns at once."""
    number = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    files: dict[str, Any] = {
        "manifest.yaml": {
            "pack_id": "quick",
            "version": "1",
            "languages": ["en"],
            "assistant_turn_templates": {"final_answer": {"en": "That."}},
        },
        "tools.json": [{"type": "function", "function": {"name": "double", "parameters": number}}],
        "task_templates.yaml": [
            {
                "template_id": "doubled",
                "turn_policy": "single_turn",
                "required_tools": ["double"],
                "slots": {
                    "n": {
                        "source": f"range:{{min: 1001, max: {1000 + count}}}",
                        "visible_in_first_turn": True,
                    }
                },
                "user_turn_templates": {"en": "What is twice {n}?"},
                "assistant_milestones": [{"type": "tool_call", "tool": "double"}, {"type": "final_answer"}],
                "success_assertions": ["assert_doubled"],
            }
        ],
        "validation_cases.yaml": [
            {"id": "one", "tool": "double", "arguments": {"n": 1}},
            {"id": "none", "tool": "double", "arguments": {"n": 0}},
        ],
    }
    root.mkdir()
    for name, content in files.items():
        (root / name).write_text(json.dumps(content), encoding="utf-8")
    (root / "backend.py").write_text(_BACKEND, encoding="utf-8")
    (root / "assertions.py").write_text(_ASSERTIONS, encoding="utf-8")
    return root


_BACKEND = """\
calls = []


def list_tools():
    return ["double"]


def reset(*, ctx, fixtures=None):
    calls.clear()


def call_tool(name, arguments, *, ctx):
    if not arguments["n"]:
        return {"error": {"code": "nothing"}}
    return {"twice": 2 * arguments["n"]}


def get_state():
    return {"calls": calls}
"""
_ASSERTIONS = """\
def assert_doubled(*, state, trace, task, ctx):
    assert [call["result"] for call in trace] == [{"twice": 2 * task["slots"]["n"]}]
"""


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
