# ruff: noqa: INP001 - a script, not part of a package
"""The reference page of `averment pack grade`: every gate, every reason, every metric, every switch.

`docs/build.py` asks for it. All of it comes from the tables that grading itself uses.
"""

from __future__ import annotations

import inspect
import re
import runpy
from collections.abc import Mapping
from pathlib import Path

from averment.oracle.grade.compare import REASONS as COMPARED
from averment.oracle.grade.gates import ABOUT, OUTCOME, PATH, RUN, WHY
from averment.oracle.grade.metrics import METRICS
from averment.oracle.grade.metrics import REASONS as NO_VALUE
from averment.oracle.grade.policy import Policy

__all__ = ["REFUSALS", "pages"]

table = runpy.run_path(str(Path(__file__).with_name("markdown.py")))["table"]

REFUSALS = {
    "unknown_task": (
        "The run is of no task that is known.",
        "Put the task's id into the record, or give `--task`, or the benchmark that has it.",
    ),
    "task_not_gold": ("The task of the run was dropped when its gold was made.", "Mend the pack."),
    "other_pack": (
        "The benchmark is of another pack, or of this one as it was before.",
        "Build it anew; ids of tasks stay the same.",
    ),
    "other_options": ("The benchmark was built with another clock.", "Give the options of the build."),
    "benchmark_unreadable": ("There is no such file, or it can't be read.", "Check the path."),
    "benchmark_empty": ("The file has no row.", "Give the `benchmark.jsonl` of a build."),
    "duplicate_task": ("A task stands in the benchmark twice.", "Build it anew."),
    "gold_row_inconsistent": ("The messages of a row make other calls than it expects.", "Build it anew."),
    "too_many_gold_calls": ("A row expects more calls than are compared.", "Split the task."),
    "not_strict_json": ("JSON text in a row has a key twice, or a number that is none.", "Build it anew."),
    "not_unicode": ("A row has text that is no Unicode.", "Build it anew."),
    "invalid_seed": ("A row has no seed.", "Build it anew."),
    "tool_function_not_object": ("A tool of a row has no function with a name.", "Build it anew."),
    "missing_assertion": (
        "The pack has no assertion of the name that the task has.",
        "Build the benchmark anew.",
    ),
    "assertion_not_executable_compatible": (
        "The task names an assertion that is declared as `executable: false`.",
        "Take it out of the template, or give `--trace-only`.",
    ),
    "assertions_import_failed": ("`assertions.py` can't be loaded.", "Check the pack."),
    "oracle_unusable": ("The oracle can't be used to make gold.", "Check the pack."),
}
"""Why a run, or all of them, can't be graded."""


def pages() -> dict[str, str]:
    """The Markdown of the page, by its path below `docs/reference/packs/`."""
    return {"grades.md": "\n".join(_lines())}


def _lines() -> list[str]:
    about = "[Grade your agent's runs](../../packs/grade.md) shows how it is used."
    lines = ["# Gates and metrics", "", f"What `averment pack grade` says of a run. {about}", ""]
    lines += ["## Gates", "", "Each is passed, failed, not applicable, or undecided, and says why.", ""]
    sides = [(name, side) for side, names in _SIDES.items() for name in names]
    lines += table(("gate", "of", "it asks"), ((f"`{name}`", side, ABOUT[name]) for name, side in sides))
    lines += ["", "## Reasons of gates", "", "`why` of a gate that is not passed.", ""]
    lines += table(("why", "it means"), ((f"`{name}`", each) for name, each in WHY.items()))
    lines += ["", "## Reasons of comparisons", "", "`reason` of a call of the run beside a call of gold.", ""]
    lines += table(("reason", "it means"), ((f"`{name}`", each) for name, each in COMPARED.items()))
    lines += ["", "## Metrics", "", "Integers over all runs that were graded, in this order.", ""]
    lines += table(("metric", "it counts"), ((f"`{name}`", metric.about) for name, metric in METRICS.items()))
    lines += [
        "",
        "## Metrics without a value",
        "",
        "Where the denominator is 0, `value` is null for a reason.",
        "",
    ]
    lines += table(("reason", "it means"), ((f"`metric.{name}`", each) for name, each in NO_VALUE.items()))
    lines += ["", "## How runs are compared", "", "Under `policy` of the report.", ""]
    lines += table(("switch", "it says"), ((f"`{name}`", each) for name, each in _switches().items()))
    lines += ["", "## Runs that can't be graded", "", "Exit 2; the other runs are graded all the same.", ""]
    rows = ((f"`{name}`", meaning, mend) for name, (meaning, mend) in REFUSALS.items())
    lines += [*table(("code", "it means", "what to do"), rows), ""]
    return lines


_SIDES: Mapping[str, tuple[str, ...]] = {"the path": PATH, "the run": RUN, "the outcome": OUTCOME}


def _switches() -> dict[str, str]:
    """What the documentation of the policy says of each of its fields."""
    attributes = inspect.cleandoc(Policy.__doc__ or "").partition("Attributes:\n")[2]
    found = re.findall(r"^    (\w+): (.*?)(?=^    \w+: |\Z)", attributes, re.MULTILINE | re.DOTALL)
    return {name: f"{text[0].upper()}{' '.join(text.split())[1:]}" for name, text in found}
