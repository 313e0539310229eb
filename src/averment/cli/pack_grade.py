"""`averment pack grade`.

Grade recorded runs of agents against the tasks of an oracle pack: what came of them, and how they went about it, apart.

RUNS are files in any format that averment reads; a file of many conversations is graded whole. Each run is of the task whose id
it has as its own, or as `task_id` in its metadata, or of the one that --task names. Its calls are compared with the task's gold
calls, then made again on the pack's oracle, and the pack's assertions are run on what comes of it. With --trace-only nothing
is made again, and only assertions that need no more than the trace are run.

Outcome (state and assertions) and path (gold calls) are told apart, and every gate with its reason; metrics are integers over
integers; nothing merges into one score. Exit 0: every run succeeds. Exit 1: one does not. Exit 2: the evidence does not
decide one, or something can't be read.

Examples:
  averment pack grade lending runs.jsonl
  averment pack grade lending run.json --task tiny_library__lib_status_single__0123456789abcdef
  averment pack grade lending runs/*.json --benchmark benchmark/benchmark.jsonl --format json
"""

from __future__ import annotations

import argparse
from typing import Any

from averment.cli.inputs import add_reading, reading, refuse_twice
from averment.cli.parser import Parser
from averment.errors import ExitCode, Problem, UsageError

__all__ = ["configure", "execute"]


def configure(parser: Parser) -> None:
    """Declares the arguments."""
    parser.add_argument("pack", metavar="DIR", help="the pack's directory")
    parser.add_argument("runs", metavar="RUNS", nargs="+", help="recorded runs; `-` is standard input")
    add_reading(parser)
    parser.add_argument("--task", metavar="ID", help="the task of every run given")
    about = "the benchmark.jsonl of a build, whose rows are the gold; made of the pack by default"
    parser.add_argument("--benchmark", metavar="FILE", help=about)
    about = "run options, YAML or JSON, those of the build; the defaults apply without"
    parser.add_argument("--config", metavar="FILE", help=about)
    parser.add_argument("--trace-only", action="store_true", help="make nothing again on the oracle")
    parser.add_argument(
        "--text", choices=["structural", "verbatim"], default="structural", help="how texts count"
    )
    about = "whether the path decides: where the template states an order, always, or never"
    parser.add_argument("--path", choices=["template", "always", "never"], default="template", help=about)
    parser.add_argument(
        "--format", choices=["text", "json"], default="text", help="how to print; text by default"
    )
    parser.add_argument("--output", metavar="FILE", help="write the JSON to this file too")


def execute(args: argparse.Namespace) -> int:
    """Grades and reports."""
    from averment.cli.inputs import load_conversations
    from averment.cli.outputs import say, wants_color, writing
    from averment.oracle.grade.grading import Grader
    from averment.oracle.grade.metrics import metrics
    from averment.oracle.grade.policy import Policy
    from averment.oracle.model.loading import load_pack
    from averment.oracle.running import running
    from averment.report.grades import graded, render_grades
    from averment.text.jsontext import pretty

    refuse_twice(*args.runs)
    how = reading(args)
    runs = [each for name in args.runs for each in load_conversations(name, how, wanted=None)]
    options = _options(args)
    pack = load_pack(args.pack)
    rows = None if args.benchmark is None else _rows(args.benchmark)
    with writing(args.output) as write, running(pack, options, both=False) as at_work:
        grader = Grader(
            at_work,
            rows,
            policy=Policy(text=args.text, path=args.path),
            trace_only=args.trace_only,
        )
        found = [
            (label, grader.grade(evidence.model, label=label, task_id=args.task)) for label, evidence in runs
        ]
        measured = metrics(run for _, run in found)
        shown = pretty(graded(pack, [run for _, run in found], measured))
        write(shown)
    say(shown if args.format == "json" else render_grades(found, measured, color=wants_color()))
    statuses = {run.success for _, run in found}
    if "failed" in statuses:
        return ExitCode.NO_VERDICT if "undecided" in statuses else ExitCode.NO
    return ExitCode.NO_VERDICT if "undecided" in statuses else ExitCode.YES


def _options(args: argparse.Namespace) -> Any:
    from averment.oracle.model.options import Options, load_options

    return Options() if args.config is None else load_options(args.config)


def _rows(name: str) -> dict[str, dict[str, Any]]:
    """The rows of a benchmark, by task id; every mistake in them is told by whoever reads the gold."""
    from averment.oracle.grade.gold import gold_tasks
    from averment.text.jsontext import decode

    try:
        with open(name, "rb") as file:
            data = file.read()
    except OSError as error:
        message = f"the benchmark can't be read: {error.strerror}"
        raise UsageError(Problem(code="benchmark_unreadable", message=message, file=name)) from None
    gold_tasks(data, file=name)
    found = [decode(line).value for line in data.split(b"\n") if line.strip()]
    return {row["task_id"]: row for row in found}
