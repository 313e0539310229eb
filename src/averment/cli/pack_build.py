"""`averment pack build`.

Build the benchmark of an oracle pack: its templates bind to tasks, and every task that reproduces and passes is a row.

The pack is certified first and refused below gold; `--allow-tier silver` builds all the same, and every row says so. In the
folder: benchmark.jsonl, dropped.jsonl with the reason for every other task, kill_table.json, the report on the pack, and last
of all run_manifest.json, without which a build is not complete. A build that was killed goes on where it was when the same
command is given again, to the same bytes.

Exit 0: built. Exit 1: the pack is below the tier, or no task is gold. Exit 2: the pack can't be loaded, or nothing can be
made of it.

Examples:
  averment pack build lending --out benchmark
  averment pack build clinic --out benchmark-es --language es --tasks-per-category 40 -j 4
  averment pack build lending --out benchmark --export chat --export bfcl --parquet
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from averment.cli.parser import Parser, positive
from averment.errors import ExitCode, PackError

__all__ = ["configure", "execute"]

_NO = ("tier_too_low", "nothing_gold")


def configure(parser: Parser) -> None:
    """Declares the arguments."""
    parser.add_argument("pack", metavar="DIR", help="the pack's directory")
    parser.add_argument(
        "--out", metavar="DIR", required=True, help="the folder to build in, outside the pack"
    )
    about = "tasks for each category of templates; by default one for each template of the widest"
    parser.add_argument("--tasks-per-category", metavar="N", type=positive, help=about)
    parser.add_argument("--seed", metavar="N", type=int, help="the seed of the run; 0 by default")
    parser.add_argument(
        "--language", metavar="L", help="the language of the conversations; the pack's own by default"
    )
    parser.add_argument("--config", metavar="FILE", help="run options, YAML or JSON; options given here win")
    parser.add_argument(
        "--allow-tier", choices=["gold", "silver"], default="gold", help="the lowest tier to build"
    )
    about = "write chat.jsonl (chat completions with tools), or the question and answer files of BFCL; may be repeated"
    parser.add_argument("--export", choices=["chat", "bfcl"], action="append", default=[], help=about)
    parser.add_argument(
        "--parquet", action="store_true", help="write benchmark.parquet too; needs averment[corpus]"
    )
    parser.add_argument("--strict", action="store_true", help="take unknown keys for mistakes")
    about = "refuse to run code with less: `guarded` is a process with limits, `confined` the kernel's refusal as well"
    parser.add_argument("--require-isolation", metavar="LEVEL", choices=["guarded", "confined"], help=about)
    about = "tasks that are made side by side; by default one for each processor, at most 8"
    parser.add_argument("-j", "--jobs", metavar="N", type=positive, help=about)


def execute(args: argparse.Namespace) -> int:
    """Builds and reports."""
    from averment.cli.outputs import say
    from averment.oracle.build.building import build

    try:
        built = build(
            args.pack,
            args.out,
            _options(args),
            jobs=args.jobs or min(os.cpu_count() or 1, 8),
            allow=args.allow_tier,
            strict=args.strict,
            require=args.require_isolation,
            exports=tuple(dict.fromkeys(args.export)),
            parquet=args.parquet,
            progress=_Bar(),
        )
    except PackError as error:
        _clear()
        if not all(problem.code in _NO for problem in error.problems):
            raise
        say(f"{error}\n", err=True)
        return ExitCode.NO
    _clear()
    counts = built.manifest["stage_counts"]
    lines = [f"{args.out}: {counts['published']} rows of tier {built.manifest['tier']}"]
    lines += [f"  dropped {count}: {reason}" for reason, count in built.dropped.items()]
    lines += [f"  vacuous: {name} passes whatever is done to its evidence" for name in built.vacuous]
    if built.resumed:
        lines.append(f"  {built.resumed} tasks were there from an earlier start")
    say("\n".join(lines) + "\n")
    return ExitCode.YES


def _options(args: argparse.Namespace) -> Any:
    from msgspec.structs import replace

    from averment.oracle.model.options import Options, load_options

    options = Options() if args.config is None else load_options(args.config, strict=args.strict)
    given = {
        "tasks_per_category": args.tasks_per_category,
        "random_seed": args.seed,
        "language": args.language,
    }
    return replace(options, **{name: value for name, value in given.items() if value is not None})


class _Bar:
    """How far the build is, on a terminal and nowhere else."""

    def __call__(self, progress: Any) -> None:
        if sys.stderr.isatty():
            text = f"{progress.done} of {progress.of} tasks, {progress.dropped} dropped"
            if progress.per_second is not None:
                text += f", {progress.per_second:.0f} tasks/s"
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()


def _clear() -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
