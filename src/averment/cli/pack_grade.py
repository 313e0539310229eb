"""`averment pack grade`.

Grade recorded runs of agents against the tasks of an oracle pack: what came of them, and how they went about it, apart.

RUNS are files in any format that averment reads; a file of many conversations is graded whole. Each run is of the task whose id
it has as its own, or as `task_id` in its metadata or labels, or of the one that --task names. Its calls are compared with the
task's gold calls, then made again on the pack's oracle, and the pack's assertions are run on what comes of it. With
--trace-only nothing is made again, and only assertions that need no more than the trace are run.

Outcome (state and assertions) and path (gold calls) are told apart, and every gate with its reason; metrics are integers over
integers; nothing merges into one score. Exit 0: every run succeeds. Exit 1: an agent failed. Exit 2: the evidence does not
decide a run, the oracle broke, or something can't be read.

Examples:
  averment pack grade lending runs.jsonl
  averment pack grade lending run.json --task tiny_library__lib_status_single__0123456789abcdef
  averment pack grade lending runs/*.json --benchmark benchmark/benchmark.jsonl --format json
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from averment.cli.inputs import add_reading, reading, refuse_twice
from averment.cli.parser import Parser, positive
from averment.errors import AvermentError, ExitCode

__all__ = ["configure", "execute"]


def configure(parser: Parser) -> None:
    """Declares the arguments."""
    parser.add_argument("pack", metavar="DIR", help="the pack's directory")
    parser.add_argument("runs", metavar="RUNS", nargs="+", help="recorded runs; `-` is standard input")
    add_reading(parser)
    about = "grade only this conversation of files that hold many"
    parser.add_argument("--conversation", metavar="ID", dest="wanted", help=about)
    parser.add_argument("--task", metavar="ID", help="the task of every run given")
    about = "the benchmark.jsonl of a build, whose rows are the gold; made of the pack by default"
    parser.add_argument("--benchmark", metavar="FILE", help=about)
    about = "run options, YAML or JSON, those of the build; the defaults apply without"
    parser.add_argument("--config", metavar="FILE", help=about)
    about = "what stands before the tools' names in the runs, such as mcp__lending__"
    parser.add_argument("--tool-prefix", metavar="TEXT", default="", help=about)
    parser.add_argument("--trace-only", action="store_true", help="make nothing again on the oracle")
    parser.add_argument(
        "--text", choices=["structural", "verbatim"], default="structural", help="how texts count"
    )
    about = "whether the path decides: where the template states an order, always, or never"
    parser.add_argument("--path", choices=["template", "always", "never"], default="template", help=about)
    parser.add_argument(
        "--format", choices=["text", "json"], default="text", help="how to print; text by default"
    )
    parser.add_argument("--output", metavar="FILE", help="also write the report (JSON) to this file")
    parser.add_argument("--strict", action="store_true", help="take unknown keys for mistakes")
    about = "refuse to run code with less: `guarded` is a process with limits, `confined` the kernel's refusal as well"
    parser.add_argument("--require-isolation", metavar="LEVEL", choices=["guarded", "confined"], help=about)
    about = "runs that are graded side by side; by default one for each processor, at most 8"
    parser.add_argument("-j", "--jobs", metavar="N", type=positive, help=about)


def execute(args: argparse.Namespace) -> int:
    """Grades and reports."""
    from averment.cli.outputs import say, wants_color, writing
    from averment.oracle.grade.benchmark import load_benchmark
    from averment.oracle.grade.grading import Grader
    from averment.oracle.grade.policy import Policy
    from averment.oracle.model.loading import load_pack
    from averment.oracle.running import refuse_drift, running
    from averment.report.grades import GradeReport, render_metrics, render_run

    refuse_twice(*args.runs)
    how = reading(args)
    policy = Policy(text=args.text, path=args.path, tool_prefix=args.tool_prefix)
    options = _options(args)
    pack = load_pack(args.pack, strict=args.strict)
    benchmark = None if args.benchmark is None else load_benchmark(args.benchmark, pack, options)
    report = GradeReport(
        pack,
        options,
        policy,
        mode="trace" if args.trace_only else "executable",
        benchmark=None if benchmark is None else benchmark.content_hash,
    )
    codes = {ExitCode.YES}
    as_json = args.format == "json"
    is_aside = args.output == "-"
    bar = _Bar()
    with writing(args.output) as write, running(pack, options, both=benchmark is None) as at_work:

        def emit(data: bytes) -> None:
            write(data)
            if as_json and not is_aside:
                say(data)

        if args.require_isolation is not None:
            at_work.isolation(args.require_isolation)
        grader = Grader(
            at_work,
            None if benchmark is None else benchmark.rows,
            policy=policy,
            trace_only=args.trace_only,
        )
        jobs = args.jobs or min(os.cpu_count() or 1, 8)
        graded = grader.grade_all(_runs(args, how), task_id=args.task, jobs=jobs)
        emit(report.begin())
        with closing(graded):  # whatever stops it, what is being graded ends before the pack is put away
            for label, found in graded:
                codes.add(_code(found))
                bar.clear()
                if isinstance(found, AvermentError):
                    report.refuse(found)
                    say(f"{found}\n", err=True)
                else:
                    emit(report.add(found))
                    if not as_json:
                        say(render_run(label, found, color=wants_color() and not is_aside), err=is_aside)
                bar.step(found)
        bar.clear()
        refuse_drift(pack)
        emit(report.end())
    if not as_json:
        measured = f"\n{render_metrics(report.metrics)}" if report.has_grades else ""
        say(f"{report.summary}\n{measured}", err=is_aside)
    return max(codes)  # in the order 2, 1, 0


def _runs(args: argparse.Namespace, how: Any) -> Iterator[tuple[str, Any]]:
    from averment.cli.runs import each_run

    for name in args.runs:
        for label, found in each_run(name, how, wanted=args.wanted):
            yield label, found if isinstance(found, AvermentError) else found.model


def _code(found: Any) -> ExitCode:
    """What one run says to a gate: an agent is to blame for nothing that was not its own doing."""
    if isinstance(found, AvermentError) or found.success == "undecided":
        return ExitCode.NO_VERDICT
    if found.success == "failed":
        return ExitCode.NO if found.attribution == "candidate" else ExitCode.NO_VERDICT
    return ExitCode.YES if found.success == "passed" else ExitCode.NO_VERDICT


def _options(args: argparse.Namespace) -> Any:
    from averment.cli.outputs import say
    from averment.oracle.model.options import Options, load_options

    if args.config is None:
        return Options()
    options = load_options(args.config, strict=args.strict)
    if options.warnings:
        say("".join(f"{warning.render()}\n" for warning in options.warnings), err=True)
    return options


class _Bar:
    """How far it is, on a terminal and nowhere else."""

    def __init__(self) -> None:
        self._is_shown = sys.stderr.isatty()
        self._done = self._failed = 0

    def step(self, found: Any) -> None:
        """Count a run."""
        self._done += 1
        self._failed += not isinstance(found, AvermentError) and found.success == "failed"
        if self._is_shown:
            sys.stderr.write(f"\r\x1b[K{self._done} runs, {self._failed} failed")
            sys.stderr.flush()

    def clear(self) -> None:
        """Take it away."""
        if self._is_shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
